"""A slow, obvious oracle of the measures of the catalogue: plain Python, and nothing from germane."""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import e, floor, fsum, log, nan, sqrt
from typing import Any

Item = Hashable


@dataclass(frozen=True)
class World:
    """Lists of items by user, what users chose before, the catalogue, a vector for each item, and judgments."""

    lists: Mapping[Any, Sequence[Item]]
    seen: Mapping[Any, Sequence[Item]]
    size: int
    vectors: Mapping[Item, Sequence[float]]
    relevant: Mapping[Any, Collection[Item]]

    def cut(self, k: int | None) -> list[list[Item]]:
        return [list(got)[:k] for got in self.lists.values() if got]

    def counts(self, k: int | None) -> Counter[Item]:
        return Counter(item for got in self.cut(k) for item in got)

    def popularity(self, by: str) -> Counter[Item]:
        if by == "users":
            return Counter(item for got in self.seen.values() for item in set(got))
        return Counter(item for got in self.seen.values() for item in got)

    def all_of(self, by: str) -> int:
        sizes = [len(got) for got in self.seen.values() if got]
        return len(sizes) if by == "users" else sum(sizes)


def average(pairs: Sequence[tuple[float, float]], mean: str) -> float:
    """Average sums and divisors: their quotients, or the quotient of their sums."""
    kept = [(a, b) for a, b in pairs if b]
    if not kept:
        return nan
    if mean == "micro":
        return fsum(a for a, _ in kept) / fsum(b for _, b in kept)
    return fsum(a / b for a, b in kept) / len(kept)


def coverage(w: World, k: int | None, norm: str, unseen: str) -> float:
    known = {item for got in w.seen.values() for item in got}
    found = set(w.counts(k)) if unseen == "count" else set(w.counts(k)) & known
    return len(found) / {"none": 1, "seen": len(known), "catalogue": w.size}[norm]


def gini(w: World, k: int | None, over: str, sign: str, norm: str) -> float:
    """Half the mean absolute difference of all pairs, divided by the mean."""
    counts = list(w.counts(k).values())
    if over == "catalogue":
        counts += [0] * (w.size - len(counts))
    n, total = len(counts), sum(counts)
    differences = sum(abs(a - b) for a in counts for b in counts)
    divisor = 2 * n * total if norm == "n" else 2 * (n - 1) * total
    value = differences / divisor if divisor else 0.0
    return value if sign == "unequal" else 1 - value


def entropy(w: World, k: int | None, base: Any, norm: str, lists: str) -> float:
    counts, total = w.counts(k), sum(w.counts(k).values())
    in_base = log(e if base == "e" else base)
    shares = {item: count / total for item, count in counts.items()}
    if lists == "equal":
        several = w.cut(k)
        shares = {
            item: fsum(got.count(item) / len(got) for got in several) / len(several)
            for item in counts
        }

    def surprise(item: Item) -> float:
        return -log(shares[item]) / in_base

    if lists == "mean":
        value = average([(fsum(map(surprise, got)), len(got)) for got in w.cut(k)], "")
    else:
        value = fsum(share * surprise(item) for item, share in shares.items())
    if norm == "catalogue":
        return value / (log(w.size) / in_base)
    return value / len(counts) if norm == "recommended" else value


def personalization(w: World, k: int | None, norm: str) -> float:
    lists = [set(got) for got in w.cut(k)]
    if len(lists) < 2:
        return nan
    if norm == "found":
        pairs = [len(a & b) / sqrt(len(a) * len(b)) for a, b in combinations(lists, 2)]
        return 1 - fsum(pairs) / len(pairs)
    k, users = k or max(map(len, lists)), len(lists)
    return 1 - (sum(c * c for c in w.counts(k).values()) / k - users) / (users * (users - 1))


def arp(w: World, k: int | None, seen: str, norm: str, unseen: str, mean: str) -> float:
    counts = w.popularity(seen)
    ordered, total = sorted(counts.values()), sum(counts.values())

    def popularity(item: Item) -> float:
        c = counts[item]
        if norm == "rank":
            below, equal = sum(o < c for o in ordered), ordered.count(c)
            return (below + (equal + 1) / 2) / len(ordered) if c else 0.0
        return c / {"none": 1, "total": total, "max": ordered[-1]}[norm]

    def size(got: Sequence[Item]) -> int:
        return len(got) if unseen == "zero" else sum(counts[item] > 0 for item in got)

    return average([(fsum(map(popularity, got)), size(got)) for got in w.cut(k)], mean)


def novelty(w: World, k: int | None, seen: str, unseen: str, base: Any, mean: str) -> float:
    counts, total = w.popularity(seen), w.all_of(seen)

    def surprise(item: Item) -> float:
        c = counts[item]
        if not c and unseen in ("zero", "drop"):
            return 0.0
        c = c or (min(counts.values()) if unseen == "rarest" else 1)
        return -log(c / total) / log(e if base == "e" else base)

    def size(got: Sequence[Item]) -> int:
        return sum(counts[item] > 0 for item in got) if unseen == "drop" else len(got)

    return average([(fsum(map(surprise, got)), size(got)) for got in w.cut(k)], mean)


def tail_share(w: World, k: int | None, tail: float, mean: str) -> float:
    counts = w.popularity("interactions")
    order = sorted(counts, key=lambda item: (counts[item], str(item)))
    few = set(order[: max(floor(len(order) * Fraction(str(tail))), 1)])
    return average([(sum(item in few for item in got), len(got)) for got in w.cut(k)], mean)


def popularity_lift(w: World, k: int | None, seen: str) -> float:
    counts = w.popularity(seen)
    both = [user for user, got in w.lists.items() if got and w.seen.get(user)]
    if not both:
        return nan

    def level(lists: Mapping[Any, Sequence[Item]], k: int | None) -> float:
        several = [lists[user][:k] for user in both]
        return average([(sum(counts[item] for item in got), len(got)) for got in several], "")

    before = level(w.seen, None)
    return (level(w.lists, k) - before) / before


def differ(w: World, a: Item, b: Item) -> float:
    """1 − the cosine of two items' vectors."""
    u, v = w.vectors[a], w.vectors[b]
    dot = fsum(x * y for x, y in zip(u, v, strict=True))
    return 1 - dot / sqrt(fsum(x * x for x in u) * fsum(y * y for y in v))


def serendipity(w: World, k: int | None, against: str, relevant: str) -> float:
    counts = w.popularity("interactions")
    levels = sorted(set(counts.values()), reverse=True)
    pairs = []
    for user, whole in w.lists.items():
        got, before = list(whole)[:k], w.seen.get(user, [])
        total = 0.0
        for rank, item in enumerate(got, 1):
            if relevant == "judged" and item not in w.relevant.get(user, ()):
                continue
            if against == "history":
                total += fsum(differ(w, item, one) for one in before) / max(len(before), 1)
            else:
                place = levels.index(counts[item]) + 1 if counts[item] else w.size + 1
                total += max(place - rank, 0) / w.size
        if against == "popular" or before:
            pairs.append((total, len(got)))
    return average(pairs, "")


def ild(w: World, k: int | None, norm: str, single: str) -> float:
    pairs = []
    for got in w.cut(k):
        all_pairs = list(combinations(got, 2))
        divisor = len(got) if norm == "found" else len(all_pairs)
        if len(got) == 1:
            divisor = 1 if single == "zero" else 0
        pairs.append((fsum(differ(w, a, b) for a, b in all_pairs), divisor))
    return average(pairs, "")


ORACLE = {
    "Coverage": coverage, "Gini": gini, "Entropy": entropy, "Personalization": personalization, "ARP": arp,
    "Novelty": novelty, "TailShare": tail_share, "PopularityLift": popularity_lift, "ILD": ild,
    "Serendipity": serendipity,
}  # fmt: skip
