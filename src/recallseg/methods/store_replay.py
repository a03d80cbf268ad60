"""Store and Replay (the paper's S&R): a simple method that keeps true samples."""

from recallseg.methods.base import Method


class StoreReplay(Method):
    """Fine-tuning interleaved with stored samples, as many as take the size of helper decoders."""

    title = "S&R"
    stores = True
