"""Time arrays and embeddings beside what people write by hand, and check that the values agree.

    python bench/arrays.py [--repeats N] [--quick] [--only scores topk embeddings]

Every measurement is a process of its own, and the tools take turns; the table shows medians. AP (divided
by R) is the value that all of them compute. Embeddings are compared with the matrix product alone, in
blocks of the same size in the same process.
"""

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

QUICK = 20
CLASSES = {
    "few relevant": (5_000, 1.2),
    "many relevant": (100, 1.2),
    "mixed relevant": (100, 2.5),
    "spread relevant": (100, 30.0),
}
"""How many there are, and how far their vectors stand from their centre."""


def scores(quick: bool) -> tuple[Any, Any, Any]:
    """2,000 queries × 50,000 scores of 100 classes."""
    rng = np.random.default_rng(1)
    queries = 2_000 // (QUICK if quick else 1)
    gallery = rng.integers(0, 100, 50_000)
    asked = rng.integers(0, 100, queries)
    return rng.standard_normal((queries, len(gallery)), dtype=np.float32), asked, gallery


def topk(quick: bool) -> tuple[Any, Any]:
    """100,000 users × 100 recommended ids, 1 to 50 relevant each of 20,000, as CSR."""
    rng = np.random.default_rng(2)
    users = 100_000 // (QUICK if quick else 1)
    start, stride = rng.integers(0, 20_000, (2, users, 1))
    ids = (start + np.arange(100) * (10 * stride + 3)) % 20_000  # no id twice
    sizes = rng.integers(1, 51, users)
    indptr = np.append(0, np.cumsum(sizes))
    step = np.arange(indptr[-1]) - np.repeat(indptr[:-1], sizes)
    indices = (np.repeat(start[:, 0], sizes) + 371 * step) % 20_000
    return ids, (indptr, indices)


def ascending(quick: bool) -> tuple[Any, Any]:
    """The same with the columns of a row in their order, as scipy puts them."""
    ids, (indptr, indices) = topk(quick)
    rows = np.repeat(np.arange(len(ids)), np.diff(indptr))
    return ids, (indptr, indices[np.lexsort((indices, rows))])


class Csr:
    """What scipy.sparse.csr_array has."""

    format = "csr"

    def __init__(self, indptr: Any, indices: Any, width: int) -> None:
        self.indptr, self.indices, self.data = indptr, indices, np.ones(len(indices))
        self.shape = (len(indptr) - 1, width)


def germane_scores(similarity: Any, asked: Any, gallery: Any) -> float:
    import germane

    return float(germane.evaluate(germane.Labels(asked, gallery), similarity, "AP")["AP"].mean)


def numpy_scores(similarity: Any, asked: Any, gallery: Any) -> float:
    """argsort and cumsum, a query at a time."""
    total = 0.0
    for row, label in zip(similarity, asked, strict=True):
        relevant = gallery[np.argsort(-row)] == label
        at = np.flatnonzero(relevant) + 1
        total += float((np.cumsum(relevant)[at - 1] / at).mean())
    return total / len(asked)


def sklearn_scores(similarity: Any, asked: Any, gallery: Any) -> float:
    from sklearn.metrics import average_precision_score

    values = [
        average_precision_score(gallery == label, row)
        for row, label in zip(similarity, asked, strict=True)
    ]
    return float(np.mean(values))


def torch_scores(similarity: Any, asked: Any, gallery: Any) -> float:
    """argsort and cumsum, a query at a time."""
    import torch

    labels, total = torch.from_numpy(gallery), 0.0
    for row, label in zip(torch.from_numpy(similarity), asked.tolist(), strict=True):
        at = torch.nonzero(labels[torch.argsort(row, descending=True)] == label)[:, 0] + 1
        total += float((torch.arange(1, len(at) + 1) / at).mean())
    return total / len(asked)


def germane_topk(ids: Any, judged: Any) -> float:
    import germane

    return float(germane.evaluate(Csr(*judged, 20_000), ids, "AP(norm=R)@10")["AP(norm=R)@10"].mean)


def numpy_topk(ids: Any, judged: Any) -> float:
    """Judged pairs as sorted numbers, looked up by bisection."""
    indptr, indices = judged
    sizes = np.diff(indptr)
    pairs = np.sort(np.repeat(np.arange(len(ids)), sizes) * 20_000 + indices)
    asked = np.arange(len(ids))[:, None] * 20_000 + ids[:, :10]
    found = pairs[np.minimum(np.searchsorted(pairs, asked), len(pairs) - 1)] == asked
    precision = np.cumsum(found, axis=1) / np.arange(1, 11) * found
    return float((precision.sum(axis=1) / sizes).mean())


TOOLS: dict[str, tuple[Callable[[bool], Any], dict[str, Callable[..., float]]]] = {
    "scores": (
        scores,
        {
            "germane": germane_scores,
            "numpy": numpy_scores,
            "sklearn": sklearn_scores,
            "torch": torch_scores,
        },
    ),
    "topk": (topk, {"germane": germane_topk, "numpy": numpy_topk}),
    "topk, columns ascending": (ascending, {"germane": germane_topk, "numpy": numpy_topk}),
}


def timed(call: Callable[..., float], *given: Any) -> dict[str, float]:
    time.sleep(0.2)  # threads of the matrix library spin for a while after what came before
    cpu, wall = time.process_time(), time.perf_counter()
    value = call(*given)
    return {
        "value": value,
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
    }


def embeddings(quick: bool, classes: int, spread: float) -> dict[str, dict[str, float]]:
    """5,000 × 50,000 × 256 singles: the product alone, and with its evaluation."""
    import germane
    from germane.readers.objects.embeddings import CELLS

    rng = np.random.default_rng(3)
    queries = 5_000 // (QUICK if quick else 1)
    gallery_labels, labels = rng.integers(0, classes, 50_000), rng.integers(0, classes, queries)
    centres = rng.standard_normal((classes, 256), dtype=np.float32)
    gallery, asked = (
        centres[of] + np.float32(spread) * rng.standard_normal((len(of), 256), dtype=np.float32)
        for of in (gallery_labels, labels)
    )
    step = CELLS // len(gallery)
    held = np.empty((step, len(gallery)), np.float32)

    def product() -> float:
        for start in range(0, queries, step):
            block = asked[start : start + step]
            np.matmul(block, gallery.T, out=held[: len(block)])
        return 0.0

    def evaluated(queries: int) -> float:
        given = {"query_labels": labels[:queries], "gallery_labels": gallery_labels}
        return float(
            germane.evaluate_embeddings(asked[:queries], gallery, "AP", **given)["AP"].mean
        )

    product()
    evaluated(10)
    return {"product alone": timed(product), "evaluate_embeddings": timed(evaluated, queries)}


def measure(workload: str, tool: str, quick: bool) -> dict[str, Any]:
    """In this process: one warm call on a slice for imports, then the call."""
    if workload == "embeddings":
        return embeddings(quick, *CLASSES[tool])
    make, tools = TOOLS[workload]
    given = make(quick)
    tools[tool](*first(10, *given))
    return {tool: timed(tools[tool], *given)}


def first(queries: int, rows: Any, judged: Any, *shared: Any) -> tuple[Any, ...]:
    """The same data for the first queries alone."""
    if isinstance(judged, tuple):  # CSR
        indptr, indices = judged
        return rows[:queries], (indptr[: queries + 1], indices[: indptr[queries]]), *shared
    return rows[:queries], judged[:queries], *shared


def main() -> None:
    """Measure all tools in turns, and print a table."""
    parser = argparse.ArgumentParser(description="Time arrays.")
    parser.add_argument("--only", nargs="+", choices=[*TOOLS, "embeddings"], default=None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the queries")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure(*asked.one, asked.quick)))
        return
    print("| data | tool | CPU s | × | wall s | AP |\n|---|---|---:|---:|---:|---:|")
    for workload in asked.only or [*TOOLS, "embeddings"]:
        names = list(CLASSES) if workload == "embeddings" else list(TOOLS[workload][1])
        names = [n for n in names if workload == "embeddings" or importlib.util.find_spec(n)]
        taken: dict[str, list[dict[str, float]]] = {}
        for _ in range(asked.repeats):
            for name in names:
                command = [sys.executable, __file__, "--one", workload, name]
                command += ["--quick"] * asked.quick
                printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                for tool, cost in json.loads(printed).items():
                    label = f"{name}: {tool}" if workload == "embeddings" else tool
                    taken.setdefault(label, []).append(cost)
        report(workload, taken)


def report(workload: str, taken: dict[str, list[dict[str, float]]]) -> None:
    """A row per tool: medians, and how many times the first row of its kind it took."""
    middle = {
        tool: {what: median(one[what] for one in costs) for what in costs[0]}
        for tool, costs in taken.items()
    }
    values = [one["value"] for tool, one in middle.items() if "product" not in tool]
    if workload != "embeddings" and max(values) - min(values) > 1e-6:
        print(f"**the values of {workload} differ**: {values}")
    own: dict[str, float] = {}
    for tool, one in middle.items():
        first = own.setdefault(tool.rpartition(":")[0], one["cpu"])
        times = f"{one['cpu'] / first:.2f}"
        value = f"{one['value']:.6f}" if "product" not in tool else ""
        print(f"| {workload} | {tool} | {one['cpu']:.2f} | {times} | {one['wall']:.2f} | {value} |")


if __name__ == "__main__":
    main()
