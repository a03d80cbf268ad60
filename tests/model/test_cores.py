import threading

import pytest
import torch

from recallseg.model.cores import in_turns


def test_results_come_in_order_and_none_is_made_while_the_caller_works():
    threads, busy = torch.get_num_threads(), threading.Event()

    def double(number):
        assert not busy.is_set()
        assert torch.get_num_threads() == 1
        return 2 * number

    found = []
    for result in in_turns(double, range(7)):
        busy.set()
        found.append(result)
        assert torch.get_num_threads() == threads
        busy.clear()
    assert found == [0, 2, 4, 6, 8, 10, 12]
    assert torch.get_num_threads() == threads


def test_an_error_reaches_the_caller():
    def fails(number):
        raise ValueError(f"number {number}")

    with pytest.raises(ValueError, match="number 0"):
        next(in_turns(fails, range(3)))
