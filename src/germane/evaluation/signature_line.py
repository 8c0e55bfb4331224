"""Signature: one line with a number, its definition, and fingerprints of its data."""

from __future__ import annotations

import math
import os
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from germane._version import VERSION
from germane.core import ragged
from germane.core.policy import Policy
from germane.core.qrels import Qrels
from germane.dialects.names import parse
from germane.errors import EmptyError, FormatError, InputError, clip, list_some
from germane.evaluation.layout import format_value
from germane.kernel.content import Content, hash_rows
from germane.kernel.ids import Ids, read_python_ids
from germane.measures.measure import Measure
from germane.output.attributes import AttributeAdvice
from germane.output.tables import write_count
from germane.readers import CANDIDATES, NOTHING_SAID, ReadOptions, RunInput, is_path

if TYPE_CHECKING:
    from germane.evaluation.result import Counts, Result


def hash_qrels(qrels: Qrels) -> Content:
    """Hash judgments as they were written: queries, items and grades, and those of subtopics.

    Of an array, only the items of grades above 0 count: the others are read only if a measure needs
    them.
    """
    qrels = qrels.written or qrels
    items, grades, offsets = read_python_ids(qrels.items), qrels.grades, qrels.offsets
    if qrels.source.width is not None or qrels.source.is_array:
        places = np.flatnonzero(grades > 0)
        items, grades, offsets = (
            items.take(places),
            grades[places],
            np.searchsorted(places, offsets),
        )
    content = hash_rows(qrels.queries, offsets, items, grades)
    return content if qrels.subtopics is None else content + _hash_subtopics(qrels)


def _hash_subtopics(qrels: Qrels) -> Content:
    """Hash the grade of every item for every subtopic, and the weights of subtopics."""
    judged: Any = qrels.subtopics
    names = read_python_ids(judged.names).take(judged.code)
    judgment = ragged.find_owners(judged.starts)
    items = read_python_ids(qrels.items).take(judgment)
    offsets = judged.starts[qrels.offsets]
    content = hash_rows(qrels.queries, offsets, items, judged.grades, subtopics=names)
    if judged.weights is None:
        return content
    key = ragged.find_owners(qrels.offsets)[judgment] * (len(judged.names) + 1) + judged.code
    once = np.unique(key, return_index=True)[1]  # each subtopic of a query has one weight
    owner = key[once] // (len(judged.names) + 1)
    ends = np.searchsorted(owner, np.arange(len(qrels.queries) + 1))
    weights = judged.weights[once]
    return content + hash_rows(qrels.queries, ends, names.take(once), weights, ranked=True)


def hash_run(run: RunInput, qrels: Qrels) -> Content:
    """Hash a run: queries, items and scores, or the ranks of lists without scores.

    The judgments decide which lines that begin with ``#`` are data.

    Raises InputError for a run that cannot be read a second time.
    """
    if run.hasher is not None and run.hasher.content is not None:
        return run.hasher.content
    return sum(_hash_parts(run, qrels), Content())


def _hash_parts(run: RunInput, qrels: Qrels) -> Iterator[Content]:
    from germane.readers.rows import (
        Rows,
        gather_rows,  # which few evaluations need
    )

    ranked: list[Rows] = []
    for rows in run.read_content(qrels):
        if rows.score is None:
            ranked.append(rows)
        elif len(rows.items):
            yield hash_rows(rows.queries, rows.offsets, rows.items, rows.score)
    if ranked and any(len(rows.items) for rows in ranked):
        single = ranked[0] if len(ranked) == 1 and ranked[0].rank is None else gather_rows(ranked)
        yield _hash_ranked(single.queries, single.offsets, single.items, single.rank)


def _hash_ranked(queries: Any, offsets: Any, items: Ids, rank: Any) -> Content:
    """Hash lists without scores: the place of each item is its number."""
    owner = ragged.find_owners(offsets)
    place = np.arange(len(items))
    if rank is not None:
        place = np.empty(len(items), np.int64)
        place[np.lexsort((rank, owner))] = np.arange(len(items))
    return hash_rows(queries, offsets, items, place - offsets[owner] + 1.0, ranked=True)


class RunFingerprint:
    """The fingerprint of a run, which is read for it when it is first asked for.

    It is None for a run that can be read once, such as standard input, and for a file that has
    changed.
    """

    def __init__(self, run: RunInput, raw: Any, qrels: Qrels) -> None:
        self._run: RunInput | None = run
        self._qrels: Qrels | None = qrels
        self._path = raw if is_path(raw) else None
        self._state = _find_state(self._path)

    def __call__(self) -> str | None:
        return self._found

    @cached_property
    def _found(self) -> str | None:
        run, self._run = self._run, None  # which is not needed any more
        qrels, self._qrels = self._qrels, None
        is_kept = run is not None and run.hasher is not None and run.hasher.content is not None
        if run is None or qrels is None or not (is_kept or self._is_unchanged()):
            return None
        try:
            return str(hash_run(run, qrels))
        except EmptyError:
            return str(Content())
        except InputError:
            return None

    def read_metadata(self) -> str | None:
        """Read what the header of a run file says about the run; None where it says nothing."""
        if self._path is None or not self._is_unchanged():
            return None
        from germane.readers.files.line_blocks import read_metadata  # which few evaluations need

        return read_metadata(os.fspath(self._path))

    def _is_unchanged(self) -> bool:
        """Can the run be read again? A file that changed cannot, nor a pipe, which would wait."""
        if self._path is None:
            return True
        return self._state is not None and _find_state(self._path) == self._state

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the data, which may be large."""
        return {**vars(self), "_run": None, "_qrels": None}


class KeptFingerprint:
    """The fingerprint of a run, and its metadata, as a file of results holds them."""

    def __init__(self, fingerprint: str | None, metadata: str | None = None) -> None:
        self._fingerprint, self._metadata = fingerprint, metadata

    def __call__(self) -> str | None:
        return self._fingerprint

    def read_metadata(self) -> str | None:
        """Return the metadata of the run."""
        return self._metadata


def _find_state(path: Any) -> tuple[int, int] | None:
    """Find the size and time of a file or a folder; None for what is read once."""
    if path is None or not (os.path.isfile(path) or os.path.isdir(path)):
        return None
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def make_fingerprint(qrels: Qrels) -> str:
    """Make the fingerprint of judgments."""
    return str(hash_qrels(qrels))


# --- Options ----------------------------------------------------------------------------------


def fingerprint_options(
    qrels: Qrels, reading: ReadOptions
) -> Callable[[], Mapping[str, str | None]]:
    """Make what makes the fingerprints of options; ``dict`` where none was given."""
    if reading is NOTHING_SAID and qrels.candidates is None:
        return dict
    return OptionFingerprints(qrels, reading)


class OptionFingerprints:
    """The fingerprints of the options that were given and are data, made when they are asked for.

    One that cannot be hashed, such as a function, is None.
    """

    def __init__(self, qrels: Qrels, reading: ReadOptions) -> None:
        self._candidates, self._reading = qrels.candidates, reading

    def __call__(self) -> dict[str, str | None]:
        return self._found

    @cached_property
    def _found(self) -> dict[str, str | None]:
        reading = self._reading
        pairs = () if self._candidates is None else self._candidates.arguments
        contents: dict[str, Content | None] = {name: _hash_pairs(one) for name, one in pairs}
        if reading.collapse is not None:
            contents["collapse"] = _hash_groups(reading.collapse)
        if reading.catalogue is not None:
            contents |= _hash_catalogue(reading.catalogue)
        return {
            name: None if content is None else str(content) for name, content in contents.items()
        }

    def __getstate__(self) -> dict[str, Any]:
        """Keep the fingerprints alone: groups may be a function, which cannot be pickled."""
        return {"_found": self._found}


def _hash_pairs(pairs: Qrels) -> Content:
    """Hash pairs of query and item, whose grades mean nothing."""
    items = read_python_ids(pairs.items)
    return hash_rows(pairs.queries, pairs.offsets, items, np.ones(len(items)))


def _hash_groups(raw: Any) -> Content | None:
    """Hash the group of each item; None for a function."""
    columns = raw.list_columns()
    return None if columns is None else _hash_list(columns[0], subtopics=columns[1])


def _hash_catalogue(raw: Any) -> dict[str, Content | None]:
    """Hash what measures of the catalogue need: items, what users saw, and distances."""
    contents: dict[str, Content | None] = {}
    if raw.items is not None:
        contents["catalogue"] = _hash_list(raw.items)
    elif raw.size is not None:
        contents["catalogue"] = _hash_list(read_python_ids([raw.size]))
    if raw.seen is not None:
        contents["seen"] = _hash_pairs(raw.seen)
        if raw.of_seen:
            contents["catalogue"] = contents["seen"]
    if raw.distance is not None:
        contents["distance"] = _hash_vectors(raw.distance)
    return contents


def _hash_vectors(raw: Any) -> Content | None:
    """Hash the vectors of items, a row for each number; None for a function of two items."""
    if raw.ids is None:
        return None
    count, width = raw.unit.shape
    items = raw.ids.take(np.repeat(np.arange(count), width))
    return _hash_list(items, raw.unit.ravel(), read_python_ids([*range(width)] * count))


def _hash_list(items: Ids, numbers: Any = None, subtopics: Ids | None = None) -> Content:
    """Hash items of no query."""
    numbers = np.ones(len(items)) if numbers is None else numbers
    return hash_rows([""], np.array([0, len(items)]), items, numbers, subtopics=subtopics)


# --- Finds how the judgments of two evaluators differ ---------------------------------------------


def check_same(qrels: Qrels, other: Qrels) -> None:
    """Raise InputError for judgments that differ."""
    if qrels is other:
        return
    if qrels.queries != other.queries:
        only = set(qrels.queries) ^ set(other.queries)
        if only:
            raise _explain(
                qrels, other, f"judged in only one of them: {list_some(sorted(only, key=str))}"
            )
        raise InputError(
            "the qrels of the evaluators have their queries in different orders. Make the"
            " evaluators from the same qrels."
        )
    same = np.array_equal(qrels.offsets, other.offsets) and list(qrels.items) == list(other.items)
    if not same or not np.array_equal(qrels.grades, other.grades):
        differ = (
            q for q in qrels.queries if _list_judgments(qrels, q) != _list_judgments(other, q)
        )
        raise _explain(qrels, other, f"judged differently: {list_some(list(differ))}")
    if _list_subtopics(qrels) != _list_subtopics(other):
        raise _explain(qrels, other, "their subtopics differ")
    if _list_weights(qrels) != _list_weights(other):
        raise _explain(qrels, other, "the weights of their subtopics differ")


def _explain(qrels: Qrels, other: Qrels, how: str) -> InputError:
    """Make the error for judgments that differ, with their names and fingerprints."""
    names = " and ".join(
        f"{clip(judgments.name)} ({Signature.shorten(make_fingerprint(judgments))})"
        for judgments in (qrels, other)
    )
    return InputError(f"the evaluators have different qrels, {names}; {how}.")


def _list_subtopics(qrels: Qrels) -> list[Any]:
    return [] if qrels.subtopics is None else qrels.subtopics.entries


def _list_weights(qrels: Qrels) -> list[float] | None:
    weights = None if qrels.subtopics is None else qrels.subtopics.weights
    return None if weights is None else weights.tolist()


def _list_judgments(qrels: Qrels, query: Hashable) -> tuple[list[Hashable], list[float]]:
    only = qrels.only(query)
    return list(only.items), only.grades.tolist()


# --- Signature line -------------------------------------------------------------------------------
#
# Signature: one line with a number, its definition, and the data that it was computed from.

_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
UNKNOWN = "unknown"
LONGEST = 100_000  # characters, of which a signature has some hundreds
_LOOKS = "AP@10 = 0.2917 | norm=min … | 200 queries, qrels 3f9a…, run 81be… | germane 0.2.0"
_KINDS = {convention.name: str(convention.type) for convention in fields(Policy)}


@dataclass(frozen=True)
class Signature(AttributeAdvice):
    """A number with its definition and the fingerprints of its data; its text is one line.

    >>> signature = germane.evaluate({"q": {"d": 1}}, {"q": {"d": 0.9}}, "RR").signature("RR")
    >>> signature.value, signature.policy.ties, len(signature.run)
    (1.0, 'trec', 16)
    >>> germane.types.Signature.read(str(signature)) == signature
    True

    ``qrels`` and ``run`` are the first 64 bits of the fingerprints, as hexadecimal digits, or None
    if they are not known; ``options`` has those of exclude, only and the like, if any were given.
    ``tools`` are other tools that compute the same number by their definition.
    """

    LENGTH: ClassVar = 16  # digits of a fingerprint: 64 of its 128 bits
    OPTIONS: ClassVar = (*CANDIDATES, "collapse", "catalogue", "seen", "distance")
    """The options that are data: their fingerprints stand beside those of judgments and run."""

    measure: Measure
    value: float
    policy: Policy = field(default_factory=Policy)
    queries: int = 0
    excluded: int = 0
    qrels: str | None = None
    run: str | None = None
    germane: str = VERSION
    dialect: str | None = None
    tools: tuple[str, ...] = ()
    digits: int = 4
    options: tuple[tuple[str, str | None], ...] = ()

    @staticmethod
    def is_written(text: object) -> bool:
        """Does this look like a signature, and not like a path?"""
        if not isinstance(text, str) or len(text) > LONGEST:
            return False
        text = _clean(text)
        return text.count(" | ") >= 2 and " = " in text

    @classmethod
    def shorten(cls, fingerprint: str | None) -> str | None:
        """Return the digits of a fingerprint that a signature and messages show."""
        return None if fingerprint is None else fingerprint[: cls.LENGTH]

    @staticmethod
    def read(text: str) -> Signature:
        """Read the line that ``str`` writes, back into a signature.

        The name of a run and a colon may precede it. Conventions and parameters that it leaves out
        have their defaults. Raises FormatError if the text is not a signature, and MeasureError or
        PolicyError for a definition that does not exist.
        """
        return read_signature(text)

    def __str__(self) -> str:
        data = [write_count(self.queries, "query")]
        if self.excluded:
            data.append(f"{write_count(self.excluded, 'result')} excluded")
        hashed = (("qrels", self.qrels), ("run", self.run), *self.options)
        data += [f"{name} {content or UNKNOWN}" for name, content in hashed]
        parts = [
            f"{self.measure} = {self.shown}",
            " ".join(f"{name}={word}" for name, word in self.words.items()),
            ", ".join(data),
            f"germane {self.germane}",
        ]
        if self.dialect is not None:
            parts.append(f"dialect {self.dialect}")
        if self.tools:
            parts.append(f"as {', '.join(self.tools)}")
        return " | ".join(parts)

    @property
    def shown(self) -> str:
        """The value as it is written."""
        return format_value(self.value, self.measure, self.digits)

    @property
    def words(self) -> dict[str, str]:
        """The parameters of the measure and the conventions, including those that are defaults."""
        policy = {
            name: str(word) for name, word in self.policy.to_dict().items() if word is not None
        }
        policy.pop("qrels_duplicates", None)
        return {**self.measure.write_parameters(), **policy}


def make_signature(result: Result, measure: Measure, digits: int, tools: str) -> Signature:
    """Make the signature of a mean; with ``tools="same"``, it has the tools that agree."""
    policy = result.policies.get(measure, result.policy)
    counts = result.counts
    return Signature(
        measure,
        _round(result[measure].mean, measure, digits),
        policy,
        counts.judged,
        counts.excluded,
        Signature.shorten(result.fingerprint),
        Signature.shorten(result.run_fingerprint),
        VERSION,
        None if result.dialect is None else result.dialect.name,
        find_tools(measure, policy, counts) if tools == "same" else (),
        digits,
        tuple(
            (name, Signature.shorten(fingerprint))
            for name, fingerprint in result.option_fingerprints.items()
        ),
    )


def _round(value: float, measure: Measure, digits: int) -> float:
    return float(format_value(value, measure, digits)) if math.isfinite(value) else value


def find_tools(measure: Measure, policy: Policy, counts: Counts) -> tuple[str, ...]:
    """Find tools that compute this measure under these conventions, with their names of it.

    A convention that has nothing to decide on the data may differ: that for missing queries, where
    none is missing. Tools with limits that concern the measure are left out.
    """
    from germane.dialects import dialects

    tools, idle = [], _find_idle(counts, measure)
    if policy.duplicates != "error":
        idle -= {"duplicates", "repeated"}
    for name, dialect in dialects().items():
        entry = dialect.find_entry(measure)
        if entry is None:
            continue
        choices = {**dialect.choices, **entry.fill_choices(measure.k, measure.rel)}
        conventions = {word: choice for word, choice in choices.items() if word in Policy.DEFAULTS}
        its = replace(Policy(), **conventions)
        differ = {word for word in Policy.DEFAULTS if getattr(its, word) != getattr(policy, word)}
        own_name = entry.write_name(measure.k, dict(measure.parameters))
        is_limited = any(not limit.only or entry.name in limit.only for limit in dialect.limits)
        if len(conventions) == len(choices) and not is_limited and differ <= idle:
            tools.append(f"{name} {own_name}")
    return tuple(tools)


def _find_idle(counts: Counts, measure: Measure) -> set[str]:
    """Find the conventions that have nothing to decide on the data."""
    idle = {"duplicates", "repeated", "qrels_duplicates"}  # data with duplicates were refused
    if not counts.missing:
        idle.add("missing")
    if not counts.without_relevant and measure.rel in (None, 1.0):
        idle.add("no_relevant")
    if not counts.tied:
        idle.add("ties")
    if not counts.unjudged_queries:
        idle.add("unknown")
    return idle


def _clean(text: str) -> str:
    """Undo what pasting does to a line: blanks, quotes, marks of lists, backslashes."""
    plain = re.sub(r"\\([|_@*=])", r"\1", unicodedata.normalize("NFKC", text))
    plain = plain.replace("\\textbar{}", "|")
    line = " ".join(plain.translate(_INVISIBLE).split()).strip("`'\"> -*•|.")
    return re.sub(r" ?\| ?", " | ", line)


def read_signature(text: str) -> Signature:
    """Read a signature from the line that ``result.signature`` writes.

    >>> line = "AP@10 = 0.2917 | norm=min ties=trec | 9 queries, qrels 3f9a, run 81be | germane 0.2"
    >>> germane.types.Signature.read(line).measure.definition
    'Σ P@i·rel(i), i ≤ 10, ÷ min(R,10)'

    The name of a run and a colon may precede it. Conventions and parameters that it leaves out have
    their defaults. Raises FormatError if the text is not a signature, and MeasureError or
    PolicyError for a definition that does not exist.
    """
    if not isinstance(text, str) or not Signature.is_written(text):
        raise FormatError(
            f"{clip(text)} is not a signature. A signature is a line such as: {_LOOKS}"
        )
    every = _clean(text).split(" | ")
    # a run may have a | in its name
    first = next((place for place, part in enumerate(every) if " = " in part), 0)
    head, *parts = every[first:]
    name, _, value = head.rpartition(" = ")
    name = name.rpartition(": ")[2]
    fields: dict[str, Any] = {}
    for part in parts:
        read = _read_part(part, text)
        if twice := fields.keys() & read.keys():
            raise FormatError(
                f"a signature has only one part for {min(twice)}; got another one, {clip(part)}"
            )
        fields |= read
    words = fields.pop("words", {})
    try:
        number = float(value)
    except ValueError:
        raise FormatError(f"a signature begins with MEASURE = NUMBER; got {clip(head)}") from None
    measure, policy = _read_words(name.strip(), words)
    digits = len(value.partition(".")[2]) if "." in value else 0
    return Signature(measure, number, policy, digits=digits or 4, **fields)


def _read_part(part: str, text: str) -> dict[str, Any]:
    """Read a part of a signature by how it begins."""
    for keyword in ("germane", "dialect"):
        if part.startswith(keyword + " "):
            return {keyword: part.removeprefix(keyword).strip()}
    if part.startswith("as "):
        return {"tools": tuple(part.removeprefix("as ").split(", "))}
    if re.match(r"[0-9,]+ quer(y|ies)\b", part):
        return _read_data(part)
    words: dict[str, str] = {}
    for one in part.split():
        word, sign, value = one.partition("=")
        if not sign:
            raise FormatError(
                f"the part {clip(part)} does not belong in a signature, such as {_LOOKS}; got"
                f" {clip(text)}"
            )
        if words.setdefault(word, value) != value:
            raise FormatError(
                f"a signature states {clip(word)} once; got {clip(words[word])} and {clip(value)}"
            )
    return {"words": words}


def _read_data(part: str) -> dict[str, Any]:
    hashes: dict[str, Any] = {}
    for name, pattern in {
        "queries": r"^([0-9,]{1,15}) quer",
        "excluded": r"([0-9,]{1,15}) results? excluded",
    }.items():
        if number := re.search(pattern, part):
            hashes[name] = int(number[1].replace(",", ""))
    hashed: dict[str, str | None] = {}
    for name in ("qrels", "run", *Signature.OPTIONS):
        if written := re.search(rf"\b{name} (\S+?)(?:,|$)", part):
            hashed[name] = _read_fingerprint(name, written[1])
    hashes |= {name: hashed.pop(name, None) for name in ("qrels", "run")}
    return {**hashes, "options": tuple(hashed.items())}


def _read_fingerprint(name: str, written: str) -> str | None:
    if written == UNKNOWN:
        return None
    if not re.fullmatch(r"[0-9a-f]{4,32}", written):
        raise FormatError(
            f"the fingerprint of the {name} has at least 4 hexadecimal digits; got {clip(written)}"
        )
    return written


def _read_words(name: str, words: Mapping[str, str]) -> tuple[Measure, Policy]:
    """Read the measure with its parameters, and the conventions."""
    measure = parse(name)
    own_names = {parameter.name for parameter in measure.row.parameters}
    written = [f"{word}={value}" for word, value in words.items() if word in own_names]
    if written and words.keys() & own_names:
        cutoff = "" if measure.k is None else f"@{measure.k}"
        values = {
            **measure.write_parameters(),
            **{w: v for w, v in words.items() if w in own_names},
        }
        measure_read = parse(
            f"{measure.name}({','.join(f'{w}={v}' for w, v in values.items())}){cutoff}"
        )
        _refuse_contradiction(measure, measure_read)
        measure = measure_read
    policy = {
        word: _read_word(word, value) for word, value in words.items() if word not in own_names
    }
    unknown = [word for word in policy if word not in Policy.DEFAULTS]
    if unknown:
        raise FormatError(
            f"{measure} has no parameter {clip(unknown[0])}, and there is no convention of"
            " that name."
        )
    return measure, Policy(**policy)


def _refuse_contradiction(named: Measure, measure: Measure) -> None:
    """Refuse a parameter that the name of the measure has otherwise than the words behind it."""
    usual = dict(parse(named.name).parameters)
    for (name, value), (_, value_written) in zip(named.parameters, measure.parameters, strict=True):
        if value not in (usual[name], value_written):
            raise FormatError(
                f"a signature states {name} once; got {named}, and then {name}={value_written}"
            )


def _read_word(name: str, written: str) -> Any:
    """Read a convention; depth and the like are numbers."""
    if written == "None":
        return None
    kind = _KINDS.get(name, "")
    if "int" in kind and "Literal" not in kind and re.fullmatch("[0-9]{1,18}", written):
        return int(written)
    if "float" in kind and "Literal" not in kind:
        try:
            return float(written)
        except ValueError:
            return written
    return written
