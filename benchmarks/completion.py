"""Training systems with evaluation at checkpoints; shared by ``time_to_quality`` and ``quality``."""

from __future__ import annotations

from benchmarks import data
from benchmarks.client import Client, PeerError
from benchmarks.settings import Settings
from benchmarks.systems import SYSTEMS


def trajectories(
    label: str,
    collection: str,
    checkpoints: dict[str, list[int]],
    n_components: int,
    n_threads: int,
    settings: Settings,
) -> dict:
    """Return for each system the points (iterations, training seconds, perplexity) it passed through."""
    files = {part: str(path) for part, path in data.completion(collection).items()}
    rows: dict[str, dict] = {}
    for name in settings.chosen(checkpoints):
        row = rows[name] = {"title": SYSTEMS[name].title.removesuffix(", one sweep"), "points": []}
        print(f"[{label}] {collection}: training {name}, checkpoints {checkpoints[name]}", flush=True)
        with Client(name, n_threads) as client:
            try:
                row |= client.ask("versions")
                request = {"n_components": n_components, "n_threads": n_threads}
                for point in client.stream("complete", files=files, checkpoints=checkpoints[name], **request):
                    row["points"].append(point)
                    print(
                        f"[{label}] {name}: {point['iterations']} iterations, {point['seconds']:.2f} s, "
                        f"perplexity {point['perplexity']:.1f}",
                        flush=True,
                    )
            except PeerError as error:
                row["failed"] = str(error)
                print(f"[{label}] {name} cannot run: {error}", flush=True)
    return {
        "collection": collection,
        "documents_from": data.provenance(collection),
        "counts": data.describe(files["train"]),
        "test_documents": data.describe(files["scored"])["documents"],
        "n_components": n_components,
        "n_threads": n_threads,
        "rows": rows,
    }
