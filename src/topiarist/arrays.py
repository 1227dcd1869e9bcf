"""Type aliases of arrays, sparse counts and seeds for annotations, and the smallest positive number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import DTypeLike as DTypeLike

if TYPE_CHECKING:
    from scipy.sparse import csr_array, sparray, spmatrix

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]  # of any numbers
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.floating[Any]]]  # in the precision of a fit
Doubles: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Integers: TypeAlias = np.ndarray[Any, np.dtype[np.integer[Any]]]
Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Bools: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Dtype: TypeAlias = np.dtype[Any]
Move: TypeAlias = Callable[[Any], Any]  # moves an array between host and device

TINY = 1e-300  # replaces zero in double precision, so that logarithms and quotients are finite

Csr: TypeAlias = "csr_array[Any]"  # sparse by rows: documents × words
Unchecked: TypeAlias = Any  # input of users before validation
Matrix: TypeAlias = "ArrayLike | sparray | spmatrix"  # input that can be converted to a matrix
Seed: TypeAlias = "int | np.random.RandomState | None"  # scikit-learn's ``random_state``
