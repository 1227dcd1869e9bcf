"""Are near documents near on the map? ``python -m benchmarks.map_neighbours FOLDER`` prints how many.

Of the ten nearest documents by vectors (LSI of 100 dimensions over counts, cosines) the share that is among the thirty
nearest points: of topics in circles, with ``--neighbours`` also of the map by neighbours, and with ``--pacmap`` of what
that package makes of the very same vectors, where it is installed.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from topiarist import Collection
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.trends.document_map import lay_out_documents, lay_out_neighbours

NEAREST, AROUND, DIMENSIONS = 10, 30, 100


def kept(vectors: np.ndarray, points: np.ndarray) -> float:
    """The share of the nearest by vectors that is among those around on the map."""
    wanted, found = _nearest(vectors, NEAREST), _nearest(points, AROUND)
    return float(np.mean([np.isin(one, other).mean() for one, other in zip(wanted, found, strict=True)]))


def _nearest(places: np.ndarray, number: int) -> np.ndarray:
    return NearestNeighbors(n_neighbors=number).fit(places).kneighbors(return_distance=False)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder")
    asked.add_argument("--neighbours", action="store_true")
    asked.add_argument("--pacmap", action="store_true")
    options = asked.parse_args()
    with Collection.open(options.folder) as collection:
        weighted = TfidfTransformer(sublinear_tf=True).fit_transform(collection.counts)
        vectors = normalize(TruncatedSVD(DIMENSIONS, random_state=0).fit_transform(weighted)).astype(np.float32)
        began = time.process_time()
        points = lay_out_documents(Figures(collection)).points
        taken = time.process_time() - began
        print(f"{len(collection):,} documents; circles: {kept(vectors, points):.3f}, {taken:.1f} s of the processor")
        if options.neighbours:
            began = time.process_time()
            _, found = lay_out_neighbours(Figures(collection))
            taken = time.process_time() - began
            print(f"by neighbours: {kept(vectors, found.points):.3f}, {taken:.1f} s of the processor", flush=True)
    if options.pacmap:
        from pacmap import PaCMAP

        began = time.process_time()
        points = PaCMAP(n_components=2, n_neighbors=NEAREST, random_state=0, apply_pca=False).fit_transform(vectors)
        taken = time.process_time() - began
        print(f"pacmap: {kept(vectors, points):.3f}, {taken:.1f} s of the processor", flush=True)


if __name__ == "__main__":
    main()
