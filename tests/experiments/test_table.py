import json
from pathlib import Path

import pytest
from tiny import small_table

from recallseg.errors import RecallsegError
from recallseg.experiments.places import here
from recallseg.experiments.table import make_table, plan_table, read_spec

TABLES = Path(__file__).parents[2] / "tables"


@pytest.fixture
def spec(tmp_path):
    return small_table(tmp_path)


def test_a_killed_table_goes_on_where_it_was(spec, tmp_path, monkeypatch):
    ran = []
    run = here.run

    def watched(config, folder):
        if len(ran) == 3:
            raise KeyboardInterrupt
        ran.append(folder)
        return run(config, folder)

    monkeypatch.setattr(here, "run", watched)
    with pytest.raises(KeyboardInterrupt):
        make_table(spec, [], tmp_path / "runs")
    half = json.loads((tmp_path / "runs/small.json").read_text())
    assert [cell["seeds"] for cell in half["cells"]] == [[0, 1], [0]]
    assert half["cells"][1]["all_spread"] is None

    ran.clear()
    whole = make_table(spec, [], tmp_path / "runs")
    assert len(ran) == 1
    assert json.loads((tmp_path / "runs/small.json").read_text()) == whole
    assert whole["cells"][0] == half["cells"][0]
    assert [cell["row"] for cell in whole["cells"]] == ["FT", "MiB"]
    for cell in whole["cells"]:
        results = [
            json.loads((tmp_path / "runs" / name / "result.json").read_text())
            for name in cell["runs"]
        ]
        values = [result["steps"][-1]["miou"]["all"] for result in results]
        assert cell["all"] == pytest.approx(sum(values) / 2, abs=0.01)
        assert cell["all_spread"] is not None
        assert [result["seed"] for result in results] == [0, 1]


def test_everything_is_checked_before_the_first_run(spec, tmp_path, monkeypatch):
    monkeypatch.setattr(here, "run", lambda *_: pytest.fail("ran"))
    (tmp_path / "configs/mib.yaml").write_text("method: {name: mib, colour: red}")
    with pytest.raises(RecallsegError, match=r"method\.colour: no such setting"):
        make_table(spec, [], tmp_path / "runs")
    (tmp_path / "configs/mib.yaml").unlink()
    with pytest.raises(RecallsegError, match=r"mib\.yaml does not exist"):
        make_table(spec, [], tmp_path / "runs")


def test_a_file_that_is_no_table_is_a_sentence(tmp_path):
    with pytest.raises(RecallsegError, match="does not exist"):
        read_spec(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("rows: 3")
    with pytest.raises(RecallsegError, match="does not describe a table: configs: ") as error:
        read_spec(tmp_path / "bad.yaml")
    assert "rows: " in str(error.value)
    (tmp_path / "page.md").write_text("# A page\n\n- with: a: list\n")
    with pytest.raises(RecallsegError, match="it is not YAML") as error:
        read_spec(tmp_path / "page.md")
    assert "\n" not in str(error.value)


def configs_of(groups):
    return [config for group in groups for _, config in group.runs]


def test_a_rows_overrides_win_over_the_tables_and_the_commands_over_both(spec, tmp_path):
    rows = "rows: {FT: ft, MiB: {config: mib, overrides: [views.crop=17, increment.lr=0.5]}}"
    table = "overrides: [views.crop=9, increment.lr=0.25, increment.batch=2]"
    spec.write_text(f"configs: configs\n{rows}\nscenarios: [19-1]\n{table}\n")
    ft, mib = configs_of(plan_table(spec, ["increment.batch=3"], tmp_path))
    assert (ft.views.crop, ft.increment.lr, ft.increment.batch) == (9, 0.25, 3)
    assert (mib.views.crop, mib.increment.lr, mib.increment.batch) == (17, 0.5, 3)


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_table_has_a_folder_of_its_own_for_each_run(path, tmp_path):
    folders = [folder for group in plan_table(path, [], tmp_path) for folder, _ in group.runs]
    assert len(set(folders)) == len(folders) > 0


def test_both_encoders_are_compared_at_the_same_cost(tmp_path):
    configs = configs_of(plan_table(TABLES / "toy-15-1-encoders.yaml", [], tmp_path))
    names = ["ft", "lwf", "lwf_mc", "ilt", "cil", "mib", "sdr"]
    expected = [(name, learns) for name in names for learns in (False, True)]
    assert [(each.method.name, each.method.train_encoder) for each in configs] == expected
    assert len({each.increment.model_dump_json() for each in configs}) == 1
    assert {each.data.name for each in configs} == {"toy"}
