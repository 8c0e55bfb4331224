"""NumPy alone is required: without PyArrow every input gives the same numbers and the same errors.

``answer`` runs in a process of its own with ``GERMANE_ARROW=0``, where nothing may import pyarrow, and its answers are
those of a process with Arrow, with the compiled kernel and without. The tests that need no Arrow also run where only
NumPy is installed: ``make test-bare``.
"""

import json
import os
import re
import subprocess
import sys
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane.errors import has_arrow

HAS_ARROW, HAS_PANDAS = find_spec("pyarrow") is not None, find_spec("pandas") is not None
HAS_KERNEL = any(Path(germane.__file__).parent.glob("kernel/reduce-*.library"))
with_arrow = pytest.mark.skipif(not HAS_ARROW, reason="there is no PyArrow to compare with")

QRELS = {"a": {"x": 2, "z": 0}, "b": {"y": 1, "é": 1}}
RUN = {"a": {"x": 1.5, "y": 1.5, "z": 3.0}, "b": {"y": 0.25, "é": 0.25, "x": -1.0}}
LISTS = {query: sorted(items, key=items.__getitem__, reverse=True) for query, items in RUN.items()}
ROWS = [(query, item, score) for query, items in RUN.items() for item, score in items.items()]
MEASURES = "AP nDCG@3 P@2 RR"

CSV = [
    # numbers as fields
    *(f"query,item,score\na,x,{number}\nb,y,2\n".encode() for number in (
        "+1.5", " 2 ", "\t2", "1e999", "-1e999", "1e-999", "inf", "-Infinity", "nan", "NAN", "nan(3)", "NA", "N/A", "-nan", "", "1_0",
        "1.", ".5", "-.5e-3", "1E+05", '"1.5"', '"NA"', "1.5f", "0x10", "-", ".", "1e", "00012", "\u00a01", "٣", "True",
        "12345678901234567890", "4.9e-324", "1 2",
    )),
    # lines, blank ones, and the mark of the order of bytes
    b"query,item,score", b"query,item,score\n", b"\n\nquery,item,score", b"query,item,score\n\n\n", b"", b"\n",
    b"\xef\xbb\xbfquery,item,score\r\na,x,1\r\n\r\nb,y,2", b"query,item,score\ra,x,1\rb,y,2\r", b"query,item,score\n   \n",
    b"query,item,score\na,x,1\n\n\n\nb,y,two\n",
    # quotation marks
    b'query,item,score\n"a","x","3"\n', b'query,item,score\n"a\nb",x,3\na,x,2\n', b'query,item,score\n"ab,x,3\n',
    b'query,item,score\na,x,3\n"b,y,2\n', b'query,item,score\n"a ""q""",x,1\na,"x",2\n', b'query,item,score\n"a"b,x,1\n',
    b'query,item,score\na"b,x,1\n "a",x,2\n', b'query,item,score\na,x,1\n""\n', b'"query","item","score"\na,x,1\n',
    b'query,item,score\n"a,b",x,1\n"a\nb",x,no\n',
    # ids
    b"query,item,score\na\xff,x,1\n", b"query,item\xff,score\na,x,1\n", b"query,item,\xff,score\na,x,1,2\n",
    b"query,item,score\na\0,x,1\n", b"query,item,score\na,x,1\0\n", b"query,item,score\n,x,1\n", "query,item,score\na,é,1\na,x,2\n".encode(),
    b"query,item,score\na,x,1\na,x,2\n",
    # columns
    b"query,item,score\na,x\n", b"query,item,score\na,x,1,\n", b"query,query,item,score\na,b,x,1\n", b"query,item,score,score\na,x,1,2\n",
    b"query,item,score,extra\na,x,1,zz\n", b"query,item,rank\na,x,-1\n", b"query,item,rank\na,x,1.5\n", b"query,item,rank\na,x,2\na,z,1\n",
    b"query;item;score\na;x;1\n", b"a,x,1\nb,y,2\n", b"score,item,query\n1,x,a\n2,y,b\n", b"query,item\na,x\n",
]  # fmt: skip
"""Runs in CSV; with tabs for commas they are TSV."""


def _mean(*data: Any, **options: Any) -> object:
    result = germane.evaluate(*data, MEASURES, **options)
    return {
        str(name): [value.mean.hex(), *map(float.hex, value.values)]
        for name, value in result.items()
    }


def _write_files() -> None:
    files = {
        "a.qrels": "".join(
            f"{q} 0 {item} {grade}\n" for q, items in QRELS.items() for item, grade in items.items()
        ),
        "a.run": "".join(f"{q} Q0 {item} 1 {score} t\n" for q, item, score in ROWS),
        "odd.run": "".join(f"{q}\tQ0  {item} 1 {score} t x\r\n" for q, item, score in ROWS),
        "scattered.run": "".join(
            f"{q} Q0 {item} 1 {score} t\n" for q, item, score in ROWS[::2] + ROWS[1::2]
        ),
        "a.json": json.dumps(RUN),
        "lists.json": json.dumps(LISTS),
        "a.csv": "query,item,score\n" + "".join(f"{q},{item},{score}\n" for q, item, score in ROWS),
        "a.tsv": "query\titem\tscore\n"
        + "".join(f"{q}\t{item}\t{score}\n" for q, item, score in ROWS),
        "scattered.csv": "query,item,score\n"
        + "".join(f"{q},{i},{s}\n" for q, i, s in ROWS[::2] + ROWS[1::2]),
        "msmarco.tsv": "".join(
            f"{q}\t{item}\t{rank}\n"
            for q, items in LISTS.items()
            for rank, item in enumerate(items, 1)
        ),
        "groups.csv": "item,group\nx,g\ny,g\nz,h\né,h\n",
        "pairs.txt": "a z\nb x\n",
        "bad.run": "a Q0 x 1 1.0 t\na Q0 y\n",
        "bad.json": '{"a": {"x": "two"}}',
        "letor.txt": "1 qid:a 1:0.5 2:3 # docid = x\n0 qid:a 1:0.7 2:1 # docid = z\n2 qid:b 1:0.1 2:0 # docid = y\n",
        "scores.txt": "0.5\n0.25\n3\n",
    }
    for name, text in files.items():
        Path(name).write_text(text, newline="")


def list_calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Name every call and make it."""
    sources: dict[str, Any] = {
        name: name
        for name in (
            "a.run",
            "odd.run",
            "scattered.run",
            "a.json",
            "lists.json",
            "a.csv",
            "a.tsv",
            "scattered.csv",
            "bad.run",
            "bad.json",
        )
    }
    record = namedtuple("record", "query_id doc_id score")
    sources |= {"dict": RUN, "lists": LISTS, "records": [record(*row) for row in ROWS]}
    sources["mixed records"] = [record("a", "x", 1.0), record("a", 3, 2.0)]
    for name, run in sources.items():
        yield f"evaluate {name}", lambda run=run: _mean(QRELS, run)
        yield f"evaluate file, {name}", lambda run=run: _mean("a.qrels", run, ties="expected")
        yield (
            f"collapsed {name}",
            lambda run=run: _mean(QRELS, run, collapse="groups.csv", duplicates="max"),
        )
        yield f"without pairs {name}", lambda run=run: _mean(QRELS, run, exclude="pairs.txt")
        yield f"check {name}", lambda run=run: str(germane.check("a.qrels", run))
    yield "msmarco", lambda: _mean(QRELS, "msmarco.tsv", input_format={"run": "msmarco"})
    yield "qrels in csv", lambda: _mean("a.csv", RUN, columns={"relevance": "score"})
    yield (
        "letor",
        lambda: _mean("letor.txt", "letor.txt", columns={"score": "1"}, input_format="letor"),
    )
    yield (
        "letor and scores",
        lambda: _mean("letor.txt", "scores.txt", input_format={"qrels": "letor", "run": "scores"}),
    )
    yield (
        "letor and an array",
        lambda: _mean("letor.txt", np.array([0.5, 0.25, 3]), input_format={"qrels": "letor"}),
    )
    yield (
        "arrays",
        lambda: _mean(
            np.array([[1, 0, 2], [0, 1, 0]]), np.array([[0.5, 0.7, 0.5], [0.1, 0.2, 0.3]])
        ),
    )
    yield (
        "columns of a result",
        lambda: list(germane.evaluate(QRELS, RUN, MEASURES)["AP"].values.tolist()),
    )
    yield (
        "compare",
        lambda: str(germane.compare(QRELS, {"one": "a.run", "two": LISTS}, "AP", rng=1)),
    )
    yield "explain", lambda: str(germane.explain("a.qrels", "a.csv", "AP", query="b"))
    yield "reconcile", lambda: str(germane.reconcile("a.qrels", "a.run").table(digits=6))
    yield (
        "rows of a comparison",
        lambda: list(germane.compare(QRELS, {"one": RUN, "two": LISTS}, "AP", rng=1)),
    )
    yield (
        "report, HTML",
        lambda: re.sub(
            r"\d{4}-\d\d-\d\d", "", germane.report("a.qrels", {"one": "a.run"}, "AP").html()
        ),
    )
    yield (
        "latex",
        lambda: germane.evaluate_many(
            "a.qrels", {"one": "a.run", "two": "a.csv"}, MEASURES
        ).latex(),
    )
    yield "html", lambda: germane.evaluate("a.qrels", "a.run", MEASURES)._repr_html_()
    yield (
        "report",
        lambda: str(germane.report("a.qrels", {"one": "a.run", "two": "a.csv"}, "AP nDCG@3")),
    )
    for number, data in enumerate(CSV):
        for name, text in ((f"{number}.csv", data), (f"{number}.tsv", data.replace(b",", b"\t"))):
            Path(name).write_bytes(text)
            yield f"run {name} {text!r}", lambda name=name: _mean(QRELS, name)
            yield (
                f"qrels {name} {text!r}",
                lambda name=name: _mean(name, RUN, columns={"relevance": "score"}),
            )
            yield f"check {name} {text!r}", lambda name=name: str(germane.check(QRELS, name))
    if HAS_PANDAS:
        yield from _list_frames()


def _list_frames() -> Iterator[tuple[str, Callable[[], object]]]:
    """Name every call with a frame of pandas and make it."""
    import datetime
    import decimal
    import uuid

    import pandas as pd

    queries, items, scores = zip(*ROWS, strict=True)
    ids: dict[str, Any] = {
        "object": pd.Series(items, dtype=object),
        "str": pd.Series(items),
        "string": pd.Series(items, dtype="string[python]"),
        "category": pd.Series(items, dtype="category"),
        "unused categories": pd.Series(pd.Categorical(items, [*sorted({*items}), "unused"])),
        "integers": pd.Series([1, 2, 3, 2, 4, 1]),
        "int8": pd.Series([1, 2, 3, 2, 4, 1], dtype="int8"),
        "uint64": pd.Series([1, 2, 3, 2, 2**64 - 1, 1], dtype="uint64"),
        "Int64": pd.Series([1, 2, 3, 2, 4, 1], dtype="Int64"),
        "Int64 with a gap": pd.Series([1, 2, None, 2, 4, 1], dtype="Int64"),
        "categories of integers": pd.Series([1, 2, 3, 2, 4, 1], dtype="category"),
        "integers as objects": pd.Series([1, 2, 3, 2, 4, 1], dtype=object),
        "large integers": pd.Series([1, 2, 3, 2, 2**64, 1], dtype=object),
        "floats": pd.Series([1.0, 2, 3, 2, 4, 1]),
        "floats with a gap": pd.Series([1.0, 2, None, 2, 4, 1]),
        "truth": pd.Series([True, False] * 3),
        "objects with a gap": pd.Series([*items[:4], None, "x"], dtype=object),
        "objects with NaN": pd.Series([*items[:4], np.nan, "x"], dtype=object),
        "text with a gap": pd.Series([*items[:4], None, "x"]),
        "category with a gap": pd.Series([*items[:4], None, "x"], dtype="category"),
        "nothing": pd.Series([None] * 6, dtype=object),
        "mixed": pd.Series([*items[:4], 5, "x"], dtype=object),
        "mixed numbers": pd.Series([1, 2.5, 3, 2, 4, 1], dtype=object),
        "truth and numbers": pd.Series([1, True, 3, 2, 4, 1], dtype=object),
        "bytes": pd.Series([item.encode() for item in items], dtype=object),
        "text and bytes": pd.Series([b"x", *items[1:]], dtype=object),
        "surrogates": pd.Series(["\udc80", *items[1:]], dtype=object),
        "uuids": pd.Series([uuid.UUID(int=number) for number in (1, 2, 3, 2, 4, 1)], dtype=object),
        "times": pd.Series(pd.date_range("2020", periods=6)),
        "times with a zone": pd.Series(pd.date_range("2020", periods=6, tz="UTC")),
        "time": pd.Series([datetime.datetime(2020, 1, day) for day in range(1, 7)], dtype=object),
        "dates": pd.Series([datetime.date(2020, 1, day) for day in range(1, 7)], dtype=object),
        "periods": pd.Series(pd.period_range("2020", periods=6, freq="M")),
        "spans": pd.Series(pd.to_timedelta(range(6), unit="s")),
        "complex": pd.Series([1j] * 6),
        "sparse": pd.Series([1, 2, 3, 2, 4, 1]).astype("Sparse[int]"),
        "swapped bytes": pd.Series(np.array([1, 2, 3, 2, 4, 1], ">i4")),
        "lists": pd.Series([[item] for item in items]),
        "mixed lists": pd.Series([[item, 1] for item in items]),
        "pairs": pd.Series([[(item, 1.0)] for item in items]),
        "dicts": pd.Series([{"id": item} for item in items]),
        "fractions": pd.Series([object] * 6, dtype=object),
        "decimals": pd.Series([decimal.Decimal(number) for number in ("1.5", "2", "3", "2", "4", "1")], dtype=object),
    }  # fmt: skip
    for name, column in ids.items():
        frame = pd.DataFrame({"query": queries, "item": column, "score": scores})
        qrels = frame[:4:3].drop(columns="score").assign(grade=[1, 2])
        yield f"ids {name}", lambda frame=frame, qrels=qrels: _mean(qrels, frame)
        yield (
            f"queries {name}",
            lambda frame=frame: _mean(
                QRELS, frame.rename(columns={"query": "item", "item": "query"})
            ),
        )
        yield f"check ids {name}", lambda frame=frame: str(germane.check(QRELS, frame))
        scored = pd.DataFrame({"query": queries, "item": items, "score": column})
        yield f"scores {name}", lambda frame=scored: _mean(QRELS, frame)
        yield (
            f"ranks {name}",
            lambda frame=scored: _mean(QRELS, frame.rename(columns={"score": "rank"})),
        )
        yield (
            f"grades {name}",
            lambda frame=scored: _mean(frame.rename(columns={"score": "grade"}), RUN),
        )
        yield f"check scores {name}", lambda frame=scored: str(germane.check(QRELS, frame))
    for kind in ("float16", "float32", "Float64", "Float32", "uint8", "boolean"):
        frame = pd.DataFrame(
            {"query": queries, "item": items, "score": pd.Series([0, 1, 1, 1, 0, 1]).astype(kind)}
        )
        yield f"scores of {kind}", lambda frame=frame: _mean(QRELS, frame)
    frame = pd.DataFrame({"query": queries, "item": items, "score": scores}, index=list("uvwxyz"))
    yield "frame with an index", lambda: _mean(QRELS, frame[::-1])
    yield "frame without rows", lambda: _mean(QRELS, frame[:0])
    yield (
        "frame without scores",
        lambda: _mean(QRELS, frame[["query", "item"]].reset_index(drop=True)),
    )
    yield (
        "frame of lists",
        lambda: _mean(QRELS, pd.DataFrame({"query": [*LISTS], "items": [*LISTS.values()]})),
    )
    yield (
        "frame with other labels",
        lambda: _mean(
            QRELS, frame.set_axis([0, 1, 2], axis=1), columns={"query": 0, "item": 1, "score": 2}
        ),
    )
    yield "columns twice", lambda: _mean(QRELS, frame.set_axis(["query", "item", "item"], axis=1))
    result = germane.evaluate_many(QRELS, {"one": RUN, "two": LISTS}, MEASURES)
    for name, value in {
        "result": result,
        "comparison": germane.compare(QRELS, {"one": RUN, "two": LISTS}, "AP", rng=1),
        "explanation": germane.explain(QRELS, RUN, "AP", query="b"),
    }.items():
        yield (
            f"columns of {name}",
            lambda value=value: (str(value.to_pandas().to_dict()), str(value.to_pandas().dtypes)),
        )
    boxes = pd.DataFrame(
        {
            "image": [1, 1],
            "class": "cat",
            "x1": 0,
            "y1": [0.0, 5],
            "x2": 9,
            "y2": 9,
            "score": [0.5, 0.25],
        }
    )
    yield "boxes", lambda: str(germane.boxes.evaluate(boxes.drop(columns="score"), boxes).table())
    yield (
        "boxes with a flag",
        lambda: str(
            germane.boxes.evaluate(boxes.drop(columns="score").assign(crowd=[0, 1]), boxes).table()
        ),
    )


def answer() -> None:
    """Print the answers to all calls."""
    _write_files()
    answers = {}
    for name, call in list_calls():
        try:
            answers[name] = repr(call())
        except Exception as error:
            answers[name] = f"{type(error).__name__}: {error}"
    json.dump(answers, sys.stdout)


def _ask(folder: Path, *, arrow: str, kernel: str) -> dict[str, str]:
    environment = {
        **os.environ,
        "GERMANE_ARROW": arrow,
        "GERMANE_KERNEL": kernel,
        "PYTHONHASHSEED": "0",
    }
    code = "import sys, warnings; sys.modules.update({'pyarrow': None} if sys.argv[2] == '0' else {}); warnings.simplefilter('ignore'); sys.path.insert(0, sys.argv[1]); import test_numpy_alone; test_numpy_alone.answer()"
    done = subprocess.run([sys.executable, "-c", code, str(Path(__file__).parent), arrow], cwd=folder, env=environment, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    answers: dict[str, str] = json.loads(done.stdout)
    return answers


@pytest.fixture(scope="module")
def answers_with_arrow(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The answers that have to be the same without."""
    return _ask(tmp_path_factory.mktemp("arrow"), arrow="1", kernel="1" if HAS_KERNEL else "0")


@with_arrow
@pytest.mark.parametrize("used", ["0", "1"])
def test_every_answer_is_the_same_without_arrow(
    used: str, tmp_path: Path, answers_with_arrow: dict[str, str]
) -> None:
    if used == "1" and not HAS_KERNEL:
        pytest.skip("there is no compiled kernel")
    answers = _ask(tmp_path, arrow="0", kernel=used)
    assert len(answers) > 500
    differ = {
        name: (text, answers_with_arrow[name])
        for name, text in answers.items()
        if text != answers_with_arrow[name]
    }
    assert not differ, "\n".join(
        f"{name}\n  without: {a[:400]}\n  with:    {b[:400]}" for name, (a, b) in differ.items()
    )


# --- Any CSV --------------------------------------------------------------------------------------

FIELDS = (
    "",
    "a",
    "b",
    '"a"',
    '"a,b"',
    '"a\nb"',
    '"""a"""',
    'a"b',
    "é",
    "1",
    "1.5",
    "-2e3",
    " 3",
    "NA",
    "nan",
    "inf",
    "1e999",
    "x y",
    "#",
)
LINE_ENDS = ("\n", "\r\n", "\r", "\n\n")


@with_arrow
def test_any_csv_is_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hypothesis = pytest.importorskip("hypothesis")
    from hypothesis import strategies as st

    fields = st.sampled_from(FIELDS)
    rows = st.lists(
        st.tuples(st.lists(fields, min_size=1, max_size=4), st.sampled_from(LINE_ENDS)), max_size=6
    )
    path, other = tmp_path / "any.csv", {"a": ["a", "b"], "b": ["1"], "1": ["a"]}

    def ask(call: Callable[[], object], arrow: str) -> str:
        monkeypatch.setenv("GERMANE_ARROW", arrow)
        has_arrow.cache_clear()
        try:
            with warnings.catch_warnings(action="ignore"):
                return repr(call())
        except germane.GermaneError as error:
            return f"{type(error).__name__}: {error}"

    @hypothesis.given(
        rows,
        st.sampled_from(
            [
                "query,item,score",
                '\ufeff"query",item,score',
                "item,rank,query",
                "query,item,relevance,x",
            ]
        ),
    )
    def compare(rows: Any, header: str) -> None:
        path.write_text(
            header + "\n" + "".join(",".join(row) + end for row, end in rows), newline=""
        )
        for call in (
            lambda: _mean(other, path),
            lambda: _mean(path, other),
            lambda: str(germane.check(other, path)),
        ):
            assert ask(call, "0") == ask(call, "1"), path.read_bytes()

    compare()
    has_arrow.cache_clear()


@with_arrow
def test_many_rows_of_csv_are_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.random.default_rng(5)
    rows = [(f"q{n // 100}", f"d{item}", score) for n, (item, score) in enumerate(zip(numbers.permutation(100_000).tolist(), numbers.random(100_000).tolist(), strict=True))]  # fmt: skip
    path = tmp_path / "long.csv"
    path.write_text(
        "query,item,score\n" + "".join(f"{query},{item},{score!r}\n" for query, item, score in rows)
    )
    qrels = {query: {item: int(score > 0.5)} for query, item, score in rows[::7]}
    means = []
    for arrow in "01":
        monkeypatch.setenv("GERMANE_ARROW", arrow)
        has_arrow.cache_clear()
        means.append(_mean(qrels, path))
    assert means[0] == means[1]
    path.write_text(path.read_text() + "q1,d1,none\n")
    with pytest.raises(germane.errors.ScoreError, match=r"long\.csv:100002: "):
        germane.evaluate(qrels, path)
    has_arrow.cache_clear()


# --- Without Arrow --------------------------------------------------------------------------------


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files in an empty folder, and no Arrow."""
    monkeypatch.setenv("GERMANE_ARROW", "0")
    monkeypatch.chdir(tmp_path)
    has_arrow.cache_clear()
    _write_files()
    yield
    monkeypatch.undo()
    has_arrow.cache_clear()


@pytest.mark.parametrize("used", ["0", "1"])
def test_every_input_has_the_means_of_a_dict(used: str, tmp_path: Path) -> None:
    if used == "1" and not HAS_KERNEL:
        pytest.skip("there is no compiled kernel")
    answers = _ask(tmp_path, arrow="0", kernel=used)
    inputs = (
        "a.run",
        "odd.run",
        "scattered.run",
        "a.json",
        "a.csv",
        "a.tsv",
        "scattered.csv",
        "records",
    )
    assert {answers[f"evaluate {name}"] for name in inputs} == {answers["evaluate dict"]}
    assert "germane[frames]" not in "".join(answers.values())
    places, wrong = ("evaluate", "collapsed", "without"), ("bad.run", "bad.json", "mixed records")
    failed = {
        name for name, text in answers.items() if "Error: " in text and name.startswith(places)
    }
    assert failed == {name for name in answers if name.startswith(places) and name.endswith(wrong)}


@pytest.mark.parametrize(
    ("call", "noun"),
    [
        (lambda: germane.evaluate(QRELS, "a.parquet", "AP"), r"a\.parquet: Parquet needs"),
        (lambda: germane.evaluate(QRELS, "a.arrow", "AP"), r"a\.arrow: a file of Arrow needs"),
        (lambda: germane.evaluate(QRELS, "a.jsonl", "AP"), r"a\.jsonl: JSON Lines need"),
        (
            lambda: germane.evaluate("a.run.zst", RUN, "AP"),
            r"a\.run\.zst: a file compressed with Zstandard needs",
        ),
        (
            lambda: germane.evaluate(QRELS, _Stream(), "AP"),
            "run: a _Stream of test_numpy_alone needs",
        ),
        (
            lambda: germane.collapse("a.run", {}.get),
            "collapse makes a pyarrow.Table of a frame or file, which needs",
        ),
        (lambda: germane.evaluate(QRELS, RUN, "AP").to_arrow(), "a table of PyArrow needs"),
    ],
)
def test_what_needs_arrow_says_so(call: Callable[[], object], noun: str, alone: None) -> None:
    for name in ("a.parquet", "a.arrow", "a.jsonl"):
        Path(name).write_bytes(b"PAR1{}")
    Path("a.run.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(9))
    with pytest.raises(
        germane.errors.InputError, match=rf"^{noun} PyArrow: pip install 'germane\[frames\]'$"
    ):
        call()


class _Stream:
    """A frame that is none of pandas'."""

    columns = ("query", "item", "score")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise AssertionError


def test_a_field_that_the_standard_library_does_not_read(alone: None) -> None:
    Path("long.csv").write_text("query,item,score,text\na,x,1,ok\nb,y,1," + "z" * 200_000 + "\n")
    with pytest.raises(germane.errors.InputError, match=r"^long\.csv:3: .*germane\[frames\]"):
        germane.evaluate(QRELS, "long.csv", "AP")


def test_commands_of_the_demonstration(alone: None) -> None:
    commands = (
        ["evaluate", "a.qrels", "a.run", "a.csv", "-m", "AP AP@10 nDCG@10"],
        ["report", "a.qrels", "a.run", "a.csv", "-m", "AP nDCG@10", "-o", "report.html"],
        ["compare", "a.qrels", "a.run", "odd.run", "-m", "AP"],
        ["check", "a.qrels", "a.run"],
        ["explain", "a.qrels", "a.run", "-m", "AP", "--query", "b"],
    )
    for arguments in commands:
        done = subprocess.run(
            [sys.executable, "-m", "germane", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr
    assert Path("report.html").stat().st_size > 10_000
