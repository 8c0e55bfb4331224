"""Recorded answers of other tools: how their cases are given to germane, and asked in a dialect.

``cases.json`` holds the data, ``answers/*.json`` what each tool answered; the tools of a case are
given it in different forms (a run, a ranked list, labels in the order of a list …).

    python tests/conformance.py FOLDER [TOOL]
"""

import json
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import germane
from conformance_asked import ASK, TOLERANCE, Question, cutoff
from conformance_given import Case, Given, given
from germane.dialects import resolve_dialect  # recorded answers use other names of dialects too
from germane.types import Dialect


@dataclass(frozen=True)
class Outcome:
    """passed, unsupported (and why), or failed (and how)."""

    word: str
    says: str = ""


def _evaluated(data: Given, ask: Question) -> germane.types.MeasureResult:
    return next(iter(_evaluate(data, ask).values()))


def _evaluate(data: Given, ask: Question) -> germane.types.Result:
    name, choices = _name_measure(data, ask)
    dialect = resolve_dialect(ask.dialect)
    return germane.evaluate(data.qrels, data.run, [name], dialect=dialect, **choices)


def _name_measure(data: Given, ask: Question) -> tuple[Any, dict[str, Any]]:
    """The measure that is asked for, and the choices."""
    choices = dict(ask.choices)
    level = choices.pop("rel", None)
    dialect = resolve_dialect(ask.dialect)
    if "{R}" in ask.name:  # the largest R of a query
        most = max(sum(g >= 1 for g in _grades(judged)) for judged in data.qrels.values())
        ask = replace(ask, name=ask.name.replace("{R}", str(max(most, 1))))
    if level is None:
        return ask.name, choices
    measure = germane.parse(f"{dialect.name}:{ask.name}")
    foreign = dialect.find(ask.name)
    choices = {**(foreign.read_choices(ask.name) if foreign else {}), **choices}
    return measure(rel=level) if measure.rel is not None else measure, choices


def _plain(value: Any) -> Any:
    return {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.get(value, value)


def _agree(ours: float, theirs: Any, tolerance: float) -> bool:
    theirs = _plain(theirs)
    if theirs is None or isinstance(theirs, str):
        return math.isnan(ours)
    if math.isnan(theirs) or math.isnan(ours):
        return math.isnan(theirs) and math.isnan(ours)
    return abs(ours - theirs) <= tolerance * max(1.0, abs(theirs))


def _logarithm(value: float) -> float:
    """What a geometric mean adds up, which is all that trec_eval says of a query."""
    return math.log(max(value, 1e-5))


def _alone(data: Given, query: str, ask: Question) -> float:
    """The value of a query asked for by itself; NaN where that is an error or left out."""
    try:
        one = _evaluated(data.only(query), ask)
    except germane.GermaneError:
        return math.nan
    return one.per_query.get(query, one.mean)


def check(
    library: str,
    case: Case,
    function: Mapping[str, Any],
    answer: Mapping[str, Any],
    results: "Results | None" = None,
) -> Outcome:
    """What germane makes of one recorded answer; ``results`` are those evaluated before."""
    data, ask = _ask(library, case, function)
    if ask is None or isinstance(ask, str):
        return Outcome("unsupported", ask or "")
    k = cutoff(function.get("params") or {})
    result = None if results is None else results.find(case, function, ask)
    return compared(data, ask, answer, TOLERANCE.get(library, 1e-9), k, result=result)


def _ask(
    library: str, case: Case, function: Mapping[str, Any]
) -> tuple[Given, Question | str | None]:
    """The data as a tool was given it, and the question; in words why there is none."""
    params, form = function.get("params") or {}, function["input"]
    ask = ASK[library](function["function"], params, form)
    if ask is None or isinstance(ask, str):
        return Given({}, {}), ask
    if library == "revisitop" and form == "retrieved_only":
        form = "retrieved_only (R of all)"
    data = given(case, form, params)
    if resolve_dialect(ask.dialect).name == "surprise":  # it is given rows: a list without is none
        data = Given(data.qrels, {q: run for q, run in data.run.items() if run})
    return data, ask


def list_untold(
    library: str, case: Case, function: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Values that differ from the tool's where the result, which has them, names no limit."""
    data, ask = _ask(library, case, function)
    if not isinstance(ask, Question) or "curve" in ask.choices:
        return
    shown = _logarithm if ask.name.startswith("gm_") else float
    parts = [("mean", data, answer["aggregate"], float)] if "aggregate" in answer else []
    parts += [
        (query, data.only(query), theirs, shown)
        for query, theirs in answer.get("per_query", {}).items()
    ]
    for part, given_, theirs, show in parts:
        try:
            result = _evaluate(given_, ask)
        except germane.GermaneError:
            continue  # an error is no number
        [value] = result.values()
        ours = value.mean if part == "mean" else value.per_query.get(part, value.mean)
        if not result.limits and not _agree(show(ours), theirs, TOLERANCE.get(library, 1e-9)):
            yield f"{part}: {theirs}, not {ours}"


def seen_alone(
    library: str, case: Case, function: Mapping[str, Any], answer: Mapping[str, Any]
) -> Outcome | None:
    """What relevant=listed makes of all judgments, where a tool was given a list and nothing else."""
    params, form = function.get("params") or {}, function["input"]
    ask = ASK[library](function["function"], params, form)
    if not form.startswith("retrieved_only") or not isinstance(ask, Question):
        return None
    if resolve_dialect(ask.dialect).sees != "list" or "curve" in ask.choices:
        return None
    alone = given(case, form, params)
    whole = given(case, form.replace("retrieved_only", "padded_tail"), params)
    ask = replace(ask, choices={**ask.choices, "relevant": "listed"})
    data, tolerance = Given(whole.qrels, alone.run), TOLERANCE.get(library, 1e-9)
    return compared(data, ask, answer, tolerance, cutoff(params), alone)


def compared(
    data: Given,
    ask: Question,
    answer: Mapping[str, Any],
    tolerance: float,
    k: int | None = None,
    seen: Given | None = None,
    result: germane.types.MeasureResult | None = None,
) -> Outcome:
    """What germane makes of a question to a tool, beside its answer.

    ``seen`` is what the tool was given, where that is other data; ``result`` is germane's answer,
    if it was evaluated before.
    """
    wrong = _wrong(data, ask, answer, tolerance, result)
    if not wrong:
        return Outcome("passed")
    limits = list(_limits(resolve_dialect(ask.dialect), ask, seen or data, k))
    ordered = any(limit.order for limit in limits) and _in_an_order(data, ask, answer, tolerance)
    explain = [limit.says for limit in limits if ordered or not limit.order]
    if explain:
        return Outcome("unsupported", " ".join(explain))
    return Outcome("failed", f"{ask.dialect} {ask.name}: {wrong}")


def _in_an_order(data: Given, ask: Question, answer: Mapping[str, Any], tolerance: float) -> bool:
    """Is what the tool said between the worst and the best order of equal scores?"""
    if "curve" in ask.choices:
        return True
    answered = [(data, answer["aggregate"])] if "aggregate" in answer else []
    answered += [(data.only(query), value) for query, value in answer.get("per_query", {}).items()]
    return all(_between(one, ask, _plain(value), tolerance) for one, value in answered)


def _between(data: Given, ask: Question, theirs: Any, tolerance: float) -> bool:
    try:
        result = _evaluated(data, ask)
        worst, best = sorted((result.worst, result.best))  # the best FallOut is the lowest
    except germane.GermaneError:
        worst = best = math.nan
    if theirs is None or isinstance(theirs, str) or math.isnan(theirs):
        return math.isnan(worst) or math.isnan(best)
    return worst - tolerance <= theirs <= best + tolerance


def _curve(answer: Mapping[str, Any], at: int, side: str) -> dict[str, Any]:
    """One point of the curves that an answer holds."""
    per_query = {
        q: _list(v[side])[at] if isinstance(v, dict) else v
        for q, v in answer.get("per_query", {}).items()
    }
    point: dict[str, Any] = {"per_query": per_query}
    if isinstance(answer.get("aggregate"), dict):
        point["aggregate"] = _list(answer["aggregate"][side])[at]
    return point


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _wrong_curve(data: Given, adaptive: bool, answer: Mapping[str, Any], tolerance: float) -> str:
    curves = [one for one in answer.get("per_query", {}).values() if isinstance(one, dict)]
    length = min((len(_list(one["top_k"])) for one in curves), default=0)
    for at in range(length):
        for side, name in (("precision", "RetrievalPrecision"), ("recall", "RetrievalRecall")):
            more = ",adaptive_k=True" if adaptive and side == "precision" else ""
            ask = Question("torchmetrics", f"{name}(top_k={at + 1}{more})", {"nonpositive": "hit"})
            if wrong := _wrong(data, ask, _curve(answer, at, side), tolerance):
                return f"{side} at {at + 1}: {wrong}"
    return ""


def _wrong(
    data: Given,
    ask: Question,
    answer: Mapping[str, Any],
    tolerance: float,
    result: germane.types.MeasureResult | None = None,
) -> str:
    if "curve" in ask.choices:
        return _wrong_curve(data, ask.choices["curve"], answer, tolerance)
    try:
        result = result or _evaluated(data, ask)
    except germane.GermaneError as error:
        error_text = str(error)
    if "error" in answer or "exit" in answer:
        return "" if result is None else f"{answer.get('error', 'exit')} but {result.mean}"
    shown = _logarithm if ask.name.startswith("gm_") else float
    for query, theirs in answer.get("per_query", {}).items():
        ours = math.nan
        if result is not None:
            ours = result.per_query.get(query, math.nan)
        if not _agree(shown(ours), theirs, tolerance):
            ours = _alone(data, query, ask)
        if not _agree(shown(ours), theirs, tolerance):
            return f"{query}: {theirs}, not {ours}"
    if "aggregate" in answer:
        if result is None:
            theirs = _plain(answer["aggregate"])
            fine = isinstance(theirs, str) or (isinstance(theirs, float) and math.isnan(theirs))
            return "" if fine else f"mean {theirs}, not {error_text}"
        if not _agree(result.mean, answer["aggregate"], tolerance):
            return f"mean {answer['aggregate']}, not {result.mean}"
    return ""


def _limits(dialect: Dialect, ask: Question, data: Given, k: int | None) -> Iterator[Any]:
    foreign = dialect.find(ask.name)
    own = foreign.name if foreign else ask.name
    if foreign and foreign.choices.get("scores") == "sigmoid":
        data = Given(data.qrels, {q: _squash(run) for q, run in data.run.items()})
    if k is None:
        k = next(map(int, re.findall(r"[0-9]+", ask.name)[::-1]), None)
    for limit in dialect.limits:
        if (not limit.only or own in limit.only) and holds(limit.when, data, k, ask.choices):
            yield limit


def holds(when: str, data: Given, k: int | None, choices: Mapping[str, Any]) -> bool:
    """Is the data what a limit is about?"""
    sizes = [len(run) for q, run in data.run.items()]
    relevant = {q: sum(g >= 1 for g in _grades(judged)) for q, judged in data.qrels.items()}
    match when:
        case "tied":
            return any(_tied(run) for run in data.run.values())
        case "tied_long":
            return any(_tied(run) and len(run) > 15 for run in data.run.values())
        case "unordered":
            return any(_ranked(run) != list(run) for run in data.run.values())
        case "no_relevant":
            return any(n == 0 for n in relevant.values())
        case "all_relevant":
            return any(_all_of(data.run.get(q, ()), judged) for q, judged in data.qrels.items())
        case "empty":
            if choices.get("unjudged") == "remove":
                return any(not set(run) & set(data.qrels.get(q, ())) for q, run in data.run.items())
            return 0 in sizes or any(q not in data.run for q in data.qrels)
        case "short":
            return k is not None and any(size < k for size in sizes)
        case "all_within":
            return k is not None and any(
                len(data.run.get(q, ())) <= k and _all_of(data.run.get(q, ()), judged)
                for q, judged in data.qrels.items()
            )
        case "repeated":
            lists = [*data.run.values(), *data.qrels.values()]
            return any(isinstance(one, list) and len(set(one)) < len(one) for one in lists)
        case "several":
            return any(n > 1 for n in relevant.values())
        case "missed":
            return any(_misses(data.run.get(q, ()), one, k) for q, one in data.qrels.items())
        case "negative":
            return any(g < 0 for judged in data.qrels.values() for g in _grades(judged))
        case "named":
            return not all(str(q).isdecimal() for q in data.qrels)
        case "early":
            last = {q: _ranked(run)[(k or 1) - 1 :] for q, run in data.run.items()}
            return k is not None and any(
                _misses(rest, data.qrels.get(q, ()), None) for q, rest in last.items()
            )
        case "unknown":
            return any(q not in data.qrels for q in data.run)
        case "level":
            return "rel" in choices
        case "single":
            return 1 in sizes
        case "uneven":
            return len(set(sizes)) > 1
        case "shallow":
            return k is not None and any(n > k for n in relevant.values())
    raise ValueError(when)


def _grades(judged: Any) -> list[float]:
    return list(judged.values()) if isinstance(judged, dict) else [1.0] * len(judged)


def _misses(run: Any, judged: Any, k: int | None) -> bool:
    """Stands nothing relevant among the first k?"""
    ranked = _ranked(run)
    relevant = {d for d, g in judged.items() if g >= 1} if isinstance(judged, dict) else judged
    return not set(ranked[:k]) & set(relevant)


def _all_of(run: Any, judged: Any) -> bool:
    """Is everything relevant that was retrieved, and nothing else?"""
    relevant = {d for d, g in judged.items() if g >= 1} if isinstance(judged, dict) else judged
    return set(run) == set(relevant)


def _ranked(run: Any) -> list[Any]:
    return sorted(run, key=lambda d: -run[d]) if isinstance(run, dict) else list(run)


def _squash(run: Any) -> Any:
    scores = np.array(list(run.values()), np.float32)
    if len(scores) and (scores.min() < 0 or scores.max() > 1):
        scores = 1 / (1 + np.exp(-scores))
    return dict(zip(run, scores.tolist(), strict=True))


def _tied(run: Any) -> bool:
    if not isinstance(run, dict):
        return False
    scores = np.array(list(run.values()), np.float32)
    return len(np.unique(scores)) < len(scores)


# --- All of them -----------------------------------------------------------------------------------

HERE = Path(__file__).parent
FIXTURE = HERE / "data" / "conformance.json"
FOLDER = Path(os.environ.get("GERMANE_CONFORMANCE", HERE.parent.parent / "shared" / "conformance"))
"""All that was recorded, where it is beside the repository; the fixture holds a part of it."""


def fixture() -> tuple[dict[str, Case], dict[str, dict[str, Any]]]:
    """The cases by name, and a part of the answers by the tool's file name."""
    recorded = json.loads(FIXTURE.read_text("utf-8"))
    return {case["name"]: case for case in recorded["cases"]}, recorded["answers"]


def load(folder: Path) -> tuple[dict[str, Case], dict[str, dict[str, Any]]]:
    """The same of a folder with all of them."""
    cases = json.loads((folder / "cases.json").read_text("utf-8"))["cases"]
    answers = {
        path.stem: json.loads(path.read_text("utf-8"))
        for path in sorted((folder / "answers").glob("*.json"))
    }
    return {case["name"]: case for case in cases}, answers


def outcomes(
    cases: Mapping[str, Case], library: str, recorded: Mapping[str, Any]
) -> Iterator[tuple[str, str, Outcome]]:
    """Each answer of a tool: function with parameters, case, and what germane makes of it."""
    results = Results(library, cases, recorded)
    for function in recorded["functions"]:
        label = f"{function['function']} {function.get('params') or ''} [{function['input']}]"
        for name, answer in function["answers"].items():
            if name in cases:
                yield label, name, check(library, cases[name], function, answer, results)


class Results:
    """germane's answers to what a tool was asked: all measures of a case are evaluated in one call.

    Where that is an error, there is none, and the question is asked alone.
    """

    def __init__(
        self, library: str, cases: Mapping[str, Case], recorded: Mapping[str, Any]
    ) -> None:
        self._calls: dict[Any, list[_Call]] = {}
        for function in recorded["functions"]:
            for name in function["answers"].keys() & cases.keys():
                data, ask = _ask(library, cases[name], function)
                if isinstance(ask, Question) and "curve" not in ask.choices:
                    self._add(_make_key(cases[name], function, ask), data, ask)

    def _add(self, key: Any, data: Given, ask: Question) -> None:
        calls = self._calls.setdefault(key, [])
        if any(ask.name in call.names for call in calls):
            return
        try:
            name, choices = _name_measure(data, ask)
            dialect = resolve_dialect(ask.dialect)
            measure = germane.parse(f"{dialect.name}:{name}") if isinstance(name, str) else name
        except germane.GermaneError:
            return
        # two names of one measure may have conventions of their own, and go into two calls
        alike = (
            call
            for call in calls
            if call.choices == choices and measure not in call.measures.values()
        )
        call = next(alike, None)
        if call is None:
            call = _Call(data, dialect, choices)
            calls.append(call)
        call.names[ask.name], call.measures[ask.name] = name, measure

    def find(
        self, case: Case, function: Mapping[str, Any], ask: Question
    ) -> germane.types.MeasureResult | None:
        calls = self._calls.get(_make_key(case, function, ask), [])
        call = next((call for call in calls if ask.name in call.names), None)
        return None if call is None else call.results.get(ask.name)


@dataclass
class _Call:
    """Measures under one dialect and the same choices, evaluated together."""

    data: Given
    dialect: Dialect
    choices: Mapping[str, Any]
    names: dict[str, Any] = field(default_factory=dict)
    measures: dict[str, germane.types.Measure] = field(default_factory=dict)

    @cached_property
    def results(self) -> dict[str, germane.types.MeasureResult]:
        data, names = self.data, list(self.names.values())
        try:
            result = germane.evaluate(
                data.qrels, data.run, names, dialect=self.dialect, **self.choices
            )
        except germane.GermaneError:
            return {}
        return dict(zip(self.names, result.values(), strict=True))


def _make_key(case: Case, function: Mapping[str, Any], ask: Question) -> tuple[Any, ...]:
    """Name the data of a question, and how it is asked: by all that ``_ask`` makes of them."""
    params = function.get("params") or {}
    row_order, labels = params.get("data frame row order"), params.get("labels")
    choices = tuple(sorted(ask.choices.items()))
    return case["name"], function["input"], row_order, labels, ask.dialect, repr(choices)


def main(folder: Path, only: str = "") -> None:
    """Print, for every tool, how many answers are reproduced, and why the others are not."""
    cases, answers = load(folder)
    for library, recorded in answers.items():
        if only not in ("", library):
            continue
        counts = Counter[str]()
        reasons = Counter[str]()
        for label, name, outcome in outcomes(cases, library, recorded):
            counts[outcome.word] += 1
            if outcome.word == "failed":
                reasons[f"failed: {label} {name}: {outcome.says}"] += 1
            elif outcome.word == "unsupported":
                reasons[outcome.says] += 1
        print(f"{library:45}", dict(counts))  # noqa: T201
        for reason, times in reasons.most_common():
            print(f"    {times:6}  {reason}")  # noqa: T201


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]), *sys.argv[2:])
