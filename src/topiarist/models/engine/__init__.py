"""How a block is computed: engines of the host and of a device, and what the rooms above need of the kernels.

Floor plan:

    compilation  Which kernels are not compiled yet, and compiling them: some seconds, once on a machine.
    cuda         The engine on a CUDA device: the methods of ``engine.Engine``, on arrays that stay there through a fit.
    cuda_counts  Counts on a device, cut into segments; or parked on the host until they are needed.
    cuda_growth  What growing a tree needs of a device beside passes: words of groups, halves of groups, leading
                 factors.
    host         What every model of counts does with the kernels: sweep, normalise, look ahead, piece by piece over
                 threads.
    tables       Large tables as a tree changes, wherever they are: of NumPy, or of a device, which never sends them
                 home for it.
"""

from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels import load as load_kernels
from topiarist.kernels.search import STRETCH, Postings, Runs, SearchKernels, Wanted
from topiarist.kernels.search import load as load_search_kernels
from topiarist.kernels.shard import Shard, Side, even_cuts

__all__ = [
    "SMALLEST_MIXTURE",
    "STRETCH",
    "Postings",
    "Runs",
    "SearchKernels",
    "Shard",
    "Side",
    "Wanted",
    "even_cuts",
    "load_kernels",
    "load_search_kernels",
]
