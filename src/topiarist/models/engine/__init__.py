"""How a block is computed: engines of the host and of a device, and what the rooms above need of the kernels."""

from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels import load as load_kernels
from topiarist.kernels.search import Postings, SearchKernels, Wanted
from topiarist.kernels.search import load as load_search_kernels
from topiarist.kernels.shard import Shard, Side, even_cuts

__all__ = [
    "SMALLEST_MIXTURE",
    "Postings",
    "SearchKernels",
    "Shard",
    "Side",
    "Wanted",
    "even_cuts",
    "load_kernels",
    "load_search_kernels",
]
