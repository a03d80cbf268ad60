"""What a run came to, without torch: its scores, what it forgot most, and a table for a paper.

python examples/read_a_run.py RUN_FOLDER…
"""

import sys
from pathlib import Path

from recallseg.report.page import tables
from recallseg.report.runs import Run, read_runs
from recallseg.report.tables import to_latex


def most_forgotten(run: Run) -> list[str]:
    """The classes of step 0 by how much of their IoU is gone, worst first."""
    before, after = run.steps[0]["iou"], run.steps[-1]["iou"]
    lost = {name: (before[name] or 0) - (after[name] or 0) for name in before}
    return sorted(lost, key=lambda name: -lost[name])


if __name__ == "__main__":
    runs = read_runs([Path(name) for name in sys.argv[1:]])
    for run in runs:
        if run.steps:
            print(run.name, run.scores()["all"], "forgot most of:", most_forgotten(run)[:3])
    print(to_latex(tables(runs)[:1]))
