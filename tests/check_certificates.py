"""Check audit's certificates again, from what it prints: ``python tests/check_certificates.py [ROWS] [SEED]``.

Another program: it reads the text of an inequality, computes both sides for every list of ten results with up to thirty relevant
items, from the definitions in the books and in fractions, and compares the printed numbers with it. Nothing of audit's program is
imported; logarithms are those of ``decimal``, with 50 digits.
"""

import random
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product

import germane

MOST, SURE = 30, Fraction(1, 10**40)
TERM = re.compile(r"(?:(\d+)·)?([A-Za-z][A-Za-z0-9]*)(?:\(norm=(\w+)\))?(?:@(\d+))?$")
NINE = [
    *("P@1", "P@5", "P@10", "R@5", "R@10", "AP(norm=R)@10", "RR@10", "Success@5", "nDCG@10"),
    *("F@5", "DCG@5", "Rprec", "AP(norm=k)@10", "MeanP@3"),
]


@cache
def discount(rank: int) -> Fraction:
    """1 ÷ log2(rank + 1), which is off by less than 1e-45."""
    with localcontext(prec=50):
        return Fraction(Decimal(2).ln() / Decimal(rank + 1).ln())


@cache
def compute(name: str, norm: str, k: int, hits: tuple[int, ...], relevant: int) -> Fraction:
    """The value of a list of 0 and 1."""
    top = hits[:k]
    ranks = [rank for rank, hit in enumerate(top, 1) if hit]
    precisions = [Fraction(sum(top[:rank]), rank) for rank in range(1, len(top) + 1)]
    match name:
        case "P":
            return Fraction(sum(top), k)
        case "R":
            return Fraction(sum(top), min(relevant, k) if norm == "min" else relevant)
        case "F":
            return Fraction(2 * sum(top), k + relevant)
        case "Rprec":
            return Fraction(sum(hits[:relevant]), relevant)
        case "Success":
            return Fraction(bool(ranks))
        case "RR":
            return Fraction(1, ranks[0]) if ranks else Fraction()
        case "MeanP":
            return sum(precisions, Fraction()) / k
        case "AP":
            divisor = {"": min(relevant, k), "min": min(relevant, k), "R": relevant, "k": k}[norm]
            return sum((precisions[rank - 1] for rank in ranks), Fraction()) / divisor
        case "DCG":
            return sum(map(discount, ranks), Fraction())
        case "nDCG":
            ideal = sum(map(discount, range(1, min(relevant, k) + 1)), Fraction())
            return sum(map(discount, ranks), Fraction()) / ideal
    raise ValueError(name)


def read_law(law: str) -> tuple[list[tuple[int, str, str, int]], Fraction]:
    """Read an inequality as weights of measures and the bound of their sum."""
    terms, bound = [], Fraction()
    left, right = law.split(" ≤ ")
    for sign, side in ((1, left), (-1, right)):
        for term in side.split(" + "):
            named = TERM.match(term)
            if named is None:
                bound -= sign * Fraction(term)
            else:
                count, name, norm, k = named.groups()
                terms.append((sign * int(count or 1), name, norm or "", int(k or 10)))
    return terms, bound


def find_fault(law: str, numbers: Mapping[str, str] | None = None) -> str:
    """Say what is wrong with a certificate: a list that breaks it, or numbers that do not; or ""."""
    terms, bound = read_law(law)
    depth = max(k for *_, k in terms)
    for hits in product((0, 1), repeat=depth):
        for relevant in range(max(sum(hits), 1), MOST + 1):
            total = sum(w * compute(name, norm, k, hits, relevant) for w, name, norm, k in terms)
            if total > bound + SURE:
                return f"{hits} with {relevant} relevant items: {float(total)} > {float(bound)}"
    if numbers is not None:
        least = -bound
        for weight, name, norm, k in terms:
            text = numbers[write(name, norm, k)]
            half = Fraction(1, 2 * 10 ** len(text.partition(".")[2]))
            least += weight * (Fraction(text) - (half if weight > 0 else -half))
        if least <= 0:
            return f"the numbers keep it: {float(least)}"
    return ""


def write(name: str, norm: str, k: int) -> str:
    return f"{name}{f'(norm={norm})' * bool(norm)}{f'@{k}' * (name != 'Rprec')}"


def draw_certificates(rng: random.Random, rows: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of random runs with one wrong decimal, and the laws that audit prints of them."""
    for _ in range(rows):
        most, queries, skill = rng.choice((1, 1, 2, 4)), rng.choice((10, 40)), rng.uniform(0, 3)
        names = rng.sample(NINE, rng.randint(4, 9))
        counts = [rng.randint(1, most) for _ in range(queries)]
        scores = [{i: rng.gauss(skill * (i < r), 1) for i in range(25)} for r in counts]
        qrels = {f"q{q}": {f"d{i}": 1 for i in range(r)} for q, r in enumerate(counts)}
        run = {
            f"q{q}": [f"d{i}" for i in sorted(of, key=lambda i, of=of: -of[i])]  # type: ignore[misc]
            for q, of in enumerate(scores)
        }
        result = germane.evaluate(qrels, run, names)
        row = {name: f"{result[name].mean:.4f}" for name in names}
        name = rng.choice(names)
        digits = list(row[name])
        digits[rng.randrange(2, 6)] = rng.choice("0123456789")
        table = {"ours": {**row, name: "".join(digits)}}
        own = dict(zip(names, names, strict=True))
        found = germane.audit(table, grades=1, columns=own)
        for law in (*found.contradictions, *found.restrictions):
            if law.kind == "program" and "(with " not in law.proof:
                yield law.law, table["ours"]


def main(rows: int, seed: int) -> int:
    warnings.simplefilter("ignore")
    faults = checked = 0
    for law, numbers in draw_certificates(random.Random(seed), rows):
        fault = find_fault(law, numbers)
        checked += 1
        faults += bool(fault)
        if fault:
            print(f"WRONG: {law}: {fault}", flush=True)
    print(f"{checked} certificates of {rows} rows checked: {faults} wrong")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(*map(int, [*sys.argv[1:], "100", "59"][:2])))
