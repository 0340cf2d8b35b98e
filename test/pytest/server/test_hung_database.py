"""A database that hangs is said; reads go on, promises wait, and all is well when it goes on."""
import os
import threading

import pytest

from harness import faults
from harness.wait import until


def backends(cx):
    """The processes of the complex's own cluster that serve connections."""
    found = []
    for place, _, names in os.walk(cx.dir):
        if "postmaster.pid" in names:
            with open(os.path.join(place, "postmaster.pid"), encoding="ascii") as f:
                parent = int(f.readline())
            for pid in faults.processes_called("pbs_datastore"):
                if faults.parent(pid) == parent:
                    found.append(pid)
    assert found, "no cluster of this complex"
    return found


@pytest.mark.complex(nodes=0, sched=False, store="postgres")
def test_a_database_that_hangs_is_said_and_promises_wait(cx):
    job, done = cx.submit(), []

    def submit():
        c = cx.connect()
        done.append(c.submit([("Output_Path", None, "/dev/null"), ("User_List", None, "nobody")], cx.script("true")))
        c.close()
    with faults.frozen(*backends(cx)):
        t = threading.Thread(target=submit, daemon=True)
        t.start()
        until(lambda: "has not answered" in cx.log("server"), "the server to say that its database hangs")
        assert cx.state(job) == "Q" and not done
    t.join(120)
    assert done and cx.state(done[0]) == "Q"
    until(lambda: "changes are stored again" in cx.log("server"), "the line that says that changes are stored again")
