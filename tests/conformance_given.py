"""The cases of the recorded answers, in the form in which each tool was given them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Case = Mapping[str, Any]


@dataclass
class Given:
    """A case as qrels and a run."""

    qrels: dict[str, Any]
    run: dict[str, Any]

    def only(self, query: str) -> "Given":
        qrels = {query: self.qrels[query]} if query in self.qrels else {}
        return Given(qrels, {query: self.run[query]} if query in self.run else {})


def _files(case: Case) -> Given:
    """As a run dict; but a file has no lines of a query that has nothing."""
    data = _run_dict(case)
    return Given(*({q: own for q, own in one.items() if own} for one in (data.qrels, data.run)))


def _number(data: Given, whole: Given) -> Given:
    """Write numbers for the ids of queries, in the order in which the case has them."""
    numbers = {q: str(i) for i, q in enumerate({**whole.qrels, **whole.run}, 1)}
    sides = ({numbers[q]: own for q, own in one.items()} for one in (data.qrels, data.run))
    return Given(*sides)


def _run_dict(case: Case) -> Given:
    if case["kind"] == "list":
        return Given(dict(case["actual"]), dict(case["ranking"]))
    return Given(dict(case["qrels"]), dict(case["run"]))


def _relevant_rows(case: Case) -> Given:
    if case["kind"] == "list":
        return Given(dict(case["actual"]), dict(case["ranking"]))
    return Given(_relevant(case["qrels"]), dict(case["run"]))


def _relevant(qrels: Mapping[str, Mapping[str, int]]) -> dict[str, list[str]]:
    return {q: [d for d, grade in judged.items() if grade >= 1] for q, judged in qrels.items()}


def _ranking_list(case: Case) -> Given:
    if case["kind"] == "list":
        return Given(dict(case["actual"]), dict(case["ranking"]))
    lists = case["ranking_stable"]
    qrels = _relevant({q: case["qrels"][q] for q in lists if q in case["qrels"]})
    return Given(qrels, {q: ranked for q, ranked in lists.items() if q in case["qrels"]})


def _all_lists(case: Case) -> Given:
    if case["kind"] == "list":
        return _ranking_list(case)
    return Given(_relevant(case["qrels"]), dict(case["ranking_stable"]))


def _graded_list(case: Case) -> Given:
    given = _ranking_list(case)
    if case["kind"] == "list":
        return given
    return Given({q: case["qrels"][q] for q in given.run}, given.run)


def _padded(case: Case, *, whole: bool, positive: bool, graded: bool) -> Given:
    if case["kind"] == "labels":
        return _labels(case)
    if case["kind"] == "multilabel":
        return _rows(case)
    qrels: dict[str, Any] = {}
    run = {}
    for query, padded in case["padded"].items():
        n = len(padded["docs"]) if whole else padded["n_retrieved"]
        scores = padded["scores"][:n]
        if positive and padded["scores"]:
            low = min(padded["scores"])
            scores = [score - low + 1.0 for score in scores]
        docs = padded["docs"][:n]
        labels = {d: int(g >= 1) for d, g in zip(docs, padded["labels"], strict=False)}
        if graded:
            labels = {doc: case["qrels"][query].get(doc, 0) for doc in docs}
        qrels[query] = (
            labels or []
        )  # no labels at all: a query without relevant items, to these tools
        run[query] = dict(zip(docs, scores, strict=True))
    return Given(qrels, run)


def _counted(case: Case) -> Given:
    """Only what was retrieved, but R of everything."""
    given = _padded(case, whole=False, positive=False, graded=False)
    return Given({q: _relevant(case["qrels"])[q] for q in given.run}, given.run)


def _labels(case: Case) -> Given:
    docs = [f"d{i:03}" for i in range(len(case["y_true"]))]
    return Given(
        {"q": dict(zip(docs, case["y_true"], strict=True))},
        {"q": dict(zip(docs, case["y_score"], strict=True))},
    )


def _rows(case: Case) -> Given:
    qrels, run = {}, {}
    for i, (true, score) in enumerate(zip(case["y_true"], case["y_score"], strict=True)):
        docs = [f"d{j:03}" for j in range(len(true))]
        qrels[str(i)] = dict(zip(docs, true, strict=True))
        run[str(i)] = dict(zip(docs, score, strict=True))
    return Given(qrels, run)


def _detections(case: Case) -> Given:
    found = {f"d{i:03}": d["tp"] for i, d in enumerate(case["detections"])}
    missed = {f"m{i:03}": 1 for i in range(case["n_gt"] - sum(found.values()))}
    scores = {f"d{i:03}": d["score"] for i, d in enumerate(case["detections"])}
    return Given({"q": {**found, **missed}}, {"q": scores})


def given(case: Case, form: str, params: Mapping[str, Any]) -> Given:
    """The case in the form in which a tool was given it, its rows in the order in which they were."""
    data = _in_form(case, form, params)
    match params.get("data frame row order"):
        case "rank order":
            data.run = {q: _descending(run) for q, run in data.run.items()}
        case "reverse rank order":
            data.run = {q: dict(reversed(_descending(run).items())) for q, run in data.run.items()}
    return data


def _descending(run: dict[str, float]) -> dict[str, float]:
    return dict(sorted(run.items(), key=lambda pair: -pair[1]))


def _in_form(case: Case, form: str, params: Mapping[str, Any]) -> Given:
    if case["kind"] == "detection":
        return _detections(case)
    if form == "run+qrels files, queries numbered":
        return _number(_files(case), _run_dict(case))
    if form == "run+qrels files" or form.startswith("iterables"):
        return _files(case)
    if form.startswith("retrieved_only sorted") or form == "retrieved_only (R of all)":
        return _counted(case)
    if "padded_tail" in form or "retrieved_only" in form:
        return _padded(
            case,
            whole="retrieved_only" not in form,
            positive="positive" in form,
            graded=params.get("labels") == "graded",
        )
    if case["kind"] == "labels":
        return _labels(case)
    if case["kind"] == "multilabel":
        return _rows(case)
    if "left out" in form:
        data = _ranking_list(case)
        kept = [q for q, ranked in data.run.items() if ranked and data.qrels.get(q)]
        return Given({q: data.qrels[q] for q in kept}, {q: data.run[q] for q in kept})
    if "judgments (graded kept)" in form:
        return _graded_list(case)
    if "interactions" in form:
        return _all_lists(case)
    if "rating_true" in form:
        return _relevant_rows(case)
    if "list" in form or "hit matrix" in form or "boolean ranking" in form:
        return _ranking_list(case)
    return _run_dict(case)
