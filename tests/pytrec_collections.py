"""Collections for pytrec_eval: random ones, and calls with odd arguments."""

import random
from typing import Any, NamedTuple

from germane import pytrec_eval

CUT = ("P", "recall", "map_cut", "ndcg_cut", "success", "relative_P")
LEVEL = ("iprec_at_recall", "Rprec_mult", "11pt_avg", "set_F", "utility", "relstring")
NUMBERS = ("0", "0.1", "0.25", "0.333", "0.5", "0.75", "0.9", "1", "1.5", "2", "3", "5", "20")
ODD_IDS = (
    "é", "e\u0301", "z", "漢字", "\uffee", "😀", "Z", "10", "9", "_", "ab", "a", "", " ", "a b", "\t", "#x",
)  # fmt: skip
SCORES: tuple[tuple[Any, ...], ...] = (
    (0.0, 1.0, 2.0),
    (-3, -2, -1, 0, 1, 2, 3),
    (1.0,),
    (16777216, 16777217, 16777218.0, 16777219),
    (1e-46, 0.0, -0.0, 1e39, 1e40, -1e39, 3.4e38),
    (float("inf"), -float("inf"), 1e39, 0.0),
    (True, False, 0.5),
    (2**60, 2**60 + 1, 10**30, 1.0),
    (0.5, 0.50000001, 0.5000001, 0.50001),
)
GRADES = ((0, 1), (0, 0, 0, 1, 2), (-1, 0, 1, 2, 3), (-2, -1, 0, 1), (0,), (1,), (0, 1, 4, 10, 50))


class Case(NamedTuple):
    """What an evaluator is made of, and the run that it is given."""

    qrels: dict[str, dict[str, int]]
    run: dict[str, dict[str, float]]
    measures: list[str]
    choices: dict[str, int]


def draw(rng: random.Random, longest: int = 200) -> Case:
    """Draw a collection on which the original neither crashes nor reads memory that it never set.

    It crashes where the first list is empty, and on a query whose every grade is negative; the value of
    runid alone is whatever stands in memory.
    """
    pool = rng.choice((ODD_IDS, [f"d{i}" for i in range(rng.choice((3, 8, 30, longest)))]))
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in rng.sample(("q1", "q2", "é", "", "10", "9", "x y", "Q1"), rng.randint(1, 5)):
        judged = rng.sample(pool, rng.randint(0, min(len(pool), 40)))
        grades = rng.choice(GRADES)
        given = {item: rng.choice(grades) for item in judged}
        if given and max(given.values()) < 0:
            given[judged[0]] = rng.choice((0, 1))
        if rng.random() < 0.9:
            qrels[query] = given
        listed = rng.sample(pool, rng.randint(0, min(len(pool), rng.choice((5, 16, longest)))))
        if rng.random() < 0.95:
            run[query] = _draw_scores(rng, listed)
    if rng.random() < 0.2:
        run["unjudged"] = {"a": 1.0}
    order = sorted(run, key=lambda query: (not run[query], rng.random()))
    choices = {}
    if rng.random() < 0.3:
        choices["relevance_level"] = rng.choice((1, 2, 3, 10))
    if rng.random() < 0.3:
        choices["judged_docs_only_flag"] = rng.choice((True, False))
    return Case(qrels, {query: run[query] for query in order}, _draw_measures(rng), choices)


def _draw_scores(rng: random.Random, items: list[str]) -> dict[str, float]:
    few = rng.choice((*SCORES, None))
    scores = {item: rng.random() if few is None else rng.choice(few) for item in items}
    if rng.random() < 0.1:
        scores |= {item: float("nan") for item in items if rng.random() < 0.4}
    return scores


def _draw_measures(rng: random.Random) -> list[str]:
    measures = []
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        name = rng.choice(sorted(pytrec_eval.supported_measures - {"runid"} | {"official", "set"}))
        numbers: list[str] = []
        if name in CUT and rng.random() < 0.6:
            numbers = [str(rng.choice((1, 2, 3, 5, 10, 20, 100))) for _ in range(rng.randint(1, 3))]
        elif name in LEVEL and rng.random() < 0.6:
            numbers = rng.sample(NUMBERS, rng.randint(1, 5))
        measures.append(name + (rng.choice("._") + ",".join(numbers) if numbers else ""))
    names = [name for name in measures if name not in pytrec_eval.supported_measures]
    repeated = len({one.partition(".")[0].rstrip("0123456789,_") for one in names}) < len(names)
    return measures[:1] if repeated else measures  # two names of one level may end the original


_SMALL = (
    "RelevanceEvaluator({'q1': {'a': 1, 'b': 0, 'c': 2, 'n': -1}, 'q2': {'a': 1}}, {'map', 'P_5'})"
)
_ASK = ".evaluate({'q1': {'a': 0.1, 'x': 0.5, 'c': 0.2}})"
_MADE = "RelevanceEvaluator({'q1': {'a': 1, 'b': 0, 'c': 2}, 'q2': {'a': 1}}, %s)" + _ASK

ODD: tuple[str, ...] = (
    *(f"{_SMALL}.evaluate({scores})" for scores in (
        "{}", "None", "[]", "[1]", "'x'", "{1: {'a': 1.0}}", "{'q1': {1: 1.0}}", "{'q1': {'a': 'x'}}",
        "{'q1': {'a': None}}", "{'q1': {'a': numpy.float32(1)}}", "{'q1': {'a': numpy.float64(1)}}",
        "{'q1': {'a': numpy.int64(1)}}", "{'q1': {'a': True}}", "{'q1': ['a']}", "{'zz': {'a': 'x'}}",
        "{'zz': {'a': 1.0}}", "{'q1': {'a': 1.0}, 'q2': {}}", "{'q1': {'a': float('nan'), 'b': 1.0}}",
        "{'q1': {'x': 1.0}}", "{'q1': 3}", "{None: {'a': 1.0}}", "{'q1': {b'a': 1.0}}",
    )),
    *(f"type(RelevanceEvaluator({qrels}, {{'map'}})).__name__" for qrels in (
        "{1: {'a': 1}}", "{'q': {1: 1}}", "{'q': {'a': 1.0}}", "{'q': {'a': numpy.int64(1)}}",
        "{'q': {'a': True}}", "{'q': {'a': None}}", "{'q': ['a']}", "{'q': {'a'}}", "{'q': {}}",
        "{'q': []}", "{'q': 3}", "None", "[]", "{}",
    )),
    *(f"type(RelevanceEvaluator({{'q': {{'a': 1}}}}, {{'map'}}, {choice})).__name__" for choice in (
        "relevance_level=0", "relevance_level=1.5", "relevance_level=True", "relevance_level=2**40",
        "relevance_level=numpy.int64(2)", "relevance_level=None", "judged_docs_only_flag=2",
        "judged_docs_only_flag=None", "judged_docs_only_flag='x'", "foo=1", "2, True",
    )),
    *(_MADE % measures for measures in (
        "'map'", "'m'", "{}", "set()", "()", "['map', 'map']", "None", "[1]", "[None]", "[b'map']", "{'ndcg_cut_'}",
        "{'P.5,5'}", "{'P_5.7'}", "{'P_5abc'}", "{'P.5,'}", "{'P.-1'}", "{'map.5'}", "{'ndcg_cut@10'}",
        "{'utility.1'}", "{'utility.1,2,0,3'}", "{'utility_1,2,0,3,4'}", "{'set_F.0.5'}", "{'set_F_2'}",
        "{'iprec_at_recall_0.333'}", "{'iprec_at_recall.1.5'}", "{'iprec_at_recall.5000000'}",
        "{'Rprec_mult.0.501,0.502'}", "{'11pt_avg.0.5,1'}", "{'11pt_avg.1'}", "{'success_3'}",
        "{'num_q', 'runid', 'relstring'}", "{'relstring_5'}", "{'P', 'P_5'}", "{'recall_5', 'recall.1,2'}",
        "{'yaap'}", "{'prefs'}", "{'qrels_jg'}", "{'official.5'}", "{' map'}", "{'nDCG@10'}", "{'map_cut.10.5'}",
        "{'success_1000000000000'}", "{'all_trec'}", "['ndcg_cut', 'ndcg_cut.1,4', 'ndcg_cut_20,4']",
    )),
    *(f"compute_aggregated_measure({name!r}, [0.1, 0.25, 3.0])" for name in ("map", "num_ret", "gm_map")),
    *(f"dict({call})" for call in (
        "parse_run(['q1 Q0 d1 1 0.5 t', 'q1 Q0 d2 2 1e3 t', ' q2\\tQ0 d1 x -7 t\\n'])", "parse_run([])",
        "parse_run(['q1 Q0 d1 1 0.5 t', 'q1 Q0 d1 2 0.4 t'])", "parse_run(['q1 Q0 d1 1 0.5'])",
        "parse_run([''])", "parse_run(['q1 Q0 d1 1 x t'])", "parse_qrel(['q1 0 d1 1', 'q1 0 d2 -2'])",
        "parse_qrel(['q1 0 d1 1', 'q1 0 d1 2'])", "parse_qrel(['q1 0 d1 1.5'])", "parse_qrel(['q1 0 d1'])",
    )),
)  # fmt: skip
"""Calls whose answers, or types of errors, are recorded."""
