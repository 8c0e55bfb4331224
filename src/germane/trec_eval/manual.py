"""What -h prints."""

from germane.measures.measure import parse
from germane.trec_eval.columns import columns
from germane.trec_eval.names import MEASURES, NICKNAMES, Row
from germane.trec_eval.options import Options

_FLAGS = """\
Evaluate RUN against QRELS, with the flags and the output of NIST's trec_eval 10.0.

usage: trec_eval [flags] QRELS RUN        (RUN - is standard input)

  -q             also print every query's values
  -n             do not print the values over all queries
  -c             average over all judged queries; those that RUN lacks count as 0
  -m MEASURE     a measure or a nickname, with parameters after a dot; may be repeated
  -l GRADE       the lowest grade that counts as relevant (1)
  -M N           look at the first N results of each query only
  -J             remove items without a judgment before anything is counted
  -N N           documents in the collection, for utility (0)
  -R FORMAT      QRELS holds qrels, qrels_jg, prefs or qrels_prefs (qrels)
  -Z FILE        print standard scores, from lines "query measure mean deviation"
  -D L.QUERY     look at one query only; trec_eval's debugging output is not printed
  -h, -v         this help, with the measures of -m; the version

"""
_ON = {
    "any": "from the files",
    "qrels": "of trec_eval alone",
    "preferences": "of preferences",
    "groups": "of groups of judgments",
}
_TAKES = {
    "nothing": "",
    "cutoffs": ".5,10: ranks",
    "levels": "..1,.25: levels",
    "numbers": ".1,-1: numbers",
    "gains": ".1=3,2=9: what grades are worth",
}


def text(options: Options) -> str:
    """The help, with the definitions of the measures asked for, or else a list of all."""
    if options.marked:
        return _FLAGS + "".join(map(_defined, options.measures))
    nicknames = "".join(f"  {name:<24}{_names(names)}\n" for name, names in NICKNAMES.items())
    listed = "".join(
        f"  {name + _TAKES[row.takes].partition(':')[0]:<24}{_germane(row)}\n"
        for name, row in MEASURES.items()
    )
    return f"{_FLAGS}nicknames:\n{nicknames}\nmeasures, with their parameters:\n{listed}"


def _names(names: tuple[str, ...]) -> str:
    return f"{len(names)} measures: {', '.join(names[2:5])}, …"


def _germane(row: Row) -> str:
    ours = row.germane.format("k" if row.takes == "cutoffs" else "x")
    return f"germane's {ours}" if ours else _ON[row.judgments]


def _example(name: str) -> str:
    column = columns(Options(marked={name}))[0]
    return column.row.germane.format(column.argument)


def _defined(name: str) -> str:
    row = MEASURES[name]
    if not row.germane:
        return f"{name}: {_ON[row.judgments]}; germane has no measure of its own for it.\n"
    measure = parse(_example(name))
    return f"{name}{_TAKES[row.takes].partition(':')[0]}: as germane's {measure}: {measure.definition}\n"
