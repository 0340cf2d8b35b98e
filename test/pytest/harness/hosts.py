"""What tests of jobs on several hosts share."""
import pytest

from harness.wait import until
from harness.work import account_lines

stores = pytest.mark.parametrize("store", [
    pytest.param(s, marks=pytest.mark.complex(nodes=3, history=True, store=s)) for s in ("sqlite", "postgres")])


def running(cx, job, run=1):
    """Until the script of this run has started: the first host has said so."""
    return until(lambda: (s := cx.stat(job)) and s["substate"] == "42" and s["run_count"] == str(run) and s,
                 lambda: f"run {run} of job {job}; it is {cx.describe(job)}")


def accounting(cx, job, kind):
    """Records of this kind, as soon as there is one: lines are written a moment after their batch."""
    return until(lambda: [line for line in account_lines(cx) if line.split(";")[1:3] == [kind, job]], f"a record {kind} of {job}")
