"""What tests of jobs on several hosts share."""
import os

import pytest

from cede.wait import until

stores = pytest.mark.parametrize("store", [
    pytest.param(s, marks=pytest.mark.complex(nodes=3, history=True, store=s)) for s in ("sqlite", "postgres")])


def running(cx, job, run=1):
    """Until the script of this run has started: the first host has said so."""
    return until(lambda: (s := cx.stat(job)) and s["substate"] == "42" and s["run_count"] == str(run) and s,
                 lambda: f"run {run} of job {job}; it is {cx.describe(job)}")


def accounting(cx, job, kind):
    """Records of this kind, as soon as there is one: lines are written a moment after their batch."""
    folder = os.path.join(cx.home, "server_priv", "accounting")

    def look():
        found = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                found += [line for line in f if line.split(";")[1:3] == [kind, job]]
        return found
    return until(look, f"a record {kind} of {job}")
