"""The hostile inputs of tests/gauntlet, given to other tools: who is right, who says why not, who is silent.

    python bench/gauntlet.py [TOOL …]      # prints a table; a tool that is not installed is left out

A tool works in a process of its own, which is started again where a case ends it. It gets the files or
objects as they are, by the way that its documentation shows. Any order of equal scores counts as right.
"""

import contextlib
import io
import json
import math
import select
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import germane  # noqa: E402

from gauntlet import arrays, files, objects  # noqa: E402
from gauntlet.case import MEASURES, Outcome  # noqa: E402

Values = dict[str, float]
TOLERANCE = 6e-5  # trec_eval prints four decimals
LIMIT_S = 60  # for a case
START_S = 900  # for clean data before the first case of a process: a tool may compile what it runs
CLEAN = {"files": "clean", "objects": "dicts", "arrays": "one row"}

CLASSES = (
    "right", "right, warned", "clear error", "unclear error", "refused what is right", "crash",
    "wrong, warned", "silently wrong",
)  # fmt: skip

# ------------------------------------------------------------------------------------------- tools


def germane_any(qrels: Any, run: Any) -> Values:
    result = germane.evaluate(qrels, run, MEASURES)
    return {name: result[name].mean for name in ("AP", "nDCG", "RR", "P@5")}


def germane_arrays(grades: Any, scores: Any) -> Values:
    result = germane.evaluate(grades, scores, "AP nDCG")
    return {name: result[name].mean for name in ("AP", "nDCG")}


def trec_eval(qrels: str, run: str) -> Values:
    names = {"map": "AP", "ndcg": "nDCG", "recip_rank": "RR", "P_5": "P@5"}
    asked = [word for name in ("map", "ndcg", "recip_rank", "P.5") for word in ("-m", name)]
    done = subprocess.run(
        ["trec_eval", "-c", *asked, qrels, run], capture_output=True, timeout=LIMIT_S, check=False
    )
    if done.returncode < 0:
        raise SystemExit(f"signal {-done.returncode}")
    told = done.stderr.decode(errors="replace").strip()
    if done.returncode:
        raise RuntimeError(told)
    if told:
        warnings.warn(told, stacklevel=1)
    lines = (line.split() for line in done.stdout.decode(errors="replace").splitlines())
    return {names[line[0]]: float(line[2]) for line in lines}


PYTREC_EVAL = {"map": "AP", "ndcg": "nDCG", "recip_rank": "RR", "P_5": "P@5"}


def pytrec_eval_objects(qrels: Any, run: Any) -> Values:
    import pytrec_eval

    results = pytrec_eval.RelevanceEvaluator(qrels, set(PYTREC_EVAL)).evaluate(run)
    return {
        name: math.fsum(one[theirs] for one in results.values()) / len(results)
        for theirs, name in PYTREC_EVAL.items()
    }


def pytrec_eval_files(qrels: str, run: str) -> Values:
    import pytrec_eval

    with open(qrels) as judged, open(run) as retrieved:
        return pytrec_eval_objects(pytrec_eval.parse_qrel(judged), pytrec_eval.parse_run(retrieved))


def ir_measures_objects(qrels: Any, run: Any) -> Values:
    import ir_measures
    from ir_measures import AP, RR, P, nDCG

    found = ir_measures.calc_aggregate([AP, nDCG, RR, P @ 5], qrels, run)
    return {str(measure): float(value) for measure, value in found.items()}


def ir_measures_files(qrels: str, run: str) -> Values:
    import ir_measures

    return ir_measures_objects(
        list(ir_measures.read_trec_qrels(qrels)), list(ir_measures.read_trec_run(run))
    )


RANX = {"map": "AP", "ndcg": "nDCG", "mrr": "RR", "precision@5": "P@5"}


def ranx_given(qrels: Any, run: Any) -> Values:
    import ranx

    found = ranx.evaluate(qrels, run, list(RANX))
    return {name: float(found[theirs]) for theirs, name in RANX.items()}


def ranx_objects(qrels: Any, run: Any) -> Values:
    import ranx

    return ranx_given(ranx.Qrels(qrels), ranx.Run(run))


def ranx_files(qrels: str, run: str) -> Values:
    import ranx

    return ranx_given(
        ranx.Qrels.from_file(qrels, kind="trec"), ranx.Run.from_file(run, kind="trec")
    )


def scikit_learn(grades: Any, scores: Any) -> Values:
    from sklearn.metrics import average_precision_score, ndcg_score

    binary = (np.asarray(grades) > 0).astype(int)
    return {
        "AP": float(average_precision_score(binary[0], scores[0])),
        "nDCG": float(ndcg_score(grades, scores)),
    }


def torchmetrics(grades: Any, scores: Any) -> Values:
    import torch
    from torchmetrics.functional import retrieval

    target, preds = torch.as_tensor(grades[0]), torch.as_tensor(scores[0])
    return {
        "AP": float(retrieval.retrieval_average_precision(preds, target > 0)),
        "nDCG": float(retrieval.retrieval_normalized_dcg(preds, target)),
    }


TOOLS: dict[str, dict[str, Callable[[Any, Any], Values]]] = {
    "germane": {"files": germane_any, "objects": germane_any, "arrays": germane_arrays},
    "trec_eval": {"files": trec_eval},
    "pytrec_eval": {"files": pytrec_eval_files, "objects": pytrec_eval_objects},
    "ir_measures": {"files": ir_measures_files, "objects": ir_measures_objects},
    "ranx": {"files": ranx_files, "objects": ranx_objects},
    "sklearn": {"arrays": scikit_learn},
    "torchmetrics": {"arrays": torchmetrics},
}

# ------------------------------------------------------------------------------------------- cases


def cases() -> dict[tuple[str, str], Any]:
    """What is given as files, dicts or arrays; not what needs a pipe, a link or a permission."""
    found: dict[tuple[str, str], Any] = {}
    for name, file in files.CASES.items():
        if file.way == "files":
            found["files", name] = file
    for name, pair in objects.CASES.items():
        if pair.measures == MEASURES and not pair.before:
            found["objects", name] = pair
    for name, array in arrays.CASES.items():
        plain = isinstance(array.grades, np.ndarray) and isinstance(array.scores, np.ndarray)
        if plain and not array.more and array.measures == "AP nDCG":
            found["arrays", name] = array
    return found


@contextlib.contextmanager
def given(kind: str, case: Any) -> Iterator[tuple[Any, Any]]:
    if kind == "objects":
        yield case.qrels, case.run
    elif kind == "arrays":
        yield case.grades, case.scores
    else:
        with tempfile.TemporaryDirectory() as folder:
            paths = [
                Path(folder, "qrels" + case.suffixes[0]),
                Path(folder, "run" + case.suffixes[1]),
            ]
            for path, data in zip(paths, (case.qrels, case.run), strict=True):
                path.write_bytes(data if isinstance(data, bytes) else data.encode())
            yield str(paths[0]), str(paths[1])


def work(tool: str) -> None:
    """Answer each line, a case, with a line of JSON: numbers, what was told, or the error."""
    every, answers = cases(), sys.stdout
    for line in sys.stdin:
        kind, name = json.loads(line)
        told = io.StringIO()
        found: dict[str, Any] = {}
        with warnings.catch_warnings(record=True) as heard, contextlib.redirect_stdout(told):
            warnings.simplefilter("always")
            try:
                with given(kind, every[kind, name]) as pair:
                    found["values"] = TOOLS[tool][kind](*pair)
            except Exception as error:
                found["error"] = f"{type(error).__name__}: {error}"[:2000]
        found["warned"] = (
            " ".join(str(one.message) for one in heard if about(one)) + told.getvalue()
        )
        print(json.dumps(found), file=answers, flush=True)


def about(one: warnings.WarningMessage) -> bool:
    """Is a warning about the data, and not about a library's own future?"""
    return not issubclass(one.category, (DeprecationWarning, FutureWarning, ResourceWarning))


# -------------------------------------------------------------------------------------- judging


def class_of(found: dict[str, Any] | None, right: Outcome, most: Values, least: Values) -> str:
    if found is None:
        return "crash"
    warned = bool(found["warned"].strip())
    if "error" in found:
        if right.kind != "error":
            return "refused what is right"
        message = found["error"].casefold()
        lines = [] if right.line is None else [f"line {right.line}", f":{right.line}"]
        clear = any(word.casefold() in message for word in (*right.words, *lines))
        return "clear error" if clear else "unclear error"
    values = found["values"]
    same = right.kind != "error" and all(
        name in values
        and math.isfinite(values[name])
        and least.get(name, value) - TOLERANCE <= values[name] <= most.get(name, value) + TOLERANCE
        for name, value in right.numbers.items()
    )
    if same:
        return "right, warned" if warned else "right"
    return "wrong, warned" if warned else "silently wrong"


def any_order(kind: str, case: Any) -> tuple[Values, Values]:
    """The highest and the lowest value that an order of equal scores gives."""
    if case.outcome.kind == "error" or kind == "arrays":
        return {}, {}
    with warnings.catch_warnings(), given(kind, case) as (qrels, run):
        warnings.simplefilter("ignore")
        result = germane.evaluate(qrels, run, MEASURES)
    highest = {name: float(result[name].best) for name in case.outcome.numbers}
    return highest, {name: float(result[name].worst) for name in case.outcome.numbers}


def asked(tool: str, kinds: list[tuple[str, str]]) -> Iterator[dict[str, Any] | None]:
    """Each case's answer; None where it ended the process or took too long."""
    process = None
    for kind, name in kinds:
        if process is None:
            process = started(tool)
            for warmed in TOOLS[tool]:
                answer(process, (warmed, CLEAN[warmed]), START_S)
        line = answer(process, (kind, name), LIMIT_S)
        if not line:
            stopped(process)
            process = None
        yield json.loads(line) if line else None
    if process is not None:
        stopped(process)


def started(tool: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, "--worker", tool], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip


def answer(process: subprocess.Popen[str], case: tuple[str, str], limit_s: float) -> str:
    """The line that answers a case; nothing where none came in time, or the process has ended."""
    assert process.stdin
    assert process.stdout
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(json.dumps(case) + "\n")
        process.stdin.flush()
    ready = select.select([process.stdout], [], [], limit_s)[0]
    return process.stdout.readline() if ready else ""


def stopped(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2])
        return
    every = cases()
    orders = {key: any_order(key[0], case) for key, case in every.items()}
    print("| tool | cases | " + " | ".join(CLASSES) + " |")
    print("|:--|" + "--:|" * (len(CLASSES) + 1))
    for tool in sys.argv[1:] or TOOLS:
        if not installed(tool):
            print(f"{tool} is not installed", file=sys.stderr)
            continue
        mine = [key for key in every if key[0] in TOOLS[tool]]
        classes: Counter[str] = Counter()
        for key, found in zip(mine, asked(tool, mine), strict=True):
            one = class_of(found, every[key].outcome, *orders[key])
            classes[one] += 1
            print(f"{tool}: {key[0]}: {key[1]}: {one}: {str(found)[:200]}", file=sys.stderr)
        print(f"| {tool} | {len(mine)} | " + " | ".join(str(classes[c]) for c in CLASSES) + " |")


def installed(tool: str) -> bool:
    if tool == "trec_eval":
        return shutil.which(tool) is not None
    from importlib.util import find_spec

    return find_spec(tool) is not None


if __name__ == "__main__":
    main()
