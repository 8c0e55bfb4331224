"""The functions of germane that one evaluation passes through: ``python bench/functions.py``.

How many a reader has to follow to know how a number comes about. ``--list`` names them.
"""

import sys
import threading
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

import germane

PACKAGE = str(Path(germane.__file__).parent)
QUERIES, DEPTH = 50, 100


def inputs(folder: Path) -> dict[str, tuple[Any, Any]]:
    """The same judgments and run in several forms."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(QUERIES, DEPTH)).round(4)
    qrels = {f"q{q}": {f"d{d}": 1 + (d == 0) for d in range(0, DEPTH, 9)} for q in range(QUERIES)}
    run = {f"q{q}": {f"d{d}": float(scores[q, d]) for d in range(DEPTH)} for q in range(QUERIES)}
    judged, retrieved = folder / "qrels.txt", folder / "a.run"
    judged.write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, one in qrels.items() for d, g in one.items())
    )
    retrieved.write_text(
        "".join(f"{q} Q0 {d} 1 {s} t\n" for q, one in run.items() for d, s in one.items())
    )
    rows = [(q, d, s) for q, one in run.items() for d, s in one.items()]
    frame = pd.DataFrame(rows, columns=["query", "item", "score"])
    graded = [(q, d, g) for q, one in qrels.items() for d, g in one.items()]
    return {
        "dicts": (qrels, run),
        "TREC files": (str(judged), str(retrieved)),
        "pandas frames": (pd.DataFrame(graded, columns=["query", "item", "relevance"]), frame),
        "arrays": ((scores > 1).astype(int), scores),
    }


def passed(qrels: Any, run: Any) -> Counter[tuple[str, str]]:
    """How often each function is called, by module and name; comprehensions are none."""
    calls: Counter[tuple[str, str]] = Counter()

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and code.co_name[0] != "<":
            module = code.co_filename[len(PACKAGE) + 1 : -3].replace("/", ".")
            calls[module, code.co_qualname] += 1

    germane.evaluate(qrels, run, "AP nDCG@10")  # what is imported and remembered is not counted
    threading.setprofile(note)
    sys.setprofile(note)
    germane.evaluate(qrels, run, "AP nDCG@10")
    sys.setprofile(None)
    threading.setprofile(None)  # type: ignore[arg-type]
    return calls


def main() -> None:
    with TemporaryDirectory() as folder:
        for name, (qrels, run) in inputs(Path(folder)).items():
            calls = passed(qrels, run)
            modules = {module for module, _ in calls}
            print(f"{name}: {len(calls)} functions in {len(modules)} modules")
            if "--list" in sys.argv:
                for (module, function), count in sorted(calls.items()):
                    print(f"    {module}: {function} × {count}")


if __name__ == "__main__":
    main()
