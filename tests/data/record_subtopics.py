"""Record what pyndeval 0.0.8 and ir_measures 0.4.3 answer on small random judgments of subtopics.

    pip install pyndeval==0.0.8 ir_measures==0.4.3
    python tests/data/record_subtopics.py

Scores are tied, items unjudged, grades above 1 and below 0; there are subtopics and topics without relevant
items, runs shorter than the cutoff, topics that the run lacks and others that nobody judged.
"""

import json
import math
import random
from pathlib import Path
from typing import Any

import ir_measures
import pyndeval
from ir_measures.util import GenericQrel, ScoredDoc

JSON = Path(__file__).with_name("subtopics.json")
CUT = ("ERR-IA", "nERR-IA", "alpha-DCG", "alpha-nDCG", "P-IA", "strec")
NAMES = [*(f"{name}@{k}" for name in CUT for k in (1, 3, 20)), "NRBP", "nNRBP", "MAP-IA"]
OTHERS = (
    "ERR_IA@1", "ERR_IA@5", "nERR_IA@5", "alpha_DCG@5", "alpha_nDCG@10", "alpha_nDCG(alpha=0.3)@10",
    "alpha_nDCG(rel=2)@5", "StRecall@5", "P_IA@5", "AP_IA", "NRBP", "nNRBP", "NRBP(beta=0.8)",
    "nERR_IA(rel=2)@5",
)  # fmt: skip


def draw(rng: random.Random) -> dict[str, Any]:
    qrels, run = [], []
    for q in range(rng.randint(1, 3)):
        subtopics = [str(s) for s in range(rng.choice((1, 2, 3, 6)))]
        items = [rng.choice("dDé") + str(i) for i in range(rng.choice((1, 4, 9, 25)))]
        dead = set(rng.sample(subtopics, rng.randint(0, len(subtopics) // 2)))
        for subtopic in subtopics:
            for item in items:
                if rng.random() < 0.5:
                    grade = rng.choice((-2, -1, 0, 0, 1, 1, 2, 3))
                    lost = subtopic in dead or q == 2
                    qrels.append((f"q{q}", subtopic, item, min(grade, 0) if lost else grade))
        pool = items + [f"u{i}" for i in range(8)]
        if q != 1 or rng.random() < 0.5:
            run += [
                (f"q{q}", item, float(rng.choice((1, 2, 3, rng.randint(0, 99) / 8))))
                for item in rng.sample(pool, rng.randint(1, len(pool)))
            ]
    run.append(("q7", "d1", 1.0))
    rng.shuffle(qrels)
    return {"qrels": qrels, "run": run}


def plain(value: float) -> float | None:
    return float(f"{value:.12g}") if math.isfinite(value) else None


def ask(case: dict[str, Any], alpha: float, beta: float, rel: int) -> dict[str, Any]:
    given = {"alpha": alpha, "beta": beta, "relevance_level": rel}
    found = pyndeval.RelevanceEvaluator(case["qrels"], NAMES, **given).evaluate(case["run"])
    values = {q: [plain(one[name]) for name in NAMES] for q, one in found.items()}
    return {"alpha": alpha, "beta": beta, "rel": rel, "values": values}


def ask_ir_measures(case: dict[str, Any]) -> dict[str, Any]:
    qrels = [GenericQrel(q, item, grade, s) for q, s, item, grade in case["qrels"]]
    run = [ScoredDoc(*row) for row in case["run"]]
    out = {}
    for name in OTHERS:  # one by one: of several with different parameters, all but the first are 0
        measure = ir_measures.parse_measure(name)
        found = {one.query_id: one.value for one in ir_measures.iter_calc([measure], qrels, run)}
        out[name] = {query: plain(value) for query, value in found.items()}
    return out


def main() -> None:
    rng = random.Random(30)
    cases = []
    while len(cases) < 24:
        case = draw(rng)
        if not case["qrels"]:
            continue
        ways = [(0.5, 0.5, 1), (rng.choice((0.1, 0.3, 0.9, 0.0, 1.0)), rng.choice((0.2, 0.8)), 2)]
        case["pyndeval"] = [ask(case, *way) for way in ways]
        if len(cases) < 6:
            case["ir_measures"] = ask_ir_measures(case)
        cases.append(case)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    JSON.write_text(f'{{"names":{json.dumps(NAMES)},"cases":[\n{lines}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
