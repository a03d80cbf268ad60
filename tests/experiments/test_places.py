"""The runs of a table elsewhere: the same numbers, whatever dies, and no step 0 trained twice."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import recallseg
from rich.console import Console
from tiny import small_table, tiny_config

from recallseg.config import dump_config
from recallseg.experiments.places.here import SeveralProcesses
from recallseg.experiments.places.place import Ended, Job, Resources
from recallseg.experiments.schedule import Progress, carry_out, in_order
from recallseg.experiments.table import make_table
from recallseg.experiments.table_spec import plan_table
from recallseg.experiments.worker import Noticing, notice_file, read_notice
from recallseg.files import write_json
from recallseg.progress import ProgressReport
from recallseg.runs.folder import RunFolder

ROOT = Path(__file__).parents[2]


@pytest.fixture
def spec(tmp_path):
    return small_table(tmp_path, checkpoint_seconds=0)


ON_RAY = """
import importlib.util, json, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("cluster", sys.argv[1])
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)
print(json.dumps(tool.compare(Path(sys.argv[2]), Path(sys.argv[3]), count=2, after=0)))
"""


def test_a_table_on_a_cluster_that_loses_a_node(spec, tmp_path):
    pytest.importorskip("ray", reason="needs ray")
    words = [sys.executable, "-c", ON_RAY, ROOT / "tools/cluster.py", spec, tmp_path]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    came = json.loads(ended.stdout.splitlines()[-1])
    assert came["killed_in_the_middle"]
    assert (came["runs"], came["ended"]) == (4, 4)
    assert all(came["same_numbers"])
    assert came["same_table"]
    assert came["trained_step_0"] == came["different_step_0"] == 2


@pytest.mark.slow
def test_twelve_runs_on_three_nodes_of_which_one_dies():
    pytest.importorskip("ray", reason="needs ray")
    subprocess.run([sys.executable, ROOT / "tools/cluster.py"], check=True)


class Told:
    """A place that does nothing but what a test tells it to."""

    def __init__(self, room=10):
        self.room, self.started, self.news, self.closed = room, [], [], False

    def has_room(self):
        return len(self.started) < self.room

    def start(self, job):
        self.started.append(job.title)
        self.news.append(job)

    def ended(self):
        job = self.news.pop(0)
        return [Ended(job, "no luck" if job.title == "bad" else None)]

    def close(self):
        self.closed = True


def jobs_of(tmp_path, titles, after=()):
    waits = dict(after)
    return [
        Job(title, tmp_path / title, None, tmp_path / waits[title] if title in waits else None)
        for title in titles
    ]


def test_who_waits_for_a_step_0_comes_when_it_is_there_or_never_will_be(tmp_path):
    place, heard = Told(), []
    jobs = jobs_of(tmp_path, ["bad", "good", "c", "d"], {"c": "bad", "d": "good"})
    step = tmp_path / "good/step-0"

    def hear(news):
        heard.append((news.job.title, list(place.started)))
        if news.job.title == "bad":
            step.mkdir(parents=True)
            (step / "decoder.safetensors").touch()

    failed = carry_out(jobs, place, hear, watched=False)
    assert heard[0] == ("bad", ["bad", "good"])
    assert heard[1] == ("good", ["bad", "good", "c", "d"])
    assert failed == {tmp_path / "bad": "no luck"}
    assert place.closed


def test_ctrl_c_stops_what_runs(tmp_path):
    place = Told(room=1)

    def pressed(news):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_out(jobs_of(tmp_path, ["a", "b"]), place, pressed, watched=False)
    assert place.started == ["a"]
    assert place.closed


def test_seeds_come_one_after_the_other_each_with_the_run_that_trains_its_step_0_first(
    spec, tmp_path
):
    runs = [run for cell in plan_table(spec, [], tmp_path / "runs") for run in cell.runs]
    jobs = in_order([Job(config.method.name, folder, config) for folder, config in runs[::-1]])
    assert [(job.title, job.config.seed) for job in jobs] == [
        ("mib", 1),
        ("ft", 1),
        ("mib", 0),
        ("ft", 0),
    ]
    assert [job.after for job in jobs] == [None, jobs[0].folder, None, jobs[2].folder]


def test_runs_of_a_seed_keep_the_order_of_the_table_and_wait_for_whoever_trains_their_step_0(
    spec, tmp_path
):
    jobs = in_order(
        [
            Job(f"{config.method.name} at {rate}", folder, config)
            for rate in ("0.01", "0.02")
            for cell in plan_table(spec, [f"optim.lr={rate}"], tmp_path / rate)
            for folder, config in cell.runs[:1]
        ]
    )
    assert [job.title for job in jobs] == ["ft at 0.01", "mib at 0.01", "ft at 0.02", "mib at 0.02"]
    assert [job.after for job in jobs] == [None, jobs[0].folder, None, jobs[2].folder]


def test_the_live_table_tells_where_runs_are_and_how_long_they_take_still(tmp_path):
    a, b = jobs_of(tmp_path, ["a", "b"])
    notice = {"pid": 7, "phase": "step 1", "share": 0.25, "seconds": 100.0}
    write_json(notice_file(a.folder), notice | {"host": "north", "left": 300.0})
    progress = Progress(total=5, finished=1, running=[a, b], durations=[200.0])
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(progress.table())
    shown = console.export_text()
    assert "1 of 5 runs done, about 10 min left" in shown
    assert re.search(r"a .*north, process 7 .*step 1 .*25% .*5 min", shown)
    assert re.search(r"b .*waiting", shown)
    # 300 s of a, and b and two that are still to come at (200 + 400) / 2 each, two at a time
    assert progress.seconds_left() == (300 + 3 * 300) / 2


def test_a_run_tells_how_far_it_is_by_the_iterations_of_all_its_trainings(tmp_path):
    noticing = Noticing(tmp_path / "run", {"step 0": 10, "helper 0": 5, "step 1": 25})
    noticing(ProgressReport("step 1", 1, 25))
    assert read_notice(tmp_path / "run")["share"] == 16 / 40
    noticing.started -= 8
    noticing(ProgressReport("evaluate step 1", 3, 9))
    noticing(ProgressReport("step 1", 4, 25))
    told = noticing.notice("step 1")
    assert told["share"] == 19 / 40
    assert told["left"] == pytest.approx(told["seconds"] / 4 * 21, abs=0.4)  # both are rounded


SHORT_LIFE = """
import os, signal, sys
from pathlib import Path
folder = Path(sys.argv[1])
lives = folder / "lives"
lives.write_text(lives.read_text() + "x" if lives.exists() else "x")
if folder.name == "broken":
    print("error: nothing works.")
    sys.exit(2)
if len(lives.read_text()) < 3:
    os.kill(os.getpid(), signal.SIGKILL)
(folder / "threads").write_text(os.environ["OMP_NUM_THREADS"] + os.environ["OMP_WAIT_POLICY"])
"""


def test_a_process_that_is_killed_is_begun_again_and_an_error_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("RECALLSEG_CORES", "4")
    monkeypatch.setattr(Job, "prepare", lambda self: self.folder.mkdir(exist_ok=True))
    place = SeveralProcesses(2, tmp_path / "logs", [sys.executable, "-c", SHORT_LIFE])
    jobs = jobs_of(tmp_path, ["killed", "broken"])
    failed = carry_out(jobs, place, lambda news: None, watched=False)
    assert failed == {tmp_path / "broken": "nothing works."}
    assert (tmp_path / "killed/lives").read_text() == "xxx"
    assert (tmp_path / "killed/threads").read_text() == "2PASSIVE"


DEAF_TO_CTRL_C = """
import signal, sys, time
from pathlib import Path
from recallseg.waiting import stop_on_request
signal.signal(signal.SIGINT, signal.SIG_IGN)
stop_on_request()
folder = Path(sys.argv[1])
(folder / "at work").touch()
try:
    time.sleep(600)
except KeyboardInterrupt:
    (folder / "stopped").touch()
"""


def test_processes_of_a_background_job_are_stopped_with_their_table(tmp_path, monkeypatch):
    monkeypatch.setattr(Job, "prepare", lambda self: self.folder.mkdir())
    place = SeveralProcesses(1, tmp_path / "logs", [sys.executable, "-c", DEAF_TO_CTRL_C])
    [job] = jobs_of(tmp_path, ["a"])
    place.start(job)
    while not (job.folder / "at work").exists():
        time.sleep(0.01)
    place.close()
    assert (job.folder / "stopped").exists()


FAKE_SBATCH = "#!/bin/sh\necho Submitted batch job 4711\n"


def test_a_slurm_job_asks_for_what_the_run_needs(tmp_path, monkeypatch):
    pytest.importorskip("submitit", reason="needs submitit")
    from recallseg.experiments.places.on_slurm import OnSlurm

    (tmp_path / "bin").mkdir()
    for name in ("sbatch", "srun", "scancel"):
        (tmp_path / "bin" / name).write_text(FAKE_SBATCH)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    words = {"partition": "gpu", "time": "600", "nice": "5"}
    place = OnSlurm(tmp_path / "slurm", Resources(cpus=3, gpus=1), words)
    config = tiny_config(tmp_path / "voc", devices=2, nodes=2, accelerator="cpu")
    place.start(Job("a run", tmp_path / "run", config))
    script = next((tmp_path / "slurm").glob("*submission*.sh"))
    asked = {line for line in script.read_text().splitlines() if line.startswith("#SBATCH")}
    wanted = ["nodes=2", "ntasks-per-node=2", "cpus-per-task=3", "gpus-per-node=2", "requeue"]
    wanted += ["partition=gpu", "time=600", "nice=5", "open-mode=append"]
    assert {f"#SBATCH --{word}" for word in wanted} <= asked
    assert any(line.startswith("#SBATCH --signal=USR2@") for line in asked)
    assert dump_config(config) == (tmp_path / "run/config.yaml").read_text()
    place.close()


def test_a_job_of_slurm_does_the_run_and_asks_for_the_same_again(spec, tmp_path, monkeypatch):
    pytest.importorskip("submitit", reason="needs submitit")
    from recallseg.experiments.places.on_slurm import Task

    monkeypatch.setattr(os, "environ", dict(os.environ))
    [ft, _] = plan_table(spec, ["increment.iterations_per_class=1"], tmp_path / "runs")
    folder, config = ft.runs[0]
    Job("FT", folder, config).prepare()
    task = Task(folder, cores=1)
    task()
    assert RunFolder(folder).result["seed"] == 0
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
    assert read_notice(folder) is None
    again = task.checkpoint()
    assert (again.function, again.args) == (task, ())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--on", "moon"], "--on takes local, ray, ray:ADDRESS or slurm, not 'moon'"),
        (["--on", "ray", "--jobs", "2"], "--jobs is for --on local"),
        (["--on", "slurm", "--slurm", "gpu"], "--slurm takes name=value, not 'gpu'"),
    ],
)
def test_places_that_are_not_there_are_a_sentence(spec, tmp_path, words, said):
    told = recallseg("table", spec, "-o", tmp_path / "runs", *words)
    assert told.returncode == 2
    assert said in told.stderr


@pytest.mark.slow
@pytest.mark.parametrize("request_to_stop", [signal.SIGINT, signal.SIGTERM])
def test_several_runs_at_a_time_survive_a_stop_and_end_as_in_one_process(
    request_to_stop, spec, tmp_path
):
    make_table(spec, [], tmp_path / "alone")
    words = ["table", spec, "-o", tmp_path / "runs", "--jobs", "2"]
    command = [sys.executable, "-m", "recallseg", *map(str, words)]
    environment = os.environ | {"RECALLSEG_CACHE": str(tmp_path / "cache")}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    while not list((tmp_path / "runs").glob("*/step-0/decoder.safetensors")):
        time.sleep(0.01)
    process.send_signal(request_to_stop)
    process.communicate()
    assert not list((tmp_path / "runs").glob("*/.lease"))
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    tables = [json.loads((tmp_path / f"{way}/small.json").read_text()) for way in ("alone", "runs")]
    assert tables[0]["cells"] == tables[1]["cells"]


@pytest.mark.slow
def test_a_preempted_job_goes_on_where_it_was(spec, tmp_path):
    pytest.importorskip("submitit", reason="needs submitit")
    from recallseg.experiments.places.on_slurm import OnSlurm

    words = ["increment.iterations_per_class=400"]
    [ft, _] = plan_table(spec, words, tmp_path / "runs")
    folder, config = ft.runs[0]
    place = OnSlurm(tmp_path / "jobs", Resources(), {}, cluster="local")
    place.start(Job("FT", folder, config))
    [job] = place._running.values()
    while not (folder / "state/training.pt").is_file():
        time.sleep(0.01)
    job._interrupt()
    job.result()
    assert RunFolder(folder).result["seed"] == 0
    assert "going on at iteration" in job.stderr()
