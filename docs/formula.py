"""Reads a definition, which is a line of text, as a formula, and writes it as LaTeX.

definition   sum[, ÷ sum]{, clause}                Σ P@i·rel(i), i ≤ 10, ÷ min(R,10)
sum          product{ + product}
product      factor{·factor}, and ÷ and /; 2T is 2·T
factor       a number, a name, words, a call, P@i, a power, a sum in parentheses, or a sign
             before a product with its ranges: Σ g(i)·p^(i-1), i ≤ N; max P@i, i ≤ N, R@i ≥ 0.1
clause       name = sum; name: words; or a remark, to the end or to a semicolon
"""

import re
from typing import NamedTuple, TypeAlias

Parts: TypeAlias = "tuple[Node | str, ...]"

NAME = r"[A-Za-zα-ωβε](?:\w*(?:\([a-z]\))?)"
WORDS = r"[A-Za-z]{2,}'?(?: (?:[A-Za-z]+'?|\d+))*"
BELOW = r"_\{([^}]*)\}"
MEAN = (
    r"(?:the )?mean over (lists|users|pairs of users|pairs of items|(?:seen )?(?:items|recommendations))"
    r"((?: in the first \d+)?) of"
)
COMPARED = r",(?! ÷)[^,;=:]*?[≤≥<>]"
LEVELS = r", ([a-z]) = ([^,]+), ([^,]+), …, ([^,;)]+)"
ENDED = rf"(?=;|$|, ÷|, (?:{NAME}|P@0|[A-Z] and [A-Z])(?: =|:) )"


class Node(NamedTuple):
    """A part of a formula: its kind, and what it is made of."""

    kind: str
    parts: Parts


class Reader:
    """Reads a text from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def take(self, pattern: str) -> re.Match[str] | None:
        """Take what comes next, if it is of the pattern."""
        found = re.compile(r"\s*(?:" + pattern + ")").match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found

    def comes(self, pattern: str) -> bool:
        return re.compile(pattern).match(self.text, self.at) is not None

    def expect(self, pattern: str) -> re.Match[str]:
        found = self.take(pattern)
        if found is None:
            raise ValueError(f"{self.text!r} is no formula from {self.text[self.at :]!r} on")
        return found


def parse(definition: str) -> Node:
    """Read a definition: its sum, the divisor or nothing, and the clauses."""
    reader = Reader(definition)
    whole = _read_within(reader)
    clauses = []
    while reader.take("[,;]"):
        if reader.take("÷"):
            whole = Node("quotient", (whole, _read_sum(reader)))
        elif found := reader.take(rf"({NAME}|P@0) = "):
            clauses.append(Node("let", (found[1], _read_sum(reader))))
        elif found := reader.take(rf"({NAME}|[A-Z] and [A-Z]): (.*?){ENDED}"):
            clauses.append(Node("says", (found[1], found[2])))
        else:
            clauses.append(Node("remark", (reader.expect(r"([^;]+)")[1],)))
    reader.expect("$")
    return Node("definition", (whole, *clauses))


def _read_within(reader: Reader) -> Node:
    """Read a sum, and the ranks of its words."""
    whole = _read_sum(reader)
    ranges = _read_ranges(reader)
    return Node("within", (whole, *ranges)) if ranges else whole


def _read_ranges(reader: Reader) -> list[Node]:
    ranges = []
    while True:
        if found := reader.take(LEVELS):
            ends = [parse(end) for end in found.groups()[1:]]
            ranges.append(Node("levels", (found[1], *ends)))
        elif reader.comes(COMPARED):
            reader.take(",")
            ranges.append(_read_comparison(reader))
        else:
            return ranges


def _read_comparison(reader: Reader) -> Node:
    """Read a sum, or several that are compared: 1 ≤ i ≤ N."""
    parts: list[Node | str] = [_read_sum(reader)]
    while found := reader.take("[≤≥<>]"):
        parts += [found[0].strip(), _read_sum(reader)]
    return Node("compare", tuple(parts)) if len(parts) > 1 else _only(parts[0])


def _only(part: Node | str) -> Node:
    assert isinstance(part, Node)
    return part


def _read_sum(reader: Reader) -> Node:
    left = _read_product(reader)
    while found := reader.take("[-+−]"):
        left = Node(found[0].strip().replace("−", "-"), (left, _read_product(reader)))
    return left


def _read_product(reader: Reader) -> Node:
    left = _read_factor(reader)
    while found := reader.take("[·÷/]|(?<=[0-9])(?=[A-Za-zε])"):
        left = Node(found[0].strip() or "·", (left, _read_factor(reader)))
    return left


def _read_factor(reader: Reader) -> Node:
    if reader.take("[-−]"):
        return Node("negative", (_read_product(reader),))
    if found := reader.take(rf"(Σ|Π|max(?= ))(?:{BELOW})?"):
        body = _read_product(reader)
        over = _read_ranges(reader) if found[2] is None else [_read_below(found[2])]
        return Node(found[1], (body, *over))
    if found := reader.take(MEAN):
        return Node("mean", (_read_product(reader), found[1] + found[2]))
    base = _read_base(reader)
    if reader.take("²"):
        return Node("^", (base, Node("number", ("2",))))
    return Node("^", (base, _read_base(reader))) if reader.take(r"\^") else base


def _read_below(text: str) -> Node:
    """Read what is written below a sign: j<i, or words such as 'subtopics of i'."""
    return _read_comparison(Reader(text)) if "<" in text or "≤" in text else Node("words", (text,))


def _read_base(reader: Reader) -> Node:
    if found := reader.take(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"):
        return Node("number", (found[0].strip(),))
    if found := reader.take("(P|R|nDCG)@"):
        return Node("at", (found[1], _read_base(reader)))
    if reader.take("√"):
        return Node("root", (_read_base(reader),))
    for opens, closes, kind in (
        (r"\(", r"\)", "group"),
        ("⌈", "⌉", "up"),
        ("⌊", "⌋", "down"),
        (r"\|", r"\|", "size"),
    ):
        if reader.take(opens):
            inside = _read_comparison(reader)
            reader.expect(closes)
            return Node(kind, (inside,))
    if found := reader.take(r"([A-Za-zα-ω][\w.]*)\("):
        arguments = [_read_sum(reader)]
        while reader.take(","):
            arguments.append(_read_sum(reader))
        reader.expect(r"\)")
        return Node("call", (found[1], *arguments))
    if found := reader.take("([A-Z])∩([A-Z])"):
        return Node("both", (found[1], found[2]))
    return Node("words", (reader.expect(rf"{WORDS}|[A-Za-zα-ω]")[0].strip(),))


# --- LaTeX ----------------------------------------------------------------------------------------

SIGNS = {
    "Σ": r"\sum", "Π": r"\prod", "max": r"\max", "·": r"\cdot ", "/": "/", "≤": r"\le ", "≥": r"\ge ",
    "<": r"\lt ", ">": r"\gt ", "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "ε": r"\varepsilon ",
}  # fmt: skip
AROUND = {
    "group": r"\left({}\right)", "up": r"\lceil {}\rceil ", "down": r"\lfloor {}\rfloor ",
    "size": r"\vert {}\vert ", "root": r"\sqrt{{{}}}", "negative": "-{}",
}  # fmt: skip


def write_latex(definition: str) -> str:
    """Write a definition as a formula of LaTeX; words are text in it.

    Sentences that explain its names are left to the text beside it.
    """
    whole, *clauses = parse(definition).parts
    formulas = [clause for clause in clauses if isinstance(clause, Node) and clause.kind == "let"]
    return r",\quad ".join(_write(part).strip() for part in (whole, *formulas))


def _write(node: Node | str) -> str:
    if isinstance(node, str):
        return SIGNS.get(node, node)
    kind, parts = node
    written = [_write(part) for part in parts]
    match kind:
        case "definition":
            return r",\ ".join(written)
        case "quotient" | "÷":
            above, below = (_strip(part) for part in parts)
            return rf"\frac{{{above}}}{{{below}}}"
        case "+" | "-":
            return f" {kind} ".join(written)
        case "·" | "/":
            return SIGNS[kind].join(written)
        case "^":
            return f"{written[0]}^{{{_strip(parts[1])}}}"
        case "Σ" | "Π" | "max":
            below = r",\ ".join(written[1:])
            return f"{SIGNS[kind]}_{{{below}}} {written[0]}"
        case "mean":
            return rf"\text{{mean over {parts[1]} of }}{written[0]}"
        case "within":
            return r",\ ".join(written)
        case "compare":
            return "".join(written)
        case "levels":
            return rf"{written[0]} = {written[1]}, {written[2]}, \dots, {written[3]}"
        case "call":
            name = _write_name(str(parts[0]))
            return rf"{name}({', '.join(written[1:])})"
        case "at":
            return f"{_write_name(written[0])}@{written[1]}"
        case "both":
            return r"\cap ".join(written)
        case "let":
            return f"{_write_name(written[0])} = {written[1]}"
        case "says":
            return rf"{_write_name(written[0])}\text{{: {written[1]}}}"
        case "remark":
            return rf"\text{{{written[0]}}}"
        case "words":
            return _write_name(written[0])
    return AROUND[kind].format(*written) if kind in AROUND else "".join(written)


def _strip(part: Node | str) -> str:
    """Write a part without parentheses around it."""
    assert isinstance(part, Node)
    return _write(part.parts[0] if part.kind == "group" else part)


def _write_name(name: str) -> str:
    if found := re.fullmatch(r"log([\d.]*)", name):
        return rf"\log_{{{found[1]}}}" if found[1] else r"\log "
    if name in ("ln", "min", "max"):
        return f"\\{name} "
    letter, _, index = name.partition("(")
    shown = letter if len(letter) == 1 or letter.startswith("\\") else rf"\text{{{letter}}}"
    return shown + ("(" + index if index else "")
