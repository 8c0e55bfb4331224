"""Every input that germane takes, made of the same dicts: add a line to a table here, and all tests of inputs use it.

``INPUTS`` makes judgments and a run of two dicts. ``COLUMNS`` makes a frame or a file of an Arrow table, and
``TREC`` the bytes of a TREC file; both are part of ``INPUTS`` and are also used on their own.
"""

import bz2
import gzip
import json
import lzma
import random
from collections import ChainMap, UserList, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import cycle
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import germane
from germane.readers import ReadOptions, RunInput, open_inputs
from germane.readers.files.trec_files import Run, TrecFile
from germane.readers.objects.arrays import ArrayRun, FlatArray, ScoreArray
from germane.readers.objects.embeddings import Embeddings, read_embeddings
from germane.readers.objects.frames import Frame
from germane.readers.objects.mappings import MappedRun, RankedLists, ScoredLists, ScoredMapping
from germane.readers.objects.top_ids import TopIds

import oracle

Qrels = dict[str, dict[str, float]]
Scores = dict[str, dict[str, float]]
Rows = list[tuple[Any, Any, float]]


class Given(NamedTuple):
    """Arguments of ``evaluate``; ``queries`` names the rows of inputs without ids."""

    qrels: Any
    run: Any
    options: dict[str, Any] = {}  # noqa: RUF012  (never changed)
    queries: Sequence[str] | None = None

    def per_query(self, measures: Any, **conventions: Any) -> dict[str, dict[str, float]]:
        """The value of each measure and judged query."""
        result = germane.evaluate(self.qrels, self.run, measures, **self.options, **conventions)
        names = dict(enumerate(self.queries or ()))
        return {
            name: {names.get(q, q): value for q, value in one.per_query.items()}  # type: ignore[call-overload]
            for name, one in result.items()
        }

    @property
    def kind(self) -> type[RunInput]:
        reading = {name: given for name, given in self.options.items() if name != "scores"}
        return type(open_inputs(self.qrels, self.run, ReadOptions(**reading))[1])


class Input(NamedTuple):
    """A way to give judgments and a run, and the class that reads such a run."""

    kind: type[RunInput]
    make: Callable[[Qrels, Scores, Path], Given]

    def prepare(self, qrels: Qrels, run: Scores) -> Scores:
        """The run as this input can hold it: vectors rank every item for every query."""
        return rank_everything(qrels, run) if self.kind is Embeddings else run


def all_kinds() -> set[type[RunInput]]:
    """Every class of runs that can be read."""

    def below(kind: type[RunInput]) -> Iterator[type[RunInput]]:
        for one in kind.__subclasses__():
            yield from below(one)
            names = {"retrieve", "_read_ids", "open_blocks"} & vars(one).keys()
            if one not in (ArrayRun, MappedRun) and names:
                yield one

    return set(below(RunInput))


def rows(given: Scores) -> Rows:
    return [(query, item, value) for query, got in given.items() for item, value in got.items()]


def shuffled(given: Rows) -> Rows:
    return random.Random(3).sample(given, len(given))


def by_score(given: Rows) -> Rows:
    """Grouped by query, best first; ties in another order than that of ids."""
    return sorted(given, key=lambda row: (row[0], -row[2], row[1]))


def ranked(run: Scores) -> dict[str, list[str]]:
    return {query: oracle.trec_order(got) for query, got in run.items()}


def hits(run: Scores, make: Callable[[str, float], Any]) -> dict[str, list[Any]]:
    """Results as clients of search engines return them; a run without any hit has none to recognize."""
    return {query: [make(item, score) for item, score in got.items()] for query, got in run.items()}


def rank_everything(qrels: Qrels, run: Scores) -> Scores:
    """Scores as small whole numbers, lowest for items that were not retrieved."""
    items = {item for side in (qrels, run) for got in side.values() for item in got}
    distinct = sorted({score for got in run.values() for score in got.values()})
    steps = {score: float(at) for at, score in enumerate(distinct)}
    return {
        query: {
            item: steps[run[query][item]] if item in run.get(query, {}) else -1.0
            for item in sorted(items)
        }
        for query in qrels
    }


# --- TREC files ------------------------------------------------------------------------------------


def run_text(given: Rows, separator: str = " ", end: str = "\n") -> str:
    lines = (
        separator.join((query, "Q0", item, str(rank), repr(score), "tag"))
        for rank, (query, item, score) in enumerate(given, 1)
    )
    return "".join(line + end for line in lines)


def comment(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "# a comment\n\n" + "\n  \n#another, q Q0 a 1 9 t\n".join(lines) + "\n\n \t \n#end"


def add_blanks(text: str) -> str:
    return "".join("  " + line.replace(" ", "   ")[:-1] + " \n" for line in text.splitlines(True))


def zstd(data: bytes) -> bytes:
    return pa.Codec("zstd").compress(data, asbytes=True)  # type: ignore[no-any-return]


def _of_text(change: Callable[[str], str | bytes]) -> Callable[[Rows], bytes]:
    def make(given: Rows) -> bytes:
        text = change(run_text(given))
        return text if isinstance(text, bytes) else text.encode()

    return make


TREC: dict[str, Callable[[Rows], bytes]] = {
    "plain": _of_text(str),
    "gz": _of_text(lambda text: gzip.compress(text.encode())),
    "gz of two members": _of_text(
        lambda text: gzip.compress(text[:99].encode()) + gzip.compress(text[99:].encode())
    ),
    "bz2": _of_text(lambda text: bz2.compress(text.encode())),
    "xz": _of_text(lambda text: lzma.compress(text.encode())),
    "zst": _of_text(lambda text: zstd(text.encode())),
    "zst of two frames": _of_text(lambda text: zstd(text[:99].encode()) + zstd(text[99:].encode())),
    "tabs": lambda given: run_text(given, "\t").encode(),
    "several blanks": _of_text(add_blanks),
    "tabs and blanks": _of_text(lambda text: text.replace(" Q0 ", " \t Q0\t")),
    "CRLF": lambda given: run_text(given, end="\r\n").encode(),
    "CRLF and tabs": lambda given: run_text(given, "\t", "\r\n").encode(),
    "comments and blank lines": _of_text(comment),
    "BOM": _of_text(lambda text: "\ufeff" + text),
    "BOM and comments": _of_text(lambda text: "\ufeff" + comment(text)),
    "BOM, CRLF, compressed": lambda given: gzip.compress(
        b"\xef\xbb\xbf" + run_text(given, end="\r\n").encode()
    ),
    "no final newline": _of_text(lambda text: text[:-1]),
    "grouped and sorted": lambda given: run_text(by_score(given)).encode(),
    "grouped, worst first": lambda given: run_text(by_score(given)[::-1]).encode(),
    "shuffled": lambda given: run_text(shuffled(given)).encode(),
    "shuffled, compressed": lambda given: gzip.compress(run_text(shuffled(given)).encode()),
    "more columns": _of_text(lambda text: text.replace(" tag", " tag and more")),
}


def store(data: bytes, folder: Path) -> Path:
    path = folder / "toy.run"
    path.write_bytes(data)
    return path


# --- Frames and files with columns -----------------------------------------------------------------

Make = Callable[[pa.Table, Path], Any]
"""Makes a frame, or a file in a folder, of a table with the columns query_id, doc_id and a number."""


def table(given: Iterable[Any], number: str = "score", ids: pa.DataType | None = None) -> pa.Table:
    query, item, numbers = (list(column) for column in zip(*given, strict=True))
    return pa.table(
        {
            "query_id": pa.array(query, ids),
            "doc_id": pa.array(item, ids),
            number: pa.array(numbers, pa.float64()),
            "unread": pa.array([None] * len(query), pa.string()),
        }
    )


def with_ids(kind: pa.DataType) -> Make:
    """Ids in another of Arrow's layouts."""

    def make(given: pa.Table, folder: Path) -> pa.Table:
        for at, name in enumerate(("query_id", "doc_id")):
            column = given.column(name)
            if isinstance(kind, pa.DictionaryType):
                column = column.dictionary_encode()
            given = given.set_column(at, name, column.cast(kind))
        return given

    return make


def batches(given: pa.Table, folder: Path) -> pa.RecordBatchReader:
    """A stream that can be read once, of batches of two rows, with empty ones among them."""
    parts: list[pa.RecordBatch] = []
    for batch in given.to_batches(2):
        parts += [batch, batch.slice(0, 0)]
    return pa.RecordBatchReader.from_batches(given.schema, parts)


def _written(suffix: str, write: Callable[[pa.Table, str], object]) -> Make:
    def make(given: pa.Table, folder: Path) -> Path:
        path = folder / f"toy{suffix}"
        write(given, str(path))
        return path

    return make


def _csv(given: pa.Table, path: str) -> None:
    pa.csv.write_csv(given, path)


def _tsv(given: pa.Table, path: str) -> None:
    values = zip(*(given.column(at).to_pylist() for at in range(3)), strict=True)
    lines = ["\t".join(given.column_names[:3]), *("\t".join(map(str, row)) for row in values)]
    Path(path).write_text("".join(line + "\n" for line in lines), "utf-8")


def _gz(given: pa.Table, path: str) -> None:
    with pa.output_stream(path, compression="gzip") as out:
        pa.csv.write_csv(given, out)


def _jsonl(given: pa.Table, path: str) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in given.to_pylist())
    Path(path).write_text("".join(lines), "utf-8")


def _stream(given: pa.Table, path: str) -> None:
    with pa.ipc.new_stream(path, given.schema) as out:
        out.write_table(given, 3)


def _ipc(given: pa.Table, path: str) -> None:
    with pa.ipc.new_file(path, given.schema) as out:
        out.write_table(given, 3)


def _of_library(name: str, make: Callable[[Any, pa.Table], Any]) -> Make:
    return lambda given, folder: make(pytest.importorskip(name), given)


def _terrier(pandas: Any, given: pa.Table) -> Any:
    """A frame as PyTerrier makes it: with the query's text, the place in the index, and ranks from 0."""
    frame = given.to_pandas().drop(columns="unread")
    frame = frame.rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"})
    if "label" in frame:
        return frame
    frame.insert(1, "query", "text of " + frame["qid"])
    frame.insert(2, "docid", range(len(frame)))
    by_query = frame.groupby("qid")["score"]
    return frame.assign(rank=by_query.rank(method="first", ascending=False).astype(int) - 1)


class ScoredDoc(NamedTuple):
    """A result as ir_datasets and ir_measures have it."""

    query_id: str
    doc_id: str
    score: float


class Qrel(NamedTuple):
    """A judgment as ir_datasets has it."""

    query_id: str
    doc_id: str
    relevance: float
    iteration: str = "0"


def _list_records(given: pa.Table) -> Iterator[ScoredDoc | Qrel]:
    kind = ScoredDoc if "score" in given.column_names else Qrel
    return map(kind, *(given.column(at).to_pylist() for at in range(3)))


COLUMNS: dict[str, Make] = {
    "PyArrow table": lambda given, folder: given,
    "PyArrow record batch": lambda given, folder: given.combine_chunks().to_batches()[0],
    "PyArrow reader": batches,
    "a part of a table": lambda given, folder: pa.concat_tables([given, given]).slice(
        given.num_rows
    ),
    "large_string": with_ids(pa.large_string()),
    "string_view": with_ids(pa.string_view()),
    "binary": with_ids(pa.binary()),
    "large_binary": with_ids(pa.large_binary()),
    "dictionary": with_ids(pa.dictionary(pa.int32(), pa.string())),
    "small dictionary": with_ids(pa.dictionary(pa.int8(), pa.large_string())),
    "Polars": _of_library("polars", lambda polars, given: polars.from_arrow(given)),
    "Polars, chunked": _of_library(
        "polars",
        lambda polars, given: polars.concat(
            [polars.from_arrow(given[at : at + 3]) for at in range(0, given.num_rows, 3)],
            rechunk=False,
        ),
    ),
    "Polars categories": _of_library(
        "polars",
        lambda polars, given: polars.from_arrow(given).cast(
            {"query_id": polars.Categorical, "doc_id": polars.Categorical}
        ),
    ),
    "pandas": _of_library("pandas", lambda pandas, given: given.to_pandas()),
    "pandas objects": _of_library(
        "pandas",
        lambda pandas, given: given.to_pandas().astype({"query_id": object, "doc_id": object}),
    ),
    "pandas categories": _of_library(
        "pandas",
        lambda pandas, given: given.to_pandas().astype(
            {"query_id": "category", "doc_id": "category"}
        ),
    ),
    "DuckDB": _of_library("duckdb", lambda duckdb, given: duckdb.from_arrow(given)),
    "datasets": _of_library("datasets", lambda datasets, given: datasets.Dataset(given)),
    ".parquet": _written(".parquet", pa.parquet.write_table),
    ".parquet of small row groups": _written(
        ".parquet", lambda given, path: pa.parquet.write_table(given, path, row_group_size=2)
    ),
    ".parquet without dictionaries": _written(
        ".parquet", lambda given, path: pa.parquet.write_table(given, path, use_dictionary=False)
    ),
    ".arrow": _written(".arrow", _ipc),
    ".arrow stream": _written(".arrow", _stream),
    ".feather": _written(".feather", pa.feather.write_feather),
    ".csv": _written(".csv", _csv),
    ".csv.gz": _written(".csv.gz", _gz),
    ".tsv": _written(".tsv", _tsv),
    ".jsonl": _written(".jsonl", _jsonl),
    ".ndjson": _written(".ndjson", _jsonl),
    "PyTerrier": _of_library("pandas", _terrier),
    "namedtuples": lambda given, folder: list(_list_records(given)),
    "an iterator of namedtuples": lambda given, folder: _list_records(given),
}


def _letor(order: Callable[[Rows], Rows], qrels: Qrels, run: Scores, folder: Path) -> Given:
    path = folder / "toy.letor"
    lines = (
        f"0 qid:{query} 1:0 7:{score!r} # docid = {item}\n"
        for query, item, score in order(rows(run))
    )
    path.write_text("".join(lines), "utf-8")
    return Given(qrels, germane.read_run(path, columns={"score": "7"}))


# --- Arrays ----------------------------------------------------------------------------------------


class Numbered:
    """Judgments and results as matrices; ``queries`` and ``items`` are the ids of rows and columns.

    The columns stand in the order in which ties=trec puts tied items, so that the order of columns,
    which is that of arrays, is the same.
    """

    def __init__(self, qrels: Qrels, run: Scores) -> None:
        self.queries = list(dict.fromkeys([*qrels, *run]))
        ids = {item for side in (qrels, run) for got in side.values() for item in got}
        self.items = sorted(ids, key=str.encode, reverse=True)
        self.grades, self.scores = self._cells(qrels), self._cells(run)

    def _cells(self, given: Scores) -> Any:
        """(queries, items), masked where there is nothing."""
        cells = np.ma.masked_all((len(self.queries), len(self.items)))  # type: ignore[no-untyped-call]
        for q, query in enumerate(self.queries):
            for item, value in given.get(query, {}).items():
                cells[q, self.items.index(item)] = value
        return cells

    def judged(self) -> list[dict[int, float]]:
        return [
            {int(i): float(row[i]) for i in np.flatnonzero(~np.ma.getmaskarray(row))}
            for row in self.grades
        ]

    def ranked(self) -> list[list[int]]:
        return [
            sorted(np.flatnonzero(~np.ma.getmaskarray(row)).tolist(), key=lambda i: -row[i])
            for row in self.scores
        ]

    def sparse(self) -> Any:
        """The judged cells, with the attributes of scipy.sparse.csr_array."""
        at, columns = np.nonzero(~np.ma.getmaskarray(self.grades))
        return SimpleNamespace(
            shape=self.grades.shape,
            format="csr",
            indptr=np.searchsorted(at, np.arange(len(self.grades) + 1)),
            indices=columns,
            data=self.grades.data[at, columns],
        )

    def top(self) -> Any:
        """The ids of the best items, filled up with -1."""
        lists = self.ranked()
        longest = max(map(len, lists))
        return np.array([row + [-1] * (longest - len(row)) for row in lists])

    def vectors(self) -> Embeddings:
        """Unit vectors, whose products with the gallery are the scores."""
        gallery = self.scores.filled(np.nan).T
        return read_embeddings(np.eye(len(self.queries)), gallery, "dot", False, "run")

    def add_ids(
        self, run: Any, qrels: Any = None, **options: Any
    ) -> tuple[Any, Any, dict[str, Any]]:
        """Add the ids of rows and columns to a run, and to the judgments unless these are given."""
        if qrels is None:
            qrels = {
                query: {self.items[i]: grade for i, grade in judged.items()}
                for query, judged in zip(self.queries, self.judged(), strict=True)
                if judged
            }
        return qrels, run, {"query_ids": self.queries, "item_ids": np.array(self.items), **options}

    def pair(self, *, distances: bool) -> tuple[Any, Any]:
        """The scores and the ids of the best items, as a search returns them."""
        ids = self.top()
        scores = np.take_along_axis(self.scores.filled(0.0), np.maximum(ids, 0), axis=1)
        return (-scores if distances else scores), ids

    def groups(self, *, by_column: bool) -> tuple[Any, Any, dict[str, Any]]:
        """The cells with a grade or a score, one after the other, each with its group."""
        given = ~np.ma.getmaskarray(self.grades) | ~np.ma.getmaskarray(self.scores)
        at, columns = np.nonzero(given)
        if by_column:
            order = np.argsort(columns, kind="stable")
            at, columns = at[order], columns[order]
        group = {"group": [self.queries[q] for q in at.tolist()]}
        return self.grades[at, columns], self.scores[at, columns], group


ARRAYS: dict[str, tuple[type[RunInput], Callable[[Numbered], tuple[Any, ...]]]] = {
    "lists of numbers": (RankedLists, lambda given: (given.judged(), given.ranked())),
    "arrays of numbers": (
        RankedLists, lambda given: (given.grades, [np.array(row, int) for row in given.ranked()]),
    ),
    "groups": (FlatArray, lambda given: given.groups(by_column=False)),
    "scattered groups": (FlatArray, lambda given: given.groups(by_column=True)),
    "top-k ids beside graded sets": (TopIds, lambda given: (given.judged(), given.top())),
    "top-k ids beside CSR": (TopIds, lambda given: (given.sparse(), given.top())),
    "top-k ids of 32 bits": (TopIds, lambda given: (given.grades, given.top().astype("i4"))),
    "scores beside masked grades": (ScoreArray, lambda given: (given.grades, given.scores)),
    "scores beside CSR": (ScoreArray, lambda given: (given.sparse(), given.scores)),
    "scores beside graded sets": (ScoreArray, lambda given: (given.judged(), given.scores)),
    "a pair of scores and ids": (
        TopIds, lambda given: (given.judged(), given.pair(distances=False)),
    ),
    "ids and distances": (
        TopIds,
        lambda given: (given.judged(), given.pair(distances=True)[::-1], {"scores": "distances"}),
    ),
    "scores with ids": (ScoreArray, lambda given: given.add_ids(given.scores)),
    "scores with ids beside grades": (
        ScoreArray, lambda given: given.add_ids(given.scores, given.grades),
    ),
    "a pair with ids": (TopIds, lambda given: given.add_ids(given.pair(distances=False))),
    "distances with ids": (
        TopIds,
        lambda given: given.add_ids(given.pair(distances=True), scores="distances"),
    ),
    "embeddings beside masked grades": (Embeddings, lambda given: (given.grades, given.vectors())),
    "embeddings beside CSR": (Embeddings, lambda given: (given.sparse(), given.vectors())),
}  # fmt: skip


def _number(
    make: Callable[[Numbered], tuple[Any, ...]], qrels: Qrels, run: Scores, folder: Path
) -> Given:
    numbered = Numbered(qrels, run)
    return Given(*make(numbered))._replace(queries=numbered.queries)


def compute_similarities(queries: Any, gallery: Any, similarity: Any) -> Any:
    """Every similarity to the last bit: sums in double precision, in the order that germane documents."""
    vectors = read_embeddings(queries, gallery, similarity, False, "run").vectors
    return vectors.compute_block(np.arange(len(queries)))


# --- One collection with ties, missing queries and long ids ----------------------------------------

LONG = "http://example.org/a/long/path/that/is/shared/by/many/documents/"
TOY_QRELS: Qrels = {
    "1": {"a": 1, "b": 0, "c": 2, "é": 1, "missed": 3},
    "10": {LONG + "1": 1, LONG + "2": 0, LONG: 2, "m": -1},
    "missing": {"a": 1},
    "none-relevant": {"a": 0, "b": -1},
}
TOY_RUN: Scores = {
    "10": {LONG + "2": 1.5, LONG: 1.5, LONG + "1": 1.5, "m": 2.25, "x": 1.5, "漢": 0.0},
    "1": {"b": 2.0, "a": 2.0, "x": 2.0, "é": 1e-7, "e\u0301": 1e-7, "c": -3.0, "y": 1e300},
    "nobody-judged": {"a": 1.0},
    "none-relevant": {"a": 1.0, "b": 2.0, "x": 1.0},
}


# --- All of them -----------------------------------------------------------------------------------

MAPPINGS: dict[str, tuple[type[RunInput], Callable[[Scores], Any]]] = {
    "dicts": (ScoredMapping, lambda run: run),
    "read-only mappings": (
        ScoredMapping,
        lambda run: MappingProxyType({query: MappingProxyType(got) for query, got in run.items()}),
    ),
    "other mappings": (
        ScoredMapping,
        lambda run: defaultdict(dict, {query: ChainMap({}, got) for query, got in run.items()}),
    ),
    "NumPy scores": (
        ScoredMapping,
        lambda run: {q: {i: np.float64(score) for i, score in got.items()} for q, got in run.items()},
    ),
    "other numbers": (
        ScoredMapping,
        lambda run: {
            query: {item: kind(score) for item, score in got.items()}
            for (query, got), kind in zip(run.items(), cycle((Fraction, Decimal)), strict=False)
        },
    ),
    "ranked lists": (RankedLists, ranked),
    "ranked tuples": (RankedLists, lambda run: {q: tuple(got) for q, got in ranked(run).items()}),
    "ranked NumPy arrays": (
        RankedLists, lambda run: {q: np.array(got) for q, got in ranked(run).items()},
    ),
    "ranked arrays of objects": (
        RankedLists, lambda run: {q: np.array(got, object) for q, got in ranked(run).items()},
    ),
    "ranked sequences": (RankedLists, lambda run: {q: UserList(got) for q, got in ranked(run).items()}),
    "hits": (ScoredLists, lambda run: hits(run, lambda item, score: {"id": item, "score": score})),
    "hits with a source": (
        ScoredLists,
        lambda run: hits(run, lambda item, score: {"_id": item, "_score": score, "_source": {"id": 3}}),
    ),
    "hits with distances": (
        ScoredLists, lambda run: hits(run, lambda item, score: {"id": item, "distance": -score}),
    ),
    "hits that are objects": (
        ScoredLists,
        lambda run: hits(run, lambda item, score: SimpleNamespace(id=item, score=score, metadata={})),
    ),
    "hits without scores": (
        RankedLists, lambda run: {q: [{"id": item} for item in got] for q, got in ranked(run).items()},
    ),
}  # fmt: skip


NESTED: dict[str, tuple[type[RunInput], Callable[[Scores], Any]]] = {
    ".json": (ScoredMapping, lambda run: run),
    ".json.gz": (ScoredMapping, lambda run: run),
    "ranked lists, .json": (RankedLists, ranked),
}


def _nest(
    name: str, make: Callable[[Scores], Any], qrels: Qrels, run: Scores, folder: Path
) -> Given:
    """Both sides as files of nested objects."""
    paths = [folder / f"{side}{name[name.index('.json') :]}" for side in ("qrels", "run")]
    for path, held in zip(paths, (qrels, make(run)), strict=True):
        data = json.dumps(held).encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return Given(*paths)


def _map(make: Callable[[Scores], Any], qrels: Qrels, run: Scores, folder: Path) -> Given:
    return Given(qrels, make(run))


def _store(make: Callable[[Rows], bytes], qrels: Qrels, run: Scores, folder: Path) -> Given:
    return Given(qrels, store(make(rows(run)), folder))


def _read(make: Callable[[Rows], bytes], qrels: Qrels, run: Scores, folder: Path) -> Given:
    return Given(qrels, germane.read_run(store(make(rows(run)), folder)))


def _frame(
    make: Make, order: Callable[[Rows], Rows], qrels: Qrels, run: Scores, folder: Path
) -> Given:
    return Given(qrels, make(table(order(rows(run))), folder))


INPUTS: dict[str, Input] = {
    **{name: Input(kind, partial(_map, make)) for name, (kind, make) in MAPPINGS.items()},
    **{name: Input(kind, partial(_nest, name, make)) for name, (kind, make) in NESTED.items()},
    **{f"TREC file, {name}": Input(TrecFile, partial(_store, make)) for name, make in TREC.items()},
    **{f"TREC run read, {name}": Input(Run, partial(_read, make)) for name, make in TREC.items()},
    **{
        f"columns, {name}{said}": Input(Frame, partial(_frame, make, order))
        for name, make in COLUMNS.items()
        for said, order in (("", list), (", shuffled", shuffled))
    },
    "LETOR": Input(Frame, partial(_letor, list)),
    "LETOR, shuffled": Input(Frame, partial(_letor, shuffled)),
    **{name: Input(kind, partial(_number, make)) for name, (kind, make) in ARRAYS.items()},
}
