"""Evaluates the formulas that germane prints: plain Python, from the printed text alone.

docs/formula.py reads the text; here, its signs are computed, exactly where numbers are rational, and
its words and functions stand for what a reader takes them for. A word without a meaning here is an
error. 0 is the sum and the maximum of nothing, and what a division by 0 gives.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, combinations, pairwise, permutations
from math import ceil, floor, fsum, isnan, log, log2, log10, nan, prod, sqrt
from statistics import median
from typing import Any, ClassVar

from catalogue_oracle import World, differ

from test_docs import loaded

formula = loaded("formula")
parse = lru_cache(None)(formula.parse)

Number = int | float | Fraction
Env = dict[str, Any]
"""What the letters of a formula stand for, at one place in it."""

LOGARITHMS = {"log2": log2, "log10": log10, "ln": log}


class Values:
    """The values of a formula and its parts. Subclasses know words, functions and what sums are over."""

    words: ClassVar[Mapping[str, Callable[..., Any]]]
    """Words, as patterns, and what they stand for: a function of the values, the letters and the match."""

    def __init__(self, definition: str, tree: Any = None) -> None:
        self.definition, self.tree = definition, tree or parse(definition)
        self.whole, *clauses = self.tree.parts
        self.lets = {one.parts[0]: one.parts[1] for one in clauses if one.kind == "let"}
        self.says = {one.parts[0]: one.parts[1] for one in clauses if one.kind == "says"}
        self.remarks = [one.parts[0] for one in clauses if one.kind == "remark"]
        rounded = "in double precision" in self.remarks or "i ≤ 1000" in definition  # for its size
        self.number: Callable[[Any], Number] = float if rounded else Fraction
        self.running: dict[int, list[Number]] = {}

    def compute(self) -> float:
        return float(self.value(self.whole, {}))

    def value(self, node: Any, env: Env) -> Any:
        kind, parts = node
        match kind:
            case "number":
                return self.number(parts[0])
            case "words":
                return self.name(parts[0], env)
            case "call":
                return self.call(parts[0], [self.value(part, env) for part in parts[1:]], env)
            case "at":
                return self.at(parts[0], self.value(parts[1], env))
            case "group":
                return self.value(parts[0], env)
            case "quotient" | "÷" | "/":
                return self.divide(self.value(parts[0], env), self.value(parts[1], env))
            case "·":
                left = self.value(parts[0], env)
                return left and left * self.value(parts[1], env)
            case "+":
                return self.value(parts[0], env) + self.value(parts[1], env)
            case "-":
                return self.value(parts[0], env) - self.value(parts[1], env)
            case "negative":
                return -self.value(parts[0], env)
            case "^":
                return self.raise_to(self.value(parts[0], env), self.value(parts[1], env))
            case "compare":
                return int(self.holds(parts, env))
            case "up":
                return ceil(self.value(parts[0], env))
            case "down":
                return floor(self.value(parts[0], env))
            case "root":
                return sqrt(self.value(parts[0], env))
            case "size":
                return len(self.value(parts[0], env))
            case "both":
                return self.name(parts[0], env) & self.name(parts[1], env)
            case "Σ" | "Π" | "max":
                return self.combine(node, env)
            case "mean":
                return self.average(parts[0], parts[1], env)
            case "within":
                return self.value(parts[0], {**env, "last": self.value(parts[1].parts[2], env)})
        raise ValueError(f"{kind} in {self.definition}")

    def divide(self, above: Number, below: Number) -> Number:
        if not below:
            return 0
        exact = self.number is Fraction and not isinstance(above, float)
        return Fraction(above) / below if exact else above / below

    def raise_to(self, base: Number, exponent: Number) -> Number:
        """A whole power of a double is a product, step by step, as in programs."""
        whole = int(exponent) == exponent
        if isinstance(base, float) or not whole:
            return prod([float(base)] * int(exponent)) if whole else float(base) ** float(exponent)
        return base ** int(exponent)

    def holds(self, parts: Any, env: Env) -> bool:
        """Does a chain of comparisons hold: 1 ≤ i ≤ N?"""
        values = [self.value(part, env) for part in parts[::2]]
        compare = {"≤": lambda a, b: a <= b, "≥": lambda a, b: a >= b, "<": lambda a, b: a < b}
        compare[">"] = lambda a, b: a > b
        pairs = zip(parts[1::2], pairwise(values), strict=True)
        return all(compare[sign](*pair) for sign, pair in pairs)

    def combine(self, node: Any, env: Env) -> Number:
        """A sum, product or maximum; those to each rank in turn are continued."""
        sign, (body, over, *conditions) = node
        steps = self.steps(over, env)
        if sign != "max" and not conditions and over.kind == "compare" and len(over.parts) == 3:
            done = self.running.setdefault(id(node), [0 if sign == "Σ" else 1])
            steps = list(steps)
            for step in steps[len(done) - 1 :]:
                value = self.value(body, {**env, **step})
                done.append(done[-1] + value if sign == "Σ" else done[-1] * value)
            return done[len(steps)]
        inside = ({**env, **step} for step in steps)
        values = [
            self.value(body, one)
            for one in inside
            if all(self.holds(condition.parts, one) for condition in conditions)
        ]
        return max(values, default=0) if sign == "max" else add(values)

    def steps(self, over: Any, env: Env) -> Iterable[Env]:
        """What a sum is over: ranks, levels, or things that words name."""
        if over.kind == "words":
            return self.domain(over.parts[0], env)
        if over.kind == "levels":
            return [{over.parts[0]: level} for level in self.list_levels(*over.parts[1:])]
        first, *rest = over.parts
        low = self.value(first, env) if len(rest) == 4 else 1
        letter = (rest[1] if len(rest) == 4 else first).parts[0]
        end = self.value(rest[-1], env) - (rest[-2] == "<")
        return ({letter: i} for i in range(int(low), floor(end) + 1))

    def list_levels(self, first: Any, second: Any, last: Any) -> Iterator[Number]:
        """0, 0.1, …, 1, or 0·0.1, 1·0.1, …, 10·0.1."""
        one, two, end = (self.written(node) for node in (first, second, last))
        if two.kind == "·":
            step = self.value(two.parts[1], {})
            return (i * step for i in range(int(self.value(end.parts[0], {})) + 1))
        low, step = Fraction(one.parts[0]), Fraction(two.parts[0]) - Fraction(one.parts[0])
        count = (Fraction(end.parts[0]) - low) / step
        return (self.number(low + i * step) for i in range(int(count) + 1))

    def written(self, node: Any) -> Any:
        return node.parts[0] if node.kind == "definition" else node

    def name(self, text: str, env: Env) -> Any:
        """A letter, or words: as defined here, in the formula, or by their meaning."""
        if text in env:
            return env[text]
        if text in self.lets:
            return self.value(self.lets[text], env)
        return self.mean(self.says.get(text, text), env)

    def mean(self, text: str, env: Env) -> Any:
        for pattern, meaning in self.words.items():
            if found := re.fullmatch(pattern, text):
                return meaning(self, env, *found.groups())
        raise ValueError(f"{text!r} has no meaning here: {self.definition}")

    def call(self, name: str, arguments: list[Number], env: Env) -> Any:
        if name in LOGARITHMS or re.fullmatch(r"log[\d.]+", name):
            return self.take_logarithm(name, float(arguments[0]))
        if name in ("min", "max"):
            return {"min": min, "max": max}[name](arguments)
        for defined in (*self.lets, *self.says):
            letter, _, index = defined.rstrip(")").partition("(")
            if letter == name and index:
                inside = {**env, index: arguments[0]}
                known = self.lets.get(defined)
                if known is not None:
                    return self.value(known, inside)
                return self.mean(self.says[defined], inside)
        return self.mean(f"{name}(i)", {**env, "i": arguments[0]})

    def take_logarithm(self, name: str, number: float) -> float:
        """Of 0, which only the quotient of nothing is, it has no use: it is 0, too."""
        if not number:
            return 0.0
        return LOGARITHMS[name](number) if name in LOGARITHMS else log(number, float(name[3:]))

    def at(self, name: str, rank: Number) -> Any:
        raise NotImplementedError

    def domain(self, text: str, env: Env) -> Iterable[Env]:
        raise NotImplementedError

    def average(self, body: Any, over: str, env: Env) -> Any:
        raise NotImplementedError


def add(values: Sequence[Number]) -> Number:
    return fsum(values) if any(isinstance(one, float) for one in values) else sum(values)


# --- One list -------------------------------------------------------------------------------------

Item = Hashable
FULL = object()
"""An item that has all subtopics."""


class ListValues(Values):
    """A ranked list and the grades of the judged items, or their grades for subtopics."""

    def __init__(
        self,
        definition: str,
        ranked: Sequence[Item],
        judged: Mapping[Item, Any],
        weights: Mapping[Any, float] | None = None,
        tree: Any = None,
    ) -> None:
        super().__init__(definition, tree)
        self.ranked, self.judged, self.weights = list(ranked), judged, weights
        found = re.search(r"a grade below ([\d.]+) gains nothing", definition)
        self.least = float(found[1]) if found else 0.0
        self.line: list[tuple[Number, Number]] = []
        found = re.fullmatch(r"grade ≥ ([\d.]+)", self.says.get("relevant", "grade ≥ 1"))
        self.rel = float(found[1]) if found else None  # None: what gains anything

    def order(self, ranked: Sequence[Item]) -> "ListValues":
        """The same formula of another list."""
        return ListValues(self.definition, ranked, self.judged, self.weights, self.tree)

    @property
    def top(self) -> Any:
        """The sum, without its divisor."""
        return self.whole.parts[0] if self.whole.kind == "quotient" else self.whole

    @property
    def weight(self) -> Number:
        """What a micro mean weighs the query by."""
        said = next((one for one in self.remarks if one.startswith("mean weighted by ")), "")
        said = said.removeprefix("mean weighted by ")
        if said == "what each query's sum is divided by":
            return float(self.value(self.whole.parts[1], {}))
        return float(self.value(self.written(parse(said)), {})) if said else 1.0

    # what is at a rank, and what counts

    def item(self, rank: Number) -> Item | None:
        return self.ranked[int(rank) - 1] if 1 <= rank <= len(self.ranked) else None

    def grade(self, item: Item | None) -> Number | None:
        """The grade of an item; None if it is not judged."""
        grade = self.judged.get(item) if item is not None else None
        return grade if grade is None else Fraction(grade)

    def is_relevant(self, item: Item | None) -> bool:
        if self.rel is None:
            return self.gain(item) > 0
        grade = self.grade(item)
        return grade is not None and grade >= self.rel

    def is_judged(self, item: Item | None) -> bool:
        grade = self.grade(item)
        return grade is not None and grade >= 0

    def worth(self, grade: Number | None) -> Number:
        """A grade as a gain: 0 if nobody judged the item, or if it is too low."""
        return 0 if grade is None or grade < self.least else max(grade, 0)

    def gain_of(self, grade: Number | None) -> Number:
        if "gain" in self.lets:
            return self.value(self.lets["gain"], {"grade": self.worth(grade)})
        if "gain" not in self.says:
            return self.worth(grade)
        pairs = (pair.split(":") for pair in self.says["gain"].split("_"))
        gains = {Fraction(one): Fraction(gain) for one, gain in pairs}
        return 0 if grade is None or grade < self.least else gains.get(grade, 0)

    def gain(self, item: Item | None) -> Number:
        return self.gain_of(self.grade(item))

    def find_grade(self, env: Env) -> Number | None:
        """The grade of the item at rank i, or for the subtopic of a sum."""
        return env["graded"] if "graded" in env else self.grade(self.item(env["i"]))

    def count(self, rank: Number, counts: Callable[[Item | None], bool]) -> int:
        """How many of the first ranks hold an item that counts?"""
        return sum(map(counts, self.ranked[: max(int(rank), 0)]))

    @cached_property
    def found(self) -> list[int]:
        """How many relevant items are in the first 0, 1, … ranks?"""
        return [0, *accumulate(map(self.is_relevant, self.ranked))]

    def hits(self, rank: Number) -> int:
        return self.found[min(int(rank), len(self.ranked))] if rank > 0 else 0

    @cached_property
    def relevant(self) -> Number:
        """R, the relevant items that exist."""
        return sum(map(self.is_relevant, self.judged))

    @cached_property
    def gains(self) -> list[Number]:
        """The gains of the judged items, the highest first."""
        if "G(i)" in self.lets:
            alone = (self.order([item]).call("G", [1], {}) for item in self.judged)
            return sorted(alone, reverse=True)
        return sorted(map(self.gain, self.judged), reverse=True)

    def at(self, name: str, rank: Number) -> Number:
        """P@i, R@i and nDCG@i."""
        if f"{name}@{rank}" in self.lets:
            return self.value(self.lets[f"{name}@{rank}"], {})
        if name == "nDCG":
            found = [self.gain(item) for item in self.ranked[: int(rank)]]
            best = discount(self.gains[: int(rank)])
            return discount(found) / best if best else 0
        return self.divide(self.hits(rank), rank if name == "P" else self.relevant)

    @property
    def whole_ndcg(self) -> float:
        best = discount(self.gains)
        return discount([self.gain(item) for item in self.ranked]) / best if best else 0.0

    def find_rank(self, ranks: Iterable[int]) -> int:
        return next((i for i in ranks if self.is_relevant(self.item(i))), 0)

    def find_points(self, end: int) -> list[tuple[Number, Number]]:
        """The points of a line: recalls with the best precision from there on."""
        ranks = range(1, end + 1)
        best = [max(self.at("P", j) for j in range(i, end + 1)) for i in ranks]
        points = [(Fraction(0), Fraction(1)), *((self.at("R", i), best[i - 1]) for i in ranks)]
        return [*points, (self.at("R", end), Fraction(0)), (Fraction(1), Fraction(0))]

    def read_line(self, last: str, recall: Number) -> Number:
        """The height of a line through points, of several points at one recall that of the last."""
        if not self.line:
            self.line = self.find_points(len(self.ranked) if last == "N" else int(last))
        points = self.line
        here = [height for at, height in points if at == recall]
        if here:
            return here[-1]
        (a, b), (c, d) = next(pair for pair in pairwise(points) if pair[0][0] < recall < pair[1][0])
        return b + (d - b) * (recall - a) / (c - a)

    def share(self, depth: Number) -> int:
        """How many items do the list and the ideal ranking have in common to some depth?"""
        places = {item: i for i, item in enumerate(self.ranked)}
        positive = [item for item in self.judged if self.gain(item) > 0]
        positive.sort(key=lambda item: (-self.gain(item), places.get(item, len(places))))
        return len({*positive[: int(depth)]} & {*self.ranked[: int(depth)]})

    # subtopics

    def have(self, item: Item | None) -> set[Any]:
        """The subtopics that an item has."""
        if item is FULL:
            return self.subtopics
        graded = self.judged.get(item, {}).items()
        return {subtopic for subtopic, grade in graded if grade >= (self.rel or 0)}

    @cached_property
    def subtopics(self) -> set[Any]:
        return set().union(*map(self.have, self.judged))

    def weigh(self, subtopics: Iterable[Any]) -> Number:
        assert self.weights is not None
        return fsum(self.weights[one] for one in subtopics)

    def count_having(self, rank: Number, subtopic: Any) -> int:
        return self.count(rank, lambda item: subtopic in self.have(item))

    def domain(self, text: str, env: Env) -> Iterable[Env]:
        item = self.item(env["i"])
        if text == "subtopics of i":
            graded = self.subtopics if item is FULL else self.judged.get(item, {})
            return ({"it": one} for one in graded if one in self.have(item))
        assert text == "judged subtopics of i", text
        graded = self.judged.get(item, {})
        return ({"it": one, "graded": Fraction(grade)} for one, grade in graded.items())

    def same_of(self, which: str) -> Number:
        """The value of the sum for another list."""
        if which == "a list in which every item has all subtopics":
            length = self.value(self.top.parts[1].parts[-1], {})
            return self.order([FULL] * int(length)).sum
        if "g(i)" not in self.lets:
            assert which == "the ideal ranking"
            return self.order(sorted(self.judged, key=self.gain, reverse=True)).sum
        if which == "the best ranking of all":
            items = [item for item in self.judged if self.have(item)]
            return max(self.order(order).sum for order in permutations(items))
        return self.order(self.pick_greedily("rounding" in which)).sum

    def pick_greedily(self, rounded: bool) -> list[Item]:
        """At each rank the item with the highest gain, of equal ones that with the last id."""
        ranked: list[Item] = []
        left = {item for item in self.judged if self.have(item)}
        while left:
            worth = {}
            for item in left:
                tried = self.order([*ranked, item])
                if rounded:
                    tried.number = float
                worth[item] = tried.call("g", [len(ranked) + 1], {})
            best = max(worth.values())
            item = max(
                (one for one in left if worth[one] == best), key=lambda one: str(one).encode()
            )
            ranked.append(item)
            left.remove(item)
        return ranked

    @property
    def sum(self) -> Number:
        return self.value(self.top, {})

    words: ClassVar = {
        "N": lambda s, e: len(s.ranked),
        "R": lambda s, e: s.relevant,
        "J|judged items": lambda s, e: len(s.judged),
        "grade": lambda s, e: s.worth(s.find_grade(e)),
        r"gain|[-\d.]+:[-\d.]+(?:_.*)?": lambda s, e: s.gain_of(s.find_grade(e)),
        r"rel\(i\)": lambda s, e: int(s.is_relevant(s.item(e["i"]))),
        "number of queries": lambda s, e: 1,
        "number of items retrieved": lambda s, e: len(s.ranked),
        r"number of items retrieved in the first (\d+)": lambda s, e, k: min(len(s.ranked), int(k)),
        "number of relevant items that exist": lambda s, e: s.relevant,
        r"relevant items found(?: in the first (\d+))?": lambda s, e, k: s.hits(
            int(k or len(s.ranked))
        ),
        "rank of the first relevant item": lambda s, e: s.find_rank(range(1, int(e["last"]) + 1)),
        "rank of the last relevant item": lambda s, e: s.find_rank(range(len(s.ranked), 0, -1)),
        "other items above i": lambda s, e: e["i"] - 1 - s.hits(e["i"] - 1),
        "1 if the i-th item is judged": lambda s, e: int(s.is_judged(s.item(e["i"]))),
        "items judged nonrelevant": lambda s, e: sum(
            s.is_judged(item) and not s.is_relevant(item) for item in s.judged
        ),
        "items judged nonrelevant above i": lambda s, e: s.count(
            e["i"] - 1, lambda item: s.is_judged(item) and not s.is_relevant(item)
        ),
        "items in the pool above i": lambda s, e: s.count(
            e["i"] - 1, lambda item: s.grade(item) is not None
        ),
        "relevant items above i": lambda s, e: s.hits(e["i"] - 1),
        "the i-th highest (?:gain|G) of the judged items": lambda s, e: (
            s.gains[int(e["i"]) - 1] if e["i"] <= len(s.gains) else 0
        ),
        "nDCG": lambda s, e: s.whole_ndcg,
        "items of a grade above 0": lambda s, e: sum(s.gain(item) > 0 for item in s.judged),
        "items that the first d of the list and of the ideal ranking have in common": lambda s, e: (
            s.share(e["d"])
        ),
        r"the height at recall r of the line that joins \(0, 1\), each \(R@i, max P@j, i ≤ j ≤ \w+\) with"
        r" i ≤ (\w+), \(R@\w+, 0\) and \(1, 0\), in this order, and where several points have recall r, the last"
        r" counts": lambda s, e, last: s.read_line(last, e["r"]),
        "the same of (.*)": lambda s, e, which: s.same_of(which),
        "subtopics that are new at i": lambda s, e: len(
            s.have(s.item(e["i"])).difference(*map(s.have, s.ranked[: int(e["i"]) - 1]))
        ),
        "number of subtopics of i": lambda s, e: len(s.have(s.item(e["i"]))),
        "weights of subtopics of i": lambda s, e: s.weigh(s.have(s.item(e["i"]))),
        "weight": lambda s, e: s.weigh([e["it"]]),
        "items to i that have it": lambda s, e: s.count_having(e["i"], e["it"]),
        "earlier items that have it": lambda s, e: s.count_having(e["i"] - 1, e["it"]),
        "all items that have it": lambda s, e: sum(e["it"] in s.have(item) for item in s.judged),
        "subtopics with a relevant item": lambda s, e: len(s.subtopics),
        "weights of the subtopics with a relevant item": lambda s, e: s.weigh(s.subtopics),
        "all judged subtopics": lambda s, e: len(set().union(*s.judged.values())),
    }


def discount(gains: Sequence[Number]) -> float:
    return fsum(float(gain) / log2(i + 1) for i, gain in enumerate(gains, start=1))


def average(definition: str, queries: Sequence[ListValues]) -> float:
    """The mean over queries as the definition has it, or the sum."""
    values = [query.compute() for query in queries]
    if "summed over queries" in definition:
        return fsum(values)
    if "median over queries" in definition:
        return float(median(values))
    if found := re.search(
        r"geometric mean over queries, values below ([\d.]+) taken as \1", definition
    ):
        least = float(found[1])
        return float(2 ** (fsum(log2(max(value, least)) for value in values) / len(values)))
    weights = [query.weight for query in queries]
    return fsum(map(float.__mul__, values, map(float, weights))) / (fsum(weights) or nan)


# --- All lists of a run ---------------------------------------------------------------------------


class CatalogueValues(Values):
    """The lists of users, what they chose before, the catalogue, distances, and judgments."""

    def __init__(self, definition: str, world: World) -> None:
        super().__init__(definition)
        self.world = world
        found = re.search(r"in the first (\d+)", definition)
        self.cut = int(found[1]) if found else None
        self.lists = {user: list(items)[: self.cut] for user, items in world.lists.items() if items}
        self.seen = {user: items for user, items in world.seen.items() if items}

    @property
    def is_of_lists(self) -> bool:
        """Is the formula a mean over lists?"""
        return self.whole.kind == "mean" and self.whole.parts[1] == "lists"

    @property
    def per_list(self) -> dict[Any, Number]:
        """The value of each list, where the formula is a mean over lists."""
        body = self.whole.parts[0]
        return {env["user"]: self.value(body, env) for env in self.domain("lists", {})}

    def average(self, body: Any, over: str, env: Env) -> Any:
        """A mean of what is defined; NaN where nothing is."""
        values = [self.value(body, {**env, **one}) for one in self.domain(over, env)]
        defined = [value for value in values if not isnan(value)]
        if defined:
            return self.divide(add(defined), len(defined))
        alone = over.startswith("pairs of items") and "lists of one item count as 0" in self.remarks
        return 0 if alone else nan

    def domain(self, text: str, env: Env) -> Iterable[Env]:
        """Lists, items of a list, or pairs; those within the cutoff alone."""
        which = text.removesuffix(f" in the first {self.cut}")
        match which:
            case "lists":
                return [one for one in self.list_users() if self.is_counted(one["user"])]
            case "users":
                return [one for one in self.list_users() if one["user"] in self.seen]
            case "items" | "seen items":
                return [
                    one for one in self.list_items(env["user"]) if self.fits(which, one["item"])
                ]
            case "recommendations" | "seen recommendations":
                every = (one for user in self.lists for one in self.list_items(user))
                return [one for one in every if self.fits(which, one["item"])]
            case "recommended items":
                return [{"item": item} for item in self.exposed]
            case "pairs of items":
                return [{"pair": pair} for pair in combinations(self.lists[env["user"]], 2)]
            case "pairs of users":
                sets = map(set, self.lists.values())
                return [{"A": one, "B": other} for one, other in combinations(sets, 2)]
        raise ValueError(f"{text!r} is no domain: {self.definition}")

    def list_users(self) -> Iterator[Env]:
        return ({"user": user, "list": items} for user, items in self.lists.items())

    def list_items(self, user: Any) -> Iterator[Env]:
        ranked = enumerate(self.lists[user], start=1)
        return ({"user": user, "item": item, "rank": rank} for rank, item in ranked)

    def is_counted(self, user: Any) -> bool:
        """Is a list, or a user, not one of those that are left out?"""
        if "lists of one item are left out" in self.remarks and len(self.lists[user]) == 1:
            return False
        return "users who chose nothing are left out" not in self.remarks or user in self.seen

    def fits(self, which: str, item: Item) -> bool:
        return not which.startswith("seen") or item in self.interactions

    @cached_property
    def exposed(self) -> Counter[Item]:
        """How many lists have an item?"""
        return Counter(item for items in self.lists.values() for item in items)

    @cached_property
    def interactions(self) -> Counter[Item]:
        return Counter(item for items in self.seen.values() for item in items)

    @cached_property
    def users(self) -> Counter[Item]:
        return Counter(item for items in self.seen.values() for item in set(items))

    @property
    def popularity(self) -> Counter[Item]:
        """c, as the formula says."""
        return self.users if self.says["c"].startswith("users") else self.interactions

    def find_popularity(self, item: Item, unseen: str | None) -> int:
        """How popular is an item, and how popular is one that nobody chose taken to be?"""
        if item not in self.popularity and unseen:
            return 1 if unseen == ", 1" else min(self.popularity.values())
        return self.popularity[item]

    def rank_popularity(self, item: Item) -> Number:
        """The rank from the least popular item, equal ones at their mean rank."""
        count, counts = self.popularity[item], list(self.popularity.values())
        below, equal = sum(one < count for one in counts), counts.count(count)
        return below + Fraction(equal + 1, 2) if count else 0

    def place_popularity(self, item: Item) -> Number:
        """The rank from the most popular item, which equal ones share, without gaps."""
        levels = sorted(set(self.interactions.values()), reverse=True)
        count = self.interactions[item]
        return levels.index(count) + 1 if count else self.world.size + 1

    def is_in_tail(self, item: Item, share: str) -> int:
        order = sorted(self.interactions, key=lambda one: (self.interactions[one], str(one)))
        return int(item in order[: max(floor(len(order) * Fraction(share)), 1)])

    def find_share(self, item: Item, equal: str | None) -> Number:
        """The share of an item in all recommendations, or the mean of its shares in the lists."""
        if not equal:
            return Fraction(self.exposed[item], self.exposed.total())
        shares = [Fraction(item in items, len(items)) for items in self.lists.values()]
        return Fraction(sum(shares), len(shares))

    def average_popularity(self, items: Sequence[Item]) -> Number:
        return Fraction(sum(self.popularity[item] for item in items), len(items))

    def differ_from_history(self, env: Env) -> float:
        before = self.seen[env["user"]]
        return fsum(differ(self.world, env["item"], one) for one in before) / len(before)

    def count_lowest(self, env: Env) -> int:
        """c(j): of all n items the j-th lowest number of lists."""
        counts = sorted(self.exposed.values())
        at = int(env["j"]) - 1 - (int(self.name("n", {})) - len(counts))
        return counts[at] if at >= 0 else 0

    words: ClassVar = {
        "items of the catalogue": lambda s, e: s.world.size,
        "seen items": lambda s, e: len(s.interactions),
        "recommended items": lambda s, e: len(s.exposed),
        r"distinct (seen )?items(?: in the first \d+)? of any list": lambda s, e, seen: len(
            s.exposed.keys() & s.interactions.keys() if seen else s.exposed
        ),
        r"the j-th lowest number of lists that have an item(?: in the first \d+)?": lambda s, e: (
            s.count_lowest(e)
        ),
        r"the item's share of all recommendations(?: in the first \d+)?"
        "(, each list with the same weight)?": lambda s, e, equal: s.find_share(e["item"], equal),
        r"lists that have the item(?: in the first \d+)?": lambda s, e: s.exposed[e["item"]],
        "users with a list": lambda s, e: len(s.lists),
        "items of the longest list": lambda s, e: max(map(len, s.lists.values())),
        "(?:users who chose the item before|earlier interactions with the item)"
        "(?:(, 1|, the lowest of all) for unseen items)?": lambda s, e, unseen: s.find_popularity(
            e["item"], unseen
        ),
        "users who chose anything": lambda s, e: len(s.seen),
        "all earlier interactions": lambda s, e: s.interactions.total(),
        "the sum of c over all items": lambda s, e: s.popularity.total(),
        "the highest c of an item": lambda s, e: max(s.popularity.values()),
        "rank of the item from the lowest c, equal ones at their mean rank and unseen ones at 0": (
            lambda s, e: s.rank_popularity(e["item"])
        ),
        r"1 for the ⌊([\d.]+)·n⌋ of the n seen items with the fewest interactions, and for at least"
        " one": lambda s, e, share: s.is_in_tail(e["item"], share),
        "popularity rank of the item, or n \\+ 1 if nobody chose it": lambda s, e: (
            s.place_popularity(e["item"])
        ),
        "rank of the item in its list": lambda s, e: e["rank"],
        "1 if the item is relevant to the user": lambda s, e: int(
            e["item"] in s.world.relevant.get(e["user"], ())
        ),
        "the distance of both": lambda s, e: differ(s.world, *e["pair"]),
        "mean distance of the item to what its user chose before": lambda s, e: (
            s.differ_from_history(e)
        ),
        r"items of the list(?: in the first \d+)?": lambda s, e: len(e["list"]),
        r"the mean c of the user's list(?: in the first \d+)?": lambda s, e: s.average_popularity(
            e["list"]
        ),
        "the mean c of what the user chose before": lambda s, e: s.average_popularity(
            s.seen[e["user"]]
        ),
    }
