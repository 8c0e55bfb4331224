"""Measure germane.pytrec_eval beside pytrec_eval, and write PYTREC.md.

    python bench/pytrec.py

Needs germane and pytrec_eval-terrier. Each time is the least CPU time of nine.
"""

import importlib
import importlib.metadata
import platform
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ORIGINAL = importlib.import_module("pytrec_eval")
OURS = importlib.import_module("germane.pytrec_eval")
REPEATS = 9
MEASURES = {
    "`map`": {"map"},
    "`map`, `ndcg_cut_10`": {"map", "ndcg_cut_10"},
    "BEIR's 20: four measures at five cutoffs": {
        f"{name}.1,3,5,10,100" for name in ("map_cut", "ndcg_cut", "recall", "P")
    },
    "`official` (28 values)": {"official"},
}


def make_data() -> tuple[Any, Any, Any]:
    """500 queries × 1,000 results with 20 judgments each, and 100 lists of ten of them."""
    rng = random.Random(45)
    items = [f"d{i}" for i in range(5000)]
    qrels = {
        f"q{q}": {item: rng.choice((0, 0, 1, 2)) for item in rng.sample(items, 20)}
        for q in range(500)
    }
    run = {query: {item: rng.random() for item in rng.sample(items, 1000)} for query in qrels}
    small = [
        {q: {item: rng.random() for item in rng.sample([*qrels[q]], 5) + rng.sample(items, 5)}}
        for q in list(qrels)[:100]
    ]
    return qrels, run, small


def take_least(*calls: Callable[[], Any]) -> list[float]:
    """The least CPU time of each call, in milliseconds; the calls take turns."""
    least = [float("inf")] * len(calls)
    for _ in range(REPEATS):
        for at, call in enumerate(calls):
            start = time.process_time()
            call()
            least[at] = min(least[at], 1e3 * (time.process_time() - start))
    return least


def main() -> None:
    """Measure, and write the table."""
    qrels, run, small = make_data()
    rows = []
    for title, names in MEASURES.items():

        def evaluate_all(module: Any, names: set[str] = names) -> None:
            module.RelevanceEvaluator(qrels, names).evaluate(run)

        def evaluate_each(module: Any, names: set[str] = names) -> None:
            evaluator = module.RelevanceEvaluator(qrels, names)
            for one in small:
                evaluator.evaluate(one)

        for kind, call in (("500 × 1,000", evaluate_all), ("made, 100 × 10", evaluate_each)):
            theirs, ours = take_least(
                lambda call=call: call(ORIGINAL), lambda call=call: call(OURS)
            )
            rows.append(f"| {kind} | {title} | {theirs:.1f} | {ours:.1f} | {ours / theirs:.2f} |")
            print(rows[-1], flush=True)
    version = importlib.metadata.version("pytrec_eval-terrier")
    Path(__file__).with_name("PYTREC.md").write_text(
        "# germane.pytrec_eval beside pytrec_eval\n\n"
        "CPU time in milliseconds, the least of nine, of making an evaluator with 500 judged queries and of evaluating "
        "500 queries × 1,000 results in one call, or 100 queries of ten results in 100 calls. "
        "Written by `python bench/pytrec.py`, with "
        f"pytrec_eval-terrier {version}, Python {platform.python_version()}, {platform.machine()}.\n\n"
        "| calls | measures | pytrec_eval | germane | ratio |\n|---|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n\nThe aim for the calls with one query each was a ratio of 5, and it is missed: each measure and call has NumPy's "
        "fixed cost of about 20\nmicroseconds, which two attempts could not remove.\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
