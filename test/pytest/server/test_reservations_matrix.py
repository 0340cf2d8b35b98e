"""Each request about a reservation, in each of its states, by its owner, another user and a manager: what the answer is.

This test is the scheduler that confirms. The reservations of one state are made together, one for each request and each user."""
import pytest

from harness.desk import SOON_S, Desk, queue
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=1, sched=False, clock=True)
ANNA = "pbstest1"
USERS = {"owner": ANNA, "other": "pbstest2", "manager": None}
STATES = ("UN", "CO", "RN", "DG", "gone")
REQUESTS = {  # of reservation, queue, job
    "alter its times": lambda r, q, j: ["pbs_ralter", "-D", "900", r],
    "alter its name": lambda r, q, j: ["pbs_ralter", "-N", "other", r],
    "alter its times by force": lambda r, q, j: ["pbs_ralter", "-D", "900", "-W", "force", r],
    "delete it": lambda r, q, j: ["pbs_rdel", r],
    "submit into it": lambda r, q, j: ["qsub", "-q", q, "-l", "select=1:ncpus=0", "--", "/bin/true"],
    "move a job into it": lambda r, q, j: ["qmove", q, j],
    "move a job out of it": lambda r, q, j: ["qmove", "workq", j],
    "delete a job in it": lambda r, q, j: ["qdel", j],
    "make one of a job in it": lambda r, q, j: ["pbs_rsub", "--job", j],
    "delete its queue": lambda r, q, j: ["qmgr", "-c", f"delete queue {q}"],
    "stop its queue": lambda r, q, j: ["qstop", q],
    "move the job of one that is to begin with it": lambda r, q, j: ["pbs_rsub", f"-Wqmove={j}"],
}
MAY_NOT, STATE, UNKNOWN, CLOSED, NO_QUEUE, BUSY, INSIDE = 15007, 15016, 15084, 15021, 15018, 15027, 15181
OWN, NONE = (0, MAY_NOT, 0), None
# The answer to the owner, another user and a manager: while it is unconfirmed; while it is confirmed, runs or is degraded; when it has gone. NONE: no
# job can be there.
TABLE = {
    "alter its times": ((STATE, MAY_NOT, STATE), OWN, (UNKNOWN,) * 3),
    "alter its name": (OWN, OWN, (UNKNOWN,) * 3),
    "alter its times by force": ((MAY_NOT, MAY_NOT, 0), (MAY_NOT, MAY_NOT, 0), (UNKNOWN,) * 3),
    "delete it": (OWN, OWN, (UNKNOWN,) * 3),
    "submit into it": ((CLOSED,) * 3, (0, MAY_NOT, MAY_NOT), (NO_QUEUE,) * 3),
    "move a job into it": ((CLOSED, CLOSED, 0), OWN, (NO_QUEUE,) * 3),
    "move a job out of it": (NONE, OWN, NONE),
    "delete a job in it": (NONE, OWN, NONE),
    "make one of a job in it": (NONE, (INSIDE,) * 3, NONE),
    "delete its queue": ((MAY_NOT, MAY_NOT, BUSY), (MAY_NOT, MAY_NOT, BUSY), (MAY_NOT, MAY_NOT, NO_QUEUE)),
    "stop its queue": ((MAY_NOT, MAY_NOT, 0), (MAY_NOT, MAY_NOT, 0), (MAY_NOT, MAY_NOT, NO_QUEUE)),
    "move the job of one that is to begin with it": (NONE, (INSIDE,) * 3, NONE),
}


def hold(cx, user, *words):
    return cx.command("qsub", "-h", "-l", "select=1:ncpus=0", "-l", "walltime=60", *words, cx.script("true"), user=user).stdout.strip()


def made(desk, cx, state, request, user):
    """A reservation in the state UN or CO, and the job that the request is about, if there can be one."""
    resv = desk.new(start=SOON_S, select="1:ncpus=0", wait="UN", user=ANNA)
    if state != "UN":
        cx.api.confirm_resv(resv, "(n1:ncpus=0)")
    if request == "move a job into it":
        return resv, hold(cx, user)
    inside = request in ("move a job out of it", "delete a job in it", "make one of a job in it", "move the job of one that is to begin with it")
    if inside and state in ("UN", "gone"):
        return resv, None
    return resv, hold(cx, ANNA, "-q", queue(resv)) if inside else ""


def brought(desk, cx, state, resvs):
    """All of them to this state."""
    if state == "RN":
        cx.clock.leap_to(max(int(desk.stat(r)["reserve_start"]) for r in resvs))
    if state == "DG":
        cx.command("pbsnodes", "-o", "n1")
    for resv in resvs if state == "gone" else ():
        cx.api.delete_resv(resv)
    for resv in resvs:
        until(lambda resv=resv: (desk.state(resv) or "gone").split("/")[0] == state, desk.told(resv))


@pytest.mark.parametrize("state", STATES)
def test_the_answer_of_each_request(cx, state):
    desk, cases = Desk(cx), []
    for request in REQUESTS:
        for who, user in USERS.items():
            cases.append((request, who, *made(desk, cx, state, request, user)))
    brought(desk, cx, state, [c[2] for c in cases])
    wrong = []
    for request, who, resv, job in cases:
        wanted = TABLE[request][{"UN": 0, "gone": 2}.get(state, 1)]
        if job is None:
            assert wanted is NONE
            continue
        done = cx.command(*REQUESTS[request](resv, queue(resv), job), user=USERS[who], check=False)
        if done.returncode != wanted[list(USERS).index(who)] % 256 or bool(done.stderr) != bool(done.returncode):
            wrong.append((request, who, done.returncode, done.stderr))
    assert wrong == []
