"""What we ask of ourselves: the numbers that RESULTS.md compares with."""

PASS_RATIOS = {"c-kernel": 0.75, "enstop-block": 10.0, "bigartm-plsa": 8.0, "sklearn-nmf": 35.0}
"""Least time of a system's pass, in times of ours (C kernel: the share of its speed to reach)."""

SPEEDUP_TO_QUALITY = 20.0
"""Least ratio of tomotopy's time for 400 sweeps to our time for the same perplexity."""

QUALITY_TIME_SHARE = 0.2
"""Greatest share of the fastest peer's time in which the best peer's perplexity is reached."""

DOCUMENT_SLOPE = 1.05
"""Greatest exponent of the time of a pass against non-zeros."""

MEMORY_FACTOR = 1.0
"""Greatest peak memory of a fit in terms of counts + column index + 3 x parameters."""

THREAD_SPEEDUPS = {16: 9.0}
"""Least speed-up by threads at 128 components."""

TREE_RATIO = 1.25
"""Greatest time of a pass with 64 leaves of a tree, in times of a pass of flat PLSA with 64 components."""
