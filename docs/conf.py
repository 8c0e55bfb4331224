"""How Sphinx makes the site: ``make docs``.

The source is the whole repository, so that a link leads to the same page here as it does on GitHub.
No page is written for Sphinx: the table of contents is the lists of docs/README.md.
"""

import base64
import json
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

import germane
from germane.teaching.explorer import write_explorer

sys.path.insert(0, str(Path(__file__).parent))
import generate_figures
import generate_measures
import generate_reference

project = "germane"
author = "the authors of germane"
version = release = germane.__version__
root_doc = "docs/README"
include_patterns = [
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
    "bench/*.md", "conformance/*.md", "docs/**.md", "examples/**.md", "examples/**.ipynb", "fuzz/*.md",
]  # fmt: skip
exclude_patterns = [".*", "*/.*", "*/_build", "*/data", "build", "dist", "src", "tests"]
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!germane\.[A-Z]\w*$).*")]  # other types have no page

myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]

autodoc_member_order = "bysource"
python_display_short_literal_types = True
python_maximum_signature_line_length = 60
python_use_unqualified_type_names = True

html_math_renderer = "mathml"  # which browsers set, without a script from elsewhere
html_theme = "furo"
html_title = f"germane {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).with_name("search.js"))
html_copy_source = False
html_show_copyright = html_show_sphinx = False


# Pages that stand under another in the table of contents, beside those that docs/README.md lists.
UNDER = {
    "docs/reference": tuple(
        f"docs/reference/{name}" for name, _ in generate_reference.list_pages()
    ),
    "docs/measures": (
        "docs/user-models",
        *(f"docs/reference/{name}" for name, _ in generate_measures.list_pages()),
    ),
    "docs/sources": ("docs/arrays", "docs/options"),
    "docs/dialects": ("docs/coming-from", "docs/trec_eval", "docs/pytrec_eval", "docs/dialects/*"),
    "docs/recommender": ("examples/recommender",),
    "docs/rag": ("examples/rag_gate",),
    "docs/images": ("examples/image_search", "examples/digits/**"),
    "docs/detection": (
        "docs/detection-errors",
        "docs/masks",
        "docs/oriented",
        "examples/detection",
        "examples/segmentation",
    ),
    "docs/compare": ("docs/significance", "examples/paper_table"),
    "docs/recipes": ("docs/training", "docs/training-transformers"),
    "docs/which-map": ("docs/which-map-tools",),
    "docs/reconcile": ("docs/reconcile-table",),
    "docs/judges": ("docs/judging", "examples/judges"),
    "docs/scale": ("docs/clusters",),
    "docs/speed": ("bench/*",),
    "docs/reliability": ("fuzz/*",),
    "docs/contributing": ("CONTRIBUTING",),
}

VISIBLE = {"docs/reference"}
PARAMETERS = re.compile(r"<dl>\s*((?:<dd>(?:(?!</dd>).)*</dd>\s*)+)</dl>", re.DOTALL)
MEASURE = re.compile(r"measures\.md#(\w+)")
UNLISTED = "Project"  # the section of the start page whose pages are not in the sidebar
SEARCHED = json.loads(Path(__file__).with_name("search_words.json").read_text("utf-8"))
"""What people type into the site's search, and the page that answers; the index has it, too."""
EXPLORER = """<details><summary>Open the explorer here, with the list of this page</summary>
<iframe class="explorer" title="The explorer" loading="lazy"
src="../explorer.html#l=0.0.1.0.1.0.0.1.0.0&amp;R=4&amp;k=5"></iframe></details>"""
START = Path(__file__).with_name("README.md").read_text("utf-8")


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Add the table of contents to a page: hidden where the page has the links itself."""
    if page == root_doc:
        trees = list_sections(source[0]).items()
        source[0] += "".join(
            write_tree(title, pages, "hidden") for title, pages in trees if title != UNLISTED
        )
    if page in (root_doc, "docs/explorer"):
        title, rest = source[0].split("\n", 1)
        source[0] = f'{title}\n\n<p><a href="../explorer.html">Open the explorer</a></p>\n{rest}'
    source[0] = source[0].replace("<!-- explorer -->", EXPLORER)
    words = [word for word, answer in SEARCHED.items() if answer == page]
    if words:
        title, rest = source[0].split("\n", 1)
        entries = ", ".join(f"! {word}" for word in words)  # main entries are found first
        source[0] = f"{title}\n\n```{{index}} {entries}\n```\n{rest}"
    source[0] = MEASURE.sub(lambda link: link_measure(link[1]), source[0])
    if page == "docs/measures":  # whose sections are pages here
        source[0] = source[0].partition("\n## ")[0] + "\n"
        source[0] = re.sub(r"\(#(\w+)\)", lambda link: f"({link_measure(link[1])})", source[0])
    if page in UNDER:
        shown = () if page in VISIBLE else ("hidden",)
        source[0] += write_tree("", [f"/{pattern}" for pattern in UNDER[page]], "glob", *shown)
    if page in {"README", *list_documents(list_sections(START)[UNLISTED])}:
        source[0] = f"---\norphan: true\n---\n\n{source[0]}"


def link_measure(anchor: str) -> str:
    """Link the page that a section of docs/measures.md is on the site."""
    (name,) = (name for name in generate_measures.NAMES if name.lower() == anchor)
    return f"reference/measures/{name}.md"


def show_notebook(app: Sphinx, page: str, source: list[str]) -> None:
    """Show a notebook with the outputs that are saved in it."""
    if app.env.doc2path(page).suffix == ".ipynb":
        source[0] = "\n\n".join(map(write_cell, json.loads(source[0])["cells"]))


def write_cell(cell: dict[str, Any]) -> str:
    """Write a cell of a notebook as Markdown."""
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return text
    return "\n\n".join([f"```python\n{text}\n```", *map(write_output, cell["outputs"])])


def write_output(output: dict[str, Any]) -> str:
    """Write an output: a picture, or else its text."""
    found = output.get("data", {})
    if "image/png" in found:
        data = "".join(found["image/png"]).replace("\n", "")
        return (
            f'<img alt="the picture that the cell above draws" src="data:image/png;base64,{data}">'
        )
    if "image/svg+xml" in found:
        data = base64.b64encode("".join(found["image/svg+xml"]).encode()).decode()
        return f'<img alt="the picture that the cell above draws" src="data:image/svg+xml;base64,{data}">'
    text = "".join(output.get("text", found.get("text/plain", "")))
    return f"```text\n{text}\n```"


def list_sections(text: str) -> dict[str, list[str]]:
    """List the sections of the start page that are lists of pages, with these pages.

    A page that stands under another is left to that one.
    """
    under = {page for pages in UNDER.values() for page in pages}
    sections = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, lines = section.partition("\n")
        named = dict.fromkeys(re.findall(r"\]\(([^)#\s]+)\.(?:md|ipynb)\)", lines))
        sections[title] = [page for page in named if not under & {*list_documents([page])}]
    return sections


def list_documents(pages: list[str]) -> list[str]:
    """List pages, as the start page links them, as Sphinx names them."""
    return [os.path.normpath(f"docs/{page}") for page in pages]


def write_tree(title: str, pages: list[str], *options: str) -> str:
    """Write a table of contents; a hidden one stands beside the page alone."""
    lines = [f":caption: {title}"] * bool(title) + [f":{one}:" for one in options]
    return "\n".join(["\n\n```{toctree}", *lines, "", *pages, "```\n"])


def replace_signature(
    app: Sphinx,
    kind: str,
    name: str,
    found: Any,
    options: Any,
    signature: str | None,
    returned: str | None,
) -> tuple[str, str] | None:
    """Replace a signature by one that a person can read; of a type that one does not call, by none."""
    if signature is None:
        return None
    if kind in ("class", "exception"):
        if found.__name__ not in generate_reference.MADE_BY_A_PERSON:
            return "", ""
        return qualify_types(found, generate_reference.write_signature(found.__init__)[0]), ""
    if not callable(found):
        return None
    arguments, result = generate_reference.write_signature(found)
    return qualify_types(found, arguments), qualify_types(found, result)


def qualify_types(found: Any, signature: str) -> str:
    """Put the module before each type that has a page, since lists and boxes share some names."""
    places = {
        name: f"germane.types.{name}"
        for name in germane.types.__all__
        if isinstance(getattr(germane.types, name), type)
    }
    if str(getattr(found, "__module__", "")).startswith("germane.boxes"):
        places |= {
            name: f"germane.boxes.{name}" for name in germane.boxes.__all__ if name[0].isupper()
        }
    return re.sub(r"\b[A-Z]\w+", lambda word: places.get(word[0], word[0]), signature)


def offer_variants(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    """Let the browser take the variant of each figure that fits the window and its reader."""
    context["body"] = re.sub(FIGURE, write_figure, context.get("body") or "")


FIGURE = r'<img [^>]*src="([^"]*_images/)([\w-]+\.svg)"[^>]*>'


@cache
def list_variants(name: str) -> dict[str, str]:
    """List the variants of a figure by their conditions, if it is one of docs/figures."""
    is_figure = (generate_figures.FIGURES / name).exists()
    return generate_figures.draw_variants(name) if is_figure else {}


def write_figure(image: re.Match[str]) -> str:
    folder, name = image.groups()
    sources = "".join(
        f'<source media="{condition}" srcset="{folder}{i}-{name}">'
        for i, condition in enumerate(list_variants(name))
    )
    return f"<picture>{sources}{image[0]}</picture>" if sources else image[0]


def write_variants(app: Sphinx, problem: Exception | None) -> None:
    """Write the variants of all figures beside them."""
    for figure in generate_figures.FIGURES.glob("*.svg"):
        for i, text in enumerate(list_variants(figure.name).values()):
            (Path(app.outdir) / "_images" / f"{i}-{figure.name}").write_text(text, "utf-8")


def write_index(app: Sphinx, problem: Exception | None) -> None:
    """Lead from the folder of the site to its start page, and write the explorer beside it."""
    write_explorer("docs/").save(Path(app.outdir) / "explorer.html")
    start = f"{root_doc}.html"
    (Path(app.outdir) / "index.html").write_text(
        f'<!doctype html><meta charset="utf-8"><title>germane</title>'
        f'<meta http-equiv="refresh" content="0; url={start}"><a href="{start}">germane</a>\n',
        "utf-8",
    )


def write_formula(translator: HTML5Translator, formula: nodes.math) -> None:
    """Write a formula as MathML."""
    translator.body.append(convert(formula.astext()))
    raise nodes.SkipNode


def write_display(translator: HTML5Translator, formula: nodes.math_block) -> None:
    """Write a formula as MathML on a line of its own."""
    translator.body.append(
        f'<div class="formula">{convert(formula.astext(), display="block")}</div>'
    )
    raise nodes.SkipNode


def open_to_keyboards(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Let the keyboard reach what scrolls, and say the level of the sidebar's headings."""
    scrolling = r'<(pre|div class="(?:table-wrapper|formula)[^"]*")>'
    body = re.sub(scrolling, r'<\1 tabindex="0">', context.get("body", ""))
    context["body"] = PARAMETERS.sub(write_parameters, body)
    sidebar = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = sidebar.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


def write_parameters(found: re.Match[str]) -> str:
    """Write the parameters of a signature as blocks: Sphinx has them as meanings without words."""
    lines = found[1].replace("<dd>", "<div>").replace("</dd>", "</div>")
    return f'<div class="parameters">{lines}</div>'


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (write_formula, None), (write_display, None))
    generate_reference.write_pages()
    app.connect("autodoc-process-signature", replace_signature)
    app.add_config_value("under", UNDER, "env")  # pages are read again when these change
    app.add_config_value("searched", SEARCHED, "env")
    app.connect("source-read", show_notebook)
    app.connect("source-read", add_contents)
    app.connect("html-page-context", open_to_keyboards, 900)  # after the theme
    app.connect("html-page-context", offer_variants)
    app.connect("build-finished", write_variants)
    app.connect("build-finished", write_index)
