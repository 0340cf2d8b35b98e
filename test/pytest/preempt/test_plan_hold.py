"""Plan and hold: what pbs_preempt_run promises to whoever plans (design, "Plan and hold")."""
import pytest

from harness import api, faults
from harness.wait import until
from harness.work import accounting

pytestmark = pytest.mark.complex(nodes=2, ncpus=4, sched=False)

ROOM = "(n1:ncpus=4)"


def planner(cx, order="SCRD"):
    """Be the scheduler."""
    cx.set_sched("preempt_order", order)
    c = cx.connect()
    c.register("default")
    return c


def started(cx, where="(n1:ncpus=4)", text="sleep 600", **attrs):
    job = cx.submit(text, **attrs)
    cx.api.run(job, where)
    cx.wait(job)
    return job


def holds(cx):
    return {h.name: h for h in cx.api.stat("hold")}


def held(cx, node="n1"):
    return cx.node(node).get("resources_held", {})


def no_hold(cx):
    return until(lambda: not holds(cx), lambda: f"the end of all holds: {holds(cx)}")


# --- the plan is carried out
@pytest.mark.parametrize("order, state", [("S", "S"), ("R", "Q"), ("D", None)])
def test_the_job_starts_in_the_room_of_its_victim_without_another_request(cx, order, state):
    victim = started(cx)
    urgent = cx.submit(select="1:ncpus=4")
    planner(cx, order).preempt_run(urgent, ROOM, [victim])
    assert "n1:ncpus=4" in cx.wait(urgent)["exec_vnode"]
    until(lambda: cx.state(victim) == state, lambda: f"{victim} to be {state}")
    assert holds(cx) == {} and held(cx) == {}


def test_a_plan_without_victims_starts_at_once(cx):
    urgent = cx.submit(select="1:ncpus=4")
    planner(cx).preempt_run(urgent, ROOM, [])
    cx.wait(urgent)


def test_victims_that_have_ended_or_wait_are_out_of_the_way(cx):
    gone, waiting, urgent = cx.submit(), cx.submit(), cx.submit(select="1:ncpus=4")
    cx.api.delete(gone)
    planner(cx).preempt_run(urgent, ROOM, [gone, waiting])
    cx.wait(urgent)


def test_a_victim_says_for_whom_when_and_how_often_it_gave_way(cx):
    victim, urgent = started(cx), cx.submit(select="1:ncpus=4")
    planner(cx, "R").preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    v = cx.wait(victim, "Q")
    assert v["preempted_by"] == urgent and v["preempt_count"] == "1" and int(v["preempt_time"]) > 0


def test_free_room_and_the_room_of_victims_add_up(cx):
    victims = [started(cx, "(n1:ncpus=1)"), started(cx, "(n1:ncpus=2)")]
    urgent = cx.submit(select="1:ncpus=3+1:ncpus=4")
    planner(cx, "R").preempt_run(urgent, "(n1:ncpus=3)+(n2:ncpus=4)", [victims[1]])
    cx.wait(urgent)
    assert cx.state(victims[0]) == "R" and cx.state(victims[1]) == "Q"


def test_a_job_on_two_nodes_waits_for_the_last_of_its_victims(cx):
    first, second = started(cx, "(n1:ncpus=4)"), started(cx, "(n2:ncpus=4)")
    urgent = cx.submit(select="2:ncpus=4")
    c = planner(cx, "R")
    with faults.daemon_frozen(cx, "n2"):
        c.preempt_run(urgent, "(n1:ncpus=4)+(n2:ncpus=4)", [first, second])
        cx.wait(first, "Q")
        assert cx.state(urgent) == "Q" and held(cx)["ncpus"] == "4"
        assert holds(cx)[urgent]["victims_left"] == "1"
    cx.wait(urgent)


# --- nothing is promised to others meanwhile
def test_earmarked_room_is_given_to_no_other_job(cx):
    first, second = started(cx, "(n1:ncpus=4)"), started(cx, "(n2:ncpus=4)")
    urgent, filler = cx.submit(select="2:ncpus=4"), cx.submit()
    c = planner(cx, "R")
    with faults.daemon_frozen(cx, "n2"):
        c.preempt_run(urgent, "(n1:ncpus=4)+(n2:ncpus=4)", [first, second])
        cx.wait(first, "Q")
        with pytest.raises(api.PbsError) as e:
            c.run(filler, "(n1:ncpus=1)")
        assert e.value.code == 15044
    cx.wait(urgent)


def test_a_victim_is_not_promised_to_a_second_plan(cx):
    victim = started(cx)
    first, second = cx.submit(select="1:ncpus=4"), cx.submit(select="1:ncpus=4")
    c = planner(cx, "R")
    with faults.daemon_frozen(cx, "n1"):
        c.preempt_run(first, ROOM, [victim])
        with pytest.raises(api.PbsError) as e:
            c.preempt_run(second, ROOM, [victim])
        assert e.value.code == 15016
        assert first in e.value.text
    cx.wait(first)
    assert cx.state(second) == "Q"


def test_a_watcher_sees_an_earmark_made_and_removed(cx):
    """pbs_watch.3, PBS_KIND_HOLD."""
    victim, urgent = started(cx), cx.submit(select="1:ncpus=4")
    watch = cx.connect().watch({7: None})
    watch.catch_up()
    assert watch.objects == {}
    c = planner(cx, "R")
    with faults.daemon_frozen(cx, "n1"):
        c.preempt_run(urgent, ROOM, [victim])
        while (7, urgent) not in watch.objects:
            watch.next()
        assert watch.objects[(7, urgent)]["victims_left"] == "1"
    while watch.objects:
        watch.next()
    cx.wait(urgent)


def test_the_hold_shows_what_it_is_for(cx):
    victim, urgent = started(cx), cx.submit(select="1:ncpus=4")
    c = planner(cx, "R")
    with faults.daemon_frozen(cx, "n1"):
        c.preempt_run(urgent, ROOM, [victim], "deadline=500")
        h = cx.api.stat("hold", urgent)[0]
        assert h["job"] == urgent and h["exec_vnode"] == ROOM and h["victims"] == victim
        assert int(h["deadline"]) - int(h["ctime"]) == 500
        assert cx.stat(urgent)["room_held"] == "True" and cx.stat(victim)["gives_way"] == "True"
    cx.wait(urgent)


# --- refused, and no job was touched
def refused(cx, c, urgent, where, victims, extend=None):
    before = {j.name: (j.state, j.run_count) for j in cx.api.stat("job")}
    with pytest.raises(api.PbsError) as e:
        c.preempt_run(urgent, where, victims, extend)
    assert holds(cx) == {}
    assert {j.name: (j.state, j.run_count) for j in cx.api.stat("job")} == before
    return e.value


def test_a_plan_is_refused_when_its_victims_would_not_be_enough(cx):
    victims = [started(cx, "(n1:ncpus=1)"), started(cx, "(n1:ncpus=2)")]
    urgent = cx.submit(select="1:ncpus=4")
    e = refused(cx, planner(cx), urgent, ROOM, victims[:1])
    assert e.code == 15044 and "ncpus" in e.text and "n1" in e.text


def test_a_plan_is_refused_when_a_victim_is_in_another_run(cx):
    victim, urgent = started(cx), cx.submit(select="1:ncpus=4")
    e = refused(cx, planner(cx), urgent, ROOM, [(victim, 7, "S")])
    assert "run" in e.text and victim in e.text


def test_a_plan_is_refused_when_no_method_is_left_for_a_victim(cx):
    victim, urgent = started(cx, Rerunable="False"), cx.submit(select="1:ncpus=4")
    c = planner(cx, "R")
    assert victim in refused(cx, c, urgent, ROOM, [victim]).text
    cx.set_sched("preempt_order", "SD")
    assert victim in refused(cx, c, urgent, ROOM, [(victim, 0, "R")]).text


def test_a_plan_is_refused_for_a_job_that_is_held(cx):
    victim, urgent = started(cx), cx.submit(select="1:ncpus=4", Hold_Types="u")
    assert "held" in refused(cx, planner(cx), urgent, ROOM, [victim]).text


@pytest.mark.parametrize("where, victims, extend, code", [
    ("(nosuch:ncpus=1)", [], None, 15062), ("(n1:nosuch=1)", [], None, 15035), ("n1:(", [], None, 15014),
    (ROOM, [], "soon", 15004)])
def test_bad_arguments_are_refused_by_name(cx, where, victims, extend, code):
    urgent = cx.submit(select="1:ncpus=4")
    assert refused(cx, planner(cx), urgent, where, victims, extend).code == code


def test_only_a_scheduler_may_plan(cx):
    urgent = cx.submit(select="1:ncpus=4")
    assert refused(cx, cx.connect(), urgent, ROOM, []).code == 15007


# --- methods
def test_suspension_is_passed_over_where_memory_is_what_lacks(cx):
    victim = started(cx, "(n1:ncpus=1:mem=6gb)")
    urgent = cx.submit(select="1:ncpus=1:mem=4gb")
    planner(cx, "SR").preempt_run(urgent, "(n1:ncpus=1:mem=4gb)", [victim])
    cx.wait(urgent)
    assert cx.state(victim) == "Q"


def test_suspension_serves_where_the_site_says_that_it_frees_memory(cx):
    cx.set_server("restrict_res_to_release_on_suspend", "ncpus,mem")
    victim = started(cx, "(n1:ncpus=1:mem=6gb)")
    urgent = cx.submit(select="1:ncpus=1:mem=4gb")
    planner(cx, "SR").preempt_run(urgent, "(n1:ncpus=1:mem=4gb)", [victim])
    cx.wait(urgent)
    assert cx.state(victim) == "S"


def test_suspension_is_refused_where_it_keeps_what_is_needed_and_nothing_else_is_allowed(cx):
    cx.set_server("restrict_res_to_release_on_suspend", "mem")
    victim, urgent = started(cx), cx.submit(select="1:ncpus=4")
    assert refused(cx, planner(cx, "S"), urgent, ROOM, [victim]).code == 15044


def test_server_level_amounts_count_in_the_plan(cx):
    cx.qmgr("create resource lic type=long, flag=q")
    cx.set_server("resources_available", "4", "lic")
    victims = [started(cx, "(n1:ncpus=1)", l_lic="3"), started(cx, "(n1:ncpus=1)")]
    urgent = cx.submit(select="1:ncpus=1", l_lic="2")
    c = planner(cx, "R")
    assert "lic" in refused(cx, c, urgent, "(n2:ncpus=1)", [victims[1]]).text
    c.preempt_run(urgent, "(n2:ncpus=1)", [victims[0]])
    cx.wait(urgent)
    assert cx.state(victims[0]) == "Q" and cx.state(victims[1]) == "R"


def test_a_job_with_held_room_counts_as_running_for_limits(cx):
    cx.set_server("max_run", "[o:PBS_ALL=2]")
    victim, other, urgent = started(cx), cx.submit(select="1:ncpus=1"), cx.submit(select="1:ncpus=4")
    more = cx.submit(select="1:ncpus=1")
    c = planner(cx, "R")
    with faults.daemon_frozen(cx, "n1"):
        c.preempt_run(urgent, ROOM, [victim])
        with pytest.raises(api.PbsError) as e:
            c.run(other, "(n2:ncpus=1)")
        assert e.value.code == 15044 and "limit" in e.value.text
    cx.wait(urgent)
    c.run(other, "(n2:ncpus=1)")
    with pytest.raises(api.PbsError):
        c.run(more, "(n2:ncpus=1)")


def test_a_plan_that_a_limit_would_stop_is_refused_unless_its_victims_count_there(cx):
    cx.set_server("max_run", "[o:PBS_ALL=1]")
    victim, urgent = started(cx, "(n1:ncpus=1)"), cx.submit(select="1:ncpus=4")
    c = planner(cx, "R")
    assert "limit" in refused(cx, c, urgent, "(n2:ncpus=4)", []).text
    c.preempt_run(urgent, "(n2:ncpus=4)", [victim])
    cx.wait(urgent)
    assert cx.state(victim) == "Q"


def test_a_job_that_wants_a_node_alone_may_have_a_suspended_one_beside_it(cx):
    victim = started(cx, "(n1:ncpus=1)")
    urgent = cx.submit(select="1:ncpus=1", l_place="excl")
    planner(cx, "S").preempt_run(urgent, "(n1:ncpus=1)", [victim])
    cx.wait(urgent)
    assert cx.state(victim) == "S"


# --- undone
def undone(cx, victims, urgent):
    """The room is no longer held, and nobody stands still for it."""
    no_hold(cx)
    assert held(cx) == {}
    for victim in victims:
        cx.wait(victim, "R")
    assert cx.state(urgent) != "R"


def two(cx, order):
    """A plan that waits: one victim has given way, the other one's node stands still."""
    victims = [started(cx, "(n1:ncpus=4)"), started(cx, "(n2:ncpus=4)")]
    urgent = cx.submit(select="2:ncpus=4")
    return planner(cx, order), victims, urgent, "(n1:ncpus=4)+(n2:ncpus=4)"


@pytest.mark.parametrize("how", ["held", "deleted", "altered", "asked"])
def test_suspended_victims_resume_when_the_plan_is_cancelled(cx, how):
    c, victims, urgent, where = two(cx, "S")
    with faults.daemon_frozen(cx, "n2"):
        c.preempt_run(urgent, where, victims)
        cx.wait(victims[0], "S")
        {"held": lambda: cx.api.hold(urgent), "deleted": lambda: cx.api.delete(urgent),
         "altered": lambda: cx.api.alter(urgent, [("Resource_List", "select", "1:ncpus=1")]),
         "asked": lambda: cx.api.delete_hold(urgent)}[how]()
        if how != "altered":
            cx.wait(victims[0], "R")
    undone(cx, victims, urgent)


def test_a_plan_is_undone_at_its_deadline(cx):
    c, victims, urgent, where = two(cx, "S")
    with faults.daemon_frozen(cx, "n2"):
        c.preempt_run(urgent, where, victims, "deadline=1")
        # Between the two the state is S, perhaps for less time than a look takes. Where its host is slower than the deadline, no method has touched it.
        until(lambda: [letter for letter, _ in accounting(cx, victims[0]) if letter in "zr"] in (["z", "r"], []) and not holds(cx),
              "the way there and back")
        cx.wait(victims[0], "R")
    undone(cx, victims, urgent)


def test_a_job_that_is_started_elsewhere_gives_back_what_was_held(cx):
    victim = started(cx, "(n1:ncpus=4)")
    urgent = cx.submit(select="1:ncpus=4")
    c = planner(cx, "S")
    with faults.daemon_frozen(cx, "n1"):
        c.preempt_run(urgent, ROOM, [victim])
        c.run(urgent, "(n2:ncpus=4)")
        no_hold(cx)
    cx.wait(victim, "R")
    until(lambda: cx.stat(victim).get("gives_way") is None, "the victim to be left alone")
    cx.wait(victim, "R")


def test_deleting_a_hold_that_is_not_there_says_so(cx):
    with pytest.raises(api.PbsError) as e:
        cx.api.delete_hold("99." + cx.node("n1").name)
    assert e.value.code == 15001


# --- a restart
@pytest.mark.complex(nodes=2, ncpus=4, sched=False)
@pytest.mark.parametrize("order", ["S", "R"])
def test_a_hold_survives_the_death_of_the_server(cx, order):
    c, victims, urgent, where = two(cx, order)
    with faults.daemon_frozen(cx, "n2"):
        c.preempt_run(urgent, where, victims)
        cx.wait(victims[0], "S" if order == "S" else "Q")
        cx.crash_server()
        assert urgent in holds(cx) and held(cx)["ncpus"] == "4"
        assert cx.state(urgent) == "Q"
    cx.wait(urgent)
    no_hold(cx)


# --- subjobs
def test_room_is_held_for_a_subjob_that_never_ran_and_survives_a_kill(cx):
    victim = started(cx)
    urgent = cx.submit(select="1:ncpus=4", array_indices_submitted="1-3")
    two = urgent.replace("[]", "[2]")
    c = planner(cx, "R")
    with pytest.raises(api.PbsError) as e:
        c.preempt_run(two, "(nowhere:ncpus=4)", [victim])
    assert cx.stat(urgent)["array_indices_remaining"] == "1-3" and cx.state(victim) == "R", e.value
    with faults.daemon_frozen(cx, "n1"):
        c.preempt_run(two, ROOM, [victim])
        cx.kill("server")
        cx.restart("server")
        cx.again()
        assert holds(cx)[two]["victims_left"] == "1"
        assert (cx.state(two), cx.stat(urgent)["array_indices_remaining"]) == ("Q", "1-3")
    cx.wait(two)
    assert cx.stat(urgent)["array_indices_remaining"] == "1,3" and cx.state(urgent) == "B"


# --- what a suspended job gives back
@pytest.mark.complex(nodes=2, ncpus=4)
def test_a_suspended_job_keeps_the_resources_that_the_site_does_not_name(cx):
    cx.set_server("restrict_res_to_release_on_suspend", "ncpus")
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", "S")
    low = cx.submit(select="2:ncpus=4:mem=1gb")
    cx.wait(low)
    urgent = cx.submit(queue="express", select="2:ncpus=4:mem=1gb")
    cx.wait(urgent)
    s = cx.wait(low, "S")
    assert s["resources_released"] in ("(n1:ncpus=4)+(n2:ncpus=4)", "(n2:ncpus=4)+(n1:ncpus=4)")
    assert s["resource_released_list"]["ncpus"] == "8"
    assert cx.node("n1")["resources_assigned"]["mem"] == "2097152kb"
    cx.set_server("restrict_res_to_release_on_suspend", "ncpus,mem")
    cx.crash_server()
    assert cx.node("n1")["resources_assigned"]["mem"] == "2097152kb"
    cx.hosts_back()
    cx.api.delete(urgent)
    assert "resources_released" not in cx.wait(low, "R")
    assert cx.node("n1")["resources_assigned"]["ncpus"] == "4"
