"""Image similarity search on the bundled handwritten digits, evaluated end to end.

Four systems embed the 1,797 images of ``load_digits()``: raw pixels, PCA, LDA and the hidden layer
of a small neural network. Every image is a query once and searches all others (leave one out). An
image is relevant if it shows the query's digit. No system is fitted with the labels of its queries:
the images are split into five folds, and the queries of a fold search with a model of the other
four.

The script prints top-K accuracy beside AP, AP per digit, and the worst query rank by rank. It draws
the precision–recall curves and the images of that query. It takes some seconds, and needs
Matplotlib and scikit-learn. In a clone of germane::

    pip install '.[plot]' scikit-learn
    python examples/image_search.py -o image_search/
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import germane

try:
    from matplotlib.figure import Figure
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.model_selection import StratifiedKFold
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler
except ModuleNotFoundError as missing:
    raise SystemExit(
        f"This example needs {missing.name}. In a clone: pip install '.[plot]' scikit-learn"
    ) from None
from germane.plot import PRCurvesDisplay

MEASURES = "Success@1 Success@5 Success@10 Success@50 AP AP@10"
FOLDS = 5
SHOWN = 12  # results in the picture of one query

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Embed = Callable[
    [Floats, Ints, Floats], Floats
]  # images and digits to learn from, images → vectors


def embed_pixels(known: Floats, digits: Ints, images: Floats) -> Floats:
    """Return the 64 gray values."""
    return images


def embed_pca(known: Floats, digits: Ints, images: Floats) -> Floats:
    """Project on the 16 directions of largest variance."""
    return PCA(16, random_state=0).fit(known).transform(images)


def embed_lda(known: Floats, digits: Ints, images: Floats) -> Floats:
    """Project on the 9 directions that separate the digits best."""
    return LinearDiscriminantAnalysis().fit(known, digits).transform(images)


def embed_network(known: Floats, digits: Ints, images: Floats) -> Floats:
    """Return the 32 units of the hidden layer of a classifier."""
    scale = StandardScaler().fit(known)
    network = MLPClassifier(32, tol=1e-2, n_iter_no_change=3, random_state=0)
    network.fit(scale.transform(known), digits)
    return np.maximum(scale.transform(images) @ network.coefs_[0] + network.intercepts_[0], 0)


SYSTEMS: dict[str, Embed] = {
    "pixels": embed_pixels,
    "PCA": embed_pca,
    "LDA": embed_lda,
    "MLP": embed_network,
}


def compute_similarities(embed: Embed, images: Floats, digits: Ints) -> "np.ma.MaskedArray":
    """Compute the cosine (Q, N) of every query and every image. An image does not search for
    itself.
    """
    scores = np.empty((len(images), len(images)))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for known, queries in folds.split(images, digits):
        vectors = embed(images[known], digits[known], images)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        scores[queries] = vectors[queries] @ vectors.T
    return np.ma.masked_array(scores, mask=np.eye(len(images), dtype=bool))


def grade_pairs(digits: Ints) -> "np.ma.MaskedArray":
    """Grade pairs (Q, N): 1 if two images show equal digits. An image is not judged for itself."""
    grades = (digits[:, None] == digits).astype(np.int8)
    return np.ma.masked_array(grades, mask=np.eye(len(digits), dtype=bool))


def find_nearest(scores: Floats, query: int, count: int) -> dict[int, float]:
    """Find the best results of one query, best first: image → similarity."""
    row = scores[query].filled(-np.inf)
    return {int(image): float(row[image]) for image in np.argsort(-row, kind="stable")[:count]}


def explain_query(scores: Floats, digits: Ints, query: int) -> germane.types.Explanation:
    """Explain AP@10 of one query rank by rank. Every image of its digit is relevant."""
    relevant = np.flatnonzero(digits == digits[query])
    qrels = {query: [int(image) for image in relevant if image != query]}
    return germane.explain(qrels, {query: find_nearest(scores, query, SHOWN)}, "AP@10")


def draw_query(
    explanation: germane.types.Explanation, scores: Floats, images: Floats, digits: Ints
) -> Figure:
    """Draw a query and its first results as images, each with its rank, digit and term."""
    query = explanation.query
    found = list(find_nearest(scores, query, SHOWN))
    figure = Figure(figsize=(1.05 * (SHOWN + 1), 2.2), layout="constrained", dpi=110)
    axes = figure.subplots(1, SHOWN + 1)
    for ax, image in zip(axes, [query, *found], strict=True):
        ax.imshow(images[image].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    axes[0].set_title(f"query {query}\na {digits[query]}", fontsize=9)
    reading = explanation.readings[0]
    for i, (ax, image) in enumerate(zip(axes[1:], found, strict=True)):
        row = explanation.rows[i]
        term = f"+ {reading.write_term(i, row.rank)}" if row.hit and row.rank <= 10 else ""
        ax.set_title(f"{row.rank}: a {digits[image]}", fontsize=9)
        ax.set_xlabel(term, fontsize=9)
        for spine in ax.spines.values():
            spine.set(linewidth=3 if row.hit else 0.5, color="#1f3b73" if row.hit else "#9a9a9a")
    figure.suptitle(reading.formula, fontsize=10)
    return figure


def main() -> None:
    """Print the tables and write the two pictures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path(), help="folder for the pictures")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)

    images, digits = load_digits(return_X_y=True)
    grades = grade_pairs(digits)
    runs = {name: compute_similarities(embed, images, digits) for name, embed in SYSTEMS.items()}

    results = germane.evaluate_many(grades, runs, MEASURES)
    print(results)

    best = max(results, key=lambda name: results[name]["AP"].mean)
    print(f"{best}, per digit\n")
    print(results[best].by(digits))

    curves = {name: germane.mean_pr_curve(grades, scores) for name, scores in runs.items()}
    PRCurvesDisplay(curves, rule=11).save(folder / "curves.svg")

    per_query = results[best]["AP@10"].per_query
    worst = min((query for query in per_query if per_query[query] > 0), key=per_query.get)
    explanation = explain_query(runs[best], digits, worst)
    lost = sum(value == 0 for value in per_query.values())
    print(f"{best} finds nothing in its first 10 for {lost} queries. The worst of the others:")
    print(f"image {worst}, a {digits[worst]}\n")
    print(explanation)
    draw_query(explanation, runs[best], images, digits).savefig(folder / "worst.png")


if __name__ == "__main__":
    main()
