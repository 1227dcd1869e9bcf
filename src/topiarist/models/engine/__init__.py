"""Engines, which compute blocks on the host or on a device, and the kernels that other packages use."""

from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels import load as load_kernels
from topiarist.kernels.search import STRETCH, Postings, QueryVectors, Runs
from topiarist.kernels.shard import CountsView, Shard, cut_evenly

__all__ = [
    "SMALLEST_MIXTURE",
    "STRETCH",
    "CountsView",
    "Postings",
    "QueryVectors",
    "Runs",
    "Shard",
    "cut_evenly",
    "load_kernels",
]
