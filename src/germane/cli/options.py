"""Options: one row for each argument of a command, from which the generator makes it.

Names, words and defaults come from the functions. A row has what a signature cannot say: a sentence
and, where the type does not tell, what the value is called and how its text is read.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from germane.cli.arguments import (
    CommandLine,
    OutputPath,
    read_areas,
    read_columns,
    read_count,
    read_depth,
    read_fraction,
    read_limit,
    read_relevant,
    read_rule,
    read_sides,
    read_size,
    read_whole,
)
from germane.readers.files.formats import FORMATS


class Option(NamedTuple):
    """An argument: its sentence, and what its type in the function's signature does not say."""

    sentence: str
    metavar: str = ""
    """The value in the help. Without one: its words, or N for a number."""

    group: str = ""
    read: Callable[[str], Any] | None = None
    """How the text is read. Without one: as one of the words, a number, a path, or as it is."""

    flags: str = ""
    """The option as one types it, where that is not its name."""

    repeats: bool = False
    nargs: str | int | None = None
    optional: bool = False
    """The command does without it, though the function has no default."""

    default: Any = None
    """Of an option of the command alone."""


def _group_rows(heading: str, sentences: Mapping[str, str]) -> dict[str, Option]:
    """Make rows that are a sentence below a heading."""
    return {name: Option(sentence, group=heading) for name, sentence in sentences.items()}


PATHS = {
    "DETECTIONS", "DIR", "FILE", "FILE|N|seen", "NAME | QRELS RUN | LIST",
    "NAME | TRUTH DETECTIONS", "PATH", "QRELS", "QRELS RUN | LIST", "QRELS RUN | LIST [LIST]",
    "QRELS RUN... | LIST", "RECORD", "RUN", "TABLE", "TRUTH",
}  # fmt: skip
"""The words of the help for paths that are read."""

READING = "reading (default: by the suffix of each file)"
CANDIDATES = "candidates: files with a query and an item in each row"
CONVENTIONS = "conventions (germane's own are the defaults)"
CATALOGUE = "measures of the catalogue"
TEXTS = "texts (TSV, CSV, JSON, JSON Lines or Parquet, by the suffix)"
STATISTICS = "statistics"
DRAWN = "how the queries with people's judgments were drawn (default: at random)"
BOX_READING = "reading (default: recognized)"
BOX_CONVENTIONS = "conventions (COCO's are the defaults)"
CHECKED = {CONVENTIONS, STATISTICS}
"""Groups whose words the functions check, with a message of their own."""

_MEASURES = "names such as 'AP@10 nDCG@10 P(rel=2)@5'; may be repeated"
_NAMED = Option(_MEASURES, "MEASURES", flags="-m --measures", repeats=True)
_OF_BOXES = "names such as 'AP AP50 AP(area=small) AR@10 P(confidence=.25)'"
_IN_BOXES = _NAMED._replace(sentence=_OF_BOXES)
_ONE = Option("the measure", "MEASURE", flags="-m --measure")
_QUERY_TEXTS = "the texts of queries by their ids, {}"
_ITEM_TEXTS = "the titles, texts, addresses or image paths of items by their ids, {}"
_RELEVANT = (
    "which relevant items count: all judged ones, or only those in the list of results (default:"
    " judged)"
)
_OF_LIST = Option(
    f"{_RELEVANT}; for a LIST, their number", "judged|listed|R", CONVENTIONS, read_relevant
)
_PUBLISHED = "a published table with a row for each {}: CSV, TSV, JSON, Markdown or LaTeX"
_NUMBER = "the number as it was published: {}"
_OF_PEOPLE = Option(
    "people's judgments of some of the queries, which correct the numbers from a model's", "QRELS"
)
_GRADES = "grades such as '0 0 1'"
_PAGE = Option("", "FILE", read=OutputPath, flags="-o --output", default="report.html")

USUAL: dict[str, Option] = {
    # what commands are about, by their place
    "qrels": Option("lines of 'query 0 item grade', or a table", "QRELS"),
    "runs": Option("one run or more", "RUN"),
    "run": Option("the run", "RUN"),
    "evaluate runs": Option(
        "lines of 'query Q0 item rank score tag', or a table; - reads standard input",
        "RUN",
    ),
    "check run": Option("lines of 'query Q0 item rank score tag', or a table", "RUN"),
    "compare runs": Option("two runs or more", "RUN"),
    "gate run": Option("the run to check", "RUN"),
    "next runs": Option("the runs that will be compared", "RUN"),
    "verify record": Option(
        "a file that evaluate --record or --format json wrote, or a signature in quotes", "RECORD"
    ),
    "verify runs": Option("the runs, with the names in the record or in its order", "RUN"),
    "judges judges": Option(
        "the judgments of each judge: two or more files, or one file with a column that names"
        " the judge",
        "QRELS",
    ),
    "explain data": Option(f"two files, or {_GRADES}", "QRELS RUN | LIST [LIST]"),
    "reconcile data": Option(f"two files, or {_GRADES}", "QRELS RUN | LIST"),
    "curve data": Option(f"files, or {_GRADES}", "QRELS RUN... | LIST"),
    "dialects data": Option(
        f"the dialect to define, two files, or {_GRADES}", "NAME | QRELS RUN | LIST"
    ),
    "boxes dialects data": Option("the dialect to define, or the data", "NAME | TRUTH DETECTIONS"),
    "score relevance": Option("grades such as '0 0 1 0 1'", "LIST"),
    "audit table": Option(
        "CSV, TSV, JSON, Markdown, LaTeX, a result file of MTEB or BEIR, the output of trec_eval"
        " -q, or results that germane saved", "TABLE",
    ),
    "identify function": Option(
        "a function in a module or in a file, such as metrics.py:my_map", "MODULE:FUNCTION"
    ),
    "measures name": Option("such as AP or 'AP(norm=R)@10'", "NAME"),
    "simulate name": Option("an experiment, or all", "NAME"),
    "simulate ranks": Option("length of each list", "N", read=read_count),
    "simulate relevant": Option("number of relevant items in each list", "R", read=read_count),
    "simulate fixed": Option(
        "how many of the first ranks always have a relevant item; only for early_precision and"
        " cheating",
        "N",
        read=read_whole,
    ),
    "boxes truth": Option(
        "annotated boxes: COCO's JSON, or another format", "TRUTH"
    ),
    "boxes detections": Option(
        "boxes that a detector found, in any of these formats", "DETECTIONS",
    ),
    # measures
    "measures": _NAMED,
    "score measure": _NAMED,
    "next measure": _NAMED,
    "measure": _ONE,
    "reconcile measure": _ONE._replace(sentence="the measure that was reported"),
    "identify measure": _ONE._replace(
        sentence=(
            "what the function is supposed to compute, such as AP@10 (default: try every measure)"
        )
    ),
    "boxes gate measures": _IN_BOXES,
    "boxes measures": _IN_BOXES._replace(
        sentence="such as 'AP AP50' (default: COCO's or the dialect's)"
    ),
    "boxes compare measures": _IN_BOXES._replace(sentence=f"{_OF_BOXES} (default: AP AP50)"),
    "boxes report measures": _IN_BOXES._replace(
        sentence=f"{_OF_BOXES} (default: AP AP50 AP75, AP of three areas, AR@100)"
    ),
    "boxes explain measure": _IN_BOXES,
    "boxes curve measure": _IN_BOXES,
    "boxes reconcile measure": _ONE._replace(
        sentence="the measure that was reported (default: AP, or the dialect's first)"
    ),
    # what a command is asked
    "per_query": Option("also print the value of every query; 'all' is the mean"),
    "evaluate by": Option(
        "also print the means of each category of queries; FILE has the columns query and"
        " category, or is JSON of the form {query: category}", "FILE",
    ),
    "by": Option(
        "segments of queries or users", "FILE",
    ),
    "next by": Option(
        "order pairs by their weight, or by how much it differs between the runs"
    ),
    "boxes compare by": Option("also compare the detectors in each class"),
    "boxes by": Option("a row for each class, area, frequency (LVIS) or image"),
    "budget": Option("pairs", flags="-n --budget"),
    "strict": Option("exit with status 1 if a finding is serious"),
    "train": Option(
        "judgments or interactions that the system was trained on: find what QRELS and the"
        " results share with them",
        "QRELS",
    ),
    "query": Option("the query to explain", "ID"),
    "curve query": Option("draw the curve of one query (default: the mean over queries)", "ID"),
    "animate": Option(
        "also write an animation of up to 4 measures: a .gif, .svg or .html file", "FILE",
        read=OutputPath,
    ),
    "rule": Option("how the area is computed (default: step, which gives AP)", read=read_rule),
    "points": Option("number of recall levels of a mean curve", read=int),
    "rel": Option("the lowest grade that counts as relevant", "GRADE"),
    "score relevant": Option("total number of relevant items (default: those in the list)", "R",
        read=read_whole),
    "plan run": Option("a run like those that will be compared", "RUN"),
    "plan baseline": Option("the second run of a pilot", "FILE"),
    "plan alpha": Option("the p-value below which a difference counts as shown", "A"),
    "plan difference": Option("a true difference; the table tells how many queries show it", "D"),
    "gate baseline": Option(
        "a run, or results of evaluate as JSON, --per-query", "FILE",
    ),
    "boxes gate baseline": Option(
        "the detections to compare with, or a .json file that boxes --record wrote", "FILE"
    ),
    "floor": Option(
        "lowest value that passes, as 'AP>=.4'; may be repeated", "FLOOR", repeats=True,
    ),
    "boxes report baseline": Option("compare every detector with this one", "NAME"),
    "baseline": Option(
        "compare every run with this one (default: all pairs)", "NAME", STATISTICS,
    ),
    "max_drop": Option("largest allowed drop of a mean", "D"),
    "alpha": Option("the p-value below which a drop fails", "A"),
    "github": Option("annotate the commit and write GitHub's job summary"),
    "reconcile reported": Option(_NUMBER.format("0.62 is less precise than 0.620; 62%% means 0.62"),
        "NUMBER", optional=True),
    "boxes reconcile reported": Option(
        _NUMBER.format(".51 is less precise than .510; 51%% and 51.0 are percentages"), "NUMBER",
        optional=True,
    ),
    "reconcile table": Option(
        _PUBLISHED.format("run, under the name of its file"), "TABLE"
    ),
    "boxes reconcile table": Option(
        _PUBLISHED.format("file of detections"), "TABLE"
    ),
    "names": Option(
        "the measure that a column of the table stands for, as in 'MAP=AP@10'; may be repeated",
        "NAME=MEASURE", repeats=True,
    ),
    "reported_per_query": Option(
        "the reported values of queries: lines of 'query value', or the output of trec_eval -q"
        " for one measure", "FILE"
    ),
    "audit queries": Option("the number of queries that each mean is computed over"),
    "witness": Option(
        "also write judgments and a run that have the numbers of a row, for each possible row",
        "FOLDER", read=OutputPath,
    ),
    "audit grades": Option("the highest grade of the judgments; 1 if items are relevant or not"),
    "audit relevant": Option(
        "the most relevant items that a query has, such as 1", read=read_count
    ),
    "audit columns": Option(
        "the measure that a name of the table stands for, as in 'MAP=AP@10'; may be repeated",
        "NAME=MEASURE", repeats=True,
    ),
    "audit dialect": Option(
        "the tool that computed the table; germane dialects lists them", "NAME",
    ),
    "command": Option(
        "a program and its arguments, with {qrels} and {run} for the paths of two files; it runs"
        " without a shell", "COMMAND", read=CommandLine,
    ),
    "takes": Option("the form in which the function takes its data (default: guessed)",
        "grades|ids|graded|lists|arrays|matrix|dicts|frames|trec"),
    "call": Option(
        "an argument of the function, such as top_k=10; may be repeated", "NAME=VALUE", repeats=True
    ),
    "pattern": Option(
        r"where the number is in the program's output, such as 'map\s+all\s+(\S+)'; groups named"
        r" query and value read the number of each query", "REGEX",
    ),
    "decimals": Option(
        "decimals that values are rounded to (default: as many as a program prints; a function is"
        " not rounded)"
    ),
    "asserts": Option(
        "also exit with status 1 if the definition that was found is not that of -m",
        flags="--assert",
    ),
    "people": Option(
        "people's judgments of some of the queries, which cover every item that the model"
        " judged for these", "QRELS"
    ),
    "model": Option("the model's judgments of all queries", "QRELS"),
    "weights": Option(
        "1 / the probability of drawing each of these queries: a file with two columns, or JSON",
        "FILE", DRAWN,
    ),
    "image": Option("the image to explain", "ID"),
    "label": Option("the class to explain", "NAME", flags="--class"),
    "errors": Option(
        "print how much AP each kind of error costs, over all images, or for --image or --class"
    ),
    "worst": Option("print the N images that lower the number most", "N", read=read_whole),
    "boxes confusion iou": Option("the least overlap (default: .5, or the dialect's)", "IOU"),
    "boxes confusion confidence": Option(
        "the lowest score that counts (default: where the mean F1 of all classes is best)", "P"
    ),
    "shares": Option("print shares of each row, not counts"),
    "cell": Option(
        "list what a cell counts, with its images: the class of the truth, and of the detection;"
        " background is one", "CLASS", nargs=2,
    ),
    "boxes confusion pairing": Option(
        "which pairs count: by falling score; pairs of one class first; those that are best for"
        " both sides; or all (default: score, or the dialect's)"
    ),
    # what is written
    "format": Option("(default: by the suffix of FILE, else {})"),
    "output": Option("write to FILE", "FILE", read=OutputPath, flags="-o --output"),
    "report output": _PAGE._replace(
        sentence=(
            "a page, or a folder of rankings (default: report.html)"
        ),
        metavar="FILE|FOLDER/",
    ),
    "explorer output": _PAGE._replace(
        sentence="the file to write (default: explorer.html)", default="explorer.html"
    ),
    "boxes report output": _PAGE._replace(sentence="(default: report.html)"),
    # how data are read, and the conventions that people choose
    "queries": Option(_QUERY_TEXTS.format("to show them"), "FILE", TEXTS),
    "items": Option(_ITEM_TEXTS.format("to show them"), "FILE", TEXTS),
    "check queries": Option(_QUERY_TEXTS.format("to find queries among the items"), "FILE", TEXTS),
    "check items": Option(_ITEM_TEXTS.format("to find queries among the items"), "FILE", TEXTS),
    "columns": Option(
        "names of columns that are not recognized: 'query=user,run.item=film'; 'rank=' ignores one",
        "PART=NAME,…", READING, read_columns,
    ),
    "exclude": Option(
        "items to remove before ranks are counted, such as those that a user has seen", "FILE",
        CANDIDATES,
    ),
    "dialect": Option(
        "the conventions of another tool, and its names of measures; see germane dialects", "NAME",
        CONVENTIONS,
    ),
    "score dialect": Option(
        "the conventions of another tool, and its names of measures; see germane dialects", "NAME"
    ),
    "boxes confusion dialect": Option(
        "count as ultralytics, ultralytics-obb, ultralytics-8.3, supervision, faster-coco-eval,"
        " hotcoco, fiftyone or mmdetection", "NAME"
    ),
    "boxes dialect": Option("the conventions of another tool", "NAME"),
    "box_format": Option(
        "what the four numbers of a box are, for both sides or for one, as in truth=xywh",
        "", BOX_READING, read_sides,
    ),
    **_group_rows(STATISTICS, {
        "test": "test of significance (default: randomization); t needs germane[stats]",
        "correction": "correction for the number of comparisons (default: holm)",
        "gate test": "test of significance",
    }),
    "about": Option(
        "whether the numbers are about the population of the queries, or only about these queries",
        group=DRAWN,
    ),
    **_group_rows(CONVENTIONS, {
        "ties": "order of equal scores (default: trec; given if items have no ids)",
        "no_relevant": "queries without relevant items",
    }),
    "boxes overlap": Option(
        "what overlaps: boxes (iou+1 adds a pixel to each side), masks, keypoints (oks), or"
        " oriented boxes",
        group=BOX_CONVENTIONS,
    ),
}  # fmt: skip

RARE: dict[str, Option] = {
    "sequential": Option(
        "p-values and intervals that hold however often one looks, after each batch of queries",
        group=STATISTICS,
    ),
    "gate people": _OF_PEOPLE,
    "report people": _OF_PEOPLE,
    "identify columns": Option("names of the frames' columns", "PART=NAME,…", read=read_columns),
    "time_limit": Option(
        "seconds that a program may take (default: 60)", "S", read=read_fraction,
    ),
    "confidence": Option("level of intervals", "P", STATISTICS),
    "evaluate confidence": Option(
        "also print confidence intervals of means, for instance at level 0.95", "P",
        read=read_fraction,
    ),
    "trust confidence": Option("level of intervals", "P"),
    "curve confidence": Option("level of the intervals of a mean curve", "P"),
    "signature": Option(
        "also print the signature of each mean: one line with the definition and fingerprints of"
        " the data"
    ),
    "record": Option(
        "also write a record as JSON, with the values of queries if --per-query is given; germane"
        " verify reads it", "FILE", read=OutputPath,
    ),
    "boxes record": Option(
        "also write a record as JSON, with the shares of images in each number, which gate"
        " --baseline reads", "FILE", read=OutputPath,
    ),
    "report record": Option(
        "also write a record as JSON, which --previous of the next report reads", "FILE",
        read=OutputPath,
    ),
    "previous": Option(
        "also show the change of each mean since this record, or since these results as JSON",
        "FILE",
    ),
    "sort": Option(
        "order the runs by this measure, or as given (default: by the first measure)",
        "MEASURE|given", read=str,
    ),
    "bounds": Option(
        "also print how far unjudged items could move the means, and which orders of the runs they"
        " leave open"
    ),
    "rename": Option(
        "show a measure by another name, as in 'AP=MAP'; may be repeated", "MEASURE=NAME",
        repeats=True,
    ),
    "spreadsheet": Option(
        "in csv and tsv, put ' before ids that a spreadsheet would read as formulas"
    ),
    "checkpoint": Option(
        "save progress in DIR, and resume from there after an interruption", "DIR"
    ),
    "dataset": Option(
        "QRELS RUN RUN... of another data set, whose runs have the same file names", "FILE",
        repeats=True, nargs="+",
    ),
    "compare view": Option(
        "print only this table; queries shows where two runs differ (default: the leaderboard,"
        " with a sentence for each pair of up to three runs; for csv and tsv, the pairs)"
    ),
    "boxes view": Option("print only this table"),
    "most": Option(
        "number of queries that a view shows (default: 10)", "N", read=read_whole, default=10,
    ),
    "equivalence": Option(
        "also test whether runs are within D of each other (needs germane[stats])", "D", STATISTICS
    ),
    "rng": Option("seed for the random numbers", "N", read=read_whole, flags="--seed"),
    "max_size": Option(
        "largest size of the page, such as 5MB; rankings that do not fit are left out (default:"
        " 2MB)", "SIZE", read=read_size,
    ),
    "title": Option("title of the page (default: the names of the runs)", "TEXT"),
    "boxes title": Option("(default: the names of the detectors)", "TEXT"),
    "start": Option("where the curve of one query starts", read=str),
    "tolerance": Option("largest relative difference at which values count as equal", "T"),
    "strata": Option("the stratum of every query: a file with two columns, or JSON", "FILE", DRAWN),
    "tuning": Option(
        "how much the model's judgments count: as much as makes intervals narrowest (PPI++),"
        " or in full (PPI)"
    ),
    "judge_family": Option(
        "warn about runs that have this word in their names, because the judge is related to them;"
        " may be repeated", "WORD",
    ),
    "detect": Option(
        "also print how many queries are needed to detect a difference of D between two runs", "D",
        read=read_fraction,
    ),
    # how data are read
    "input_format": Option(
        "the format of both files, or of one, as in run=jsonl (for an unknown suffix: trec)",
        "|".join(FORMATS), READING, read_sides,
    ),
    "collapse": Option(
        "rank groups instead of items, such as the documents of chunks: a file with two columns,"
        " item and group", "FILE", READING,
    ),
    "query_ids": Option(
        "ids of queries in the order of the requests, where the responses of a search engine do not"
        " name them, as those of _msearch: one a line, or JSON", "FILE", READING,
    ),
    "max_expansion": Option(
        "let a compressed file expand to N times its size (default: 1000); 256 MB are always"
            " allowed",
        "N|none", READING, read_limit,
    ),
    "max_line": Option(
        "allow lines of up to this size in TREC files (default: 1048576)", "BYTES|none", READING,
        read_limit,
    ),
    "only": Option("items to keep; all others are removed", "FILE", CANDIDATES),
    "ignore": Option(
        "junk, which is neither right nor wrong: it is removed from the list and from the"
        " relevant items", "FILE",
        CANDIDATES,
    ),
    "subtopic_weights": Option(
        "a file with a query, a subtopic and its weight in each row, for measures such as"
        " 'ERR_IA(weights=given)@20'", "FILE", READING,
    ),
    "catalogue": Option(
        "the items that could be recommended: a file, their number, or seen for the items of"
        " --seen",
        "FILE|N|seen", CATALOGUE,
    ),
    "seen": Option(
        "what users chose before: a file with a user and an item in each row", "FILE", CATALOGUE
    ),
    "distance": Option(
        "the vectors of items, from which distances are computed: a file with an item and its"
        " vector in each row, or an .npz file with both as arrays", "FILE", CATALOGUE,
    ),
    # conventions of few tools
    "depth": Option("use only the first N results of each query", "N", CONVENTIONS),
    "relevant": Option(_RELEVANT, group=CONVENTIONS),
    "dialects relevant": _OF_LIST,
    "explain relevant": _OF_LIST,
    "curve relevant": _OF_LIST,
    "reconcile relevant": _OF_LIST,
    "min_score": Option("leave out items with a lower score", "S", CONVENTIONS),
    "max_distance": Option(
        "leave out items that are farther away, with --scores distances", "D", CONVENTIONS
    ),
    "digits": Option("number of decimals that means are rounded to", "N", CONVENTIONS),
    "query_digits": Option(
        "number of decimals that the values of queries are rounded to", "N", CONVENTIONS,
    ),
    # boxes
    "coordinates": Option(
        "pixels, or relative to the image's size; for both sides or for one, as in truth=pixels",
        "", BOX_READING, read_sides,
    ),
    "angles": Option(
        "the fifth number of oriented boxes (default: degrees)", "", BOX_READING, read_sides,
    ),
    "boxes input_format": Option(
        "the format of the files, for both sides or for one, as in truth=coco", "", BOX_READING,
        read_sides,
    ),
    "boxes report images": Option(
        "photographs for the page: a folder; or a file with the sizes of all images", "PATH",
        BOX_READING,
    ),
    "images": Option(
        "all images: a folder of pictures, or a file with their sizes", "PATH", BOX_READING
    ),
    "boxes columns": Option(
        "names of columns that are not recognized, such as 'class=kind,x=left'", "PART=NAME,…",
        BOX_READING, read_columns,
    ),
    "class_names": Option("a file with the names of classes that are numbers", "FILE", BOX_READING),
    "only_classes": Option("evaluate these classes alone", "NAME", BOX_READING, nargs="+"),
    "only_images": Option("evaluate these images alone", "ID", BOX_READING, nargs="+"),
    "boxes depth": Option(
        "use only the N detections with the highest scores (default: 100, or 20 with --overlap"
        " oks)", "N|none",
        BOX_CONVENTIONS, read_depth,
    ),
    "areas": Option(
        "ranges of areas in square pixels, such as all=0-1e10,tiny=0-256 (default: COCO's)",
        "NAME=LOW-HIGH,…", BOX_CONVENTIONS, read_areas,
    ),
    "sigmas": Option(
        "with --overlap oks: the half width of each keypoint (default: COCO's for the 17"
        " keypoints of a person)", "S,…",
        BOX_CONVENTIONS,
    ),
    "iou": Option(
        "such as .5, .5,.75 or .5:.95:.05 (default: .5:.95)", "THRESHOLDS", BOX_CONVENTIONS
    ),
    "boxes confidence": Option("drop detections with a lower score", "P", BOX_CONVENTIONS),
    "boxes compare confidence": Option("level of intervals", "P", STATISTICS),
    **_group_rows(STATISTICS, {
        "family": "which comparisons are corrected together: those on one measure, or all",
        "resamples": "number of resamples for tukey and for stability",
        "gate correction": "correction for the number of measures (default: holm)",
        "gate resamples": "number of resamples for tukey",
    }),
    **_group_rows(CONVENTIONS, {
        "duplicates": "what to do with an item that is retrieved twice for a query",
        "missing": "how to count judged queries that are missing from a run",
        "unjudged": "how to treat items without a judgment",
        "scores": "how scores are compared; with distances, lower is better",
        "repeated": "what to do with an item that is judged twice for a query",
        "grades": "how grades are read",
        "ranks": "whether ranks without scores are an order, or places in a longer list",
        "own": "what to do with an item that has the id of its query",
        "padding": "what to do with the id -1, which pads lists of a fixed length",
        "nonpositive": "how to treat relevant items with a score of 0 or less",
        "empty": "how to count queries whose list of results is empty",
        "short": "how to count queries with fewer results than the cutoff",
        "constant": "how to count queries whose results all have the same score",
        "unknown": "what to do with queries of the run that nobody judged",
        "no_hit": "how to count queries that have relevant items, none of which was found",
        "all_relevant": "how to count queries for which no item is judged not relevant",
        "undefined": "how to count queries whose value is NaN",
        "halves": "how --query-digits rounds halves",
    }),
    **_group_rows(BOX_CONVENTIONS, {
        "boxes ties": "the order of equal scores: by image, or as given",
        "candidate": (
            "whether a detection whose best truth is taken tries the next best one, or is false"
        ),
        "reach": "whether an overlap has to be at least the threshold, or above it",
        "equal_overlaps": "which truth counts among equal overlaps",
        "crowds": "how to treat boxes around many objects",
        "difficult": "how to treat truths that are marked as difficult",
        "depth_of": "whether --depth counts the scores of each class in an image, or of the whole"
        " image",
        "area_of": "which area puts a truth into a range; body is .53 of its box, also with"
        " --overlap oks; height is that of truths and detections",
        "found_area": "which area a detected mask has: its own, or that of its box if the results"
        " also have boxes",
        "classes": (
            "whether detections match only their own class, or all classes are treated as one"
        ),
        "no_truth": "whether classes without truths are left out of means, or count as 0",
        "boxes unknown": "what to do with detections of classes that the truth does not list",
        "precision": "whether boxes and scores are used as given, or rounded to single precision",
        "thresholds": "the precision of the overlap thresholds",
        "unverified": "how to treat detections of classes that nobody looked for in the image, or"
        " of which it has more objects than are annotated, as LVIS lists them",
        "flagged": "how to treat truths that have the key ignore",
        "boxes empty": "how to treat truths and detections without an area",
        "id_zero": (
            "how to treat truths with the id 0; unmatched reproduces a mistake of pycocotools"
        ),
        "ap_depth": "whether AP has a value at any depth, or only at 100, which reproduces a"
        " mistake of pycocotools",
    }),
}  # fmt: skip
"""The arguments that --help leaves to --help-all."""

OPTIONS = {**USUAL, **RARE}

LEFT_OUT = {
    "progress": "a terminal is shown progress without being asked",
    "policy": "each of its conventions is an option",
    "group": "of flat arrays; the rows of a file name their query",
    "mask_threshold": "of arrays; masks of files are 0 and 1",
    "item_ids": "of arrays; files have ids",
    "report layout": "the name of the output says whether it is a page or a folder",
    "report command": "the page shows the command that is run",
    "boxes report command": "the page shows the command that is run",
    "boxes confusion name": "the name of the file",
    "boxes curve name": "the name of the file",
    "boxes explain name": "the name of the file",
    "boxes reconcile name": "the name of the file",
    "boxes dialects name": "the name of the file",
    "reconcile measures": "of a table; --names has them",
    "boxes reconcile measures": "of a table; --names has them",
    "reconcile dialect": "it tries all of them",
    "dialects dialect": "it tries all of them",
    "verify dialect": "the record says the conventions",
    **{
        f"identify {name}": "identify makes the data itself"
        for name in (
            *("input_format", "collapse", "max_expansion", "max_line", "exclude", "only", "ignore"),
            "query_ids",
            *("subtopic_weights", "catalogue", "seen", "distance", "own", "padding"),
        )
    },
    "identify dialect": "it tries all of them",
}  # fmt: skip
"""Arguments of functions that are no options, with the reason."""


def find_row(command: str, name: str, table: Mapping[str, Any] = OPTIONS) -> str | None:
    """Find the row of a command's argument, or of the one that it shares with other commands."""
    keys = (f"{command} {name}", f"{command.partition(' ')[0]} {name}", name)
    return next((key for key in keys if key in table), None)
