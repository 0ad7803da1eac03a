"""Times of several ways to do a thing, side by side."""

import time

import numpy as np


def seconds(*functions, rounds=5):
    """Return the median time of each function, their runs interleaved."""
    times = []
    for _ in range(rounds):
        times.append([])
        for function in functions:
            start = time.perf_counter()
            function()
            times[-1].append(time.perf_counter() - start)
    return np.median(times, axis=0)
