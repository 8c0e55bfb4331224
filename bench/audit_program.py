"""Calibrate the program of audit: ``python bench/audit_program.py [TABLES] [SEED]``.

Tables that are right come from random tools, as in bench/audit.py, and from runs of nine columns. Told at random: the tool, the
number of queries and the highest grade. Slips exchange one decimal of one of nine numbers; they are refuted if a contradiction is
found in the row. "told" tells the definitions and that judgments are 0 and 1, "open" nothing.
"""

import random
import sys
import time
import warnings
from unittest.mock import patch

from audit import draw_collection, draw_table

import germane
from germane.forensics import audit as audit_module
from germane.forensics.audit import audit

NINE = "P@1 P@5 P@10 R@5 R@10 AP(norm=R)@10 RR@10 Success@5 nDCG@10".split()  # noqa: SIM905
KINDS = ("P", "R", "AP", "AP(norm=R)", "RR", "Success", "nDCG", "F", "DCG")
RELEVANT = (1, 2, 4, 30, 50)


def draw_run(rng: random.Random, relevant: int) -> tuple[dict, dict]:
    """Judgments of 0 and 1 with at most so many relevant items a query, and a run."""
    qrels, run, skill = {}, {}, rng.uniform(0, 3)
    for q in range(rng.choice((10, 20, 50, 200))):
        items = rng.randint(1, relevant)
        qrels[f"q{q}"] = {f"d{i}": 1 for i in range(items)}
        scores = {f"d{i}": rng.gauss(skill * (i < items), 1) for i in range(60)}
        run[f"q{q}"] = sorted(scores, key=scores.__getitem__, reverse=True)
    return qrels, run


def print_row(qrels: dict, run: dict, names: list[str], decimals: int) -> dict[str, str]:
    result = germane.evaluate(qrels, run, names)
    return {name: f"{result[name].mean:.{decimals}f}" for name in names}


def draw_own(rng: random.Random) -> tuple[dict, dict]:
    """A row of random measures of germane, with what is told of it: graded judgments or not."""
    if graded := rng.random() < 0.4:
        qrels, runs = draw_collection(rng)
        run = runs["ours"]
    else:
        qrels, run = draw_run(rng, rng.choice(RELEVANT))
    cutoffs = rng.sample((1, 3, 5, 10, 20), rng.randint(1, 3)) + rng.choice(([], [], [50]))
    names = [f"{kind}@{k}" for kind in KINDS for k in cutoffs] + ["AP", "RR", "Rprec", "nDCG"]
    names = rng.sample(names, min(len(names), rng.randint(3, 12)))
    row = print_row(qrels, run, names, rng.randint(2, 5))
    told: dict = {"dialect": rng.choice((None, "trec_eval-10"))} if not graded else {}
    if rng.random() < 0.5:
        told["queries"] = len(qrels)
    if rng.random() < 0.5:
        told["grades"] = 3 if graded else 1
    if rng.random() < 0.3:
        told["relevant"] = max(sum(g > 0 for g in items.values()) for items in qrels.values())
    if told.get("dialect") and any(name.startswith("AP@") for name in names):
        del told["dialect"]  # germane's AP@k is not trec_eval's
    return {"ours": row}, told


def slip(rng: random.Random, row: dict[str, str]) -> dict[str, str]:
    """Exchange one decimal of one number."""
    name = rng.choice(list(row))
    digits = list(row[name])
    at = rng.randrange(2, len(digits))
    digits[at] = rng.choice([digit for digit in "0123456789" if digit != digits[at]])
    return {**row, name: "".join(digits)}


def check_true(rng: random.Random, tables: int) -> None:
    claimed = restricted = rows = 0
    seconds = longest = 0.0
    for number in range(tables):
        if number % 2:
            table, told = draw_own(rng)
        else:
            table, dialect, _queries = draw_table(rng)
            told = {"dialect": dialect}
        before = time.process_time()
        found = audit(table, **told)
        seconds += time.process_time() - before
        rows += found.rows
        accused = bool(found) or "impossible" in found.decisions.values()
        claimed += accused
        restricted += bool(found.restrictions)
        if accused:
            print(f"CLAIMED {told} {table}\n{found}", flush=True)
        longest = max(longest, (time.process_time() - before) / max(found.rows, 1))
        if number % 100 == 99:
            print(f"{number + 1} right tables, {rows} rows: claimed in {claimed}", flush=True)
    print(
        f"{tables} right tables, {rows} rows: contradictions claimed in {claimed}; restrictions in {restricted};"
        f" {seconds / max(rows, 1):.2f} s a row, at most {longest:.1f} s"
    )


def check_slips(rng: random.Random, rows: int) -> None:
    for relevant in RELEVANT:
        laws = told = free = usual = total = 0
        longest = 0.0
        for _ in range(rows):
            row = print_row(*draw_run(rng, relevant), NINE, 4)
            for _ in range(4):
                table = {"ours": slip(rng, row)}
                total += 1
                with patch.object(audit_module, "has_solver", lambda: False):
                    laws += bool(audit(table))
                start = time.process_time()
                told += bool(audit(table, grades=1, dialect="trec_eval-10"))
                longest = max(longest, time.process_time() - start)
                found = audit(table)
                free += bool(found)
                usual += bool(found) or bool(found.restrictions)
        print(
            f"slips, up to {relevant} relevant: {total} rows; laws {laws / total:.0%}, told {told / total:.0%}, open {free / total:.0%},"
            f" with restrictions {usual / total:.0%}; at most {longest:.1f} s",
            flush=True,
        )


def main(tables: int, seed: int) -> None:
    warnings.simplefilter("ignore")
    rng = random.Random(seed)
    check_true(rng, tables)
    check_slips(rng, max(tables // 20, 1))


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 200,
        int(sys.argv[2]) if len(sys.argv) > 2 else 59,
    )
