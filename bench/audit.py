"""Calibrate audit on tables that are right and on tables with one wrong cell: ``python bench/audit.py [TABLES]``.

Tables are computed under random dialects from random collections: graded or binary judgments, ties, queries without results or
without relevant items. Their columns have the tool's names, or those of papers.
"""

import random
import sys
import warnings
from collections import Counter

import germane
from germane.dialects.families import DIALECTS
from germane.dialects.names import parse
from germane.errors import GermaneError
from germane.forensics.audit import audit
from germane.forensics.reported import read_columns

OF_RESULTS = ("unjudged", "min_score", "nonpositive", "depth", "own", "grades")
"""Conventions that change which results count; a table takes them alike for all of its columns."""

CHANGES = (0.02, 0.05, 0.15)
PAPER = {
    "AP": "MAP",
    "RR": "MRR",
    "R": "Recall",
    "P": "P",
    "Success": "Hit",
    "nDCG": "NDCG",
    "F": "F1",
}


def draw_collection(rng: random.Random) -> tuple[dict, dict]:
    queries = [f"q{i}" for i in range(rng.choice((10, 30, 50, 100)))]
    items = [f"d{i}" for i in range(120)]
    grades = rng.choice(((0, 1), (0, 1, 2, 3)))
    share = rng.choice((0.02, 0.1, 0.3))
    qrels = {
        q: {
            d: rng.choice(grades[1:]) if rng.random() < share * 2 else 0
            for d in rng.sample(items, 60)
        }
        for q in queries
    }
    levels = rng.choice((None, None, None, 8))
    runs = {}
    for name in ("ours", "baseline", "bm25"):
        skill = rng.uniform(0, 2)
        run = {}
        for q in queries:
            if rng.random() < 0.03:
                continue
            scores = {
                d: rng.gauss(skill * (qrels[q].get(d, 0) > 0), 1)
                for d in rng.sample(items, rng.choice((3, 20, 100)))
            }
            run[q] = {d: round(s * levels) / levels if levels else s for d, s in scores.items()}
        runs[name] = run
    return qrels, runs


def draw_table(rng: random.Random) -> tuple[dict, str | None, int]:
    """A table of texts, the dialect where it is told, and the number of queries."""
    while True:
        tool = rng.choice(DIALECTS)
        cutoffs = rng.sample((1, 3, 5, 10, 20, 100), rng.randint(1, 5))
        names = [
            n
            for k in cutoffs
            for one in tool.measuring
            if one.measure and "{" not in one.name.replace("{k}", "")
            for n in [one.write_name(k)]
        ]
        names = list(dict.fromkeys(names))
        rng.shuffle(names)
        names = names[: rng.randint(3, 25)]
        qrels, runs = draw_collection(rng)
        decimals, papers = rng.randint(2, 5), rng.random() < 0.5
        percent = rng.random() < 0.15
        table: dict = {run: {} for run in runs}
        definitions: dict = {}
        taken: list = []
        for name in names:
            try:
                values = {
                    r: germane.evaluate(qrels, run, name, dialect=tool.name)
                    for r, run in runs.items()
                }
            except GermaneError:
                continue
            measure = parse(tool.measure(name))
            if ("mean", "arithmetic") not in measure.parameters:
                continue
            label = name_in_paper(measure) if papers else name
            entry = tool.find(name)
            choices = {**tool.choices, **entry.read_choices(name)}
            own = dict(measure.parameters), choices
            of_results = [choices.get(one) for one in OF_RESULTS]
            taken = taken or of_results
            other = definitions.setdefault(measure.name, own)
            if label in table["ours"] or (papers and (other != own or taken != of_results)):
                continue  # a paper has one definition of a name, and the same results for all
            for r, result in values.items():
                mean = (
                    next(iter(result.values())).mean
                    if hasattr(result, "values")
                    else result[name].mean
                )
                if mean == mean:
                    table[r][label] = (
                        f"{mean * 100:.{max(decimals - 2, 1)}f}"
                        if percent
                        else f"{mean:.{decimals}f}"
                    )
        if len(table["ours"]) >= 3 and audit_names(table):
            return table, rng.choice((None, tool.name)), len(qrels)


def name_in_paper(measure: germane.types.Measure) -> str:
    """The name of papers, which leave the norm out, and nothing else."""
    plain = measure(norm="min") if measure.name == "AP" else measure
    name = PAPER.get(measure.name, measure.name)
    return str(plain).replace(measure.name, name, 1)


def audit_names(table: dict) -> bool:
    return any(read_columns(tuple(table["ours"])))


def main(tables: int) -> None:
    warnings.simplefilter("ignore")
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 46)
    claimed, restricted, restrictions = [], 0, []
    found: Counter[float] = Counter()
    named: Counter[float] = Counter()
    for number in range(tables):
        table, dialect, _ = draw_table(rng)
        clean = audit(table, dialect=dialect)
        restricted += bool(clean.restrictions)
        restrictions.append(clean.restrictions)
        if clean:
            claimed.append((number, dialect, clean))
        for change in CHANGES:
            run = rng.choice([r for r in table if table[r]])
            label = rng.choice(list(table[run]))
            text = table[run][label]
            scale = 100 if "." in text and float(text) > 1.5 else 1
            moved = float(text) + change * scale * rng.choice((-1, 1))
            decimals = len(text.partition(".")[2])
            spoilt = {r: dict(row) for r, row in table.items()}
            spoilt[run][label] = f"{moved:.{decimals}f}"
            got = audit(spoilt, dialect=dialect)
            found[change] += bool(got)
            named[change] += any(
                one.row == run and label in one.columns for one in got.contradictions
            )
    print(
        Counter(
            one.law.split()[0].split("@")[0] + " " + one.possible for c in restrictions for one in c
        ).most_common(40)
    )
    print(
        f"{tables} right tables: contradictions claimed in {len(claimed)}; numbers that only some definitions allow in {restricted}"
    )
    for number, dialect, clean in claimed[:10]:
        print(number, dialect)
        print(clean)
    for change in CHANGES:
        print(
            f"one cell changed by {change}: found in {found[change] / tables:.0%}, the cell named in {named[change] / tables:.0%}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
