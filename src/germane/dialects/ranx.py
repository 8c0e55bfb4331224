"""ranx."""

from germane.dialects.dialect import Dialect, Foreign, Limit

RANX = Dialect(
    "ranx",
    tool="ranx",
    version="0.3.21",
    reading={"duplicates": "last"},
    judging={"ties": "given", "missing": "error", "unknown": "error", "empty": "error_if_all"},
    measuring=(
        Foreign("map", "AP(norm=R)"),
        Foreign("map@{k}", "AP(norm=R)@{k}"),
        Foreign("map-l{x}", "AP(norm=R,rel={x})"),
        Foreign("map@{k}-l{x}", "AP(norm=R,rel={x})@{k}"),
        Foreign("precision@{k}", "P@{k}"),
        Foreign("precision@{k}-l{x}", "P(rel={x})@{k}"),
        Foreign("recall@{k}", "R@{k}"),
        Foreign("recall@{k}-l{x}", "R(rel={x})@{k}"),
        Foreign("r-precision", "Rprec"),
        Foreign("bpref", "bpref", {"grades": "nonnegative", "all_relevant": "nan"}),
        Foreign("bpref-l{x}", "bpref(rel={x})", {"grades": "nonnegative", "all_relevant": "nan"}),
        Foreign("mrr", "RR"),
        Foreign("mrr@{k}", "RR@{k}"),
        Foreign("hit_rate@{k}", "Success@{k}"),
        Foreign("hits@{k}", "Utility(noise=0)@{k}"),
        Foreign("f1@{k}", "F@{k}"),
        Foreign("ndcg", "nDCG"),
        Foreign("ndcg@{k}", "nDCG@{k}"),
        Foreign("ndcg_burges", "nDCG(gain=exp)"),
        Foreign("ndcg_burges@{k}", "nDCG(gain=exp)@{k}"),
    ),
    why="The run and the qrels must have the same queries; make_comparable=True (missing=zero, "
    "unknown=ignore) takes those of the qrels. Equal scores keep the order of the dict. Where nothing is "
    "judged not relevant, bpref is 0/0. A run of empty lists alone is a ValueError. hits are averaged "
    "over queries.",
    source="metrics/average_precision.py, meta/evaluate.py",
    limits=(
        Limit(
            "tied_long",
            "Scores are sorted by an algorithm that does not keep the order of equal ones in longer "
            "lists.",
            order=True,
        ),
        Limit(
            "no_relevant",
            "A division by 0 that ends a thread: its other queries are 0.",
            only=("bpref", "bpref-l{x}"),
        ),
        Limit("repeated", "A frame with repeated rows is not refused, and counts every copy."),
    ),
)
