"""Measures of the catalogue on 10 M rows, beside RecTools: CPU time, memory, and the values compared.

    python bench/catalogue.py make FOLDER [USERS]     lists of 10 items, and what users saw before
    python bench/catalogue.py germane|rectools FOLDER [MEASURES]

Each tool is given the same data frames of pandas in memory, and runs in a process of its own. MEASURES is
coverage, or all (default): coverage, novelty and average popularity.
"""

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

K, ITEMS, SEEN = 10, 50_000, 20
warnings.simplefilter("ignore")


def make(folder: Path, users: int) -> None:
    """Write lists of K different items for every user, popular ones more often, and interactions."""
    rng = np.random.default_rng(7)
    first = (ITEMS * rng.random((users, 1)) ** 3).astype(np.int64)
    items = (first + np.cumsum(rng.integers(1, 200, (users, K)), axis=1)) % ITEMS
    rows = users * K
    frame = pd.DataFrame({"user_id": np.repeat(np.arange(users), K), "item_id": items.ravel()})
    frame["rank"] = np.tile(np.arange(1, K + 1), users)
    np.savez(folder / "lists.npz", **frame)
    some = users // 10
    seen = (ITEMS * rng.random(some * SEEN) ** 2).astype(np.int64)
    saw = pd.DataFrame({"user_id": np.repeat(np.arange(some), SEEN), "item_id": seen})
    np.savez(folder / "seen.npz", **saw.drop_duplicates())
    print(f"{rows:,} rows, {ITEMS:,} items")


def ask_germane(lists: Any, seen: Any, measures: str) -> dict[str, float]:
    import germane

    names = (
        "Coverage@10"
        if measures == "coverage"
        else "Coverage@10 Novelty@10 ARP(seen=interactions)@10"
    )
    qrels = {0: {int(lists["item_id"].iloc[0]): 1}}
    given = {} if measures == "coverage" else {"seen": seen}
    result = germane.evaluate(qrels, lists, names, catalogue=ITEMS, **given)
    return {name.partition("@")[0].partition("(")[0]: one.mean for name, one in result.items()}


def ask_rectools(lists: Any, seen: Any, measures: str) -> dict[str, float]:
    from rectools.metrics import AvgRecPopularity, CatalogCoverage, MeanInvUserFreq

    found = {"Coverage": CatalogCoverage(K, True).calc(lists, range(ITEMS))}
    if measures != "coverage":
        found["Novelty"] = MeanInvUserFreq(K).calc(lists, seen)
        found["ARP"] = AvgRecPopularity(K).calc(lists, seen)
    return {name: float(value) for name, value in found.items()}


def time_tool(
    ask: Callable[[Any, Any, str], dict[str, float]], folder: Path, measures: str
) -> None:
    lists, seen = (
        pd.DataFrame(dict(np.load(folder / f"{name}.npz"))) for name in ("lists", "seen")
    )
    if ask is ask_germane:
        import germane  # noqa: F401
    else:
        import rectools.metrics  # noqa: F401
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    values = ask(lists, seen, measures)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    grown = (after.ru_maxrss - before.ru_maxrss) / 1024
    print(
        json.dumps(
            {
                "cpu": round(cpu, 2),
                "wall": round(time.perf_counter() - start, 2),
                "MB": round(grown),
                **values,
            }
        )
    )


def main() -> None:
    folder = Path(sys.argv[2])
    rest = sys.argv[3:]
    if sys.argv[1] == "make":
        folder.mkdir(exist_ok=True)
        make(folder, int(rest[0]) if rest else 1_000_000)
    else:
        ask = ask_germane if sys.argv[1] == "germane" else ask_rectools
        time_tool(ask, folder, rest[0] if rest else "all")


if __name__ == "__main__":
    main()
