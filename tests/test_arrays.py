"""Arrays: scores, ids, groups, labels and embeddings, against the same data as mappings."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import germane
from results import values

from sizes import set_sizes
from strategies import TABLE, variants

Array = Any
Q, N = 7, 23
EVERY = [measure for row in TABLE for measure in variants(row)]
ALL = "AP AP(norm=found)@3 AP@5 MeanP@4 nDCG nDCG(gain=exp)@5 P@3 R@5 RR RBP ERR Rprec Success@2 NumRelRet"
NONRELEVANT = "bpref infAP Judged@5 Unjudged NumNonrelRet RBPResidual P(rel=0)@3"


def world(seed: int, dtype: str = "f4", levels: int = 6) -> tuple[Array, Array]:
    """Grades and scores, most of which are tied."""
    rng = np.random.default_rng(seed)
    grades = rng.integers(-1, 5, (Q, N)) * (rng.random((Q, N)) < 0.5)
    grades[2] = 0
    scores = rng.integers(-levels, levels, (Q, N)).astype(dtype) / np.dtype(dtype).type(4)
    scores[scores == 0] = -0.0
    scores[1] = 0.5
    return grades, scores


def mapped(array: Array) -> dict[int, dict[int, float]]:
    """The same as a mapping; masked cells are left out."""
    kept = ~np.ma.getmaskarray(array)
    return {
        q: {int(i): float(row[i]) for i in np.flatnonzero(kept[q])}
        for q, row in enumerate(np.ma.getdata(array))
    }


def same(one: germane.types.Result, other: germane.types.Result) -> None:
    """Equal to the last bit but for sums of expected orders, whose terms stand in another order.

    A measure that leaves out every query, such as GAUC without relevant items, has no value.
    """
    found = values(one)
    for name, expected in values(other).items():
        assert found[name] == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True), name
    for name in other:
        assert one[name].best == pytest.approx(other[name].best, rel=1e-12, nan_ok=True), name
        assert one[name].worst == pytest.approx(other[name].worst, rel=1e-12, nan_ok=True), name


# ------------------------------------------------------------------------------ the core, by force


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8"])
def test_whole_numbers_in_groups_are_scores(dtype: str) -> None:
    """Also where a double cannot tell them."""
    high = 2**53 if dtype[1] == "8" else 2
    scores = np.array([high, high + 1, high - 1, high], dtype)
    result = germane.evaluate([1, 0, 0, 0], scores, "RR", group=[4], ties="expected")
    assert result["RR"].mean == (1 / 2 + 1 / 3) / 2


# --------------------------------------------------------------------- every door, as from mappings


def flat(grades: Array, scores: Array) -> tuple[Any, Any, Array]:
    """In random order, but for the items of a group."""
    group = np.random.default_rng(1).permutation(np.repeat(np.arange(Q), N))
    place = np.argsort(np.argsort(group, kind="stable"))
    return grades.ravel()[place], scores.ravel()[place], group


def by_groups(grades: Array, scores: Array, measures: Any, **policy: Any) -> germane.types.Result:
    relevance, score, group = flat(grades, scores)
    return germane.evaluate(relevance, score, measures, group=group, **policy)


def by_sizes(grades: Array, scores: Array, measures: Any, **policy: Any) -> germane.types.Result:
    sizes = [N] * Q
    return germane.evaluate(grades.ravel(), scores.ravel(), measures, group=sizes, **policy)


class Foreign:
    """An array of another library."""

    def __init__(self, array: Array) -> None:
        self._array, self.shape, self.dtype = array, array.shape, array.dtype

    def __dlpack__(self, **given: Any) -> Any:
        return self._array.__dlpack__(**given)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def csr(array: Array) -> Any:
    """What scipy.sparse.csr_array has."""
    indices = [np.flatnonzero(row) for row in array]
    return SimpleNamespace(
        shape=array.shape,
        format="csr",
        indptr=np.cumsum([0, *map(len, indices)]).astype("i4"),
        indices=np.concatenate(indices).astype("i4"),
        data=array[array != 0],
    )


Door = Callable[..., germane.types.Result]
DENSE: dict[str, Door] = {
    "NumPy": germane.evaluate,
    "Fortran order": lambda g, s, m, **p: germane.evaluate(g, np.asfortranarray(s), m, **p),
    "DLPack": lambda g, s, m, **p: germane.evaluate(Foreign(g), Foreign(s), m, **p),
    "grades as mappings": lambda g, s, m, **p: germane.evaluate(mapped(g), s, m, **p),
    "grades as a list of mappings": lambda g, s, m, **p: germane.evaluate(
        list(mapped(g).values()), s, m, **p
    ),
    "group ids": by_groups,
    "group sizes": by_sizes,
}


@pytest.mark.parametrize("ties", ["given", "expected", "best", "worst", "grouped"])
@pytest.mark.parametrize("door", DENSE)
@pytest.mark.parametrize("dtype", [pytest.param("f2", marks=pytest.mark.slow), "f4", "f8"])
def test_scores(door: str, ties: str, dtype: str) -> None:
    some = [*map(germane.parse, f"{ALL} {NONRELEVANT}".split())]
    measures = [
        measure
        for measure in (EVERY if (door, dtype) == ("NumPy", "f4") else some)
        if (ties != "expected" or measure.row.expected)
        and (ties != "grouped" or (measure.row.grouped and measure.k is None))
    ]
    grades, scores = world(3, dtype)
    scores = np.clip(scores, -1, 1)
    expected = germane.evaluate(mapped(grades), mapped(scores), measures, ties=ties)  # type: ignore[arg-type]
    given = DENSE[door](grades, scores, measures, ties=ties)
    if door == "group ids" and ties == "given":
        relevance, score, group = flat(grades, scores)
        keyed = {int(q): np.flatnonzero(group == q).tolist() for q in dict.fromkeys(group.tolist())}
        expected = germane.evaluate(
            {q: {i: float(relevance[i]) for i in items} for q, items in keyed.items()},
            {q: {i: float(score[i]) for i in items} for q, items in keyed.items()},
            measures,
            ties="given",
        )
    same(given, expected)


@pytest.mark.parametrize("door", ["NumPy", "group sizes"])
@pytest.mark.parametrize(
    "policy", [{}, {"unjudged": "remove"}, {"depth": 4}, {"no_relevant": "skip"}]
)
def test_policies(door: str, policy: dict[str, Any]) -> None:
    grades, scores = world(4)
    given = DENSE[door](grades, scores, f"{ALL} {NONRELEVANT}", **policy)
    expected = germane.evaluate(
        mapped(grades), mapped(scores), f"{ALL} {NONRELEVANT}", ties="given", **policy
    )
    same(given, expected)
    assert given.counts == expected.counts


def test_masked_cells_are_not_there() -> None:
    grades, scores = world(5)
    rng = np.random.default_rng(0)
    grades = np.ma.masked_array(grades, rng.random(grades.shape) < 0.4)
    scores = np.ma.masked_array(scores, rng.random(scores.shape) < 0.4)
    scores.data[scores.mask] = np.nan
    for measures in (ALL, f"{ALL} {NONRELEVANT}"):
        expected = germane.evaluate(mapped(grades), mapped(scores), measures, ties="given")
        same(germane.evaluate(grades, scores, measures), expected)
        same(by_sizes(grades, scores, measures), expected)
    truth = np.ma.masked_array(scores.data > 0, scores.mask)
    expected = germane.evaluate(mapped(grades), mapped(truth), ALL, ties="given")
    same(germane.evaluate(grades, truth, ALL), expected)


@pytest.mark.parametrize("cells", [1, N, 2 * N, 3 * N + 1])
def test_blocks_do_not_matter(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    grades, scores = world(6)
    whole = values(germane.evaluate(grades, scores, ALL))
    set_sizes(monkeypatch, score_cells=cells)
    assert values(germane.evaluate(grades, scores, ALL)) == whole
    assert values(by_sizes(grades, scores, ALL)) == whole


# -------------------------------------------------- which measures look at items of grade 0 or below


def test_measures_say_whether_they_tell_nonrelevant_from_unjudged() -> None:
    """Leaving out the judgments of grade 0 and below changes nothing, unless the measure says so."""
    grades, scores = world(7)
    kept = {q: {i: g for i, g in row.items() if g > 0} or [] for q, row in mapped(grades).items()}

    def evaluate(qrels: Any, telling: bool) -> germane.types.Result:
        measures = [measure for measure in EVERY if measure.nonrelevant == telling]
        return germane.evaluate(qrels, mapped(scores), measures)

    same(evaluate(kept, False), evaluate(mapped(grades), False))
    short, full = evaluate(kept, True), evaluate(mapped(grades), True)
    for measure in set(full) & set(germane.measures()):  # with rel=5 nothing is left to tell
        assert short[measure].per_query != full[measure].per_query


# ------------------------------------------------------------------------------------- top-k ids


def best(scores: Array, k: int) -> Array:
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("dtype", ["i4", "i8", "u4"])
@pytest.mark.parametrize("offset", [0, 10**12, 2**63 - 1 - N])
def test_topk_ids(dtype: str, offset: int) -> None:
    if offset and dtype != "i8":
        return
    grades, scores = world(8)
    grades = np.maximum(grades, 0)
    ids = best(scores, 6).astype(dtype) + offset
    lists = {q: ids[q].tolist() for q in range(Q)}
    judged: dict[int, Any] = {
        q: {i + offset: g for i, g in row.items() if g} or [] for q, row in mapped(grades).items()
    }
    expected = germane.evaluate(judged, lists, ALL)
    same(germane.evaluate(judged, ids, ALL), expected)
    same(germane.evaluate(list(judged.values()), ids, ALL), expected)
    same(germane.evaluate(list(judged.values()), list(lists.values()), ALL), expected)
    if not offset:
        same(germane.evaluate(csr(grades), ids, ALL), expected)
        same(germane.evaluate(grades, ids, ALL), expected)


@pytest.mark.parametrize("odd", [True, 2**70, "a", -(2**70)])
def test_what_is_no_number_of_a_column(odd: Any) -> None:
    with pytest.raises(
        germane.GermaneError, match=f"column numbers from 0; .* judge item {odd!r}|truth value"
    ):
        germane.evaluate([{odd}, {odd}], np.array([[0.3, 0.2], [0.1, 0.2]]), "AP")


def test_the_pair_that_a_search_returns() -> None:
    """FAISS gives distances and ids, other libraries ids and distances."""
    distances, ids = np.array([[0.1, 0.2]]), np.array([[7, 8]])
    for given in ((distances, ids), [distances, ids], (ids, distances)):
        got = germane.evaluate([{8}], given, "RR", scores="distances")
        assert got["RR"].per_query == {0: 0.5}
        assert germane.evaluate([{8}], given, "NumRet", scores="distances", max_distance=0.15)[
            "NumRet"
        ].per_query == {0: 1.0}
        with pytest.raises(
            germane.errors.FormatError, match="If they are distances, use scores=distances"
        ):
            germane.evaluate([{7}], given, "RR")
    similar = germane.evaluate([{8}], (-distances, ids), "RR")
    assert similar["RR"].per_query == {0: 0.5}


def test_scores_in_lists_beside_an_array_of_grades() -> None:
    with pytest.raises(
        germane.errors.CoverageError, match=r"Pass rows of scores as an array: numpy.array"
    ):
        germane.evaluate(np.array([[1, 0]]), [[0.3, 0.2]], "AP")


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.uint64])
def test_masked_ids_fill_a_row_up(kind: type) -> None:
    ids = np.ma.masked_array(np.array([[0, 1], [1, 2]], kind), mask=[[0, 1], [0, 1]])
    got = germane.evaluate([{0}, {2}], ids, "RR NumRet")
    assert got["RR"].per_query == {0: 1.0, 1: 0.0}
    assert got["NumRet"].per_query == {0: 1.0, 1: 1.0}


def test_masked_ids_are_not_explained() -> None:
    ids = np.ma.masked_array([[7, 5, 8, 1]], mask=[[0, 0, 0, 1]])
    told = germane.explain([{5, 1}], ids, "AP", query=0)
    assert str(told) == str(germane.explain([{5, 1}], np.array([[7, 5, 8, -1]]), "AP", query=0))


class Unreadable:
    """A tensor that NumPy cannot take, such as a sparse one."""

    dtype, shape = "float32", (1, 2)

    def __len__(self) -> int:
        return 1

    def __array__(self, *_: Any) -> Any:
        raise TypeError("can't convert Sparse layout tensor to numpy.\nMore.")


def test_an_array_that_its_library_does_not_give_out() -> None:
    says = r"scores: 'float32' cannot be read as an array of numbers \(can't convert Sparse .*numpy\.\)"
    with pytest.raises(germane.errors.FormatError, match=says):
        germane.evaluate([{0}], Unreadable(), "AP")


@pytest.mark.parametrize(
    "grades", [[[0, 1], [1, 0]], [[1.0, 0.0], [0.0, 0.0]], [[True, False]] * 2]
)
def test_lists_of_grades_are_not_taken_for_ids(grades: Any) -> None:
    asks = r"lists of 2 numbers 0 or 1, as many as the run has columns: are these grades or ids\?"
    with pytest.raises(germane.errors.InputError, match=asks):
        germane.evaluate(grades, np.array([[0.9, 0.1], [0.2, 0.8]]), "AP")
    with pytest.raises(germane.errors.InputError, match=asks):
        germane.evaluate_embeddings(np.eye(2), np.eye(2), "AP", qrels=grades)


def test_topk_ids_of_sets_and_labels() -> None:
    _, scores = world(9)
    labels = np.arange(N) % 4
    asked = np.array([0, 1, 2, 3, 0, 9, 1])
    ids = best(scores, 8)
    sets = [set(np.flatnonzero(labels == label).tolist()) for label in asked]
    same(
        germane.evaluate(germane.Labels(asked, labels), ids, ALL), germane.evaluate(sets, ids, ALL)
    )


def test_rows_are_filled_up_with_minus_one() -> None:
    ids = np.array([[4, 2, -1, -1], [1, -1, -1, -1], [-1, -1, -1, -1]])
    result = germane.evaluate([{2}, {1}, {3}], ids, "RR NumRet P@4")
    assert result["RR"].per_query == {0: 1 / 2, 1: 1.0, 2: 0.0}
    assert result["NumRet"].mean == 3


@pytest.mark.parametrize("duplicates", ["first", "last", "max", "keep"])
def test_repeated_ids(duplicates: Any) -> None:
    ids = np.array([[4, 2, 4, 2, 1], [0, 0, 0, 3, -1]])
    qrels = {0: [2, 1], 1: [3]}
    lists = {0: [4, 2, 4, 2, 1], 1: [0, 0, 0, 3]}
    expected = germane.evaluate(qrels, lists, "AP RR NumRet", duplicates=duplicates)
    same(germane.evaluate(qrels, ids, "AP RR NumRet", duplicates=duplicates), expected)


@pytest.mark.parametrize("cells", [1, 40, 200])
def test_blocks_of_ids(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows whose judged items are many or none, and rows that nobody judged, in blocks of any size."""
    _, scores = world(10)
    ids = best(scores, 9)
    ids[3, 5:] = -1
    qrels = {q: {i: i % 3 for i in range(0, N, q)} for q in (5, 1, 3, 2)}
    lists = {q: [i for i in row if i >= 0] for q, row in enumerate(ids.tolist())}
    expected = germane.evaluate(qrels, lists, f"{ALL} {NONRELEVANT}")
    set_sizes(monkeypatch, ids_step=cells)
    same(germane.evaluate(qrels, ids, f"{ALL} {NONRELEVANT}"), expected)
    for place in (1, 8):
        again = ids.copy()
        again[4, place] = again[4, 0]
        germane.evaluate(qrels, again, "AP")  # of no judged query
        again[2, place] = again[2, 0]
        with pytest.raises(
            germane.errors.DuplicateError, match=f"row 2: .* ranks 1 and {place + 1}"
        ):
            germane.evaluate(qrels, again, "AP")


@pytest.mark.parametrize("stored", [1, 4, 1 << 16])
def test_cells_stored_in_any_order(stored: int, monkeypatch: pytest.MonkeyPatch) -> None:

    set_sizes(monkeypatch, stored=stored)
    grades, scores = world(18)
    matrix = csr(grades)
    given, ends = matrix.indices.copy(), matrix.indptr
    expected = germane.evaluate(matrix, scores, ALL)
    for q in range(Q):
        part = slice(ends[q], ends[q + 1])
        matrix.indices[part], matrix.data[part] = (
            matrix.indices[part][::-1],
            matrix.data[part][::-1],
        )
    same(germane.evaluate(matrix, scores, ALL), expected)
    last = matrix.indices[ends[6] : ends[7]]
    last[0] = last[2]
    with pytest.raises(
        germane.errors.DuplicateError, match=f"row 6: column {last[2]} is stored twice"
    ):
        germane.evaluate(matrix, scores, ALL)
    assert not np.array_equal(given, matrix.indices)


# ---------------------------------------------------------------------------- labels, embeddings


def vectors(seed: int, items: int, dtype: str = "f4") -> Array:
    """Whole numbers: their products are exact, whatever the order of summation, and often tied."""
    return np.random.default_rng(seed).integers(-2, 3, (items, 5)).astype(dtype)


GALLERY_LABELS = [f"class {i % 4}" for i in range(N)]
QUERY_LABELS = ["class 1", "class 0", "none", "class 3", "class 3", "class 2", "class 1"]


def similarities(queries: Array, gallery: Array, similarity: str) -> Array:
    queries, gallery = queries.astype(float), gallery.astype(float)
    if similarity == "euclidean":
        return -(((queries[:, None] - gallery) ** 2).sum(axis=2))
    return queries @ gallery.T


@pytest.mark.parametrize("similarity", ["dot", "euclidean"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "i1"])
@pytest.mark.parametrize("ties", ["given", "best", "expected"])
def test_embeddings(similarity: Any, dtype: str, ties: Any) -> None:
    queries, gallery = vectors(1, Q, dtype), vectors(2, N, dtype)
    judged = [
        {i for i, label in enumerate(GALLERY_LABELS) if label == wanted} for wanted in QUERY_LABELS
    ]
    scores = mapped(similarities(queries, gallery, similarity))
    measures = [m for m in map(germane.parse, ALL.split()) if ties != "expected" or m.row.expected]
    expected = germane.evaluate(dict(enumerate(judged)), scores, measures, ties=ties)
    labels = {"query_labels": QUERY_LABELS, "gallery_labels": GALLERY_LABELS}
    for relevance in (labels, {"qrels": judged}, {"qrels": germane.Labels(*labels.values())}):
        given = germane.evaluate_embeddings(
            queries, gallery, measures, similarity=similarity, ties=ties, **relevance
        )
        same(given, expected)


def test_cosine() -> None:
    queries, gallery = vectors(1, Q) + 0.25, vectors(2, N, "f8") + 0.25
    scores = similarities(queries, gallery, "dot")
    scores /= np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(gallery, axis=1)
    labels = germane.Labels(QUERY_LABELS, GALLERY_LABELS)
    given = germane.evaluate_embeddings(
        queries, gallery, "AP", query_labels=QUERY_LABELS, gallery_labels=GALLERY_LABELS
    )
    expected = germane.evaluate(labels, scores.round(12), "AP", ties="best")
    assert given["AP"].best == pytest.approx(expected["AP"].mean, abs=0.02)


@pytest.mark.parametrize("step", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("similarity", ["dot", "euclidean"])
def test_blocks_of_embeddings(step: int, similarity: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def evaluated() -> Any:
        return values(
            germane.evaluate_embeddings(
                vectors(1, Q), vectors(2, N), f"{ALL} {NONRELEVANT}", similarity=similarity,
                query_labels=QUERY_LABELS, gallery_labels=GALLERY_LABELS,
            )
        )  # fmt: skip

    whole = evaluated()
    set_sizes(monkeypatch, product_cells=step * N)
    assert evaluated() == whole


@pytest.mark.parametrize("measures", [ALL, f"{ALL} {NONRELEVANT}"])
def test_a_query_is_not_its_own_neighbour(measures: str) -> None:
    gallery = vectors(3, N)
    scores = mapped(similarities(gallery, gallery, "dot"))
    same_label = {
        q: {i: float(GALLERY_LABELS[i] == GALLERY_LABELS[q]) for i in range(N) if i != q}
        for q in range(N)
    }
    for q in range(N):
        del scores[q][q]
    expected = germane.evaluate(same_label, scores, measures, ties="given")
    labels = {"query_labels": GALLERY_LABELS, "gallery_labels": GALLERY_LABELS}
    for itself in (True, np.arange(N), list(range(N))):
        given = germane.evaluate_embeddings(
            gallery, gallery, measures, similarity="dot", exclude_self=itself, **labels
        )
        same(given, expected)


def test_some_queries_are_in_the_gallery() -> None:
    gallery = vectors(3, N)
    given = germane.evaluate_embeddings(
        gallery[:3], gallery, "NumRet NumRel", query_labels=GALLERY_LABELS[:3], similarity="dot",
        gallery_labels=GALLERY_LABELS, exclude_self=[0, -1, 2],
    )  # fmt: skip
    assert given["NumRet"].per_query == {0: N - 1, 1: N, 2: N - 1}
    assert given["NumRel"].per_query == {0: 5, 1: 6, 2: 5}


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (
            np.array([[3], [4]]),
            r"query_labels have shape \(2, 1\): for one label each, .* shape \(2,\)",
        ),
        (
            np.array([[1, 0], [2, 1]]),
            "query_labels, row 1, column 0: a matrix of labels contains 1 .* got 2",
        ),
    ],
)
def test_what_is_no_matrix_of_labels(labels: Array, says: str) -> None:
    with pytest.raises(germane.errors.FormatError, match=says):
        germane.Labels(labels, np.eye(2))


def test_several_labels() -> None:
    queries = [{"a"}, {"b", "c"}, set(), {"z"}]
    gallery = [{"a", "b"}, {"c"}, {"b", "c"}, set(), {"d"}]
    names = "abcdz"
    matrices = [
        np.array([[name in labels for name in names] for labels in side])
        for side in (queries, gallery)
    ]
    expected = [{0}, {0, 1, 2}, set(), set()]
    scores = np.tile(np.arange(5.0), (4, 1))
    for labels in (germane.Labels(queries, gallery), germane.Labels(*matrices)):
        same(germane.evaluate(labels, scores, ALL), germane.evaluate(expected, scores, ALL))
        complete = [{i: float(i in one) for i in range(5)} for one in expected]
        same(
            germane.evaluate(labels, scores, NONRELEVANT),
            germane.evaluate(complete, scores, NONRELEVANT),
        )


def test_graded_relevance_of_embeddings() -> None:
    grades = np.maximum(world(1)[0], 0)
    queries, gallery = vectors(1, Q), vectors(2, N)
    expected = germane.evaluate(grades, similarities(queries, gallery, "dot"), ALL)
    for qrels in (grades, csr(grades), mapped(grades)):
        given = germane.evaluate_embeddings(queries, gallery, ALL, qrels=qrels, similarity="dot")
        same(given, expected)


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int | None]] = []
    germane.evaluate_embeddings(
        vectors(1, Q), vectors(2, N), "AP", query_labels=QUERY_LABELS, similarity="dot",
        gallery_labels=GALLERY_LABELS, progress=lambda *what: told.append(what), name="mine",
    )  # fmt: skip
    assert told == [("mine", Q, Q)]


# ------------------------------------------------------------------------- runs, qrels and verbs


def test_arrays_of_runs_beside_each_other() -> None:
    grades, scores = world(11)
    results = germane.evaluate_many(grades, {"one": scores, "other": -scores}, ALL)
    same(results["one"], germane.evaluate(grades, scores, ALL))
    same(results["other"], germane.evaluate(grades, -scores, ALL))


def test_judgments_of_arrays_serve_mappings() -> None:
    grades, scores = world(12)
    labels = germane.Labels(QUERY_LABELS, GALLERY_LABELS)
    same(
        germane.evaluate(labels, mapped(scores), ALL, ties="given"),
        germane.evaluate(labels, scores, ALL),
    )
    with pytest.raises(germane.GermaneError, match="no judged item was retrieved"):
        germane.evaluate(grades, {"q": {"d": 1.0}})
    assert germane.evaluate([{1}], [[2]], "AP")["AP"].mean == 0
    assert germane.evaluate(np.array([[0, 1]]), {0: {5: 1.0}}, "AP")["AP"].mean == 0


@pytest.mark.parametrize("measure", ["AP", "P(rel=0)@5", "bpref"])
def test_one_query_of_an_array_is_explained(measure: str) -> None:
    grades, scores = world(13)
    relevance, score, group = flat(grades, scores)
    labels = germane.Labels(QUERY_LABELS, GALLERY_LABELS)
    for qrels, run, choices in [
        (grades, scores, {}),
        (labels, scores, {}),
        (list(mapped(grades).values()), scores, {}),
        (grades.ravel(), scores.ravel(), {"group": [N] * Q}),
        (relevance, score, {"group": group}),
    ]:
        whole = germane.evaluate(qrels, run, measure, **choices)
        explained = germane.explain(qrels, run, measure, query=3, **choices)
        assert explained.readings[0].value == whole[measure].per_query[3]
        assert "int64" not in str(explained)
        rel = 0 if "rel=0" in measure else 1
        curve = germane.pr_curve(qrels, run, query=3, rel=rel, **choices)
        mean = germane.mean_pr_curve(qrels, run, rel=rel, **choices)
        place = list(whole[measure].per_query).index(3)
        assert curve.area(11) == pytest.approx(mean.per_query[:, place].mean())


def test_flat_arrays_of_runs_beside_each_other() -> None:
    relevance, score, group = flat(*world(16))
    results = germane.evaluate_many(relevance, {"one": score, "other": -score}, ALL, group=group)
    same(results["one"], germane.evaluate(relevance, score, ALL, group=group))
    same(results["other"], germane.evaluate(relevance, -score, ALL, group=group))


def test_judgments_of_arrays_serve_frames() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    grades, scores = world(17)
    query, item = np.indices(scores.shape).reshape(2, -1)
    frame = pyarrow.table({"query": query, "item": item, "score": scores.ravel()})
    for ties in ("given", "best"):
        for measures in (ALL, f"{ALL} {NONRELEVANT}"):
            expected = germane.evaluate(grades, scores, measures, ties=ties)
            same(germane.evaluate(grades, frame, measures, ties=ties), expected)
    judged = pyarrow.table({"query": query, "item": item, "grade": grades.ravel()})
    same(germane.evaluate(judged, scores, ALL), germane.evaluate(grades, scores, ALL))


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    grades, scores = world(14, "f4", 3)
    expected = germane.evaluate(grades, scores, ALL)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        tensor = torch.tensor(scores, dtype=dtype, requires_grad=True)
        same(germane.evaluate(torch.tensor(grades), tensor, ALL), expected)


# --------------------------------------------------------------------------------------- errors

ONE = np.array([[1, 0]])
SCORES = np.array([[0.5, 0.25]])


def embedded(queries: Any = ((1.0, 0.0),), gallery: Any = ((1.0, 0.0),), **given: Any) -> Any:
    given = {"query_labels": ["a"], "gallery_labels": ["a"], **given}
    return germane.evaluate_embeddings(queries, gallery, "AP", **given)


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: germane.evaluate(ONE, np.zeros((2, 2))), germane.errors.InputError, "qrels have 1 rows, the run has 2"),
    (lambda: germane.evaluate(ONE, np.zeros((1, 3))), germane.errors.InputError, "qrels have 2 columns, the scores have 3"),
    (lambda: germane.evaluate(ONE, np.zeros(2)), germane.errors.FormatError, "scores have shape (queries, items); got (2,)"),
    (lambda: germane.evaluate(ONE[0], SCORES), germane.errors.FormatError, "group=…"),
    (lambda: germane.evaluate(ONE, np.array([[0.5, np.nan]])), germane.errors.ScoreError, "scores, row 0, column 1: a score must be a finite number; got nan"),
    (lambda: germane.evaluate(ONE, np.array([[-np.inf, 1]])), germane.errors.ScoreError, "row 0, column 0: a score must be a finite number; got -inf"),
    (lambda: germane.evaluate(np.array([[1, np.nan]]), SCORES), germane.errors.GradeError, "qrels, row 0, column 1"),
    (lambda: germane.evaluate(ONE, np.array([["a", "b"]])), germane.errors.CoverageError, "the run's item ids are str"),
    (lambda: germane.evaluate(ONE, np.array([[0.5, None]])), germane.errors.FormatError, "an array of numbers is needed; got object"),
    (lambda: germane.evaluate(np.zeros((0, 3)), np.zeros((0, 3))), germane.errors.EmptyError, "shape is (0, 3)"),
    (lambda: germane.evaluate([{0}], np.zeros((1, 0))), germane.errors.EmptyError, "shape is (1, 0)"),
    (lambda: germane.evaluate([{9}], SCORES), germane.errors.InputError, "query 0: item 9 is not a column of the scores, which are 0 to 1"),
    (lambda: germane.evaluate([{2}], SCORES), germane.errors.InputError, "item 2 is not a column of the scores, which are 0 to 1"),
    (lambda: germane.evaluate([{-1}], np.array([[1, 0]])), germane.errors.InputError, "item -1 is not a column of the run, which are 0."),
    (lambda: germane.evaluate(csr(np.array([[1, np.nan]])), SCORES), germane.errors.GradeError, "qrels, row 0, column 1: a relevance grade must be a finite number; got nan"),
    (lambda: germane.evaluate(csr(np.array([[1, -np.inf]])), SCORES), germane.errors.GradeError, "column 1: a relevance grade must be a finite number; got -inf"),
    (lambda: germane.evaluate(csr(np.array([[2**60, 1]])), SCORES), germane.errors.GradeError, "column 0: a relevance grade must be a finite number in the range ±2^53; got 1.152921504606847e+18"),
    (lambda: germane.evaluate({0: {"a": 1}}, SCORES), germane.errors.CoverageError, "column numbers from 0; the qrels judge item 'a'"),
    (lambda: germane.evaluate({"q": {0: 1}}, SCORES), germane.errors.CoverageError, "no query of the run is in the qrels"),
    (lambda: germane.evaluate(ONE, SCORES, ties="trec"), germane.errors.PolicyError, "choose ties=given"),
    (lambda: germane.evaluate(ONE, np.array([[3, 4]])), germane.errors.InputError, "ids or scores?"),
    (lambda: germane.evaluate_many(ONE, {"a": np.array([[3, 4]])}), germane.errors.InputError, "ids or scores?"),
    (lambda: germane.evaluate(csr(ONE), np.array([[1, 7, 3]])), germane.errors.InputError, "row 0, rank 2: an id is a whole number from 0 to 1"),
    (lambda: germane.evaluate([{0}], np.array([[1, -2]])), germane.errors.InputError, "row 0, rank 2: an id is a whole number from 0, or -1"),
    (lambda: germane.evaluate([{0}], np.array([[1, -1, 0]])), germane.errors.InputError, "there is a -1 at rank 2, before item 0"),
    (lambda: germane.evaluate([{0}], np.array([[1, 0, 2, 0]])), germane.errors.DuplicateError, "row 0: item 0 is retrieved twice, at ranks 2 and 4"),
    (lambda: germane.evaluate([{0}], np.array([[2**63]], "u8")), germane.errors.InputError, "the run has id 9223372036854775808; ids are at most 9223372036854775807"),
    (lambda: germane.evaluate([{0}], np.array([1, 0])), germane.errors.FormatError, "shape (queries, k); got (2,)"),
    (lambda: germane.evaluate([1, 0], [0.5, 0.2], group=[1]), germane.errors.FormatError, "group has length 1; they sum to 1"),
    (lambda: germane.evaluate([1, 0], [0.5], group=[1]), germane.errors.FormatError, "flat arrays of one length"),
    (lambda: germane.evaluate([1, 0], [0.5, np.nan], group=[2]), germane.errors.ScoreError, "scores, item 1"),
    (lambda: germane.evaluate([1, 0], [0.5, 0.2], group=7), germane.errors.FormatError, "group takes one group id for each item"),
    (lambda: germane.evaluate([1, 0], [0.5, 0.2], group=np.array([[2]])), germane.errors.FormatError, "group is flat: a group id for each item, or the sizes of groups; got [[2]]"),
    (lambda: germane.check([1, 0], [0.5, 0.2], group=np.array([[2]])), germane.errors.FormatError, "group is flat"),
    *((lambda qrels=qrels, given=given: germane.evaluate(qrels, None, **given), germane.errors.InputError, "a run is the path of a file") for qrels, given in ((ONE, {}), (ONE[0], {"group": [2]}))),
    (lambda: germane.Labels(["a", None], ["a"]), germane.errors.FormatError, "query_labels, item 1: a label is text or a number; got None"),
    (lambda: germane.Labels([1.0], [np.nan]), germane.errors.FormatError, "gallery_labels, item 0"),
    (lambda: germane.Labels([1], ["1"]), germane.errors.CoverageError, "The queries' are int, the gallery's are str"),
    (lambda: germane.Labels(["a", {"b"}], ["a"]), germane.errors.FormatError, "all items have one label, or all have a set"),
    (lambda: germane.Labels([{"a"}], ["a"]), germane.errors.FormatError, "both are one label each"),
    (lambda: germane.Labels([], ["a"]), germane.errors.EmptyError, "query_labels are empty"),
    (lambda: germane.Labels("abc", ["a"]), germane.errors.FormatError, "query_labels: each item has one label"),
    (lambda: germane.evaluate(germane.Labels(["a"], ["a"]), SCORES), germane.errors.InputError, "qrels have 1 columns"),
    (lambda: embedded(similarity="cosin"), germane.errors.InputError, "similarity takes cosine, dot or euclidean; got 'cosin'. Did you mean 'cosine'?"),
    (lambda: embedded([[1.0]]), germane.errors.FormatError, "queries have 1 dimensions, the gallery has 2"),
    (lambda: embedded([1.0, 2.0]), germane.errors.FormatError, "vectors have shape (rows, dimensions); got (2,)"),
    (lambda: embedded([[1.0], [1.0, 2.0]]), germane.errors.FormatError, "an array of numbers is needed"),
    (lambda: embedded([[0.0, 0.0]]), germane.errors.InputError, "queries, row 0: a vector of zeros"),
    (lambda: embedded([[np.nan, 0.0]]), germane.errors.InputError, "queries, row 0, column 0: a number is needed"),
    (lambda: embedded(np.array([[1e20, 1e20]], "f4"), np.array([[1.0, 1.0]], "f4"), similarity="dot"), germane.errors.InputError, "the longest vector has length 1.41e+20, whose square is too large for float32"),
    (lambda: embedded([[1e200, 0.0]], similarity="dot"), germane.errors.InputError, "whose square is too large for float64"),
    (lambda: embedded(query_labels=["a", "a"]), germane.errors.FormatError, "2 query labels for 1 queries, and 1 gallery labels"),
    (lambda: embedded(qrels=[{0}]), germane.errors.InputError, "either query_labels and gallery_labels, or qrels"),
    (lambda: embedded(gallery_labels=None), germane.errors.InputError, "either query_labels and gallery_labels, or qrels"),
    (lambda: embedded([[1.0, 0.0]] * 2, query_labels=["a"] * 2, exclude_self=True), germane.errors.InputError, "2 queries and 1 items"),
    (lambda: embedded(exclude_self=[3]), germane.errors.InputError, "query 0: 3 is not a position in a gallery of 1 items"),
    (lambda: embedded(exclude_self=[0.5]), germane.errors.FormatError, "exclude_self is True, or 1 positions"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "says"), WRONG, ids=[says for _, _, says in WRONG])
def test_errors(call: Callable[[], Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=re.escape(says)):
        call()


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:

    grades, scores = world(15)
    set_sizes(monkeypatch, most_cells=Q * N - 1)
    germane.evaluate(grades, scores, ALL)
    labels = germane.Labels(QUERY_LABELS, GALLERY_LABELS)
    for qrels in (grades, labels):
        with pytest.raises(germane.errors.InputError, match="bpref, Judged@5 look at every item"):
            germane.evaluate(qrels, scores, "AP bpref Judged@5")
        with pytest.raises(germane.errors.InputError, match="unjudged=remove looks at every item"):
            germane.evaluate(qrels, scores, "AP", unjudged="remove")


@pytest.mark.parametrize(("row", "column"), [(0, 0), (3, 11), (6, 22)])
@pytest.mark.parametrize("short", [0, 8192])
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_number_is_found(
    row: int, column: int, short: int, odd: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few or many items are judged, and wherever these stand."""
    set_sizes(monkeypatch, short_rows=short, wide_rows=short)
    for top in (1, 2, 3, 5, 12, N):
        scores = np.tile(np.arange(N, 0.0, -1), (Q, 1))
        scores[row, column] = odd
        grades = np.tile(np.arange(N) < top, (Q, 1))
        with pytest.raises(
            germane.errors.ScoreError, match=f"row {row}, column {column}: .* got {odd}"
        ):
            germane.evaluate(grades, scores, "AP")
        hidden = np.ma.masked_invalid(scores)
        assert germane.evaluate(grades, hidden, "NumRet")["NumRet"].mean == Q * N - 1
        place = row * N + column
        with pytest.raises(germane.errors.ScoreError, match=f"item {place}: .* got {odd}"):
            by_sizes(grades, scores, "AP")


# --- Labels that are ranked instead of items -------------------------------------------------------


def rank_of_label(label: str, listed: list[str]) -> float:
    """1 / the place of a label among the different labels of a list, or 0."""
    different = list(dict.fromkeys(listed))
    return 1 / (different.index(label) + 1) if label in different else 0.0


def test_repeated_labels_count_once_at_their_best_rank(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    gallery = [f"c{number}" for number in rng.integers(0, 6, 20)]
    asked = ["c0", "c1", "c2", "c5", "c9", "c3"]  # c9 is nowhere
    scores = rng.random((6, 20))
    order = np.argsort(-scores, axis=1)
    ranked = [[gallery[item] for item in row] for row in order]
    labels = germane.Labels(asked, gallery, repeated_labels="first")
    expected = {q: rank_of_label(asked[q], ranked[q]) for q in range(6)}
    result = germane.evaluate(labels, scores, "RR Success@2")
    assert result["RR"].per_query == pytest.approx(expected)
    assert result["Success@2"].mean == sum(value >= 1 / 2 for value in expected.values()) / 6
    assert result.counts.without_relevant == 1  # as with labels of items
    assert (result.counts.collapsed, result.counts.groups) == (
        120,
        sum(len({*row}) for row in ranked),
    )
    assert ", collapse " in str(result.signature("RR"))

    short = {q: rank_of_label(asked[q], ranked[q][:7]) for q in range(6)}
    lists = {q: order[q, :7].tolist() for q in range(6)}
    for run in (order[:, :7], lists):
        assert germane.evaluate(labels, run, "RR")["RR"].per_query == pytest.approx(short)
    (tmp_path / "labels.csv").write_text(
        "item,group\n" + "".join(f"{item},{label}\n" for item, label in enumerate(gallery))
    )
    (tmp_path / "kinds.csv").write_text(
        "query,item,relevance\n" + "".join(f"{q},{label},1\n" for q, label in enumerate(asked))
    )
    (tmp_path / "run.csv").write_text(
        "query,item,score\n"
        + "".join(f"{q},{i},{float(scores[q, i])!r}\n" for q in range(6) for i in range(20))
    )
    files = germane.evaluate(
        tmp_path / "kinds.csv", tmp_path / "run.csv", "RR", collapse=tmp_path / "labels.csv"
    )
    assert [*files["RR"].per_query.values()] == pytest.approx([*expected.values()])
    explained = germane.explain(labels, scores, "RR", query=0)
    assert [row.item for row in explained.rows] == list(dict.fromkeys(ranked[0]))
    assert not any(finding.severity == "serious" for finding in germane.check(labels, scores))


def test_repeated_labels_of_embeddings() -> None:
    rng = np.random.default_rng(3)
    vectors, labels = rng.normal(size=(15, 4)), rng.integers(0, 4, 15).tolist()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit.T
    expected = [
        rank_of_label(labels[q], [labels[i] for i in np.argsort(-cosine[q]) if i != q])
        for q in range(15)
    ]
    options = {"query_labels": labels, "gallery_labels": labels, "exclude_self": True}
    result = germane.evaluate_embeddings(vectors, vectors, "RR", **options, repeated_labels="first")
    assert [*result["RR"].per_query.values()] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: germane.Labels(["a"], ["a"], repeated_labels="once"), "repeated_labels takes each or first"),
        (lambda: germane.Labels([{"a"}], [{"a"}], repeated_labels="first"), "takes one label for each"),
        (
            lambda: germane.Labels(["a"], ["a"], cameras=([1], [2]), repeated_labels="first"),
            "cameras= makes junk of items",
        ),
        (
            lambda: germane.evaluate(
                germane.Labels(["a"], ["a"], repeated_labels="first"), np.ones((1, 1)), collapse=["a"]
            ),
            "both put groups in the place",
        ),
        (
            lambda: germane.evaluate_embeddings(
                np.ones((1, 2)), np.ones((1, 2)), qrels=np.ones((1, 1)), repeated_labels="first"
            ),
            "goes with query_labels= and gallery_labels=; collapse=",
        ),
    ],
)  # fmt: skip
def test_repeated_labels_that_cannot_be(build: Callable[[], object], error: str) -> None:
    with pytest.raises(germane.GermaneError, match=error):
        build()


def test_images_that_find_themselves_are_a_finding() -> None:
    """P@1 of labels is 1 if the image itself may be found, however bad the embeddings are."""
    images, labels = np.random.default_rng(5).normal(size=(12, 4)), np.arange(12) % 3
    options = {"query_labels": labels, "gallery_labels": labels}
    with pytest.warns(germane.GermaneWarning, match="every query finds itself.*exclude_self=True"):
        found = germane.evaluate_embeddings(images, images, "P@1", **options)
    assert found["P@1"].mean == 1
    assert [finding.count for finding in found.findings] == [12]
    without = germane.evaluate_embeddings(images, images, "P@1", **options, exclude_self=True)
    assert without["P@1"].mean < 1
    assert not without.findings
    assert not germane.evaluate_embeddings(
        images[:6], images[6:], "P@1", query_labels=labels[:6], gallery_labels=labels[6:]
    ).findings
