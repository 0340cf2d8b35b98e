"""Faults against methods: whoever dies, goes away or changes his mind, before, during or after a preemption.

One cell is one method and one fault. What must hold is the same for all of them: nothing is promised twice, no job is
lost or runs twice at a time, whoever asked is answered once, and every job comes to its end, the suspended ones too.

Where a fault comes "during" a preemption that is held open: for S the MOM stands still with the order, for the others
the victim (or the script that saves it) does not let go until it is told.
"""
import contextlib
import os
import signal
import threading

import pytest

from harness import api, faults, work
from harness.complex import Complex
from harness.mom_priv import configure, script
from harness.shepherds import shepherds
from harness.work import URGENT, VICTIM
from harness.wait import until

LIMIT_S = 120
METHODS = "SCRD"

SAVE = 'cd {work}; echo saving >> asked; until test -e let_go; do sleep 0.02; done; mkdir "$1" && echo image > "$1/core"'


class Cell:
    """Two jobs fill the node of this complex, and give way by one method."""

    def __init__(self, cx, method):
        self.cx, self.method = cx, method
        self.urgent, self.urgent_dies, self.lost, self.gone = None, False, set(), set()
        self.clean()
        for sched in ("default", "other", "third"):
            cx.set_sched("preempt_order", method, sched)
        self.touch("let_go")
        self.victims = [self.submit(VICTIM) for _ in range(2)]
        self.until(lambda: all(self.begun(v) for v in self.victims), "the victims")
        for v in self.victims:
            cx.wait(v, limit_s=LIMIT_S)

    def clean(self):
        for name in os.listdir(self.cx.work):
            os.remove(os.path.join(self.cx.work, name))

    def until(self, condition, what):
        return until(condition, lambda: f"{what}; {[dict(j) for j in self.cx.api.stat('job')]}", LIMIT_S)

    def submit(self, text, **more):
        return self.cx.submit(f"cd {self.cx.work}\n{text}", Keep_Files="oed", **more)

    def begun(self, job):
        """How often its script has."""
        return (self.cx.file("begun") or "").split().count(job)

    def touch(self, name):
        with open(os.path.join(self.cx.work, name), "w", encoding="ascii"):
            pass

    def ask(self):
        """An urgent job wants the whole node."""
        self.urgent = self.submit(URGENT, queue="express", select="1:ncpus=2")

    def runs(self):
        """The urgent job has been started."""
        self.until(lambda: self.begun(self.urgent), "the urgent job")

    @contextlib.contextmanager
    def held_open(self):
        """What has begun in this block does not come to its end before that of the block."""
        os.remove(os.path.join(self.cx.work, "let_go"))
        with faults.daemon_frozen(self.cx, "n1") if self.method == "S" else contextlib.nullcontext():
            yield
            self.touch("let_go")

    def is_under_way(self):
        self.until(lambda: self.cx.api.stat("hold"), "the hold")
        if self.method != "S":
            self.until(lambda: self.cx.file("asked"), "a victim to be asked")

    def finish(self):
        """All jobs may end, and do, each once."""
        cx = self.cx
        if self.urgent not in self.gone | {None}:
            self.runs()
        self.touch("go")
        self.until(lambda: not cx.api.select(), "the end of all jobs")
        assert cx.file("twice") is None
        assert cx.api.stat("hold") == []
        n = cx.node()
        assert n["resources_assigned"]["ncpus"] == "0" and n.get("resources_held") is None
        for job in filter(None, [*self.victims, self.urgent]):
            self.check(job)

    def check(self, job):
        """It is known, has ended once, and well unless it was to be lost."""
        s = self.cx.stat(job)
        assert s and s.state == "F", f"{job} is lost: {s}"
        ends = 1 if s.get("run_count", "0") != "0" else 0

        def records():
            found = work.accounting(self.cx, job)
            return found if [letter for letter, _ in found].count("E") >= ends else None
        records = self.until(records, f"the record of the end of {job}")
        assert [letter for letter, _ in records].count("E") == ends, records
        if job not in self.gone | self.lost and s.get("preempt_method") != "D":
            assert s["Exit_status"] == "0", f"{dict(s)} {records}"
        if job not in self.lost:
            assert self.begun(job) <= 1 + sum(letter in "RC" for letter, _ in records), records


def start():
    cx = Complex(nodes=1, ncpus=2, history=True).start()
    cx.make_queue("express", Priority="200")
    cx.set_queue("workq", "kill_delay", "60")
    for name in ("other", "third"):
        cx.api.manager(api.CREATE, api.SCHED, name)
    path = script(cx, "save", SAVE.format(work=cx.work))
    configure(cx, f"$action checkpoint_abort 60 !{path} %path")
    return cx


@pytest.fixture(scope="module")
def complexes():
    """The complex that the cells of this process share, while they leave it in order."""
    made = []
    yield made
    for cx in made:
        cx.stop()


@pytest.fixture
def cx(complexes):
    c = complexes.pop() if complexes else start()
    c.in_order = False
    try:
        yield c
    finally:
        if c.in_order:
            complexes.append(c)
        else:
            c.stop()


@contextlib.contextmanager
def cell(cx, method):
    """A cell, and after the block its end, with what must hold."""
    with work.NodeWatch(cx, pause_s=0.03):
        c = Cell(cx, method)
        yield c
        c.finish()
    cx.in_order = True


methods = pytest.mark.parametrize("method", METHODS)


# --- a daemon dies ----------------------------------------------------------------------------------------

def kill(c, who):
    """One of them; of the shepherds all. Those jobs are lost, but none forgotten."""
    if who != "shepherd":
        c.cx.kill(who)
        return
    c.lost.update(c.victims, {c.urgent} - {None})
    for pid in shepherds(c.cx):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def restart(c, who):
    if who != "shepherd":
        c.cx.restart(who)
        c.cx.again()


@methods
@pytest.mark.parametrize("who", ["n1", "shepherd", "sched", "server"])
def test_a_daemon_that_dies_before_a_preemption_does_not_prevent_it(cx, method, who):
    with cell(cx, method) as c:
        kill(c, who)
        if who == "server":
            restart(c, who)
        c.ask()
        restart(c, who)


@methods
@pytest.mark.parametrize("who", ["n1", "shepherd", "sched", "server"])
def test_a_daemon_that_dies_during_a_preemption_does_not_end_it(cx, method, who):
    with cell(cx, method) as c:
        with c.held_open():
            c.ask()
            c.is_under_way()
            kill(c, who)
        restart(c, who)


@methods
@pytest.mark.parametrize("who", ["n1", "shepherd", "sched", "server"])
def test_a_daemon_that_dies_after_a_preemption_undoes_nothing(cx, method, who):
    with cell(cx, method) as c:
        c.ask()
        c.runs()
        kill(c, who)
        restart(c, who)


# --- a user changes the order ----------------------------------------------------------------------------

@methods
@pytest.mark.parametrize("how", ["deleted", "held", "hold deleted"])
def test_an_urgent_job_that_goes_away_in_the_middle_leaves_nothing_behind(cx, method, how):
    with cell(cx, method) as c:
        with c.held_open():
            c.ask()
            c.is_under_way()
            if how == "deleted":
                c.gone.add(c.urgent)
                cx.api.delete(c.urgent)
            elif how == "held":
                cx.api.hold(c.urgent)
            else:
                cx.api.delete_hold(c.urgent)
        if how == "held":
            c.until(lambda: not cx.api.stat("hold"), "the end of the hold")
            cx.api.release(c.urgent)


@contextlib.contextmanager
def scheduler(cx, name):
    c = cx.connect()
    try:
        c.register(name)
        yield c
    finally:
        c.close()


def answer(c, s, ticket, victims):
    """Each of them in one slot, and out of the way: it has a letter, or there was no method left."""
    c.until(lambda: s.ready(ticket), "the answer")
    slots = s.preempt_recv(ticket)
    assert sorted(job for job, _ in slots) == sorted(victims)
    assert all(code in ("S", "C", "Q", "D", "000") for _, code in slots), slots
    return dict(slots)


def ends(c, job):
    """By itself; its shepherd, which alone is awake, knows."""
    pid = int(c.cx.file(f"pid.{job}"))
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        shell = int(f.read().rsplit(")", 1)[1].split()[1])
    c.touch(f"go.{job}")
    c.until(lambda: not os.path.exists(f"/proc/{pid}"), "the end of its script")
    # The shepherd's child, which is there until the shepherd has its status.
    c.until(lambda: not os.path.exists(f"/proc/{shell}"), "the end of its login shell")


def by_another(c, what, *args):
    """A request that may wait for what this test does; its thread."""
    def act():
        other = c.cx.connect()
        with contextlib.suppress(api.PbsError):  # refused: the job is on its way already
            getattr(other, what)(*args)
        other.close()
    thread = threading.Thread(target=act)
    thread.start()
    return thread


def preemptions(cx, job):
    """The methods of its accounting records of preemption."""
    return [text.split("method=")[1][0] for letter, text in work.accounting(cx, job) if letter == "v"]


@methods
@pytest.mark.parametrize("fate", ["ends", "deleted", "deleted by force", "held", "rerun", "rerun by force", "suspended"])
def test_a_victim_to_which_something_else_happens_at_the_same_time_is_answered_for_once(cx, method, fate):
    """The order is on its way to the MOM, which stands still; then it hears of everything at once."""
    with cell(cx, method) as c, scheduler(cx, "other") as s:
        victim, thread = c.victims[0], None
        with faults.daemon_frozen(cx, "n1"):
            ticket = s.preempt_send(c.victims)
            c.until(lambda: cx.stat(victim).get("gives_way") == "True", "the preemption")
            if fate == "ends":
                ends(c, victim)
            elif fate.startswith("deleted"):
                c.gone.add(victim)
                cx.api.delete(victim, "force" if "force" in fate else None)
            else:
                what, *words = {"held": ("hold", victim), "rerun": ("rerun", victim), "suspended": ("signal", victim, "suspend"),
                                "rerun by force": ("rerun", victim, "force")}[fate]
                thread = by_another(c, what, *words)
        codes = answer(c, s, ticket, c.victims)
        if fate == "ends" and method != "C":  # whose script may have saved and ended it, for all its host knows
            assert codes[victim] == "D" and cx.state(victim) == "F"
        if thread:
            thread.join()
        if fate.startswith("deleted"):
            assert codes[victim] == "D"
        if fate == "ends" and codes[victim] == "D":
            c.until(lambda: preemptions(cx, victim), "the record of it")
            assert preemptions(cx, victim) == ["E"] and cx.stat(victim).get("preempt_count") in (None, "0")
        if fate == "held":
            with contextlib.suppress(api.PbsError):
                cx.api.release(victim)
        if fate == "suspended":
            with contextlib.suppress(api.PbsError):
                cx.api.signal(victim, "resume")


@methods
def test_a_preemption_is_carried_out_when_the_caller_disconnects(cx, method):
    with cell(cx, method) as c:
        with c.held_open(), scheduler(cx, "other") as s:
            s.preempt_send(c.victims)
            c.until(lambda: all(cx.stat(v).get("gives_way") for v in c.victims), "the preemption")
        for v in c.victims:
            c.until(lambda: [t for x, t in work.accounting(cx, v) if x == "v"], "the record of it")  # noqa: B023


@methods
def test_two_schedulers_that_preempt_the_same_jobs_are_both_answered(cx, method):
    with cell(cx, method) as c, scheduler(cx, "other") as s, scheduler(cx, "third") as t:
        with c.held_open():
            tickets = [(x, x.preempt_send(c.victims)) for x in (s, t)]
            c.until(lambda: all(cx.stat(v).get("gives_way") for v in c.victims), "the preemption")
        first, second = (answer(c, x, ticket, c.victims) for x, ticket in tickets)
        assert first == second
    for v in c.victims:
        assert len(until(lambda: preemptions(cx, v), "its record")) == 1  # noqa: B023


@methods
def test_of_two_plans_for_the_same_jobs_the_first_is_carried_out_and_the_second_touches_no_job(cx, method):
    where = "(n1:ncpus=2)"
    with cell(cx, method) as c, scheduler(cx, "other") as s, scheduler(cx, "third") as t:
        cx.set_server("scheduling", "False")  # the complex's own scheduler would plan as well
        c.ask()
        second = c.submit(URGENT, queue="express", select="1:ncpus=2")
        with c.held_open():
            s.preempt_run(c.urgent, where, c.victims)
            with pytest.raises(api.PbsError) as e:
                t.preempt_run(second, where, c.victims)
            assert e.value.code == 15016 and f"gives way already, to job {c.urgent}" in e.value.text
        c.runs()
        assert cx.state(second) == "Q" and "room_held" not in cx.stat(second)
        cx.set_server("scheduling", "True")
    for v in c.victims:
        assert len(until(lambda: preemptions(cx, v), "its record")) == 1  # noqa: B023
    assert cx.stat(second)["Exit_status"] == "0"


@methods
def test_a_mom_that_never_answers_is_given_up_and_the_answer_comes(cx, method):
    cx.set_server("node_fail_requeue", "1")
    try:
        with cell(cx, method) as c:
            with scheduler(cx, "other") as s:
                cx.kill("n1")
                ticket = s.preempt_send(c.victims)
                answer(c, s, ticket, c.victims)
            cx.restart("n1")
    finally:
        cx.api.manager(api.MUNSET, api.SERVER, "", [("node_fail_requeue", None, "")])
