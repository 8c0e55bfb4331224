"""Each recorded function and its options, as a question in a dialect."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class Question:
    """A dialect, its name for a measure, and choices that an option of the tool makes."""

    dialect: str
    name: str
    choices: Mapping[str, Any] = field(default_factory=dict)


def cutoff(params: Mapping[str, Any]) -> Any:
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
    k = cutoff(params)
    return name if k is None else f"{name}@{k}"


def _called(name: str, word: str, params: Mapping[str, Any], more: str = "") -> str:
    k = cutoff(params)
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
    if function == "K":
        return "no measure"
    if function == "(error)":  # of all of them
        function = "AP@K"
    if function in ("PR_AUC", "ROC_AUC"):
        return Question("recometrics", function)
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


def _mteb(dialect: str) -> Asker:
    return lambda function, params, form: Question(dialect, function.partition(":")[2] or "MRR@3")


def _gdeval(function: str, params: Mapping[str, Any], form: str) -> Question:
    choices = {"missing": "zero"} if "-c" in params["flags"] else {}
    return Question("gdeval", _at(function, params), choices)


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
    "beir-custom": _simple("beir", _last),
    "mteb": _mteb("mteb"),
    "mteb-2.18.18": _mteb("mteb-2.18.18"),
    "gdeval": _gdeval,
    "unitxt": _simple("unitxt"),
    "mlflow": _simple("mlflow"),
    "phoenix": lambda f, p, form: Question("phoenix", _called(f, "k", p), {"relevant": "listed"}),
    "replay": _simple("replay"),
    "deepeval": _simple("deepeval"),
    "trulens": _simple("trulens", how="k"),
    "autorag": _simple("autorag"),
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
    **dict.fromkeys(("lenskit", "lenskit-2025.8"), _simple("lenskit-2025.8", how="n")),
    "lenskit-2026.4": _simple("lenskit-2026.4", how="n"),
    "evidently": _evidently,
    "torch-geometric": _simple("torch-geometric", how="k"),
    **dict.fromkeys(("torchmetrics", "torchmetrics-1.9.0"), _torchmetrics),
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
    "pyvespa": lambda f, p, form: Question(
        "pyvespa" if p["relevant_docs"] == "set" else "pyvespa-graded", _last(f)
    ),
    "quepid": lambda f, p, form: Question(
        "quepid", f"{f.removeprefix('scorer ').partition('@')[0]}@{p['k']}"
    ),
    "opensearch-search-relevance": lambda f, p, form: Question(
        "opensearch", f"{re.findall(r'calculate(.*)AtK', f)[0]}@{p['k']}"
    ),
    "longmemeval": _simple("longmemeval"),
    "mempalace": lambda f, p, form: (
        "an ideal ranking of the hits alone" if "ndcg" in f else Question("mempalace", _at(f, p))
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
        "surprise", f"{f}(k={p['k']},threshold={p['threshold']})"
    ),
}
"""How each recorded tool's function and options are asked for."""

TOLERANCE: dict[str, float] = {
    **dict.fromkeys(
        (
            "torchmetrics",
            "torchmetrics-1.9.0",
            "torcheval",
            "catalyst",
            "rax",
            "tensorflow-ranking",
            "keras-rs",
        ),
        2e-6,
    ),
    **dict.fromkeys(("open-metric-learning", "torch-geometric", "lightfm", "mmdet"), 2e-6),
    "xgboost": 1e-5,
    "gdeval": 6e-6,
    "recometrics": 1e-6,
    "pytorch-metric-learning": 1e-7,
    "ragas": 1e-9,
    "tensorflow": 2e-6,
}
"""What tools compute in single precision, or print with so many digits."""
