"""How long is one pass over 20 Newsgroups with 64 components on two threads, for every system?"""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks import data, report
from benchmarks.bars import PASS_RATIOS
from benchmarks.client import Client, PeerError
from benchmarks.settings import Settings
from benchmarks.systems import SYSTEMS

COLLECTION = "20newsgroups"
N_COMPONENTS = 64
N_THREADS = 2


def main(settings: Settings) -> dict:
    """Prepare all systems, then measure in turn, round by round; slow ones leave when their time is up."""
    counts = data.counts(COLLECTION)
    rows: dict[str, dict] = {}
    with ExitStack() as stack:
        clients = []
        for name in settings.chosen(SYSTEMS):
            if SYSTEMS[name].pass_timer is None:
                continue
            print(f"[pass_speed] preparing {name}", flush=True)
            client = stack.enter_context(Client(name, N_THREADS))
            rows[name] = {"title": SYSTEMS[name].title, "spent": 0.0, "rounds": 0}
            try:
                rows[name] |= client.ask("versions")
                client.ask("prepare", counts=str(counts), n_components=N_COMPONENTS, n_threads=N_THREADS)
                clients.append(client)
            except PeerError as error:
                rows[name]["failed"] = str(error)
                print(f"[pass_speed] {name} cannot run: {error}", flush=True)
        for number in range(settings.rounds):
            for client in clients:
                _measure(client, rows[client.name], number, settings)
    return {
        "collection": COLLECTION,
        "documents_from": data.provenance(COLLECTION),
        "counts": data.describe(counts),
        "n_components": N_COMPONENTS,
        "n_threads": N_THREADS,
        "bars": PASS_RATIOS,
        "rows": rows,
    }


def _measure(client: Client, row: dict, number: int, settings: Settings) -> None:
    if "failed" in row or row["spent"] > settings.seconds_per_system:
        return
    try:
        reply = client.ask("time_pass")
    except PeerError as error:
        row["failed"] = str(error)
        return
    row["seconds"] = reply["seconds"]
    row["runs"] = reply["runs"]
    row["spent"] += reply["spent"]
    row["rounds"] += 1
    print(f"[pass_speed] round {number + 1}: {client.name} {report.milliseconds(reply['seconds'])}", flush=True)
