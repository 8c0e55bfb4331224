"""Other tools, asked themselves: each is given qrels and a run, and tells what it makes of them.

A tool that is not installed raises ImportError. What a tool cannot be given (a query without
results, where it has no way to say so) is left out of what it is asked.
"""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance_asked import Question
from conformance_given import Given


@dataclass
class Told:
    """What a tool was asked and given, and its answer: ``per_query``, ``aggregate`` or ``error``."""

    ask: Question
    given: Given
    answer: dict[str, Any]


Tool = Callable[[Given], Iterator[Told]]
CUTOFFS = (1, 3, 10)


def told(dialect: str, name: str, given: Given, values: Any, **choices: Any) -> Told:
    """Values of queries, or one value of the whole."""
    answer = {"per_query": values} if isinstance(values, Mapping) else {"aggregate": values}
    return Told(Question(dialect, name, choices), given, answer)


# --- Dicts of qrels and a run ----------------------------------------------------------------------


def pytrec_eval(given: Given) -> Iterator[Told]:
    import pytrec_eval as tool

    cuts = ",".join(map(str, CUTOFFS))
    names = {f"{one}.{cuts}" for one in ("P", "recall", "map_cut", "ndcg_cut", "success")}
    names |= {
        "map",
        "recip_rank",
        "Rprec",
        "bpref",
        "infAP",
        "ndcg",
        "11pt_avg",
        "set_P",
        "set_map",
    }
    names |= {"num_rel_ret", "iprec_at_recall", "set_recall"}
    for level in (1, 2):
        answers = tool.RelevanceEvaluator(given.qrels, names, level).evaluate(given.run)
        shown = {name for values in answers.values() for name in values}
        for name in shown:
            values = {query: answer[name] for query, answer in answers.items()}
            yield told("pytrec_eval", name, given, values, **({"rel": 2} if level == 2 else {}))


def ranx(given: Given) -> Iterator[Told]:
    import ranx as tool

    names = ["map", "mrr", "r-precision", "ndcg", "ndcg_burges", "bpref"]
    names += [
        f"{one}@{k}"
        for k in CUTOFFS
        for one in ("map", "precision", "recall", "mrr", "hit_rate", "hits", "f1", "ndcg")
    ]
    names += [f"map@3-l{level}" for level in (1, 2)]
    qrels = tool.Qrels({q: dict(judged) for q, judged in given.qrels.items()})
    run = tool.Run({q: dict(scores) for q, scores in given.run.items()})
    tool.evaluate(qrels, run, names, make_comparable=True)
    for name in names:
        yield told("ranx", name, given, dict(run.scores[name]), missing="zero", unknown="ignore")


def ir_measures(given: Given) -> Iterator[Told]:
    import ir_measures as tool

    names = [
        "AP",
        "RR",
        "Rprec",
        "Bpref",
        "nDCG",
        "infAP",
        "SetP",
        "SetR",
        "AP(rel=2)",
        "IPrec@0.5",
    ]
    names += [f"{one}@{k}" for k in CUTOFFS for one in ("AP", "P", "R", "RR", "nDCG", "Success")]
    # judged_only=True is left out: pytrec_eval-terrier 0.5.11 may never return from it
    names += ["P(rel=2)@3", "RR(rel=2)", "Bpref(rel=2)"]
    found: dict[str, dict[str, float]] = {name: {} for name in names}
    asked = {tool.parse_measure(name): name for name in names}
    for one in tool.iter_calc(list(asked), given.qrels, given.run):
        found[asked[one.measure]][one.query_id] = one.value
    for name, values in found.items():
        yield told("ir_measures", name, given, values)


def gdeval(given: Given) -> Iterator[Told]:
    """ir_measures' exponential nDCG, by a script in Perl."""
    import ir_measures as tool

    name = "nDCG(dcg='exp-log2')@3"
    try:
        found = list(tool.iter_calc([tool.parse_measure(name)], given.qrels, given.run))
    except subprocess.CalledProcessError as error:
        yield Told(Question("ir_measures", name), given, {"error": str(error)})
    else:
        yield told("ir_measures", name, given, {one.query_id: one.value for one in found})


def beir(given: Given) -> Iterator[Told]:
    from beir.retrieval.evaluation import EvaluateRetrieval

    run = {q: dict(scores) for q, scores in given.run.items()}
    found = EvaluateRetrieval.evaluate(given.qrels, run, list(CUTOFFS))
    for name, value in ((name, value) for some in found for name, value in some.items()):
        yield told("beir", name, given, value)


def trectools(given: Given) -> Iterator[Told]:
    import pandas as pd
    import trectools as tool

    judged = [(q, "0", d, g) for q, one in given.qrels.items() for d, g in one.items()]
    rows = [(q, "Q0", d, 0, s, "run") for q, one in given.run.items() for d, s in one.items()]
    qrels, run = tool.TrecQrel(), tool.TrecRun()
    qrels.qrels_data = pd.DataFrame(judged, columns=["query", "q0", "docid", "rel"])
    columns = ["query", "q0", "docid", "rank", "score", "system"]
    run.run_data = pd.DataFrame(rows, columns=columns)
    evaluation = tool.TrecEval(run, qrels)
    for name in ("map", "precision", "recall", "bpref", "rprec", "reciprocal_rank"):
        for k in CUTOFFS if name in ("map", "precision", "recall") else (None,):
            ask = Question("trectools", name if k is None else f"{name}@{k}")
            depth = {} if k is None else {"depth": k}
            try:
                value = float(getattr(evaluation, f"get_{name}")(**depth))
            except KeyError as error:
                yield Told(ask, given, {"error": str(error)})
            else:
                yield Told(ask, given, {"aggregate": value})


# --- The labels and scores of one list at a time ---------------------------------------------------


@dataclass
class Labels:
    """One query: relevance and scores of the same items, as one array each."""

    query: str
    given: Given
    labels: np.ndarray[Any, Any]
    scores: np.ndarray[Any, Any]


def labeled(given: Given, *, most: int = 1) -> Iterator[Labels]:
    """Each answered query alone: its retrieved items, unjudged ones as not relevant."""
    for query, scores in given.run.items():
        if scores and query in given.qrels:
            grades = {d: min(max(given.qrels[query].get(d, 0), 0), most) for d in scores}
            one = Given({query: grades}, {query: scores})
            arrays = np.array(list(grades.values())), np.array(list(scores.values()), float)
            yield Labels(query, one, *arrays)


def scikit_learn(given: Given) -> Iterator[Told]:
    from sklearn import metrics as tool

    for one in labeled(given):
        arrays = one.labels, one.scores
        value = tool.average_precision_score(*arrays)
        yield told("scikit-learn", "average_precision_score", one.given, value)
        value = tool.label_ranking_average_precision_score(*(a[None] for a in arrays))
        yield told("scikit-learn", "label_ranking_average_precision_score", one.given, value)
        precision, recall, _ = tool.precision_recall_curve(*arrays)
        value = tool.auc(recall, precision)
        yield told("scikit-learn", "auc(precision_recall_curve)", one.given, value)
    for one in labeled(given, most=3):
        for k in CUTOFFS if len(one.labels) > 1 else ():
            value = tool.ndcg_score(one.labels[None], one.scores[None], k=k)
            yield told("scikit-learn", f"ndcg_score(k={k})", one.given, value)


def torchmetrics(given: Given) -> Iterator[Told]:
    import torch
    from torchmetrics import retrieval
    from torchmetrics.functional import classification

    names = ("MAP", "Precision", "Recall", "MRR", "HitRate", "RPrecision", "NormalizedDCG")
    lists = list(labeled(given))
    qrels = {one.query: one.given.qrels[one.query] for one in lists}
    whole = Given(qrels, {one.query: one.given.run[one.query] for one in lists})
    if not lists:
        return
    scores = torch.tensor(np.concatenate([one.scores for one in lists]), dtype=torch.float32)
    labels = torch.tensor(np.concatenate([one.labels for one in lists]))
    owner = torch.tensor(np.repeat(np.arange(len(lists)), [len(one.labels) for one in lists]))
    for name in names:
        for k in (None,) if name == "RPrecision" else (None, *CUTOFFS):
            cut = {} if k is None else {"top_k": k}
            for action, word in (("neg", "zero"), ("pos", "one"), ("skip", "skip")):
                metric = getattr(retrieval, f"Retrieval{name}")(empty_target_action=action, **cut)
                value = float(metric(scores, labels, indexes=owner))
                called = f"Retrieval{name}" + ("" if k is None else f"(top_k={k})")
                yield told("torchmetrics", called, whole, value, no_relevant=word)
    for one in lists:
        value = classification.binary_average_precision(
            torch.tensor(one.scores, dtype=torch.float32), torch.tensor(one.labels)
        )
        yield told("torchmetrics", "BinaryAveragePrecision", one.given, abs(float(value)))


def torcheval(given: Given) -> Iterator[Told]:
    import torch
    from torcheval.metrics import functional as tool

    for one in labeled(given):
        scores, labels = torch.tensor(one.scores, dtype=torch.float32), torch.tensor(one.labels)
        for k in CUTOFFS:
            value = float(tool.retrieval_precision(scores, labels, k=k))
            yield told("torcheval", f"retrieval_precision(k={k})", one.given, value)
            value = float(tool.retrieval_precision(scores, labels, k=k, limit_k_to_size=True))
            name = f"retrieval_precision(k={k},limit_k_to_size=True)"
            yield told("torcheval", name, one.given, value)
        value = float(tool.binary_auprc(scores, labels))
        yield told("torcheval", "binary_auprc", one.given, value)


def rax(given: Given) -> Iterator[Told]:
    import rax as tool

    for one in labeled(given, most=3):
        arrays = one.scores.astype(np.float32), one.labels.astype(np.float32)
        for name in ("ap_metric", "precision_metric", "recall_metric"):
            for k in CUTOFFS:
                value = float(getattr(tool, name)(*arrays, topn=k))
                yield told("rax", f"{name}(topn={k})", one.given, value)


def cornac(given: Given) -> Iterator[Told]:
    from cornac.metrics import MAP

    for one in labeled(given):
        items, hits = np.arange(len(one.labels)), np.flatnonzero(one.labels)
        if len(hits):
            value = MAP().compute(item_indices=items, pd_scores=one.scores, gt_pos=hits)
            yield told("cornac", "MAP", one.given, float(value))


def catboost(given: Given) -> Iterator[Told]:
    from catboost.utils import eval_metric

    names = [
        "MAP",
        *(f"{one}:top={k}" for k in CUTOFFS for one in ("MAP", "PrecisionAt", "RecallAt", "MRR")),
    ]
    gains = [f"{one}:type={kind}" for one in ("DCG", "NDCG") for kind in ("Base", "Exp")]
    gains += [f"{name};top={k}" for name in gains for k in CUTOFFS]
    for most, asked in ((1, names), (3, gains)):
        for one in labeled(given, most=most):
            group = np.zeros(len(one.labels), int)
            for name in asked:
                value = eval_metric(one.labels, one.scores, name, group_id=group)[0]
                yield told("catboost", name, one.given, value)


def lightgbm(given: Given) -> Iterator[Told]:
    import lightgbm as tool

    for one, metric in (
        *((one, "map") for one in labeled(given)),
        *((one, "ndcg") for one in labeled(given, most=3)),
    ):
        n = len(one.labels)
        data = {"label": one.labels, "group": [n], "init_score": one.scores}
        train = tool.Dataset(np.zeros((n, 1)), **data, free_raw_data=False)
        settings = {"objective": "lambdarank", "metric": metric, "eval_at": list(CUTOFFS)}
        settings |= {"min_data_in_bin": 1, "verbosity": -1, "min_data_in_leaf": 1}
        booster = tool.Booster(settings, train)
        for _, name, value, _ in booster.eval(train, "list"):
            yield told("lightgbm", name, one.given, value)


def xgboost(given: Given) -> Iterator[Told]:
    import xgboost as tool

    names = [
        f"{one}@{k}{end}" for k in CUTOFFS for one in ("map", "pre", "ndcg") for end in ("", "-")
    ]
    for one in labeled(given):
        n = len(one.labels)
        data = tool.DMatrix(np.zeros((n, 1)), label=one.labels, base_margin=one.scores)
        data.set_group([n])
        asked = [name for name in names if not name.startswith("pre") or name[-1] != "-"]
        booster = tool.Booster({"objective": "rank:pairwise", "eval_metric": asked}, [data])
        for printed in booster.eval(data, "list").split("\t")[1:]:
            name, _, value = printed.removeprefix("list-").rpartition(":")
            yield told("xgboost", name, one.given, float(value))


def recometrics(given: Given) -> Iterator[Told]:
    import recometrics as tool
    from scipy.sparse import csr_array

    names = {"AP@K": "average_precision", "TAP@K": "trunc_average_precision", "P@K": "precision"}
    names |= {"R@K": "recall", "TP@K": "trunc_precision", "NDCG@K": "ndcg", "Hit@K": "hit"}
    for one in labeled(given):
        n = len(one.labels)
        factors = one.scores.astype(float)[:, None]
        for k in (k for k in CUTOFFS if 1 < k <= n and one.labels.any() and not one.labels.all()):
            frame = tool.calc_reco_metrics(
                None,
                csr_array(one.labels[None].astype(float)),
                np.ones((1, 1)),
                factors,
                k=k,
                **dict.fromkeys(names.values(), True),
                break_ties_with_noise=False,
                nthreads=1,
            )
            for name in names:
                yield told("recometrics", f"{name}(k={k})", one.given, frame[f"{name[:-1]}{k}"][0])


# --- Ranked lists ----------------------------------------------------------------------------------


def ranked(given: Given) -> Iterator[Given]:
    """Each query alone, as a ranked list and a list of what is relevant."""
    for query, scores in given.run.items():
        if query in given.qrels:
            relevant = [d for d, grade in given.qrels[query].items() if grade >= 1]
            listed = sorted(scores, key=lambda d: -scores[d])
            yield Given({query: relevant}, {query: listed})


def _lists(given: Given) -> tuple[list[str], list[str]]:
    (relevant,), (listed,) = given.qrels.values(), given.run.values()
    return relevant, listed


def recmetrics(given: Given) -> Iterator[Told]:
    from recmetrics import mark

    for one in ranked(given):
        relevant, listed = _lists(one)
        for k in CUTOFFS:
            yield told("recmetrics", f"mark@{k}", one, float(mark([relevant], [listed], k=k)))


def pyvespa(given: Given) -> Iterator[Told]:
    from vespa.evaluation import VespaEvaluator

    for one in ranked(given):
        relevant, listed = _lists(one)
        evaluator = VespaEvaluator.__new__(VespaEvaluator)
        evaluator.precision_at_k = evaluator.recall_at_k = evaluator.map_at_k = list(CUTOFFS)
        evaluator.accuracy_at_k = evaluator.mrr_at_k = evaluator.ndcg_at_k = list(CUTOFFS)
        evaluator.queries_ids, evaluator.relevant_docs = ["q"], {"q": set(relevant)}
        evaluator.searchtimes = []
        for name, value in evaluator._compute_metrics([[(d, 0.0) for d in listed]]).items():
            yield told("pyvespa", name, one, value)


def lenskit(given: Given) -> Iterator[Told]:
    from lenskit.data import ItemList
    from lenskit.metrics.ranking import AveragePrecision, Precision, Recall, RecipRank

    for one in ranked(given):
        relevant, listed = _lists(one)
        if not relevant or not listed:
            continue
        got, test = ItemList(item_ids=listed, ordered=True), ItemList(item_ids=relevant)
        for k in CUTOFFS:
            for metric in (AveragePrecision, Precision, Recall, RecipRank):
                value = metric(n=k).measure_list(got, test)
                yield told("lenskit", f"{metric.__name__}(n={k})", one, float(value))


def rectools(given: Given) -> Iterator[Told]:
    import pandas as pd
    from rectools import metrics as tool

    bought = [(q, d) for q, one in given.qrels.items() for d, grade in one.items() if grade >= 1]
    rows = [
        (q, d, rank)
        for q, one in given.run.items()
        for rank, d in enumerate(sorted(one, key=lambda d: -one[d]), 1)
    ]
    interactions = pd.DataFrame(bought, columns=["user_id", "item_id"])
    reco = pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])
    relevant = {q: [d for d, g in one.items() if g >= 1] for q, one in given.qrels.items()}
    lists = {q: sorted(one, key=lambda d: -one[d]) for q, one in given.run.items()}
    whole = Given(relevant, lists)
    for k in CUTOFFS:
        asked = {
            f"MAP(k={k})": tool.MAP(k=k),
            f"MAP(k={k},divide_by_k=True)": tool.MAP(k=k, divide_by_k=True),
            f"Precision(k={k})": tool.Precision(k=k),
            f"Precision(k={k},r_precision=True)": tool.Precision(k=k, r_precision=True),
            f"Recall(k={k})": tool.Recall(k=k),
            f"MRR(k={k})": tool.MRR(k=k),
        }
        for name, metric in asked.items():
            yield told("rectools", name, whole, float(metric.calc(reco, interactions)))


TOOLS: tuple[Tool, ...] = (
    pytrec_eval,
    ranx,
    ir_measures,
    gdeval,
    beir,
    trectools,
    scikit_learn,
    torchmetrics,
    torcheval,
    rax,
    cornac,
    catboost,
    lightgbm,
    xgboost,
    recometrics,
    recmetrics,
    pyvespa,
    lenskit,
    rectools,
)
