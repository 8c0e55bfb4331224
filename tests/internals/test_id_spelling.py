"""Spellings of ids: what makes two of them look alike."""

import hypothesis
from hypothesis import given
from hypothesis import strategies as st

from germane.core import id_spelling as spelling


@hypothesis.given(
    st.lists(st.one_of(st.text("aB_-0.1\n '&", max_size=6), st.text(max_size=4)), max_size=6)
)
def test_ids_are_folded_together_as_they_are_one_by_one(ids: list[str]) -> None:
    assert spelling.fold_ids(ids) == [one for each in ids for one in spelling.fold_ids([each])]


def test_what_two_ids_differ_in() -> None:
    assert spelling.describe_difference("e\u0301x", "\u00e9x").endswith(
        "(U+0065 U+0301 and U+00E9)"
    )
    assert spelling.describe_difference("7", 7) == "type, str and int"
    assert spelling.describe_difference("Q007 ", "q007") == "white space and letter case"
    assert spelling.describe_difference("\ufeffq1", "q1") == "a byte-order mark"
    assert list(spelling.find_pairs(["a", "B"], ["b", "c"])) == [("B", "b")]
    assert list(spelling.find_pairs(["a"], ["a"])) == []


@given(st.text(st.characters()), st.text(st.characters()))
def test_any_two_ids_can_be_compared(one: str, other: str) -> None:
    """Halves of surrogate pairs as well, which no encoding has."""
    ways = [one + "\f", f"'{one}'", f"\v{one}\x1c", one.upper(), f"\ufeff{one}"]
    for pair in spelling.find_pairs([one], [other, *ways]):
        assert len(spelling.describe_difference(*pair)) < 200, "never all that it may be"
    assert spelling.fold_ids([one, other]) == [
        *spelling.fold_ids([one]),
        *spelling.fold_ids([other]),
    ]
    spelling.find_affix([one], [other])
