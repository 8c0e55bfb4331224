"""Record what pytrec_eval-terrier answers to random collections and to odd calls.

    PYTHONPATH=tests python tests/data/record_pytrec_calls.py

writes pytrec_calls.json beside this file. Needs pytrec_eval-terrier and germane.
"""

import importlib.metadata
import json
import random
from pathlib import Path
from typing import Any

import numpy

from pytrec_collections import ODD, Case, draw

JSON = Path(__file__).with_name("pytrec_calls.json")
SEED, CASES = 20261126, 60


def answer(case: Case, module: Any) -> Any:
    """Evaluate a collection."""
    made = module.RelevanceEvaluator(case.qrels, case.measures, **case.choices)
    return made.evaluate(case.run)


def call(expression: str, module: Any) -> Any:
    """Return the value of a call, or the type of the error that it raises."""
    try:
        return eval(expression, {**vars(module), "numpy": numpy})
    except Exception as error:
        return {"error": type(error).__name__}


def main() -> None:
    """Record, and write the file."""
    import pytrec_eval

    rng = random.Random(SEED)
    pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"map"}).evaluate({"q": {"a": 1.0}})
    cases = [draw(rng, 30) for _ in range(CASES)]
    recorded = {
        "tool": "pytrec_eval-terrier",
        "version": importlib.metadata.version("pytrec_eval-terrier"),
        "seed": SEED,
        "measures": sorted(pytrec_eval.supported_measures),
        "nicknames": {name: sorted(of) for name, of in pytrec_eval.supported_nicknames.items()},
        "cases": [[*case, answer(case, pytrec_eval)] for case in cases],
        "calls": {expression: call(expression, pytrec_eval) for expression in ODD},
    }
    text = json.dumps(recorded, ensure_ascii=False)
    JSON.write_text(text.replace("], [[", "],\n[[").replace("], [{", "],\n[{") + "\n", "utf-8")


if __name__ == "__main__":
    main()
