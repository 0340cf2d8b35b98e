"""qtop: what it shows is what qstat and pbsnodes know, in a terminal and as text."""
import itertools
import os
import re

import pytest

from harness import users
from harness.terminal import OWNER, Terminal
from harness.wait import until

pytestmark = [
    pytest.mark.complex(nodes=2, ncpus=4, history=True),
    pytest.mark.skipif("asan" in os.environ.get("CEDE_BUILD", ""), reason="Python itself is not built with the sanitizers"),
]


def begun(cx, **how):
    job = cx.submit("sleep 600", **how)
    until(lambda: cx.stat(job)["substate"] == "42", "the job running")
    return job


def shown(cx, *options, user=None):
    return cx.command("qtop", "-b", *options, user=user).stdout.splitlines()


@pytest.fixture
def victim(cx):
    """A job that was suspended for another, and that other one."""
    cx.make_queue("urgent", Priority="200")
    cx.set_sched("preempt_order", "S")
    low = begun(cx, select="2:ncpus=4")
    return low, begun(cx, select="1:ncpus=2", queue="urgent")


def test_jobs_are_shown_with_where_they_run_or_why_not(cx, victim):
    low, high = victim
    held = cx.submit("true", Hold_Types="u", Job_Name="held_one")
    lines = shown(cx)
    assert lines[0].endswith("2 of 8") and lines[1].startswith("jobs 1R 1S 1H   nodes ")
    of = {line.split()[0]: line for line in lines[4:]}
    assert list(of) == [high, low, held]
    assert of[high].split()[4:6] == ["R", "2"] and of[high].endswith("n1")
    assert of[low].endswith(f"suspended for {high}") and " H " in of[held] and "held_one" in of[held]
    assert shown(cx, "-f", "held_one")[4:] == [of[held]] and shown(cx, "-u", "nobody_else")[4:] == []


def test_preemptions_are_shown_with_method_and_number(cx, victim):
    low, high = victim
    assert shown(cx, "-v", "preemptions")[4].split()[:6] == [low, cx.stat(low)["Job_Owner"].split("@")[0], "S", high, "S", "1"]


def test_nodes_are_shown_with_use_and_jobs(cx, victim):
    cx.command("pbsnodes", "-o", "-C", "new disk", "n2")
    rows = {line.split()[0]: line for line in shown(cx, "-v", "nodes")[4:]}
    assert "[##########..........]       2/4" in rows["n1"] and victim[1] in rows["n1"]
    assert " offline " in rows["n2"] and rows["n2"].endswith("new disk")


@pytest.mark.skipif(os.geteuid() != 0, reason="takes users of several numbers")
def test_jobs_of_others_are_hidden_where_the_site_says_so(cx):
    job = begun(cx, user=users.NAMES[0])
    cx.set_server("query_other_jobs", "False")
    assert [line.split()[0] for line in shown(cx, user=users.NAMES[0])[4:]] == [job]
    assert shown(cx, user=users.NAMES[1])[4:] == []


def test_without_a_terminal_or_a_server_it_says_so(cx):
    done = cx.command("qtop", check=False)
    assert done.returncode == 2 and done.stderr == "qtop: this is no terminal; qtop -b prints once\n"
    done = cx.command("qtop", "-b", "127.0.0.1:1", check=False)
    assert done.returncode == 1 and done.stderr.startswith("qtop: ")


def test_a_terminal_follows_the_complex_and_its_keys(cx):
    t = Terminal(cx, program=("qtop",))
    try:
        t.expect("0 of 8")
        job = begun(cx, Job_Name="first_job", user=OWNER)
        t.expect("first_job")
        t.type("n")
        t.expect("0/4")  # curses sends what differs from the view before
        t.type("j")
        t.expect("first_job")
        t.type("\r")
        t.expect(r"Job_Name = first_job")
        t.type(" ")
        t.expect("of +Where")
        t.type("/nothing\n")
        t.expect("find:")
        t.type("/\n")
        t.expect(job.split(".")[0])
        cx.command("qdel", job)
        cx.wait(job, "F")
        rows = itertools.cycle((10, 12))

        def drawn_again():
            t.resize(next(rows), 100)  # curses then sends the whole screen, else only what differs
            return re.search(r"0 of 8[^j]*jobs +nodes", t.read(0.5))

        until(drawn_again, "the node free again")
        t.type("q")
        until(lambda: t.process.poll() is not None, "the end of qtop")
        assert t.process.returncode == 0
    finally:
        t.close()
