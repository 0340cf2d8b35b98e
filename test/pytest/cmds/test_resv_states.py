"""What pbs_rstat -f -F json shows of a reservation in each of its states; this test is its scheduler."""
import json

import pytest

from harness.desk import SOON_S, Desk, queue

pytestmark = pytest.mark.complex(nodes=1, sched=False, clock=True)
NODES = "(n1:ncpus=1)"
DAY_S = 24 * 3600
ALWAYS = {"Reserve_Name", "Reserve_Owner", "reserve_state", "reserve_substate", "reserve_start", "reserve_end", "reserve_duration", "queue", "Resource_List",
          "schedselect", "Authorized_Users", "server", "ctime", "Mail_Points", "mtime", "Variable_List", "euser", "egroup", "reserve_rrule",
          "reserve_index", "reserve_count", "Submit_Host"}
PERIOD = {"reserve_start", "reserve_end", "reserve_duration", "reserve_index", "Resource_List", "mtime"}


class Shown:
    def __init__(self, desk, resv):
        self.desk, self.resv = desk, resv
        self.first = self.now()

    def now(self):
        return json.loads(self.desk.cx.command("pbs_rstat", "-f", "-F", "json", self.resv).stdout)["resvs"][self.resv]

    def check(self, state, numbers, *more, lasts=600, index=1, nodes=NODES):
        """In this state it has what a reservation always has and `more`; what does not change is as it was."""
        self.desk.wait(self.resv, state)
        s, d = self.now(), self.desk.stat(self.resv)
        assert (s["reserve_state"], s["reserve_substate"]) == numbers
        assert set(s) == ALWAYS | set(more) | ({"resv_nodes"} if nodes else set()), state
        assert {k: s[k] for k in ALWAYS - PERIOD - {"reserve_state", "reserve_substate"}} == {
            k: self.first[k] for k in ALWAYS - PERIOD - {"reserve_state", "reserve_substate"}}
        assert s.get("resv_nodes") == nodes and (s["reserve_duration"], s["reserve_index"], s["reserve_count"]) == (lasts, index, 2)
        assert int(d["reserve_end"]) - int(d["reserve_start"]) == lasts
        assert s["Resource_List"] == {**self.first["Resource_List"], "walltime": f"00:{lasts // 60:02}:{lasts % 60:02}"}
        return s


def inside(cx, resv):
    job = cx.submit("sleep 600", queue=queue(resv), select="1:ncpus=1")
    cx.api.run(job, NODES)
    cx.wait(job, "R")
    return job


def test_each_state_has_its_attributes(cx):
    d = Desk(cx)
    resv = d.standing(start=SOON_S, select="1:ncpus=1", wait="UN")
    shown, start = Shown(d, resv), int(d.stat(resv)["reserve_start"])
    shown.check("UN", (1, 1), nodes=None)
    cx.api.confirm_resv(resv, f"2#{NODES}{{0-1}}")
    shown.check("CO", (2, 2))
    cx.command("pbs_ralter", "-D", "700", resv)
    shown.check("AL/CO", (11, 2), lasts=700)
    cx.api.confirm_resv(resv, extend="PBS_RESV_CONFIRM_FAIL:reason=no room")
    assert shown.check("CO", (2, 2), "comment")["comment"] == "Not altered: no room"
    cx.command("pbsnodes", "-o", "n1")
    assert shown.check("DG", (10, 10), "comment", "reserve_retry")["reserve_retry"] > cx.clock.now() - 60
    d.begin(resv, "RN/DG")
    shown.check("RN/DG", (5, 10), "comment", "reserve_retry")
    cx.command("pbsnodes", "-r", "n1")
    shown.check("RN", (5, 5))
    d.end(resv)
    d.wait(resv, "CO", reserve_index="2")
    shown.check("CO", (2, 2), index=2)
    assert int(d.stat(resv)["reserve_start"]) == start + DAY_S
    d.begin(resv)
    job = inside(cx, resv)
    cx.kill("n1")  # so that its job cannot end
    shown.check("RN/DG", (5, 10), "reserve_retry", index=2)
    cx.command("pbs_rdel", resv)
    shown.check("BD/DJ", (7, 9), "reserve_retry", index=2)
    cx.restart("n1")
    cx.wait_gone(job)
    d.gone(resv)
    done = cx.command("pbs_rstat", "-f", "-F", "json", resv, check=False)
    assert json.loads(done.stdout)["resvs"] == {} and "Unknown Reservation Id" in done.stderr
