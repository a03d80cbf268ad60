"""Runs: Algorithm 1, the one training loop, and everything that knows about devices and disks."""
