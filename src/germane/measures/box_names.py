"""Names of measures of detected boxes: germane's own, and the spellings of papers and tools."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, get_args

from germane.core.calls import list_values, read_numbers
from germane.errors import MeasureError, PolicyError, clip, list_choices, suggest, write_option


class Levels(tuple[float, ...]):
    """Thresholds of overlap, which names write as ``.5:.95``.

    >>> from germane.measures.box_names import Levels
    >>> str(Levels((0.5, 0.75))), str(Levels((0.5, 0.6, 0.7)))
    ('.5+.75', '.5:.7:.1')
    """

    COCO: ClassVar["Levels"]

    @classmethod
    def read(cls, raw: Any) -> "Levels":
        """Read thresholds of overlap: numbers, or text such as ``.5``, ``.5,.75``, ``.5:.95:.05``.

        >>> from germane.measures.box_names import Levels
        >>> Levels.read(".5:.05:.6")
        (0.5, 0.55, 0.6)

        Raises PolicyError for one that is not above 0 and at most 1.
        """
        try:
            thresholds = cls(_list_thresholds(raw))
        except (TypeError, ValueError, ArithmeticError):  # the last: no end, or no step
            thresholds = cls()
        if not thresholds or not all(0 < threshold <= 1 for threshold in thresholds):
            raise PolicyError(
                "iou takes thresholds above 0 and at most 1, such as .5 or .5:.95:.05; got"
                f" {clip(raw)}"
            )
        return thresholds

    def __str__(self) -> str:
        listed = "+".join(map(_write_threshold, self))
        if len(self) < 3:
            return listed
        step = f"{(self[-1] - self[0]) / (len(self) - 1):.6g}".removeprefix("0")
        ends = f"{_write_threshold(self[0])}:{_write_threshold(self[-1])}"
        for text in (ends, f"{ends}:{step}"):
            try:
                if self.read(text) == self:
                    return text
            except PolicyError:
                continue
        return listed


Levels.COCO = Levels((*(0.5 + i * ((0.95 - 0.5) / 9) for i in range(9)), 0.95))


def _list_thresholds(raw: Any) -> tuple[float, ...]:
    if isinstance(raw, str):
        if ":" not in raw:
            return read_numbers(raw.split(","))
        low, *ends = read_numbers((raw + ":.05" if raw.count(":") == 1 else raw).split(":"))
        step, high = sorted(ends)  # .5:.95:.05, or .5:.05:.95 as on COCO's site
        if (count := round((high - low) / step)) < 0 or count > 1000 or (not count and high > low):
            return ()
        # as numpy.linspace spaces them, from low to high
        return (*(low + i * ((high - low) / count) for i in range(count)), high)
    raw = list_values(raw)
    return read_numbers(raw if isinstance(raw, Iterable) else [raw])


def _write_threshold(threshold: float) -> str:
    short = f"{threshold:.6g}"
    return (short if float(short) == threshold else repr(threshold)).removeprefix("0")


# --- Names of measures of detected boxes, as germane writes them ----------------------------------
#
# Name(parameter=value,…)@k     AP   AP50   AP(area=small)   AR@10   P(confidence=.25)@5
#
# ``BoxName.read`` reads them, and the spellings of other tools and papers.

Frequency = Literal["rare", "common", "frequent"]
POINTS = ("101", "101single", "11", "all", "lines", "slope", "r40")
_SHARED = ("iou", "area", "frequency", "class")
_TAKES = {
    "AP": (*_SHARED, "points", "depth"),
    "AR": (*_SHARED, "depth"),
    **dict.fromkeys(("P", "R", "F"), (*_SHARED, "confidence", "depth")),
}
"""Each measure, and the parameters that it takes."""

_DEPTH_AFTER_AT = ("AR", "P", "R")  # after AP and F, half of the field writes an overlap there


@dataclass(frozen=True)
class BoxName:
    """The parts of a measure's name; those that are None are left to the conventions.

    ``overlap`` is what is matched (box, mask or oks) if a spelling says it, as ``bbox_mAP`` does.
    """

    _json = ""  # JSON has its text
    FREQUENCIES: ClassVar[tuple[Frequency, ...]] = get_args(Frequency)

    name: str
    iou: Levels | None = None
    area: str | None = None
    points: str | None = None
    confidence: float | Literal["best"] | None = None
    k: int | None = None
    frequency: Frequency | None = None
    label: str | None = None
    overlap: str = field(default="", compare=False)

    def __str__(self) -> str:
        omitted = {"iou"} if self.short_name != self.name else set()
        omitted |= {"depth"} if self.name in _DEPTH_AFTER_AT else set()
        written = ",".join(
            f"{parameter}={value}"
            for parameter, value in self.parameters.items()
            if value and parameter not in omitted
        )
        depth = f"@{self.k}" if self.k is not None and "depth" in omitted else ""
        return self.short_name + (f"({written})" if written else "") + depth

    __repr__ = __str__

    @property
    def short_name(self) -> str:
        """The name with its threshold, as in AP50, where these digits can mean nothing else."""
        digits = f"{100 * self.iou[0]:.0f}" if self.iou and len(self.iou) == 1 else ""
        exact = is_level(self.name, digits) and self.iou == (float(f".{digits}"),)
        return self.name + digits if exact else self.name

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters that the measure takes, with their values as written, or ""."""
        values = {**vars(self), "depth": self.k, "class": self.label}
        return {name: _write_value(values[name]) for name in _TAKES[self.name]}

    @property
    def depth_words(self) -> str:
        """The depth in words; there must be one."""
        return f"the {self.k} highest scores" if self.k != 1 else "the highest score"

    @classmethod
    def read(cls, text: object) -> Self:
        """Read a measure of detections from its name, in germane's spelling or another one.

        >>> from germane.measures.box_names import BoxName
        >>> [BoxName.read(name) for name in ("mAP@.5", "AP_small", "AR_max=100", "AP(IoU=.75)")]
        [AP50, AP(area=small), AR@100, AP75]

        Raises MeasureError for what is not one, and for a name that means two things.
        """
        return cls(**vars(_read_box_name(text)))

    @staticmethod
    def split(text: str) -> list[str]:
        """Split a string of names at blanks and commas, but for those within a name.

        >>> from germane.measures.box_names import BoxName
        >>> BoxName.split("AP @[.5:.95], mAP (small) mask AP50")
        ['AP@[.5:.95]', 'mAP(small)', 'mask_AP50']
        """
        return _split_box_names(text)

    @staticmethod
    def split_overlap(text: str) -> tuple[str, str]:
        """Split a name into that of the measure and what is matched: box, mask, oks or "".

        >>> from germane.measures.box_names import BoxName
        >>> list(map(BoxName.split_overlap, ("mask AP50", "metrics/mAP50(B)", "APm")))
        [('AP50', 'mask'), ('mAP50', 'box'), ('APm', '')]
        """
        return _split_overlap(text)


def _write_value(value: Any) -> str:
    """Write the value of a parameter as names do; "" for none."""
    if value is None:
        return ""
    return f"{value:g}".removeprefix("0") or "0" if isinstance(value, float) else str(value)


def is_level(name: str, digits: str, *, after_at: bool = False) -> bool:
    """Are digits after a name a level of overlap in percent, and certainly no depth?

    AP50, AR50 and AP10 are; AR10 and R10 are not, and neither are AP@10 and AP11, of 11 points.
    """
    if len(digits) != 2 or digits in POINTS:
        return False
    return digits >= "50" or digits == "25" or (name == "AP" and not after_at)


def read_parameters(text: str, name: str, parts: Iterable[str]) -> dict[str, Any]:
    """Read parameters of a measure, ``key=value`` each. Raises MeasureError for other parts."""
    parameters: dict[str, Any] = {}
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        key = _KEYS.get(key.casefold(), key.casefold())
        if not equals or key not in _TAKES[name] or key in parameters:
            raise MeasureError(
                f"{clip(text)}: {name} takes {list_choices(_TAKES[name])}, each once; got"
                f" {clip(part)}.{suggest(key, _TAKES[name])}"
            )
        parameters[key] = _read_value(text, key, value)
    return parameters


_KEYS = {"maxdets": "depth", "max_dets": "depth", "catids": "frequency", "conf": "confidence"}
"""Names of parameters that other tools print."""

INITIALS = {
    frequency[0]: frequency for frequency in ("small", "medium", "large", *BoxName.FREQUENCIES)
}


def _read_value(text: str, key: str, value: str) -> Any:
    if key == "class" and not value:
        raise MeasureError(f"{clip(text)}: class takes the name or the id of a class; got none.")
    if key in ("area", "class"):
        return value
    if key == "depth":
        return read_depth(text, value)
    if key in _LISTED:
        word = INITIALS.get(value, value) if key == "frequency" else value
        if word not in _LISTED[key]:
            takes = list_choices(_LISTED[key])
            raise MeasureError(f"{clip(text)}: {key} takes {takes}; got {clip(value)}")
        return word
    if key == "confidence" and value == "best":
        return value
    try:
        if key == "iou":
            return Levels.read(value.replace("+", ","))
        if math.isfinite(number := float(value)):
            return number
        raise ValueError(value)
    except (PolicyError, ValueError) as error:
        allowed = (
            error if isinstance(error, PolicyError) else f"{key} takes a number; got {clip(value)}"
        )
        raise MeasureError(f"{clip(text)}: {allowed}") from None


_LISTED: dict[str, tuple[str, ...]] = {"points": POINTS, "frequency": BoxName.FREQUENCIES}


def read_depth(text: str, written: str) -> int:
    """Read a depth. Raises MeasureError for what is no positive integer."""
    if not written.isdecimal() or not 1 <= int(written) < 10**12:
        raise MeasureError(
            f"{clip(text)}: the depth must be a positive integer; got {clip(written)}"
        )
    return int(written)


# --- Box spellings --------------------------------------------------------------------------------
#
# Spellings of measures of detected boxes: those of papers and tools are read like germane's own.
#
# A name is that of a measure, and behind it are thresholds, an area, a frequency and a depth in
# any order: ``mAP@[.5:.95]``, ``AP_small``, ``AR_max=100``. Some spellings have two meanings; they
# are refused, and the message says how to write each.

EXAMPLES = "AP, AP50, AP(iou=.5,area=small), AR@10, P(confidence=.25)"
LONGEST = 300  # letters; no name has more


class UnknownNameError(MeasureError):
    """A name that is none of a measure of detections in any spelling."""


_FAMILIES = {
    "AP": r"(?:mean[_ ]?|m)?(?:ap|average[_ ]?precision)(?: *[(]m?ap[)])?",
    "AR": r"(?:mean[_ ]?|m)?(?:ar|average[_ ]?recall)(?: *[(]m?ar[)])?",
    "P": "precision|prec|p",
    "R": "recall|rec|r",
    "F1": r"f[_-]?1(?![\d.])(?:[_ -]?(?:score|measure))?",
    "F": "f",
}
"""Each measure, and how it is written in lower case. F1 is F that says its β."""

_FAMILY = re.compile(
    "|".join(f"(?P<{name}>{words})" for name, words in _FAMILIES.items()), re.IGNORECASE
)
_AREAS = ("all", "small", "medium", "large")
_WORDS = {**{word: word for word in (*_AREAS, *INITIALS.values())}, **INITIALS}
_WHOLE = {"precision": "P(confidence=best)", "recall": "R(confidence=best)"}
"""Names in Ultralytics' results, after ``metrics/``, that do not say what the tool computes."""

_TWICE = {"ar_all": "AR@1"}
"""Names by which one tool, faster-coco-eval, has another measure."""

_NO_MEASURES = ("aps", "maps")  # several AP, as in Ultralytics' results; APs is of small objects

# --- What is matched ------------------------------------------------------------------------------

_OVERLAPS = {
    "mask": "masks?|segm(?:entation)?|seg|instance",
    "box": "b?box(?:es)?|bb|detection|det",
    "oks": "keypoints?|kpts?|kps|pose|oks",
}
_SUFFIXES = {"(B)": "box", "(M)": "mask", "(P)": "oks"}  # of Ultralytics
_SUFFIX = re.compile(r"(?:^metrics/.*|\d)(\([BMP]\))$")
_MARKS = {"b": "box", "bb": "box", "mk": "mask", "kp": "oks"}  # of papers: AP^bb, APb50
_MARK = re.compile(rf"(?<=a[pr]|\d\d)[_^]?({'|'.join(_MARKS)})(?![a-z])", re.IGNORECASE)
_SPLIT = re.compile(
    r"(?<=a[pr]|\d\d)[\s_^]?(?:(?:mini)?val|test(?:-?dev)?)(?:20\d\d)?(?![a-z])", re.IGNORECASE
)
_OF_TENSORFLOW = re.compile("detection(box|mask|keypoint)e?s_(?:precision|recall)/", re.IGNORECASE)
_PREFIX = re.compile("^(?:metrics|coco|val|test)/", re.IGNORECASE)


def _split_overlap(text: str) -> tuple[str, str]:
    written = re.sub("[{}$]", "", text.strip())  # AP_{50}
    bare = _SPLIT.sub(" ", _PREFIX.sub("", written)).strip()
    if named := _OF_TENSORFLOW.match(bare):
        return bare[named.end() :], {"keypoint": "oks"}.get(kind := named[1].casefold(), kind)
    if suffix := _SUFFIX.search(written):
        return bare.removesuffix(suffix[1]), _SUFFIXES[suffix[1]]
    if mark := _MARK.search(bare):
        return f"{bare[: mark.start()]} {bare[mark.end() :]}".strip(), _MARKS[mark[1].casefold()]
    for overlap, words in _OVERLAPS.items():
        rest = re.sub(rf"(?<![a-z])(?:{words})(?![a-z])", " ", bare, flags=re.IGNORECASE)
        if rest != bare and re.search("[a-z]", rest, re.IGNORECASE):
            return re.sub(r"[(\[]\s*[)\]]", "", rest).strip(" _-/:,."), overlap
    return bare, ""


# --- Names in a string ----------------------------------------------------------------------------


_BETWEEN = re.compile(r"\b(mean|average)\s+(?=average|precision|recall)", re.IGNORECASE)
_BEHIND = re.compile(
    rf"(?<=[a-z])\s+(?=[.\d]|iou\b|(?:{'|'.join(word for word in _WORDS if len(word) > 1)})\b)",
    re.IGNORECASE,
)
_BEFORE = re.compile(rf"\b({'|'.join(_OVERLAPS.values())})\s+(?=m?a[pr])", re.IGNORECASE)


_CLASS = re.compile(r"(?<=[(,])\s*class\s*=\s*([^,()]*)(?:,|(?=\)))", re.IGNORECASE)
"""A class may be called anything, such as traffic light 2, so it is set aside first."""


def _take_class(text: str) -> tuple[str, str | None]:
    """Take the class out of a name; None where it has none, or several."""
    labels = [label.strip() for label in _CLASS.findall(text)]
    if len(labels) != 1 or not labels[0]:
        return text, None
    return re.sub(r"\(\s*\)", "", re.sub(r",\s*\)", ")", _CLASS.sub("", text))), labels[0]


def _split_box_names(text: str) -> list[str]:
    labels = iter([match[0] for match in _CLASS.finditer(text)])
    text = _CLASS.sub("\0", text)
    joined = _BEFORE.sub(r"\1_", _BETWEEN.sub(r"\1_", text))
    joined = re.sub(r"\s*@\s*", "@", joined)
    joined = _BEHIND.sub("_", joined)  # AP .5
    joined = re.sub(r"(?<=[\w\]])\s+(?=[(\[])", "", joined)
    joined = re.sub(r"(?<=\])\s*=\s*-?[\d.]+", "", joined)  # the numbers of COCO's summary
    names = re.findall(r"(?:[^\s,()\[\]]|\([^()]*\)?|\[[^\[\]]*\]?|[)\]])+", joined)
    if not names:
        raise MeasureError("no measure was given; for instance 'AP AP50 AR@10'.")
    return [re.sub("\0", lambda _: next(labels), name) for name in names]


# --- One name -------------------------------------------------------------------------------------

_NUMBER = r"(?:\d?\.\d+|\d+)"
_PIECE = re.compile(
    rf"""(?P<mark>[\s_@^\-/(\[|]*)
    (?: (?P<iou>iou\s*[=≥>]*\s*)?
        (?: (?P<range>{_NUMBER}(?:\s*(?:[:\-–~]|\.\.)\s*{_NUMBER}){{1,2}} | (?:50_95|5095)(?!\d))
          | (?P<pair>{_NUMBER}\s*,\s*{_NUMBER})
          | (?P<number>{_NUMBER}) )
        (?P<unit>\s*(?:%|iou)(?![a-z]))?
      | max(?:_?dets?)?\s*=?\s*(?P<depth>\d+)
      | (?P<word>{"|".join(sorted(_WORDS, key=len, reverse=True))})(?![a-z]) )
    [)\]\s]*""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_GROUP = re.compile(r"([(\[])([^()\[\]]*=[^()\[\]]*)[)\]](?:\s*=\s*-?[\d.]+\s*$)?")


def _read_box_name(text: object) -> BoxName:
    if not isinstance(text, str) or len(text) > LONGEST:
        raise _make_unknown_error(text)
    without_class, label = _take_class(text)
    bare, overlap = _split_overlap(without_class)
    if bare.casefold() in _TWICE:
        meanings = _TWICE[bare.casefold()]
        raise _make_ambiguous_error(
            text, ("AR(area=all)", "all sizes"), (meanings, "what faster-coco-eval calls so")
        )
    if without_class.strip().casefold().startswith("metrics/"):
        bare = _WHOLE.get(bare.casefold(), bare)
    start = _FAMILY.match(bare)
    closed = all(bare.count(opening) == bare.count(closing) for opening, closing in ("()", "[]"))
    if start is None or not closed or bare in _NO_MEASURES:
        raise _make_unknown_error(text)
    family, rest = str(start.lastgroup), bare[start.end() :]
    name = family.removesuffix("1")
    parameters: dict[str, Any] = {}
    if group := _GROUP.search(rest):
        parts = r",(?=\s*[a-z]+\s*=)" if group[1] == "(" else r"\s*[|,]\s*|\s+(?=\w+\s*=)"
        listed = re.split(parts, group[2].strip(), flags=re.IGNORECASE)
        parameters = read_parameters(text, name, listed)
        rest = f"{rest[: group.start()].rstrip('@ ')} {rest[group.end() :]}"
    pieces = list(_split(text, rest))
    for piece in sorted(
        pieces, key=lambda piece: piece["number"] is not None
    ):  # which need the others
        key, value = _read_piece(text, BoxName(name, **_rename(parameters)), piece)
        if key in parameters:
            repetition = "two thresholds of overlap" if key == "iou" else f"{key} twice"
            raise MeasureError(f"{clip(text)} gives {repetition}.")
        parameters[key] = value
    if label is not None:
        parameters["class"] = label
    box_name = BoxName(name, overlap=overlap, **_rename(parameters))
    letters = [piece for piece in pieces if piece["word"] == "m"]
    if not overlap and any("^" in letter["mark"] or box_name.iou for letter in letters):
        masks = f"{replace(box_name, area=None)} with {write_option('overlap', 'mask')}"
        raise _make_ambiguous_error(text, (box_name, "medium objects"), (masks, "masks"))
    if family == "F1" and box_name.confidence is None:
        box_name = replace(box_name, iou=box_name.iou or Levels((0.5,)))
        full = f"F(iou={box_name.iou},confidence=best)"
        best = (
            full
            if box_name == BoxName("F", iou=box_name.iou)
            else replace(box_name, confidence="best")
        )
        repetition = "those from the confidence on where it is best"
        raise _make_ambiguous_error(
            text,
            (box_name, "all detections"),
            (best, repetition),
            why=" depends on the scores that count",
        )
    return box_name


def is_of_boxes(text: str) -> bool:
    """Is this a measure of detections, for those who expect one of ranked lists?

    Only a parameter makes it one, of AP and AR also digits: P50 is rather P@50 to them.
    """
    try:
        name = BoxName.read(text)
    except MeasureError:
        return False
    return name != BoxName(name.name) and (name.name in ("AP", "AR") or "=" in text)


def explain_of_boxes(text: str) -> str:
    """Say that a name is AP or AR of detections, where ranked lists are evaluated; or nothing."""
    if not is_of_boxes(text):
        return ""
    return " It is a measure of detected boxes: germane boxes and germane.boxes compute it."


def _make_unknown_error(text: object) -> UnknownNameError:
    from germane.measures.measure import is_own  # which asks this module about names of boxes

    of_lists = " germane evaluate computes it of ranked lists." if is_own(str(text)) else ""
    return UnknownNameError(
        f"{clip(text)} is not a measure of detections.{of_lists}  There are: {', '.join(_TAKES)},"
        f" such as {EXAMPLES}"
    )


def _make_ambiguous_error(
    text: str, *meanings: tuple[BoxName | str, str], why: str = " can mean several things"
) -> MeasureError:
    """Make the error of a name that says how each thing that it can mean is written."""
    listed = list_choices(f"{name} for {meaning}" for name, meaning in meanings)
    return MeasureError(f"{clip(text)}{why}. Write {listed}.")


def _rename(parameters: dict[str, Any]) -> dict[str, Any]:
    fields = {"depth": "k", "class": "label"}
    return {fields.get(name, name): value for name, value in parameters.items()}


def _split(text: str, rest: str) -> Iterator[re.Match[str]]:
    """Split what follows the measure. Raises MeasureError for what is no piece of a name."""
    start = 0
    while rest[start:].strip(" )]"):
        piece = _PIECE.match(rest, start)
        if piece is None:
            raise _make_unknown_error(text)
        start = piece.end()
        yield piece


def _read_piece(text: str, box_name: BoxName, piece: re.Match[str]) -> tuple[str, Any]:
    """Read a piece of a name as a parameter and its value; ``known`` is what the others said."""
    if piece["word"]:
        word = piece["word"].casefold()
        if len(word) == 1 and box_name.name not in ("AP", "AR"):
            raise _make_unknown_error(text)
        if word == "r" and "@" in piece["mark"]:
            raise MeasureError(
                f"{clip(text)} is a measure of ranked lists, their AP among the first R results,"
                " where R items are relevant: germane evaluate computes it. For the rare classes of"
                f" LVIS, write {replace(box_name, frequency='rare')}."
            )
        return "frequency" if _WORDS[word] in BoxName.FREQUENCIES else "area", _WORDS[word]
    if piece["depth"]:
        return "depth", read_depth(text, piece["depth"])
    if piece["pair"]:
        low, high = map(_write_share, re.split(r"\s*,\s*", piece["pair"]))
        range_meaning = (f"{box_name.name}(iou={low}:{high})", "a range of thresholds")
        raise _make_ambiguous_error(
            text, range_meaning, (f"{box_name.name}(iou={low}+{high})", "these two")
        )
    if piece["range"] == "5095" and "@" in piece["mark"] and box_name.name != "AP":
        return "depth", read_depth(text, piece["range"])
    if piece["range"]:
        return "iou", _read_range(text, piece["range"])
    return _read_number(text, box_name, piece)


def _write_share(digits: str) -> str:
    """Write a threshold of a name as a share: .5 for 50, 0.5 and .50."""
    number = float(digits) if "." in digits else int(digits) / 100
    return f"{number:g}".removeprefix("0") or "0"


def _read_levels(text: str, written: str) -> Levels:
    try:
        return Levels.read(written)
    except PolicyError as error:
        raise MeasureError(f"{clip(text)}: {error}") from None


def _read_range(text: str, written: str) -> tuple[float, ...]:
    numbers = re.split(r"\s*(?:[:\-–~_]|\.\.)\s*", "50:95" if written == "5095" else written)
    if any(len(number) != 2 and "." not in number for number in (numbers[0], numbers[-1])):
        raise _make_unknown_error(text)
    return _read_levels(text, ":".join(map(_write_share, numbers)))


def _read_number(text: str, box_name: BoxName, piece: re.Match[str]) -> tuple[str, Any]:
    """Read a number as an overlap or as a depth. Raises MeasureError where it could be either."""
    digits, name, mark = piece["number"], box_name.name, piece["mark"]
    is_cutoff, share = "@" in mark, _write_share(digits)
    if "." in digits or piece["iou"] or piece["unit"]:
        levels = _read_levels(text, share)
        if name in ("P", "R", "F") and not (piece["iou"] or piece["unit"]):
            scores = replace(box_name, confidence=float(share))
            meaning = f"an overlap of {share}"
            raise _make_ambiguous_error(
                text, (replace(box_name, iou=levels), meaning), (scores, f"scores from {share}")
            )
        return "iou", levels
    of_detections = len(digits) != 2 or digits == "10"  # AR1, AR10, AR100
    if (name in ("AR", "P", "R") and is_cutoff) or (name == "AR" and of_detections):
        return "depth", read_depth(text, digits)
    unsure = (is_cutoff and (name == "F" or box_name.iou)) or (
        mark and not is_cutoff and name == "AR"
    )
    if is_level(name, digits, after_at=is_cutoff) and not unsure:
        return "iou", _read_levels(text, share)
    raise _make_unsure_error(text, box_name, digits)


def _make_unsure_error(text: str, box_name: BoxName, digits: str) -> MeasureError:
    """Explain a number that can be an overlap or a depth, or has not an overlap's two digits."""
    k, name = read_depth(text, digits), box_name.name
    why = f": the depth of {name} is a parameter" if box_name.iou else " can mean several things"
    at_depth = replace(box_name, k=k)
    meanings = [(at_depth, at_depth.depth_words)]
    if len(digits) != 2:
        why = f": an overlap has two digits, as in {name}50"
        why += ", and F of detections has β = 1" * (name == "F")
    elif box_name.iou is None:
        share = _write_share(digits)
        meanings.insert(
            0, (replace(box_name, iou=Levels((float(share),))), f"an overlap of {share}")
        )
    if name == "AP" and digits in POINTS and box_name.points is None:
        meanings.append((replace(box_name, points=digits), f"{digits} points of the curve"))
    if name == "R" and box_name.iou is None:
        meanings.append((BoxName("AR", k=k), "its mean over thresholds"))
    return _make_ambiguous_error(text, *meanings, why=why)
