"""The table of checks: the name and severity of each finding, what is looked for, and what to do."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from germane.checks import forms, grades, ids, orders, queries, scores
from germane.checks.data import Data
from germane.checks.seen import Sees
from germane.core.finding import Finding, Severity

OWN = "own=drop leaves it out before ranks are counted."


class Check(NamedTuple):
    """One kind of finding."""

    name: str
    severity: Severity
    of: Literal["qrels", "run"]  # what a finding is about; qrels are looked at once for all runs
    sees: Callable[[Data], Sees]
    remedy: str
    evaluate: Literal["error", "warning", "sample", "silent"] = "silent"
    """What evaluating does: stops, warns, warns of what the first rows show, or takes it as it is."""

    def find(self, data: Data) -> Iterator[Finding]:
        """Run the check; a sample's findings do not say which side they are about."""
        where = getattr(data, self.of).where if data.is_whole else ""
        for seen in self.sees(data):
            advice = seen.advice or self.remedy
            yield Finding(
                self.severity, self.name, seen.says, seen.count, seen.examples, advice, where
            )


TABLE: tuple[Check, ...] = (
    Check("swapped files", "serious", "run", forms.swapped, "Give the qrels first, then the run.", "error"),
    Check("malformed judgments", "serious", "qrels", forms.malformed_judgments,
          "Correct or delete them; until then evaluate refuses the file.", "error"),
    Check("malformed results", "serious", "run", forms.malformed_results,
          "Correct or delete them; until then evaluate refuses the file.", "error"),
    Check("qrels that look like a run", "serious", "qrels", forms.qrels_like_run,
          "Is this the right file?", "error"),
    Check("a run that looks like qrels", "serious", "run", forms.run_like_qrels,
          "Is this the right file?", "error"),
    Check("no query in common", "serious", "run", ids.no_common_query, "Are these the same ids?", "error"),
    Check("nothing judged was found", "serious", "run", ids.nothing_found,
          "Are the item ids of run and qrels the same?", "warning"),
    Check("ids nearly the same", "serious", "run", ids.alike,
          "Write the ids of both sides in the same way.", "sample"),
    Check("repeated judgments", "serious", "qrels", ids.repeated_judgments,
          "Delete the copies, or choose with duplicates=first, last or max.", "error"),
    Check("repeated results", "serious", "run", ids.repeated_results,
          "Delete the copies, or choose with duplicates=first, last or max.", "error"),
    Check("missing queries", "serious", "run", queries.missing,
          "missing=skip leaves them out; both kinds of number should be told.", "warning"),
    Check("mostly empty results", "serious", "run", queries.mostly_empty,
          "Did the system fail there?"),
    Check("no relevant items", "serious", "qrels", grades.nothing_relevant,
          "Where lower grades are relevant, say so: P(rel=0.5), or map the grades.", "warning"),
    Check("ranks against scores", "serious", "run", orders.ranks_against_scores,
          "Are they distances, where less is better? Then negate them.", "sample"),
    Check("ranks given as scores", "serious", "run", orders.counting_up,
          "Give scores, or ranks as such: negated, or as a ranked list.", "sample"),
    Check("scores rise as given", "serious", "run", orders.rising_as_given,
          "Higher is better here. Are they distances? Then negate them.", "sample"),
    Check("ranks fall as given", "serious", "run", orders.falling_as_given,
          "Is higher better? Then name the column as scores: columns={'score': name, 'rank': None}.",
          "sample"),
    Check("relevant results stand last", "serious", "run", orders.standing_last,
          "Is the order turned round? Where less is better, as with distances, negate the scores.", "warning"),
    Check("the query is its first result", "serious", "run", ids.own_first, OWN, "sample"),
    Check("one result per query", "serious", "run", queries.one_result,
          "Did the system stop early, or was only its last or best result kept?", "warning"),
    Check("constant scores", "serious", "run", scores.constant,
          "Their order is that of their ids; best and worst say what that decides.", "warning"),
    Check("scores lose precision", "serious", "run", scores.imprecise,
          "Give ranked lists, or scores that doubles hold.", "sample"),
    Check("the query among its results", "doubtful", "run", ids.own, OWN),
    Check("the same results for every query", "doubtful", "run", queries.same_results,
          "Did the system look at the query? A list of what is popular is like that, too."),
    Check("relevant results stand anywhere", "doubtful", "run", orders.standing_anywhere,
          "Do the results belong to these queries, and is it the column of the scores? A random order is "
          "like that, too."),
    Check("some ranks against scores", "doubtful", "run", orders.some_ranks_against_scores,
          "Scores decide; ties=given keeps the order of the lines for equal ones only."),
    Check("tied scores", "doubtful", "run", scores.tied,
          "The order of their ids decides; look at best and worst, or ask for ties=expected."),
    Check("ties at the cutoff", "doubtful", "run", scores.tied_at_cutoff,
          "Which of them counts is decided by ids; look at best and worst, or ask for ties=expected."),
    Check("half-precision scores", "doubtful", "run", scores.half_precision,
          "Write scores in single or double precision."),
    Check("rounded scores", "doubtful", "run", scores.rounded, "Write scores with more digits."),
    Check("fewer results than a cutoff", "doubtful", "run", queries.cut_off,
          "Retrieve more, or choose a smaller cutoff."),
    Check("results not judged", "doubtful", "run", queries.unjudged,
          "A run that finds what the judges never saw is underrated: tell Judged@10 beside it, or look "
          "at bpref, which passes over them."),
    Check("queries not judged", "doubtful", "run", queries.unknown,
          "Is it the run of this collection?", "warning"),
    Check("queries without a judgment", "doubtful", "qrels", queries.without_judgments,
          "Judge something for them, or delete them.", "warning"),
    Check("nothing relevant", "doubtful", "qrels", queries.without_relevant,
          "no_relevant=skip leaves them out.", "warning"),
    Check("queries without results", "doubtful", "run", queries.without_results,
          "Did the system fail there?"),
    Check("ratings", "doubtful", "qrels", grades.all_relevant,
          "Say from which grade on an item is relevant, such as P(rel=4)@10."),
    Check("grades with decimals", "doubtful", "qrels", grades.fractional,
          "Relevant is 1 and higher; P(rel=0.5) says otherwise."),
    Check("unusual grades", "doubtful", "qrels", grades.unusual,
          "gain=exp takes 2 to their power, and ERR needs max=; map them to 0…4 where they are ratings."),
    Check("negative grades", "note", "qrels", grades.negative,
          "They count as not relevant; bpref and infAP pass over them."),
    Check("only relevant items judged", "note", "qrels", grades.only_relevant,
          "Measures of what is judged, such as bpref and Judged, say nothing here."),
    Check("queries with few results", "note", "run", queries.shallow,
          "What lies beyond their last result counts as not found."),
    Check("few queries", "note", "qrels", queries.few,
          "Only large differences can be shown: germane compare says which."),
    Check("differences too small to show", "note", "run", queries.undetectable,
          "Judge more queries, or claim less: germane compare."),
    Check("refused by evaluate", "serious", "run", forms.refused,
          "Until that is mended there is no number.", "error"),
)  # fmt: skip
"""In the order in which findings of one severity are told."""
