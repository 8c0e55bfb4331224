"""What evaluating notices by itself: findings that the reduction knows without another look."""

from collections.abc import Collection, Container, Hashable, Iterator, Mapping, Sequence

import numpy as np

from germane import near
from germane._ragged import Floats, Ints
from germane.averaging import MeasureResult
from germane.errors import clip
from germane.finding import Finding, is_are, shown
from germane.judging import Judged
from germane.measure import Measure
from germane.ranking import Ranking
from germane.retrieval import Retrieved
from germane.standing import Standing, standing_of

MANY = 100  # results of which chance does not give all the same score
LOOKED = 64  # queries that are looked for under another spelling
ENOUGH = 500  # judged results, beside which a look at where they stand costs nothing
SEVERAL = 10  # queries of which each may by chance have a single result, in an example by hand
FIRST = 10  # results that a reader looks at
LOWER = "Where lower grades are relevant, say so: P(rel=0.5), or map the grades."
TURNED = "Is the sign of the grades turned, or are the relevant items left out?"
STOPPED = "Did the system stop early, or was only its last or best result kept?"
TURN = "Is the order turned round? Where less is better, as with distances, negate the scores."
ASCENDING = ("ranks given as scores", "scores rise as given")
ORDERS = (  # what is said of an order that is no good anyway
    *ASCENDING, "ranks against scores", "constant scores",
)  # fmt: skip
SWAPPED = ("swapped files", "qrels that look like a run")
NEARLY = 0.9  # of the results have one score
DECISIVE = 0.5  # of a value, beyond which the order of ties makes it
OF_ROWS = ("trec", "ascending", "given")  # orders that are not chosen for the sake of ties
WIDE = 2  # times its first rank is the last of a group of equal scores that decides much


def noticed(
    judged: Judged, ranking: Ranking, measures: Mapping[Measure, MeasureResult]
) -> tuple[Finding, ...]:
    """What bends the numbers of a judged run, or may, under its policy.

    It must cost nothing beside the evaluation, so that what is looked at is counts that are known.
    """
    got = judged.retrieved
    if got.noticed and got.noticed[0].what in SWAPPED:
        return got.noticed[:1]  # what else is odd comes of that
    found = [*_orders(judged), *_absent(judged), *_relevance(judged, ranking, measures)]
    if not len(got.judgment):
        if judged.qrels.offsets[-1]:  # something is judged that could be found
            found += _nothing_found(int(got.retrieved.sum()))
    else:
        if got.is_tied:
            found += _tied(got, judged.policy.ties, measures)
        if len(got.judgment) >= ENOUGH and not any(one.what in ORDERS for one in found):
            found += standing_last(standing_of(judged.qrels, got))
    if len(judged.qrels) >= SEVERAL and got.retrieved[0] < 2 and judged.policy.depth != 1:
        retrieved = got.retrieved[got.answered]
        found += one_result(retrieved, judged.qrels.grades, judged.grades, measures)
    return tuple(found)


def _orders(judged: Judged) -> tuple[Finding, ...]:
    """What the source saw, but for orders that relevance bears out, and what one of them explains."""
    seen = judged.retrieved.noticed
    if not seen or not any(one.what in ASCENDING for one in seen):
        return seen
    found = standing_of(judged.qrels, judged.retrieved)
    if found is not None and found.is_good:
        return tuple(one for one in seen if one.what not in ASCENDING)
    counted = any(one.what == ASCENDING[0] for one in seen)
    return tuple(one for one in seen if not counted or one.what != "ranks against scores")


def _absent(judged: Judged) -> Iterator[Finding]:
    """Queries that one side has and the other has not."""
    got, policy, queries = judged.retrieved, judged.policy, judged.qrels.queries
    if policy.missing == "zero" and got.answers < len(queries):
        lost = [queries[q] for q in np.flatnonzero(~got.answered)]
        yield missing(lost, queries, got.unknown)
    if got.unknown and policy.unknown == "ignore":
        yield left_out(got.unknown, judged.qrels.position)
    if judged.qrels.unjudged:
        yield empty(judged.qrels.unjudged)


def _relevance(
    judged: Judged, ranking: Ranking, measures: Collection[Measure]
) -> Iterator[Finding]:
    """Queries without a relevant item, or all of them."""
    if judged.policy.no_relevant != "zero":
        return
    relevant, grades = ranking.total(1.0), judged.qrels.grades
    if judged.policy.unknown == "zero":  # the queries that nobody judged stand last
        relevant = relevant[: len(relevant) - len(judged.retrieved.unknown)]
    good = np.count_nonzero(relevant)
    if len(grades) and (not good or max([one.rel or 0 for one in measures]) > 1):
        yield from none_relevant(grades, measures)
    if good < len(relevant) and (good or not len(grades)):
        lost = [ranking.queries[q] for q in np.flatnonzero(relevant == 0)]
        yield without_relevant(lost, len(relevant))


def missing(lost: list[Hashable], queries: Sequence[Hashable], unknown: list[Hashable]) -> Finding:
    """Judged queries that the run does not have, and perhaps under which name it has them."""
    is_missing = is_are(len(lost), "judged query is", "judged queries are")
    says = f"{is_missing} missing from the run, of {len(queries):,}, and counted as 0"
    alike = next(near.pairs(lost, unknown), None)
    advice = "missing=skip leaves them out."
    if len(lost) > 1 and lost == list(queries[-len(lost) :]):
        advice = f"They are the last of the qrels: did the run stop early? {advice}"
    if alike is not None:
        advice = f"The run has {clip(alike[1])}: it differs in {near.difference(*alike)}."
    elif (parted := near.affixed(lost, unknown)) is not None:
        advice = f"The run has {clip(parted[1])}: one of the two has {parted[2]}."
    elif marked := [one for one in lost if str(one).startswith("\ufeff")]:
        advice = f"{clip(marked[0])} begins with a byte-order mark, as where files were joined: take it out."
    return Finding("serious", "missing queries", says, len(lost), shown(lost), advice)


def left_out(unknown: list[Hashable], judged: Container[Hashable]) -> Finding:
    """Queries of the run that nobody judged, or not under this name."""
    are = is_are(len(unknown), "query of the run is", "queries of the run are")
    says = f"{are} not in the qrels and left out"
    advice = ""
    for one, other in _respelled(unknown, judged):
        advice = f"The qrels have {clip(other)}: it differs in {near.difference(one, other)}."
        break
    return Finding("doubtful", "queries not judged", says, len(unknown), shown(unknown), advice)


def _respelled(
    ids: list[Hashable], others: Container[Hashable]
) -> Iterator[tuple[Hashable, Hashable]]:
    """The first few ids that are there under another spelling."""
    for one in ids[:LOOKED]:
        if isinstance(one, str):
            yield from ((one, way) for way in near.variants(one) if way in others)


def empty(queries: Collection[Hashable]) -> Finding:
    """Queries that stand in the qrels with nothing judged."""
    stand = is_are(len(queries), "query stands", "queries stand")
    says = f"{stand} in the qrels without a judgment, and left out"
    return Finding("doubtful", "queries without a judgment", says, len(queries), shown(queries))


def without_relevant(lost: Collection[Hashable], judged: int) -> Finding:
    """Judged queries without a relevant item."""
    have = is_are(len(lost), "judged query has", "judged queries have")
    says = f"{have} no relevant item, of {judged:,}, and counted as 0"
    advice = "no_relevant=skip leaves them out."
    return Finding("doubtful", "nothing relevant", says, len(lost), shown(lost), advice)


def none_relevant(grades: Floats, measures: Collection[Measure]) -> Iterator[Finding]:
    """Judgments of which none is relevant to one of the measures."""
    highest, least = grades.max(), max((one.rel or 0.0 for one in measures), default=1.0)
    if highest <= 0 or highest < least:
        says = (
            f"no grade is {least or 1:g} or higher, among {is_are(len(grades), 'judgment', 'judgments')}"
            f": the highest is {highest:g}"
        )
        advice = TURNED if highest <= 0 else LOWER
        if highest >= 1:
            strict = next(one for one in measures if one.rel == least)
            advice = f"{strict} is 0 for every query then; choose a lower rel."
        yield Finding("serious", "no relevant items", says, len(grades), (), advice)


def one_result(
    retrieved: Ints, grades: Floats, found: Floats, measures: Collection[Measure]
) -> Iterator[Finding]:
    """A run with one result for each of its queries, where measures look at more and there is more."""
    if len(retrieved) < 2 or (retrieved != 1).any() or deepest(measures) < 2:
        return
    if np.count_nonzero(found > 0) < np.count_nonzero(grades > 0):
        says = f"every one of {len(retrieved):,} queries has a single result"
        yield Finding("serious", "one result per query", says, len(retrieved), (), STOPPED)


def deepest(measures: Collection[Measure]) -> int:
    """How far measures look: the highest cutoff, or what a reader looks at."""
    return max((one.k for one in measures if one.k is not None), default=FIRST)


def standing_last(found: Standing | None) -> Iterator[Finding]:
    """Relevant results that stand below the others more than chance would put them."""
    if found is not None and found.is_worse_than_chance:
        says = found.says("lower than")
        yield Finding("serious", "relevant results stand last", says, found.pairs, (), TURN)


def _nothing_found(results: int) -> Iterator[Finding]:
    if results:
        says = f"no judged item is among the {results:,} results of the judged queries"
        advice = "Are the item ids of run and qrels the same?"
        yield Finding("serious", "nothing judged was found", says, results, (), advice)


def _tied(
    got: Retrieved, ties: str, measures: Mapping[Measure, MeasureResult]
) -> Iterator[Finding]:
    if not (got.is_tied and (got.tied_to[0] > got.tied_from[0] or ties == "given")):
        return
    results = int(got.retrieved.sum())
    order = "the one given" if ties == "given" else "that of their ids"
    first = (got.tied_from == 1).all() and (got.tied_to > 1).all()
    if results >= MANY and first and (got.tied_to == got.retrieved[got.owner]).all():
        says = f"all {results:,} results have the same score as the others of their query"
        advice = f"Their order is {order}; best and worst say what that decides."
        yield Finding("serious", "constant scores", says, results, (), advice)
        return
    if ties in OF_ROWS and (count := _nearly_all_tied(got)):
        deciding = [one for one in measures.values() if one.band > DECISIVE * abs(one.mean)]
        if deciding:
            yield decided_by_order(max(deciding, key=lambda one: one.band), *count, order)
            return
    wide = int(np.count_nonzero(got.tied_to >= WIDE * got.tied_from))
    if results >= MANY and ties == "given" and wide >= len(got.judgment) / 2:
        says = (
            f"{wide:,} of {len(got.judgment):,} judged items found share their score with so many "
            f"others that their rank could be {WIDE} times as high"
        )
        advice = f"Their order is {order}; ties=expected, or best and worst, say what that decides."
        yield Finding("doubtful", "tied scores", says, wide, (), advice)


def _nearly_all_tied(got: Retrieved) -> tuple[int, int] | tuple[()]:
    """How many results share one score, of how many, in the queries of the hits; nothing if fewer
    than nearly all do."""
    tied = got.tied_to > got.tied_from
    if np.count_nonzero(tied) < NEARLY * len(tied):
        return ()
    starts = np.flatnonzero(np.diff(got.owner, prepend=-1))  # the hits of a query stand together
    widest = np.maximum.reduceat(np.where(tied, got.tied_to - got.tied_from + 1, 0), starts)
    count, results = int(widest.sum()), int(got.retrieved[got.owner[starts]].sum())
    return (count, results) if count >= NEARLY * results else ()


def decided_by_order(moved: MeasureResult, count: int, results: int, order: str) -> Finding:
    """Scores that tell hardly any results apart, so that their order makes the number."""
    low, high = sorted((moved.worst, moved.best))
    of = f"all {results:,}" if count == results else f"{count:,} of {results:,}"
    says = (
        f"{of} results have the same score as others of their query; by their order alone "
        f"{moved.measure} could be anything from {low:.4f} to {high:.4f}"
    )
    expected = moved.measure.row.expected
    gives = "ties=expected gives the mean over all orders" if expected else "no score decided it"
    advice = f"Their order is {order}; {gives}."
    return Finding("serious", "constant scores", says, count, (), advice)
