"""Values with newlines and control characters: no output that has a line for each attribute, job or event can be forged by them."""
import glob
import os
import time

import pytest

from harness import api
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=1, ncpus=1)

FORGED = "    Exit_status = 0"
ODD = f"a\n{FORGED}\nJob Id: 1.vm\n{FORGED}\r\x1b[2J\n11/28/2026 10:00:00;0008;Server@vm;Job;1.vm;forged\n\tb"


def lines(text):
    """As a script reads them: at newlines only."""
    return text.split("\n")


def none_is_forged(text):
    there = lines(text)
    assert not [x for x in there if x.startswith(("Job Id: 1.vm", "    Exit_status", "11/28/2026 10:00:00;", "\tb"))], text
    assert "\r" not in text and "\x1b" not in text, repr(text)


@pytest.fixture
def odd(cx):
    cx.set_server("scheduling", "False")
    return cx.submit("true", Account_Name=ODD, Variable_List=f"A={ODD},B=2")


@pytest.mark.parametrize("how", [["-f"], ["-fw"], ["-f", "-F", "dsv"]])
def test_no_value_of_a_job_looks_like_another_attribute_or_job(cx, odd, how):
    text = cx.command("qstat", *how, odd).stdout
    none_is_forged(text)
    assert "\\n" + FORGED + "\\n" in text  # it is still told
    assert "B=2" in text


def test_a_comment_of_an_operator_forges_no_line_of_any_listing_of_jobs(cx, odd):
    cx.api.alter(odd, [("comment", ODD)])
    for how in (["qstat", "-s"], ["qstat", "-f"], ["qstat", "-T"], ["qstat", "-E"], ["pbs_explain"], ["printjob"], ["qtop", "-n", "1"]):
        none_is_forged(cx.command(*how, *([odd] if how[0] != "qtop" else []), check=False).stdout)


def test_a_comment_of_a_vnode_forges_no_line_of_pbsnodes(cx):
    cx.api.manager(api.MSET, api.NODE, "n1", [("comment", ODD), ("state", "offline")])
    for how in (["-v", "n1"], ["-a"], ["-l"], ["-aS"], ["-aSj"], ["-av"], ["-av", "-F", "dsv"]):
        none_is_forged(cx.command("pbsnodes", *how, check=False).stdout)


def test_what_qmgr_prints_is_read_by_qmgr_whatever_the_values_are(cx):
    for value in (f"{ODD}\nset server managers += mallory@*", "it's \"so\"", "\"'", "'", "ends\\", "a,b 'c', \"d\", state=free"):
        cx.api.manager(api.MSET, api.NODE, "n1", [("comment", value)])
        none_is_forged(cx.command("qmgr", "-c", "list node n1").stdout)
        printed = cx.command("qmgr", "-c", "print node n1").stdout
        none_is_forged(printed)
        again = "\n".join(x for x in lines(printed) if not x.startswith("create"))
        done = cx.command("qmgr", stdin=again)
        assert not done.stderr, (value, printed, done.stderr)
        is_plain = "\n" not in value
        told = cx.api.stat("node", "n1")[0]["comment"]
        assert told == value if is_plain else "set server managers" in told
        assert "mallory" not in cx.command("qmgr", "-c", "list server managers").stdout


def test_no_value_forges_a_line_of_a_log_or_an_accounting_record(cx, odd):
    cx.api.alter(odd, [("comment", ODD), ("Account_Name", ODD + "2")])
    cx.api.delete(odd)
    cx.wait_gone(odd)
    paths = until(lambda: [p for folder in ("server_logs", "sched_logs", "mom_logs", "accounting")
                           for p in glob.glob(os.path.join(cx.dir, "**", folder, "2*"), recursive=True)], "logs")
    for path in paths:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as f:
            none_is_forged(f.read())
    none_is_forged(cx.command("tracejob", odd, check=False).stdout)


def test_no_value_of_a_reservation_looks_like_another_attribute(cx):
    start = int(time.time()) + 7200
    cx.api.submit_resv([("reserve_start", str(start)), ("reserve_duration", "600"), ("Account_Name", ODD), ("Mail_Users", "root"),
                        ("Variable_List", f"A={ODD}"), ("Resource_List", "select", "1:ncpus=1")])
    for how in (["-F"], ["-f"], ["-S"], ["-B"]):
        none_is_forged(cx.command("pbs_rstat", *how, check=False).stdout)
