import functools
import json
import re
from pathlib import Path

import pytest
from fabricated import fabricate, world
from tiny import small_table

from recallseg.config import load_preset
from recallseg.engine.session.facts import row_record
from recallseg.errors import RecallsegError
from recallseg.experiments import schedule
from recallseg.experiments.places import here
from recallseg.experiments.places.place import Ended
from recallseg.experiments.schedule import first_steps
from recallseg.experiments.table import Making, make_table
from recallseg.experiments.table_spec import plan_table, read_spec
from recallseg.methods import build_method

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
    assert half["runs"] == {"done": 3, "planned": 4}

    ran.clear()
    whole = make_table(spec, [], tmp_path / "runs")
    assert len(ran) == 1
    assert json.loads((tmp_path / "runs/small.json").read_text()) == whole
    assert whole["cells"][0] == half["cells"][0]
    assert [cell["row"] for cell in whole["cells"]] == ["FT", "MiB"]
    assert whole["runs"] == {"done": 4, "planned": 4}
    assert [cell["settings"] for cell in whole["cells"]] == [
        {"method.name": "ft"},
        {"method.name": "mib"},
    ]
    assert whole["settings"]["increment.iterations_per_class"] == 8
    assert not {"seed", "scenario.spec", "data.root"} & {*whole["settings"]}
    for cell in whole["cells"]:
        results = [
            json.loads((tmp_path / "runs" / name / "result.json").read_text())
            for name in cell["runs"]
        ]
        values = [result["steps"][-1]["miou"]["all"] for result in results]
        assert cell["all"] == pytest.approx(sum(values) / 2, abs=1e-4)
        assert cell["all_spread"] is not None
        assert [result["seed"] for result in results] == [0, 1]
        assert [scores["steps"] for scores in cell["scores"]] == [
            [step["miou"]["all"] for step in result["steps"]] for result in results
        ]


def test_runs_of_a_kept_table_are_not_done_again(spec, tmp_path, monkeypatch):
    whole = make_table(spec, [], tmp_path / "runs")
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "table-small.json").write_text((tmp_path / "runs/small.json").read_text())
    (kept / "notes.json").write_text("[]")
    ran, run = [], here.run
    monkeypatch.setattr(here, "run", lambda config, path: ran.append(path) or run(config, path))
    assert make_table(spec, [], tmp_path / "elsewhere", kept=kept) == whole
    assert make_table(spec, [], tmp_path / "runs", collect=True) == whole
    with pytest.raises(RecallsegError, match=r"Of the 4 runs of .* none is done yet"):
        make_table(spec, [], tmp_path / "nothing", collect=True)
    assert not ran
    other = make_table(spec, ["increment.lr=0.01"], tmp_path / "other", kept=kept)
    assert (len(ran), other["runs"]["done"]) == (4, 4)
    with pytest.raises(RecallsegError, match="not a folder of results"):
        make_table(spec, [], tmp_path / "elsewhere", kept=tmp_path / "nowhere")
    (kept / "broken.json").write_text("{")
    with pytest.raises(RecallsegError, match=r"broken\.json cannot be read"):
        make_table(spec, [], tmp_path / "elsewhere", kept=kept)


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


def columns_of(groups):
    seeds = {}
    for group in groups:
        numbers = [config.seed for _, config in group.runs]
        seeds[f"{group.row} {group.scenario} {group.setup}"] = numbers
    return seeds


def test_variants_come_once_with_each_row(spec, tmp_path):
    spec.write_text(
        spec.read_text() + "variants: {short: [increment.lr=0.5], long: [increment.lr=0.25]}\n"
    )
    rows = list(plan_table(spec, [], tmp_path))
    plain = read_spec(spec).rows
    assert [row.row for row in rows] == [f"{n}, {v}" for n in plain for v in ("short", "long")]
    assert [row.runs[0][1].increment.lr for row in rows] == [0.5, 0.25] * len(plain)


def test_rows_and_seeds_may_be_for_some_columns_only(spec, tmp_path):
    spec.write_text(
        """
        configs: configs
        scenarios: [19-1, 18-1]
        setups: [disjoint, overlapped]
        rows: {FT: ft, MiB: {config: mib, scenarios: [18-1], setups: [overlapped]}}
        more_seeds: [{seeds: [4, 0, 7], rows: [FT], scenarios: [18-1]}, {seeds: [1], rows: [MiB]}]
        """
    )
    assert columns_of(plan_table(spec, [], tmp_path)) == {
        "FT 19-1 disjoint": [0],
        "FT 19-1 overlapped": [0],
        "FT 18-1 disjoint": [0, 4, 7],
        "FT 18-1 overlapped": [0, 4, 7],
        "MiB 18-1 overlapped": [0, 1],
    }


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("more_seeds: [{seeds: [1], rows: [LwF]}]", "unknown row of the table 'LwF'. Known: FT"),
        ("more_seeds: [{seeds: [1], scenarios: [15-1]}]", "scenario of the table '15-1'"),
        ("more_seeds: [{seeds: [1], setups: [overlapped]}]", "setup of the table 'overlapped'"),
    ],
)
def test_seeds_of_nothing_are_a_sentence(spec, line, sentence):
    spec.write_text(f"configs: configs\nscenarios: [19-1]\nrows: {{FT: ft}}\n{line}\n")
    with pytest.raises(RecallsegError, match=re.escape(sentence)):
        read_spec(spec)


def test_rows_that_ask_for_the_same_run_share_it(spec, tmp_path):
    rows = "{FT: ft, same: {config: ft, overrides: [increment.batch=4]}, MiB: mib}"
    spec.write_text(f"configs: configs\nscenarios: [18-1]\nrows: {rows}\n")
    making = Making("small", [], tmp_path, list(plan_table(spec, [], tmp_path)))
    first, second = making.missing()
    assert [job.config.method.name for job in (first, second)] == ["ft", "mib"]
    fabricate(first.folder, world(tmp_path / "drawn"), method__name="ft", pictures=False)
    making.hear(Ended(first))
    table = making.table()
    assert table["runs"] == {"done": 1, "planned": 2}
    assert [cell["row"] for cell in table["cells"]] == ["FT", "same"]
    assert table["cells"][0]["all"] == table["cells"][1]["all"]


def test_step_0_is_looked_up_once_for_runs_that_differ_later(monkeypatch):
    asked = []
    monkeypatch.setattr(schedule, "first_step_key", lambda config: asked.append(config) or "key")
    words = (["replay.ratio=2"], ["helper.scope=shared"], ["increment.lr=0.5"], ["optim.lr=0.5"])
    configs = [load_preset("small", each) for each in words]
    assert first_steps(configs) == ["key"] * 4
    assert asked == [configs[0], configs[3]]


@functools.cache
def groups_of(path):
    return list(plan_table(path, [], Path("runs")))


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_runs_of_every_shipped_table_share_a_folder_only_if_they_are_the_same(path):
    runs = [run for group in groups_of(path) for run in group.runs]
    assert runs
    assert len({config.model_dump_json() for _, config in runs}) == len(dict(runs))


@pytest.mark.parametrize(("name", "cells", "runs"), [("toy", 189, 281), ("voc-mini", 60, 68)])
def test_the_whole_tables_have_the_papers_rows(name, cells, runs):
    groups = groups_of(TABLES / f"{name}-full.yaml")
    assert len(groups) == cells
    assert len({folder for group in groups for folder, _ in group.runs}) == runs
    for group in groups:
        for _, config in group.runs:
            title = row_record(config, build_method(config.method))["title"]
            assert group.row.split(", ")[0] == title
            assert config.data.name == name


def test_both_encoders_are_compared_at_the_same_cost(tmp_path):
    configs = configs_of(plan_table(TABLES / "toy-15-1-encoders.yaml", [], tmp_path))
    names = ["ft", "lwf", "lwf_mc", "ilt", "cil", "mib", "sdr"]
    expected = [(name, learns) for name in names for learns in (False, True)]
    assert [(each.method.name, each.method.train_encoder) for each in configs] == expected
    assert len({each.increment.model_dump_json() for each in configs}) == 1
    assert {each.data.name for each in configs} == {"toy"}
