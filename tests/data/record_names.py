"""Record what tools answer under every name that they have for a measure of rankings.

    python tests/data/record_names.py DIALECT...

writes the answers of these dialects' tools into names.json beside this file. Needs ir_measures and cwl-eval,
ranx, RecTools, LensKit, scikit-learn, torchmetrics, or Surprise's example as ``surprise=PATH``, which is no
part of its package. Names are made from the tools' own parameters; data is random, with ties, missing
queries and grades below 0 where the tool takes them.
"""

import json
import random
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

JSON = Path(__file__).with_name("names.json")
CATALOG = 60
Data = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]
Answer = Callable[[str, Data], float]


def data(seed: int, low: int = 0) -> Data:
    """Judgments and a run, of which one may lack a query of the other."""
    rng = random.Random(seed)
    qrels, run = {}, {}
    for query in map(str, range(1, 6)):
        items = [f"d{i}" for i in range(rng.randint(1, 12))]
        grades = [low, 0, 1, 1, 2, 3]
        qrels[query] = {
            d: rng.choice(grades) for d in rng.sample(items, max(1, len(items) * 2 // 3))
        }
        pool = items + [f"u{i}" for i in range(rng.randint(0, 6))]
        listed = rng.sample(pool, rng.randint(1, len(pool)))
        whole = rng.sample(range(1, 1000), len(listed))
        scores = whole if seed % 2 else [rng.randint(1, 5) for _ in listed]
        run[query] = dict(zip(listed, map(float, scores), strict=True))
    if seed % 3 == 1:
        del run["3"]
    if seed % 3 == 2:
        del qrels["2"]
    return qrels, run


def call(name: str, *options: str) -> str:
    kept = ",".join(filter(None, options))
    return f"{name}({kept})" if kept else name


def combine(names: str, groups: list[list[str]], cuts: tuple[str, ...] = ("",)) -> Iterator[str]:
    for name, options, cut in product(names.split(), product(*groups), cuts):
        yield call(name, *options) + cut


# --- ir_measures ----------------------------------------------------------------------------------

RELEVANT, JUDGED, BOTH = ["", "rel=2"], ["", "judged_only=True"], ("", "@3")
SCALE = [["", "min_rel=1"], ["max_rel=4", "max_rel=2"]]
IR_MEASURES = [
    *combine("AP MAP", [RELEVANT, JUDGED], BOTH),
    *combine("P Precision R Recall Success", [RELEVANT, JUDGED], ("@3",)),
    *combine("RR MRR", [RELEVANT, JUDGED]),
    *combine("RR MRR", [RELEVANT], ("@3",)),
    *combine("nDCG NDCG", [["", "gains={1:3,2:1}"], JUDGED], BOTH),
    *combine("Rprec RPrec SetP SetRelP SetAP", [RELEVANT, JUDGED]),
    *combine("SetP", [["relative=True"], RELEVANT, JUDGED]),
    *combine("SetF", [RELEVANT, ["", "beta=0.5", "beta=2.0"], JUDGED]),
    *combine("Bpref BPref infAP SetR NumRet", [RELEVANT]),
    *combine("IPrec", [RELEVANT], ("@0.0", "@0.1", "@0.5", "@1.0")),
    *combine("Judged", [], BOTH),
    *("nDCG(dcg='exp-log2')@3", "ERR@3", "NumQ", "NumRel", "NumRelRet"),
    *combine("RBP", [["rel=1", "rel=2"], ["", "p=0.5"]]),
    *combine("INST INSQ NERR11", [["", "T=2.0"], *SCALE]),
    *combine("BPM", [["", "T=0.5"], *SCALE], ("@3", "@10")),
    *combine("SDCG NERR8 NERR9", SCALE, ("@4",)),
    *combine("NERR10", [["", "p=0.5"], *SCALE]),
    *combine("Accuracy", [RELEVANT], BOTH),
    *combine("Compat", [["", "p=0.5"], ["", "normalize=False"]]),
]


def ask_ir_measures(name: str, given: Data) -> float:
    import ir_measures

    qrels = [ir_measures.Qrel(q, d, g) for q, judged in given[0].items() for d, g in judged.items()]
    run = [
        ir_measures.ScoredDoc(q, d, s) for q, found in given[1].items() for d, s in found.items()
    ]
    measure = ir_measures.parse_measure(name)
    return float(ir_measures.calc_aggregate([measure], qrels, run)[measure])


# --- ranx -----------------------------------------------------------------------------------------

RANX = [
    *combine("hits hit_rate precision recall f1 mrr map dcg dcg_burges ndcg ndcg_burges", [],
             ("", "-l2", "@3", "@3-l2", "@20")),
    *combine("r-precision", [], ("", "-l2")),
    *("rbp.95", "rbp@95", "rbp.5", "rbp.95-l2"),
]  # fmt: skip


def ask_ranx(name: str, given: Data) -> float:
    import ranx

    qrels, run = ranx.Qrels(given[0]), ranx.Run(given[1])
    return float(ranx.evaluate(qrels, run, name, make_comparable=True))


# --- RecTools -------------------------------------------------------------------------------------

RECTOOLS = [
    name
    for k in (1, 3, 10)
    for name in (
        *combine("MAP", [[f"k={k}"], ["", "divide_by_k=True"]]),
        *combine("Precision", [[f"k={k}"], ["", "r_precision=True"]]),
        *combine("Recall MRR HitRate PartialAUC PAP", [[f"k={k}"]]),
        *combine("F1Beta", [[f"k={k}"], ["", "beta=0.5", "beta=2.0"]]),
        *combine("NDCG", [[f"k={k}"], ["", "log_base=3"], ["", "divide_by_achievable=True"]]),
        *combine("Accuracy MCC", [[f"k={k}"], [f"catalog={CATALOG}"]]),
    )
]


def read_call(name: str) -> tuple[str, dict[str, Any]]:
    base, _, inside = name.rstrip(")").partition("(")
    options = dict(re.findall(r"(\w+)=('?[\w.]+)", inside))
    return base, {key: read_value(value) for key, value in options.items()}


def read_value(written: str) -> Any:
    if written[0] == "'" or written == "True":
        return True if written == "True" else written[1:]
    return float(written) if "." in written else int(written)


def ask_rectools(name: str, given: Data) -> float:
    import pandas
    from rectools import Columns, metrics

    rows = [
        (q, d, i + 1)
        for q, run in given[1].items()
        for i, d in enumerate(sorted(run, key=lambda d: -run[d]))
    ]
    found = pandas.DataFrame(rows, columns=[Columns.User, Columns.Item, Columns.Rank])
    liked = [(q, d) for q, judged in given[0].items() for d, grade in judged.items() if grade > 0]
    wanted = pandas.DataFrame(liked, columns=[Columns.User, Columns.Item])
    base, options = read_call(name)
    catalog = [list(range(CATALOG))] if options.pop("catalog", None) else []
    return float(getattr(metrics, base)(**options).calc(found, wanted, *catalog))


# --- LensKit --------------------------------------------------------------------------------------

LENSKIT = [
    *combine("AveragePrecision Precision Recall RecipRank Hit", [["", "n=3", "n=10"]]),
    *combine("NDCG DCG", [["", "gain='rating'"], ["", "n=3", "n=10"]]),
    *combine("RBP", [["", "patience=0.5"], ["", "normalize=True"], ["", "n=3", "n=10"]]),
    "ListLength",
]
GAINS = [*combine("NDCG DCG", [["gain='rating'"], ["", "n=3", "n=10"]])]


def rate(seed: int, *ratings: float) -> Data:
    """Rate some items of each list, and one that is not in it; all ratings of the last user are 0."""
    rng, (_, run) = random.Random(seed), data(seed)
    judged = {
        query: {d: rng.choice(ratings) for d in [*list(found)[::2], "unlisted"]}
        for query, found in run.items()
    }
    last = next(reversed(judged))
    return {**judged, last: dict.fromkeys(judged[last], 0)}, make_relevant((judged, run))[1]


def ask_lenskit(name: str, given: Data) -> float:
    import numpy
    from lenskit import metrics
    from lenskit.data import ItemList
    from lenskit.metrics.ranking import AveragePrecision

    base, options = read_call(name)
    metric = AveragePrecision if base == "AveragePrecision" else getattr(metrics, base)
    values = []
    for query, judged in given[0].items():
        run = given[1].get(query)
        if run:
            found = ItemList(item_ids=sorted(run, key=lambda d: -run[d]), ordered=True)
            ratings = numpy.array(list(judged.values()), float)
            values.append(
                metric(**options).measure_list(
                    found, ItemList(item_ids=list(judged), rating=ratings)
                )
            )
    return float(sum(values) / len(values))


# --- Surprise -------------------------------------------------------------------------------------

SURPRISE = [
    *combine("precision recall", [["k=3", "k=10"], ["", "threshold=2", "threshold=4"]]),
    *combine("precision recall", [], ("@3", "@10")),
]
EXAMPLE: list[str] = []  # the path of Surprise's function


def estimate(seed: int) -> Data:
    """Ratings from .5 to 5, and an estimate of each; some are equal."""
    rng, (judged, _) = random.Random(seed), data(seed)
    qrels = {user: {d: rng.randint(1, 10) / 2 for d in items} for user, items in judged.items()}
    run = {
        user: {d: round(rating + rng.gauss(0, 1), 1) for d, rating in ratings.items()}
        for user, ratings in qrels.items()
    }
    return qrels, run


def ask_surprise(name: str, given: Data) -> float:
    import ast

    tree = ast.parse(Path(EXAMPLE[0]).read_text("utf-8"))  # which trains a model below its function
    tree.body = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    scope: dict[str, Any] = {"defaultdict": defaultdict}
    exec(compile(tree, EXAMPLE[0], "exec"), scope)
    base, _, cutoff = name.partition("@")
    base, options = (base, {"k": int(cutoff)}) if cutoff else read_call(name)
    rows = [
        (user, d, given[0][user][d], score, {})
        for user, run in given[1].items()
        for d, score in run.items()
    ]
    both = scope["precision_recall_at_k"](rows, **options)
    values = dict(zip(("precision", "recall"), both, strict=True))[base]
    return float(sum(values.values()) / len(values))


# --- scikit-learn and torchmetrics, which see whole lists -------------------------------------------

SKLEARN = [
    *combine("ndcg_score", [["", "k=2", "k=5"]]),
    *combine("dcg_score", [["", "log_base=10"], ["", "k=2", "k=5"]]),
    *("coverage_error", "label_ranking_loss", "label_ranking_average_precision_score"),
    *("roc_auc_score", "average_precision_score"),
]
TORCHMETRICS = [
    *combine(
        "RetrievalMAP RetrievalMRR RetrievalPrecision RetrievalRecall RetrievalHitRate "
        "RetrievalNormalizedDCG RetrievalFallOut RetrievalAUROC",
        [["", "top_k=1", "top_k=3", "top_k=8"]],
    ),
    "RetrievalRPrecision",
]


def listed(seed: int, tied: bool, scores: tuple[int, int] = (0, 60)) -> Data:
    """Lists of one length, all of whose items are judged."""
    rng = random.Random(seed)
    n, qrels, run = rng.randint(3, 8), {}, {}
    for query in map(str, range(5)):
        items = [f"d{i}" for i in range(n)]
        qrels[query] = {d: rng.choice((0, 0, 1)) for d in items}
        qrels[query]["d0"], qrels[query]["d1"] = 0, 1
        values = [rng.randint(1, 4) for _ in items] if tied else rng.sample(range(*scores), n)
        run[query] = dict(zip(items, (value / 16 for value in values), strict=True))
    return qrels, run


def ask_sklearn(name: str, given: Data) -> float:
    import numpy
    import sklearn.metrics

    truth = numpy.array([list(judged.values()) for judged in given[0].values()])
    scores = numpy.array([list(run.values()) for run in given[1].values()])
    base, options = read_call(name)
    function = getattr(sklearn.metrics, base)
    if base in ("roc_auc_score", "average_precision_score"):  # of one sample
        return float(numpy.mean([function(*one) for one in zip(truth, scores, strict=True)]))
    return float(function(truth, scores, **options))


def ask_torchmetrics(name: str, given: Data) -> float:
    import torch
    import torchmetrics.retrieval

    rows = [(int(q), run[d], given[0][q][d]) for q, run in given[1].items() for d in run]
    at, scores, truth = (torch.tensor(column) for column in zip(*rows, strict=True))
    base, options = read_call(name)
    return float(getattr(torchmetrics.retrieval, base)(**options)(scores, truth, indexes=at))


# --- All of them ----------------------------------------------------------------------------------


def record(dialect: str, names: list[str], ask: Answer, several: list[Data]) -> dict[str, Any]:
    cases = []
    for qrels, run in several:
        answers = {}
        for name in dict.fromkeys(names):
            try:
                answers[name] = float(f"{ask(name, (qrels, run)):.12g}")
            except ZeroDivisionError:
                answers[name] = None
        cases.append({"qrels": qrels, "run": run, "answers": answers})
    return {"dialect": dialect, "cases": cases}


def make_relevant(given: Data) -> Data:
    qrels = {q: {d: max(g, 1) for d, g in judged.items()} for q, judged in given[0].items()}
    order = {q: sorted(run, key=lambda d: -run[d]) for q, run in given[1].items()}
    return qrels, {q: {d: -float(i) for i, d in enumerate(items)} for q, items in order.items()}


RELEVANT_LISTS = [make_relevant(data(seed)) for seed in (1, 2, 3)]
TOOLS: dict[str, list[tuple[list[str], Answer, list[Data]]]] = {
    "ir_measures": [(IR_MEASURES, ask_ir_measures, [data(1, -1), data(2), data(4), data(5, -1)])],
    "ranx": [(RANX, ask_ranx, [data(1), data(4), data(5)])],
    "rectools": [(RECTOOLS, ask_rectools, RELEVANT_LISTS)],
    "lenskit-2025.8": [
        (LENSKIT, ask_lenskit, RELEVANT_LISTS),
        (GAINS, ask_lenskit, [rate(seed, 0, 1, 2.5) for seed in (3, 6)]),
    ],
    "lenskit-2026.4": [
        (LENSKIT, ask_lenskit, RELEVANT_LISTS),
        (GAINS, ask_lenskit, [rate(seed, -2, -0.5, 0, 1, 2.5) for seed in (3, 6)]),
    ],
    "scikit-learn": [(SKLEARN, ask_sklearn, [listed(s, s < 4) for s in (1, 2, 3, 4)])],
    "torchmetrics": [
        (TORCHMETRICS, ask_torchmetrics, [listed(s, False, (-9, 60)) for s in (1, 2, 3)])
    ],
    "surprise": [(SURPRISE, ask_surprise, [estimate(seed) for seed in (3, 6)])],
}
"""What each tool is asked, how, and on which data."""


def main(asked: list[str]) -> None:
    warnings.simplefilter("ignore")
    told = {one["dialect"]: one for one in json.loads(JSON.read_text("utf-8"))}
    for dialect, _, path in (one.partition("=") for one in asked):
        EXAMPLE[:] = [path]
        several = [record(dialect, *one) for one in TOOLS[dialect]]
        cases = [case for one in several for case in one["cases"]]
        told[dialect] = {"dialect": dialect, "cases": cases}
    every = [told[dialect] for dialect in TOOLS if dialect in told]
    JSON.write_text(json.dumps(every, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
