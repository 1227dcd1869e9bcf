"""A picture of a stream: how probable its batches were before they were learned from, and when that changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.errors import InputError
from topiarist.hierarchy.picture import CHOSEN, CURVE, _require_matplotlib
from topiarist.models.drift import Drift, find_drift, likelihoods

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISFITS = "#999933"


def draw_drift(ax: Axes | None, records: Sequence[Any], drift: Drift | None = None) -> Axes:
    """Draw the log-likelihood per token of a stream's batches and the share of misfits, and return the axes.

    ``records`` are those of ``stream_``; alarms are vertical lines, those of ``drift`` or of ``find_drift``.
    """
    _require_matplotlib()
    if not len(records):
        raise InputError("expected the records of at least one batch, got none", hint="stream_ after partial_fit")
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")[1]
    values = likelihoods(records)
    drift = drift or find_drift(values)
    batches = np.arange(1, len(values) + 1)
    below = ax.twinx()
    misfits = [record.misfits for record in records]
    below.fill_between(batches, misfits, step="mid", color=MISFITS, alpha=0.35, linewidth=0)
    below.set_ylim(0.0, max(0.2, 2.5 * max(misfits)))  # they keep to the lower part
    below.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    below.set_ylabel("documents that fit badly", color=MISFITS)
    below.spines[["top", "left"]].set_visible(False)
    ax.set_zorder(below.get_zorder() + 1)
    ax.patch.set_visible(False)
    ax.plot(batches, values, color=CURVE, linewidth=1.6, marker="o", markersize=2.5)
    for number, place in enumerate(drift.alarms):
        ax.axvline(place + 1, color=CHOSEN, linewidth=1.4, linestyle="--", label=None if number else "drift")
    ax.set_xlabel("batch")
    ax.set_ylabel("log-likelihood, nats a token")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#e5e5e5", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if drift.alarms:
        ax.legend(frameon=False)
    return ax
