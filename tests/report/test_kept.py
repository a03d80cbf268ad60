"""The page of kept results, made of JSON alone."""

import importlib.util
import json
from pathlib import Path

import pytest
from fabricated import fabricate, world
from typer.testing import CliRunner

from recallseg.cli.main import app
from recallseg.config import dump_config
from recallseg.errors import RecallsegError
from recallseg.report.kept import read_kept
from recallseg.report.ranks import rank_correlation, ranks
from recallseg.report.results_page import results_page
from recallseg.report.runs import Task
from recallseg.runs.folder import RunFolder

ROOT = Path(__file__).parents[2]
COLUMN = Task("toy", "15-1", "disjoint")
SCORES = {"FT": 5.0, "LwF": 10.0, "MiB": 40.0, "SDR": 30.0, "RECALL (Web)": 60.0, "Joint": 80.0}


def cell(row, score, scenario="15-1", setup="disjoint", seeds=(0,), **settings):
    spread = 1.0 if len(seeds) > 1 else None
    means = {"old": score, "new": score + 1, "all": score, "foreground": score}
    return {
        "row": row,
        "scenario": scenario,
        "setup": setup,
        "seeds": list(seeds),
        "keeps_photos": False,
        "runs": [f"toy-x-{scenario}-s{seed}-abcdef" for seed in seeds],
        "settings": settings,
        **means,
        **{f"{kind}_spread": spread for kind in means},
    }


def write_table(folder, name, cells, **more):
    folder.mkdir(exist_ok=True)
    table = {"table": name, "overrides": [], "cells": cells, **more}
    (folder / f"table-{name}.json").write_text(json.dumps(table))


def write_run(folder, name, scores, **more):
    """A `result.json` whose only step has these scores, old, new and all."""
    folder.mkdir(exist_ok=True)
    means = dict(zip(("old", "new", "all"), scores, strict=True))
    step = {"step": 0, "classes": [], "miou": means, "iou": {}, "pixel_accuracy": {}}
    result = {
        "method": "ft",
        "dataset": "voc-mini",
        "scenario": "15-1",
        "setup": "disjoint",
        "seed": 0,
        "keeps_photos": False,
        "steps": [step],
        "versions": {},
        "seconds": 1.0,
        "peak_memory_mb": 1.0,
    }
    (folder / name).write_text(json.dumps(result | more))


@pytest.fixture
def folder(tmp_path):
    cells = [cell(row, score, **{"method.name": row}) for row, score in SCORES.items()]
    write_table(tmp_path / "kept", "toy-x", cells, settings={"data.name": "toy", "bank.views": 4})
    return tmp_path / "kept"


def section(text, title):
    """What stands under a heading, up to the next one."""
    return text.split(f"### {title}\n", 1)[1].split("\n#", 1)[0]


def test_ranks_and_their_correlation():
    assert ranks([5, 1, 3]) == [3, 1, 2]
    assert ranks([1, 1, 2]) == [1.5, 1.5, 3]
    assert rank_correlation([1, 2, 3], [10, 30, 20]) == pytest.approx(0.5)
    assert rank_correlation([1, 2, 3, 9], [4, 3, 2, -1]) == pytest.approx(-1)
    assert rank_correlation([1, 1, 2], [1, 2, 3]) == pytest.approx(0.75**0.5)
    assert rank_correlation([1, 2], [1, 2]) is None
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None


def test_table_1_has_our_numbers_and_the_papers_and_both_shares(folder):
    found = section(results_page(folder, "made so"), "Table 1: toy, 15-1 disjoint")
    assert "| MiB | 40.0 | 41.0 | 40.0 | 50 % | 46.2 | 12.9 | 37.9 | 50 % |" in found
    assert (
        "| **60.0** | **61.0** | **60.0** | 75 % | **67.6** | **49.2** | **64.3** | 85 %" in found
    )
    assert "Not measured here: S&R, LwF-MC, ILT, CIL, RECALL (GAN)." in found


def test_the_correlation_leaves_joint_training_out(folder):
    text = results_page(folder, "made so")
    # FT < LwF < SDR < MiB < RECALL here, MiB before SDR in the paper: 1 - 6 · 2 / (5 · 24)
    assert "over 5 rows: 0.90" in section(text, "Table 1: toy, 15-1 disjoint")
    assert "| 15-1 disjoint | 75 % | 85 % | 5 | 0.90 |" in section(text, "toy at a glance")
    assert "Mean rank correlation of 1 of 1 columns: 0.90." in section(text, "toy at a glance")


def test_a_method_that_stands_elsewhere_in_the_papers_order_is_told(folder):
    assert "the place of each method" not in results_page(folder, "made so")
    others = {"FT": 5.0, "SDR": 30.0, "MiB": 40.0, "Joint": 80.0}
    cells = [cell(row, score, setup="overlapped") for row, score in others.items()]
    write_table(folder, "toy-y", cells, settings={"data.name": "toy"})
    found = section(results_page(folder, "made so"), "toy, the place of each method")
    # MiB is 2nd of five here and 3rd in the paper, 1st and 2nd of three in the other column.
    assert "| MiB | 1.5 | 2.5 | 2 | 1.00 |" in found
    # Without LwF, MiB and SDR still change places: 1 - 6 · 2 / (4 · 15).
    assert "| LwF | 4.0 | 4.0 | 1 | 0.80 |" in found
    assert "Joint" not in found


def test_every_table_of_the_paper_has_its_place(folder):
    cells = [
        *(cell(row, score) for row, score in SCORES.items()),
        cell("Inpainting", 20.0),
        cell("Web only", 50.0),
        cell("RECALL (Web), ratio 1:7", 58.0),
        cell("RECALL (Web), helper per class", 59.0),
        cell("MiB + naive (Web)", 45.0),
        cell("FT, longer", 6.0),
        cell("RECALL (Web)", 40.0, "10-1", "overlapped", seeds=(0, 1)),
    ]
    write_table(folder, "toy-x", cells)
    text = results_page(folder, "made so")
    parts = section(text, "What each part brings: toy, 15-1 disjoint")
    assert "| Web only | 50.0 | 51.0 | 50.0 | 62 % | 55.0 | 73 % |" in parts
    ratios = section(text, "Interleaving, replayed to new samples: toy, 15-1 disjoint")
    assert "| RECALL (Web), ratio 1:7 | 58.0 | 59.0 | 58.0 | 72 % |" in ratios
    assert "The paper prints no numbers of these." in ratios
    assert "helper per class" in section(text, "Who labels replay images: toy, 15-1 disjoint")
    replay = section(text, "Other methods with replay: toy, 15-1 disjoint")
    assert (
        "| MiB + naive (Web) | **45.0** | **46.0** | **45.0** | 56 % | **50.5** | 67 % |" in replay
    )
    assert "FT, longer" in section(text, "Also measured: toy, 15-1 disjoint")
    other = section(text, "Table 1: toy, 10-1 overlapped")
    assert "| RECALL (Web) | 40.0 ± 1.0 | 41.0 ± 1.0 | 40.0 ± 1.0 | 50 % |" in other
    assert "Shares are of joint training as measured in 15-1 disjoint." in other


def stepwise(row, *after):
    """A cell of a run that had these scores after each step of 10-1 disjoint."""
    found = cell(row, after[-1], "10-1")
    means = {kind: found[kind] for kind in ("old", "new", "all", "foreground")}
    return found | {"scores": [means | {"steps": [70.0, *after]}]}


def test_the_papers_rounds_are_beside_ours(folder):
    cells = [
        stepwise("FT", *range(30, 20, -1)),
        stepwise("MiB", *range(60, 50, -1)),
        stepwise("RECALL (Web)", *range(59, 49, -1)),
        stepwise("MiB, longer", *range(62, 52, -1)),
        cell("SDR", 30.0, "10-1"),
    ]
    write_table(folder, "toy-steps", cells, settings={"data.name": "toy"})
    text = results_page(folder, "made so")
    found = section(text, "mIoU of all classes so far, by step: toy, 10-1 disjoint")
    assert "|  | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 |" in found
    assert "| FT | 30.0 | 29.0 | 28.0 |" in found
    assert "| FT (paper) | 47.3 | 25.0 | 25.3 |" in found
    # MiB and RECALL have changed places among three: 1 - 6 · 2 / (3 · 8)
    assert "over 3 rows: 0.50 to 0.50 after a step, 0.50 on average." in found
    assert "SDR" not in found
    assert "MiB, longer" in section(text, "Also measured: toy, 10-1 disjoint")


def test_seeds_are_averaged_after_each_step(tmp_path):
    def steps(*scores):
        return [
            {"step": 0, "classes": [], "iou": {}, "pixel_accuracy": {}}
            | {"miou": {"old": 1.0, "new": 1.0, "all": score}}
            for score in scores
        ]

    for seed, scores in enumerate([(50.0, 40.0, 30.0), (50.0, 44.0, 32.0)]):
        name = f"voc-mini-15-1-disjoint-ft{f'-s{seed}' if seed else ''}.json"
        write_run(tmp_path, name, (0, 0, 0), steps=steps(*scores), seed=seed)
    [row] = read_kept(tmp_path).rows
    assert [score.mean for score in row.steps] == [50.0, 42.0, 31.0]


def test_what_people_wrote_stands_under_its_table(folder):
    notes = "# Notes\n\n## toy\n\n[Drawn](../toy.md).\n\n"
    notes += "## toy, 15-1 disjoint: table-1\n\nMiB is\n*high*.\n"
    (folder / "notes.md").write_text(notes)
    text = results_page(folder, "made so")
    assert section(text, "Table 1: toy, 15-1 disjoint").rstrip().endswith("\n\nMiB is\n*high*.")
    assert "## `toy`\n\n[Drawn](toy.md).\n" in text
    (folder / "notes.md").write_text("## toy, 19-1 disjoint: table-1\n\nNot there.\n")
    with pytest.raises(RecallsegError, match=r"Unknown table in .*notes\.md 'toy, 19-1 disjoint"):
        results_page(folder, "made so")
    (folder / "notes.md").write_text("## toy\n\nOne.\n\n## toy\n\nTwo.\n")
    with pytest.raises(RecallsegError, match="'toy' twice"):
        results_page(folder, "made so")


def test_every_row_says_how_it_was_made(folder):
    made = section(results_page(folder, "made so"), "How the rows were made: toy")
    command = "`recallseg table tables/toy-x.yaml`"
    assert f'| MiB | 0 in 15-1 disjoint | {command} | `method.name="MiB"` |' in made
    assert "<pre>data.name: &quot;toy&quot;\nbank.views: 4</pre>" in made
    assert "not recorded" not in made


def test_scores_on_photos_that_chose_settings_are_not_shown(folder):
    tuned = {"settings": {"data.val": "tune"}}
    write_table(folder, "toy-tuning", [cell("Joint", 99.0, seeds=(0, 1))], **tuned)
    assert read_kept(folder).find(COLUMN, "Joint").scores["all"].mean == 80
    assert "table-toy-tuning.json: measured on held-out" in results_page(folder, "made so")


def test_of_two_files_with_a_row_the_one_with_more_seeds_counts(folder):
    write_table(folder, "toy-y", [cell("FT", 7.0, seeds=(0, 1, 2)), cell("LwF", 11.0)])
    kept = read_kept(folder)
    assert kept.find(COLUMN, "FT").scores["all"].mean == 7
    assert kept.find(COLUMN, "LwF").scores["all"].mean == 10
    assert kept.left_out == (
        "table-toy-x.json: FT, toy, 15-1 disjoint, which is shown from table-toy-y.json",
        "table-toy-y.json: LwF, toy, 15-1 disjoint, which is shown from table-toy-x.json",
    )


def test_a_table_may_be_half_done(folder):
    write_table(folder, "toy-y", [cell("S&R", 7.0)], runs={"done": 1, "planned": 9})
    assert "- table-toy-y.json: 1 of 9 runs" in results_page(folder, "made so")


def test_single_runs_are_told_by_their_names_and_averaged_over_seeds(tmp_path):
    folder = tmp_path / "kept"
    write_run(folder, "voc-mini-15-1-disjoint-recall-web.json", (1, 2, 3), method="recall")
    write_run(folder, "voc-mini-15-1-disjoint-recall-web-s4.json", (3, 2, 5), seed=4)
    write_run(folder, "voc-mini-15-1-disjoint-recall-web-odd.json", (7, 8, 9))
    how = {"row": "Web only", "command": "recallseg run x.yaml", "settings": {"seed": 1}}
    write_run(folder, "voc-mini-10-1-disjoint-recall-web-noinp.json", (1, 1, 1), **how)
    (folder / "bench.json").write_text('{"cores": 2}')
    rows = {row.label: row for row in read_kept(folder).rows}
    web = rows["RECALL (Web)"]
    assert (str(web.scores["old"]), str(web.scores["all"])) == ("2.0 ± 1.4", "4.0 ± 1.4")
    run = "recallseg run configs/voc-mini/recall-web.yaml"
    assert (web.seeds, web.commands) == ((0, 4), (run, f"{run} seed=4"))
    assert rows["RECALL (Web), odd"].commands == ()
    assert rows["Web only"].commands == ("recallseg run x.yaml",)


def test_a_folder_without_results_is_a_sentence(tmp_path):
    with pytest.raises(RecallsegError, match="is not a folder of results"):
        read_kept(tmp_path / "none")
    with pytest.raises(RecallsegError, match="holds no results"):
        read_kept(tmp_path)
    (tmp_path / "table-x.json").write_text('{"table": "x", "overrides": [], "cells": [{}]}')
    with pytest.raises(RecallsegError, match=r"table-x\.json cannot be read: .*cells\.0"):
        read_kept(tmp_path)
    (tmp_path / "table-x.json").write_text("{")
    with pytest.raises(RecallsegError, match=r"table-x\.json cannot be read"):
        read_kept(tmp_path)


def test_the_page_in_the_documents_is_that_of_the_results(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    command = ["report", "docs/results", "--kept", "-o", "docs/results.md"]
    shown = CliRunner().invoke(app, command[:3]).stdout
    made = shown.replace("--kept`", "--kept -o docs/results.md`")
    assert Path("docs/results.md").read_text() == made, f"run `recallseg {' '.join(command)}`"


def test_a_result_is_kept_with_the_command_that_made_it(tmp_path):
    spec = importlib.util.spec_from_file_location("tool", ROOT / "tools/keep_result.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    run = fabricate(tmp_path / "run", world(tmp_path / "voc"), method__name="mib", seed=3)
    path = tmp_path / "mib.yaml"
    path.write_text(dump_config(RunFolder(run).config).replace("seed: 3", "seed: 0"))
    with pytest.raises(RecallsegError, match="not made by this command: seed is 3, not 0"):
        tool.keep(run, f"recallseg run {path}", tmp_path)
    command = f"recallseg run {path} seed=3"
    kept = tool.keep(run, command, tmp_path / "kept")
    assert kept.name == "voc-18-1-disjoint-mib-s3.json"
    [row] = read_kept(tmp_path / "kept").rows
    assert (row.label, row.commands, row.seeds) == ("MiB", (command,), (3,))
    assert row.settings["method.name"] == "mib"
    assert str(tmp_path) not in json.dumps(row.settings)
    with pytest.raises(RecallsegError, match="needs --variation"):
        tool.keep(run, f"{command} method.name=mib", tmp_path)
