"""Sampling: match people's queries with a model's, and check that both judged the same items."""

import math
from collections import Counter
from collections.abc import Hashable, Iterator
from statistics import NormalDist
from typing import Any

import numpy as np

from germane.comparison.judges.correction import Design
from germane.core.finding import Finding, show_ids
from germane.core.mean_intervals import FEWEST
from germane.core.qrels import Qrels
from germane.core.ragged import Floats
from germane.core.rounding import reaches
from germane.errors import CoverageError, InputError, NotFoundError, clip, list_some, write_option
from germane.evaluation.query_groups import find_categories
from germane.output.formatting import write_count
from germane.readers.objects.item_ids import spell_qrels


def match_judges(people: Qrels, model: Qrels) -> None:
    """Refuse people's judgments that cannot correct the model's.

    Raises CoverageError where people judged a query that the model did not, where people did not
    judge an item of such a query that the model judged, and for fewer than five queries of
    people's.
    """
    absent = [query for query in people.queries if query not in model.position]
    if absent:
        raise CoverageError(
            f"the model did not judge {list_some(absent)} ({len(absent)} of people's {len(people)}"
            " queries). Both must have the same query ids, and the model must judge every query."
        )
    if len(people) < FEWEST:
        raise CoverageError(
            f"people judged {write_count(len(people), 'query')}; a correction needs {FEWEST} or"
            " more."
        )
    for query in people.queries:
        judged, items = list_judged(people, query), list_judged(model, query)
        unjudged = [item for item in items if item not in judged]
        if unjudged:
            raise CoverageError(
                f"query {clip(query)}: people did not judge {list_some(unjudged)} ({len(unjudged)}"
                f" of the {len(items)} items that the model judged). In a query that people judge,"
                " they must judge every item that the model judged. Add these judgments, or leave"
                " the query out."
            )


def spell_alike(*judges: Qrels) -> list[Qrels]:
    """Spell the ids of all judges as text if one of them is a file of text."""
    if len({judge.ids for judge in judges}) == 1:
        return list(judges)
    return [spell_qrels(judge) for judge in judges]


def list_judged(qrels: Qrels, query: Hashable) -> dict[Hashable, float]:
    """List the items of a query that were judged, with their grades; negative ones were not."""
    q = qrels.position[query]
    part = slice(int(qrels.offsets[q]), int(qrels.offsets[q + 1]))
    pairs = zip(qrels.items[part], qrels.grades[part].tolist(), strict=True)
    return {item: grade for item, grade in pairs if grade >= 0}


def list_shared_grades(people: Qrels, model: Qrels) -> dict[Hashable, list[tuple[float, float]]]:
    """List for each query the grades of both judges for the items that both judged."""
    shared = {}
    for query in people.queries:
        if query in model.position:
            first, second = list_judged(people, query), list_judged(model, query)
            shared[query] = [(first[item], second[item]) for item in first if item in second]
    return shared


def make_design(people: list[Any], queries: list[Any], weights: Any, strata: Any) -> Design:
    """Describe how people's queries were drawn from the model's.

    ``weights`` says how many queries each of people's stands for, and ``strata`` the stratum of
    every query. Raises InputError for a weight that is not above 0, and CoverageError for a stratum
    with fewer than two of people's queries.
    """
    place = {query: q for q, query in enumerate(queries)}
    sampled = np.array([place[query] for query in people])
    names = ["all"] * len(queries) if strata is None else _read_given("strata", queries, strata)
    number = {name: h for h, name in enumerate(dict.fromkeys(names))}
    of_query = np.array([number[name] for name in names])
    drawn = Counter(of_query[sampled].tolist())
    for name, h in number.items():
        if drawn[h] < 2:
            raise CoverageError(
                f"stratum {clip(name)}: people judged {drawn[h]} of its queries; each stratum needs"
                " 2 or more."
            )
    raw = np.ones(len(people)) if weights is None else _read_weights(people, weights)
    sizes, within = np.bincount(of_query), of_query[sampled]
    scaled = raw * (sizes / np.bincount(within, raw))[within]
    return Design(sampled, scaled, within, len(queries))


def _read_given(name: str, queries: list[Any], raw: Any) -> list[Hashable]:
    """Read what is given for each query, as categories are. Errors name the argument."""
    try:
        return find_categories(queries, raw, numbers=name == "weights")
    except (InputError, NotFoundError) as error:
        singular = {"weights": "weight", "strata": "stratum"}[name]
        text = str(error).replace("categories", name, 1).replace("category", singular, 1)
        raise type(error)(f"{name}: {text}") from error


def _read_weights(people: list[Any], weights: Any) -> Floats:
    numbers = []
    for query, weight in zip(people, _read_given("weights", people, weights), strict=True):
        try:
            number = math.nan if isinstance(weight, bool) else float(weight)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = math.nan
        if not 0 < number < math.inf:
            raise InputError(
                f"query {clip(query)}: a weight is a number above 0, how many queries it stands"
                f" for; got {clip(weight)}"
            )
        numbers.append(number)
    if not math.isfinite(sum(numbers)):
        raise InputError("weights: their sum is beyond the range of a double. Divide them all.")
    shares = np.array(numbers) / max(numbers)
    worth = float(shares.sum() ** 2 / (shares**2).sum())  # Kish (1965)
    if not reaches(worth, FEWEST):
        heaviest = people[int(shares.argmax())]
        raise CoverageError(
            f"weights: query {clip(heaviest)} and a few others outweigh the rest, so that people's"
            f" {len(people)} queries are worth {worth:.1f} of equal weight; a correction needs"
            f" {FEWEST} or more."
        )
    return np.array(numbers)


def compare_drawn(model: Floats, design: Design) -> float:
    """Compute the p-value of drawn queries having the model's mean, as a random sample has it."""
    shares = design.shares
    error = math.sqrt(float(model.var(ddof=1) * (shares**2 @ design.left)))
    gap = abs(float(shares @ model[design.sampled] - model.mean()))
    is_rounding = reaches(0.0, error, float(np.abs(model).max()))
    return 1.0 if is_rounding else 2 * NormalDist().cdf(-gap / error)


UNLIKELY = 0.01


def find_odd_samples(p: dict[str, float]) -> Iterator[Finding]:
    """Find measures on which people's queries differ from all by more than chance explains."""
    differing = [name for name, value in p.items() if value * len(p) < UNLIKELY]
    if differing:
        text = (
            "by the model's judgments, the queries that people judged differ from all queries more"
            f" than a random sample would (p < {UNLIKELY:g}, Bonferroni over {len(p)})"
        )
        advice = (
            "If they were not drawn at random, say how: weights=… or"
            f" {write_option('strata', '…')}."
        )
        yield Finding(
            "doubtful", "sampled queries differ", text, len(differing), tuple(differing[:3]), advice
        )


def find_rare_disagreement(name: str, differences: Floats, queries: list[Any]) -> Iterator[Finding]:
    """Find a measure for which hardly any sampled query shows an error of the model."""
    differing = np.flatnonzero(differences)
    if len(differing) < FEWEST:
        text = (
            f"{name}: people's and the model's value differ on only {len(differing)} of"
            f" {len(differences)} queries. Errors that are rarer than this cannot be seen in the"
            " interval"
        )
        shown = show_ids(queries[i] for i in differing.tolist())
        advice = "More queries of people's show them."
        yield Finding("note", "rare disagreement", text, len(differing), shown, advice)
