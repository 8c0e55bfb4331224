"""Writes a definition as LaTeX: its line of text is the source, so that the formula cannot say something else."""

import re

SIGNS = {
    "Σ": r"\sum ", "Π": r"\prod ", "·": r"\cdot ", "÷": r"\div ", "≤": r"\le ", "≥": r"\ge ", "∩": r"\cap ",
    "√": r"\surd ", "β": r"\beta ", "ε": r"\varepsilon ", "²": "^2", "−": "-", "…": r"\dots ", "½": r"\tfrac12 ",
    "<": r"\lt ", "{": "{", "}": "}", "|": r"\vert ",
}  # fmt: skip
FUNCTIONS = {
    "log2": r"\log_2 ", "log": r"\log ", "ln": r"\ln ", "min": r"\min ", "max": r"\max ",
}  # fmt: skip
RANGE = re.compile(r"(Σ) ((?:(?![,;Σ=]).)*), (i ≤ [\w.]+|d ≤ max\(N,R\))(?=[,;)]|$)")
"""A sum, its term, and the ranks that it is over."""
TOKEN = re.compile(
    r"(?P<below>_(?:\{[^}]*\}|subtopics of i|[a-z]+))|(?P<power>\^(?:\([^()]*\)|[a-z]{2,}))"
    r"|(?P<function>\b(?:log2|log|ln|min|max)(?=\(| [\dA-Z]|·))"
    r"|(?P<words>(?:[A-Za-z]{2,}|(?<=[a-z] )a(?= [a-z]))(?:[ '’-]+(?:[A-Za-z]{2,}|[as](?= )))*)|(?P<sign>.)",
    re.DOTALL,
)


def write_latex(definition: str) -> str:
    """Write a definition as a formula of LaTeX; what is no formula, as text in it."""
    return _write(RANGE.sub(r"\1_{\3} \2", definition)).strip()


def _write(text: str) -> str:
    return "".join(_write_token(found) for found in TOKEN.finditer(text))


def _write_token(found: re.Match[str]) -> str:
    token = found.group()
    match found.lastgroup:
        case "below":
            return f"_{{{_write(token[1:].strip('{}'))}}}"
        case "power":
            return f"^{{{_write(token[1:].removeprefix('(').removesuffix(')'))}}}"
        case "function":
            return FUNCTIONS[token]
        case "words":
            return rf"\text{{{_pad(found, token)}}}"
    return r"\ " if token == " " and _is_after_comma(found) else SIGNS.get(token, token)


def _is_after_comma(found: re.Match[str]) -> bool:
    return found.string[max(found.start() - 1, 0)] in ",;:"


def _pad(found: re.Match[str], words: str) -> str:
    """Keep the spaces at the ends of some words, which mathematics would drop."""
    before, after = found.string[: found.start()], found.string[found.end() :]
    return " " * before.endswith(" ") + words + " " * after.startswith(" ")
