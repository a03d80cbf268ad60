"""Keep the memory of large tensors in the process instead of giving it back after every use.

glibc maps blocks above a threshold anew each time they are asked for, and touching fresh pages
costs a training step on a CPU about a seventh of its time.
"""

import ctypes
import platform

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
SETTINGS = {M_MMAP_THRESHOLD: 2**30, M_TRIM_THRESHOLD: 2**31 - 1, M_TOP_PAD: 2**28}


def keep_large_blocks() -> bool:
    """Raise glibc's thresholds; false, and nothing done, with any other C library."""
    if platform.libc_ver()[0] != "glibc":
        return False
    libc = ctypes.CDLL(None)
    return all(libc.mallopt(option, value) == 1 for option, value in SETTINGS.items())
