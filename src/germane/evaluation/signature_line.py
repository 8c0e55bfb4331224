"""Signature: one line with a number, its definition, and fingerprints of its data."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from germane._version import VERSION
from germane.core.policy import Policy
from germane.dialects.names import parse
from germane.errors import FormatError, clip
from germane.evaluation.layout import format_value
from germane.measures.measure import Measure
from germane.output.attributes import AttributeAdvice
from germane.output.tables import write_count
from germane.readers import CANDIDATES

if TYPE_CHECKING:
    from germane.evaluation.result import Counts, Result


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
        of_tool = replace(Policy(), **conventions)
        differ = {
            word for word in Policy.DEFAULTS if getattr(of_tool, word) != getattr(policy, word)
        }
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
    all_parts = _clean(text).split(" | ")
    # a run may have a | in its name
    first = next((place for place, part in enumerate(all_parts) if " = " in part), 0)
    head, *parts = all_parts[first:]
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
    for pair in part.split():
        word, sign, value = pair.partition("=")
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
