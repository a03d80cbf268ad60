"""The benchmark of a server, against a real one; whether its numbers are good is not for tests."""

import json

import pytest
from commands import recallseg


@pytest.mark.slow
def test_bench_serve_answers_every_request_beside_slow_clients_and_a_reload(learned, tmp_path):
    words = ("--photos", 4, "--requests", 40, "--clients", 8, "--slow-clients", 20)
    out = tmp_path / "numbers.json"
    told = recallseg("bench", "serve", learned / "plain", *words, "--endurance", 300, "-o", out)
    assert told.returncode == 0, told.stderr
    numbers = json.loads(out.read_text())
    assert json.loads(told.stdout) == numbers
    assert numbers["answered"] == numbers["answered_beside_slow"] == 40
    assert (numbers["reloads_under_load"], numbers["failed_during_reload"]) == (1, 0)
    assert numbers["answered_in_endurance"] == 300
    first, last = numbers["memory_mb"]
    assert last < first + 30
    assert numbers["p50_s"] <= numbers["p99_s"]
    assert min(numbers["throughput"], numbers["cpu"]) > 0
