"""README and docs: every snippet runs, every stated value is the value, every link leads somewhere."""

import ast
import contextlib
import importlib.util
import io
import math
import re
import shlex
import statistics
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import germane
from germane import cli

from strategies import ALL, BOX_VERBS, CATALOGUE, WORDS

ROOT = Path(__file__).parents[1]
WRITTEN = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if page.relative_to(ROOT).parts[1] not in ("_build", "reference")  # made by make docs
]
PAGES = [*map(ROOT.joinpath, ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")), *WRITTEN]
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )


# --- Python ----------------------------------------------------------------------------------------


@EACH_PAGE
def test_python_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in one namespace; ``expression  # value`` states what the expression is."""
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {
        "score": germane.score,
        "evaluate": germane.evaluate,
        "log2": math.log2,
    }
    for library in re.findall(
        r"^(?:import|from) (pandas|polars|sklearn)\b", page.read_text("utf-8"), re.MULTILINE
    ):
        pytest.importorskip(library)
    for block in blocks(page, "python"):
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            comment = comment_of(lines[(statement.end_lineno or 1) - 1])
            value = run(statement, names)
            if comment is not None:
                assert matches(value, comment), (
                    f"{ast.unparse(statement)} is {value}, not {comment}"
                )


def run(statement: ast.stmt, names: dict[str, object]) -> str:
    """Run a statement; what it printed, or the value of an expression."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), "doc", "exec"), names)
            return ""
        value = eval(compile(ast.Expression(statement.value), "doc", "eval"), names)
    return out.getvalue().rstrip("\n") if value is None else repr(value)


def comment_of(line: str) -> str | None:
    """A comment that is a value: a number (cut off by … or not), text, a tuple, True, nan."""
    found = re.search(r"  # (.+)$", line)
    if found is None:
        return None
    stated = found[1]
    try:
        ast.literal_eval(stated.removesuffix("…"))
    except (ValueError, SyntaxError):
        return stated if stated == "nan" else None
    return stated


def matches(value: str, stated: str) -> bool:
    if stated.endswith("…"):
        return value.startswith(stated.removesuffix("…"))
    if stated == "nan":
        return value == "nan"
    return value == stated or ast.literal_eval(value) == ast.literal_eval(stated)


def test_values_are_stated_and_checked() -> None:
    """The checker sees values, and sees when they are wrong."""
    stated = [
        comment_of(line)
        for page in PAGES
        for block in blocks(page, "python")
        for line in block.splitlines()
    ]
    assert len([value for value in stated if value is not None]) > 30
    assert matches("0.3694", "0.369…")
    assert not matches("0.5", "0.25")
    assert not matches("0.3594", "0.369…")
    assert comment_of("x  # one number") is None
    rounded = re.compile(r"  # (.*\d….*)$", re.MULTILINE)
    for page in PAGES:
        for block in blocks(page, "python"):
            for found in rounded.finditer(block):
                assert comment_of(found[0]) is not None, f"{page.name}: {found[1]} is not checked"


@EACH_PAGE
def test_python_blocks_are_formatted_as_code(page: Path) -> None:
    for block in blocks(page, "python"):
        assert all(len(line) <= 110 for line in block.splitlines())


# --- The command line ------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands run: the examples, files whose line 17 is wrong, and CSV files."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "docs" / "figures").mkdir(parents=True)
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    lines = [f"q1 Q0 d{i} {i} {20 - i} tag" for i in range(4, 20)]
    (tmp_path / "run.txt").write_text("\n".join([*lines, "q1 Q0 d3 4 0.2"]) + "\n")
    (tmp_path / "liked.csv").write_text("user,item\nann,Alien\nann,Heat\nben,Up\n")
    (tmp_path / "recs.csv").write_text(
        "user,item,score\nann,Alien,.9\nann,Up,.8\nann,Heat,.7\nben,Heat,.6\nben,Up,.5\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def transcript(block: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, answer = part.partition("\n")
        yield command, answer


def answered(command: str) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    kept = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = out
    try:
        cli.main(shlex.split(command)[1:])
    finally:
        sys.stdout, sys.stderr = kept
    out.flush()
    return out.buffer.getvalue().decode()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("folder")
@EACH_PAGE
def test_console_blocks(page: Path) -> None:
    for block in blocks(page, "console"):
        for command, answer in transcript(block):
            assert command.startswith("germane "), command
            now = answered(command)
            shown = [line.rstrip() for line in now.rstrip().splitlines()]
            assert [line.rstrip() for line in answer.rstrip().splitlines()] == shown, (
                f"{page.name}: $ {command} prints\n{now}"
            )


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@EACH_PAGE
def test_figures_are_made_by_the_command_below_them(page: Path) -> None:
    """Of a figure on the README the command may write elsewhere; some figures have a generator."""
    text = page.read_text("utf-8")
    for figure in re.findall(r"!\[[^]]*\]\(((?:docs/)?figures/[^)]+)\)", text):
        name = Path(figure).name
        if name in GENERATED:
            continue
        below = text[text.index(f"]({figure})") :]
        command = re.search(r"^```(?:console|sh)\n(?:\$ )?(germane .*)$", below, re.MULTILINE)
        assert command is not None, figure
        place = re.search(rf"(?:-o|--animate) ((?:docs/figures/)?{re.escape(name)})$", command[1])
        assert place is not None, f"{page.name}: {command[1]}"
        answered(command[1])
        assert words_of(Path(place[1])) == words_of(ROOT / "docs/figures" / name), (
            f"{figure} is out of date"
        )


GENERATED = {"notation.svg", "norms.svg", "report.png"}  # by docs/generate_figures.py


def words_of(figure: Path) -> list[str]:
    """The titles, labels and numbers of a drawing, which no version of Matplotlib changes."""
    words = re.findall(r"<text[^>]*>([^<]+)</text>", figure.read_text("utf-8"))
    assert len(words) > 10
    return words


@pytest.mark.parametrize(
    "page",
    [
        ROOT / f"docs/{name}.md"
        for name in (
            "ap",
            "which-ap",
            "ap-area",
            "ap-reacts",
            "history",
            "which-map",
            "which-map-tools",
            "detection",
            "detection-errors",
        )
    ],
    ids=lambda page: page.name,
)
def test_numbers_in_prose_are_computed_on_the_page(page: Path) -> None:
    """Each decimal and fraction in the text is one that a snippet states or a command prints."""
    text = page.read_text("utf-8")
    computed = {
        float(number) for number in re.findall(r"\d+\.\d+", "".join(re.findall(FENCED, text)))
    }
    prose = re.sub(FENCED, "", text)
    for number in re.findall(r"(?<![\w.@])\d+\.\d+(?!\w|\.\w)", prose):
        digits = len(number.partition(".")[2])
        near = any(abs(value - float(number)) <= 0.51 * 10.0**-digits for value in computed)
        assert near or number in NOT_COMPUTED, f"{page.name} says {number}"
    fractions = re.compile(r"(?<![\w.])(\d+) ?/ ?(\d+)(?!\w)")
    for fraction in fractions.findall(prose):
        assert fraction in fractions.findall("".join(re.findall(FENCED, text))), (
            f"{page.name} says {'/'.join(fraction)}"
        )


FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
NOT_COMPUTED = {
    "8.3": "a version",
    "0.634": "published, and wrong",
    "0.6": "published, and wrong",
    "0.1": "a recall level",
    "0.01": "a recall level",
    "0.5": "a recall level",
    "0.35": "a recall level",
}


def test_there_are_transcripts() -> None:
    assert sum(len(blocks(page, "console")) for page in PAGES) >= 2


@cache
def find_options() -> set[str]:
    """Every option that a command's help names."""
    told = io.StringIO()
    for command in [*cli.COMMANDS, *(f"boxes {verb}" for verb in BOX_VERBS)]:
        with contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
            cli.main([*command.split(), "--help-all"])
        with contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
            cli.main([*command.split(), "--help"])  # trec_eval's is its own
    return {"--help", "--version", *re.findall(r"--[a-z-]+", told.getvalue())}


@EACH_PAGE
def test_options_exist(page: Path) -> None:
    known = find_options()
    for block in [
        *blocks(page, "sh"),
        *blocks(page, "console"),
        *re.findall(r"`([^`\n]+)`", page.read_text()),
    ]:
        if "germane" in block:
            assert set(re.findall(r"(?<!\S)--[a-z][a-z-]+", block)) <= known


@EACH_PAGE
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)`", page.read_text("utf-8"))) <= targets
    for block in blocks(page, "sh"):
        assert set(re.findall(r"^make ([a-z]+)", block, re.MULTILINE)) <= targets


# --- What the pages claim --------------------------------------------------------------------------


def test_the_trap() -> None:
    """The table on the first screen: two lists, four definitions, and four different means."""
    text = (ROOT / "README.md").read_text("utf-8")
    header, *rows = re.findall(r"^\|(.*)\|$", text[: text.index("![")], re.MULTILINE)
    names = re.findall(r"`([^`]+)`", header)
    assert len(names) == 4
    list_drawn = re.search(r"([●○] ){9}[●○]", text)
    assert list_drawn is not None
    grades = [int(mark == "●") for mark in list_drawn[0].split()]
    relevant = list(map(int, re.findall(r"R = (\d+)", "".join(rows))))
    values = [[germane.score(grades, name, relevant=r) for name in names] for r in relevant]
    means = [statistics.mean(column) for column in zip(*values, strict=True)]
    stated = [[cell.strip() for cell in row.split("|")[1:]] for row in rows[1:]]
    assert stated == [[f"{value:.3f}" for value in row] for row in (*values, means)]
    assert len(set(stated[-1])) == 4
    assert means == pytest.approx([(1 / 20 + 1 / 4) / 1.2, (1 / 10 + 1 / 4) / 1.2, 1 / 1.2, 1 / 6])
    sentence = "MAP@10 of this system is {}, {}, {} or {}:".format(*stated[-1])
    assert sentence in " ".join(text.split())
    assert text[: text.index("| mean |")].count("\n") < 44, "it is on the first screen"


def test_readme_is_short() -> None:
    assert (ROOT / "README.md").read_text("utf-8").count("\n") <= 150


def test_pictures_are_small() -> None:
    for picture in (ROOT / "docs/figures").iterdir():
        assert picture.stat().st_size < (120_000 if picture.suffix == ".png" else 300_000), picture


@pytest.mark.slow
def test_figures_can_be_read_on_a_phone() -> None:
    """The smallest letters of a figure, or of its variant for phones, in a column of 358 pixels."""
    generator = loaded("generate_figures")
    for figure in (ROOT / "docs/figures").glob("*.svg"):
        variants = generator.draw_variants(figure.name)
        text = variants.get(generator.PHONE) or figure.read_text("utf-8")
        width = float(re.search(r'viewBox="0 0 ([\d.]+) ', text)[1])  # type: ignore[index]
        sizes = re.findall(r'font-size="([\d.]+)"|font: ([\d.]+)px|font-size: ([\d.]+)px', text)
        smallest = min(float("".join(found)) for found in sizes)
        assert smallest * 358 / width > 7.5, figure.name
        assert "prefers-color-scheme: dark" in text, figure.name


def test_figures_have_a_name_for_those_who_do_not_see_them() -> None:
    for figure in (ROOT / "docs/figures").glob("*.svg"):
        head = figure.read_text("utf-8").partition("<style")[0]
        assert re.search(r"<svg [^>]*role=\"img\"[^>]*>\s*<title>[^<]+</title>", head), figure.name


def test_animations_have_variants_that_stand_still() -> None:
    generator = loaded("generate_figures")
    narrow_still, narrow, still = generator.draw_variants("ap.svg").values()
    for text, moves in ((narrow_still, False), (narrow, True), (still, False)):
        assert ("no-preference" in text) is moves
    for text in (narrow_still, narrow):
        root = ET.fromstring(text)
        assert root.get("viewBox") == root.get("data-narrow")
        assert root.get("class") == "germane small"


@pytest.mark.parametrize("name", ["notation", "norms"])
def test_drawing_is_generated(name: str) -> None:
    written = (ROOT / f"docs/figures/{name}.svg").read_text("utf-8")
    drawn = getattr(loaded("generate_figures"), f"draw_{name}")()
    assert written == drawn, "out of date: run python docs/generate_figures.py"


def test_every_page_is_on_the_start_page() -> None:
    start = ROOT / "docs/README.md"  # also the table of contents of the site
    named = {
        (start.parent / target.partition("#")[0]).resolve()
        for target in re.findall(r"\]\(([^)\s]+)\)", start.read_text("utf-8"))
    }
    assert named >= {page for page in (ROOT / "docs").glob("*.md") if page != start}


def test_every_picture_is_on_a_page() -> None:
    """And every command that draws has a picture."""
    shown = "".join(page.read_text("utf-8") for page in PAGES)
    for command in ("explain", "curve", "compare", "simulate", "boxes explain"):
        assert re.search(rf"figures/\w+\.svg\)\n\n```\w+\n(\$ )?germane {command} ", shown), command
    for figure in (ROOT / "docs/figures").iterdir():
        assert f"figures/{figure.name})" in shown, figure


def test_the_glossary_is_sorted() -> None:
    terms = re.findall(
        r"^- \*\*(.+?)\*\*", (ROOT / "docs/glossary.md").read_text("utf-8"), re.MULTILINE
    )
    assert terms == sorted(terms, key=lambda term: re.split("[@,]", term)[0].casefold())


def test_every_choice_is_listed() -> None:
    text = " ".join((ROOT / "docs/conventions.md").read_text("utf-8").split())
    for stage, words in WORDS.items():
        assert re.search(rf"{stage}: {' · '.join(words)}", text), stage


@pytest.mark.parametrize(
    ("page", "generator"),
    [
        ("measures", "generate"),
        ("dialects", "generate_dialects"),
        ("findings", "generate_findings"),
        ("options", "generate_options"),
        ("names", "generate_names"),
    ],
)
def test_page_is_generated(page: str, generator: str) -> None:
    written = (ROOT / f"docs/{page}.md").read_text("utf-8")
    assert written == loaded(generator).page(), f"out of date: run python docs/{generator}.py"


def test_tables_of_conventions_are_generated() -> None:
    written = (ROOT / "docs/conventions.md").read_text("utf-8")
    assert written == loaded("generate").conventions(written), "run python docs/generate.py"


def test_every_dialect_has_a_page() -> None:
    pages = {path.stem: path.read_text("utf-8") for path in (ROOT / "docs/dialects").glob("*.md")}
    page_of = loaded("generate_dialects").page_of
    assert pages == {one.name: page_of(one) for one in germane.dialects().values()}


def loaded(generator: str) -> ModuleType:
    """A module of docs/, which is no package."""
    path = ROOT / f"docs/{generator}.py"
    spec = importlib.util.spec_from_file_location(generator, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(path.parent)  # one imports another
        spec.loader.exec_module(module)
    return module


def test_every_measure_has_a_section() -> None:
    written = (ROOT / "docs/measures.md").read_text("utf-8")
    for row in (*ALL, *CATALOGUE):
        assert f"\n## {row.name}\n" in written
        assert row.example in written


def test_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    releases = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert releases[0].startswith(f"[{germane.__version__}] - ")
    assert f"\nversion: {germane.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    for release in releases:
        assert "### Numbers that changed" in release


# --- Links and words -------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@EACH_PAGE
def test_links(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path) if path else page
        assert there.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(there), f"{page.name} links to {target}"


@EACH_PAGE
def test_paths_in_text_exist(page: Path) -> None:
    if page.parent.name == "dialects":
        return  # its paths are those of other tools
    for path in re.findall(
        r"`((?:src|docs|tests|examples|bench)/[\w./]+)`", page.read_text("utf-8")
    ):
        assert (ROOT / path).exists(), f"{page.name} names {path}"


BRITISH = re.compile(
    r"\b(colour|behaviour|favour|licence|normalis\w+|recognis\w+|organis\w+|summaris\w+|centre|whilst)\b",
    re.IGNORECASE,
)
PRAISE = re.compile(
    r"\b(blazing\w*|powerful|seamless\w*|effortless\w*|simply|easily|state-of-the-art|robust)\b",
    re.IGNORECASE,
)


@EACH_PAGE
def test_plain_american_english(page: Path) -> None:
    text = page.read_text("utf-8")
    assert not BRITISH.findall(text)
    assert not PRAISE.findall(text)


def test_replaced_words_stay_away() -> None:
    """The table in contributing.md says what to write instead; no page writes the right column."""
    written = (ROOT / "docs/contributing.md").read_text("utf-8")
    table = written[written.index("| instead of |") :]
    replaced = [row[1] for row in re.findall(r"^\| (.+?) \| (.+?) \|$", table, re.MULTILINE)]
    assert "seam" in replaced
    for page in PAGES:
        if page.name in {"contributing.md", "measures.md", "findings.md"}:
            continue  # the table itself, and pages that are generated
        prose = re.sub(FENCED, "", page.read_text("utf-8"))
        for words in replaced:
            assert not re.search(rf"\b{words}s?\b", prose, re.IGNORECASE), f"{page.name}: {words}"


def test_a_report_of_a_number_asks_for_reconcile() -> None:
    yaml = pytest.importorskip("yaml")
    forms = ROOT / ".github/ISSUE_TEMPLATE"
    body = yaml.safe_load((forms / "number.yml").read_text("utf-8"))["body"]
    (asked,) = [field for field in body if field["id"] == "reconcile"]
    assert asked["validations"]["required"]
    for command in re.findall(r"`germane (\w+)", "".join(map(str, body))):
        assert command in cli.COMMANDS


# --- Names of other tools --------------------------------------------------------------------------

TOOLS = re.compile(r"^\| `([\w-]+)` \| germane \|\n\|---\|---\|\n((?:\|.*\|\n)+)", re.MULTILINE)
ROWS = [
    (tool, *row)
    for tool, rows in TOOLS.findall((ROOT / "docs/coming-from.md").read_text("utf-8"))
    for row in re.findall(r"^\| `(.+)` \| `(.+)` \|$", rows, re.MULTILINE)
]


@pytest.mark.parametrize(("tool", "theirs", "ours"), ROWS)
def test_a_name_of_another_tool_is_ours(tool: str, theirs: str, ours: str) -> None:
    """Both columns of docs/coming-from.md are one measure, with one value under the tool's conventions."""
    more = {f"missed{n}": 1 for n in range(12)}  # R is above every cutoff, so that norms differ
    qrels = {"q1": {"a": 1, "b": 2, "c": 1, "n": 0, **more}, "q2": {"d": 1, "e": 0}}
    run = {"q1": {"a": 5.0, "n": 4.0, "b": 3.0}, "q2": {"e": 5.0, "d": 4.0}}
    if tool == "torchmetrics":
        qrels["q1"]["b"] = 1
    (measure,) = (asked := germane.evaluate(qrels, run, [theirs], dialect=tool)).measures
    (own,) = (same := germane.evaluate(qrels, run, [f"germane:{ours}"], dialect=tool)).measures
    assert measure.name == own.name
    tolerance = 1e-5 if "exp-log2" in theirs else 1e-12  # that provider rounds
    assert asked[measure].mean == pytest.approx(same[own].mean, abs=tolerance)


def test_names_of_five_tools_are_compared() -> None:
    assert {tool for tool, *_ in ROWS} == {
        "trec_eval-10", "ranx", "ir_measures", "torchmetrics", "scikit-learn"
    }  # fmt: skip
    assert len(ROWS) > 45


def test_names_of_pycocotools_are_ours() -> None:
    text = (ROOT / "docs/coming-from.md").read_text("utf-8")
    rows = text[text.index("| pycocotools | germane's boxes |") :].split("\n\n")[0]
    truth, found = (str(ROOT / f"examples/boxes/{name}.json") for name in ("truth", "detections"))
    for theirs, ours in re.findall(r"^\| `(.+)` \| `(.+)` \|$", rows, re.MULTILINE):
        asked = germane.boxes.evaluate(truth, found, theirs, dialect="pycocotools")
        assert asked.measures == germane.boxes.evaluate(truth, found, ours).measures
