# ruff: noqa
"""Measures as people write them, for ``bench/identify.py``: the definition, the form of the data, the function.

They follow answers in forums and trackers, notebooks, and the code of frameworks; each is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

FUNCTIONS: list[tuple[Callable[..., Any], str, str, dict[str, Any]]] = []


def computes(measure: str, takes: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.append((function, measure, takes, options))
        return function

    return keep


@computes("AP@10", "ids")
def apk(actual, predicted, k=10):
    if len(predicted) > k:
        predicted = predicted[:k]
    score = 0.0
    num_hits = 0.0
    for i, p in enumerate(predicted):
        if p in actual and p not in predicted[:i]:
            num_hits += 1.0
            score += num_hits / (i + 1.0)
    if not actual:
        return 0.0
    return score / min(len(actual), k)


@computes("AP@10", "lists")
def mapk(a, p):
    return np.mean([apk(x, y) for x, y in zip(a, p)])


@computes("AP(norm=found)@10", "ids")
def my_map(rel, ranked):
    hits = 0
    s = 0
    for i, d in enumerate(ranked[:10], 1):
        if d in rel:
            hits += 1
            s += hits / i
    return s / hits if hits else 0.0


@computes("nDCG@10", "grades")
def ndcg_np(r, k=10):
    r = np.asarray(r, float)

    def dcg(r):
        r = r[:k]
        return (r / np.log2(np.arange(2, r.size + 2))).sum()

    best = dcg(np.sort(r)[::-1])
    return dcg(r) / best if best else 0.0


@computes("DCG@10", "grades")
def dcg0(r):
    return sum(g / math.log2(i + 2) for i, g in enumerate(r[:10]))


@computes("DCG(gain=exp)@10", "grades")
def dcge(r):
    return sum((2**g - 1) / math.log2(i + 2) for i, g in enumerate(r[:10]))


@computes("nDCG(gain=exp)@5", "grades")
def ndcge(r):
    d = lambda r: sum((2**g - 1) / math.log2(i + 2) for i, g in enumerate(r[:5]))
    b = d(sorted(r, reverse=True))
    return d(r) / b if b > 0 else 0


@computes("nDCG@10", "ids")
def bin_ndcg(rel, ran):
    rel = set(rel)
    d = sum(1 / math.log2(i + 2) for i, x in enumerate(ran[:10]) if x in rel)
    b = sum(1 / math.log2(i + 2) for i in range(min(10, len(rel))))
    return d / b if b else 0.0


@computes("nDCG(norm=k)@10", "ids")
def ideal_k(rel, ran):
    d = sum(1 / math.log2(i + 2) for i, x in enumerate(ran[:10]) if x in rel)
    return d / sum(1 / math.log2(i + 2) for i in range(10))


@computes("P@5", "ids")
def pset(rel, ran):
    return len(set(rel) & set(ran[:5])) / 5


@computes("R@5", "ids")
def rset(rel, ran):
    return len(set(rel) & set(ran[:5])) / len(set(rel)) if rel else float("nan")


@computes("R@5", "ids")
def rset2(rel, ran):
    return len(rel & set(ran[:5])) / len(rel)


@computes("Success@3", "ids")
def hit(rel, ran):
    return any(x in rel for x in ran[:3])


@computes("RR@10", "ids")
def mrr(rel, ran):
    for i, x in enumerate(ran[:10]):
        if x in rel:
            return 1 / (i + 1)
    return 0


@computes("F@5", "ids")
def f1(rel, ran):
    p = len(set(rel) & set(ran[:5])) / 5
    r = len(set(rel) & set(ran[:5])) / len(rel) if rel else 0
    return 2 * p * r / (p + r) if p + r else 0.0


@computes("Rprec", "ids")
def rp(rel, ran):
    R = len(rel)
    return len(set(ran[:R]) & set(rel)) / R


@computes("RBP(p=0.8)", "ids")
def rbp(rel, ran):
    return 0.2 * sum(0.8**i for i, x in enumerate(ran) if x in rel)


@computes("ERR(max=3)@10", "grades")
def err(r):
    p = 1
    s = 0
    for i, g in enumerate(r[:10], 1):
        q = (2**g - 1) / 8
        s += p * q / i
        p *= 1 - q
    return s


@computes("AP(norm=R)@10", "lists")
def mapR(A, P):
    out = []
    for rel, ran in zip(A, P):
        h = s = 0
        for i, x in enumerate(ran[:10], 1):
            if x in rel:
                h += 1
                s += h / i
        if rel:
            out.append(s / len(rel))
    return np.mean(out) if out else np.nan


@computes("RR", "lists")
def mrrs(A, P):
    return np.array([next((1 / i for i, x in enumerate(p, 1) if x in a), 0) for a, p in zip(A, P)])


@computes("MeanP@10", "ids")
def meanp(rel, ran):
    return np.mean([len(set(ran[:i]) & set(rel)) / i for i in range(1, 11)])


@computes("nDCG@10", "dicts")
def ndd(q, r):
    o = {}
    for k in q:
        ran = sorted(r.get(k, {}), key=lambda d: (-r[k][d], d))[:10]
        d = sum(q[k].get(x, 0) / math.log2(i + 2) for i, x in enumerate(ran))
        b = sum(
            g / math.log2(i + 2) for i, g in enumerate(sorted(q[k].values(), reverse=True)[:10])
        )
        o[k] = d / b if b else 0.0
    return o


@computes("AP@10", "dicts")
def apd(q, r):
    t = []
    for k in q:
        rel = {d for d, g in q[k].items() if g > 0}
        if not rel:
            continue
        ran = [d for d, _ in sorted(r[k].items(), key=lambda t: t[1], reverse=True)][:10]
        h = s = 0
        for i, x in enumerate(ran, 1):
            if x in rel:
                h += 1
                s += h / i
        t.append(s / min(len(rel), 10))
    return sum(t) / len(t)


@computes("P@10", "frames")
def pf(q, r):
    m = (
        r.sort_values(["query", "score"], ascending=[True, False])
        .groupby("query")
        .head(10)
        .merge(q[q.relevance > 0], on=["query", "item"])
    )
    return m.groupby("query").size().reindex(q["query"].unique(), fill_value=0).mean() / 10


@computes("R@10", "trec", decimals=4)
def rt(qp, rp_):
    q = {}
    r = {}
    for l in open(qp):
        a, _, d, g = l.split()
        if float(g) > 0:
            q.setdefault(a, set()).add(d)
    for l in open(rp_):
        a, _, d, k, s, _ = l.split()
        r.setdefault(a, []).append(d)
    return round(np.mean([len(set(r.get(a, [])[:10]) & q[a]) / len(q[a]) for a in q]), 4)


@computes("nDCG@10", "arrays")
def nda(y, s):
    o = np.argsort(-s, kind="stable")[:10]
    d = 1 / np.log2(np.arange(2, 12))
    g = y[o]
    i = np.sort(y)[::-1][:10]
    b = (i * d[: len(i)]).sum()
    return (g * d[: len(g)]).sum() / b if b else 0.0


@computes("nDCG@5", "matrix", tolerance=1e-5)
def ndm(y, s):
    o = np.argsort(-s, axis=1)[:, :5]
    g = np.take_along_axis(y, o, 1)
    d = 1 / np.log2(np.arange(2, 2 + g.shape[1]))
    i = -np.sort(-y, axis=1)[:, :5]
    return ((g * d).sum(1) / (i * d).sum(1)).astype(np.float32)


@computes("RR@10", "matrix")
def rrm(y, s):
    o = np.argsort(-s, axis=1)[:, :10]
    g = np.take_along_axis(y, o, 1) > 0
    return np.where(g.any(1), 1 / (g.argmax(1) + 1), 0).mean()


@computes("AP@10", "graded")
def apg(q, ran):
    rel = {d for d in q if q[d] > 0}
    h = s = 0
    for i, x in enumerate(ran[:10], 1):
        if x in rel:
            h += 1
            s += h / i
    return s / min(len(rel), 10) if rel else 0.0


@computes("AP", "grades")
def apgist(r):
    r = np.asarray(r) != 0
    out = [np.mean(r[: k + 1]) for k in range(r.size) if r[k]]
    return np.mean(out) if out else 0.0


@computes("P@5", "grades")
def psum(r):
    return sum(r[:5]) / 5


@computes("P(norm=retrieved)@5", "grades")
def pmean(r):
    return np.mean(r[:5])


@computes("RR@10", "grades")
def rrg(r):
    for i, g in enumerate(r[:10], 1):
        if g:
            return 1 / i
    return 0


@computes("AP@10", "grades")
def ap_bin(r):
    h = s = 0
    for i, g in enumerate(r[:10], 1):
        if g == 1:
            h += 1
            s += h / i
    n = min(sum(r), 10)
    return s / n if n else 0


@computes("P(rel=2)@5", "grades")
def prel2(r):
    return sum(g >= 2 for g in r[:5]) / 5


@computes("nDCG(discount=jarvelin)@10", "grades")
def ndj(r):
    d = lambda r: sum(g if i == 0 else g / math.log2(i + 1) for i, g in enumerate(r[:10]))
    b = d(sorted(r)[::-1])
    return d(r) / b if b else 0


@computes("bpref", "graded")
def bpref(q, ran):
    R = sum(g > 0 for g in q.values())
    N = sum(g <= 0 for g in q.values())
    if not R:
        return 0.0
    n = 0
    s = 0.0
    for d in ran:
        if d in q:
            if q[d] > 0:
                s += 1 - (min(n, R) / min(R, N) if n else 0)
            else:
                n += 1
    return s / R


@computes("R(norm=min)@10", "ids")
def rcap(rel, ran):
    return sum(x in rel for x in ran[:10]) / min(10, len(rel))


@computes("P(norm=retrieved)@10", "ids")
def pret(rel, ran):
    t = ran[:10]
    return sum(x in rel for x in t) / len(t)


@computes("AUROC", "arrays")
def auc(y, s):
    from sklearn.metrics import roc_auc_score

    return roc_auc_score(y > 0, s)


@computes("AP@1000", "ids")
def ap1000(rel, ran):
    rel = set(rel)
    h = s = 0
    for i, x in enumerate(ran[:1000], 1):
        if x in rel:
            h += 1
            s += h / i
    return s / min(len(rel), 1000) if rel else 0.0
