"""The same rows as every kind of frame and of file with columns."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

Rows = Sequence[tuple[Any, Any, float]]
Make = Callable[[pa.Table, Path], Any]
"""Makes a door of a table with the columns query_id, doc_id and a number, in a folder."""


def table(rows: Rows, number: str = "score", ids: pa.DataType | None = None) -> pa.Table:
    query, item, numbers = (list(column) for column in zip(*rows, strict=True))
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


def stored(suffix: str, write: Callable[[pa.Table, str], object]) -> Make:
    def make(given: pa.Table, folder: Path) -> Path:
        path = folder / f"toy{suffix}"
        write(given, str(path))
        return path

    return make


def _csv(given: pa.Table, path: str) -> None:
    pa.csv.write_csv(given, path)


def _tsv(given: pa.Table, path: str) -> None:
    names = given.column_names[:3]
    lines = ["\t".join(names), *("\t".join(map(str, row)) for row in _rows(given))]
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


def _rows(given: pa.Table) -> Iterable[tuple[Any, ...]]:
    return zip(*(given.column(at).to_pylist() for at in range(3)), strict=True)


def _imported(name: str, make: Callable[[Any, pa.Table], Any]) -> Make:
    def door(given: pa.Table, folder: Path) -> Any:
        return make(pytest.importorskip(name), given)

    return door


def _categories(pandas: Any, given: pa.Table) -> Any:
    return given.to_pandas().astype({"query_id": "category", "doc_id": "category"})


def _duckdb(duckdb: Any, given: pa.Table) -> Any:
    return duckdb.from_arrow(given)


DOORS: dict[str, Make] = {
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
    "Polars": _imported("polars", lambda polars, given: polars.from_arrow(given)),
    "Polars, chunked": _imported(
        "polars",
        lambda polars, given: polars.concat(
            [polars.from_arrow(given[at : at + 3]) for at in range(0, given.num_rows, 3)],
            rechunk=False,
        ),
    ),
    "Polars categories": _imported(
        "polars",
        lambda polars, given: polars.from_arrow(given).cast(
            {"query_id": polars.Categorical, "doc_id": polars.Categorical}
        ),
    ),
    "pandas": _imported("pandas", lambda pandas, given: given.to_pandas()),
    "pandas objects": _imported(
        "pandas",
        lambda pandas, given: given.to_pandas().astype({"query_id": object, "doc_id": object}),
    ),
    "pandas categories": _imported("pandas", _categories),
    "DuckDB": _imported("duckdb", _duckdb),
    "datasets": _imported("datasets", lambda datasets, given: datasets.Dataset(given)),
    ".parquet": stored(".parquet", pa.parquet.write_table),
    ".parquet of small row groups": stored(
        ".parquet", lambda given, path: pa.parquet.write_table(given, path, row_group_size=2)
    ),
    ".parquet without dictionaries": stored(
        ".parquet", lambda given, path: pa.parquet.write_table(given, path, use_dictionary=False)
    ),
    ".arrow": stored(".arrow", _ipc),
    ".arrow stream": stored(".arrow", _stream),
    ".feather": stored(".feather", pa.feather.write_feather),
    ".csv": stored(".csv", _csv),
    ".csv.gz": stored(".csv.gz", _gz),
    ".tsv": stored(".tsv", _tsv),
    ".jsonl": stored(".jsonl", _jsonl),
    ".ndjson": stored(".ndjson", _jsonl),
}
