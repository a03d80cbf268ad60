from pathlib import Path

from recallseg.config import load_preset
from recallseg.runs.settings import differences, folder_name


def test_a_setting_at_its_default_does_not_name_a_folder():
    as_it_is, said, other = (
        folder_name(Path("ft.yaml"), load_preset("small", overrides))
        for overrides in ([], ["method.soft_labels=false"], ["method.soft_labels=true"])
    )
    assert as_it_is == said != other


def test_settings_of_later_steps_are_nothing_to_joint_training():
    for method, counts in (("joint", False), ("ft", True)):
        one, other = (
            load_preset("small", [f"method.name={method}", f"increment.lr={rate}"])
            for rate in (0.5, 0.25)
        )
        names = {folder_name(Path("x.yaml"), each) for each in (one, other)}
        assert len(names) == 1 + counts
        assert differences(one, other) == ["increment.lr"] * counts
    one, other = (
        load_preset("small", ["method.name=joint", f"optim.lr={rate}"]) for rate in (0.5, 0.25)
    )
    assert differences(one, other) == ["optim.lr"]
