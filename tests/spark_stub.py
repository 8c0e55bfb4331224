"""DataFrames that take Spark's place where it is not installed: rows in partitions, in any order."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet


class Session:
    """What is asked of a session: its settings, and a DataFrame of a table."""

    def __init__(self, settings: dict[str, str] | None = None, seed: int = 0) -> None:
        settings = {"spark.sql.shuffle.partitions": "5", **(settings or {})}
        self.conf = SimpleNamespace(get=lambda name, default=None: settings.get(name, default))
        self._seed = seed

    @property
    def read(self) -> "Reader":
        return Reader(self)

    def createDataFrame(self, table: pa.Table) -> "DataFrame":
        """The rows, shuffled over partitions."""
        rng = random.Random(self._seed)
        rows = rng.sample(range(len(table)), len(table))
        parts: list[list[pa.RecordBatch]] = [[] for _ in range(4)]
        while rows:
            batch = table.take(rows[:7]).combine_chunks().to_batches()[0]
            parts[rng.randrange(4)].append(batch)
            rows = rows[7:]
        return DataFrame(self, table.column_names, parts)


class Reader:
    """``read.parquet(path)``, and ``read.format("binaryFile").load(path)`` with a partition for two files."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def options(self, *, recursiveFileLookup: str) -> "Reader":
        assert recursiveFileLookup == "true"
        return self

    def parquet(self, path: str) -> "DataFrame":
        first, *_ = sorted(Path(path).rglob("*.parquet"))
        return self._session.createDataFrame(pa.parquet.read_table(first))

    def format(self, kind: str) -> "Reader":
        assert kind == "binaryFile"
        return self

    def load(self, path: str) -> "DataFrame":
        files = sorted(Path(path).rglob("*.parquet"))
        held = {
            "path": [f"file:{file}" for file in files],
            "modificationTime": [0] * len(files),
            "content": [file.read_bytes() for file in files],
        }
        (batch,) = pa.table(held).to_batches()
        parts = [[batch.slice(at, 2)] for at in range(0, len(files), 2)]
        return DataFrame(self._session, list(held), parts)


class DataFrame:
    """The methods of Spark's that germane uses; batches go through functions a partition at a time."""

    def __init__(
        self, session: Session, columns: list[str], parts: list[list[pa.RecordBatch]]
    ) -> None:
        self.sparkSession, self.columns, self.parts = session, columns, parts

    def __getitem__(self, name: str) -> str:
        assert name[0] == name[-1] == "`"
        return name[1:-1].replace("``", "`")

    def select(self, *names: str) -> "DataFrame":
        return self._of(list(names), [[b.select(list(names)) for b in part] for part in self.parts])

    def mapInArrow(
        self, function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: str
    ) -> "DataFrame":
        columns = [field.split()[0] for field in schema.split(", ")]
        parts = [list(function(iter(part))) for part in self.parts]
        assert all(batch.schema.names == columns for part in parts for batch in part)
        return self._of(columns, parts)

    def unionAll(self, other: "DataFrame") -> "DataFrame":
        return self._of(self.columns, self.parts + other.parts)

    def groupBy(self, column: str) -> "Counted":
        return Counted(self, column)

    def repartition(self, *given: Any) -> "DataFrame":
        count, column = given if len(given) == 2 else (3, *given)
        parts: list[list[pa.RecordBatch]] = [[] for _ in range(count)]
        for batch in (batch for part in self.parts for batch in part):
            for row, key in enumerate(batch.column(column).to_pylist()):
                parts[hash(key) % count].append(batch.slice(row, 1))
        for part in parts:
            random.Random(len(part)).shuffle(part)
        return self._of(self.columns, parts)

    def toArrow(self) -> pa.Table:
        batches = [batch for part in self.parts for batch in part]
        return (
            pa.Table.from_batches(batches) if batches else pa.table({c: [] for c in self.columns})
        )

    def _of(self, columns: list[str], parts: list[list[pa.RecordBatch]]) -> "DataFrame":
        return DataFrame(self.sparkSession, columns, parts)


class Counted:
    """``groupBy(column).count().where("count > N")``."""

    def __init__(self, frame: DataFrame, column: str) -> None:
        self._frame, self._column = frame, column

    def count(self) -> "Counted":
        return self

    def where(self, condition: str) -> DataFrame:
        name, sign, most = condition.split()
        assert (name, sign) == ("count", ">")
        counts = (
            self._frame.select(self._column)
            .toArrow()
            .group_by(self._column)
            .aggregate([([], "count_all")])
        )
        kept = counts.filter(pa.compute.greater(counts["count_all"], int(most)))
        batches = kept.rename_columns([self._column, "count"]).to_batches()
        return DataFrame(self._frame.sparkSession, [self._column, "count"], [batches])
