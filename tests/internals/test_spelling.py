"""Spellings of measures: every name in every usual form, and slips of every name of every tool."""

import random
import re
import string

import pytest

import germane
from germane.dialects import find_speakers, list_tool_names
from germane.dialects.families import DIALECTS
from germane.errors import MeasureError
from germane.measures import BY_NAME
from germane.measures.spelling import (
    ABSENT,
    AMBIGUOUS,
    SPELLINGS,
    count_slips,
    list_letters,
    respell,
    split_words,
)

NAMES = {name: row.name for row in BY_NAME.values() for name in (row.name, *row.aliases)}


def find_meaning(name: str) -> str:
    """The measure that a name is read as, or the suggestion or refusal of its message."""
    try:
        return str(germane.parse(name))
    except MeasureError as error:
        near = re.search(r"Did you mean '(.*?)'", str(error))
        return f"? {near[1]}" if near else f"! {error}"


# --- Every form of every name -----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_read_however_its_words_are_joined(name: str) -> None:
    row = BY_NAME[NAMES[name]]
    words = split_words(name)
    for joint in "" if " ".join(words).casefold() in AMBIGUOUS else "_- ":  # MeanP, but not mean P
        for change in (str, str.lower, str.upper):
            assert germane.parse(change(joint.join(words))).name == row.name
    if not row.cutoff or re.search(r"\d", name) or name in ("R", "F"):
        return
    own = germane.parse(f"{row.name}@20")
    for form in (
        "{}_20",
        "{}20",
        "{}-20",
        "{}@20",
        "{}@k=20",
        "{}_at_20",
        "{} at 20",
        "{}_at_k@20",
    ):
        written = form.format(name)
        refused = name.casefold() in ("map", "hit rate") and "at" in form.replace("{}", "")
        if not (refused and "k@" not in form):
            assert germane.parse(written) == own, written


@pytest.mark.parametrize("words", SPELLINGS)
def test_a_spelling_is_read_however_its_words_are_joined(words: str) -> None:
    means = SPELLINGS[words]
    name, needs_cutoff = means.removesuffix("@k"), means.endswith("@k")
    for joint in ("_", "-", " ", ""):
        written = joint.join(words.split())
        if needs_cutoff:
            with pytest.raises(MeasureError, match=r"needs a number|has two meanings"):
                germane.parse(written)
        else:
            assert germane.parse(written) == germane.parse(name)
        if BY_NAME[germane.parse(name).name].cutoff:
            assert germane.parse(f"{written.title()}@7") == germane.parse(f"{name}@7")
            if "k" in words.split():
                at = words.split().index("k")
                numbered = joint.join([*words.split()[:at], "7", *words.split()[at + 1 :]])
                assert germane.parse(numbered) == germane.parse(f"{name}@7")


def test_tables_of_names_do_not_overlap() -> None:
    parted = {" ".join(split_words(name)).casefold() for name in NAMES}
    spelled = {"".join(words.split()) for words in SPELLINGS}
    known = {"".join(split_words(name)).casefold() for name in NAMES}
    absent = ["".join(split_words(name)).casefold() for names in ABSENT for name in names]
    unclear = ["".join(words.split()) for words in AMBIGUOUS]
    assert len(set(absent)) == len(absent)
    assert not (spelled | known) & {*absent}
    assert not parted & {*SPELLINGS}, "an alias of the row needs no other entry"
    assert not {*unclear} & {*absent}
    assert {*unclear} & known == {"apr", "mapr", "meanp", "meanr"}  # which are clear in one word
    assert {*unclear} & spelled <= {"ap1", "ap2"}  # which are clear with a cutoff


@pytest.mark.parametrize("words", AMBIGUOUS)
def test_both_meanings_are_measures(words: str) -> None:
    with pytest.raises(MeasureError, match="has two meanings") as error:
        germane.parse(words.replace("#", "7").replace(" ", "_"))
    both = re.search(r": (.*?) \(.*?\) and (.*?) \(", str(error.value))
    assert both is not None
    measures = [germane.parse(one) for one in both.groups() if "boxes" not in one]
    assert len({*measures}) == 2 or "boxes" in both[2]


@pytest.mark.parametrize("name", [name for names in ABSENT for name in names])
def test_an_absent_measure_is_explained(name: str) -> None:
    for written in (name, name.replace(" ", "_"), name.casefold(), f"{name}@5"):
        with pytest.raises(MeasureError, match=r"germane has no measure .*: it is ") as error:
            germane.parse(written)
        assert "Did you mean" not in str(error.value)
    says = str(error.value).partition(": it is ")[2]
    for named in re.findall(r"\b(?:[A-Z]\w*[A-Z]\w*|R|F)(?= (?:is|has|are|and|counts))", says):
        if named in BY_NAME:
            germane.parse(named)
    for function in re.findall(r"function germane\.(\w+)", says):
        assert callable(getattr(germane, function))


# --- Slips ------------------------------------------------------------------------------------------


def list_slips(name: str, draw: random.Random) -> set[str]:
    """One slip of each kind at some place of a name."""
    letters = [at for at, letter in enumerate(name) if letter.isalpha()]
    at = draw.choice(letters)
    other = draw.choice(string.ascii_lowercase)
    slips = {
        name[:at] + name[at + 1 :],
        name[:at] + other + name[at + 1 :],
        name[:at] + other + name[at:],
        name[: at + 1] + name[at:],
    }
    if at + 1 in letters:
        slips.add(name[:at] + name[at + 1] + name[at] + name[at + 2 :])
    return slips - {name}


def find_family(name: str) -> str:
    return re.split(r"[(@]", name)[0]


@pytest.mark.parametrize("seed", range(4))
def test_a_slip_of_a_name_is_never_taken_for_another_measure(seed: int) -> None:
    """A suggestion is of the right family, and long names have one."""
    draw = random.Random(seed)
    families: dict[str, set[str]] = {}
    for dialect in DIALECTS:
        for entry in dialect.measuring:
            for name in (entry.name, *entry.also):
                if (
                    "{k}" in entry.measure
                    and re.fullmatch(r"[A-Za-z_{}@]+", name)
                    and "{x}" not in name
                ):
                    family = germane.parse(entry.write_measure(10)).name
                    families.setdefault(name.replace("{k}", "10"), set()).add(family)
    several = {list_letters(name)[-1] for name, found in families.items() if len(found) > 1}
    single = {
        name: family
        for name, (family, *_) in families.items()
        if list_letters(name)[-1] not in several
    }
    spelled = {
        "_".join(w for w in words.split() if w != "k"): find_family(SPELLINGS[words])
        for words in SPELLINGS
    }
    wrong, without, asked = [], [], 0
    for name, family in {**single, **spelled, **NAMES}.items():
        for slip in sorted(list_slips(name, draw)):
            meaning = find_meaning(slip)
            asked += 1
            if not meaning.startswith("?") or find_speakers(slip):  # a name itself, or none is near
                without += [slip] if meaning.startswith("! unknown") and len(name) >= 9 else []
            elif germane.parse(meaning[2:]).name != family:
                letters, meant, suggested = (
                    list_letters(one)[-1] for one in (slip, name, meaning[2:])
                )
                if count_slips(letters, meant) <= count_slips(letters, suggested):
                    wrong.append((slip, name, meaning))
    assert not wrong
    assert asked > 1000
    assert len(without) < 0.1 * asked, without


def test_slips_are_counted() -> None:
    """Against the plain distance, in which every slip is one: the weights only make it less."""
    assert count_slips("ndgc", "ndcg") == 0.5
    assert count_slips("mapp", "map") == count_slips("map", "mapp") == 0.5
    assert count_slips("recal", "recall") == 0.5
    assert count_slips("mr", "mrr") == 0.5
    assert count_slips("gap", "gmap") == 1
    assert count_slips("mdr", "mrr") == 1
    assert count_slips("", "abc") == 3
    assert count_slips("abc", "abc") == 0
    draw = random.Random(3)
    for _ in range(300):
        one, other = ("".join(draw.choices("abc", k=draw.randint(0, 6))) for _ in range(2))
        exact = count_plainly(one, other)
        assert 0.5 * exact <= count_slips(one, other) <= exact
        assert (count_slips(one, other) == 0) == (one == other)


def count_plainly(one: str, other: str) -> int:
    if not one or not other:
        return len(one) + len(other)
    ways = [
        count_plainly(one[1:], other[1:]) + (one[0] != other[0]),
        count_plainly(one[1:], other) + 1,
        count_plainly(one, other[1:]) + 1,
    ]
    if one[:2] == other[1::-1] and len(one) > 1 and len(other) > 1:
        ways.append(count_plainly(one[2:], other[2:]) + 1)
    return min(ways)


def test_a_tool_s_name_that_is_several_measures_is_no_suggestion() -> None:
    tools = list_tool_names()
    assert "mapcut" in tools
    assert "averageprecisionscore" not in tools
    assert respell("map_cut_10") is None
