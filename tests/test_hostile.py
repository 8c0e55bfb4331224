"""Ids are hostile text: whatever an id holds, it comes out of every format as text and nothing else.

A table of formats and ids. Each format has a checker that knows nothing of germane: an HTML, XML,
CSV or JSON parser, or the rules of LaTeX, Markdown and a terminal.
"""

import ast
import contextlib
import csv
import io
import json
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import germane
from germane import cli

HOSTILE = {
    "a script": "<script>alert(1)</script>",
    "the end of a script": "]]></script><script>alert(2)</script>",
    "an attribute": "\"onload=alert(3)'onload=alert(3)",
    "a comment": "<!--<script>-->",
    "an entity": "&lt;b&gt;&#60;",
    "a formula": "=cmd|'/C-calc'!A0",
    "a wide formula": "\uff1d1+cmd",
    "a wide sign": "\uff0b1",
    "a small at": "\ufe6bSUM(1)",
    "a plus": "+1+cmd",
    "a minus before other digits": "-\u0661",
    "a minus": "-1+cmd",
    "an at": "@SUM(1)",
    "a tab first": "\t=1+1",
    "a return first": "\r=1+1",
    "a color": "\x1b[31mred\x1b[0m",
    "a title": "\x1b]0;taken\x07",
    "a C1 command": "\x9b31m",
    "right to left": "\u202eevil\u2066\u2069",
    "a NUL": "a\0b",
    "a file": r"\input{/etc/passwd}",
    "TeX": r"$^_%&#{}~\write18{ls}",
    "mathematics": "$x$ $$y$$",
    "an address": "http://evil.example/x HTTPS://e.example www.evil.example mailto:a@b ftp://x",
    "an argument": "[10cm]x",
    "a blank and an argument": " [10cm]",
    "a starred command": "*b*",
    "cells": "a|b`c`|**d**[e](javascript:f)![g](//h)",
    "lines": "a\nb\r\n# c\u2028d\x0be\x85f",
    "an annotation": "::error::taken%0A",
    "long": "x" * 5000,
    "half a pair": "a\udcffb\ud800",
    "a template": "{{7*7}}{0.__class__}%(x)s%s",
}


def judged(named: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Qrels and two runs, with the id as a query and as an item."""
    qrels = {named: {named: 1, "b": 0, "c": 1}, "q2": {"a": 1, named: 2}, "q3": {"a": 1}}
    run = {q: {"b": 3.0, named: 2.0, "c": 1.0} for q in qrels}
    other = {q: {named: 3.0, "b": 2.0, "a": 1.0} for q in qrels}
    return qrels, run, other


# ------------------------------------------------------------------------------------------ checkers


def one_line(text: str) -> None:
    """A terminal shows it and does nothing else: no command, no change of direction."""
    for character in text.replace("\n", ""):
        assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp"), repr(
            character
        )


class Parts(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data[:50]}")


def check_html(text: str) -> None:
    """The elements are those of the same page with a tame id; nothing runs or is loaded."""
    one_line(text)
    parts = Parts(text)
    assert parts.tags.count("script") == 0
    for tag, name, value in parts.attributes:
        assert name in ("class", "style"), (tag, name, value)
        assert not re.search(r"url\(|expression|import|[<>]", value)


def check_page(text: str) -> None:
    """The page has its own two scripts, no handler, and nothing that is loaded from elsewhere."""
    parts = Parts(text)
    assert parts.tags.count("script") == text.count("<script") == text.count("</script>")
    assert not {"iframe", "object", "embed", "link", "base", "img", "form"} & set(parts.tags)
    for tag, name, value in parts.attributes:
        assert not name.startswith("on"), (tag, name)
        if name in ("src", "href", "action", "data", "xlink:href", "srcset"):
            assert value.startswith(("#", "data:image/")), (tag, name, value)
    check_stylesheets(re.findall(r"<style[^>]*>(.*?)</style>", text, re.DOTALL))


def check_stylesheets(sheets: list[str]) -> None:
    for sheet in sheets:
        assert not re.search(r"url\(|@import|expression\(|https?:|//", sheet), sheet[:200]


def check_svg(text: str) -> None:
    """Well-formed XML of shapes and text: nothing is loaded, and no id is an element or a handler."""
    for node in ElementTree.fromstring(text).iter():
        name = str(node.tag).rpartition("}")[2]
        assert name not in ("foreignObject", "image", "iframe", "a"), name
        if name == "script":
            assert "alert" not in (node.text or "")
        for attribute, value in node.attrib.items():
            assert not attribute.startswith("on"), attribute
            if attribute.rpartition("}")[2] == "href":
                assert value.startswith("#"), value
    one_line(re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL).replace("\t", ""))


def check_rows(text: str, separator: str) -> None:
    """Every row has as many cells."""
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    assert len({len(row) for row in rows}) == 1


def check_spreadsheet(text: str, separator: str) -> None:
    """Every row has as many cells, and no cell begins a formula; a sign begins a number alone."""
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    assert len({len(row) for row in rows}) == 1
    for cell in (cell for row in rows for cell in row):
        one_line(cell)
        if unicodedata.normalize("NFKC", cell[:1]) in ("=", "+", "-", "@", "\t", "\r"):
            assert cell.isascii()
            float(cell)


def check_latex(text: str) -> None:
    """No special character stands without its backslash but &, which parts cells, one a column."""
    body = text.split("\\midrule\n")[1].split("\\bottomrule")[0]
    columns = re.search(r"begin\{tabular\}\{([lr]+)\}", text)
    assert columns
    for line in body.splitlines():
        if line.startswith("\\midrule"):
            continue
        assert line.endswith(r" \\"), line
        assert line.lstrip()[:1] not in ("[", "*"), "the argument of what stands before it"
        known = r"\\(?:[&%$#_{}]|textbackslash\{\}|textasciitilde\{\}|textasciicircum\{\}"
        known += (
            r"|text(?:less|greater|bar|asciigrave)\{\}|ldots\{\}|textbf\{|text(?:superscript)\{"
        )
        known += r"|ensuremath\{\\[a-zA-Z]+\})"
        rest = re.sub(known, "", line.removesuffix(r"\\").removeprefix("{}").replace("-{}-", "--"))
        assert rest.count("&") == len(columns[1]) - 1, line
        assert not re.search(r"[\\%$#_{~^]", rest), rest
    one_line(text)


def check_markdown(text: str) -> None:
    """Every row has the cells of the heading, and no markup is without its backslash."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines}
    assert len(cells) == 1, lines
    for line in [lines[0], *lines[2:]]:
        plain = re.sub(r"\\[!-/:-@\[-`{-~]", "", line.replace("**", "").replace("<sup>", ""))
        assert not re.search(r"[<>`\[\]*$&]", plain.replace("</sup>", "")), line
        assert not re.search(r"://|www\.|(?:mailto|xmpp):", plain, re.IGNORECASE), line
    one_line(text)


def check_json(text: str) -> Any:
    for character in text.replace("\n", ""):
        assert unicodedata.category(character) not in ("Cc", "Cs"), repr(character)
    return json.loads(text)


CHECKERS: dict[str, Callable[[str], Any]] = {
    "table": one_line,
    "tsv": lambda text: check_rows(text, "\t"),
    "csv": lambda text: check_rows(text, ","),
    "markdown": check_markdown,
    "latex": check_latex,
    "html": check_html,
    "json": check_json,
}


# ------------------------------------------------------------------------------- tables of every verb


def tables(named: str) -> Iterator[Any]:
    """Whatever has a table and contains ids: results, explanations, curves, comparisons, gates."""
    qrels, run, other = judged(named)
    results = germane.evaluate_many(qrels, {named: run, "other": other}, "AP RR")
    yield results.table_per_query()
    yield results.table()
    yield germane.explain(qrels, run, "AP", query=named).table()
    yield germane.compare(qrels, {named: run, "other": other}, "AP", resamples=100).table()
    yield germane.gate(qrels, run, "AP", baseline=other, resamples=100).table()


@pytest.mark.parametrize("style", [style for style in CHECKERS if style != "json"])
@pytest.mark.parametrize("name", HOSTILE)
def test_tables(name: str, style: str) -> None:
    for table in tables(HOSTILE[name]):
        CHECKERS[style](getattr(table, "text" if style == "table" else style)())


@pytest.mark.parametrize("name", HOSTILE)
def test_spreadsheets_get_no_formula(name: str) -> None:
    for table in tables(HOSTILE[name]):
        check_spreadsheet(table.csv(reader="spreadsheet"), ",")
        check_spreadsheet(table.tsv(reader="spreadsheet"), "\t")


@pytest.mark.parametrize("name", HOSTILE)
def test_data_formats_keep_every_cell_exactly(name: str) -> None:
    """As a parser reads it that is not germane's."""
    for table in tables(HOSTILE[name]):
        for text, delimiter in ((table.csv(), ","), (table.tsv(), "\t")):
            rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
            assert [tuple(row) for row in rows] == [table.columns, *table.rows]


# --------------------------------------------------------------------------------- pages and pictures


def report_of(named: str) -> str:
    qrels, run, other = judged(named)
    return germane.report(qrels, {named: run, "other": other}, title=named).html


TAME_TAGS = set(Parts(report_of("tame")).tags)


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_report(name: str) -> None:
    page = report_of(HOSTILE[name])
    check_page(page)
    one_line(page)
    tags = set(Parts(page).tags)
    assert tags - TAME_TAGS == set()


@pytest.mark.parametrize("name", HOSTILE)
def test_notebooks(name: str) -> None:
    qrels, run, other = judged(HOSTILE[name])
    for shown in (
        germane.evaluate(qrels, run, "AP"),
        germane.explain(qrels, run, "AP", query=HOSTILE[name]),
        germane.compare(qrels, {HOSTILE[name]: run, "other": other}, "AP", resamples=100),
    ):
        check_html(shown._repr_html_())


@pytest.mark.parametrize("name", HOSTILE)
def test_animations(name: str, tmp_path: Path) -> None:
    qrels, run, _ = judged(HOSTILE[name])
    explained = germane.explain(qrels, run, "AP", query=HOSTILE[name])
    germane.animate(explained, tmp_path / "a.svg")
    germane.animate(explained, tmp_path / "a.html")
    check_svg((tmp_path / "a.svg").read_text("utf-8"))
    check_page((tmp_path / "a.html").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_plots(name: str, tmp_path: Path) -> None:
    """Matplotlib takes $…$ for mathematics: an id must not get there."""
    qrels, run, _ = judged(HOSTILE[name])
    from germane.plot import PRCurveDisplay

    PRCurveDisplay(germane.pr_curve(qrels, run, query=HOSTILE[name])).save(tmp_path / "a.svg")
    check_svg((tmp_path / "a.svg").read_text("utf-8"))


# ------------------------------------------------------------------------------ terminals and workflows


def said(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        cli.main(arguments)
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize("name", HOSTILE)
def test_errors_and_progress_are_one_line(name: str, tmp_path: Path) -> None:
    named = HOSTILE[name]
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    for more in (
        ["-m", named],
        ["--ties", named],
        ["--query", named],
        [named],
        ["-o", named + "/x"],
    ):
        arguments = [*(str(tmp_path / one) for one in ("qrels", "qrels")), *more]
        out, err = io.StringIO(), io.StringIO()
        quiet = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
        with quiet[0], quiet[1], contextlib.suppress(SystemExit):
            cli.main(["evaluate", *arguments])
        assert out.getvalue() == ""
        assert err.getvalue().count("\n") == 1
        assert len(err.getvalue()) < 1000 or name == "long"
        one_line(err.getvalue())


@pytest.mark.parametrize("name", HOSTILE)
def test_a_workflow_takes_no_command_of_an_id(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line that GitHub would obey is one of germane's own, and its text is one line."""
    named = HOSTILE[name].translate({ord(c): "." for c in "/\0"})[:100]
    queries = [f"q{n}" for n in range(30)]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary")
    Path("qrels").write_text("".join(f"{q} 0 a 1\n" for q in queries))
    with contextlib.suppress(UnicodeEncodeError):
        Path("base").write_text("".join(f"{q} Q0 a 1 1 t\n" for q in queries))
        Path(named).write_text("".join(f"{q} Q0 x 1 2 t\n{q} Q0 a 2 1 t\n" for q in queries))
        out, _ = said("gate", "qrels", f"./{named}", "--baseline", "base", "-m", "RR", "--github")
        commands = [line for line in out.splitlines() if line.lstrip().startswith("::")]
        assert len(commands) == 1
        assert commands[0].startswith("::error title=germane gate::")
        one_line(out)
        check_markdown(Path("summary").read_text("utf-8").partition("\n\n")[2])


# -------------------------------------------------------------------------------------- what is not done

SOURCES = Path(germane.__file__).parent
NEVER = {"eval", "exec", "compile", "__import__"}
NEVER_IMPORTED = {"pickle", "marshal", "shelve", "yaml", "subprocess", "socket", "urllib", "http"}
ALLOWED = {("spark.py", "pickle"), ("asking.py", "subprocess")}
"""What Spark's workers, which Spark itself hands code by pickle, send back to the process that started them. And the
program that the caller of identify names, without a shell."""


def test_nothing_that_is_read_is_run() -> None:
    found = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=called)) if called in NEVER:
                    found.add((path.name, called))
                case ast.Attribute(value=ast.Name(id="os"), attr=called):
                    if re.match("system|popen|exec|spawn", called):
                        found.add((path.name, called))
                case ast.keyword(arg="shell" | "allow_pickle", value=ast.Constant(value=False)):
                    pass
                case ast.keyword(arg="shell" | "allow_pickle"):
                    found.add((path.name, str(node.arg)))
                case ast.Import(names=names):
                    found |= {(path.name, n.name) for n in names if n.name in NEVER_IMPORTED}
                case ast.ImportFrom(module=str(module)):
                    if module.partition(".")[0] in NEVER_IMPORTED:
                        found.add((path.name, module))
    assert found == ALLOWED


def test_an_exception_of_the_rule_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for line in ("import pickle", "eval(x)", "os.system(x)", "run(x, shell=True)"):
        (tmp_path / "one.py").write_text(line)
        monkeypatch.setattr("test_hostile.SOURCES", tmp_path)
        with pytest.raises(AssertionError):
            test_nothing_that_is_read_is_run()


# ----------------------------------------------------------------------- what every verb returns


def boxes(named: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """COCO's JSON whose image and class have this name."""
    truth = {
        "images": [{"id": i, "file_name": named, "width": 50, "height": 50} for i in (1, 2)],
        "categories": [{"id": 1, "name": named}, {"id": 2, "name": "other"}],
        "annotations": [
            {"id": i, "image_id": i, "category_id": i, "bbox": [1, 1, 9, 9], "area": 81, "iscrowd": 0}
            for i in (1, 2)
        ],
    }  # fmt: skip
    found = [
        {"image_id": i, "category_id": i, "bbox": [1, 1, 9, 8 + i], "score": 0.5 + i / 10}
        for i in (1, 2)
    ]
    return truth, found


def make_judged(named: str) -> Iterator[Any]:
    """What the verbs about ranked lists return."""
    qrels, run, other = judged(named)
    runs = {named: run, "other": other}
    results = germane.evaluate_many(qrels, runs, "AP RR")
    yield from (results, results[named], results.by(dict.fromkeys(qrels, named)))
    yield germane.verify(results[named].to_dict(queries=True), qrels, {named: other})
    yield germane.check(qrels, {named: run})
    yield from results[named].findings
    explained = germane.explain(qrels, run, "AP", query=named)
    yield from (explained, germane.pr_curve(qrels, run, query=named))
    compared = germane.compare(results, resamples=100)
    yield from (compared, *compared.pairs, compared.queries("AP", named, "other"))
    yield compared.stability("AP")
    yield germane.gate(qrels, run, "AP", baseline=other, resamples=100)
    yield germane.reconcile(qrels, run, reported="0.123", measure="AP")
    yield germane.spread(qrels, run, "AP")
    with contextlib.suppress(
        germane.errors.InputError
    ):  # a name that cannot be matched with the run's
        yield germane.reconcile_table(qrels, {named: run}, {named: {"AP": "0.5", named: "0.1"}})
    found = germane.audit({named: {"R@5": "0.60", "R@10": "0.40", named: "3"}, "b": {"P@1": "1.5"}})
    yield from (found, *found.contradictions)
    more = {f"{named}{number}": {named: 1, "b": 0} for number in range(8)}
    ranked = {query: {"b": 1.0, named: 0.5} for query in more}
    yield germane.trust_many({named: ranked}, people=more, model=more, measures="AP")
    yield germane.evaluate_judges(run, {named: qrels, "second": qrels}, "AP")
    yield germane.choose_judgments(qrels, runs, "nDCG@10")


def make_boxes(named: str) -> Iterator[Any]:
    """What the verbs about boxes return."""
    truth, found = boxes(named)
    detectors = {named: found, "other": found[:1]}
    results = germane.boxes.evaluate_many(truth, detectors)
    yield from (results, results[named], results[named].by("class"), results[named].by("image"))
    explained = germane.boxes.explain(truth, found, "AP50", label=named, name=named)
    yield from (explained, explained.errors)
    yield germane.boxes.check(truth, found)
    compared = germane.boxes.compare(truth, detectors, resamples=100)
    yield from (compared, *compared.pairs)
    yield germane.boxes.reconcile(truth, found, reported="0.123", name=named)
    with contextlib.suppress(germane.errors.InputError):
        table = {named: {"AP": "0.5", named: "0.1"}}
        yield germane.boxes.reconcile_table(truth, {named: found}, table)


def make_identified(named: str) -> Iterator[Any]:
    """What is said of functions: their names, and the texts of their errors."""

    def function(grades: Any) -> float:
        if not sum(grades):
            raise ValueError(named)
        return 0.7 * sum(grades) / len(grades)

    function.__name__ = function.__qualname__ = named
    yield germane.identify(function, "P", takes="grades")


VERBS = {"judged": make_judged, "boxes": make_boxes, "identified": make_identified}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "long"])
def test_what_every_verb_returns(name: str) -> None:
    """Each name in what a third of the verbs return, in turns."""
    check_returned([*VERBS][[*HOSTILE].index(name) % 3], name)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "long"])
@pytest.mark.parametrize("verb", VERBS)
def test_every_name_in_what_every_verb_returns(verb: str, name: str) -> None:
    check_returned(verb, name)


def check_returned(verb: str, name: str) -> None:
    for found in VERBS[verb](HOSTILE[name]):
        what = type(found).__name__
        for text in (str(found), repr(found)):
            one_line(text.replace("\t", ""))
        if hasattr(found, "_repr_html_"):
            check_html(found._repr_html_())
        if hasattr(found, "markdown"):
            check_paragraphs(found.markdown(), what)


def check_paragraphs(text: str, what: str) -> None:
    """Of text beside tables no markup is without its backslash, either."""
    one_line(text)
    plain = re.sub(r"\\[!-/:-@\[-`{-~]", "", text.replace("**", ""))
    plain = re.sub(r"</?sup>", "", plain)
    for line in plain.splitlines():
        assert not re.search(r"[<>`\[\]*$&]", line), (what, line)
        assert not re.search(r"://|www\.|(?:mailto|xmpp):", line, re.IGNORECASE), (what, line)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HOSTILE)
def test_errors_and_warnings_of_every_verb(name: str) -> None:
    """Their texts reach a terminal as they are."""
    named = HOSTILE[name]
    qrels, run, _ = judged("q")
    truth, found = boxes("a")
    wrong: list[Callable[[], Any]] = [
        lambda: germane.evaluate(qrels, run, named),
        lambda: germane.evaluate({named: {named: "x"}}, run),
        lambda: germane.evaluate({"q": {named: 1}}, {"q": {named: named}}),
        lambda: germane.evaluate(named, run),
        lambda: germane.evaluate(qrels, run, dialect=named),
        lambda: germane.explain(qrels, run, query=named),
        lambda: germane.types.Signature.read(f"{named} = 1 | {named} | {named}"),
        lambda: germane.boxes.evaluate(truth, [{**found[0], "category_id": named}]),
        lambda: germane.boxes.evaluate(truth, named),
        lambda: germane.boxes.explain(truth, found, label=named),
        lambda: germane.assert_computes(lambda grades: raise_error(named), "P", takes="grades"),
        lambda: germane.audit({named: {"AP": named}}),
        lambda: germane.reconcile(qrels, run, reported=named),
        lambda: germane.compare(qrels, {"a": run, "b": run}, baseline=named),
    ]
    for call in wrong:
        with pytest.raises(germane.GermaneError) as caught:
            call()
        one_line(str(caught.value))
        one_line(str(caught.value.args))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        germane.evaluate({named: {"a": 1}, "b": {"a": 1}}, {"b": {"a": 1.0}, named + "x": {"a": 1}})
    assert seen
    for one in seen:
        one_line(str(one.message))


def raise_error(text: str) -> float:
    raise ValueError(text)
