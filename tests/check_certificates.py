"""Check audit's certificates again, from what it prints: ``python tests/check_certificates.py [ROWS] [SEED]``.

Another program: it reads the text of an inequality, computes both sides for every list of ten results with up to thirty relevant
items, from the definitions in the books and in fractions, and compares the printed numbers with it. Nothing of audit's program is
imported; logarithms are those of ``decimal``, with 50 digits. Graded lists are too many: all short ones are tried, and a sample of
the others. Of witnesses, it reads the files and evaluates them itself.
"""

import random
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import fsum, log2
from pathlib import Path

import germane

MOST, SURE = 30, Fraction(1, 10**40)
TERM = re.compile(r"(?:(\d+)·)?([A-Za-z][A-Za-z0-9]*)(?:\((?:norm|gain)=(\w+)\))?(?:@(\d+))?$")
NINE = [
    *("P@1", "P@5", "P@10", "R@5", "R@10", "AP(norm=R)@10", "RR@10", "Success@5", "nDCG@10"),
    *("F@5", "DCG@5", "Rprec", "AP(norm=k)@10", "MeanP@3"),
]
SHORT = [
    *("P@1", "P@3", "R@2", "R@4", "AP(norm=R)@4", "RR@4", "Success@2", "nDCG@4", "nDCG@2", "DCG@4"),
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


# --- graded judgments, and lists of files


def compute_graded(
    name: str, word: str, k: int | None, ranked: Sequence[int], judged: Sequence[int]
) -> float:
    """The value of a list of grades; ``judged`` are all grades, the highest first."""
    if name not in ("DCG", "nDCG"):
        hits = tuple(int(grade > 0) for grade in ranked)
        longest = len(hits) if k is None else k
        hits += (0,) * (longest - len(hits))
        norm = "R" if k is None and name == "AP" else word
        return float(compute(name, norm, longest, hits, len(judged))) if judged else 0.0

    def cumulate(grades: Sequence[int]) -> float:
        gains = ((2**grade - 1 if word == "exp" else grade) for grade in grades[:k])
        return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))

    return cumulate(ranked) / (cumulate(judged) if name == "nDCG" else 1)


def list_graded(rng: random.Random, depth: int, top: int) -> Iterator[tuple[list[int], list[int]]]:
    """All lists of up to four grades, beside up to three items that they lack; else a sample."""
    if depth <= 4:
        for ranked in product(range(top + 1), repeat=depth):
            for count in range(4):
                for lacked in combinations_with_replacement(range(1, top + 1), count):
                    yield list(ranked), sorted(filter(None, ranked + lacked))[::-1]
        return
    for _ in range(20_000):
        levels = rng.choice(((1, top), range(1, top + 1)))
        share = rng.random()
        ranked = [rng.choice(levels) if rng.random() < share else 0 for _ in range(depth)]
        if rng.random() < 0.5:
            ranked.sort(reverse=rng.random() < 0.7)
        lacked = [rng.choice(levels) for _ in range(rng.choice((0, 0, 1, 3, depth)))]
        yield ranked, sorted(filter(None, [*ranked, *lacked]))[::-1]


def find_graded_fault(law: str, top: int) -> str:
    """Say which list with grades up to ``top`` breaks a certificate; or ""."""
    terms, bound = read_law(law)
    for ranked, judged in list_graded(random.Random(law), max(k for *_, k in terms), top):
        if judged:
            total = sum(w * compute_graded(*named, ranked, judged) for w, *named in terms)
            if total > float(bound) + 1e-9:
                return f"{ranked} of {judged}: {total} > {float(bound)}"
    return ""


def evaluate_folder(folder: Path, names: Iterable[str]) -> dict[str, float]:
    """The means of the judgments and the run of a witness."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, list[tuple[float, str]]] = {}
    for line in (folder / "judgments.txt").read_text("utf-8").splitlines():
        query, _, item, grade = line.split()
        qrels.setdefault(query, {})[item] = int(grade)
    for line in (folder / "run.txt").read_text("utf-8").splitlines():
        query, _, item, _, score, _ = line.split()
        run.setdefault(query, []).append((-float(score), item))
    assert set(run) <= set(qrels)
    means = {}
    for text in names:
        _, name, word, k = TERM.match(text).groups()  # type: ignore[union-attr]
        values = [
            compute_graded(
                name, word or "", int(k) if k else None,
                [judged.get(item, 0) for _, item in sorted(run.get(query, []))],
                sorted(filter(lambda grade: grade > 0, judged.values()))[::-1],
            )
            for query, judged in qrels.items()
        ]  # fmt: skip
        means[text] = fsum(values) / len(values)
    return means


# --- certificates


def find_fault(law: str, numbers: Mapping[str, str] | None = None, top: int = 1) -> str:
    """Say what is wrong with a certificate: a list that breaks it, or numbers that do not; or ""."""
    terms, bound = read_law(law)
    depth = max(k for *_, k in terms)
    if top > 1 and (fault := find_graded_fault(law, top)):
        return fault
    for hits in product((0, 1), repeat=depth) if top == 1 else ():
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
    word = f"({'gain' if norm == 'exp' else 'norm'}={norm})" * bool(norm)
    return f"{name}{word}{f'@{k}' * (name != 'Rprec')}"


def draw_certificates(rng: random.Random, rows: int) -> Iterator[tuple[str, dict[str, str], int]]:
    """Rows of random runs with one wrong decimal, the laws that audit prints of them, and grades."""
    for _ in range(rows):
        most, queries, skill = rng.choice((1, 1, 2, 4)), rng.choice((10, 40)), rng.uniform(0, 3)
        top, deep = rng.choice((1, 1, 2, 3, 4)), rng.random() < 0.5
        names = rng.sample(NINE if top == 1 or deep else SHORT, rng.randint(4, 9))
        gain = rng.choice(("", "(gain=exp)")) if top > 1 else ""
        names = [name.replace("DCG", f"DCG{gain}") for name in names]
        counts = [rng.randint(1, most) for _ in range(queries)]
        scores = [{i: rng.gauss(skill * (i < r), 1) for i in range(25)} for r in counts]
        qrels = {
            f"q{q}": {f"d{i}": rng.randint(1, top) for i in range(r)} for q, r in enumerate(counts)
        }
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
        found = germane.audit(table, grades=top, columns=own)
        for law in (*found.contradictions, *found.restrictions):
            if law.kind == "program" and "(with " not in law.proof:
                yield law.law, table["ours"], top


def main(rows: int, seed: int) -> int:
    warnings.simplefilter("ignore")
    faults = checked = graded = 0
    for law, numbers, top in draw_certificates(random.Random(seed), rows):
        fault = find_fault(law, numbers, top)
        checked += 1
        graded += top > 1
        faults += bool(fault)
        if fault:
            print(f"WRONG: {law}: {fault}", flush=True)
    print(f"{checked} certificates of {rows} rows checked, {graded} with grades: {faults} wrong")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(*map(int, [*sys.argv[1:], "100", "59"][:2])))
