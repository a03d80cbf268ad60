import csv
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from fabricated import add_replay, fabricate, world
from typer.testing import CliRunner

from recallseg.cli.main import app
from recallseg.errors import RecallsegError
from recallseg.report import plots
from recallseg.report.page import page, tables
from recallseg.report.pictures import Viewer
from recallseg.report.results import class_mapping
from recallseg.report.runs import read_run, read_runs
from recallseg.report.series import Value, series_of
from recallseg.report.tables import to_csv, to_latex, to_markdown

WEB = {"method__name": "recall", "replay__source": "folder", "replay__folder__title": "Web"}


@pytest.fixture
def root(tmp_path):
    return world(tmp_path / "voc")


@pytest.fixture
def runs(tmp_path, root):
    """Fine-tuning, RECALL, store-and-replay and joint training, finished."""
    folder = tmp_path / "runs"
    fabricate(folder / "ft", root, method__name="ft")
    fabricate(folder / "recall", root, quality=0.8, **WEB)
    fabricate(folder / "store", root, quality=0.5, method__name="store_replay")
    fabricate(folder / "joint", root, method__name="joint")
    return folder


def ours(table):
    return {row.label: row.cells for row in table.rows if not row.paper}


def test_the_main_table_holds_what_was_measured(runs):
    main = tables(read_runs([runs]))[0]
    cells = ours(main)
    assert list(cells) == ["FT", "S&R", "RECALL (Web)", "Joint"]
    assert [cell.mean for cell in cells["RECALL (Web)"]] == pytest.approx([80, 80, 80])
    assert [round(cell.mean, 2) for cell in cells["FT"]] == [0, 45, 8.57]
    assert [cell.mean for cell in cells["Joint"]] == pytest.approx([90, 90, 90])
    assert main.groups == (("voc, 18-1 disjoint", 3),)


def test_the_papers_numbers_stand_beside_ours(tmp_path, root):
    fabricate(tmp_path / "run", root, scenario__spec="15-1", **WEB)
    main = tables(read_runs([tmp_path / "run"]))[0]
    [theirs] = [row for row in main.rows if row.paper]
    assert [cell.mean for cell in theirs.cells] == [67.6, 49.2, 64.3]


def test_seeds_become_mean_and_spread(tmp_path, root):
    for seed, quality in enumerate((0.5, 0.6, 0.7)):
        fabricate(tmp_path / f"runs/{seed}", root, quality=quality, seed=seed, pictures=False)
    [series] = series_of(read_runs([tmp_path / "runs"])).popitem()[1]
    assert len(series.runs) == 3
    found = series.after(0, "all")
    assert (found.mean, found.spread) == (pytest.approx(60), pytest.approx(10))
    assert str(found) == "60.0 ± 10.0"


def test_rows_of_one_name_say_what_differs(tmp_path, root):
    for ratio in (0.5, 1, 2):
        fabricate(tmp_path / f"runs/{ratio}", root, **WEB, replay__ratio=ratio)
    [found] = series_of(read_runs([tmp_path / "runs"])).values()
    assert {each.label for each in found} == {
        "RECALL (Web)",
        "RECALL (Web), ratio 0.5",
        "RECALL (Web), ratio 2.0",
    }
    text = page(read_runs([tmp_path / "runs"]), "title")
    figure = text[text.index("Interleaving ratio") :]
    assert re.findall(r">(0\.5|1|2)</text>", figure[: figure.index("</svg>")]) == ["0.5", "1", "2"]


def test_where_the_encoder_started(tmp_path, root):
    for weights in ("imagenet", "coco.safetensors"):
        settings = WEB | {"model__weights": weights, "scenario__spec": "15-1"}
        fabricate(tmp_path / f"runs/{weights}", root, pictures=False, **settings)
    found = tables(read_runs([tmp_path / "runs"]))
    [table] = [each for each in found if each.title.startswith("Where the encoder started")]
    assert {*ours(table)} == {"RECALL (Web), imagenet", "RECALL (Web), coco.safetensors"}
    theirs = {row.label: [cell.mean for cell in row.cells] for row in table.rows if row.paper}
    assert theirs["RECALL (Web), MSCOCO"] == [70.9, 57.4, 68.7]


def test_names_follow_the_parts_that_are_on(tmp_path, root):
    cases = {
        "Inpainting": {"method__name": "recall"},
        "Web only": WEB | {"method__inpaint": False},
        "RECALL (GAN)": WEB | {"replay__source": "gan"},
        "MiB": {"method__name": "mib"},
        "MiB + naive (Web)": WEB | {"method__name": "mib", "replay__labels": "previous"},
        "MiB + ours (Web)": WEB | {"method__name": "mib", "method__inpaint": True},
    }
    for number, (name, settings) in enumerate(cases.items()):
        run = fabricate(tmp_path / f"runs/{number}", root, pictures=False, **settings)
        assert read_run(run).name == name
    found = tables(read_runs([tmp_path / "runs"]))
    titles = [table.title for table in found]
    assert "What each part brings (mIoU all)" in titles
    [replay] = [table for table in found if table.title.startswith("Other methods with replay")]
    assert [cell is not None for cell in ours(replay)["MiB"]] == [True, False, True, False, True]


def test_joint_training_of_another_scenario_is_the_bound(tmp_path, root):
    fabricate(tmp_path / "runs/recall", root, quality=0.45, **WEB)
    fabricate(tmp_path / "runs/joint", root, scenario__spec="10-10", method__name="joint")
    assert "50 % of joint training" in page(read_runs([tmp_path / "runs"]), "title")


def test_a_killed_run_shows_what_is_there(tmp_path, root):
    fabricate(tmp_path / "runs/ft", root, method__name="ft", steps=2)
    fabricate(tmp_path / "runs/new", root, method__name="lwf", steps=0)
    text = page(read_runs([tmp_path / "runs"]), "title")
    assert "stopped after step 1 of 2" in text
    assert "no step was measured yet" in text
    assert "step 1" in text


def test_a_run_that_lost_its_scores_is_shown_without_them(runs):
    (runs / "ft" / "step-0" / "metrics.json").unlink()
    text = page(read_runs([runs]), "title")
    assert "step-0/metrics.json is not there any more" in text
    assert "RECALL (Web)" in text


def test_scores_without_the_names_of_their_classes_are_a_sentence(runs):
    (runs / "ft" / "classes.json").unlink()
    with pytest.raises(RecallsegError, match=r"classes.json does not name them"):
        read_runs([runs])


def test_a_folder_without_a_run_is_a_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "absent"):
        result = CliRunner().invoke(app, ["report", str(tmp_path / name)])
        assert isinstance(result.exception, RecallsegError)
        assert name in str(result.exception)
        assert "\n" not in str(result.exception)


def test_text_from_outside_does_no_harm(tmp_path, root):
    evil = "<script>alert(1)</script>"
    run = fabricate(tmp_path / "run", root, **WEB)
    for path in (run / "classes.json", *run.glob("step-*/metrics.json"), run / "result.json"):
        path.write_text(path.read_text().replace('"aeroplane"', json.dumps(evil)))
    classes = json.loads((run / "classes.json").read_text())
    assert evil in classes["channels"]
    photo, mask = root / "JPEGImages/v01.jpg", root / "SegmentationClassAug/v01.png"
    add_replay(run, photo, mask, {"title": evil, "class_name": evil, "credit": '"><img src=x>'})
    found = read_runs([run])
    text = page(found, evil)
    assert evil not in text
    assert "<img src=x>" not in text
    assert 'href="javascript:' not in text
    assert evil not in to_markdown(tables(found))


def test_the_gallery_credits_and_counts(tmp_path, root):
    run = fabricate(tmp_path / "run", root, **WEB)
    add_replay(run, root / "JPEGImages/v01.jpg", root / "SegmentationClassAug/v01.png")
    text = page(read_runs([run]), "title")
    assert "1 kept, 1 rejected (class not seen)" in text
    assert '<a href="https://example.org/1" rel="noreferrer">a bird, Ann, CC BY 4.0</a>' in text


@pytest.mark.parametrize(("data", "beside"), [("voc", ("the paper's",)), ("toy", ())])
def test_the_papers_class_mapping_stands_beside_that_of_its_own_classes(
    data, beside, tmp_path, root
):
    run = read_run(fabricate(tmp_path / "run", root, pictures=False, data__name=data))
    table = class_mapping(run, {"cow": [(345, "ox", 0.75), (1, "<b>", 0.25)]})
    assert table.columns == ("first", "second", "third", *beside)
    [row] = table.rows
    assert row.cells[:3] == ("ox (0.75)", "<b> (0.25)", None)
    assert len(row.cells) == len(table.columns)


def test_store_and_replay_is_marked(runs):
    text = page(read_runs([runs]), "title")
    assert text.count("keeps photos</em>") == 1


def test_photos_are_chosen_by_rule(runs):
    [found] = series_of(read_runs([runs])).values()
    viewer = Viewer(found)
    chosen = viewer.choose()
    assert chosen == Viewer(found).choose()
    rules = [rule for _, rule in chosen]
    assert rules.count("most forgotten by FT") == 3
    assert rules.count("best kept by RECALL (Web)") == 3
    forgotten = [stem for stem, rule in chosen if rule.endswith("FT")]
    ft = viewer.runs["FT"]
    assert all(
        viewer.score(ft, 0, stem) == 1 and viewer.score(ft, -1, stem) == 0 for stem in forgotten
    )


def test_no_photos_no_pictures_but_a_page(runs, root):
    root.rename(root.with_name("gone"))
    text = page(read_runs([runs]), "title")
    assert "There are no pictures here" in text
    assert "RECALL (Web)" in text


def test_plots_are_the_same_byte_for_byte_and_follow_the_ink():
    curves = {"FT": [50.0, 5.0, None], "Joint": [60.0, 60.0, 60.0]}
    one, other = (plots.evolution(curves, ["step 0", "a", "b"], "mIoU") for _ in range(2))
    assert one == other
    assert "currentColor" in one
    ElementTree.fromstring(one)


def test_a_page_is_the_same_byte_for_byte(runs):
    assert page(read_runs([runs]), "title") == page(read_runs([runs]), "title")


def test_the_page_asks_for_nothing_from_elsewhere(runs):
    text = page(read_runs([runs]), "title")
    addresses = re.findall(r'(?:src|href)="([^"#][^"]*)"', text) + re.findall(
        r"url\(([^)]*)\)", text
    )
    assert addresses
    assert all(address.startswith(("data:", "#", "var(")) for address in addresses)


def test_csv_reads_back(runs):
    found = tables(read_runs([runs]))
    first = to_csv(found).split("\n\n")[0]
    rows = list(csv.reader(io.StringIO(first)))
    assert rows[0][1] == "voc, 18-1 disjoint old"
    assert {row[0]: float(row[1]) for row in rows[1:]}["RECALL (Web)"] == pytest.approx(80)


def test_latex_is_balanced_and_escaped(runs):
    text = to_latex(tables(read_runs([runs])))
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}")
    assert r"S\&R" in text
    assert r"\textbf{80.0}" in text
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert lines[0].count("&") == lines[1].replace(r"\&", "").count("&") == 3


def test_markdown_has_a_bar_for_every_cell(runs):
    lines = to_markdown(tables(read_runs([runs]))).splitlines()
    assert lines[2].count("|") == lines[3].count("|") == lines[4].count("|")


def test_the_best_is_told_but_not_the_bound(runs):
    main = tables(read_runs([runs]))[0]
    assert main.best(0) == Value(pytest.approx(80))


def test_one_form_at_a_time(runs):
    result = CliRunner().invoke(app, ["report", str(runs), "--csv", "--latex"])
    assert "Choose one" in str(result.exception)


def test_a_report_needs_no_torch(runs, tmp_path):
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pathlib import Path\n"
        "from recallseg.report.page import write_report\n"
        f"write_report([Path({str(runs)!r})], Path({str(tmp_path / 'r.html')!r}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "r.html").stat().st_size > 10_000


@pytest.mark.slow
def test_fifty_runs_fit_on_one_page(tmp_path, root):
    for number in range(50):
        settings = WEB | {"replay__ratio": 1 + number // 5} if number % 2 else {}
        fabricate(tmp_path / f"runs/{number}", root, seed=number % 5, **settings)
    assert page(read_runs([tmp_path / "runs"]), "title")
