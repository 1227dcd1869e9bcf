"""Documents that people have put somewhere: they are there at once, and not only after the next fit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr
from topiarist.collection.shape.shape import Shape


def with_pins(shares: Csr, shape: Shape, rows: Mapping[str, int]) -> tuple[Csr, tuple[str, ...]]:
    """The shares with pinned documents wholly under their topics, and those that have to wait for a fit.

    Among the classes of its topic, or of those below it, a document keeps the proportions that it had, and goes to
    the class that comes first where it had none. A topic that was made since the last fit has no class: its documents
    wait.
    """
    mask = shape.tree.path_mask(shape.class_nodes)
    places, columns, waiting = list[int](), list[int](), list[str]()
    values = list[float]()
    for document, topic in shape.pins.items():
        if document not in rows:
            continue
        classes = np.flatnonzero(mask[:, shape.node(topic)])
        own = np.flatnonzero(np.array(shape.class_topics) == topic)
        classes = own if len(own) else classes
        if not len(classes):
            waiting.append(document)
            continue
        share = shares[[rows[document]]].toarray().ravel()[classes]
        share = share / share.sum() if share.sum() > 0 else np.eye(1, len(classes)).ravel()
        places.extend([rows[document]] * len(classes))
        columns.extend(classes.tolist())
        values.extend(share.tolist())
    if not places:
        return shares, tuple(waiting)
    free = np.ones(shares.shape[0], shares.dtype)
    free[places] = 0
    put = csr_array((np.array(values, shares.dtype), (places, columns)), shape=shares.shape)
    whole = csr_array(shares.multiply(free[:, None]) + put)
    whole.eliminate_zeros()
    return whole, tuple(waiting)
