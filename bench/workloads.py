"""The data that the tools are timed on: made with fixed seeds, kept as TREC files in bench/data/.

| workload | is |
|---|---|
| files  | 6,980 queries x 1,000 results, about 1.1 relevant each (the shape of MS MARCO dev) |
| dicts  | the same files, held as Python dicts |
| judged | 50 queries x 1,000 results, 200 judged each with grades 0 to 3 |
| tied   | 250 queries x 1,000 results with 20 distinct scores, 50 judged each |
| small  | one query, 10 results, 5 judged |
| frames | 100,000 users x 100 recommendations with ranks, 1 to 50 relevant each, in Parquet |
| measures | the same, for several measures |
| frames-text | the same with ids of text |
| parquet, parquet-text | the same files, reading included |

``python bench/workloads.py NAME [--quick]`` makes one that is not there yet; ``--quick`` makes it a
twentieth of the size.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DATA = Path(__file__).parent / "data"
COLLECTION = 8_841_823  # item ids are below this, as in MS MARCO
QUERY_IDS = 1_102_400
QUICK = 20


@dataclass(frozen=True)
class Workload:
    """What to make: its size, and how it is judged and tied."""

    title: str
    files: str  # the stem of its two files
    queries: int
    results: int
    judged: int | None = None  # None: one or two relevant items, as in MS MARCO
    levels: int | None = None  # None: scores are distinct, but for chance

    def paths(self, *, quick: bool) -> tuple[Path, Path]:
        """The qrels and the run."""
        folder = DATA / "quick" if quick else DATA
        if self.files.startswith("recommended"):
            return folder / f"{self.files}-qrels.parquet", folder / f"{self.files}-run.parquet"
        return folder / f"{self.files}.qrels", folder / f"{self.files}.run"


WORKLOADS = {
    "files": Workload("Files: 6,980 queries × 1,000 results, whole process", "large", 6980, 1000),
    "dicts": Workload("The same as Python dicts, the call alone", "large", 6980, 1000),
    "judged": Workload(
        "50 queries × 1,000 results, 200 judged each, from dicts", "judged", 50, 1000, judged=200
    ),
    "tied": Workload(
        "250 queries × 1,000 results, 20 distinct scores, 50 judged each, from dicts",
        "tied",
        250,
        1000,
        judged=50,
        levels=20,
    ),
    "frames": Workload(
        "Recommendations: 100,000 users × 100 items, integer ids, AP@10 from frames, the call alone",
        "recommended",
        100_000,
        100,
    ),
    "measures": Workload(
        "The same with AP@10, nDCG@10, P@10, R@10 and RR", "recommended", 100_000, 100
    ),
    "frames-text": Workload("AP@10 with ids of text", "recommended-text", 100_000, 100),
    "parquet": Workload(
        "The same with integer ids from Parquet, reading included", "recommended", 100_000, 100
    ),
    "parquet-text": Workload(
        "The same with ids of text from Parquet, reading included",
        "recommended-text",
        100_000,
        100,
    ),
    "small": Workload("One query, 10 results, 5 judged, from dicts", "small", 1, 10, judged=5),
}


def make(workload: Workload, *, quick: bool) -> None:
    """Write the qrels and the run of a workload, unless they are there."""
    qrels_path, run_path = workload.paths(quick=quick)
    if qrels_path.exists() and run_path.exists():
        return
    qrels_path.parent.mkdir(parents=True, exist_ok=True)
    if workload.files.startswith("recommended"):
        recommend(workload, quick=quick)
        return
    rng = np.random.default_rng([workload.queries, workload.results])
    queries = max(1, workload.queries // QUICK) if quick else workload.queries
    unfinished = run_path.with_suffix(".unfinished")
    with qrels_path.open("w") as qrels, unfinished.open("w") as run:
        for query in rng.choice(QUERY_IDS, queries, replace=False).tolist():
            items = rng.choice(COLLECTION, workload.results, replace=False)
            scores = _scores(workload, rng)
            run.writelines(
                f"{query} Q0 {item} {rank} {score:.6f} bench\n"
                for rank, (item, score) in enumerate(zip(items, scores, strict=True), start=1)
            )
            judged = dict(_judgments(workload, items, rng))
            qrels.writelines(f"{query} 0 {item} {grade}\n" for item, grade in judged.items())
    unfinished.rename(run_path)


ITEMS = 50_021  # that are recommended; a prime, so that steps through them repeat none


def recommend(workload: Workload, *, quick: bool) -> None:
    """Write recommendations and what each user liked, as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(7)
    users = workload.queries // QUICK if quick else workload.queries
    start, step = rng.integers(ITEMS, size=users), rng.integers(1, ITEMS, size=users)
    number = np.arange(workload.results)
    user = np.sort(rng.choice(10 * workload.queries, users, replace=False))
    liked = rng.integers(1, 51, users)
    # places of liked items in an endless list of recommendations, more of them near its top
    place = np.unique(
        np.stack(
            [np.repeat(np.arange(users), liked), rng.geometric(0.004, liked.sum()) - 1], axis=1
        ),
        axis=0,
    )
    judged = (start[place[:, 0]] + step[place[:, 0]] * place[:, 1]) % ITEMS
    shuffled = rng.permutation(len(place))
    by_user = shuffled[np.argsort(place[shuffled, 0], kind="stable")]
    columns = {
        "run": {
            "user_id": np.repeat(user, workload.results),
            "item_id": ((start[:, None] + step[:, None] * number) % ITEMS).ravel() * 17,
            "rank": np.tile(number + 1, users),
        },
        "qrels": {"user_id": user[place[by_user, 0]], "item_id": judged[by_user] * 17},
    }
    paths = dict(zip(("qrels", "run"), workload.paths(quick=quick), strict=True))
    for kind, named in columns.items():
        table = pa.table(named)
        if workload.files.endswith("text"):
            for at, name in enumerate(("user_id", "item_id")):
                text = [f"{name[:4]}-{one:07}" for one in range(10 * workload.queries)]
                ids = pa.array(text).take(table.column(name))
                table = table.set_column(at, name, ids)
        parquet.write_table(table, paths[kind])


def _scores(workload: Workload, rng: np.random.Generator) -> list[float]:
    """Falling scores of one query."""
    if workload.levels is None:
        scores = rng.gamma(2.0, 5.0, workload.results)
    else:
        scores = rng.integers(1, workload.levels + 1, workload.results) / 2
    return sorted(scores.tolist(), reverse=True)


def _judgments(
    workload: Workload, items: NDArray[np.int64], rng: np.random.Generator
) -> Iterator[tuple[int, int]]:
    """Items and grades of one query: most of them retrieved, more often near the top."""
    count = workload.judged or 1 + int(rng.random() < 0.07)
    found = int((rng.random(count) < 0.85).sum())
    weights = 1.0 / np.arange(10, 10 + len(items))
    top = rng.choice(items, found, replace=False, p=weights / weights.sum())
    elsewhere = rng.integers(COLLECTION, size=count - found)
    for item in [*top.tolist(), *elsewhere.tolist()]:
        yield item, 1 if workload.judged is None else max(0, int(rng.integers(-3, 4)))


def main() -> None:
    """Make the workload that the command line names."""
    parser = argparse.ArgumentParser(description="Make one workload.")
    parser.add_argument("name", choices=WORKLOADS)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the size")
    arguments = parser.parse_args()
    make(WORKLOADS[arguments.name], quick=arguments.quick)


if __name__ == "__main__":
    main()
