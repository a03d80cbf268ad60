"""The runs of a table elsewhere: the same numbers, whatever dies, and no step 0 trained twice."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tiny import tiny_config

from recallseg.config import dump_config

ROOT = Path(__file__).parents[2]

SPEC = """
configs: configs
rows: {FT: ft, MiB: mib}
scenarios: [19-1]
seeds: [0, 1]
"""


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "configs").mkdir()
    for method in ("ft", "mib"):
        config = tiny_config(tmp_path / "voc", method__name=method, checkpoint_seconds=0)
        (tmp_path / f"configs/{method}.yaml").write_text(dump_config(config))
    (tmp_path / "small.yaml").write_text(SPEC)
    return tmp_path / "small.yaml"


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
