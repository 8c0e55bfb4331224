"""The table of checks: each finding's name, severity, function and advice."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from germane.checks import lists, removals, unmatched, values
from germane.checks.data import Data
from germane.checks.faulty_rows import Sees, make_findings
from germane.core.finding import Finding, Severity
from germane.errors import write_option

OWN = "own=drop leaves it out before ranks are counted."


class Check(NamedTuple):
    """One kind of finding."""

    name: str
    severity: Severity
    side: Literal["qrels", "run"]  # which the finding is about; several runs have the same qrels
    find_problems: Callable[[Data], Sees]
    remedy: str
    evaluate: Literal["error", "warning", "sample", "silent"] = "silent"
    """The reaction of evaluate; ``sample``: it warns if a sample of rows shows the problem."""
    needs_judgments: bool = True  # is it asked of a run only where something is judged?

    def find(self, data: Data) -> Iterator[Finding]:
        """Run the check. Findings in a sample do not name their side."""
        where = getattr(data, self.side).where if data.is_whole else ""
        yield from make_findings(self, self.find_problems(data), where)


TABLE: tuple[Check, ...] = (
    Check("swapped files", "serious", "run", values.find_swapped,
          "Give the qrels first, then the run.", "error"),
    Check("malformed judgments", "serious", "qrels", values.find_malformed_judgments,
          "Correct or delete them; until then evaluate refuses the file.", "error"),
    Check("malformed results", "serious", "run", values.find_malformed_results,
          "Correct or delete them; until then evaluate refuses the file.", "error", False),
    Check("qrels that look like a run", "serious", "qrels", values.find_qrels_like_run,
          "Is this the right file?", "error"),
    Check("a run that looks like qrels", "serious", "run", values.find_run_like_qrels,
          "Is this the right file?", "error", False),
    Check("no query in common", "serious", "run", unmatched.find_no_common_query,
          "Are these the same ids?", "error"),
    Check("nothing judged was found", "serious", "run", unmatched.find_nothing_found,
          "Are the item ids of run and qrels the same?", "warning"),
    Check("ids nearly the same", "serious", "run", unmatched.find_alike,
          "Write the ids of both sides in the same way.", "sample"),
    Check("repeated judgments", "serious", "qrels", unmatched.find_repeated_judgments,
          (f"Delete the copies, or choose with {write_option('duplicates', 'first')}, last or"
          " max."), "error"),
    Check("repeated results", "serious", "run", unmatched.find_repeated_results,
          (f"Delete the copies, or choose with {write_option('duplicates', 'first')}, last or"
          " max."), "error"),
    Check("judgments of the training data", "serious", "qrels", unmatched.find_shared_judgments,
          "Test on judgments that the system was not trained on."),
    Check("missing queries", "serious", "run", lists.find_missing,
          (f"{write_option('missing', 'skip')} leaves them out; report both"
          " numbers."), "warning"),
    Check("mostly empty results", "serious", "run", lists.find_mostly_empty,
          "Did the system fail there?"),
    Check("lists emptied by an option", "serious", "run", removals.find_emptied,
          "Check what the option leaves out.", "warning"),
    Check("ranks taken as an order", "serious", "run", lists.find_gaps,
          "If they are places in a longer list of which only these rows are known, use "
          f"{write_option('ranks', 'places')}.", "warning"),
    Check("no relevant items", "serious", "qrels", values.find_nothing_relevant,
          "If lower grades are relevant, choose a lower rel, or map the grades.", "warning"),
    Check("ranks against scores", "serious", "run", lists.find_ranks_against_scores,
          f"If lower is better, use {write_option('scores', 'distances')}.", "sample"),
    Check("ranks given as scores", "serious", "run", lists.find_counting_up,
          "Pass scores instead, or a ranked list, or negated ranks.", "sample"),
    Check("scores rise as given", "serious", "run", lists.find_rising_as_given,
          ("By default, higher is better. If they are distances, use"
          f" {write_option('scores', 'distances')}."), "sample"),
    Check("ranks fall as given", "serious", "run", lists.find_falling_as_given,
          "If higher is better, name the column as scores:"
          f" {write_option('columns', {'score': 'name', 'rank': None})}. "
          "A file without a header, such as MS MARCO's, needs one for that.", "sample"),
    Check("relevant results stand last", "serious", "run", lists.find_standing_last,
          ("Check the direction of the order. If lower is better, use"
          f" {write_option('scores', 'distances')}."), "warning"),
    Check("padding among the results", "serious", "run", unmatched.find_padding,
          f"{write_option('padding', 'drop')} takes them out before ranks are counted.", "sample"),
    Check("the query is its first result", "serious", "run",
          unmatched.find_own_first, OWN, "sample"),
    Check("one result per query", "serious", "run", lists.find_one_result,
          "Did the system stop early, or was only its last or its best result kept?", "warning"),
    Check("constant scores", "serious", "run", values.find_constant,
          f"{values.SHOW_EFFECT}.", "warning"),
    Check("scores lose precision", "serious", "run", values.find_imprecise,
          "Pass ranked lists, or scores that fit into doubles.", "sample"),
    Check("relevant items that are no candidates", "doubtful", "run", removals.find_unreachable,
          (f"If they are neither right nor wrong, {write_option('ignore')} takes them out of R,"
          " too."), "warning"),
    Check("candidates of other items", "doubtful", "run", removals.find_unmatched,
          "Are these the ids of the run?", "warning"),
    Check("the query among its results", "doubtful", "run", unmatched.find_own, OWN),
    Check("queries of the training data", "doubtful", "qrels", unmatched.find_shared_queries,
          "Test a search system on queries that it was not trained on; users of a recommender may "
          "be in both."),
    Check("results of the training data", "doubtful", "run", unmatched.find_seen_results,
          (f"Pass the training data as {write_option('exclude')}, too, which takes them out before"
          " ranks are counted. Keep them only if users may be recommended an item again.")),
    Check("queries among the items", "doubtful", "run", unmatched.find_queries_among_items,
          "Does the collection contain the queries? Leave them out of it, as exclude_self=True "
          "does for embeddings."),
    Check("queries with the text of an item", "doubtful", "qrels", unmatched.find_queries_with_text,
          "Does the collection contain the queries? Leave these items out of it, or pass them as "
          "exclude."),
    Check("judged items with the same text", "doubtful", "qrels", unmatched.find_copies,
          "A system that finds one copy misses the other. Delete copies, or give them one id with "
          "collapse."),
    Check("the same results for every query", "doubtful", "run", lists.find_same_results,
          "Check that the system uses the query. A list of popular items looks like this, too."),
    Check("relevant results stand anywhere", "doubtful", "run", lists.find_standing_anywhere,
          "Check that the results belong to these queries and that the score column is right. A "
          "random order looks like this, too."),
    Check("some ranks against scores", "doubtful", "run", lists.find_some_ranks_against_scores,
          f"Scores decide the order; {write_option('ties', 'given')} keeps the order of the"
          " lines only for equal scores."),
    Check("tied scores", "doubtful", "run", values.find_tied,
          f"{values.SHOW_EFFECT}."),
    Check("ties at the cutoff", "doubtful", "run", values.find_tied_at_cutoff,
          f"{values.SHOW_EFFECT}."),
    Check("recall that no run can have", "doubtful", "qrels", values.find_low_ceilings,
          "Success asks for one of them; R(norm=min) divides by the most that the cutoff allows.",
          "warning"),
    Check("half-precision scores", "doubtful", "run", values.find_half_precision,
          "Write scores in single or double precision."),
    Check("rounded scores", "doubtful", "run", values.find_rounded,
          "Write scores with more digits."),
    Check("fewer results than a cutoff", "doubtful", "run", lists.find_cut_off,
          "Retrieve more, or choose a smaller cutoff."),
    Check("results not judged", "doubtful", "run", lists.find_unjudged,
          "A run that finds items that the judges never saw is underrated: report Judged@10 as "
          "well, or look at bpref, which skips them."),
    Check("queries not judged", "doubtful", "run", lists.find_unknown,
          "Users without held-out items do no harm; otherwise, check that the run belongs to this "
          "collection.", "warning"),
    Check("queries without a judgment", "doubtful", "qrels", lists.find_without_judgments,
          "Judge items for them, or delete them.", "warning"),
    Check("nothing relevant", "doubtful", "qrels", lists.find_without_relevant,
          f"{write_option('no_relevant', 'skip')} leaves them out.", "warning"),
    Check("queries without results", "doubtful", "run", lists.find_without_results,
          "Did the system fail there?"),
    Check("one subtopic per item", "doubtful", "qrels", values.find_single_subtopics,
          "Does the second column of the qrels name subtopics? In other files, it is the round of "
          "judging.", "warning"),
    Check("ratings", "doubtful", "qrels", values.find_all_relevant,
          "Choose the lowest grade that counts as relevant: rel in a measure's name."),
    Check("grades with decimals", "doubtful", "qrels", values.find_fractional,
          "Grades from 1 on count as relevant; rel in a measure's name sets another limit."),
    Check("unusual grades", "doubtful", "qrels", values.find_unusual,
          "gain=exp raises 2 to the grade, and ERR needs max=. If they are ratings, map them to "
          "0…4."),
    Check("negative grades", "note", "qrels", values.find_negative,
          "They count as not relevant; bpref and infAP ignore them."),
    Check("only relevant items judged", "note", "qrels", values.find_only_relevant,
          "Measures that need nonrelevant judgments, such as bpref, are meaningless here."),
    Check("queries with few results", "note", "run", lists.find_shallow,
          "Items after the last result count as not found."),
    Check("few queries", "note", "qrels", lists.find_few,
          "Only large differences can be detected; germane compare prints how large."),
    Check("differences too small to show", "note", "run", lists.find_undetectable,
          "Judge more queries; germane compare prints the intervals."),
    Check("refused by evaluate", "serious", "run", values.find_refusal,
          "Fix this before evaluating.", "error"),
)  # fmt: skip
"""Findings of the same severity are reported in this order."""
