import json

from recallseg import progress
from recallseg.reporter import Reporter


def test_away_from_a_terminal_progress_is_plain_lines(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", -1.0)
    reporter = Reporter()
    with reporter.phase("step 1", 4, done=1) as phase:
        phase.advance(1, "  loss 0.500", per_second=(8, "photos"))
        phase.advance(2)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("step 1: 2/4  loss 0.500")
    assert "photos/s" in lines[0]
    assert lines[0].endswith("s left")
    assert lines[1].startswith("step 1: 4/4")
    assert len(lines) == 2


def test_files_and_work_without_parts_say_that_they_go_on(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", -1.0)
    heard = []
    with progress.heard_by(heard.append):
        assert list(progress.tracked("ab", "Reading [a]", 2)) == ["a", "b"]
    with progress.waiting("Exporting"):
        pass
    told = capsys.readouterr().err.splitlines()
    assert told == ["Reading [a]: 1/2", "Reading [a]: 2/2", "Exporting …"]
    assert [(report.phase, report.done, report.total) for report in heard] == [
        ("Reading [a]", 1, 2),
        ("Reading [a]", 2, 2),
    ]


def test_a_resumed_phase_writes_its_lines_once(tmp_path):
    reporter = Reporter(tmp_path / "metrics.jsonl")
    for phase, iteration in (("step 0", 0), ("step 0", 5), ("step 1", 0), ("step 1", 5)):
        reporter.note(phase=phase, iteration=iteration, loss=1.0, lr=0.1)
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"phase": "step 1", "itera')
    reporter.forget_after("step 1", 5)
    kept = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [(line["phase"], line["iteration"]) for line in kept] == [
        ("step 0", 0),
        ("step 0", 5),
        ("step 1", 0),
    ]


def test_trackers_hear_of_losses_rates_and_scores():
    heard = []
    reporter = Reporter(log=lambda values, at: heard.append((values, at)))
    reporter.note(phase="step 1", iteration=3, loss=0.5, lr=0.1)
    reporter.scores(1, {"all": 50.0, "new": None})
    assert heard == [({"step 1/loss": 0.5, "step 1/lr": 0.1}, 3), ({"mIoU/all": 50.0}, 1)]
