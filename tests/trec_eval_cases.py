"""Random inputs for trec_eval: judgments, runs and flags, and what the program of NIST makes of them.

    python tests/trec_eval_cases.py TREC_EVAL 500         compares germane with the binary, on 500 cases
    python tests/trec_eval_cases.py TREC_EVAL 500 900     the same on cases 500 to 899
    python tests/trec_eval_cases.py TREC_EVAL 500 900 prefs     the same, all of them with -R prefs
    python tests/trec_eval_cases.py TREC_EVAL record      writes tests/data/trec_eval.json

The binary is trec_eval 10.0, with ``min`` and ``max`` of m_rbp.c, which it never sets, set to 0.
"""

import io
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "data" / "trec_eval.json"

_ITEMS = [f"{stem}{i}" for stem in ("d", "D-", "é") for i in (1, 2, 3, 10, 20, 100, 101)]
_MEASURES = {
    "qrels": (
        "all_trec", "official", "set", "map", "yaap", "dcg", "ideal_dcg", "P.5,7,3",
        "recall.20,2000", "ndcg.1=3,2=9,4=4.5", "ndcg.1=0.5,2=0.7", "ndcg_rel.2=1.5,1=1.2",
        "Rndcg.0=1,1=3", "G.1=0.3,3=7", "G.1=-2,2=4", "ndcg.1=-1,2=3", "dcg.1=3,0=0.5",
        "iprec_at_recall..10,.20,.25,.75,.50", "11pt_avg..25,.5,.75", "Rprec_mult.5.0,0.2,0.35",
        "utility.2,-1,0,0", "utility.1,-0.5,-0.25,0.125", "set_F.0.5", "set_F.4", "success.2,5,20",
        "ndcg_cut.10,2,3.4", "map_cut.1,2,3", "relstring.3", "relstring.20", "rbp.p=0.5",
        "rbp.p=0.8,1=0.5,2=1", "rbp_resid.p=0.5", "unj.1,3", "relative_P.2,4", "gm_map", "runid",
        "num_q", "num_rel", "ideal_dcg.1=3", "Rndcg.1=0,2=0", "rbp.3=-1,1=2",
        "ndcg.-1=2", "dcg.-1=0.5,-2=1.5", "ideal_dcg.-1=3", "ndcg_rel.-1=0.5,2=3", "G.-1=1.5,1=4",
        "Rndcg.-1=2,-2=0.25", "rbp.-1=0.5,p=0.7", "rbp.-2=-1", "ndcg.-1=-1,0=0.5", "G.-2=2,-1=-2",
        "ndcg.1=5,1=3,2=9", "ndcg_rel.1=2,1=4", "ndcg_rel.1=-2,2=4", "dcg.-3=2,+1=0.25,-0=1",
        "11pt_avg.0.5,0.1,1", "11pt_avg.0,1,0.3", "11pt_avg.-1,0.2,0.2,2", "relstring.-3",
    ),
    "prefs": ("all_prefs", "prefs", "prefs_pair", "num_q", "prefs_avgjg_Rnonrel", "map"),
    "qrels_jg": ("qrels_jg", "map_avgjg", "P_avgjg.1,2,3", "Rprec_mult_avgjg.0.35,1,2", "runid"),
}  # fmt: skip
_MEASURES["qrels_prefs"] = _MEASURES["prefs"]
_FLAGS = (
    ["-q"], ["-q", "-n"], [], ["-c", "-q"], ["-q", "-J"], ["-q", "-l2"], ["-cq", "-M3"],
    ["-q", "-M2"], ["-q", "-N100"], ["-q", "-c", "-J", "-l", "2"], ["-c"], ["-q", "-M0", "-c"],
    ["-q", "-l0"], ["-q", "-Dx.q2"], ["-qc", "-D", "0.q1"], ["-q", "-c"], ["-q", "-c"],
    ["-q", "-l", "-1"], ["-ql-2", "-c"], ["-q", "-l-1", "-J"], ["-q", "-l", "-1", "-M", "3", "-c"],
    ["-ql-5"], ["-qcl-1"],
)  # fmt: skip


_ODD_MEASURES = (
    "P.5,5", "P.0", "P.-1", "P.5,", "P.,5", "P.", "P", "P.+5", "P.5.5", "P. 5", "P.5x,7", "P.x",
    "P.99999999999,2", "recall.1e3,2", "success.0x1,3", "iprec_at_recall.1,0,.5,0.50001",
    "iprec_at_recall.2,-1,.3", "iprec_at_recall.inf,1e300", "iprec_at_recall.123456789,0.1",
    "iprec_at_recall.nan", "iprec_at_recall.0.5,.5", "iprec_at_recall.-nan", "11pt_avg.inf,nan,0.2",
    "Rprec_mult.0,-1,.5,1e5", "Rprec_mult.x", "Rprec_mult.nan", "utility.1", "utility.1,2,3,4,5",
    "utility.1,,,2", "set_F.0", "set_F.-1", "set_F.2,7", "set_F.", "relstring.0",
    "relstring.1e30", "relstring.nan", "relstring.-inf", "relstring.2.9", "relstring.x", "rbp.p=0",
    "rbp.p=1", "rbp.p=2,p=0.5", "rbp.p=", "rbp.P=0.5", "rbp.=1", "rbp.1=2=3", "rbp.1", "rbp.,1=2",
    "rbp.1=2,", "rbp_resid.p=0,1=x", "ndcg. 1=2", "ndcg.1 =2", "ndcg.01=3", "ndcg.1=0x10,0=.5",
    "ndcg.1=", "ndcg.x=3", "ndcg.--1=2", "ndcg.-=1", "ndcg.1=1e10,2=-1e10", "ndcg.1=1e10,0=7e9",
    "G.0=5,1=-1", "G.-1=9,1=1", "Rndcg.0=0", "Rndcg.0=1,0=2", "official.5", "all_trec.1=2", "map.",
    "map.x", "runid.3", "num_q.x", "MAP", "ma", "", ".", ".5", "unj.2,1", "gm_map.1", "all_prefs.2",
    "ndcg.٣=2", "set_F.1e400", "ndcg.1=inf", "prefs.x",
)  # fmt: skip
_ODD_SCORES = (
    "1e400", "-1e400", "inf", "-INF", "infinity", "nan", "-nan", "NAN(1)", "+.5", ".5", "5.", "0x1p1",
    "0x.8", "0x", "1e", "1e+", "1,5", "1_0", "--1", "+-1", "1d3", "٣", "1e-400", "abc", "1.5abc",
    "-0", "0", "1e-320", "4.9406564584124654e-324", "0.1000000000000000055511151231257827", "1" * 400,
    ".", "-", "+", "e5", "infx", "1.e1", "9007199254740993", "9007199254740992",
)  # fmt: skip
_ODD_LINES = (
    "q1 Q0 d1 1", "q1 Q0 x 1 0x1p1 tag more 7", "q1 Q0 x 1 0.5 7", " q1 Q0 x 1 0.5 tag", "#", "", " ",
    "  # comment", "q1 Q0 x 1 0.5 ", "q1", "q1 Q0 x 1 0.5\ttag\tmore ", "q1 Q0 q1 1 0.5 1.5 tag",
    "q2 Q0 \udcff\udcfe x 1 tag", "q2 Q0 d d 1 0.7 tag", "q10 Q0 " + "long" * 300 + " 1 1 tag",
    "q1 Q0 x 1 0.5 #tag", "q\udcff Q0 x 1 0.5 tag", "Q3 Q0 #d 1 0.5 tag", "q1 Q0 x\x85y 1 0.5 tag",
)  # fmt: skip
_ODD_FLAGS = (
    ["-qn"], ["-qnc"], ["-nqM2"], ["--query_eval_wanted"], ["--quer", "--comp"], ["--level=2", "-q"],
    ["--level_for_rel", "2", "-q"], ["--l", "-1", "-q"], ["-q", "--", "QRELS", "RUN"], ["-x"],
    ["QRELS", "-q", "RUN"], ["QRELS", "RUN", "-q", "-M1"], ["--bad"], ["--R", "qrels"], ["-l"],
    ["--Number=7", "-q"], ["-o", "x", "-q"], ["-T", "trec_results", "-q"], ["-T", "x"], ["-R", "x"],
    ["-R", "prefs"], ["-q", "QRELS"], ["-q", "QRELS", "RUN", "RUN"], ["absent", "RUN"], ["-q", "-q"],
    ["QRELS", "absent"], ["-M", "x", "-c", "-q"], ["-N", "9e9", "-q"], ["-N", str(2**63 - 1)],
    ["-N", "-5", "-q"], ["-l", "x", "-q"], ["-l1.9", "-q"], ["-M2.9", "-q"], ["--help=x"], ["-D", "0"],
    ["-D", "0.", "-q"], ["-D0.Q3", "-D0", "-q"], ["-Z", "absent"], ["-q-n"], ["-", "RUN"], ["-qcJ"],
    ["-qcJl-1"], ["-qJM2"], ["-qcM1", "-l", "0"], ["-nq", "-c", "-N", "50", "-J", "-M", "4"], ["-M", ""],
)  # fmt: skip


def case(seed: int, judgments: str = "") -> dict[str, Any]:
    """One case: the flags, and the text of the files they are followed by; of any -R, or of one."""
    rng = random.Random(seed)
    judgments = judgments or rng.choices(list(_MEASURES), (8, 2, 2, 1))[0]
    queries = rng.sample(["q1", "q2", "q10", "Q3", "Ä"], rng.randint(1, 3))
    highest = rng.choice((1, 1, 2, 3, 12))
    flags = list(rng.choice(_FLAGS if rng.random() < 0.7 else _ODD_FLAGS))
    if judgments != "qrels":
        flags = ["-R", judgments, *flags]
    default = {"qrels": "all_trec", "qrels_jg": "qrels_jg"}.get(judgments, "all_prefs")
    measures = _MEASURES[judgments] + (_ODD_MEASURES if rng.random() < 0.3 else ())
    chosen = [default] if rng.random() < 0.5 else rng.choices(measures, k=rng.randint(1, 4))
    items = rng.sample(_ITEMS, rng.randint(1, len(_ITEMS)))
    marks = [part for name in chosen for part in (("-m", name) if name else ("-m", ""))]
    qrels = "".join(_judgments(rng, judgments, query, items, highest) for query in queries)
    made = {
        "flags": [*marks, *flags] if rng.random() < 0.5 else [*flags, *marks],
        "qrels": qrels if rng.random() < 0.8 else _odd_qrels(rng, qrels),
        "run": _run(rng, queries, items),
    }
    if "--" in flags:
        made["flags"] = [*marks, *flags]
    if rng.random() < 0.1:
        made["zscores"] = _zscores(rng, queries)
    return made


def _odd_qrels(rng: random.Random, text: str) -> str:
    """The same lines in another order, spelled otherwise, or with something odd among them."""
    lines = text.splitlines()
    rng.shuffle(lines)
    at = rng.randrange(len(lines))
    grade = rng.choice(("+1", "01", "1.9", "0x1", "x", "-1", "-2", "-7", "1e2", "-", "٣", "2\t"))
    odd = rng.choice(
        (
            ["# a comment"], ["# one", "# two x y"], [""], [" "], [lines[at]], ["\t" + lines[at] + "x"],
            [lines[at] + " more"], [lines[at].rsplit(None, 1)[0]], ["#q 0 d1 1"], ["q\udcff 0 d1 1"],
            [lines[at].rsplit(None, 1)[0] + "y " + grade], [], [], [],
        )
    )  # fmt: skip
    lines[at:at] = odd
    return _spelled(rng, lines)


def _spelled(rng: random.Random, lines: list[str]) -> str:
    """Lines with other blanks, ends and beginnings."""
    blank, end = rng.choice((" ", " ", "\t", "  ", "\v", " \f")), rng.choice(("\n", "\r\n"))
    text = end.join(line.replace(" ", blank) for line in lines)
    return rng.choice(("", "", " ", "\ufeff")) + text + rng.choice((end, ""))


def _judgments(
    rng: random.Random, judgments: str, query: str, items: list[str], highest: int
) -> str:
    judged = rng.sample(items, rng.randint(1, len(items)))
    least = rng.choice((0, 0, -1, -1, -2))
    if judgments == "qrels":
        lines = [f"{query} 0 {item} {rng.randint(least, highest)}" for item in judged]
        return "\n".join(lines) + "\n"
    out = ""
    for group in rng.sample("abc", rng.randint(1, 3)):
        part = rng.sample(judged, rng.randint(1, len(judged)))
        levels = {item: rng.randint(least, highest) for item in part}
        if judgments != "prefs":
            out += "".join(f"{query} {group} {item} {level}\n" for item, level in levels.items())
            continue
        for subgroup in rng.sample("xyz", rng.randint(1, 3)):
            inside = rng.sample(part, rng.randint(1, len(part)))
            out += "".join(f"{query}\t{group} {subgroup} {i} {levels[i]}.0\n" for i in inside)
    return out


def _run(rng: random.Random, queries: list[str], items: list[str]) -> str:
    scores = rng.choice(((1, 2), (0.5, 1, 1.5, 2), tuple(i / 8 for i in range(100))))
    answered = [q for q in queries if rng.random() < 0.85] or queries[:1]
    pool = [*items, *rng.sample(_ITEMS, 3), *(f"u{i}" for i in range(rng.choice((0, 3, 30))))]
    lines = []
    for query in [*answered, "elsewhere"]:
        found = rng.sample(sorted(set(pool)), rng.randint(1, len(set(pool))))
        if rng.random() < 0.03:
            found.append(found[0])
        lines += [
            f"{query} Q0 {item} 1 {rng.choice(scores)} tag{rng.randint(1, 9)}" for item in found
        ]
    if rng.random() < 0.3:
        rng.shuffle(lines)
    if rng.random() < 0.05:
        lines.insert(0, "# a comment")
    if rng.random() < 0.1:
        odd = rng.choices(_ODD_SCORES, k=rng.randint(1, 3))
        lines += [f"{rng.choice(queries)} Q0 odd{i} 1 {score} tag" for i, score in enumerate(odd)]
    if rng.random() < 0.1:
        lines.insert(rng.randint(0, len(lines)), rng.choice(_ODD_LINES))
    if rng.random() < 0.1:
        return _spelled(rng, lines)
    return "\n".join(lines) + rng.choice(("\n", "", "\n\n"))


def _zscores(rng: random.Random, queries: list[str]) -> str:
    names = ("map", "P_5", "num_ret", "num_rel", "gm_map", "ndcg", "num_q", "infAP", "prefs_simp")
    return "".join(
        f"{query} {name} {rng.choice((0, 0.25, 1))} {rng.choice((0, 0.5, 2))}\n"
        for query in [*queries, "zz"]
        for name in (*names, "zzz")
    )


def written(made: dict[str, Any], folder: Path) -> list[str]:
    """Write the case's files; return the arguments, with the files where flags do not name them."""
    for name in ("qrels", "run", "zscores"):
        if name in made:
            (folder / name).write_bytes(made[name].encode("utf-8", "surrogateescape"))
    zscores = ["-Z", str(folder / "zscores")] if "zscores" in made else []
    names = {"QRELS": str(folder / "qrels"), "RUN": str(folder / "run")}
    files = [] if {"QRELS", "RUN"} & set(made["flags"]) else list(names.values())
    return [*zscores, *(names.get(flag, flag) for flag in made["flags"]), *files]


def said_by_trec_eval(binary: str, arguments: list[str]) -> tuple[str, int]:
    done = subprocess.run(
        [binary, *arguments], capture_output=True, check=False, stdin=subprocess.DEVNULL
    )
    return done.stdout.decode("utf-8", "surrogateescape"), done.returncode


def said_by_germane(arguments: list[str]) -> tuple[str, int]:
    from germane import cli

    kept, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO(), "utf-8")
    noise, sys.stderr = sys.stderr, io.StringIO()
    try:
        status = cli.main(["trec_eval", *arguments])
        sys.stdout.flush()
        return sys.stdout.buffer.getvalue().decode("utf-8", "surrogateescape"), status
    finally:
        sys.stdout, sys.stderr = kept, noise


def _compare(binary: str, seeds: range, judgments: str) -> Iterator[str]:
    """A line for every case that differs, and how many do not."""
    same = 0
    for seed in seeds:
        with tempfile.TemporaryDirectory() as name:
            made = case(seed, judgments)
            arguments = written(made, Path(name))
            theirs, ours = said_by_trec_eval(binary, arguments), said_by_germane(arguments)
        if theirs[1] < 0:  # it crashed: what it should have said is not known
            yield f"{seed}: trec_eval ended with signal {-theirs[1]}, germane with {ours[1]}"
        elif theirs != ours:
            yield f"{seed}: {made['flags']}, status {theirs[1]} and {ours[1]}"
            pairs = zip(theirs[0].splitlines(), ours[0].splitlines(), strict=False)
            yield from [f"    {a!r}\n    {b!r}" for a, b in pairs if a != b][:3]
        else:
            same += 1
    yield f"{same} of {len(seeds)} cases are the same"


def _record(binary: str) -> None:
    """As many of the first cases as fit in a small file, and others with something new in them."""
    cases: list[dict[str, Any]] = []
    seen: set[Any] = set()
    size = 0
    for seed in range(1200):
        made = case(seed)
        with tempfile.TemporaryDirectory() as name:
            output, status = said_by_trec_eval(binary, written(made, Path(name)))
        if status < 0:
            continue
        parts = {status, "-nan" in output, *(line.split()[0] for line in output.splitlines())}
        if len(output) < 9000 and (size + len(output) < 90_000 or not parts <= seen):
            seen |= parts
            size += len(output) + len(made["run"]) + len(made["qrels"])
            cases.append({"seed": seed, **made, "output": output, "status": status})
    RECORDED.write_text(json.dumps(cases, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    if sys.argv[2] == "record":
        _record(sys.argv[1])
    else:
        numbers = [int(text) for text in sys.argv[2:] if text.isdigit()]
        only = "" if sys.argv[-1].isdigit() else sys.argv[-1]
        for text in _compare(sys.argv[1], range(*numbers), only):
            sys.stdout.write(text + "\n")
