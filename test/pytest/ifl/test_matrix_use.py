"""Each attribute of each object where the object is in use, twice, while the host or the scheduler is away, and of an object that is made again.

The values and the objects are those of test_matrix.py. A job runs in the queue, on the vnode, started by the scheduler.
"""
import pytest

from harness import api
from harness.complex import Complex
from harness.wait import until
from ifl.test_matrix import NEW_LIMITS, OBJECTS, OLD_LIMITS, chosen, differences, of_values, refused, set_all, set_usual, shown, unset_all

# Refused while a job runs there, as test_matrix.py shows: the job would be where it may not be.
NOT_IN_USE = {("queue", "queue_type"), ("queue", "partition")}
ACTS_ON_JOBS = {("node", "state"), ("node", "drain")}  # offline is one of several words; drain has the job give way


@pytest.fixture(scope="module")
def cx():
    c = Complex(nodes=1, history=True)
    try:
        c.start()
        c.qmgr("create queue other queue_type=e,enabled=t,started=t", "create queue way queue_type=r,route_destinations=workq", "create sched second")
        yield c
    finally:
        c.stop()


@pytest.fixture
def job(cx):
    set_usual(cx)
    job = cx.submit("sleep 6000", queue="other", select="1:ncpus=1")
    until(lambda: (cx.stat(job) or {}).get("substate") == "42", "its start")
    yield job
    cx.clean()


def values_of(cx, kind, limits):
    return {k: v for k, v in chosen(cx, kind, limits).items() if (kind, k[0]) not in NOT_IN_USE and (kind, k[0]) not in ACTS_ON_JOBS
            and k[0] not in ("enabled", "started", "job_history_enable", "scheduling")}


@pytest.mark.parametrize("limits", [OLD_LIMITS, NEW_LIMITS], ids=["new_limits", "old_limits"])
@pytest.mark.parametrize("kind", OBJECTS)
def test_an_object_in_use_takes_each_value_twice_and_gives_it_back_twice_and_its_job_runs_on(cx, job, kind, limits):
    if limits is NEW_LIMITS and kind not in ("server", "queue"):
        return  # no limits of two styles
    values = values_of(cx, kind, limits)
    unset_all(cx, kind, values)
    default = of_values(shown(cx, kind), values)
    wrong = set_all(cx, kind, values)
    now = of_values(shown(cx, kind), values)
    wrong |= {f"{k} again": v for k, v in set_all(cx, kind, values).items()}
    wrong |= differences("set twice", now, of_values(shown(cx, kind), values))
    for daemon in ("n1", "sched", "server"):
        cx.kill(daemon)
        if daemon == "n1":
            until(lambda: "down" in cx.node("n1").state, "its absence")
        if daemon != "server":
            wrong |= differences(f"without {daemon}", now, of_values(shown(cx, kind), values))
            wrong |= {f"{k} without {daemon}": v for k, v in set_all(cx, kind, values).items()}
        cx.restart(daemon)
        cx.again()
        until(lambda: cx.node("n1").state in ("free", "offline"), "the host")
        wrong |= differences(f"after {daemon} was killed", now, of_values(shown(cx, kind), values))
    for _ in range(2):
        wrong |= unset_all(cx, kind, values)
        wrong |= differences("unset", default, of_values(shown(cx, kind), values))
    assert not wrong, "\n".join(f"{k}: {v}" for k, v in wrong.items())
    s = cx.stat(job)
    assert (s.state, s["run_count"]) == ("R", "1"), s


AGAIN = {"queue": ("create queue again queue_type=e", "que"), "route": ("create queue again queue_type=r", "que"),
         "node": ("create node again", "vnode"), "sched": ("create sched again", "sched")}


@pytest.mark.parametrize("kind", AGAIN)
def test_an_object_that_is_made_again_has_nothing_of_the_one_before(cx, kind):
    line, call = AGAIN[kind]
    word = line.split()[1]

    def status():
        found = cx.api.stat(call) if call == "sched" else cx.api.stat(call, "again")
        moves = ("last_state_change_time", "last_used_time", "Mom", "resources_available")
        return {k: v for k, v in next(o for o in found if o.name == "again").items() if k not in moves}

    def room():
        return cx.api.stat("vnode", "again")[0].get("resources_available") if kind == "node" else None
    cx.qmgr(line)
    fresh, amounts = status(), room()
    values = chosen(cx, kind, OLD_LIMITS) | ({("route_destinations", None): "workq"} if kind == "route" else {})
    values = {k: v for k, v in values.items() if k[0] not in ("partition", "sched_priv", "sched_log")}
    what = OBJECTS[kind][0]
    wrong = {}
    for (attr, resource), value in sorted(values.items(), key=lambda item: item[0][0] != "route_destinations"):  # a queue needs it to be enabled
        code, text = refused(cx.api.manager, api.MSET, what, "again", [(attr, resource, value)])
        if code:
            wrong[attr] = text
    assert not wrong and status() != fresh
    cx.qmgr(*(["set queue again enabled=f,started=f"] if word == "queue" else []), f"delete {word} again", line)
    assert (status(), room()) == (fresh, amounts)
    cx.kill("server")
    cx.restart("server")
    cx.again()
    assert (status(), room()) == (fresh, amounts)
    cx.qmgr(f"delete {word} again")
