"""germane trec_eval against what NIST's program printed, byte for byte, and its ways in."""

import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from math import log2
from pathlib import Path
from typing import Any

import pytest

import trec_eval_cases
from trec_eval_cases import case, said_by_germane, said_by_trec_eval, written

CASES: list[dict[str, Any]] = json.loads(trec_eval_cases.RECORDED.read_text("utf-8"))
QRELS, RUN = "q1 0 d1 1\nq1 0 d2 0\n", "q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\n"
ANSWER = "map                   \tall\t0.5000\n"


@pytest.mark.parametrize("recorded", CASES, ids=lambda case: str(case["seed"]))
def test_prints_what_trec_eval_prints(recorded: dict[str, Any], tmp_path: Path) -> None:
    said = said_by_germane(written(recorded, tmp_path))
    assert said == (recorded["output"], recorded["status"])


@pytest.mark.skipif(shutil.which("trec_eval") is None, reason="trec_eval is not on the PATH")
@pytest.mark.parametrize("seed", range(1000, 1050))
def test_agrees_with_trec_eval_itself(seed: int, tmp_path: Path) -> None:
    """All but rbp, which depends on memory that trec_eval does not set."""
    arguments = written(case(seed), tmp_path)
    theirs, status = said_by_trec_eval("trec_eval", arguments)
    if status < 0:
        pytest.skip("trec_eval crashed")
    ours = said_by_germane(arguments)
    without = [
        re.sub(r"^Z?rbp[_ ].*\n", "", text, flags=re.MULTILINE) for text in (theirs, ours[0])
    ]
    assert without[0] == without[1]
    assert status == ours[1]


# --- Ways in ---------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "map", "qrels", "run"],
        ["qrels", "run", "-mmap"],
        ["qrels", "--measure=map", "run"],
        ["--meas", "map", "--", "qrels", "run"],
        ["-m", "map.ignored", "qrels", "run"],
        ["-cm", "map", "-l1", "-N", "10", "qrels", "run"],
    ],
)
def test_flags_may_be_written_in_every_way_of_getopt(files: Path, arguments: list[str]) -> None:
    assert said_by_germane(arguments) == (ANSWER, 0)


@pytest.mark.parametrize("name", ["-", "-anything"])
def test_standard_input(files: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    assert said_by_germane(["-m", "map", "-m", "runid", "--", "qrels", name]) == (
        "runid                 \tall\tt\n" + ANSWER,
        0,
    )


def test_a_pipe_is_read_once(files: Path) -> None:
    os.mkfifo("pipe")
    threading.Thread(target=lambda: Path("pipe").write_text(RUN), daemon=True).start()
    assert said_by_germane(["-m", "map", "-m", "runid", "qrels", "pipe"])[0].endswith(ANSWER)


def test_compressed_files_are_read_too(files: Path) -> None:
    for name, text in (("qrels", QRELS), ("run", RUN)):
        (files / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert said_by_germane(["-m", "map", "-m", "runid", "qrels.gz", "run.gz"]) == (
        "runid                 \tall\tt\n" + ANSWER,
        0,
    )


@pytest.mark.slow
def test_the_tag_of_the_last_line_wherever_it_is(files: Path) -> None:
    """Blank lines and comments may follow it, for longer than what is read of the end at first."""
    Path("run").write_text(RUN + "# comment\n \n" * 20_000)
    assert "runid                 \tall\tt\n" in said_by_germane(["qrels", "run"])[0]


def test_ids_that_are_not_utf8_are_printed_as_they_are(files: Path) -> None:
    Path("qrels").write_bytes(b"q\xff 0 d1 1\n")
    Path("run").write_bytes(b"q\xff Q0 d1 1 1 \xfe\n")
    out, _ = said_by_germane(["-q", "-m", "map", "-m", "runid", "qrels", "run"])
    assert out.encode("utf-8", "surrogateescape").splitlines()[:2] == [
        b"map                   \tq\xff\t1.0000",
        b"runid                 \tall\t\xfe",
    ]


def test_the_console_script(files: Path) -> None:
    code = "import sys, germane_command; sys.exit(germane_command.trec_eval())"
    command = [sys.executable, "-c", code, "-m", "map", "qrels"]
    done = subprocess.run([*command, "run"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == (ANSWER, "", 0)
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


# --- What nobody judged ----------------------------------------------------------------------------

LISTED = "".join(
    f"q Q0 {item} 1 {9 - i} t\n" for i, item in enumerate(("u1", "p", "d1", "u2", "d0"))
)
"""Ranks 1 and 4 are not judged, rank 2 is pooled only; d1 has grade 1, d0 and what is missing 0."""
JUDGED = "q 0 p -3\nq 0 d1 1\nq 0 d0 0\nq 0 missing 0\n"


@pytest.mark.parametrize(
    ("flags", "value"),
    [
        # three judgments from 0; -l -1 is reached on ranks 1, 3, 4, 5, and -l -2 on rank 2 as well
        (["-l-1", "-m", "map"], (1 / 1 + 2 / 3 + 3 / 4 + 4 / 5) / 3),
        (["-l-2", "-m", "map"], 5 / 3),
        (["-l-1", "-m", "recall.5"], 4 / 3),
        (["-l-1", "-m", "P.2"], 1 / 2),
        (["-l-1", "-m", "recip_rank"], 1.0),
        (["-l-1", "-m", "Rprec"], 2 / 3),
        (["-l-1", "-m", "relative_P.5"], 4 / 3),
        (["-l-1", "-m", "set_recall"], 2 / 3),  # d1 and d0 are the only ones counted as retrieved
        (["-l-1", "-m", "num_rel_ret"], 2),
        (["-l-1", "-m", "num_rel"], 3),
        (["-l-1", "-m", "bpref"], 2 / 3),
        # from the end, two are seen: d0 on rank 5 is the second, u2 on rank 4 the first
        (["-l-1", "-m", "iprec_at_recall.0.3"], 2 / 5),
        (["-l-1", "-m", "Rprec_mult.1"], 0.0),
        (["-l-1", "-m", "Rprec_mult.1.3"], 1 / 4),
        (["-l-1", "-J", "-m", "map"], (1 / 1 + 2 / 2) / 3),
        (["-m", "dcg.-1=2"], 2 / log2(2) + 1 / log2(4) + 2 / log2(5)),
        (["-m", "dcg.-2=5"], 5 / log2(3) + 1 / log2(4)),
        (["-m", "dcg.-3=5"], 1 / log2(4)),  # all negative judgments are -2
        (["-m", "ndcg.-1=2"], 2 / log2(2) + 1 / log2(4) + 2 / log2(5)),  # d1 alone is ideal
        (["-m", "rbp.-1=2,p=0.5"], 0.5 * (1 + 0.5 * 0.5**2 + 0.5**3)),  # scaled by the highest, 2
        (["-m", "dcg.1=5,1=3,0=0"], 3 / log2(4)),  # the lesser gain where it stands,
        (["-m", "ideal_dcg.1=5,1=3,0=0"], 5.0),  # the first in the ideal ranking
        (["-c", "-m", "num_ret"], 5),
    ],
)
def test_what_nobody_judged_can_be_relevant_or_gain(
    tmp_path: Path, flags: list[str], value: float
) -> None:
    """The values are trec_eval's, to four decimals; here they are written out."""
    out, status = said_by_germane(
        written({"flags": flags, "qrels": JUDGED, "run": LISTED}, tmp_path)
    )
    assert status == 0
    assert float(out.split()[2]) == pytest.approx(value, abs=0.50001e-4)


@pytest.mark.parametrize("highest", [9, 65_535, 65_536, 99_999_999])
def test_gains_beside_a_grade_beyond_reason(tmp_path: Path, highest: int) -> None:
    """It took memory for every grade up to it."""
    judged, listed = f"q 0 a {highest}\nq 0 b 1\n", "q Q0 b 1 2 t\nq Q0 a 2 1 t\n"
    flags = ["-m", "ndcg.1=3"]
    out, _ = said_by_germane(written({"flags": flags, "qrels": judged, "run": listed}, tmp_path))
    value = (3 + highest / log2(3)) / (highest + 3 / log2(3))
    assert float(out.split()[2]) == pytest.approx(value, abs=0.50001e-4)


def test_grades_that_no_judgment_has_are_put_in_order_too(tmp_path: Path) -> None:
    """1.5 and 0.7 are no whole number apart: the ideal ranking ends after 5, which is trec_eval's value."""
    judged = "q 0 a 5\nq 0 b 6\nq 0 c 0\n"
    flags = ["-m", "ideal_dcg.6=1.5,3=0.7"]
    given = {"flags": flags, "qrels": judged, "run": "q Q0 a 1 1 t\n"}
    assert float(said_by_germane(written(given, tmp_path))[0].split()[2]) == 5.0


def test_a_made_up_result_reaches_a_level_below_0(tmp_path: Path) -> None:
    made = {"flags": ["-qc", "-l-1", "-m", "map"], "qrels": JUDGED + "r 0 d1 1\n", "run": LISTED}
    assert "map                   \tr\t1.0000\n" in said_by_germane(written(made, tmp_path))[0]


def test_a_query_without_grades_has_no_ideal_ranking(tmp_path: Path) -> None:
    made = {
        "flags": ["-q", "-m", "ideal_dcg"],
        "qrels": "a 0 d 3\nb 0 d -1\nc 0 d 2\n",
        "run": "".join(f"{query} Q0 d 1 1 t\n" for query in "abc"),
    }
    out, _ = said_by_germane(written(made, tmp_path))
    assert [line.split()[2] for line in out.splitlines()] == [
        "3.0000",
        "0.0000",
        "2.0000",
        "1.6667",
    ]


@pytest.mark.parametrize(
    ("levels", "value"),
    [
        ("0.5,1", (1 / 2 + 2 / 5) / 2),
        ("1,0.5", (1 / 2 + 1 / 2) / 2),  # 1 was passed: both have the value at recall 0
        ("0.5,2", (1 / 2 + 0) / 2),  # 2 is not reached
        ("2,0.5", (1 / 2 + 1 / 2) / 2),
    ],
)
def test_levels_of_11pt_avg_count_in_the_order_given(
    tmp_path: Path, levels: str, value: float
) -> None:
    """Precisions are 1/2 at the first relevant item, on rank 2, and 2/5 at the second."""
    run = "".join(f"q Q0 {item} 1 {9 - i} t\n" for i, item in enumerate(("u", "a", "v", "w", "b")))
    made = {"flags": ["-m", f"11pt_avg.{levels}"], "qrels": "q 0 a 1\nq 0 b 1\n", "run": run}
    assert float(said_by_germane(written(made, tmp_path))[0].split()[2]) == pytest.approx(value)


# --- Odd files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("qrels", "run", "output", "status"),
    [
        ("\ufeff" + QRELS, RUN, "", 4),  # the mark is part of the id of a query that the run lacks
        (QRELS, "\ufeff" + RUN, "map                   \tall\t1.0000\n", 0),
        (QRELS, RUN.replace(" t\n", " \n"), "", 2),
        (QRELS, RUN.replace(" t\n", " t \n"), ANSWER, 0),
        (QRELS, RUN.replace(" t\n", "\t\r\n"), "", 2),
        (QRELS, RUN.replace("\n", "\r\n"), ANSWER, 0),
        (QRELS, RUN.replace(" t\n", " t\r"), "map                   \tall\t0.0000\n", 0),
        (QRELS, RUN.replace("d2", "d2\v1 3 t"), ANSWER, 0),
        (QRELS, RUN.replace("d1 1", "d1\f1"), ANSWER, 0),
        (QRELS, RUN.replace(" 2 t", " nan t"), ANSWER, 0),
        (QRELS, RUN.replace(" 1 t", " 1e400 t"), "map                   \tall\t1.0000\n", 0),
        (QRELS.replace(" 1\n", " 1x\r\n"), RUN, ANSWER, 0),
    ],
)
def test_odd_files_are_read_as_trec_eval_reads_them(
    tmp_path: Path, qrels: str, run: str, output: str, status: int
) -> None:
    made = {"flags": ["-m", "map"], "qrels": qrels, "run": run}
    assert said_by_germane(written(made, tmp_path)) == (output, status)


def test_a_file_of_standard_scores_is_read_after_the_others(files: Path) -> None:
    """So a qrels file that is not there ends it with 2, and a bad parameter with 255."""
    assert said_by_germane(["-Z", "absent", "-m", "P.0", "absent", "run"])[1] == 2
    assert said_by_germane(["-Z", "absent", "-m", "P.0", "qrels", "run"])[1] == 255
    assert said_by_germane(["-m", "P.0", "qrels", "run"])[1] == 2


def test_of_standard_scores_for_one_measure_a_binary_search_finds_one(files: Path) -> None:
    """The middle one of three: map is 0.5, its distance from 0.25 half a deviation of 0.5."""
    Path("z").write_text("".join(f"q1 map {mean} 0.5\n" for mean in (0.5, 0.25, 0)))
    out = said_by_germane(["-q", "-n", "-Z", "z", "-m", "map", "qrels", "run"])
    assert out == ("Zmap                   \tq1\t0.5000\n", 0)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["-v", "-x"], 0), (["-qv", "-M"], 0), (["-x", "-v"], 1), (["-m", "no", "-v"], 1)],
)
def test_flags_count_from_the_first_to_one_that_is_wrong(arguments: list[str], status: int) -> None:
    assert said_by_germane(arguments)[1] == status


def test_an_item_judged_twice_by_a_group_is_an_error_at_once(files: Path) -> None:
    Path("qrels").write_text("q1 a d1 1\nq1 b d1 1\nq0 a d1 0\nq0 a d1 0\n")
    assert said_by_germane(["-R", "qrels_jg", "-m", "num_q", "qrels", "run"]) == ("", 2)


def test_names_are_padded_by_bytes(files: Path) -> None:
    out, _ = said_by_germane(["-m", "ndcg.\u0663=2", "qrels", "run"])
    assert out.startswith("ndcg_\u0663=2" + " " * (22 - len("ndcg_=2") - 2) + "\tall")
