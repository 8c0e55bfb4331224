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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import germane
from germane.dialects import Dialect, Limit, named

Case = Mapping[str, Any]


# --- What a tool was given -------------------------------------------------------------------------


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
    """The case in the form in which a tool was given it."""
    if case["kind"] == "detection":
        return _detections(case)
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


# --- What it was asked -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """A dialect, its name for a measure, and choices that an option of the tool makes."""

    dialect: str
    name: str
    choices: Mapping[str, Any] = field(default_factory=dict)


def _k(params: Mapping[str, Any]) -> Any:
    for key in ("k", "K", "n", "top_k", "topn", "cutoff", "kappa", "depth"):
        if isinstance(params.get(key), int):
            return params[key]
    for key in ("truncated to", "retrieved truncated to", "predicted truncated to"):
        if params.get(key) is not None:
            return params[key]
    if isinstance(params.get("topk"), list):
        return params["topk"][0]
    return None


def _at(name: str, params: Mapping[str, Any]) -> str:
    k = _k(params)
    return name if k is None else f"{name}@{k}"


def _called(name: str, word: str, params: Mapping[str, Any], more: str = "") -> str:
    k = _k(params)
    return name if k is None else f"{name}({word}={k}{more})"


Asker = Callable[[str, Mapping[str, Any], str], Question | str | None]


def _trec(dialect: str) -> Asker:
    def ask(function: str, params: Mapping[str, Any], form: str) -> Question | str:
        flags = params.get("flags", "").split()
        if function == "(exit)":
            function = "map"
        choices: dict[str, Any] = {}
        name, level = function, params.get("relevance_level")
        if "-c" in flags:
            choices["missing"] = "zero"
        if "-J" in flags or params.get("judged_docs_only_flag"):
            choices["unjudged"] = "remove"
        for flag, value in pairwise(flags):
            if flag == "-M":
                choices["depth"] = int(value)
            if flag == "-l":
                level = int(value)
        return Question(dialect, name, {**choices, **({"rel": level} if level is not None else {})})

    return ask


def _ir_measures(function: str, params: Mapping[str, Any], form: str) -> Question | str:
    provider = params.get("pipeline", "default")
    if provider == "cwl_eval":
        return Question("ir_measures-cwl", function)
    if provider == "ranx":
        name = {"AP": "map", "P": "precision", "R": "recall", "RR": "mrr", "Rprec": "r-precision"}
        base, at, k = function.partition("@")
        return Question("ranx", name[base] + at + k, {"empty": "missing"})
    if provider == "trectools":
        name = {
            "AP": "map",
            "P": "precision",
            "RR": "reciprocal_rank",
            "Bpref": "bpref",
            "Rprec": "rprec",
        }
        base, at, k = function.partition("@")
        return Question("ir_measures-trectools", function)
    if provider == "msmarco" and function == "RR":
        return Question("ir_measures", "RR", {"ties": "ascending", "scores": "double"})
    if found := re.fullmatch(r"nDCG\(gains=\{(.*)\}\)@(\d+)", function):
        mapped = dict(pair.split(":") for pair in found[1].replace(" ", "").split(","))
        gains = "_".join(f"{g}:{mapped.get(str(g), g)}" for g in range(1, 10))
        return Question("ir_measures", f"nDCG(gain={gains})@{found[2]}")
    return Question("ir_measures", function)


def _ranx(function: str, params: Mapping[str, Any], form: str) -> Question:
    choices = {"missing": "zero", "unknown": "ignore"} if params.get("make_comparable") else {}
    return Question("ranx", function, choices)


def _torchmetrics(function: str, params: Mapping[str, Any], form: str) -> Question | str:
    if "_curve" in function:
        return "a curve, not a number"
    if params.get("thresholds") is not None:
        return "the curve at a grid of thresholds"
    if "Curve" in function:
        return Question("torchmetrics", "P", {"curve": params["adaptive_k"]})
    action = {"neg": "zero", "pos": "one", "skip": "skip", "error": "error"}
    choices = {}
    if "empty_target_action" in params:
        choices["no_relevant"] = action[params["empty_target_action"]]
    if function == "retrieval_average_precision":
        return Question("torchmetrics", "RetrievalMAP")
    more = ",adaptive_k=True" if params.get("adaptive_k") else ""
    return Question("torchmetrics", _called(function, "top_k", params, more), choices)


def _evidently(function: str, params: Mapping[str, Any], form: str) -> Question | str:
    found = re.search(r"\['(\w+)'\]", function)
    name = found[1] if found else "map"
    if name == "mar":
        return "the mean of recall at the hits, which is no measure of germane"
    if params["data frame row order"] != "rank order":
        return "the value depends on the order of the frame's rows"
    if params.get("no_feedback_users"):
        name = "map_include_no_feedback"
    return Question("evidently", _at(name, params))


def _recommenders(function: str, params: Mapping[str, Any], form: str) -> Question:
    return Question("recommenders", _at(function, params))


def _sklearn(function: str, params: Mapping[str, Any], form: str) -> Question | str:
    if function.startswith("precision_recall_curve"):
        return "a curve, not a number"
    if "average=" in function and "samples" not in function:
        return "all rows, or all columns, as one list"
    if function.startswith("auc("):
        return Question("scikit-learn", "auc(precision_recall_curve)")
    return Question("scikit-learn", function.partition("(")[0])


def _xgboost(function: str, params: Mapping[str, Any], form: str) -> Question:
    return Question("xgboost", function.removeprefix("eval_metric="))


def _recometrics(function: str, params: Mapping[str, Any], form: str) -> Question | str:
    if function == "ROC_AUC":
        return "ROC AUC is not a measure of germane"
    if function in ("K", "(error)"):
        return "no measure"
    if function == "PR_AUC":
        return Question("recometrics", "PR_AUC")
    return Question("recometrics", _called(function, "k", params))


def _rectools(function: str, params: Mapping[str, Any], form: str) -> Question:
    base, _, option = function.rstrip(")").partition("(")
    more = "," + option if option.endswith("True") else ""
    return Question("rectools", f"{base}(k={params['k']}{more})")


def _lightfm(function: str, params: Mapping[str, Any], form: str) -> Question:
    return Question("lightfm", _at(function, params))


def _haystack(dialect: str) -> Asker:
    def ask(function: str, params: Mapping[str, Any], form: str) -> Question:
        if params.get("mode") == "single_hit":
            function += "(single_hit)"
        return Question(dialect, _at(function, params))

    return ask


def _mteb(function: str, params: Mapping[str, Any], form: str) -> Question | str:
    name = function.partition(":")[2]
    return Question("mteb", name or "MRR@3")


def _simple(dialect: str, name: Callable[[str], str] = str, how: str = "@") -> Asker:
    def ask(function: str, params: Mapping[str, Any], form: str) -> Question:
        own = name(function)
        return Question(dialect, _at(own, params) if how == "@" else _called(own, how, params))

    return ask


def _tensorflow(function: str, params: Mapping[str, Any], form: str) -> Question | str:
    if "AUC" in function:
        return "the curve at a grid of thresholds"
    return Question("tensorflow", f"average_precision_at_k(k={params['k']})")


def _torcheval(function: str, params: Mapping[str, Any], form: str) -> Question | str:
    if "curve" in function:
        return "a curve, not a number"
    if function == "binary_auprc":
        return Question("torcheval", "binary_auprc")
    more = ",limit_k_to_size=True" if params["limit_k_to_size"] else ""
    return Question("torcheval", f"retrieval_precision(k={params['k']}{more})")


def _last(function: str) -> str:
    return function.rpartition(".")[2].rpartition(":")[2]


def _pml(function: str, params: Mapping[str, Any], form: str) -> Question:
    name = _last(function)
    k = params.get("k")
    if k is not None and name in ("mean_average_precision", "mean_reciprocal_rank"):
        name = f"{name}(k={k})"
        if name == "mean_reciprocal_rank(k=max_bin_count)":
            name = "mean_reciprocal_rank(k={R})"
    return Question("pytorch-metric-learning", name)


def _voc(function: str, params: Mapping[str, Any], form: str) -> Question:
    eleven = any(word in function for word in ("=True", "11points", "ElevenPoint"))
    return Question("voc2007" if eleven else "voc2010", "ap")


def _coco(function: str, params: Mapping[str, Any], form: str) -> Question | str:
    return "a curve, not a number" if "precision[" in function else Question("coco", "AP")


def _catalyst(function: str, params: Mapping[str, Any], form: str) -> Question:
    if function == "binary_average_precision":
        return Question("catalyst", function)
    k = re.findall(r"\d+", str(params["k"]))[0]
    return Question("catalyst", f"average_precision(k={k})")


ASK: dict[str, Asker] = {
    "trec_eval-10.0": _trec("trec_eval-10"),
    "trec_eval-9.0.8": _trec("trec_eval-9"),
    "pytrec-eval": _trec("pytrec_eval"),
    "pytrec-eval-terrier": _trec("pytrec_eval"),
    "ir-measures": _ir_measures,
    "ranx": _ranx,
    "beir": lambda f, p, form: Question(
        "beir", _last(f), {} if p["ignore_identical_ids"] else {"own": "keep"}
    ),
    "mteb": _mteb,
    "sentence-transformers": lambda f, p, form: Question(
        "sentence-transformers",
        "reranking_ap" if "Reranking" in f else f"{_last(f).partition('@')[0]}@{p['k']}",
    ),
    "trectools": _simple("trectools", lambda f: f.removeprefix("get_")),
    "ml-metrics": _simple("ml_metrics", lambda f: "kdd_apk" if "kdd" in f else "apk"),
    "ml-metrics-benhamner-metrics-git": _simple("ml_metrics-git", lambda f: "apk"),
    "kaggle-notebook-h-and-m": _simple("kaggle-notebook", lambda f: "apk"),
    "recmetrics": _simple("recmetrics"),
    "recommenders": _recommenders,
    "rectools": _rectools,
    "recometrics": _recometrics,
    "implicit": _simple("implicit", lambda f: re.findall(r"'(\w+)'", f)[0]),
    "pyspark": lambda f, p, form: Question(
        "spark", _last(f) if "k" not in p else f"{_last(f)}({p['k']})"
    ),
    "recbole": _simple("recbole", lambda f: f.partition(".")[0]),
    "elliot": _simple("elliot", lambda f: f.partition(".")[0]),
    "cornac": _simple("cornac", lambda f: f.partition(".")[0]),
    "lenskit": _simple("lenskit", how="n"),
    "evidently": _evidently,
    "torch-geometric": _simple("torch-geometric", how="k"),
    "torchmetrics": _torchmetrics,
    "torcheval": _torcheval,
    "catalyst": _catalyst,
    "pytorch-metric-learning": _pml,
    "open-metric-learning": _simple("open-metric-learning", how="top_k"),
    "torchreid-deep-person-reid": lambda f, p, form: Question("torchreid", "mAP"),
    "revisitop": lambda f, p, form: Question(
        "revisitop", f"mP@{p['kappa']}" if "kappa" in p else "compute_ap"
    ),
    "inquire": lambda f, p, form: Question("inquire", f"ap_at_k@{p['k']}"),
    "xgboost": _xgboost,
    "lightgbm": lambda f, p, form: Question("lightgbm", f"map@{re.findall(r'[0-9]+', f)[0]}"),
    "catboost": lambda f, p, form: Question("catboost", f),
    "rankeval-hpclab": lambda f, p, form: Question("rankeval", _called("MAP", "cutoff", p)),
    "rax": _simple("rax", how="topn"),
    "tensorflow-ranking": _simple("tensorflow-ranking", how="topn"),
    "keras-rs": _simple("keras-rs", how="k"),
    "tensorflow": _tensorflow,
    "llama-index-core": _simple(
        "llama-index",
        lambda f: {
            "AveragePrecision": "average_precision",
            "Precision": "precision",
            "Recall": "recall",
            "MRR": "mrr",
            "HitRate": "hit_rate",
        }[f],
    ),
    "ragas": _simple("ragas", lambda f: "context_precision"),
    "haystack-ai-2.31.0": _haystack("haystack-2"),
    "haystack-ai-3.4.0": _haystack("haystack"),
    "continuous-eval": _simple("continuous-eval", lambda f: "average_precision"),
    "pyvespa": lambda f, p, form: (
        Question("pyvespa", _last(f))
        if p["relevant_docs"] == "set"
        else "with grades only nDCG is returned"
    ),
    "quepid": lambda f, p, form: Question(
        "quepid", f"{f.removeprefix('scorer ').partition('@')[0]}@{p['k']}"
    ),
    "opensearch-search-relevance": lambda f, p, form: Question(
        "opensearch", f"{re.findall(r'calculate(.*)AtK', f)[0]}@{p['k']}"
    ),
    "py-faster-rcnn": _voc,
    "detectron2": _voc,
    "mmdet": _voc,
    "object-detection-metrics-padilla": _voc,
    "pycocotools": _coco,
    "ultralytics": lambda f, p, form: Question("ultralytics", "ap"),
    "scikit-learn-1.9.1": _sklearn,
    "scikit-learn-0.18.2": lambda f, p, form: (
        "a curve, not a number" if "curve" in f else Question("scikit-learn-0.18", f)
    ),
    "lightfm": _lightfm,
    "spotlight": _simple("spotlight", lambda f: re.findall(r"\[(\w+)\]", f)[0]),
    "surprise-examples-precision-recall-at-k-py": lambda f, p, form: Question(
        "surprise", f"{f}@{p['k']}", {"threshold": p["threshold"]}
    ),
}
"""How each recorded tool's function and options are asked for."""

TOLERANCE: dict[str, float] = {
    **dict.fromkeys(
        ("torchmetrics", "torcheval", "catalyst", "rax", "tensorflow-ranking", "keras-rs"), 2e-6
    ),
    **dict.fromkeys(("open-metric-learning", "torch-geometric", "lightfm", "mmdet"), 2e-6),
    "xgboost": 1e-5,
    "recometrics": 1e-6,
    "pytorch-metric-learning": 1e-7,
    "ragas": 1e-9,
    "tensorflow": 2e-6,
}
"""What tools compute in single precision, or print with so many digits."""


# --- What germane answers --------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """passed, unsupported (and why), or failed (and how)."""

    word: str
    says: str = ""


def _evaluated(data: Given, ask: Question) -> germane.MeasureResult:
    choices = dict(ask.choices)
    level = choices.pop("rel", None)
    dialect = named(ask.dialect)
    if "{R}" in ask.name:  # the largest R of a query
        most = max(sum(g >= 1 for g in _grades(judged)) for judged in data.qrels.values())
        ask = replace(ask, name=ask.name.replace("{R}", str(max(most, 1))))
    name: Any = ask.name
    if level is not None:
        measure = germane.parse(f"{dialect.name}:{ask.name}")
        foreign = dialect.find(ask.name)
        choices = {**(foreign.choices if foreign else {}), **choices}
        name = measure(rel=level) if measure.rel is not None else measure
    result = germane.evaluate(data.qrels, data.run, [name], dialect=dialect, **choices)
    return next(iter(result.values()))


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
    return one.per_query.get(query, math.nan)


def check(
    library: str, case: Case, function: Mapping[str, Any], answer: Mapping[str, Any]
) -> Outcome:
    """What germane makes of one recorded answer."""
    params = function.get("params") or {}
    ask = ASK[library](function["function"], params, function["input"])
    if ask is None or isinstance(ask, str):
        return Outcome("unsupported", ask or "")
    form = function["input"]
    if library == "revisitop" and form == "retrieved_only":
        form = "retrieved_only (R of all)"
    data = given(case, form, params)
    wrong = _wrong(data, ask, answer, TOLERANCE.get(library, 1e-9))
    if not wrong:
        return Outcome("passed")
    limit = next(_limits(named(ask.dialect), ask, data, _k(params)), None)
    if limit is not None:
        return Outcome("unsupported", limit.says)
    return Outcome("failed", f"{ask.dialect} {ask.name}: {wrong}")


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


def _wrong(data: Given, ask: Question, answer: Mapping[str, Any], tolerance: float) -> str:
    if "curve" in ask.choices:
        return _wrong_curve(data, ask.choices["curve"], answer, tolerance)
    try:
        result = _evaluated(data, ask)
    except germane.GermaneError as error:
        result, error_text = None, str(error)
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


def _limits(dialect: Dialect, ask: Question, data: Given, k: int | None) -> Iterator[Limit]:
    foreign = dialect.find(ask.name)
    own = foreign.name if foreign else ask.name
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
        case "no_relevant":
            return any(n == 0 for n in relevant.values())
        case "all_relevant":
            return any(n == len(data.run.get(q, ())) for q, n in relevant.items())
        case "empty":
            if choices.get("unjudged") == "remove":
                return any(not set(run) & set(data.qrels.get(q, ())) for q, run in data.run.items())
            return 0 in sizes or any(q not in data.run for q in data.qrels)
        case "short":
            return k is not None and any(size <= k for size in sizes)
        case "repeated":
            lists = [*data.run.values(), *data.qrels.values()]
            return any(isinstance(one, list) and len(set(one)) < len(one) for one in lists)
        case "missed":
            return any(_misses(data.run.get(q, ()), one, k) for q, one in data.qrels.items())
        case "rows":
            return False
        case "negative":
            return any(g < 0 for judged in data.qrels.values() for g in _grades(judged))
        case "other":
            return True
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
    ranked = sorted(run, key=lambda d: -run[d]) if isinstance(run, dict) else run
    relevant = {d for d, g in judged.items() if g >= 1} if isinstance(judged, dict) else judged
    return not set(ranked[:k]) & set(relevant)


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
    for function in recorded["functions"]:
        label = f"{function['function']} {function.get('params') or ''} [{function['input']}]"
        for name, answer in function["answers"].items():
            if name in cases:
                yield label, name, check(library, cases[name], function, answer)


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
