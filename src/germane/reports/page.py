"""Page: findings as one HTML file that asks nothing of the network."""

from collections.abc import Iterable, Iterator
from importlib import resources

from germane.comparison.pair import Interval, Pair
from germane.evaluation.result import banded, format_value
from germane.explanation.animation.mark import COLORS as PAPER
from germane.explanation.animation.page import content_policy
from germane.explanation.animation.svg import clean
from germane.output.tables import Table
from germane.reports.caution import cautions
from germane.reports.chart import COLORS, chart, swatch
from germane.reports.data import embedded
from germane.reports.dialects import dialects
from germane.reports.findings import Findings
from germane.reports.markup import notes, table, text, wide
from germane.reports.origin import Input

SENTENCES = 8  # comparisons said in words; all of them stand in a table


def page(findings: Findings) -> str:
    """The whole file."""
    script = _script()
    made = {
        "result": ("Result", _result(findings)),
        "cautions": ("Before relying on it", _cautions(findings)),
        "curves": ("Precision and recall", _curves(findings)),
        "queries": ("Query by query", _queries(findings)),
        "ties": ("What the order of ties could change", _ties(findings)),
        "dialects": ("What other tools would report", dialects(findings)),
        "conventions": ("Conventions", _conventions(findings)),
        "origin": ("Where this comes from", _origin(findings)),
    }
    sections = {
        name: (title, lines) for name, (title, made_of) in made.items() if (lines := list(made_of))
    }
    head = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy(script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{clean(findings.title)}</title>",
        f"<style>{_colors()}{_resource('page.css')}</style></head>",
        f'<body><main><header><p class="over">Ranking report</p><h1>{text(findings.title)}</h1>',
        f'<p class="lead">{_lead(findings)}</p>',
        '<nav aria-label="Sections">',
        *(f'<a href="#{name}">{title}</a>' for name, (title, _) in sections.items()),
        "</nav></header>",
    ]
    body = [
        line
        for name, (title, lines) in sections.items()
        for line in (f'<section id="{name}"><h2>{title}</h2>', *lines, "</section>")
    ]
    foot = [f"<script>{script}</script>", "</main></body></html>\n"]
    size = sum(len(line.encode()) + 1 for line in (*head, *body, *foot))
    data = f'<script type="application/json" id="data">{embedded(findings, size)}</script>'
    return "\n".join([*head, *body, data, *foot])


def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _script() -> str:
    """The script without indentation and lines of comment: a fifth of it."""
    lines = (line.strip() for line in _resource("page.js").splitlines())
    return "\n".join(["", *(line for line in lines if line and not line.startswith("//")), ""])


def _colors() -> str:
    """Colors as variables, on light and on dark screens; paper is always light."""
    light, dark = (
        "".join(f"--{name}:{shades[i]};" for name, shades in PAPER.items())
        + "".join(f"--c{run}:{shades[i]};" for run, shades in enumerate(COLORS))
        for i in (0, 1)
    )
    runs = "".join(f".r{run}{{--run:var(--c{run})}}" for run in range(len(COLORS)))
    return f"\n:root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{runs}\n"


def _lead(findings: Findings) -> str:
    counts = next(iter(findings.results.values())).counts
    runs = len(findings.runs)
    return (
        f"{runs} {'run' if runs == 1 else 'runs'} on {counts.judged:,} "
        f"{'query' if counts.judged == 1 else 'queries'} with {findings.judgments:,} judgments."
    )


# --- Result ----------------------------------------------------------------------------------------


def _result(findings: Findings) -> Iterable[str]:
    said, more = _said(findings)
    if said:
        yield '<ul class="said">'
        for pair in said:
            main, rest = _parted(pair.sentence)
            yield f'<li class="{"sure" if pair.significant else "noise"}">{text(main)}'
            yield f"<small>{text(rest)}</small></li>"
        yield "</ul>"
    if more:
        yield f"<p>{more:,} more comparisons stand in the table of all of them, below.</p>"
    yield from wide(_headline(findings))
    yield from _key(findings)
    if findings.comparison is not None:
        count = len(findings.comparison.pairs)
        pairs = findings.comparison.table()
        yield f"<details><summary>All {count:,} comparisons</summary>"
        yield from wide(table(pairs.columns, pairs.rows, pairs.left))
        yield from notes(note for note in pairs.notes[:4])
        yield "</details>"


def _said(findings: Findings) -> tuple[tuple[Pair, ...], int]:
    """The pairs said in words: all of few, of many those of the first measure with the best run."""
    if findings.comparison is None:
        return (), 0
    pairs = findings.comparison.pairs
    said = pairs
    if len(pairs) > SENTENCES:
        first = pairs[0].measure
        means = findings.comparison.means[str(first)]
        best = max(means, key=lambda name: means[name])
        of_first = [pair for pair in pairs if pair.measure == first]
        said = tuple(
            pair for pair in of_first if best in (pair.system, pair.baseline)
        )[:SENTENCES]  # fmt: skip
    return said, len(pairs) - len(said)


def _parted(sentence: str) -> tuple[str, str]:
    """What is said up to the interval, and what supports it."""
    end = sentence.rfind("], ")
    return (sentence[: end + 1], sentence[end + 3 :]) if end > 0 else (sentence, "")


def _headline(findings: Findings) -> Iterator[str]:
    """One row a run: each mean with its interval; the best in bold, letters for those it beats."""
    board = _board(findings)
    letters = {row[1]: row[0] for row in board.rows} if board else {}
    columns = {name: c for c, name in enumerate(board.columns)} if board else {}
    yield '<table class="headline"><thead><tr>'
    yield '<th scope="col">run</th>'
    yield from (f'<th scope="col" class="n">{clean(str(m))}</th>' for m in findings.measures)
    yield "</tr></thead><tbody>"
    for r, (name, result) in enumerate(findings.results.items()):
        letter = f'<b class="letter">{letters[name]}</b> ' if letters else ""
        yield f'<tr><th scope="row">{swatch(r)} {letter}{text(name)}</th>'
        for measure in findings.measures:
            place = r, columns.get(str(measure), -1)
            value = clean(format_value(result[measure].mean, measure, 4))
            strong = board is not None and place in board.strong
            mark = clean(board.marks.get(place, "")) if board else ""
            mean = f"<strong>{value}</strong>" if strong else f"<span>{value}</span>"
            interval = _interval(findings.intervals.get(name, {}).get(measure))
            yield f'<td class="n">{mean}<sup>{mark}</sup>{interval}</td>'
        yield "</tr>"
    yield "</tbody></table>"


def _board(findings: Findings) -> Table | None:
    return None if findings.comparison is None else findings.comparison.leaderboard()


def _interval(interval: Interval | None) -> str:
    return "" if interval is None else f"<small>{interval.low:.3f} – {interval.high:.3f}</small>"


def _key(findings: Findings) -> Iterator[str]:
    """What the numbers of the headline are."""
    yield '<dl class="definitions">'
    for measure in findings.measures:
        yield f"<dt>{clean(str(measure))}</dt><dd>{clean(measure.definition)}</dd>"
    yield "</dl>"
    percent, board = f"{100 * findings.confidence:g}%", _board(findings)
    said = []
    if any(any(of.values()) for of in findings.intervals.values()):
        said.append(f"Below each mean: its {percent} interval, a BCa bootstrap of the queries")
    if board is not None:
        said.append("Bold: the highest mean")
    if said:
        yield f'<p class="small">{". ".join(said)}.</p>'
    if board is not None:
        defined = {f"{measure}: {measure.definition}" for measure in findings.measures}
        yield from notes(note for note in board.notes if note and note not in defined)


# --- Cautions, curves, ties ------------------------------------------------------------------------


def _cautions(findings: Findings) -> Iterable[str]:
    found = list(dict.fromkeys(cautions(findings)))
    if not found:
        yield (
            "<p>Nothing in the data stands out: every judged query is answered and has a relevant "
            "item, no judged item is tied, and nearly all of the first ten results are judged.</p>"
        )
        return
    yield '<ul class="cautions">'
    yield from (f"<li>{text(one)}</li>" for one in found)
    yield "</ul>"


def _curves(findings: Findings) -> Iterable[str]:
    if not findings.curves:
        return
    yield f'<figure>{chart(findings.curves)}<figcaption><ul class="legend">'
    for r, (name, curve) in enumerate(findings.curves.items()):
        yield f"<li>{swatch(r)} {text(name)} <span>area (AP) {curve.area():.4f}</span></li>"
    one = next(iter(findings.curves.values()))
    yield (
        f"</ul><p>Interpolated precision at 11 levels of recall, the mean over {one.queries:,} queries"
        + (f"; shaded: {100 * one.confidence:g}% intervals" if len(findings.curves) <= 3 else "")
        + (f"; relevant: grade ≥ {one.rel:g}" if one.rel != 1 else "")
        + ". A query whose list does not reach a level of recall counts as 0 there.</p></figcaption></figure>"
    )


def _ties(findings: Findings) -> Iterable[str]:
    rows = [
        (name, str(one.measure), low, format_value(one.mean, one.measure, 4), high)
        for name, result in findings.results.items()
        for one, low, high in banded(result)
    ]
    if not rows:
        yield "<p>Nothing: no judged item's tie changes a number of this report.</p>"
        return
    yield (
        "<p>Items of equal score have no order of their own. The numbers of this report order them "
        "as the conventions below say; other orders would give:</p>"
    )
    columns = ("run", "measure", "from", "reported", "to")
    yield from wide(table(columns, rows, (1,)))


# --- Queries ---------------------------------------------------------------------------------------


def _queries(findings: Findings) -> Iterable[str]:
    yield "<noscript><p>The values of single queries are shown by a script, which is off.</p></noscript>"
    yield '<div id="app" hidden><div class="controls">'
    yield '<label>measure <select id="measure"></select></label>'
    if len(findings.runs) > 1:
        yield '<label>difference of <select id="system"></select></label>'
        yield '<label>from <select id="baseline"></select></label>'
    yield "</div>"
    yield '<div class="pair">'
    if len(findings.runs) > 1:
        yield '<figure id="differences"></figure>'
    yield '<figure id="spread"></figure></div>'
    yield (
        '<div class="controls"><label class="grow">find a query '
        '<input id="search" type="search" autocomplete="off" spellcheck="false"></label>'
        '<p id="count" role="status"></p></div>'
    )
    yield (
        '<p class="hint">Open a query to see what each run found, and how its number comes about. '
        "A heading sorts.</p>"
    )
    yield '<div class="wide"><table id="rows"><thead></thead><tbody></tbody></table></div>'
    yield '<button type="button" id="more"></button><p class="small" id="note"></p></div>'
    for note in findings.left_out:
        yield f"<p>{text(note)}</p>"


# --- Conventions and origin ------------------------------------------------------------------------


def _conventions(findings: Findings) -> Iterable[str]:
    policies = {name: result.policy for name, result in findings.results.items()}
    if len(set(policies.values())) == 1:
        policies = {"": next(iter(policies.values()))}
    for name, policy in policies.items():
        words = (f"{k}={v}" for k, v in policy.to_dict().items() if v is not None)
        chips = " ".join(f"<code>{clean(word)}</code>" for word in words)
        yield f"<p>{f'{text(name)}: ' if name else ''}{chips}</p>"
    yield '<p class="small">germane names every choice on which tools differ; these were in force.</p>'


def _origin(findings: Findings) -> Iterable[str]:
    origin = findings.origin
    rows = [(one.name, one.path, _size(one), one.sha256 or "") for one in origin.inputs]
    yield from wide(table(("input", "file", "bytes", "SHA-256"), rows, (1, 3), "origin"))
    versions = ", ".join(f"{name} {version}" for name, version in origin.versions.items())
    yield f"<p>Made with {clean(versions)}"
    yield f" by<br><code>{clean(origin.command)}</code></p>" if origin.command else ".</p>"


def _size(given: Input) -> str:
    return "" if given.size is None else f"{given.size:,}"
