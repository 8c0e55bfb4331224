"""How often identify is right: ``python bench/identify.py functions``, ``mutants COUNT SEED`` and ``dialects [FORM …]``.

Functions made of the dialects, functions as people write them (``bench/metrics.py``), and these with one random
mistake, which identify may not take for a definition whose values they do not have.
"""

import ast
import inspect
import random
import re
import sys
import textwrap
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import metrics
import numpy as np

import germane
from germane.forensics.asking import SINGLE, Asker, Batch, Precision
from germane.forensics.cases import SPECIAL, Case, Question, Shape, draw_questions, rank_items
from germane.forensics.inquiry import USUAL_READING
from germane.forensics.known_cases import FORMS, Names
from germane.forensics.variations import Candidate

Function = Callable[..., Any]

# --- Mutants --------------------------------------------------------------------------------------

_OPERATORS = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.Add), ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,), ast.BitAnd: (ast.BitOr,),
}  # fmt: skip
_COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt,), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq, ast.GtE), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_NAMES = {"min": "max", "max": "min", "any": "all", "log2": "log10", "mean": "sum", "sum": "max"}


def change(node: ast.AST, rng: random.Random) -> str:
    """Change a node in place; what was done, or "" where nothing fits."""
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _OPERATORS:
            node.op = rng.choice(_OPERATORS[type(op)])()
            return f"{type(op).__name__} → {type(node.op).__name__}"
        case ast.Compare(ops=[op]) if type(op) in _COMPARISONS:
            node.ops = [rng.choice(_COMPARISONS[type(op)])()]
            return f"{type(op).__name__} → {type(node.ops[0]).__name__}"
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value)):
            node.value = value + rng.choice((-1, 1))
        case ast.Constant(value=float(value)):
            node.value = value + rng.choice((-0.5, 0.5, 1.0))
        case ast.Name(id=value) if value in _NAMES:
            node.id = _NAMES[value]
            return f"{value} → {node.id}"
        case ast.Attribute(attr=value) if value in _NAMES:
            node.attr = _NAMES[value]
            return f"{value} → {node.attr}"
        case ast.UnaryOp(op=ast.USub()):
            node.op = ast.UAdd()
            return "- → +"
        case ast.Call(func=ast.Name(id="sorted"), args=[_, *_]):
            node.func.id = "list"
            node.keywords = []
            return "sorted → list"
        case _:
            return ""
    return f"{value} → {node.value}"


def make_mutant(function: Function, rng: random.Random) -> tuple[Function, str] | None:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    [definition] = tree.body
    definition.decorator_list = []
    nodes = [one for part in definition.body for one in ast.walk(part)]
    if definition.args.defaults:
        nodes += definition.args.defaults
    rng.shuffle(nodes)
    for node in nodes:
        before = getattr(node, "lineno", 0)
        done = change(node, rng)
        if done:
            names = dict(vars(metrics))
            exec(compile(ast.fix_missing_locations(tree), "<mutant>", "exec"), names)
            mutant = names[function.__name__]
            mutant.__name__ = function.__name__
            return mutant, f"line {before}: {done}"
    return None


# --- Right functions ------------------------------------------------------------------------------


def run_functions() -> Iterator[tuple[str, str, str, float, Any]]:
    """Yield the outcome for each function, with its claim and without: right, other; and the CPU time."""
    for function, measure, takes, options in metrics.FUNCTIONS:
        wanted = germane.parse(measure)
        for claim in (measure, None):
            start = time.process_time()
            found = germane.identify(function, claim, takes=takes, **options)
            spent = time.process_time() - start
            named = [one.measure.definition for one in found.definitions]
            right = found.holds if claim else wanted.definition in named
            yield function.__name__, claim or "", "right" if right else "other", spent, found


# --- Other data, to see whether a claim is right ----------------------------------------------------


def draw_case(rng: np.random.Generator, form: Any, k: int | None) -> Case:
    """Draw a query in another way than identify does: any length, any share of relevant items."""
    length = (
        int(rng.integers(1, 2 * (k or 8) + 4))
        if (k or 0) < 100
        else (k or 0) + int(rng.integers(5))
    )
    hits = rng.random(length) < rng.random()
    missed = int(rng.integers(0, 2 * (k or 8))) if "missed" in form.shows else 0
    if not hits.any() and not missed:
        hits[int(rng.integers(length))] = True
    graded = "grades" in form.shows
    items = [f"d{i:04}" for i in rng.permutation(length + missed)]
    grades = rng.integers(1, 4 if graded else 2, length + missed).astype(float)
    grades[:length][~hits] = 0.0
    judged = [(i, float(g)) for i, g in zip(items, grades, strict=True) if g or graded]
    order = rng.permutation(len(judged))
    return Case(tuple(judged[i] for i in order), rank_items(items[:length]))


def read_precision(found: Any, options: dict[str, Any]) -> Precision:
    """Read the precision that was given, or that the answer says."""
    text = " ".join(found.remarks)
    rounded = re.search(r"rounded to (\d+) decimals", text)
    decimals = options.get("decimals") or (int(rounded[1]) if rounded else None)
    single = SINGLE if "single precision" in text else 1e-9
    return Precision(options.get("tolerance", single), decimals)


def judge_all(case: Case) -> Case:
    """Judge the other results not relevant."""
    judged = dict(case.judged or ())
    return case._replace(
        judged=tuple({**{item: 0.0 for item, _ in case.ranked or ()}, **judged}.items())
    )


def is_right(function: Function, found: Any, takes: str, options: dict[str, Any]) -> bool | None:
    """Has the function the values of the definition that it was given, on other data?"""
    first = found.definitions[0]
    form, rng = FORMS[takes], np.random.default_rng(12345)
    ties = "trec" if "ties" in form.shows else "given"
    words = {**first.choices, **first.conventions}
    base = germane.Policy(**{**USUAL_READING, "ties": ties, **words})
    binary = (
        any("grades above 1" in one.data for one in found.odd)
        or "grades above 1" in found.undecided
    )
    for kind in range(len(form.kinds)):
        import tempfile
        from pathlib import Path

        asker = Asker(function, form, Names(folder=Path(tempfile.gettempdir())), kind)
        cases = [draw_case(rng, form, first.measure.k) for _ in range(300)]
        if binary:
            cases = [
                one._replace(judged=tuple((i, min(g, 1.0)) for i, g in one.judged)) for one in cases
            ]
        if "items that nobody judged" in found.raised:
            asker.unjudged = "raises"
            cases = [judge_all(one) for one in cases]
        questions = [Question((case,)) for case in cases]
        answers = [asker.ask(one) for one in questions]
        if sum(bool(one.raised) for one in answers) < len(answers):
            break
    kinds = Counter(one.kind for one in answers if not one.raised)
    batch = Batch(form, questions, answers, base, kinds.most_common(1)[0][0])
    precision = read_precision(found, options)
    if not batch.fits(Candidate(first.measure), precision):
        return False
    words = (
        name for name, does in found.special.items() if does.startswith("the order of the rows")
    )
    said = " ".join((*(one.data for one in found.odd), *found.raised, *found.undecided, *words))
    shape = Shape(
        asker.shows,
        first.measure.k,
        (1.0,) if binary or "grades" not in form.shows else (1.0, 2.0, 3.0),
    )
    for special in SPECIAL:
        asked = draw_questions(rng, shape, special) if special.needs <= asker.shows else []
        if special.says in said or not asked:
            continue
        answers = [asker.ask(one) for one in asked]
        if not Batch(form, asked, answers, base, batch.kind).fits(
            Candidate(first.measure), precision
        ):
            return False
    return True


def run_mutants(count: int, seed: int = 0) -> Iterator[tuple[str, str, str, Any, float]]:
    """Yield the outcome for each mutant: claimed, other, none, refused; and whether that is right."""
    rng, seen = random.Random(seed), set()
    while len(seen) < count:
        function, measure, takes, options = rng.choice(metrics.FUNCTIONS)
        if function.__name__ in ("ap1000", "auc"):
            continue
        made = make_mutant(function, rng)
        if made is None or ((function.__name__, made[1]) in seen and rng.random() < 0.7):
            continue
        seen.add((function.__name__, made[1], len(seen)))
        mutant, done = made
        start = time.process_time()
        try:
            found = germane.identify(mutant, measure, takes=takes, **options)
        except germane.GermaneError as error:
            yield "refused", function.__name__, done, str(error), 0.0
            continue
        spent = time.process_time() - start
        if not found:
            yield "none", function.__name__, done, found, spent
        elif is_right(mutant, found, takes, options):
            yield "same" if found.holds else "other", function.__name__, done, found, spent
        else:
            yield "WRONG", function.__name__, done, found, spent


# --- Dialects -------------------------------------------------------------------------------------


def make_function(dialect: str, name: str, measure: Any, takes: str) -> Function:
    """Make a function of a dialect's measure, which takes its data in a form."""

    def evaluate(qrels: Any, run: Any, **further: Any) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = germane.evaluate(qrels, run, name, dialect=dialect, **further)
            return result[measure].mean

    def of_lists(relevant: Any, ranked: Any) -> float:
        qrels = {f"q{i}": list(one) or {"nothing": 0} for i, one in enumerate(relevant)}
        return evaluate(qrels, {f"q{i}": list(one) for i, one in enumerate(ranked)})

    def of_arrays(grades: Any, scores: Any) -> float:
        rows = zip(np.atleast_2d(grades), np.atleast_2d(scores), strict=True)
        qrels, run = {}, {}
        for q, (judged, given) in enumerate(rows):
            qrels[f"q{q}"] = {f"d{i:03}": float(one) for i, one in enumerate(judged)}
            run[f"q{q}"] = {f"d{i:03}": float(one) for i, one in enumerate(given)}
        return evaluate(qrels, run)

    def of_grades(grades: Any) -> float:
        items = [f"d{i:03}" for i in range(len(grades))]
        return evaluate({"q": dict(zip(items, map(float, grades), strict=True))}, {"q": items})

    return {
        "grades": of_grades,
        "ids": lambda relevant, ranked: of_lists([relevant], [ranked]),
        "graded": lambda qrels, ranked: evaluate({"q": qrels or {"nothing": 0}}, {"q": ranked}),
        "lists": of_lists,
        "arrays": of_arrays,
        "matrix": of_arrays,
        "dicts": evaluate,
        "frames": evaluate,
        "trec": evaluate,
    }[takes]


def list_dialect_entries() -> Iterator[tuple[str, str, germane.types.Measure]]:
    """Yield two measures of every dialect of lists: average precision, if it has it, and another."""
    for dialect in germane.dialects().values():
        entries = []
        for entry in dialect.measuring:
            if entry.open_parameters or dialect.matching:
                continue
            measure = germane.parse(entry.write_measure(5 if entry.cutoff else None))
            if measure.row.kernel.__name__ == "refuse_ranking" or measure.row.subtopics:
                continue
            if measure.name in ("NumQ", "NumRet", "NumRel"):
                continue
            entries.append((entry.write_name(5), measure))
        entries.sort(key=lambda one: (one[1].name != "AP", one[1].name != "nDCG"))
        for name, measure in entries[:2]:
            yield dialect.name, name, measure


def run_dialects(forms: list[str]) -> Iterator[tuple[str, str, str, str, Any]]:
    for dialect, name, measure in list_dialect_entries():
        for takes in forms:
            function = make_function(dialect, name, measure, takes)
            try:
                found = germane.identify(function, takes=takes)
            except germane.GermaneError as error:
                yield takes, dialect, name, "refused", error
                continue
            if not found:
                yield takes, dialect, name, "none", found
                continue
            tools = [one.tools for one in found.definitions]
            own = [any(tool.partition(":")[0] == dialect for tool in one) for one in tools]
            first = found.definitions[0].measure
            same = first.definition == measure.definition
            yield takes, dialect, name, "right" if own[0] or same else "other", found


def main() -> None:
    counts: Counter[tuple[str, ...]] = Counter()
    if sys.argv[1] == "functions":
        times = []
        for name, claim, kind, spent, found in run_functions():
            counts[(kind,)] += 1
            times.append(spent)
            if kind != "right" or spent > 2:
                text = str(found)[:600].replace("\n", " | ")
                print(f"{name} {claim} {kind} {spent:.1f} s {text}", flush=True)
        print(f"CPU: median {np.median(times):.2f} s, largest {max(times):.2f} s")
    elif sys.argv[1] == "mutants":
        count, seed = map(int, sys.argv[2:4])
        for kind, name, done, found, _ in run_mutants(count, seed):
            counts[(kind,)] += 1
            named = str(found.definitions[0]) if kind in ("same", "other", "WRONG") else ""
            print(kind, name, done, named, flush=True)
    else:
        for takes, dialect, name, kind, found in run_dialects(sys.argv[2:] or list(FORMS)):
            counts[takes, kind] += 1
            if kind != "right":
                print(takes, dialect, name, kind, str(found)[:600].replace("\n", " | "), flush=True)
    for key, number in sorted(counts.items()):
        print(*key, number)


if __name__ == "__main__":
    main()
