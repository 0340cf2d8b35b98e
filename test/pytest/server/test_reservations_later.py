"""Standing reservations: a vnode of a later occurrence is lost, taken by maintenance or deleted."""
import pytest

from harness import api
from harness.desk import Desk
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0, clock=True)

PLACES = "3#(s1:ncpus=4){0}(s2:ncpus=4){1-2}"


@pytest.fixture
def desk(cx):
    with Simulator(cx, nodes=3, ncpus=4) as sim:
        cx.set_server("reserve_retry_time", "3600")
        yield Desk(cx, sim)


def standing(d, start=3600, places=PLACES, rule="FREQ=DAILY;COUNT=3"):
    """Confirmed by this test; the scheduler is asked for nothing until it is told to schedule."""
    d.cx.set_server("scheduling", "False")
    resv = d.new("-r", rule, start=start, lasts=60, wait="UN", env={"PBS_TZID": "UTC"})
    d.cx.api.confirm_resv(resv, places)
    assert d.state(resv) == "CO"
    return resv


def places(d, resv):
    return d.stat(resv)["reserve_execvnodes"]


def test_it_stays_confirmed_and_its_substate_says_so_until_the_vnode_is_back(desk, cx):
    resv = standing(desk)
    cx.command("pbsnodes", "-o", "s2")
    desk.wait(resv, "CO/DG", resv_nodes="(s1:ncpus=4)")
    assert int(desk.stat(resv)["reserve_retry"]) <= int(desk.stat(resv)["reserve_start"])
    cx.crash_server()
    assert desk.state(resv) == "CO/DG"
    cx.command("pbsnodes", "-o", "s1")
    desk.wait(resv, "DG")
    cx.command("pbsnodes", "-r", "s1")
    desk.wait(resv, "CO/DG")
    cx.command("pbsnodes", "-r", "s2")
    desk.wait(resv, "CO")
    assert "reserve_retry" not in desk.stat(resv) and desk.recorded("Y", resv, "Y")


def test_only_the_occurrences_that_have_lost_it_get_another_one(desk, cx):
    resv = standing(desk)
    cx.set_server("reserve_retry_time", "1")
    cx.command("pbsnodes", "-o", "s2")
    desk.wait(resv, "CO/DG")
    cx.set_server("scheduling", "True")
    desk.wait(resv, "CO")
    assert "s2" not in places(desk, resv) and places(desk, resv).startswith("3#(s1:ncpus=4){0")
    desk.recorded("Y", resv, "YY")


def test_where_there_is_no_other_one_it_is_tried_again(desk, cx):
    resv = standing(desk, places="3#(s1:ncpus=4){0}(s2:ncpus=4){1}(s1:ncpus=4){2}")
    cx.set_server("reserve_retry_time", "1")
    cx.command("pbsnodes", "-o", "s1", "s2", "s3")
    cx.command("pbsnodes", "-r", "s1")
    other = desk.new(start=3600 + 86400, wait="UN")
    cx.api.confirm_resv(other, "(s1:ncpus=4)")
    cx.set_server("scheduling", "True")
    desk.log("server", f"{resv};Reservation is in degraded mode")
    assert desk.state(resv) == "CO/DG" and ", in occurrence 2 of 3" in desk.stat(resv)["comment"]
    cx.command("pbs_rdel", other)
    desk.wait(resv, "CO")
    assert "s2" not in places(desk, resv)


def test_a_vnode_that_is_deleted_is_lost_to_later_occurrences(desk, cx):
    resv = standing(desk)
    with pytest.raises(api.PbsError) as e:
        cx.api.manager(api.DELETE, api.NODE, "s1")
    assert e.value.code == 15027
    cx.api.manager(api.DELETE, api.NODE, "s2")
    desk.wait(resv, "CO/DG")
    cx.set_server("reserve_retry_time", "1")
    cx.api.confirm_resv(resv, extend="PBS_RESV_CONFIRM_FAIL")
    cx.set_server("scheduling", "True")
    desk.wait(resv, "CO")
    assert "s2" not in places(desk, resv)


def test_maintenance_of_a_later_day_takes_its_vnodes_then(desk, cx):
    resv = standing(desk)
    for n in (1, 2, 3):
        cx.qmgr(f"set node s{n} resources_available.host=s{n}")
    before = desk.rsub("-R", desk.at(3600 + 3600), "-D", "600", "--hosts", "s2").stdout.split()[0]
    assert desk.state(resv) == "CO"
    host = desk.rsub("-R", desk.at(3600 + 86400 - 60), "-D", "600", "--hosts", "s2").stdout.split()[0]
    desk.wait(resv, "CO/DG")
    cx.command("pbs_rdel", host)
    desk.wait(resv, "CO")
    desk.rsub("-R", desk.at(3600 + 86400 - 60), "-D", "600", "--hosts", "s2")
    desk.wait(resv, "CO/DG")
    cx.set_server("reserve_retry_time", "1")
    cx.api.confirm_resv(resv, extend="PBS_RESV_CONFIRM_FAIL")
    cx.set_server("scheduling", "True")
    desk.wait(resv, "CO")
    assert places(desk, resv).count("s2") <= 1 and desk.state(before) == "CO"


def test_it_begins_on_time_and_is_whole_when_the_last_lost_occurrence_is_mended(desk, cx):
    resv = standing(desk)
    cx.command("pbsnodes", "-o", "s2")
    desk.wait(resv, "CO/DG")
    desk.begin(resv, "RN/DG")
    desk.end(resv)
    until(lambda: desk.stat(resv)["reserve_index"] == "2", desk.told(resv))
    desk.wait(resv, "DG")
    cx.command("pbsnodes", "-r", "s2")
    desk.wait(resv, "CO", resv_nodes="(s2:ncpus=4)")
