import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import recallseg
from drawn import whole_voc
from tiny import tiny_config
from typer.testing import CliRunner

from recallseg.cli.main import app
from recallseg.errors import RecallsegError
from recallseg.experiments.table_spec import plan_table


def test_help_loads_little_and_no_torch():
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "recallseg", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "scenario" in run.stdout
    loaded = {line.rsplit("|", 1)[-1].strip() for line in run.stderr.splitlines()}
    heavy = {"torch", "torchvision", "timm", "numpy", "pydantic", "matplotlib", "PIL"}
    assert "typer" in loaded
    assert not loaded & heavy
    rooms = {".".join(name.split(".")[:2]) for name in loaded if name.startswith("recallseg.")}
    assert rooms <= {
        f"recallseg.{name}" for name in ("__main__", "cli", "errors", "version", "waiting")
    }


COMMANDS = ["demo", "run", "learn", "rollback", "table", "report", "evaluate", "predict", "serve"]
COMMANDS += ["ask", "export", "hub", "info", "scenario", "config", "doctor"]
GROUPS = ["data", "toy", "replay", "gan", "cache", "bench"]


def test_help_and_completion_list_every_command():
    told = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "120"}).stdout
    listed = [line.split()[1] for line in told.split("Commands")[1].splitlines() if "│ " in line]
    assert [name for name in listed if name != "│"] == COMMANDS + GROUPS
    completing = {"_RECALLSEG_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "recallseg "}
    offered = CliRunner().invoke(app, [], prog_name="recallseg", env=completing).stdout
    assert [line.split('"')[1] for line in offered.splitlines()] == COMMANDS + GROUPS
    assert '"predict":"Segment photos of any size."' in offered


@pytest.mark.parametrize(
    ("words", "modules", "sentence"),
    [
        (["tabel"], set(), "Did you mean 'table'?"),
        (["rollback", "--help"], {"learn"}, "--to"),
        (["data", "chekc"], {"data", "data_import"}, "Did you mean 'check'?"),
    ],
)
def test_only_the_module_of_the_command_is_imported(words, modules, sentence):
    code = (
        "import sys\n"
        "from recallseg.cli.main import main\n"
        f"sys.argv = ['recallseg', *{words}]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('imported', *[n[14:] for n in sys.modules if n.startswith('recallseg.cli.')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert sentence in run.stdout + run.stderr
    imported = set(run.stdout.splitlines()[-1].split()[1:])
    assert imported - {"arguments"} == modules | {"main", "lazy"}


def test_scenario_as_json_is_alone_on_standard_output(voc_presence):
    run = recallseg("scenario", "voc", "15-1", "--presence", voc_presence, "--json")
    answer = json.loads(run.stdout)
    assert list(answer) == ["dataset", "spec", "setup", "steps"]
    assert answer["steps"][2] == {"step": 2, "classes": ["sheep"], "images": 299}
    assert [step["images"] for step in answer["steps"]] == [8437, 378, 299, 420, 500, 548]


def test_scenario_says_when_the_last_step_is_short(voc_presence):
    run = recallseg("scenario", "voc", "17-9", "--presence", voc_presence, "--json")
    assert [len(step["classes"]) for step in json.loads(run.stdout)["steps"]] == [17, 3]
    assert "does not divide 20 classes; the last step has 3" in run.stderr


def test_scenario_as_a_table_from_masks(tmp_path):
    whole_voc(tmp_path / "voc")
    run = recallseg("scenario", "voc", "19-1", "--root", tmp_path / "voc")
    assert run.returncode == 0
    assert "tvmonitor" in run.stdout


def test_scenario_counts_the_photos_in_lists(tmp_path):
    whole_voc(tmp_path / "voc")
    words = ["scenario", "voc", "19-1", "--root", tmp_path / "voc", "--lists", tmp_path]
    (tmp_path / "train-0.txt").write_text("t01\nt02\n/JPEGImages/t05.jpg\n")
    run = recallseg(*words)
    assert run.returncode == 2
    assert "has no list of step 1" in run.stderr
    (tmp_path / "train-1.txt").write_text("19\n0\n")
    run = recallseg(*words, "--json")
    assert [step["images"] for step in json.loads(run.stdout)["steps"]] == [3, 2]
    assert "note: 1 of the 2 photos in the list of step 1 show none of its classes" in run.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["scenario", "voc", "25-1", "--presence", "PRESENCE"], "does not fit 20 classes"),
        (["scenario", "coco", "15-1"], "Unknown dataset 'coco'. Known: voc"),
        (["scenario", "voc", "15-1", "--root", "/nowhere"], "is not at /nowhere"),
        (["scenario", "voc", "15-1", "--setup", "x", "--presence", "PRESENCE"], "Unknown setup"),
        (["scenario", "folder", "1-1", "--presence", "PRESENCE"], "class names"),
        (["data", "check", "/nowhere"], "does not exist"),
        (["config", "/nowhere.yaml"], "does not exist"),
    ],
)
def test_errors_are_sentences_with_exit_code_2(arguments, sentence, voc_presence):
    run = recallseg(*[str(voc_presence) if a == "PRESENCE" else a for a in arguments])
    assert run.returncode == 2
    assert run.stderr.startswith("error: ")
    assert sentence in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_debug_shows_the_traceback():
    with pytest.raises(RecallsegError, match="Unknown dataset 'coco'"):
        recallseg("--debug", "scenario", "coco", "15-1")
    assert recallseg("scenario", "coco", "15-1").returncode == 2


def test_check_passes_on_voc_mini(voc_mini):
    run = recallseg("data", "check", voc_mini / "VOC2012")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Nothing is wrong" in run.stdout


def test_check_exits_with_2_and_names_the_defect(tmp_path):
    root = whole_voc(tmp_path / "voc")
    (root / "JPEGImages/t01.jpg").unlink()
    run = recallseg("data", "check", root)
    assert run.returncode == 2
    assert "unpaired file" in run.stdout
    assert "t01" in run.stdout


def test_shrink_from_the_command_line(tmp_path):
    root = whole_voc(tmp_path / "voc")
    options = ["--longer-side", "16", "--train", "5", "--val", "2", "--seed", "1"]
    run = recallseg("data", "shrink", root, tmp_path / "small", *options)
    assert run.stdout.strip().endswith("5 in train_aug, 2 in val")
    assert run.returncode == 0


def test_doctor_tells_versions_devices_weights_and_data(tmp_path):
    whole_voc(tmp_path / "voc" / "VOC2012")
    run = recallseg("doctor", RECALLSEG_DATA=str(tmp_path))
    assert run.returncode == 0, run.stderr
    for word in (
        "torch",
        "cores",
        "efficientnet_lite0",
        "found at",
        "missing: run `recallseg data get ade`",
    ):
        assert word in run.stdout


def test_version():
    from recallseg import __version__

    assert recallseg("--version").stdout.strip() == f"recallseg {__version__}"


@pytest.fixture
def tiny_file(tmp_path):
    from recallseg.config import dump_config

    path = tmp_path / "tiny.yaml"
    path.write_text(dump_config(tiny_config(tmp_path / "voc")))
    return path


def test_run_evaluate_and_cache(tiny_file, tmp_path):
    other = tiny_file.with_name("other.yaml")
    other.write_text(tiny_file.read_text())
    out = tmp_path / "runs"
    words = [tiny_file, other, "scenario.spec=18-2", "--out", out]
    run = recallseg("run", *words)
    assert run.returncode == 0, run.stderr
    assert "tvmonitor" in run.stdout
    folders = sorted(out.iterdir())
    assert len(folders) == 2
    results = [json.loads((folder / "result.json").read_text()) for folder in folders]
    assert results[0]["steps"] == results[1]["steps"]
    assert "step 0: done" not in recallseg("run", *words).stderr

    score = recallseg("evaluate", folders[0], "--json")
    assert json.loads(score.stdout) == results[0]["steps"][-1]
    assert "mean: old" in recallseg("evaluate", folders[0], "--step", "0").stdout

    listed = recallseg("cache")
    assert "bank" in listed.stdout
    assert "step-0" in listed.stdout
    assert recallseg("cache", "clear", "nonsense").returncode == 2
    assert "freed" in recallseg("cache", "clear").stdout
    assert recallseg("cache").stdout.strip() == os.environ["RECALLSEG_CACHE"]


def test_a_dry_run_shows_the_plan_and_trains_nothing(tiny_file, tmp_path):
    run = recallseg("run", tiny_file, "--dry-run", "--json", "--out", tmp_path / "runs")
    found = json.loads(run.stdout)
    assert [step["iterations"] for step in found["steps"]] == [18, 8, 8]
    text = recallseg("run", tiny_file, "--dry-run", "--out", tmp_path / "runs").stdout
    assert "feature bank of the later steps" in text
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_of_a_table_lists_its_runs(tiny_file, tmp_path):
    rows = "{FT: tiny, LwF: {config: tiny, overrides: [method.name=lwf]}}"
    spec = tmp_path / "table.yaml"
    spec.write_text(f"configs: .\nrows: {rows}\nscenarios: [18-1]\nseeds: [0, 4]\n")
    words = ("table", spec, "--dry-run", "--out", tmp_path / "runs")
    found = json.loads(recallseg(*words, "--json").stdout)
    runs = [("FT", 0), ("FT", 4), ("LwF", 0), ("LwF", 4)]
    assert [(each["row"], each["seed"]) for each in found] == runs
    assert len({each["folder"] for each in found}) == 4
    text = recallseg(*words).stdout
    assert "4 runs" in text
    assert "2 different step 0" in text
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_of_a_table_tells_which_runs_are_kept(tiny_file, tmp_path):
    spec = tmp_path / "table.yaml"
    spec.write_text("configs: .\nrows: {FT: tiny}\nscenarios: [18-1]\nseeds: [0, 4]\n")
    words = ("table", spec, "--dry-run", "--out", tmp_path / "runs")
    names = [folder.name for each in plan_table(spec, [], Path()) for folder, _ in each.runs]
    scores = dict.fromkeys(("old", "new", "all", "foreground"), 50.0)
    spreads = dict.fromkeys(("old_spread", "new_spread", "all_spread"), None)
    about = {"row": "FT", "scenario": "18-1", "setup": "disjoint", "seeds": [4]}
    cell = about | scores | spreads | {"runs": names[1:], "scores": [scores], "keeps_photos": False}
    table = {"table": "kept", "overrides": [], "cells": [cell]}
    (tmp_path / "table-kept.json").write_text(json.dumps(table))
    found = json.loads(recallseg(*words, "--json", "--kept", tmp_path).stdout)
    assert [each["kept"] for each in found] == [False, True]
    assert "2 runs, 1 kept" in recallseg(*words, "--kept", tmp_path).stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "TINY", "method.name=magic"], "Unknown method 'magic'"),
        (["run", "TINY", "optim.lr=-1"], "optim.lr: "),
        (["run", "TINY", "model.encoder=resnet1001"], "Unknown encoder 'resnet1001'"),
        (["run", "TINY", "model.weights=/nowhere.pth"], "/nowhere.pth"),
        (["run", "seed=1"], "Name at least one YAML file"),
        (["run", "TINY", "TINY", "devices=2"], "run one configuration at a time"),
        (["evaluate", "/nowhere"], "is not a run folder"),
    ],
)
def test_wrong_runs_end_with_a_sentence(tiny_file, tmp_path, words, sentence):
    words = [tiny_file if word == "TINY" else word for word in words]
    out = ["--out", tmp_path / "runs"] if words[0] == "run" else []
    run = recallseg(*words, *out)
    assert run.returncode == 2
    assert sentence in run.stderr
    assert "Traceback" not in run.stderr
