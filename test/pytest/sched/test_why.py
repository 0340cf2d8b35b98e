"""Why does my job wait? What qstat says where the scheduler has not said it."""
import time

import pytest

from harness.wait import until

pytestmark = pytest.mark.complex(nodes=1, ncpus=2)


def said(cx, job, *options):
    """The line below the job's own."""
    lines = cx.command("qstat", "-w", *options, job).stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(job.split(".")[0] + "."))
    return lines[at + 1].strip() if at + 1 < len(lines) else ""


@pytest.mark.parametrize("option", ["-s", "-T"])
def test_a_held_job_says_who_holds_it_and_a_dependent_one_what_it_waits_for(cx, option):
    held = cx.submit(Hold_Types="u")
    dependent = cx.submit(depend=f"afterok:{held}")
    later = cx.submit(Execution_Time=str(int(time.time()) + 86400))
    assert said(cx, held, option) == "Held by its owner"
    assert said(cx, dependent, option) == f"Waits for afterok:{held}"
    assert said(cx, later, option).startswith("Waits until ")
    assert "--" not in said(cx, held, option)


def test_an_array_that_runs_as_many_subjobs_as_may_says_so_although_there_is_room(cx):
    array = cx.submit(array_indices_submitted="1-3", max_run_subjobs="1")
    cx.wait(array.replace("[]", "[1]"))
    for job in (array, array.replace("[]", "[2]")):
        told = cx.command("pbs_explain", job).stdout
        assert "Number of concurrent running subjobs limit reached" in told and "has room" not in told, told
        assert "it runs when another subjob of its array has ended" in told, told


def test_a_suspended_victim_names_the_job_that_has_its_room(cx):
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", "S")
    low = cx.submit(select="1:ncpus=2")
    cx.wait(low)
    until(lambda: cx.stat(low)["substate"] == "42", "it to be up")
    urgent = cx.submit(select="1:ncpus=2", queue="express")
    cx.wait(urgent)
    cx.wait(low, "S")
    waits = cx.submit(select="1:ncpus=2")
    until(lambda: "Not Running" in cx.stat(waits).get("comment", ""), "the scheduler's comments")
    assert said(cx, low, "-s") == cx.stat(low)["comment"] == f"Suspended for {urgent}"
    cx.api.delete(urgent)
    cx.wait(low, "R")
    assert cx.stat(low)["comment"].startswith("Job run at ")


def test_a_waiting_job_shows_the_comment_of_the_scheduler(cx):
    job = cx.submit(select="1:ncpus=9")
    until(lambda: cx.stat(job).get("comment"), "the comment")
    assert said(cx, job, "-s") == cx.stat(job)["comment"] == said(cx, job, "-T")


def test_a_job_of_an_offline_host_says_so_in_the_words_of_who_took_it_away(cx):
    cx.command("pbsnodes", "-o", "-C", "disk swap", "n1")
    job = cx.submit(select="1:ncpus=1")
    until(lambda: said(cx, job, "-s") == "Not Running: node n1 is offline: disk swap", lambda: cx.describe(job))
    cx.command("pbsnodes", "-o", "-C", "new disk", "n1")
    until(lambda: said(cx, job, "-s") == "Not Running: node n1 is offline: new disk", lambda: cx.describe(job))
    cx.command("pbsnodes", "-r", "n1")
    cx.wait(job)
