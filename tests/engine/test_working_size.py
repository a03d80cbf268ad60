"""A model is as good on large and on small copies of its photos as on those of the usual size."""

import numpy as np
import pytest
from PIL import Image

from recallseg.data.toy import write_scenes
from recallseg.engine.evaluation.rescore import rescore
from recallseg.engine.learn import learn
from recallseg.runs.folder import RunFolder

QUICK = ["views.crop=64", "views.label_stride=4", "optim.iterations_per_class=25", "optim.batch=8"]
QUICK += ["model.tail=null"]
"""Windows of 64 px, so the drawn photos of 256 px are looked at at 110; the early stages learn too,
which drawn photos need."""


def scaled(source, target, scale):
    """A copy of a folder dataset with photos and masks of another size."""
    (target / "images").mkdir(parents=True)
    (target / "masks").mkdir()
    (target / "classes.txt").write_text((source / "classes.txt").read_text())
    for part, way in (("images", Image.Resampling.LANCZOS), ("masks", Image.Resampling.NEAREST)):
        for path in (source / part).iterdir():
            with Image.open(path) as image:
                size = [max(1, round(side * scale)) for side in image.size]
                image.resize(size, way).save(target / part / path.name)
    return target


def check(tmp_path, count, overrides, size):
    drawn = {"classes": ["bus", "cat"], "size": size}
    write_scenes(tmp_path / "photos", {"train": count}, **drawn)
    write_scenes(tmp_path / "val", {"train": 8}, seed=1, **drawn)
    model = tmp_path / "model"
    learn(model, tmp_path / "photos", val=tmp_path / "val", overrides=overrides)
    native = RunFolder(model).scores(0)["miou"]["all"]
    found = {
        scale: rescore(model, root=scaled(tmp_path / "val", tmp_path / f"x{scale}", scale))
        for scale in (0.5, 2, 4)
    }
    means = {scale: record["miou"]["all"] for scale, record in found.items()}
    assert native > 45, native
    assert all(np.abs(mean - native) < 3 for mean in means.values()), (native, means)
    return RunFolder(model).config.views.longer_side


def test_copies_of_other_sizes_are_seen_alike(tmp_path):
    assert check(tmp_path, 16, QUICK, size=(256, 192)) == 110


@pytest.mark.slow
def test_copies_of_other_sizes_are_seen_alike_with_the_usual_settings(tmp_path):
    assert check(tmp_path, 60, [], size=(384, 288)) == 384
