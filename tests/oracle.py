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
from math import ceil, floor, fsum, log, log2, prod
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
    """h(K) / R, or h(K) / min(R, K), or h(K) / min(R, K, N)."""
    R = q.R(rel)
    norms = {"R": R, "min": min(R, q.K), "possible": min(R, len(q.ranks))}
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


def gains_of(q: Query, gain: Gain) -> list[float]:
    """The gains at ranks 1..min(N, K)."""
    return [gain_of(q.grade(i), gain) for i in q.ranks]


def ideal_of(q: Query, gain: Gain) -> list[float]:
    """All positive gains judged for the query, descending; not cut."""
    gains = (gain_of(grade, gain) for grade in q.judged)
    return sorted((g for g in gains if g > 0), reverse=True)


def discounted(gains: Sequence[float]) -> float:
    """Sum of gain_i / log2(i + 1)."""
    return fsum(g / log2(i + 1) for i, g in enumerate(gains, start=1))


def dcg(q: Query, gain: Gain = "linear") -> float:
    """Sum of gain_i / log2(i + 1) over ranks i <= K."""
    return discounted(gains_of(q, gain))


def idcg(q: Query, gain: Gain = "linear") -> float:
    """The DCG of everything judged, best first, cut at k if there is a cutoff."""
    return discounted(ideal_of(q, gain)[: q.k])


def ndcg(q: Query, gain: Gain = "linear") -> float:
    """DCG / IDCG, and 0 where nothing judged has a positive gain."""
    ideal = idcg(q, gain)
    return dcg(q, gain) / ideal if ideal > 0 else 0.0


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


def rbp(q: Query, p: float = 0.8, rel: float = 1) -> float:
    """(1 - p) sum of p^(i-1) over relevant ranks i <= K."""
    return (1 - p) * fsum(p ** (i - 1) for i in q.ranks if q.is_relevant(i, rel))


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
    "SetAP": set_ap,
    "Utility": utility,
    "AP": average_precision,
    "MeanP": mean_precision,
    "MeanR": mean_recall,
    "YAAP": yaap,
    "RR": reciprocal_rank,
    "DCG": dcg,
    "IDCG": idcg,
    "nDCG": ndcg,
    "ERR": err,
    "RBP": rbp,
    "RBPResidual": rbp_residual,
    "AUPR": aupr,
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
}

NAMES: tuple[str, ...] = (*WITH_CUTOFF, *WITHOUT_CUTOFF)


def value(
    name: str,
    params: Mapping[str, Any],
    k: int | None,
    ranked: Sequence[Item],
    judged: Mapping[Item, float],
) -> float:
    """The measure `name(params)@k` of one ranked list, whose order is final.

    `params` holds what is not a default. `mean` says how queries are averaged, so one query's
    value does not depend on it.
    """
    if k is not None and name in WITHOUT_CUTOFF:
        raise ValueError(f"{name} takes no cutoff; got @{k}")
    measure = {**WITH_CUTOFF, **WITHOUT_CUTOFF}[name]
    query = Query([judged.get(item) for item in ranked], list(judged.values()), k)
    return float(measure(query, **{key: val for key, val in params.items() if key != "mean"}))


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
