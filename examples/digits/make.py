"""Make the digits example: image retrieval on scikit-learn's handwritten digits.

Twenty images of each digit are queries (200 in all), spread evenly over the data set. The other
1,597 images are the gallery. Two systems rank the gallery for every query and keep 100 images:

- ``pixels``: cosine similarity of the 64 raw pixel values,
- ``lda``: minus the Euclidean distance after linear discriminant analysis, which is fitted on the
  gallery alone. So no system has seen a query or its label.

An image is relevant if it shows the query's digit. The qrels list all relevant gallery images with
grade 1. Every other gallery image is not relevant. ``q0042`` and ``d0042`` both mean image 42 of
``load_digits()``. No image is both a query and in the gallery.

The script writes ``qrels.txt``, ``pixels.run`` and ``lda.run`` beside this file, equal on every
run. It needs scikit-learn, which includes the images (nothing is downloaded)::

    pip install scikit-learn
    python examples/digits/make.py
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

HERE = Path(__file__).parent
QUERIES_PER_DIGIT = 20
RESULTS = 100
DECIMALS = 8  # enough that no two results of a query are tied

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def pick_queries(digit: Ints) -> Ints:
    """Pick the positions of the queries: evenly spaced images of each digit."""
    picked = []
    for value in range(10):
        images = np.flatnonzero(digit == value)
        picked.append(images[np.linspace(0, len(images) - 1, QUERIES_PER_DIGIT).astype(int)])
    return np.sort(np.concatenate(picked))


def compute_cosine(queries: Floats, gallery: Floats) -> Floats:
    """Compute the cosine similarity of every query to every gallery image."""
    queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    gallery = gallery / np.linalg.norm(gallery, axis=1, keepdims=True)
    return queries @ gallery.T


def compute_nearness(queries: Floats, gallery: Floats) -> Floats:
    """Compute minus the Euclidean distance of every query to every gallery image."""
    return -np.linalg.norm(queries[:, None, :] - gallery[None, :, :], axis=2)


def write_qrels(path: Path, queries: Ints, gallery: Ints, digit: Ints) -> None:
    """Write one line per query and gallery image of its digit."""
    with path.open("w", encoding="ascii", newline="\n") as file:
        for query in queries:
            for image in gallery[digit[gallery] == digit[query]]:
                file.write(f"q{query:04} 0 d{image:04} 1\n")


def write_run(path: Path, queries: Ints, gallery: Ints, scores: Floats) -> None:
    """Write the best results of every query, best first, equal scores by falling id."""
    rounded = np.round(scores, DECIMALS)
    with path.open("w", encoding="ascii", newline="\n") as file:
        for query, row in zip(queries, rounded, strict=True):
            best = np.lexsort((-gallery, -row))[:RESULTS]
            for rank, position in enumerate(best, start=1):
                image, score = gallery[position], row[position]
                file.write(f"q{query:04} Q0 d{image:04} {rank} {score:.{DECIMALS}f} {path.stem}\n")


def main() -> None:
    """Write the three files."""
    pixels, digit = load_digits(return_X_y=True)
    queries = pick_queries(digit)
    gallery = np.setdiff1d(np.arange(len(digit)), queries)
    lda = LinearDiscriminantAnalysis().fit(pixels[gallery], digit[gallery])
    reduced = lda.transform(pixels)

    write_qrels(HERE / "qrels.txt", queries, gallery, digit)
    write_run(
        HERE / "pixels.run", queries, gallery, compute_cosine(pixels[queries], pixels[gallery])
    )
    write_run(
        HERE / "lda.run", queries, gallery, compute_nearness(reduced[queries], reduced[gallery])
    )


if __name__ == "__main__":
    main()
