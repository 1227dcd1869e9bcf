"""The vocabulary of arrays: what every annotation means by floats, integers, sparse counts or a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import DTypeLike as DTypeLike

if TYPE_CHECKING:
    from scipy.sparse import csr_array, sparray, spmatrix

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]  # of any numbers
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.floating[Any]]]  # of the precision of a fit
Doubles: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Integers: TypeAlias = np.ndarray[Any, np.dtype[np.integer[Any]]]
Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Bools: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Dtype: TypeAlias = np.dtype[Any]
Move: TypeAlias = Callable[[Any], Any]  # an array to where it is computed with, or back

Csr: TypeAlias = "csr_array[Any]"  # sparse by rows: documents × words
Unchecked: TypeAlias = Any  # as people hand it in, before anything is known of it
Matrix: TypeAlias = "ArrayLike | sparray | spmatrix"  # what people hand in: anything that can be read as a matrix
Seed: TypeAlias = "int | np.random.RandomState | None"  # scikit-learn's ``random_state``
