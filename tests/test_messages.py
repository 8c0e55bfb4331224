"""Messages that say which argument is meant and what to do, through the public verbs alone."""

import math
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane.errors import FormatError, GradeError, InputError, PolicyError, ScoreError

QRELS = {"q1": {"a": 1, "b": 0}}
RUN = {"q1": {"a": 0.9, "b": 0.4}}


# --- Arguments by another name ---------------------------------------------------------------------

VERBS = {
    "evaluate": lambda **given: germane.evaluate(QRELS, RUN, **given),
    "evaluate_many": lambda **given: germane.evaluate_many(QRELS, {"run": RUN}, **given),
    "compare": lambda **given: germane.compare(QRELS, {"one": RUN, "two": RUN}, **given),
    "explain": lambda **given: germane.explain(QRELS, RUN, "AP", query="q1", **given),
    "Evaluator": lambda **given: germane.Evaluator(QRELS, **given),
}
SINGLE = {
    "reconcile": lambda **given: germane.reconcile(QRELS, RUN, reported=0.5, **given),
    "spread": lambda **given: germane.spread(QRELS, RUN, **given),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("k", 5, "The cutoff is part of a measure's name: 'nDCG@5'."),
        ("cutoff", 20, "The cutoff is part of a measure's name: 'nDCG@20'."),
        ("top_k", [3, 10], "The cutoff is part of a measure's name: 'nDCG@3'."),
        ("at_k", "ten", "The cutoff is part of a measure's name: 'nDCG@10'."),
        ("cutoffs", (), "The cutoff is part of a measure's name: 'nDCG@10'."),
        ("k", -1, "The cutoff is part of a measure's name: 'nDCG@10'."),
        (
            "metrics",
            ["map"],
            "Measures are named by the argument measures: measures='AP nDCG@10'.",
        ),
        (
            "metric",
            "map",
            "Measures are named by the argument measures: measures='AP nDCG@10'.",
        ),
        (
            "threshold",
            4,
            "The lowest grade that counts as relevant is part of a measure's name: 'P(rel=4)@10'. min_score=4 leaves out items with a lower score.",
        ),
        (
            "rel",
            [2, 3],
            "The lowest grade that counts as relevant is part of a measure's name: 'P(rel=2)@10'.",
        ),
        ("score_threshold", 0.5, "min_score=0.5 leaves out items with a lower score."),
        ("score_thresh", "0.5", "min_score=0.5 leaves out items with a lower score."),
        ("min_similarity", -0.5, "min_score=-0.5 leaves out items with a lower score."),
        (
            "distance_threshold",
            2,
            "max_distance=2 with scores=distances leaves out items that are farther away.",
        ),
        (
            "like_threshold",
            "3",
            "The lowest grade that counts as relevant is part of a measure's name: 'P(rel=3)@10'.",
        ),
        (
            "relevant_threshold",
            2,
            "The lowest grade that counts as relevant is part of a measure's name: 'P(rel=2)@10'.",
        ),
        (
            "relevance_level",
            2,
            "The lowest grade that counts as relevant is part of a measure's name: 'P(rel=2)@10'.",
        ),
        (
            "min_rating",
            2.5,
            "The lowest grade that counts as relevant is part of a measure's name: 'P(rel=2.5)@10'.",
        ),
        (
            "binarize",
            2,
            "The lowest grade that counts as relevant is part of a measure's name: 'P(rel=2)@10'.",
        ),
        *(
            (
                name,
                3,
                "The lowest grade that counts as relevant is part of a measure's name: 'P(rel=3)@10'. min_score=3 leaves out items with a lower score.",
            )
            for name in (
                "thresholds",
                "Threshold",
                "threshhold",
                "treshold",
                "thresh",
                "cut_threshold",
            )
        ),
        ("tie", "best", "Did you mean 'ties'?"),
        ("dialekt", "trec_eval-9", "Did you mean 'dialect'?"),
        ("qqqq", 1, ""),
    ],
)
def test_an_argument_that_does_not_exist(verb: str, name: str, value: Any, meant: str) -> None:
    with pytest.raises(PolicyError) as error:
        VERBS[verb](**{name: value})
    assert str(error.value) == f"there is no convention {name!r}. {meant}".rstrip()


@pytest.mark.parametrize("verb", SINGLE)
def test_a_function_of_one_measure_says_so(verb: str) -> None:
    """What is advised is taken: the argument of one measure, and a name with a cutoff or a level."""
    with pytest.raises(PolicyError, match="takes one measure: measure='nDCG@10'"):
        SINGLE[verb](measure="AP", measures="AP")
    for name in ("k", "threshold"):
        with pytest.raises(PolicyError) as error:
            SINGLE[verb](measure="AP", **{name: 1})
        [advised] = re.findall(r"name: '(.*?)'", str(error.value))
        SINGLE[verb](measure=advised)


def test_a_threshold_may_mean_a_grade_or_a_score() -> None:
    """Both pieces of advice give what they say: the items graded 4 or more, and those scored so."""
    qrels, run = {"q": {"a": 5, "b": 4, "c": 3}}, {"q": {"a": 2.0, "b": 4.5, "c": 5.0}}
    for scores, limit in (("double", "min_score"), ("distances", "max_distance")):
        with pytest.raises(PolicyError) as error:
            germane.evaluate(qrels, run, "NumRet", threshold=4, scores=scores)
        level = re.findall(r"name: '(.*?)'", str(error.value))
        assert level == ["P(rel=4)@10"]
        assert germane.evaluate(qrels, run, level, scores=scores)[level[0]].mean == 2 / 10
        [(named, number)] = re.findall(r"(\w+)=(\d+) leaves", str(error.value))
        assert named == limit
        kept = germane.evaluate(qrels, run, "NumRet", scores=scores, **{named: float(number)})
        assert kept["NumRet"].mean == {"min_score": 2, "max_distance": 1}[limit]


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"min_score": 0.5, "scores": "distances"}, "With scores=distances, use max_distance=0.5 instead, which leaves out"),
        ({"max_distance": 0.5}, "max_distance=0.5 is for scores=distances"),
        ({"min_score": math.inf}, "min_score takes a finite number; got inf"),
        ({"max_distance": "far", "scores": "distances"}, "max_distance takes a finite number; got 'far'"),
    ],
)  # fmt: skip
def test_limits_of_scores_and_of_distances(choices: dict[str, Any], says: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(says)):
        germane.evaluate(QRELS, RUN, "RR", **choices)


# --- Progress --------------------------------------------------------------------------------------


def slowly(folder: Path, call: str) -> tuple[bytes, bytes]:
    """The outputs of a call that reads standard input, which takes its time."""
    (folder / "qrels.txt").write_text("q1 0 a 1\n")
    with subprocess.Popen(
        [sys.executable, "-c", f"import germane\n{call}"],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        for number in range(4):
            process.stdin.write(b"q1 Q0 x%d 1 0.5 a\n# %s\n" % (number, b"x" * ((1 << 20) - 2)))
            process.stdin.flush()
            time.sleep(0.4)
        process.stdin.write(b"q1 Q0 a 1 0.1 a\n")
        process.stdin.close()
        assert process.stdout is not None
        assert process.stderr is not None
        return process.stdout.read(), process.stderr.read()


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "result = germane.evaluate('qrels.txt', '-', 'RR', progress=True)",
        "result = germane.evaluate_many('qrels.txt', {'r': '-'}, 'RR', progress=True)['r']",
        "run = germane.read_run('-', progress=True)\nresult = germane.evaluate('qrels.txt', run, 'RR')",
    ],
)
def test_progress_true_shows_a_line_and_wipes_it(tmp_path: Path, call: str) -> None:
    said = "import sys; print('done', file=sys.stderr); print(result['RR'].mean)"
    out, shown = slowly(tmp_path, f"{call}\n{said}")
    assert out == b"0.2\n"
    *states, end = shown.split(b"\r\x1b[K")
    assert end == b"done\n"
    assert any(state.startswith(b"reading standard input: ") for state in states), shown
    assert states[-1] != b"", "the line was there until it was wiped"


@pytest.mark.slow
def test_progress_false_and_none_show_nothing(tmp_path: Path) -> None:
    for value in (None, False):
        call = f"print(germane.evaluate('qrels.txt', '-', 'RR', progress={value})['RR'].mean)"
        assert slowly(tmp_path, call) == (b"0.2\n", b"")


@pytest.mark.parametrize("given", ["yes", 1, [], {}])
def test_progress_that_cannot_be_called(given: Any) -> None:
    says = "^progress takes True, or a function of three arguments: a name, the amount done, and the total"
    for call in (
        lambda: germane.evaluate(QRELS, RUN, "AP", progress=given),
        lambda: germane.evaluate_many(QRELS, {"run": RUN}, "AP", progress=given),
        lambda: germane.compare(QRELS, {"one": RUN, "two": RUN}, "AP", progress=given),
        lambda: germane.check(QRELS, RUN, progress=given),
        lambda: germane.explain(QRELS, RUN, "AP", query="q1", progress=given),
        lambda: germane.spread(QRELS, RUN, "AP", progress=given),
        lambda: germane.reconcile(QRELS, RUN, reported=0.5, progress=given),
        lambda: germane.pr_curve(QRELS, RUN, query="q1", progress=given),
        lambda: germane.mean_pr_curve(QRELS, RUN, progress=given),
        lambda: germane.report(QRELS, {"run": RUN}, "AP", progress=given),
        lambda: germane.Evaluator(QRELS, "AP").update(RUN, progress=given),
    ):
        with pytest.raises(InputError, match=says):
            call()


# --- Data that cannot be read ----------------------------------------------------------------------


@pytest.mark.parametrize("side", ["qrels", "run"])
def test_a_sparse_column_of_pandas(side: str) -> None:
    pandas = pytest.importorskip("pandas")
    name = {"qrels": "relevance", "run": "score"}[side]
    frame = pandas.DataFrame({"query": ["q1", "q1"], "item": ["a", "b"], name: [1.0, 0.0]})
    frame[name] = pandas.arrays.SparseArray([1.0, 0.0], fill_value=0.0)
    given = {"qrels": QRELS, "run": RUN, side: frame}
    with pytest.raises(FormatError) as error:
        germane.evaluate(given["qrels"], given["run"], "AP")
    cure = f"frame[{name!r}] = frame[{name!r}].sparse.to_dense()"
    assert str(error.value) == (
        f"{side}, column {name!r} is sparse (Sparse[float64, 0.0]), which PyArrow does not read. "
        f"Make it dense: {cure}"
    )
    exec(cure, {"frame": frame})  # as a reader would
    assert germane.evaluate(given["qrels"], given["run"], "AP")["AP"].mean == 1.0


@pytest.mark.parametrize(
    ("indptr", "data", "says"),
    [
        ([0, 3, 2], 3, "indptr falls from 3 to 2 at row 1"),
        ([0, -1, 3], 3, "indptr falls from 0 to -1 at row 0"),
        ([0, 2, 9], 3, "indptr ends with 9 where 3 cells are stored"),
        ([1, 2, 3], 3, "indptr begins with 1 and not with 0"),
        ([0, 3], 3, "indptr has 2 numbers where 2 rows need 3"),
        ([0, 2, 3], 2, "indices has 3 numbers and data 2"),
    ],
)
def test_a_csr_matrix_whose_parts_do_not_fit(indptr: list[int], data: int, says: str) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    grades = sparse.csr_matrix(np.array([[1.0, 0, 2], [0, 1, 0]]))
    scores = np.array([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]])
    assert germane.evaluate(grades, scores, "RR")["RR"].mean == (1 + 1 / 2) / 2
    grades.indptr, grades.data = np.array(indptr, np.int32), grades.data[:data]
    with pytest.raises(FormatError, match=f"^qrels: the CSR matrix is damaged: {says}. Make it"):
        germane.evaluate(grades, scores, "RR")


def test_a_csr_matrix_with_room_for_more() -> None:
    """SciPy's own check accepts it: only the first indptr[-1] cells are stored."""
    sparse = pytest.importorskip("scipy.sparse")
    grades = sparse.csr_matrix(np.array([[1.0, 0, 2], [0, 1, 0]]))
    grades.indices = np.append(grades.indices, np.int32(0))
    grades.data = np.append(grades.data, 5.0)
    grades.check_format()
    scores = np.array([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]])
    assert germane.evaluate(grades, scores, "RR")["RR"].mean == (1 + 1 / 2) / 2


class Nested:
    """As torch's nested tensors are: an array by its methods, without a shape."""

    is_nested = True
    dtype = "torch.float32"

    @property
    def shape(self) -> tuple[int, ...]:
        raise RuntimeError("Internal error: NestedTensorImpl doesn't support sizes.")

    def __array__(self, *_: Any) -> Any:
        raise RuntimeError("numpy(): NestedTensorImpl")

    def __dlpack__(self, **_: Any) -> Any:
        raise RuntimeError("dlpack: NestedTensorImpl")


@pytest.mark.parametrize("side", ["qrels", "run"])
def test_a_nested_tensor(side: str) -> None:
    given = {"qrels": np.eye(2), "run": np.ones((2, 2)), side: Nested()}
    says = rf"^{side}: a nested tensor cannot be read .* Give both sides flat: torch\.cat"
    for call in (
        lambda: germane.evaluate(given["qrels"], given["run"], "AP"),
        lambda: germane.evaluate_many(given["qrels"], {"run": given["run"]}, "AP"),
        lambda: germane.evaluate(given["qrels"], given["run"], "AP", group=[2, 2]),
        lambda: germane.check(given["qrels"], given["run"]),
    ):
        with pytest.raises(FormatError, match=says):
            call()


SEPARATORS = pytest.mark.parametrize(("suffix", "between"), [("csv", ","), ("tsv", "\t")])


@SEPARATORS
def test_a_latin_1_file_names_its_line(tmp_path: Path, suffix: str, between: str) -> None:
    path = tmp_path / f"run.{suffix}"
    rows = [["query", "item", "score"], ["q1", "a", "1"], ["q1", "caf\xe9", "0.5"]]
    path.write_bytes("".join(between.join(row) + "\n" for row in rows).encode("latin-1"))
    with pytest.raises(FormatError) as error:
        germane.evaluate(QRELS, path, "AP")
    assert str(error.value) == (
        f"{path}:3: column 'item' is not UTF-8: it has the byte 0xe9 in 'caf\\udce9'. Convert the file; "
        "if it is Latin-1, with: iconv -f latin1 -t utf-8"
    )
    path.write_bytes(path.read_bytes().decode("latin-1").encode())  # as it is told
    assert germane.evaluate(QRELS, path, "AP")["AP"].mean == 1.0


@SEPARATORS
@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 400])
def test_a_number_beyond_doubles(tmp_path: Path, suffix: str, between: str, number: str) -> None:
    path = tmp_path / f"file.{suffix}"
    for column, says, error in (
        ("score", "a score", ScoreError),
        ("relevance", "a relevance grade", GradeError),
    ):
        rows = [["query", "item", column], ["q1", "a", "1"], ["q1", "b", number]]
        path.write_text("".join(between.join(row) + "\n" for row in rows))
        given = (QRELS, path) if column == "score" else (path, RUN)
        with pytest.raises(error) as raised:
            germane.evaluate(*given, "AP")
        assert str(raised.value).startswith(f"{path}:3: {says} must be a finite number; '")
        assert str(raised.value).endswith(f"is beyond the range of a double, in column {column!r}")


def test_a_score_that_is_written_as_infinite_is_not_beyond(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("query,item,score\nq1,a,1\nq1,b,inf\n")
    with pytest.raises(ScoreError, match=r"a score must be a finite number; got inf$"):
        germane.evaluate(QRELS, path, "AP")


# --- Qrels and run in each other's place -----------------------------------------------------------

GRADES = {f"q{n}": {f"d{i}": int(i < 2) for i in range(5)} for n in range(3)}
SCORES = {f"q{n}": {f"d{i}": i / 7 + n / 100 + 0.01 for i in range(5)} for n in range(3)}


@pytest.mark.parametrize(
    ("scores", "grades"),
    [
        (RUN, QRELS),
        (SCORES, GRADES),
        (SCORES, {q: {i: bool(g) for i, g in held.items()} for q, held in GRADES.items()}),
        (SCORES, {q: {i: np.int64(g) for i, g in held.items()} for q, held in GRADES.items()}),
    ],
)
def test_swapped_dicts(scores: Any, grades: Any) -> None:
    with pytest.raises(InputError) as error:
        germane.evaluate(scores, grades, "AP")
    assert str(error.value) == (
        "the grades of the qrels look like scores, and the scores of the run like grades: the former have "
        "decimals, the latter are a few whole numbers. Are the two swapped? Give the qrels first, then "
        "the run. If they are not, give the run as ranked lists: {query: [item, …]}."
    )
    germane.evaluate(grades, scores, "AP")
    germane.evaluate(scores, {q: list(held) for q, held in grades.items()}, "AP(rel=0.1)")


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({"q": {"a": 0.5, "b": 1, "c": 0}}, {"q": {"a": 1, "b": 0}}),  # grades by halves
        ({"q": {"a": 0.5, "b": 0.5, "c": 0.5}}, {"q": {"a": 1, "b": 0}}),  # one grade for all
        ({"q": {"a": 0.9, "b": 0.4}}, {"q": {"a": 1.0, "b": 0.0}}),  # scores as scores are kept
        ({"q": {"a": 0.9, "b": 0.4}}, {"q": {"a": 3, "b": 2, "c": 1}}),  # a score each
        ({"q": {"a": 0.9, "b": 0.4}}, {"q": {"a": 0.8, "b": 0.7}}),  # decimals on both sides
        ({"q": {"a": 0.5}}, {"q": {"a": 1}}),  # too little to say
        ({"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 0}}),
    ],
)
def test_dicts_that_may_be_as_they_should(qrels: Any, run: Any) -> None:
    assert germane.evaluate(qrels, run, "AP(rel=0.4)")["AP(rel=0.4)"].mean > 0


@pytest.mark.parametrize("dtype", ["float64", "float32", "Float64"])
def test_a_series_of_scores_is_no_ranked_list(dtype: str) -> None:
    """Its values would be taken for ids, and 3.0 equals 3."""
    pandas = pytest.importorskip("pandas")
    scores = pandas.Series([3.0, 1.0, 2.0], index=[1, 2, 3], dtype=dtype)
    with pytest.raises(FormatError, match=r"contains ids, best first; got Series .* to_dict\(\)"):
        germane.evaluate({"q": {1: 1, 2: 0, 3: 1}}, {"q": scores}, "AP")
    assert germane.evaluate({"q": {1: 1, 2: 0}}, {"q": scores.to_dict()}, "AP")["AP"].mean == 1.0


@pytest.mark.parametrize("given", [object(), iter([["a"]]), lambda: 1, (one for one in "a")])
def test_a_value_without_a_text_is_shown_without_its_address(given: Any) -> None:
    for sides in ((given, {"q": ["a"]}), ({"q": ["a"]}, given)):
        with pytest.raises(germane.errors.InputError) as error:
            germane.evaluate(*sides, "AP")
        assert " at 0x" not in str(error.value)


TABLE = np.zeros(2)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: germane.evaluate(GRADES, SCORES, scores=TABLE), "scores takes double"),
        (
            lambda: germane.trust(SCORES, people=GRADES, model=GRADES, missing=TABLE),
            "missing takes zero",
        ),
        (lambda: germane.evaluate(GRADES, SCORES, name=TABLE), "runs are named by text; got"),
        (lambda: germane.read_run("run.txt", max_line=TABLE), "max_line takes a number from 1"),
        (lambda: germane.read_results({}), "a file is named by its path; got {}"),
        (
            lambda: germane.evaluate(GRADES, SCORES, min_score=10**400),
            "min_score takes a finite number",
        ),
        (
            lambda: germane.gate(GRADES, SCORES, baseline=SCORES, max_drop=10**400),
            "max_drop takes a number",
        ),
        (
            lambda: germane.mean_pr_curve(GRADES, SCORES, points=np.array([True, False])),
            "points takes 11 or 101",
        ),
        (lambda: germane.audit({"a": {"AP": 0.5}}, columns=[None]), "columns= is {name of a"),
        (lambda: germane.audit({"a": {"AP": 0.5}}, columns="AP"), "columns= is {name of a"),
        (lambda: germane.audit({"a": {"AP": 0.5}}, columns={"AP": [1]}), "columns= is {name of a"),
        (lambda: germane.audit({"a": {"AP": 0.5}}, dialect=TABLE), "no dialect"),
    ],
)
def test_an_argument_of_another_kind(call: Any, says: str) -> None:
    with pytest.raises(germane.GermaneError, match=says):
        call()


def test_numbers_of_numpy_are_shown_as_numbers() -> None:
    judged, run = {1: [5], 2: [6]}, {1: np.array([7, 8]), 2: np.array([8])}
    with pytest.warns(germane.GermaneWarning, match=r"run: 7, 8, 8; qrels: 5, 6|run: 7, 8"):
        germane.evaluate(judged, run, "RR")
