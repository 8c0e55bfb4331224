"""Reads what is said of ids: texts, titles, links and images, and the category of each query."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from germane.core.id_spelling import decode_id, is_id, unwrap_id
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    InputError,
    clip,
    require_arrow,
)
from germane.kernel.ids import spell_id
from germane.readers.files import formats, json_files
from germane.readers.files.formats import Path, is_path, name_file, strip_compression
from germane.readers.files.json_files import parse_object
from germane.readers.files.line_blocks import BOM, Opener, explain_arrow_error, hold_lines
from germane.readers.objects.numbers import is_dataset

if TYPE_CHECKING:
    from germane.readers.objects.frames import Frame

IDS = (
    "_id", "id", "docno", "docid", "doc_id", "document_id", "pid", "item", "item_id", "qid",
    "query_id", "question_id", "query-id", "corpus-id", "chunk_id", "movieid", "product_id",
)  # fmt: skip
TITLES = ("title", "name")
BODIES = (
    "text", "body", "contents", "content", "query", "question", "passage", "document", "abstract",
    "description",
)  # fmt: skip
IMAGES = ("image", "img", "image_path", "path", "file", "thumbnail")
LINKS = ("url", "link", "href")
_SHOWN = {*TITLES, *BODIES, *IMAGES, *LINKS}
SMALL = 16_000_000  # bytes of a file that is held
_PICTURE = re.compile(r"\.(png|jpe?g|gif|webp|bmp)$", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+$", re.IGNORECASE)


@dataclass(frozen=True)
class Text:
    """The words or pictures in place of an id: a title, a text, a link, the path of an image."""

    title: str = ""
    body: str = ""
    link: str = ""
    image: str = ""

    def __str__(self) -> str:
        parts = (self.title, self.body) if self.title != self.body else (self.title,)
        shown = ": ".join(" ".join(part.split()) for part in parts if part)
        return shown or self.link or self.image


class Texts:
    """Texts by id: ``find`` returns those of some ids, and nothing for ids that have none."""

    def __init__(
        self,
        find: Callable[[Sequence[str]], dict[str, Text]],
        read_all: Callable[[], Iterator[tuple[str, Text]]] | None = None,
    ) -> None:
        self._find, self._read_all = find, read_all

    @property
    def is_listed(self) -> bool:
        """Can all texts be read? A function answers for single ids alone."""
        return self._read_all is not None

    def find(self, ids: Iterable[object]) -> dict[str, Text]:
        """Find the texts of some ids, by the text of each id."""
        wanted = list(dict.fromkeys(map(decode_id, ids)))
        return self._find(wanted) if wanted else {}

    def read(self, ids: Iterable[object]) -> Iterator[tuple[str, Text]]:
        """Read all texts one by one; if a function has them, those of ``ids``."""
        return iter(self.find(ids).items()) if self._read_all is None else self._read_all()


def open_texts(raw: Any, name: str) -> Texts | None:
    """Open texts by id: a mapping, a function, a frame, or a file; ``name`` is the argument.

    What can be checked without knowing the ids is checked here, before any work is done.
    """
    if raw is None:
        return None
    if is_path(raw):
        path = os.fspath(raw)
        if not os.path.exists(path):
            raise InputError(f"{path}: there is no such file ({name}=…).")
        file = _File(path, name)
        file.check()
        return Texts(file.find, file.read)
    if callable(raw) and not isinstance(raw, Mapping):
        return Texts(
            lambda wanted: {
                identifier: _make_text(answer, name)
                for identifier in wanted
                if (answer := raw(identifier)) is not None
            }
        )
    texts = _map_texts(raw, name)
    if texts is None:
        raise InputError(
            f"{name} takes the path of a file with ids and texts, a mapping of id to text, a frame"
            f" or rows with a column of ids, or a function; got {clip(raw)}"
        )
    by_text: dict[str, Any] = {}
    for key, text in texts.items():
        _check_text(text, name)
        first = by_text.setdefault(_spell_key(key, name), key)
        if first is not key and texts[first] != text:
            pair = (_make_text(texts[key_or_text], name) for key_or_text in (first, key))
            raise _explain_two(name, _spell_key(key, name), *pair)
    return Texts(
        lambda wanted: {
            identifier: _make_text(texts[by_text[identifier]], name)
            for identifier in wanted
            if identifier in by_text
        },
        lambda: ((identifier, _make_text(texts[key], name)) for identifier, key in by_text.items()),
    )


PARTS = {"queries": "queries", "items": "corpus"}
"""The parts of a data set, as LlamaIndex and MTEB have it, with the texts of an argument."""


def _map_texts(raw: Any, name: str) -> Mapping[Any, Any] | None:
    """Map ids to texts, or to rows with texts: of a mapping, a frame, a Series, or rows."""
    if isinstance(raw, Mapping):
        part = raw.get(PARTS.get(name)) if PARTS["items"] in raw else None
        return part if isinstance(part, Mapping) else raw
    if isinstance(raw, list) and raw and all(isinstance(row, Mapping) for row in raw):
        return _map_rows(raw, name)
    if hasattr(raw, "index") and hasattr(raw, "to_dict") and not hasattr(raw, "columns"):
        return dict(zip(raw.index, raw, strict=True))  # a Series, whose index has the ids
    if hasattr(raw, "__arrow_c_stream__") or hasattr(raw, "columns") or is_dataset(raw):
        from germane.readers.objects.frames import read_cells  # which few evaluations need

        cells = read_cells(raw, name)
        rows = zip(*cells.values(), strict=True)
        return _map_rows([dict(zip(cells, row, strict=True)) for row in rows], name)
    return None


def _map_rows(rows: Sequence[Mapping[str, Any]], name: str) -> dict[Any, Mapping[str, Any]]:
    """Map the ids of rows to the rest of each. Raises DuplicateError for an id with two texts."""
    key = _find_ids(list(rows[0]), name) if rows else ""
    mapped: dict[Any, Mapping[str, Any]] = {}
    for number, row in enumerate(rows, 1):
        if row.get(key) is None:
            raise FormatError(f"{name}, row {number}: there is no {key!r}.")
        text = {column: value for column, value in row.items() if column != key}
        if (first := mapped.setdefault(row[key], text)) != text:
            texts = (_make_from_row(text_row, "") for text_row in (first, text))
            raise _explain_two(name, str(row[key]), *texts)
    return mapped


def _spell_key(key: Any, name: str) -> str:
    """Spell the id of a text, also where numbers became floating-point ones."""
    plain_key = unwrap_id(key)
    if not is_id(plain_key):
        raise InputError(f"{name}: an id is text or a number; got {clip(key)}")
    return decode_id(
        int(plain_key) if isinstance(plain_key, float) and plain_key.is_integer() else plain_key
    )


def _explain_two(where: str, identifier: str, first: Text, second: Text) -> DuplicateError:
    """Make the error for an id that has two texts."""
    return DuplicateError(
        f"{where}: {clip(identifier)} has two texts, {clip(str(first))} and {clip(str(second))}."
        " Keep one of them."
    )


def _check_text(raw: Any, name: str) -> None:
    """Refuse what is no text, path of an image, or mapping of columns."""
    if isinstance(raw, (str, Mapping)) or hasattr(raw, "__fspath__"):
        return
    raise InputError(
        f"{name} must give text, the path of an image, or a mapping with title, text, image or url"
        f" for an id; got {clip(raw)}"
    )


def _make_text(raw: Any, name: str) -> Text:
    """Make a Text of what was given for one id: text, the path of an image, or columns."""
    _check_text(raw, name)
    if isinstance(raw, Mapping):
        return _make_from_row({str(key): value for key, value in raw.items()}, "")
    if hasattr(raw, "__fspath__"):
        return Text(image=os.fspath(raw))
    return _recognize(Text(body=raw), "")


def _make_from_row(row: Mapping[str, Any], folder: str) -> Text:
    folded = {key.casefold(): value for key, value in row.items() if isinstance(value, str)}
    if not folded.keys() & _SHOWN:
        body = next(iter(folded.values()), "")
        return _recognize(Text(body=body), folder)
    title, body, image, link = (
        next((folded[key] for key in keys if folded.get(key)), "")
        for keys in (TITLES, BODIES, IMAGES, LINKS)
    )
    if _ADDRESS.match(image):
        image, link = "", link or image
    image = os.path.join(folder, image) if image else ""
    return _recognize(Text(title, body, link if _ADDRESS.match(link) else "", image), folder)


def _recognize(text: Text, folder: str) -> Text:
    """Take an address for a link, and the name of a picture for an image."""
    body = text.body.strip()
    if _ADDRESS.match(body):
        return replace(text, body="", link=text.link or body)
    if _PICTURE.search(body) and "\n" not in body and len(body) < 4096 and not text.image:
        return replace(text, body="", image=os.path.join(folder, body))
    return text


# --- Files ------------------------------------------------------------------------------------


class _File:
    """A file of texts. A small one is read once; a larger one each time, and never held whole."""

    def __init__(self, path: str, name: str) -> None:
        self._path, self._folder, self._name = path, os.path.dirname(path), name
        self._rows: dict[str, Mapping[str, Any]] | None = None

    def check(self) -> None:
        """Read a small file, and the first row of a larger one; what comes once, not at all."""
        if not os.path.isfile(self._path):
            return
        if os.path.getsize(self._path) > SMALL:
            next(iter(_read_rows(self._path, self._name)), None)
            return
        self._rows = {}
        for identifier, row in _read_rows(self._path, self._name):
            self._keep(self._rows, identifier, row)

    def find(self, wanted: Sequence[str]) -> dict[str, Text]:
        rows = self._rows if self._rows is not None else self._search(set(wanted))
        return {
            identifier: _make_from_row(rows[identifier], self._folder)
            for identifier in wanted
            if identifier in rows
        }

    def read(self) -> Iterator[tuple[str, Text]]:
        for identifier, row in _read_rows(self._path, self._name):
            yield identifier, _make_from_row(row, self._folder)

    def _search(self, wanted: set[str]) -> dict[str, Mapping[str, Any]]:
        rows: dict[str, Mapping[str, Any]] = {}
        for identifier, row in _read_rows(self._path, self._name):
            if identifier in wanted:
                self._keep(rows, identifier, row)
                if len(rows) == len(wanted):
                    break
        return rows

    def _keep(
        self, rows: dict[str, Mapping[str, Any]], identifier: str, row: Mapping[str, Any]
    ) -> None:
        """Keep the text of an id. Raises DuplicateError for another one."""
        if (first := rows.setdefault(identifier, row)) != row:
            texts = [_make_from_row(text_row, self._folder) for text_row in (first, row)]
            if texts[0] != texts[1]:
                raise _explain_two(self._path, identifier, *texts)


def list_ids(path: Path) -> list[str]:
    """List the ids of a file, in its order: one a line, before a tab or a text, or in JSON."""
    named = os.fsdecode(path)
    if strip_compression(named).endswith(".json"):
        raw: Any = json_files.read_value(named)
        return [str(identifier) for identifier in (raw if isinstance(raw, (list, dict)) else [raw])]
    if strip_compression(named).endswith((".jsonl", ".ndjson", ".csv", ".parquet")):
        return [identifier for identifier, _ in _read_rows(named, "queries")]
    return [line.split("\t")[0].strip() for _, line in _read_lines(named) if line.strip()]


def _read_rows(path: str, part: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Read ids with the columns beside them, in the format of the suffix: TSV without one.

    ``part`` is the argument that takes them, which chooses a part of a data set.
    """
    name = strip_compression(path)
    if name.endswith(".parquet"):
        return _read_parquet(path)
    if name.endswith(".json") and json_files.read_lines(path, _is_row) is None:
        return _read_json(path, part)
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return _read_json_lines(path)
    return _read_separated(path, "," if name.endswith(".csv") else "\t")


def _is_row(raw: Any) -> bool:
    """Is this line a row with an id, and not all texts of a file?"""
    return isinstance(raw, dict) and any(str(name).casefold() in IDS for name in raw)


def _read_json(path: str, part: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Read a file of one value: ``{id: text}``, ``{id: columns}``, rows, or a data set."""
    texts = _map_texts(json_files.read_unique(path), part)
    if texts is None:
        raise FormatError(
            f"{path}: texts are {{id: text}}, or a list of rows with an id; there is neither."
        )
    for identifier, text in texts.items():
        _check_text(text, f"{path}, {clip(identifier)}: {part}")
        yield str(identifier), text if isinstance(text, Mapping) else {"text": text}


def _read_json_lines(path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    key = None
    for number, line in _read_lines(path):
        if not line.strip():
            continue
        row = parse_object(line, f"{path}:{number}")
        if key is None or key not in row:
            key = _find_ids(list(row), f"{path}:{number}")
        yield str(row[key]), {name: value for name, value in row.items() if name != key}


def _read_separated(path: str, delimiter: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Read lines of an id and its text, or columns under a heading that names the ids."""
    lines = _read_lines(path)
    first = next(lines, None)
    if first is None:
        raise EmptyError(f"{path}: the file is empty.")

    def split(line: str) -> list[str]:
        return line.split("\t") if delimiter == "\t" else next(csv.reader([line]), [])

    names = split(first[1])
    folded = [name.strip().casefold() for name in names]
    headed = delimiter == "," or (set(folded) & {*IDS, "query"} and set(folded) & _SHOWN)
    if not headed:
        names = ["id", "text"]
    key = _find_ids(names, path)
    for number, line in lines if headed else chain([first], lines):
        if not line.strip():
            continue
        fields = split(line)
        if len(fields) < 2 and not (headed and len(names) == 1):
            raise FormatError(
                f"{path}:{number}: a line has an id, a tab and a text; got {clip(line)}"
            )
        if not headed:
            fields = [fields[0], " ".join(fields[1:])]
        row = dict(zip(names, fields, strict=False))
        yield row.pop(key, ""), row


def _read_lines(path: str) -> Iterator[tuple[int, str]]:
    with Opener(path) as file, explain_arrow_error(path), file.open_text() as stream:
        for number, line in enumerate(hold_lines(stream), 1):
            text = line.removeprefix(BOM) if number == 1 else line
            yield number, text.decode("utf-8", "surrogateescape").rstrip("\r\n")


def _read_parquet(path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    require_arrow(f"{path}: Parquet")
    import pyarrow.parquet as pq

    with explain_arrow_error(path), Opener(path) as source:
        file = pq.ParquetFile(source.open_bytes())
        names = file.schema_arrow.names
        key = _find_ids(names, path)
        columns = [name for name in names if name.casefold() in _SHOWN and name != key]
        for batch in file.iter_batches(columns=[key, *(columns or names[:2])]):
            for row in batch.to_pylist():
                yield str(row.pop(key)), row


def _find_ids(names: Sequence[str], where: str) -> str:
    """Find the column of ids; a list of queries may have them in ``query``, or be questions."""
    folded = {name.strip().casefold(): name for name in reversed(names)}
    for key in (*IDS, "query", *["question"] * (len(names) == 1)):
        if key in folded:
            return folded[key]
    raise FormatError(
        f"{where}: no column contains the ids; there are {', '.join(map(clip, names))}. Name it"
        " id; the text goes into a column named title, text, image or url."
    )


# --- Reads the category of each query from a file or frame of two columns, or from JSON -----------

Found = TypeVar("Found", bound=dict[Hashable, Hashable])


class Categories(dict[Hashable, Hashable]):
    """The category of each query. In a file of text an integer is its digits."""

    def __missing__(self, query: Hashable) -> Hashable:
        spelled = spell_id(query)
        if spelled in self:
            return self[spelled]
        raise KeyError(query)

    def __contains__(self, query: object) -> bool:
        return super().__contains__(query) or super().__contains__(spell_id(query))


def read_categories(path: Path, *, numbers: bool = False) -> Categories:
    """Read a category for each query, or a number. Raises InputError for a query that has two."""
    chosen = formats.find_format(path, "by")
    if chosen == "json":
        return _read_nested(path, numbers)
    return _read_columns(formats.open_pairs(path, "by", chosen), Categories(), numbers)


def read_frame(raw: Any, *, numbers: bool = False) -> dict[Hashable, Hashable]:
    """Read a category or a number for each query from a frame. Integers never equal text."""
    from germane.readers.objects.frames import open_frame  # which few evaluations need

    return _read_columns(open_frame(raw, "by"), {}, numbers)


def _read_columns(frame: Frame, categories: Found, numbers: bool) -> Found:
    for row, record in frame.number_records():
        queries = frame.read_queries(record, row).python
        for query, category in zip(queries, _read_values(frame, record, row, numbers), strict=True):
            if categories.setdefault(query, category) != category:
                raise InputError(
                    f"{frame.where}: query {clip(query)} has two categories,"
                    f" {clip(categories[query])} and {clip(category)}."
                )
    return categories


def _read_values(frame: Frame, record: Any, row: int, numbers: bool) -> list[Any]:
    """Read categories, which are ids, or numbers, which a file of text holds as text."""
    name = frame.headings.item
    if numbers and name is not None and str(record.column(name).type) in ("double", "float"):
        return list(frame.read_numbers(record, name, row, "number").tolist())
    return frame.read_ids(record, row)[1].python


def _read_nested(path: Path, numbers: bool) -> Categories:
    raw: Any = json_files.read_object(path)
    where = name_file(path)
    for query, category in raw.items():
        if not isinstance(category, (str, int, float) if numbers else (str, int)):
            raise FormatError(
                f"{where}, query {clip(query)}: a category is text or an integer; got"
                f" {clip(category)}."
            )
    return Categories(raw)
