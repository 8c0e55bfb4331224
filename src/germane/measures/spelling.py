"""Names of measures as people write them: those that are read, and those that mean two things."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from germane.errors import MeasureError, clip
from germane.measures import BY_NAME, Definition

MEANS = ("mean", "average", "avg")  # of queries, which every measure is: mean nDCG is nDCG
AVERAGED = {"ndcg": "nDCG", "hit rate": "Success", "f 1": "F"}

# Words of a name → germane's name. The word k is a cutoff, which the name must have.
SPELLINGS = {
    "ap 1": "AP(norm=R)@k",
    "ap 2": "AP(norm=min)@k",
    "average precision": "AP",
    "avg precision": "AP",
    "avg prec": "AP",
    "ave prec": "AP",
    "ave p": "AP",
    "mean average precision": "AP",
    "map k": "AP@k",
    "tap": "AP",
    "truncated ap": "AP",
    "truncated map": "AP",
    "truncated average precision": "AP",
    "gmap": "AP(mean=geometric)",
    "gm map": "AP(mean=geometric)",
    "gm bpref": "bpref(mean=geometric)",
    "geometric map": "AP(mean=geometric)",
    "map at r": "APR",
    "mean average precision at r": "APR",
    "11 pt avg": "IAP",
    "11 pt ap": "IAP",
    "11 point ap": "IAP",
    "11 point map": "IAP",
    "11 point average precision": "IAP",
    "11 point interpolated average precision": "IAP",
    "interpolated average precision": "IAP",
    "au prc": "AUPR",
    "pr auc": "AUPR",
    "auc pr": "AUPR",
    "auc prc": "AUPR",
    "auc roc": "AUROC",
    "prec": "P",
    "precision at r": "Rprec",
    "p at r": "Rprec",
    "break even point": "Rprec",
    "first tier": "Rprec",
    "r prec": "Rprec",
    "rec": "R",
    "recall cap": "R(norm=min)",
    "r cap": "R(norm=min)",
    "capped recall": "R(norm=min)",
    "recall any": "Success",
    "all recall": "AllFound",
    "full recall": "AllFound",
    "comp k": "AllFound@k",
    "hit ratio": "Success",
    "success rate": "Success",
    "acc k": "Success@k",
    "accuracy k": "Success@k",
    "retrieval accuracy k": "Success@k",
    "h k": "Success@k",
    "cmc k": "Success@k",
    "cmc rank k": "Success@k",
    "cmc top k": "Success@k",
    "top k": "Success@k",
    "top k acc": "Success@k",
    "top k accuracy": "Success@k",
    "top k retrieval accuracy": "Success@k",
    "rank k": "Success@k",
    "rank k acc": "Success@k",
    "rank k accuracy": "Success@k",
    "f 2": "F(beta=2)",
    "f 0.5": "F(beta=0.5)",
    "f .5": "F(beta=0.5)",
    "f score": "F",
    "f measure": "F",
    "f 1 score": "F",
    "f 1 measure": "F",
    "f 2 score": "F(beta=2)",
    "recip rank": "RR",
    "mean rr": "RR",
    "mean recip rank": "RR",
    "mean reciprocal rank": "RR",
    "discounted cumulative gain": "DCG",
    "discounted cumulated gain": "DCG",
    "ideal dcg": "IDCG",
    "ndcg alpha": "alpha_nDCG",
    "normalized dcg": "nDCG",
    "exp ndcg": "nDCG(gain=exp)",
    "ndcg exp": "nDCG(gain=exp)",
    "exponential ndcg": "nDCG(gain=exp)",
    "linear ndcg": "nDCG(gain=linear)",
    "ndcg linear": "nDCG(gain=linear)",
    "normalized discounted cumulative gain": "nDCG",
    "normalized discounted cumulated gain": "nDCG",
    "rank biased precision": "RBP",
    "expected reciprocal rank": "ERR",
    "s recall": "StRecall",
    "i rec": "StRecall",
    "intent recall": "StRecall",
    "aspect recall": "StRecall",
    "cluster recall": "StRecall",
    "d ndcg": "Dsharp_nDCG(gamma=0)",
    "inferred ap": "infAP",
    "inferred average precision": "infAP",
    "w auc": "GAUC",
    "weighted auc": "GAUC",
    "u auc": "GAUC(mean=arithmetic)",
    "user auc": "GAUC(mean=arithmetic)",
    "med r": "MeanRank(mean=median)",
    "md r": "MeanRank(mean=median)",
    "median r": "MeanRank(mean=median)",
    "median rank": "MeanRank(mean=median)",
    "mr": "MeanRank",
    "mn r": "MeanRank",
    "arithmetic mean rank": "MeanRank",
    "epr": "PercentileRank",
    "mpr": "PercentileRank",
    "expected percentile rank": "PercentileRank",
    "mean percentile rank": "PercentileRank",
    "mean inverse negative penalty": "INP",
    "inverse negative penalty": "INP",
    "ia ap": "AP_IA",
    "ia map": "AP_IA",
    "ia prec": "P_IA",
    "ia precision": "P_IA",
    "ia err": "ERR_IA",
}


class Meaning(NamedTuple):
    """A meaning of a name that has several: what to write for it, and what it is."""

    measure: str
    says: str


OVERLAPS = tuple(range(50, 100, 5))  # of boxes, in hundredths

# Words of a name → what it may mean, where # and {k} are the number behind the name.
AMBIGUOUS: dict[str, tuple[Meaning, Meaning]] = {
    "ap 1": (Meaning("AP@1", "of the first item"), Meaning("AP(norm=R)", "divided by R")),
    "ap 2": (Meaning("AP@2", "of two items"), Meaning("AP(norm=min)", "divided by min(R, k)")),
    "ap 11": (Meaning("AP@11", "of eleven items"), Meaning("IAP", "at eleven levels of recall")),
    **{
        f"{name} {iou}": (
            Meaning(f"AP@{iou}", f"of the first {iou} items"),
            Meaning(f"germane.boxes.evaluate(…, 'AP{iou}')", f"of boxes that overlap by .{iou}"),
        )
        for name in ("ap", "map")
        for iou in OVERLAPS
    },
    "ap r": (
        Meaning("APR", "of the first R items, as in metric learning"),
        Meaning("AP(norm=R)@k", "divided by R"),
    ),
    "map r": (
        Meaning("APR", "of the first R items, as in metric learning"),
        Meaning("AP(norm=R)@k", "divided by R"),
    ),
    **{
        f"rbp {percent}": (
            Meaning(f"RBP@{percent}", f"of the first {percent} items"),
            Meaning(
                f"RBP(p=0.{percent})", f"of readers who go on with a probability of .{percent}"
            ),
        )
        for percent in OVERLAPS
    },
    "map at #": (
        Meaning("AP@k", "divided by min(R, {k})"),
        Meaning("AP(norm=R)@k", "divided by R, as BEIR and MTEB do under this name"),
    ),
    "r #": (
        Meaning("R@k", "the share of the relevant items that is among the first {k}"),
        Meaning(
            "Success@k", "whether one is among the first {k}, as in Rank-{k} and in metric learning"
        ),
    ),
    "f #": (
        Meaning("F@k", "of the first {k} items"),
        Meaning("F(beta={k})", "with {k} times the weight on recall"),
    ),
    **{
        f"{mean} {name}": (
            Meaning("P@k", "averaged over queries, as every measure is"),
            Meaning("MeanP@k", "the mean of P@1 … P@k")
            if mean == "mean"
            else Meaning("AP@k", "average precision"),
        )
        for mean in MEANS
        for name in ("p", "precision")
        if (mean, name) not in (("average", "precision"), ("avg", "precision"))  # which is AP
    },
    **{
        f"{mean} {name}": (
            Meaning("R@k", "averaged over queries, as every measure is"),
            Meaning("MeanR@k", "the mean of R@1 … R@k"),
        )
        for mean in MEANS
        for name in ("r", "recall")
        if (mean, name) != ("average", "recall")  # of boxes
    },
    "hits": (
        Meaning("Success@k", "whether there is a hit, as in knowledge graphs"),
        Meaning("Utility(noise=0)@k", "how many hits there are, as in ranx"),
    ),
    "context precision": (
        Meaning("P@k", "the share of the contexts that is relevant"),
        Meaning("AP(norm=found)@k", "the mean precision at relevant contexts, as in ragas"),
    ),
    **dict.fromkeys(
        ("mar", "mean average recall"),
        (
            Meaning("AR@k", "of recall at the ranks of relevant items"),
            Meaning("MeanR@k", "the mean of R@1 … R@k"),
        ),
    ),
    "diversity": (
        Meaning("ILD@k", "within each list"),
        Meaning("Personalization@k", "between the lists of users"),
    ),
}

_OF_TEXT = (
    "a judgment of generated text, by a language model or against a reference, and germane"
    " evaluates rankings"
)
_OF_TWO = "a comparison of two rankings, which the function germane.{} computes"
_NONE = "and germane has no such measures"
_SESSION = f"a measure of several queries in a row, {_NONE}"

# Names of measures that germane does not have → what they are, and what is near.
ABSENT: dict[tuple[str, ...], str] = {
    ("AMR", "AMRI", "adjusted mean rank"): (
        f"the mean rank of the relevant item, compared with that of a random order, {_NONE}"
    ),
    ("ANMRR", "NMRR"): "the normalized rank of MPEG-7; RankingLoss comes closest",
    ("ARHR", "ARR", "average reciprocal hit rank", "average reciprocal rank"): (
        "the sum of the reciprocal ranks of all hits; RR has the first of them, and is equal where"
        " queries have one relevant item"
    ),
    ("BM25", "TF IDF", "RRF", "reciprocal rank fusion"): "a way to rank, not a measure",
    ("BLEU", "ROUGE", "METEOR", "BERTScore", "exact match", "EM"): _OF_TEXT,
    ("context recall", "contextual recall"): (
        "the share of an answer's claims that the contexts support, by a language model; R is the"
        " share of the relevant contexts that are retrieved"
    ),
    ("CTR", "click through rate"): "a share of clicks, not a measure of judged rankings",
    ("Dice", "PQ", "panoptic quality"): f"a measure of segmented images, {_NONE}",
    ("EER", "FAR", "FNIR", "FPIR", "FRR", "TAR", "TPIR"): (
        "a rate at one threshold of scores for all pairs, in biometrics; R and FallOut count within"
        " each list"
    ),
    ("faithfulness", "groundedness", "answer relevancy", "answer relevance", "answer correctness",
     "context relevancy", "context relevance", "contextual relevancy", "contextual relevance",
     "answer relevancy metric"): _OF_TEXT,
    ("E measure",): "1 - F, van Rijsbergen's; F computes the rest",
    ("FPR", "false positive rate"): (
        "the share of the nonrelevant items that was retrieved, which FallOut computes, or that at"
        " 95 % recall, to which RecallAtPrecision comes closest"
    ),
    ("FPR 95",): "the share of false matches where recall is .95; RecallAtPrecision comes closest",
    ("GAP", "micro AP", "global average precision"): (
        "the AP of one list, the results of all queries by their scores; as a run of one query, AP"
        " computes it"
    ),
    ("HOTA", "MOTA", "IDF1"): f"a measure of tracks in videos, {_NONE}",
    ("ILS", "intra list similarity"): "the likeness of a list's items; ILD is their distance",
    ("IoU", "mIoU"): "the overlap of areas, by which germane.boxes matches detections",
    ("half life utility", "HLU", "R score"): (
        "a gain that halves after so many ranks; RBP, which has a geometric discount, comes closest"
    ),
    ("kappa", "cohen kappa"): (
        "the agreement of two judges, which the function germane.compare_judges computes"
    ),
    ("LAMR", "miss rate", "log average miss rate"): f"a measure of boxes, {_NONE}",
    ("macro F1", "micro F1", "macro MAP", "MAP macro", "micro recall", "micro precision"): (
        "a mean of queries, as every measure is here (macro), or the value of all results together"
        " (micro), as with mean=micro: F, F(mean=micro)"
    ),
    ("MAE", "MSE", "RMSE"): "an error of predicted ratings, which ranks nothing",
    ("log loss",): "a loss of predicted probabilities, which ranks nothing",
    ("MAiP", "AiP", "mean average interpolated precision"): (
        "a mean of interpolated precision at 101 levels of recall, in INEX; IAP(points=101) comes"
        " closest"
    ),
    ("MMR", "maximal marginal relevance"): (
        "a method of reranking, not a measure; ILD comes closest"
    ),
    ("RBO", "rank biased overlap"): _OF_TWO.format("rbo"),
    ("spearman", "spearman rho"): (
        "a correlation of two rankings; germane.kendall_tau comes closest"
    ),
    ("tau", "kendall", "kendall tau"): _OF_TWO.format("kendall_tau"),
    ("tau AP",): _OF_TWO.format("tau_ap"),
    ("TBG", "time biased gain"): "a gain discounted by the reader's time; RBP and DCG come closest",
    ("PRES", "patent retrieval evaluation score"): (
        "recall less the ranks of the relevant items within the first k; AR and R come closest"
    ),
    ("WSS", "work saved over sampling"): (
        "the share of the items that need not be read for a level of recall, less the part that"
        " chance saves; LastRank has the rank of the last relevant item"
    ),
    ("Q measure", "U measure"): "a measure of grades; nDCG comes closest",
    ("session DCG", "nsDCG"): _SESSION,
    ("pAUC", "partial AUC"): f"the AUC up to a rate of false positives, {_NONE}",
    ("statAP", "xinfAP", "infNDCG"): (
        "an estimate from a sample of judgments in strata; infAP is that of one stratum"
    ),
    ("AUUC", "Qini", "uplift"): f"a measure of the effect of a treatment, {_NONE}",
    ("unexpectedness",): "a distance from expected items; Serendipity and Novelty come closest",
    ("user coverage",): (
        "the share of users with recommendations; counts.answered of a result counts them"
    ),
}  # fmt: skip


# --- Spelling -------------------------------------------------------------------------------------
#
# Names of measures as people write them: precision_at_10, NDCG10, Hit-Rate@5, top-5 accuracy.
#
# Words may be joined in any way, and a cutoff may stand behind the name, with or without ``at``.
# One rule reads all of them: the names and aliases of the rows, and those listed above.
# Names that mean two things, or a measure that germane does not have, are errors that say so.

SHORT = 6
MOST_WORDS = 1 + max(words.count(" ") + 1 for words in SPELLINGS)  # of a name with its cutoff


class Spelled(NamedTuple):
    """A name by its words: its meaning, and where the words may be parted."""

    shown: str  # the name as it is suggested; "" if it is too short to be meant by another
    means: str  # germane's name, or a key of AMBIGUOUS, or a sentence of ABSENT
    bounds: frozenset[int] = frozenset()  # where words end, in letters
    tool: str = ""  # another tool's name, and the tool

    @property
    def needs_cutoff(self) -> bool:
        return self.means.endswith("@k")

    @property
    def family(self) -> str:
        """The measure's name, without its parameters."""
        return re.split(r"[(@]", self.means)[0]


def split_words(name: str) -> list[str]:
    """Split a name into the words that may be parted: NormalizedDCG, ROC_AUC."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return parted.replace("_", " ").split()


def list_spellings(words: Sequence[str], shown: str, means: str) -> dict[str, Spelled]:
    """List a name by its letters; a cutoff within it may be written there as a number, or not."""
    spellings = {}
    for cutoff in ("k", "#", "") if "k" in words else ("",):
        written = [cutoff if word == "k" else word for word in words]
        ends = frozenset(accumulate(map(len, written)))
        spellings["".join(written).casefold()] = Spelled(shown, means, ends)
    return spellings


def list_aliases(name: str) -> list[str]:
    """List the spellings of a measure with its default parameters, beside its row's aliases.

    >>> from germane.measures.spelling import list_aliases
    >>> list_aliases("RR")
    ['recip rank', 'mean rr', 'mean recip rank', 'mean reciprocal rank']
    """
    return [words for words, means in SPELLINGS.items() if means in (name, f"{name}@k")]


@cache
def _list_names() -> dict[str, Spelled]:
    rows = (
        ([spelling] if _is_ambiguous(words) else words, spelling, row.name)  # MeanP, but not mean P
        for row in BY_NAME.values()
        for spelling in _name(row)
        for words in (split_words(spelling),)
    )
    spelled = (
        (words.split(), means if len(words) > SHORT else "", means)
        for words, means in SPELLINGS.items()
    )
    averaged = (
        ([mean, *words.split()], "", means) for mean in MEANS for words, means in AVERAGED.items()
    )
    spelled_names: dict[str, Spelled] = {}
    for words, shown, means in (*rows, *spelled, *averaged):
        for letters, spelling in list_spellings(words, shown, means).items():
            before = spelled_names.get(letters, spelling)
            spelled_names[letters] = before._replace(bounds=before.bounds | spelling.bounds)
    return spelled_names


def _is_ambiguous(words: Sequence[str]) -> bool:
    return " ".join(words).casefold() in AMBIGUOUS


def _name(row: Definition) -> tuple[str, ...]:
    return (row.name, *row.aliases)


@cache
def _list_ambiguous() -> dict[str, Spelled]:
    named = (list_spellings(words.split(), words, words) for words in AMBIGUOUS)
    return {letters: spelled for family in named for letters, spelled in family.items()}


@cache
def _list_absent() -> dict[str, Spelled]:
    named = (
        list_spellings(split_words(name), name, sentence)
        for names, sentence in ABSENT.items()
        for name in names
    )
    return {letters: spelled for family in named for letters, spelled in family.items()}


class Written(NamedTuple):
    """The parts of a name as it was written."""

    words: tuple[str, ...]
    inside: str  # parameters
    cutoff: str  # what stands behind @


# possessive (*+, ++) and atomic (?>): a name can be hostile, and one way to split it is enough
_NAME = re.compile(
    r"\s*+(?P<name>[^()@,]{1,80}?)\s*+(?:\((?P<inside>.*)\))?\s*+(?:@(?P<cutoff>\S*+))?\s*+",
    re.DOTALL,
)
_WORD = r"\d*+\.\d++|\d++|[^\W\d_]++"
_WORDS = re.compile(rf"(?>[-_\s]*+(?:{_WORD}))++")
_SIGNS = str.maketrans({"α": "alpha", "µ": "micro ", "μ": "micro ", "#": "sharp", "♯": "sharp"})


def split_written(text: str) -> Written | None:
    """Split a name into words, parameters and a cutoff; None for what is no such name."""
    spaced = re.sub(r"(?<=[a-z])At(?=\d|K\b)", " at ", text.translate(_SIGNS))  # precisionAt10
    match = _NAME.fullmatch(spaced)
    if match is None or match["name"].startswith("-") or not _WORDS.fullmatch(match["name"]):
        return None
    words = (word.casefold() for word in re.findall(_WORD, match["name"]))
    words = (word.replace("ised", "ized") for word in words)  # British
    cutoff = re.sub(r"^\s*[kK]\s*=\s*", "", match["cutoff"] or "").strip()
    inside = match["inside"] or ""
    if not cutoff and (match := re.fullmatch(r"\s*k\s*=\s*(\d+)\s*", inside)):
        cutoff, inside = match[1], ""  # top_k_accuracy(k=5)
    return Written(tuple(words), inside, cutoff)


def _list_readings(written: Written) -> Iterator[tuple[Sequence[str], str]]:
    """List how a name may be read, as words and a cutoff, from the most exact reading on."""
    words, cutoff = written.words, written.cutoff
    yield words, cutoff
    numbers = [place for place, word in enumerate(words) if word.isdecimal()]
    if len(numbers) == 1 and not cutoff:
        [at] = numbers
        yield (*words[:at], "#", *words[at + 1 :]), words[at]
        if at == len(words) - 1:
            yield words[: at - (words[at - 1] == "at")], words[at]
    if not cutoff and len(words) > 2 and words[0] == "top" and words[1].isdecimal():
        yield words[2:], words[1]  # top-10 recall
    if not cutoff and len(words) > 2 and words[-1].isdecimal():
        if words[-2] == "at":
            yield words[:-2], words[-1]  # f1_at_10
        elif words[-2] == "top" and words[-3] in ("at", "in"):
            yield words[:-3], words[-1]
    if words[-2:] == ("at", "k"):
        yield words[:-2], cutoff or "k"


def _find(words: Sequence[str], table: Mapping[str, Spelled]) -> Spelled | None:
    """Find the name of these words, which may be parted where its own words end."""
    spelled = table.get("".join(words))
    if spelled is not None:
        for end, word, after in zip(accumulate(map(len, words)), words, words[1:], strict=False):
            if word.isalpha() and after.isalpha() and end not in spelled.bounds:
                return None
    return spelled


def respell(text: str) -> str | None:
    """Return germane's own name for one that is written in another way; None for unknown names.

    Raises MeasureError for a name that means several things, that lacks a cutoff, or that germane
    does not have.

    >>> from germane.measures.spelling import respell
    >>> respell("precision_at_10"), respell("top-5 accuracy"), respell("AP_1@5")
    ('P@10', 'Success@5', 'AP(norm=R)@5')
    """
    written = split_written(text)
    if written is None:
        return None
    if text.strip().startswith("sDCG"):  # SDCG is Scaled DCG
        raise MeasureError(
            f"germane has no measure {clip(text)}: it is {_SESSION}. SDCG is another."
        )
    for words, k in _list_readings(written):
        spelled = _find(words, _list_names())
        if spelled is not None and k not in ("k", "K") and (k or not spelled.needs_cutoff):
            return _write(spelled.means, written, k)
        if (unclear := _find(words, _list_ambiguous())) is not None:
            meanings = [_fill(meaning, written, k) for meaning in AMBIGUOUS[unclear.means]]
            shown = " and ".join(f"{measure} ({says})" for measure, says in meanings)
            raise MeasureError(f"{clip(text)} has two meanings: {shown}. Write one of them.")
        if (absent := _find(words, _list_absent())) is not None:
            raise MeasureError(f"germane has no measure {clip(text)}: it is {absent.means}.")
        if spelled is not None:
            number = written.inside.strip()  # mapk(10)
            plain = written._replace(inside=written.inside if "=" in number else "")
            example = _write(spelled.means, plain, number if number.isdecimal() else "10")
            raise MeasureError(f"{clip(text)} needs a number as its cutoff, as in {example!r}.")
    return None


_DECORATED = (
    (r"[\s\"'`*\[\]{}|;,.:↑↓]+$|^[\s\"'`*\[{|]+", ""),  # 'MRR ↑', "AP", `AP`
    (r"\s*\(\s*[%↑↓]\s*\)\s*$", ""),
    (r"\s*\(\s*(?:in\s+|at\s+)?top[\s-]*(\d+)\s*\)$", r"@\1"),
    (r"\s+(?:in|within)\s+(?:the\s+)?top[\s-]*(\d+)$", r"@\1"),
    (r"\s*(?:@|\bat\b)\s*(?:(?:k|n|top)\s*[-=]?\s*)?(\d+)(?:\.0*)?$", r"@\1"),
    (r"(?<=[a-z])[.:](\d+)$", r"@\1"),
)

_LONGEST = 200


def undecorate(text: str) -> str | None:
    """Return the name that is written with marks of a table or a text around it; None without one.

    >>> from germane.measures.spelling import undecorate
    >>> undecorate("Recall @ 20 (%)"), undecorate("nDCG@10 ↑"), undecorate("AP@10")
    ('Recall@20', 'nDCG@10', None)
    """
    if len(text) > _LONGEST:  # no heading is; patterns take long for such a text
        return None
    plain = unicodedata.normalize("NFKC", text).strip()
    for pattern, written in _DECORATED:
        plain = re.sub(pattern, written, plain, flags=re.IGNORECASE)
    return plain if plain != text.strip() else None


def is_spelled(text: str) -> bool:
    """Is this a name that ``respell`` knows, though it may refuse it?"""
    try:
        return respell(text) is not None
    except MeasureError:
        return True


def _write(means: str, written: Written, cutoff: str) -> str:
    """Write germane's name with the parameters and the cutoff that were written."""
    name, _, own = means.removesuffix("@k").partition("(")
    parameters = ",".join(filter(None, (own.rstrip(")"), written.inside)))
    return name + (f"({parameters})" if parameters else "") + (f"@{cutoff}" if cutoff else "")


def _fill(meaning: Meaning, written: Written, k: str) -> Meaning:
    """Fill the places of a meaning with what was written."""
    name, _, cutoff = meaning.measure.replace("{k}", k).partition("@")
    spelling = name if " " in name else _write(name, written, cutoff.replace("k", k))
    return Meaning(spelling, meaning.says.replace("{k}", k))


_WHOLE = r"(?<![\d.])[1-9]\d*(?![\d.])"  # a number that can be a cutoff
_ACRONYM = re.compile(r"[A-Z]{2,5}(?![\w-])")


def suggest_name(text: str, tools: Mapping[str, Spelled] | None = None) -> str:
    """Suggest the name that a text is a slip of; "" where none or several are near.

    ``tools`` are names of other tools by their letters.

    >>> from germane.measures.spelling import suggest_name
    >>> suggest_name("recal@10")
    " Did you mean 'Recall@10'?"
    """
    written = split_written(text)
    if written is None:
        return ""
    unclear = {
        letters: spelled._replace(shown="")
        for letters, spelled in _list_ambiguous().items()
        if letters not in {name.casefold() for name in BY_NAME}  # MeanP, but not mean P
    }
    names = {**_list_names(), **(tools or {}), **unclear}
    near = [
        (slips, spelled, cutoff)
        for words, cutoff in _list_readings(written)
        for slips, spelled in _list_near("".join(words), names)
        if not cutoff or spelled.family not in BY_NAME or BY_NAME[spelled.family].cutoff
    ]
    nearest = _choose_least(near)
    if nearest is None or not nearest[1].shown:
        return ""
    slips, spelled, cutoff = nearest
    if spelled.tool and written.cutoff and re.search(r"\d", "".join(written.words)):
        return ""  # a tool has recall_10, and not recall_10@1
    if _is_another("".join(written.words), spelled.shown.casefold()):
        return ""
    acronym = _ACRONYM.match(text)
    if acronym and (slips == 1 or len(acronym[0]) < len(spelled.shown)):
        return ""  # each of its letters stands for a word, as in NDCS and MNRR; APP is AP
    example = "10" if spelled.needs_cutoff else ""
    if not spelled.tool:
        return f" Did you mean {_write(spelled.shown, written, cutoff or example)!r}?"
    numbers = [*re.findall(_WHOLE, f"{cutoff} {written.inside}"), example]
    suggestion = _write(spelled.means, Written((), "", ""), numbers[0])
    return f" Did you mean {suggestion!r}, which is {spelled.tool}?"


def _is_another(letters: str, name: str) -> bool:
    """Is a short name with another first letter another measure, as uMAP, wMRR and BestRank are?"""
    return len(letters) <= 8 and name[:1] != letters[:1] and name[:2] != letters[1::-1]


def list_letters(name: str) -> list[str]:
    """List a name's letters, as it may be read: with the number in it, with #, and without.

    >>> from germane.measures.spelling import list_letters
    >>> list_letters("map_cut_10")
    ['mapcut10', 'mapcut#', 'mapcut']
    """
    written = split_written(name)
    readings = () if written is None else _list_readings(written)
    return list(dict.fromkeys("".join(words) for words, _ in readings))


def is_known(letters: str) -> bool:
    """Are these the letters of a name of germane's?"""
    return letters in _list_names()


def find_nearest(letters: str, names: Mapping[str, Spelled]) -> Spelled | None:
    """Find the name that these letters are a slip of; None where none or several are near."""
    nearest = _choose_least([(slips, name, "") for slips, name in _list_near(letters, names)])
    return None if nearest is None else nearest[1]


def _choose_least(near: list[tuple[float, Spelled, str]]) -> tuple[float, Spelled, str] | None:
    """Choose the least slip; None where several measures are as near."""
    least = [candidate for candidate in near if candidate[0] == min(slips for slips, *_ in near)]
    return least[0] if len({spelled.family for _, spelled, _ in least}) == 1 else None


def _list_near(letters: str, names: Mapping[str, Spelled]) -> list[tuple[float, Spelled]]:
    """List the names that are a slip away, with the size of the slip.

    A slip is one letter, or two in a long name, and exchanged and doubled letters are half of one:
    in short names, any other letter makes another name.
    """
    allowed_slips = 0.5 if len(letters) < 4 else 1.0 if len(letters) < 8 else 2.0
    used = set(letters)
    counted = (
        (count_slips(letters, name), spelled)
        for name, spelled in names.items()
        # half a slip adds or removes one letter at most, and counting is slow
        if abs(len(letters) - len(name)) <= 2 * allowed_slips
        and len(used.symmetric_difference(name)) <= 2 * allowed_slips
        and not (name.startswith(letters) and len(name) - len(letters) > 1)  # a word, not a slip
    )
    return [(slips, spelled) for slips, spelled in counted if slips <= allowed_slips]


def count_slips(written: str, meant: str) -> float:
    """Count the slips between two words: letters that are wrong, missing, exchanged or doubled.

    This is the distance of Damerau and Levenshtein (optimal string alignment) with two weights.
    """
    before: list[float] = []
    row = [float(place) for place in range(len(meant) + 1)]
    for i, letter in enumerate(written):
        repeat_cost = 0.5 if written[i - 1 : i] == letter else 1.0
        after = [row[0] + repeat_cost]
        for j, wanted in enumerate(meant):
            ways = [
                row[j] + (letter != wanted),
                row[j + 1] + repeat_cost,
                after[j] + (0.5 if meant[j - 1 : j] == wanted else 1.0),
            ]
            if i and j and letter == meant[j - 1] != wanted == written[i - 1]:
                ways.append(before[j - 1] + 0.5)
            after.append(min(ways))
        before, row = row, after
    return row[-1]
