"""A slow, obvious oracle: every measure of germane for one query, straight from its definition.

Plain Python only: no NumPy, and nothing from germane. Ranks count from 1, grades are ``None`` for
an item nobody judged, and 0/0 is 0. Notation, as in the definitions:

    N    items retrieved                R(rel)     items judged with a grade >= rel
    K    the cutoff k, or N without     h(n, rel)  how many of those are in the first n ranks
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise, permutations, product
from math import ceil, floor, fsum, log, log2, nan, prod, sqrt
from typing import Any, TypeVar

Item = TypeVar("Item", bound=Hashable)
Grade = float | None
Gain = str | Mapping[float, float]


# ---------------------------------------------------------------------------------- one query


@dataclass(frozen=True)
class Query:
    """One ranked list, as the grades found at its ranks, and everything judged for it."""

    grades: Sequence[Grade]
    judged: Sequence[float]
    k: int | None
    ends: Sequence[int] | None = None  # last ranks of groups of equal scores, where these are steps

    @property
    def N(self) -> int:
        """How many items were retrieved."""
        return len(self.grades)

    @property
    def K(self) -> int:
        """The effective depth: k where there is a cutoff, else N."""
        return self.N if self.k is None else self.k

    @property
    def ranks(self) -> range:
        """The ranks 1..K that hold an item."""
        return range(1, min(self.N, self.K) + 1)

    def grade(self, i: int) -> Grade:
        """The grade at rank i; None where the item is unjudged, or the list has ended."""
        return self.grades[i - 1] if i <= self.N else None

    def is_relevant(self, i: int, rel: float) -> bool:
        """rel(i): the item at rank i is judged, with a grade >= rel."""
        grade = self.grade(i)
        return grade is not None and grade >= rel

    def is_nonrelevant(self, i: int, rel: float) -> bool:
        """The item at rank i is judged, with 0 <= grade < rel."""
        grade = self.grade(i)
        return grade is not None and 0 <= grade < rel

    def is_judged(self, i: int) -> bool:
        """The item at rank i is judged, with a grade >= 0."""
        grade = self.grade(i)
        return grade is not None and grade >= 0

    def is_pooled(self, i: int) -> bool:
        """The item at rank i has a negative grade: in the pool, but never judged."""
        grade = self.grade(i)
        return grade is not None and grade < 0

    def h(self, n: int, rel: float) -> int:
        """h(n): how many of the first n ranks are relevant."""
        return sum(self.is_relevant(i, rel) for i in range(1, n + 1))

    def R(self, rel: float) -> int:
        """R: how many items are judged relevant, retrieved or not."""
        return sum(grade >= rel for grade in self.judged)

    def P(self, i: int, rel: float) -> float:
        """P@i = h(i) / i."""
        return self.h(i, rel) / i

    def precisions(self, rel: float) -> list[float]:
        """P@i at every relevant rank i <= K."""
        return [self.P(i, rel) for i in self.ranks if self.is_relevant(i, rel)]


def ratio(above: float, below: float) -> float:
    """above / below, where 0/0 is 0."""
    return 0.0 if above == 0 and below == 0 else above / below


# -------------------------------------------------------------------------------------- counts


def num_q(q: Query) -> float:
    """1."""
    return 1


def num_ret(q: Query) -> float:
    """min(N, K)."""
    return min(q.N, q.K)


def num_rel(q: Query, rel: float = 1) -> float:
    """R."""
    return q.R(rel)


def num_rel_ret(q: Query, rel: float = 1) -> float:
    """h(K)."""
    return q.h(q.K, rel)


def num_nonrel_ret(q: Query, rel: float = 1) -> float:
    """How many of the first K ranks hold 0 <= grade < rel."""
    return sum(q.is_nonrelevant(i, rel) for i in q.ranks)


def judged_share(q: Query, norm: str = "k") -> float:
    """(how many of the first K ranks hold a grade >= 0) / K, or / min(K, N)."""
    return ratio(sum(q.is_judged(i) for i in q.ranks), {"k": q.K, "retrieved": len(q.ranks)}[norm])


def unjudged_share(q: Query) -> float:
    """(how many of the first min(K, N) ranks hold no grade, or a negative one) / K."""
    return ratio(sum(not q.is_judged(i) for i in q.ranks), q.K)


# ---------------------------------------------------------------------------------------- sets


def precision(q: Query, rel: float = 1, norm: str = "k") -> float:
    """h(K) / K, or h(K) / min(K, N)."""
    return ratio(q.h(q.K, rel), {"k": q.K, "retrieved": len(q.ranks)}[norm])


def recall(q: Query, rel: float = 1, norm: str = "R") -> float:
    """h(K) / R, or h(K) / min(R, k), or h(K) / min(R, K, N)."""
    R = q.R(rel)
    norms = {"R": R, "min": R if q.k is None else min(R, q.k), "possible": min(R, len(q.ranks))}
    return ratio(q.h(q.K, rel), norms[norm])


def f_measure(q: Query, beta: float = 1, rel: float = 1) -> float:
    """(1 + beta^2) h(K) / (beta^2 R + K)."""
    return ratio((1 + beta**2) * q.h(q.K, rel), beta**2 * q.R(rel) + q.K)


def r_precision(q: Query, rel: float = 1, mult: float = 1, rounding: str = "up") -> float:
    """h(c) / c, where c is mult R as a whole number."""
    c = needed(decimal(mult), q.R(rel), rounding)
    return ratio(q.h(c, rel), c)


def success(q: Query, rel: float = 1) -> float:
    """1 if h(K) > 0, else 0."""
    return 1.0 if q.h(q.K, rel) > 0 else 0.0


def all_found(q: Query, rel: float = 1) -> float:
    """1 if h(K) = R > 0, else 0."""
    return 1.0 if q.h(q.K, rel) == q.R(rel) > 0 else 0.0


def set_ap(q: Query, rel: float = 1) -> float:
    """h(K)^2 / (K R)."""
    return ratio(q.h(q.K, rel) ** 2, q.K * q.R(rel))


def utility(q: Query, hit: float = 1, noise: float = -1, miss: float = 0, rel: float = 1) -> float:
    """hit h + noise (n - h) + miss (R - h), with n = min(N, K) and h = h(K)."""
    n, h = min(q.N, q.K), q.h(q.K, rel)
    return hit * h + noise * (n - h) + miss * (q.R(rel) - h)


def decimal(number: float) -> Fraction:
    """The number as it is written: 0.1 is one tenth, not the nearest double."""
    return Fraction(str(number))


# ------------------------------------------------------------------------------------- average


def average_precision(q: Query, rel: float = 1, norm: str = "min") -> float:
    """Sum of P@i over relevant ranks i <= K, divided by min(R, k), R, min(R, K, N), h(K) or K."""
    R = q.R(rel)
    norms = {
        "R": R,
        "min": R if q.k is None else min(R, q.k),
        "possible": min(R, len(q.ranks)),
        "found": q.h(q.K, rel),
        "k": q.K,
    }
    return ratio(fsum(q.precisions(rel)), norms[norm])


def ap_to_r(q: Query, rel: float = 1) -> float:
    """Sum of P@i over relevant ranks i <= R, divided by R."""
    R = q.R(rel)
    return ratio(fsum(q.P(i, rel) for i in q.ranks if i <= R and q.is_relevant(i, rel)), R)


def mean_precision(q: Query, rel: float = 1) -> float:
    """(1/K) sum of P@i over ALL ranks i = 1..K. Not average precision."""
    return ratio(fsum(q.P(i, rel) for i in range(1, q.K + 1)), q.K)


def mean_recall(q: Query, rel: float = 1) -> float:
    """(1/K) sum of h(i)/R over all ranks i = 1..K."""
    return ratio(fsum(ratio(q.h(i, rel), q.R(rel)) for i in range(1, q.K + 1)), q.K)


def average_recall(q: Query, rel: float = 1) -> float:
    """Sum of h(i)/R over relevant ranks i <= K, divided by R."""
    R = q.R(rel)
    return ratio(fsum(q.h(i, rel) / R for i in q.ranks if q.is_relevant(i, rel)), R)


def yaap(q: Query, rel: float = 1) -> float:
    """ln((1 + S) / (1 + R - S)), with S the sum of P@i over relevant ranks i <= K."""
    S = fsum(q.precisions(rel))
    return log((1 + S) / (1 + q.R(rel) - S))


# --------------------------------------------------------------------------------------- first


def reciprocal_rank(q: Query, rel: float = 1) -> float:
    """1 / (rank of the first relevant item), or 0 if there is none in the first K."""
    return next((1 / i for i in q.ranks if q.is_relevant(i, rel)), 0.0)


# ---------------------------------------------------------------------------------------- gain


def gain_of(grade: Grade, gain: Gain) -> float:
    """What a grade is worth: max(grade, 0), or 2^max(grade, 0) - 1, or what the map says.

    In a map, grades <= 0 are worth 0 unless listed; a positive grade must be listed.
    """
    if grade is None:
        return 0.0
    if isinstance(gain, str):
        return max(grade, 0) if gain == "linear" else 2 ** max(grade, 0) - 1
    if grade > 0 and grade not in gain:
        raise ValueError(f"grade {grade} has no gain in {gain}")
    return gain.get(grade, 0.0)


def gains_of(q: Query, gain: Gain, least: float = 0) -> list[float]:
    """The gains at ranks 1..min(N, K); grades below least gain nothing."""
    return [gain_of(wanted(q.grade(i), least), gain) for i in q.ranks]


def ideal_of(q: Query, gain: Gain, least: float = 0) -> list[float]:
    """All positive gains judged for the query, descending; not cut."""
    gains = (gain_of(wanted(grade, least), gain) for grade in q.judged)
    return sorted((g for g in gains if g > 0), reverse=True)


def wanted(grade: Grade, least: float) -> Grade:
    """The grade, or None where it is below a least one that is not 0."""
    return None if least > 0 and grade is not None and grade < least else grade


def discounted(gains: Sequence[float], discount: str = "log", base: float = 2) -> float:
    """Sum of gain_i / log_b(i + 1), or gain_i / max(1, log_b i), or gain_i / i, or gain_i."""
    by = {
        "log": lambda i: log(i + 1, base),
        "jarvelin": lambda i: max(1.0, log(i, base)),
        "position": float,
        "none": lambda i: 1.0,
    }[discount]
    return fsum(g / by(i) for i, g in enumerate(gains, start=1))


def dcg(
    q: Query, gain: Gain = "linear", discount: str = "log", base: float = 2, least: float = 0
) -> float:
    """Sum of discounted gains over ranks i <= K."""
    return discounted(gains_of(q, gain, least), discount, base)


def idcg(
    q: Query, gain: Gain = "linear", discount: str = "log", base: float = 2, least: float = 0
) -> float:
    """The DCG of everything judged, best first, cut at k if there is a cutoff."""
    return discounted(ideal_of(q, gain, least)[: q.k], discount, base)


def ndcg(
    q: Query,
    gain: Gain = "linear",
    discount: str = "log",
    base: float = 2,
    least: float = 0,
    norm: str = "judged",
) -> float:
    """DCG / IDCG, or / the DCG of K or min(K, N) gains of 1; 0 where that is 0."""
    if norm == "judged":
        ideal = idcg(q, gain, discount, base, least)
    else:
        ideal = discounted([1.0] * {"k": q.K, "retrieved": len(q.ranks)}[norm], discount, base)
    return dcg(q, gain, discount, base, least) / ideal if ideal > 0 else 0.0


def ndcg_at(q: Query, n: int, gain: Gain) -> float:
    """DCG of the first n ranks / ideal DCG of n ranks."""
    return ndcg(Query(q.grades, q.judged, n), gain)


def ndcg_rel(q: Query, gain: Gain = "linear") -> float:
    """The mean of nDCG over every item with a positive gain, retrieved or not.

    A retrieved one at rank i counts nDCG@i; one never retrieved counts the final nDCG, DCG / IDCG.
    Not below 0.
    """
    wanted = len(ideal_of(q, gain))
    found = [ndcg_at(q, i, gain) for i, g in enumerate(gains_of(q, gain), start=1) if g > 0]
    missed = (wanted - len(found)) * ndcg(q, gain)
    return max(ratio(fsum(found) + missed, wanted), 0.0)


def r_ndcg(q: Query, gain: Gain = "linear") -> float:
    """The mean of nDCG@n over the ranks n where the ideal list steps down to a lower gain.

    The last step is to gain 0. A list longer than that (by two or more) adds its final nDCG.
    """
    ideal = ideal_of(q, gain)
    steps = [n for n in range(1, len(ideal) + 1) if n == len(ideal) or ideal[n] < ideal[n - 1]]
    values = [ndcg_at(q, n, gain) for n in steps]
    if steps and q.N - len(ideal) >= 2:
        values.append(ndcg(q, gain))
    return ratio(fsum(values), len(values))


def g_measure(q: Query, gain: Gain = "linear") -> float:
    """Sum of gain_i / log2(2 + cost_i - found_i), divided by all the gain there is.

    found_i is the gain in ranks 1..i, itself included. cost_i is what an ideal list has in ranks
    1..i, where every rank costs at least 1.
    """
    ideal, gains = ideal_of(q, gain), gains_of(q, gain)
    least = [max(g, 1.0) for g in ideal] + [1.0] * len(gains)
    terms = [
        g / log2(2 + fsum(least[:i]) - fsum(gains[:i]))
        for i, g in enumerate(gains, start=1)
        if g != 0
    ]
    return fsum(terms) / fsum(ideal) if ideal else 0.0


def bin_g(q: Query, rel: float = 1) -> float:
    """Sum over relevant ranks i of 1 / log2(2 + i - h(i)), divided by R.

    i - h(i) is how many items that are not relevant come before.
    """
    terms = [1 / log2(2 + i - q.h(i, rel)) for i in q.ranks if q.is_relevant(i, rel)]
    return ratio(fsum(terms), q.R(rel))


# ------------------------------------------------------------------------------------- cascade


def err(q: Query, max: float = 4) -> float:
    """Sum over i <= K of (1/i) p_i prod_{j<i} (1 - p_j), with p = (2^grade - 1) / 2^max."""
    if any(grade > max for grade in q.judged):
        raise ValueError(f"a grade is above max={max}")
    p = [gain_of(q.grade(i), "exp") / 2**max for i in q.ranks]
    return fsum(p[i - 1] / i * prod(1 - p_j for p_j in p[: i - 1]) for i in q.ranks)


def rbp(q: Query, p: float = 0.8, rel: float = 1, gain: str = "binary", norm: str = "all") -> float:
    """(1 - p) sum of p^(i-1) g over relevant ranks i <= K, / the same of min(R, k) or min(R, K, N) ones."""
    worth = {
        "binary": lambda g: 1.0,
        "linear": lambda g: gain_of(g, "linear"),
        "exp": lambda g: gain_of(g, "exp"),
    }[gain]
    found = (1 - p) * fsum(
        p ** (i - 1) * worth(q.grade(i)) for i in q.ranks if q.is_relevant(i, rel)
    )
    R = q.R(rel)
    if norm == "all":
        return found
    most = min(R, len(q.ranks)) if norm == "possible" else R if q.k is None else min(R, q.k)
    return ratio(found, (1 - p) * fsum(p ** (i - 1) for i in range(1, most + 1)))


def rbp_residual(q: Query, p: float = 0.8) -> float:
    """1 - (1 - p) sum of p^(i-1) over judged ranks i <= min(K, N)."""
    return 1 - (1 - p) * fsum(p ** (i - 1) for i in q.ranks if q.is_judged(i))


# -------------------------------------------------------------------------------- interpolated


def needed(level: Fraction, R: int, rounding: str) -> int:
    """How many relevant items make a recall of level, for a query that has R.

    up: ceil(level R), exactly. nearest: floor(level R + 0.5), trec9: floor(level R + 0.9), in
    floats. double: the least h with h / R >= level, in floats.
    """
    match rounding:
        case "up":
            return ceil(level * R)
        case "nearest":
            return floor(float(level) * R + 0.5)
        case "trec9":
            return floor(float(level) * R + 0.9)
        case "double":
            return next((h for h in range(1, R + 1) if h / R >= float(level)), R)
    raise ValueError(f"no rounding {rounding!r}")


def interpolated(q: Query, level: Fraction, rel: float, rounding: str) -> float:
    """The best P@i over relevant ranks i with h(i) >= max(needed, 1); 0 if there is none."""
    enough = max(needed(level, q.R(rel), rounding), 1)
    return max(q.precisions(rel)[enough - 1 :], default=0.0)


def iprec(q: Query, recall: float, rel: float = 1, rounding: str = "up") -> float:
    """Interpolated precision at one level of recall."""
    return interpolated(q, decimal(recall), rel, rounding)


def levels_of(points: int, rounding: str) -> list[Fraction]:
    """Levels of recall, evenly from 0 to 1: exact, or multiples of the double 1 / (points - 1)."""
    if rounding == "double":
        return [Fraction(j * (1 / (points - 1))) for j in range(points)]
    return [Fraction(j, points - 1) for j in range(points)]


def iap(q: Query, points: int = 11, rel: float = 1, rounding: str = "up") -> float:
    """The mean of interpolated precision over `points` levels of recall, evenly from 0 to 1."""
    levels = levels_of(points, rounding)
    return fsum(interpolated(q, level, rel, rounding) for level in levels) / points


# ---------------------------------------------------------------------------------------- areas


def steps(q: Query) -> list[int]:
    """The ranks at which the curve has a point: all within k, or the ends of groups of ties."""
    return list(q.ranks) if q.ends is None else list(q.ends)


def points(q: Query, rel: float, start: str) -> list[tuple[float, float]]:
    """(recall, precision) at every step, behind the point that the curve starts from."""
    listed = [(q.h(i, rel) / q.R(rel), q.P(i, rel)) for i in steps(q)]
    if start == "(1/R,P@first)":
        return [(recall, precision) for recall, precision in listed if recall > 0]
    return {"(0,1)": [(0.0, 1.0)], "(0,0)": [(0.0, 0.0)], "none": []}[start] + listed


def aupr(q: Query, rule: str | int = "step", start: str = "(0,1)", rel: float = 1) -> float:
    """The area under the curve: rectangles to each point, trapezoids between points, or the mean
    over levels of recall, or over all recall, of the best precision from there on."""
    if q.R(rel) == 0:
        return 0.0
    if isinstance(rule, int):
        levels = [Fraction(j, rule - 1) for j in range(rule)]
        return fsum(best_from(q, level, rel) for level in levels) / rule
    curve = points(q, rel, start if rule == "trapezoid" else "(0,0)")
    sides = list(pairwise(curve))
    match rule:
        case "trapezoid":
            return fsum((r1 - r0) * (p0 + p1) / 2 for (r0, p0), (r1, p1) in sides)
        case "step":
            return fsum((r1 - r0) * p1 for (r0, _), (r1, p1) in sides)
        case "interpolated":
            best = [max(p for r, p in curve if r >= r1) for _, (r1, _) in sides]
            return fsum((r1 - r0) * p for ((r0, _), (r1, _)), p in zip(sides, best, strict=True))
        case "davis_goadrich":
            ends = [0, *steps(q)]
            return fsum(grown(q, a, b, rel) for a, b in pairwise(ends)) / q.R(rel)
        case "linear101":
            listed = [(r, max(p for s, p in curve[i:] if s >= r)) for i, (r, p) in enumerate(curve)]
            if curve[-1][0] == 0:
                return 0.0
            line = [(0.0, 1.0), *listed[1:], (curve[-1][0], 0.0), (1.0, 0.0)]
            heights = [height(line, j / 100) for j in range(101)]
            return fsum((a + b) / 2 for a, b in pairwise(heights)) / 100
    raise ValueError(f"no rule {rule!r}")


def grown(q: Query, a: int, b: int, rel: float) -> float:
    """The integral of t / (t + f) over t from h(a) to h(b), f growing evenly: Simpson's rule."""
    t0, t1 = q.h(a, rel), q.h(b, rel)
    f0, f1 = a - t0, b - t1
    if t0 == t1:
        return 0.0

    def at(t: float) -> float:
        f = f0 + (f1 - f0) * (t - t0) / (t1 - t0)
        return 1 / (1 + (f1 - f0) / (t1 - t0)) if t + f == 0 else t / (t + f)

    n = 2000
    width = (t1 - t0) / n
    weights = [1, *([4, 2] * (n // 2 - 1)), 4, 1]
    return fsum(w * at(t0 + i * width) for i, w in enumerate(weights)) * width / 3


def height(line: Sequence[tuple[float, float]], x: float) -> float:
    """The height of a line through points at x; of several points at x, the last one's."""
    here = [y for at, y in line if at == x]
    if here:
        return here[-1]
    (x0, y0), (x1, y1) = next(
        ((x0, y0), (x1, y1)) for (x0, y0), (x1, y1) in pairwise(line) if x0 < x < x1
    )
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def best_from(q: Query, level: Fraction, rel: float) -> float:
    """The best precision at any step with a recall of at least the level."""
    R = q.R(rel)
    return max((q.P(i, rel) for i in steps(q) if Fraction(q.h(i, rel), R) >= level), default=0.0)


def grouped(
    name: str, params: Mapping[str, Any], scores: Mapping[Item, float], judged: Mapping[Item, float]
) -> float:
    """A measure where each group of equal scores is one step, to its last rank."""
    groups = tie_groups(scores)
    ends = [sum(map(len, groups[: i + 1])) for i in range(len(groups))]
    ranked = list(chain.from_iterable(groups))
    q = Query([judged.get(item) for item in ranked], list(judged.values()), None, ends)
    rel = params.get("rel", 1)
    match name:
        case "AUPR":
            return aupr(q, **{key: val for key, val in params.items() if key != "mean"})
        case "AP":
            norms = {"found": q.h(q.N, rel), "k": q.N, "possible": min(q.R(rel), q.N)}
            hits = [q.h(e, rel) - q.h(s, rel) for s, e in zip([0, *ends], ends, strict=False)]
            total = fsum(n * q.P(e, rel) for n, e in zip(hits, ends, strict=True) if n)
            return ratio(total, norms.get(params.get("norm", "min"), q.R(rel)))
        case "IPrec" | "IAP":
            levels = (
                [decimal(params["recall"])]
                if name == "IPrec"
                else levels_of(params["points"], params["rounding"])
            )
            wanted = [max(needed(level, q.R(rel), params["rounding"]), 1) for level in levels]
            best = [
                max((q.P(e, rel) for e in ends if q.h(e, rel) >= n), default=0.0) for n in wanted
            ]
            return fsum(best) / len(best)
        case "AUROC" | "GAUC" | "RankingLoss" | "LastRank":
            return tied_pairs(name, params, scores, judged)
        case "RecallAtPrecision":
            enough = [q.h(e, rel) for e in ends if q.h(e, rel) >= decimal(params["precision"]) * e]
            return ratio(max(enough, default=0), q.R(rel))
    return value(name, params, None, ranked, judged)


# -------------------------------------------------------------------------------------- sparse


def bpref(q: Query, rel: float = 1) -> float:
    """Sum over relevant ranks of 1 - min(n, R) / min(M, R), divided by R.

    n is how many items judged nonrelevant (0 <= grade < rel) come before; M how many there are.
    """
    R, M = q.R(rel), sum(0 <= grade < rel for grade in q.judged)

    def term(i: int) -> float:
        n = sum(q.is_nonrelevant(j, rel) for j in range(1, i))
        return 1.0 if n == 0 else 1 - min(n, R) / min(M, R)

    return ratio(fsum(term(i) for i in q.ranks if q.is_relevant(i, rel)), R)


def inf_ap(q: Query, rel: float = 1) -> float:
    """Sum over relevant ranks of the inferred P@i, divided by R.

    Of the i - 1 items before, r are judged relevant, n judged nonrelevant and u pooled but
    unjudged (a negative grade). Inferred P@i = 1/i + (r+n+u)/i * (r+e) / (r+n+2e), e = 0.00001;
    P@1 = 1.
    """

    def term(i: int) -> float:
        if i == 1:
            return 1.0
        before = range(1, i)
        r = sum(q.is_relevant(j, rel) for j in before)
        n = sum(q.is_nonrelevant(j, rel) for j in before)
        u = sum(q.is_pooled(j) for j in before)
        return 1 / i + (r + n + u) / i * (r + 1e-5) / (r + n + 2e-5)

    return ratio(fsum(term(i) for i in q.ranks if q.is_relevant(i, rel)), q.R(rel))


# --------------------------------------------------------------------------------- user models


def reader(q: Query, min: float, max: float, go_on: Callable[[int, float, float], float]) -> float:
    """The gain of each rank times the chance of reaching it, over the sum of these chances.

    go_on(i, gain at i, gain to i) is the chance of going on from rank i; there are k or 1000 ranks.
    """
    chance, so_far, total, chances = 1.0, 0.0, 0.0, 0.0
    for i in range(1, (q.k or 1000) + 1):
        gain = scaled(q.grade(i), min, max)
        so_far += gain
        total += chance * gain
        chances += chance
        chance *= go_on(i, gain, so_far)
    return total / chances


def scaled(grade: Grade, low: float, high: float) -> float:
    """(grade - low) / (high - low), not below 0 and not above 1."""
    return 0.0 if grade is None or grade < low else min((grade - low) / (high - low), 1.0)


def insq(q: Query, goal: float = 1, min: float = 0, max: float = 4) -> float:
    """Goes on with ((i + 2T - 1) / (i + 2T))^2."""
    return reader(q, min, max, lambda i, g, G: ((i + 2 * goal - 1) / (i + 2 * goal)) ** 2)


def inst(q: Query, goal: float = 1, min: float = 0, max: float = 4) -> float:
    """Goes on with ((i + T + T_i - 1) / (i + T + T_i))^2, with T_i = T - the gain to i."""
    return reader(
        q, min, max, lambda i, g, G: ((i + goal + (goal - G) - 1) / (i + goal + (goal - G))) ** 2
    )


def bpm(q: Query, goal: float = 1, min: float = 0, max: float = 4) -> float:
    """Goes on while the gain is below T."""
    return reader(q, min, max, lambda i, g, G: float(goal > G))


def nerr8(q: Query, min: float = 0, max: float = 4) -> float:
    """Goes on with 1 - g."""
    return reader(q, min, max, lambda i, g, G: 1 - g)


def nerr9(q: Query, min: float = 0, max: float = 4) -> float:
    """Goes on with i / (i + 1) (1 - g)."""
    return reader(q, min, max, lambda i, g, G: i / (i + 1) * (1 - g))


def nerr10(q: Query, p: float = 0.9, min: float = 0, max: float = 4) -> float:
    """Goes on with p (1 - g)."""
    return reader(q, min, max, lambda i, g, G: p * (1 - g))


def nerr11(q: Query, goal: float = 1, min: float = 0, max: float = 4) -> float:
    """Goes on with ((i + 2T - 1) / (i + 2T))^2 (1 - g)."""
    return reader(q, min, max, lambda i, g, G: ((i + 2 * goal - 1) / (i + 2 * goal)) ** 2 * (1 - g))


def sdcg(q: Query, min: float = 0, max: float = 4) -> float:
    """Sum of g / log2(i + 1), over the same of k or 1000 gains of 1."""
    depth = q.k or 1000
    gains = [scaled(q.grade(i), min, max) for i in range(1, depth + 1)]
    return discounted(gains) / discounted([1.0] * depth)


# ------------------------------------------------------------------------------------ confusion


def cells(q: Query, rel: float, items: float | str) -> tuple[float, float, float, float]:
    """True and false positives, false and true negatives, of the first K ranks."""
    if items == "retrieved":
        at, every, R = len(q.ranks), q.N, q.h(q.N, rel)
    else:
        at, every, R = q.K, float(items), q.R(rel)
    tp = q.h(q.K, rel)
    return tp, at - tp, R - tp, every - at - (R - tp)


def fall_out(q: Query, rel: float = 1, items: float | str = "retrieved") -> float:
    """False positives / all negatives."""
    _, fp, _, tn = cells(q, rel, items)
    return ratio(fp, fp + tn)


def set_accuracy(q: Query, rel: float = 1, items: float | str = "retrieved") -> float:
    """True positives and true negatives / all."""
    tp, fp, fn, tn = cells(q, rel, items)
    return ratio(tp + tn, tp + fp + fn + tn)


def mcc(q: Query, rel: float = 1, items: float | str = "retrieved") -> float:
    """(TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN)), and 0 where that is 0."""
    tp, fp, fn, tn = cells(q, rel, items)
    below = sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return (tp * tn - fp * fn) / below if below else 0.0


def auroc(q: Query, rel: float = 1, norm: str = "found", negatives: float | str = "all") -> float:
    """Pairs of a relevant item with one of the first `negatives` others that stands below it, / all pairs."""
    relevant = [i for i in q.ranks if q.is_relevant(i, rel)]
    others = [i for i in q.ranks if not q.is_relevant(i, rel)]
    most = len(others) if negatives == "all" else int(negatives)
    if norm == "min":
        relevant = relevant[:most]
    R = {"found": len(relevant), "R": q.R(rel), "min": min(q.R(rel), most)}[norm]
    # others that the list lacks stand below everything
    right = sum(max(most - sum(o < i for o in others), 0) for i in relevant)
    return ratio(right, R * most)


def group_auc(q: Query, rel: float = 1) -> float:
    """AUROC; NaN for a user without both kinds of items, who is left out."""
    hits = sum(q.is_relevant(i, rel) for i in q.ranks)
    return auroc(q, rel) if 0 < hits < q.N else nan


def ranking_loss(q: Query, rel: float = 1) -> float:
    """The share of pairs of a relevant and another item in which the other stands above."""
    relevant = [i for i in q.ranks if q.is_relevant(i, rel)]
    others = [i for i in q.ranks if not q.is_relevant(i, rel)]
    return ratio(sum(o < i for i in relevant for o in others), len(relevant) * len(others))


def last_rank(q: Query, rel: float = 1) -> float:
    """The rank of the last relevant item."""
    return max((i for i in q.ranks if q.is_relevant(i, rel)), default=0)


def mean_rank(q: Query, rel: float = 1, of: str = "first", missed: Any = "next") -> float:
    """The rank of the first relevant item, or the mean over all; missed ones have a rank behind the list."""
    ranks = [float(i) for i in q.ranks if q.is_relevant(i, rel)]
    ranks += [q.N + 1.0 if missed == "next" else missed] * (q.R(rel) - len(ranks))
    if not ranks:
        return 0.0
    return ranks[0] if of == "first" else fsum(ranks) / len(ranks)


def percentile_rank(q: Query, rel: float = 1, length: Any = "retrieved") -> float:
    """The mean share of the list above each relevant item; 1 for a missed item."""
    last = q.N if length == "retrieved" else length
    shares = [ratio(i - 1, last - 1) for i in q.ranks if q.is_relevant(i, rel)]
    return ratio(fsum(shares) + q.R(rel) - len(shares), q.R(rel))


def inp(q: Query, rel: float = 1) -> float:
    """R divided by the rank of the last relevant item, if all were found."""
    ranks = [i for i in q.ranks if q.is_relevant(i, rel)]
    return ratio(q.R(rel), ranks[-1]) if len(ranks) == q.R(rel) > 0 else 0.0


def recall_at_precision(q: Query, precision: float, rel: float = 1) -> float:
    """The highest h(i) / R at a relevant rank with P@i >= precision."""
    enough = [i for i in q.ranks if q.is_relevant(i, rel) and q.h(i, rel) >= decimal(precision) * i]
    return ratio(max((q.h(i, rel) for i in enough), default=0), q.R(rel))


def tied_pairs(
    name: str, params: Mapping[str, Any], scores: Mapping[Item, float], judged: Mapping[Item, float]
) -> float:
    """AUROC, RankingLoss and LastRank from the scores of every pair."""
    rel = params.get("rel", 1)
    relevant = [item for item in scores if item in judged and judged[item] >= rel]
    others = [item for item in scores if item not in relevant]
    if name == "LastRank":
        return max((sum(s >= scores[i] for s in scores.values()) for i in relevant), default=0)
    if name == "RankingLoss":
        wrong = sum(scores[o] >= scores[i] for i in relevant for o in others)
        return ratio(wrong, len(relevant) * len(others))
    if name == "GAUC" and not (relevant and others):
        return nan
    most = len(others) if params.get("negatives", "all") == "all" else int(params["negatives"])
    before = {
        i: sum(scores[o] > scores[i] for o in others)
        + sum(scores[o] == scores[i] for o in others) / 2
        for i in relevant
    }
    R = sum(grade >= rel for grade in judged.values())
    counted = sorted(relevant, key=lambda i: -scores[i])
    norm = params.get("norm", "found")
    if norm == "min":
        counted = counted[:most]
    pairs = {"found": len(relevant), "R": R, "min": min(R, most)}[norm] * most
    return ratio(fsum(max(most - before[i], 0) for i in counted), pairs)


# --------------------------------------------------------------------------------- compatibility


def compat(q: Query, p: float = 0.95, norm: str = "ideal") -> float:
    """Sum of p^(d-1) X(d) / d over depths d, with X(d) the items common to both rankings to depth d."""
    listed = [
        (-(grade or 0), i) for i, grade in enumerate(q.grades) if grade is not None and grade > 0
    ]
    left = [grade for grade in q.judged if grade > 0]
    for grade, _ in listed:
        left.remove(-grade)
    best = sorted([*listed, *((-grade, q.N + j) for j, grade in enumerate(left))])
    ideal = [i for _, i in best]  # places in the list; beyond it those that were missed
    depths = range(1, max(q.N, len(ideal)) + 1)
    common = fsum(p ** (d - 1) * len(set(ideal[:d]) & set(range(min(d, q.N)))) / d for d in depths)
    whole = fsum(p ** (d - 1) * min(d, len(ideal)) / d for d in depths)
    return ratio(common, whole if norm == "ideal" else fsum(p ** (d - 1) for d in depths))


# ----------------------------------------------------------------------------------- subtopics


@dataclass(frozen=True)
class Covering:
    """One ranked list of items that are judged for subtopics: item -> subtopic -> grade."""

    ranked: Sequence[Any]
    judged: Mapping[Any, Mapping[Any, float]]
    k: int | None
    weights: Mapping[Any, float] | None = None

    def w(self, *subtopics: Any) -> float:
        """The weights of some subtopics; 1 for each where none are given."""
        return fsum(1 if self.weights is None else self.weights[s] for s in subtopics)

    @property
    def K(self) -> int:
        """The effective depth: k where there is a cutoff, else N."""
        return len(self.ranked) if self.k is None else self.k

    def has(self, item: Any, rel: float) -> set[Any]:
        """The subtopics for which the item is relevant."""
        return {s for s, grade in self.judged.get(item, {}).items() if grade >= rel}

    def S(self, rel: float) -> list[Any]:
        """The subtopics that have a relevant item."""
        return sorted(set().union(*(self.has(item, rel) for item in self.judged)))


def gains(c: Covering, ranked: Sequence[Any], rel: float, alpha: float) -> list[float]:
    """For each rank, the sum of (1 - alpha)^(earlier items with the subtopic) over the item's subtopics."""
    return [
        fsum(
            c.w(s) * (1 - alpha) ** sum(s in c.has(before, rel) for before in ranked[:i])
            for s in c.has(item, rel)
        )
        for i, item in enumerate(ranked)
    ]


def greedy(c: Covering, rel: float, alpha: float) -> list[Any]:
    """All judged items: at each rank the one that gains most, and of equal ones that with the last id."""
    ranked: list[Any] = []
    while len(ranked) < len(c.judged):
        left = [item for item in c.judged if item not in ranked]
        worth = {item: gains(c, [*ranked, item], rel, alpha)[-1] for item in left}
        best = [item for item in left if worth[item] >= max(worth.values()) - 1e-9]
        ranked.append(max(best, key=lambda item: str(item).encode()))
    return ranked


def weighed(c: Covering, ranked: Sequence[Any], rel: float, alpha: float, weight: Any) -> float:
    """Sum of gain times weight(i) over ranks i <= k, if there is a cutoff."""
    found = enumerate(gains(c, ranked, rel, alpha)[: c.k], start=1)
    return fsum(gain * weight(i) for i, gain in found)


def ideal_sum(c: Covering, rel: float, alpha: float, ideal: str, weight: Any) -> float:
    """The same sum of the greedy ranking, or the highest of all rankings."""
    if ideal != "exact":
        return weighed(c, greedy(c, rel, alpha), rel, alpha, weight)
    relevant = [item for item in c.judged if c.has(item, rel)]
    return max(weighed(c, order, rel, alpha, weight) for order in permutations(relevant))


def full_sum(c: Covering, rel: float, alpha: float, weight: Any) -> float:
    """The same sum of K items that all have every subtopic."""
    return c.w(*c.S(rel)) * fsum((1 - alpha) ** (i - 1) * weight(i) for i in range(1, c.K + 1))


def inverse_log(i: int) -> float:
    return 1 / log2(i + 1)


def st_recall(c: Covering, rel: float = 1, subtopics: str = "relevant") -> float:
    """How many subtopics the first K items have, over S, or over all that are judged."""
    found = set().union(*(c.has(item, rel) for item in c.ranked[: c.K]))
    all_judged = {s for grades in c.judged.values() for s in grades}
    return ratio(len(found), len(c.S(rel) if subtopics == "relevant" else all_judged))


def p_ia(c: Covering, rel: float = 1) -> float:
    """The mean over subtopics of the share of the first K items that are relevant for it."""
    shares = [
        c.w(s) * ratio(sum(s in c.has(item, rel) for item in c.ranked[: c.K]), c.K)
        for s in c.S(rel)
    ]
    return ratio(fsum(shares), c.w(*c.S(rel)))


def ap_ia(c: Covering, rel: float = 1) -> float:
    """The mean over subtopics of AP / R of judgments of that subtopic alone."""

    def alone(s: Any) -> float:
        judged = {item: float(s in c.has(item, rel)) for item in c.judged}
        q = Query([judged.get(item) for item in c.ranked], list(judged.values()), None)
        return c.w(s) * average_precision(q, norm="R")

    return ratio(fsum(map(alone, c.S(rel))), c.w(*c.S(rel)))


def alpha_dcg(c: Covering, alpha: float = 0.5, rel: float = 1, norm: str = "none") -> float:
    """Sum of gain / log2(i + 1); norm=full divides by that of a list in which every item has everything."""
    total = weighed(c, c.ranked, rel, alpha, inverse_log)
    return total if norm == "none" else ratio(total, full_sum(c, rel, alpha, inverse_log))


def alpha_ndcg(c: Covering, alpha: float = 0.5, rel: float = 1, ideal: str = "greedy") -> float:
    """Sum of gain / log2(i + 1), over that of the ideal ranking."""
    total = weighed(c, c.ranked, rel, alpha, inverse_log)
    return ratio(total, ideal_sum(c, rel, alpha, ideal, inverse_log))


def err_ia(c: Covering, alpha: float = 0.5, rel: float = 1, norm: str = "S") -> float:
    """The mean over subtopics of ERR with a stop probability of alpha at its relevant items."""
    if norm != "S":
        total = weighed(c, c.ranked, rel, alpha, lambda i: 1 / i)
        return total if norm == "none" else ratio(total, full_sum(c, rel, alpha, lambda i: 1 / i))

    def alone(s: Any) -> float:
        stop = [alpha * (s in c.has(item, rel)) for item in c.ranked[: c.k]]
        total = fsum(p / i * prod(1 - q for q in stop[: i - 1]) for i, p in enumerate(stop, 1))
        return c.w(s) * total

    return ratio(fsum(map(alone, c.S(rel))), c.w(*c.S(rel)))


def n_err_ia(c: Covering, alpha: float = 0.5, rel: float = 1, ideal: str = "greedy") -> float:
    """Sum of gain / i, over that of the ideal ranking."""
    total = weighed(c, c.ranked, rel, alpha, lambda i: 1 / i)
    return ratio(total, ideal_sum(c, rel, alpha, ideal, lambda i: 1 / i))


def nrbp(c: Covering, alpha: float = 0.5, beta: float = 0.5, rel: float = 1) -> float:
    """(1 - (1 - alpha) beta) / S times the sum of gain beta^(i - 1)."""
    total = weighed(c, c.ranked, rel, alpha, lambda i: beta ** (i - 1))
    return ratio((1 - (1 - alpha) * beta) * total, c.w(*c.S(rel)))


def n_nrbp(
    c: Covering, alpha: float = 0.5, beta: float = 0.5, rel: float = 1, ideal: str = "greedy"
) -> float:
    """Sum of gain beta^(i - 1), over that of the ideal ranking."""
    total = weighed(c, c.ranked, rel, alpha, lambda i: beta ** (i - 1))
    return ratio(total, ideal_sum(c, rel, alpha, ideal, lambda i: beta ** (i - 1)))


def d_sharp(c: Covering, gamma: float = 0.5, rel: float = 1, gain: Gain = "linear") -> float:
    """gamma times subtopic recall, plus 1 - gamma times nDCG of gains summed over subtopics."""
    summed = {
        item: fsum(c.w(s) * gain_of(g, gain) for s, g in grades.items())
        for item, grades in c.judged.items()
    }
    ideal = discounted(sorted(summed.values(), reverse=True)[: c.k])
    found = discounted([summed.get(item, 0.0) for item in c.ranked[: c.k]])
    return gamma * st_recall(c, rel) + (1 - gamma) * ratio(found, ideal)


OF_SUBTOPICS: dict[str, Callable[..., float]] = {
    "StRecall": st_recall,
    "P_IA": p_ia,
    "AP_IA": ap_ia,
    "alpha_DCG": alpha_dcg,
    "alpha_nDCG": alpha_ndcg,
    "ERR_IA": err_ia,
    "nERR_IA": n_err_ia,
    "NRBP": nrbp,
    "nNRBP": n_nrbp,
    "Dsharp_nDCG": d_sharp,
}


# --------------------------------------------------------------------------------------- table


WITH_CUTOFF: dict[str, Callable[..., float]] = {
    "NumRet": num_ret,
    "NumRelRet": num_rel_ret,
    "NumNonrelRet": num_nonrel_ret,
    "Judged": judged_share,
    "Unjudged": unjudged_share,
    "P": precision,
    "R": recall,
    "F": f_measure,
    "Success": success,
    "AllFound": all_found,
    "SetAP": set_ap,
    "Utility": utility,
    "AP": average_precision,
    "MeanP": mean_precision,
    "MeanR": mean_recall,
    "AR": average_recall,
    "YAAP": yaap,
    "RR": reciprocal_rank,
    "DCG": dcg,
    "IDCG": idcg,
    "nDCG": ndcg,
    "ERR": err,
    "RBP": rbp,
    "RBPResidual": rbp_residual,
    "AUPR": aupr,
    "INSQ": insq,
    "INST": inst,
    "BPM": bpm,
    "NERR8": nerr8,
    "NERR9": nerr9,
    "NERR10": nerr10,
    "NERR11": nerr11,
    "SDCG": sdcg,
    "FallOut": fall_out,
    "SetAccuracy": set_accuracy,
    "MCC": mcc,
    "AUROC": auroc,
    "RecallAtPrecision": recall_at_precision,
}

WITHOUT_CUTOFF: dict[str, Callable[..., float]] = {
    "NumQ": num_q,
    "NumRel": num_rel,
    "Rprec": r_precision,
    "APR": ap_to_r,
    "nDCGrel": ndcg_rel,
    "RnDCG": r_ndcg,
    "G": g_measure,
    "binG": bin_g,
    "IPrec": iprec,
    "IAP": iap,
    "bpref": bpref,
    "infAP": inf_ap,
    "RankingLoss": ranking_loss,
    "LastRank": last_rank,
    "GAUC": group_auc,
    "MeanRank": mean_rank,
    "PercentileRank": percentile_rank,
    "INP": inp,
    "Compat": compat,
}

NAMES: tuple[str, ...] = (*WITH_CUTOFF, *WITHOUT_CUTOFF, *OF_SUBTOPICS)


def value(
    name: str,
    params: Mapping[str, Any],
    k: int | None,
    ranked: Sequence[Item],
    judged: Mapping[Item, Any],
    weights: Mapping[Any, float] | None = None,
) -> float:
    """The measure `name(params)@k` of one ranked list, whose order is final.

    `params` holds what is not a default. `mean` says how queries are averaged, so one query's
    value does not depend on it. Judgments are item -> grade, or item -> subtopic -> grade, of which
    measures that look at no subtopics take the highest grade. `weights` are those of the subtopics.
    """
    params = {key: val for key, val in params.items() if key != "mean"}
    if name in OF_SUBTOPICS:
        rest = {one: value for one, value in params.items() if one != "weights"}
        given = weights if params.get("weights") == "given" else None
        return float(OF_SUBTOPICS[name](Covering(ranked, judged, k, given), **rest))
    judged = flat(judged)
    if k is not None and name in WITHOUT_CUTOFF:
        raise ValueError(f"{name} takes no cutoff; got @{k}")
    measure = {**WITH_CUTOFF, **WITHOUT_CUTOFF}[name]
    query = Query([judged.get(item) for item in ranked], list(judged.values()), k)
    return float(measure(query, **params))


WORST: dict[str, float] = {"FallOut": 1.0, "RankingLoss": 1.0, "PercentileRank": 1.0}
"""The worst values of measures whose low values are good, where there is a worst one."""


def missing_value(
    name: str,
    params: Mapping[str, Any],
    k: int | None,
    judged: Mapping[Item, Any],
    weights: Mapping[Any, float] | None = None,
) -> float:
    """The value of a query that the run lacks: that of an empty list, or the worst one.

    No pair of RankingLoss is in the wrong order where nothing is relevant, whatever the list.
    """
    relevant = any(grade >= params.get("rel", 1) for grade in flat(judged).values())
    if name in WORST and (relevant or name == "FallOut"):
        return WORST[name]
    if name == "MeanRank" and relevant and params.get("missed", "next") != "next":
        return float(params["missed"])
    if name == "GAUC" and relevant:
        return 0.0
    return value(name, params, k, [], judged, weights)


def flat(judged: Mapping[Item, Any]) -> dict[Item, float]:
    """The grade of each item: of grades for subtopics the highest."""
    return {
        item: max(grade.values()) if isinstance(grade, Mapping) else grade
        for item, grade in judged.items()
    }


# -------------------------------------------------------------------------------------- orders


def tie_groups(scores: Mapping[Item, float]) -> list[list[Item]]:
    """The items in groups of equal score, best score first, each group in input order."""
    return [
        [item for item in scores if scores[item] == score]
        for score in sorted(set(scores.values()), reverse=True)
    ]


def given_order(scores: Mapping[Item, float]) -> list[Item]:
    """Best score first; equal scores in input order."""
    return [item for group in tie_groups(scores) for item in group]


def trec_order(scores: Mapping[Item, float]) -> list[Item]:
    """Best score first; equal scores by item id, descending by its UTF-8 bytes."""
    return [
        item
        for group in tie_groups(scores)
        for item in sorted(group, key=lambda item: str(item).encode(), reverse=True)
    ]


def best_order(scores: Mapping[Item, float], judged: Mapping[Item, float]) -> list[Item]:
    """Best score first; equal scores by grade descending, unjudged just below grade 0."""

    def badness(item: Item) -> tuple[int, float]:
        grade = judged.get(item)
        if grade is None:
            return (1, 0)
        return (0, -grade) if grade >= 0 else (2, -grade)

    return [item for group in tie_groups(scores) for item in sorted(group, key=badness)]


def worst_order(scores: Mapping[Item, float], judged: Mapping[Item, float]) -> list[Item]:
    """Best score first; every group of equal scores the reverse of what is best."""
    best = best_order(scores, judged)
    return [item for group in tie_groups(scores) for item in reversed(best) if item in group]


def orders(scores: Mapping[Item, float]) -> Iterator[list[Item]]:
    """Every order of the list that its scores allow."""
    for arranged in product(*(permutations(group) for group in tie_groups(scores))):
        yield list(chain.from_iterable(arranged))


def expected(
    name: str,
    params: Mapping[str, Any],
    k: int | None,
    scores: Mapping[Item, float],
    judged: Mapping[Item, float],
) -> float:
    """The exact mean of a measure over every order that the scores allow."""
    values = [value(name, params, k, ranked, judged) for ranked in orders(scores)]
    return fsum(values) / len(values)
