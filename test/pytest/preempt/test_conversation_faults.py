"""A process dies in the middle of a conversation about preemption: each phase, and each who takes part in it (doc/pmix.md).

The program declares that it saves itself, and both hosts can save it. What must hold in each row: the urgent job gets its host, the job that gives way
is not lost, it continues from what had been saved by then (on the other host, where only an image can bring it), and its record says how it went.
"""
import contextlib
import os
import shutil
import signal

import pytest

from harness.build import pmix_program
from harness.faults import daemon_frozen, frozen, words_of
from harness.shepherds import kill_shepherd
from harness.wait import until
from test_notice import LONG, ROOM, record, scheduler

pytestmark = [pytest.mark.complex(nodes=2, ncpus=4, sched=False, history=True),
              pytest.mark.skipif(not shutil.which("pkg-config"), reason="there is no pkg-config")]

JOB = """
PATH={build}/bin:$PATH
cd {work}
trap '{at_term}' TERM
test -e begun && until test -e go; do sleep 0.05; done
echo begin $(cat $PBS_CHECKPOINT_DIR/state.0 || echo nothing) >> begun
pbs_launch -K 0 ./pmix_talk talk {words} &
while :; do wait; sleep 0.1; done
"""
ELSEWHERE = "(n2:ncpus=4)"


class Talk:
    """A job in the middle of a conversation."""

    def __init__(self, cx, words, order="CR", grace=LONG, most=None, at_term="exit 143"):
        self.cx, self.frozen = cx, contextlib.ExitStack()
        pmix_program(cx, "pmix_talk")
        cx.set_queue("workq", "kill_delay", "60")
        self.job = cx.submit(JOB.format(build=cx.build, work=cx.work, words=words, at_term=at_term), select="1:ncpus=4:mpiprocs=1")
        cx.api.run(self.job, ROOM)
        until(lambda: "up" in self.said(), "the program")
        until(lambda: (cx.stat(self.job) or {}).get("checkpoint_by") == "pmix", "its declaration")
        self.urgent = cx.submit(select="1:ncpus=4")
        scheduler(cx, order, grace, most).preempt_run(self.urgent, ROOM, [self.job])

    def said(self):
        return (self.cx.file("talk.0") or "").splitlines()

    def says(self, word):
        until(lambda: any(x.startswith(word) for x in self.said()), f"{word} in what the program says")

    def go(self):
        with open(os.path.join(self.cx.work, "go"), "w", encoding="ascii"):
            pass

    def freeze_server(self):
        """What happens on the host is not heard of."""
        self.frozen.enter_context(frozen(self.cx.pid("server")))

    def began(self, times):
        """What it has begun from when it has begun so often."""
        until(lambda: (self.cx.file("begun") or "").count("\n") == times, f"its start, the {times}th")
        return self.cx.file("begun").splitlines()[-1]

    def again(self):
        """The same of one run more, on the other host."""
        self.cx.wait(self.job, "Q")
        before = self.cx.file("begun").count("\n")
        self.cx.api.run(self.job, ELSEWHERE)
        return self.began(before + 1)


# --- the phases: each returns when the conversation is there, and nothing more happens by itself
def alert_sent(cx):
    t = Talk(cx, "event", grace="3")
    t.says("alert")
    return t


def answered_ready(cx):
    t = Talk(cx, "event hold=answer ready")
    t.says("alert")
    t.freeze_server()
    t.go()
    cx.wait_log("n1", "the job answers notice")
    return t


def deferred(cx):
    t = Talk(cx, "event defer=4", grace="2", most="5")
    t.says("answered SUCCESS")
    return t


def save_asked(cx):
    t = Talk(cx, "event hold=asked", grace="0")
    t.says("checkpoint")
    return t


def image_being_written(cx):
    t = Talk(cx, "event hold=writing", grace="0")
    until(lambda: os.path.exists(os.path.join(app(cx, t.job), "state.0.new")), "half of its state")
    return t


def image_taken(cx):
    t = image_being_written(cx)
    t.freeze_server()
    t.go()
    cx.wait_log("n1", "checkpointed to")
    return t


def old_run_ending(cx):
    t = Talk(cx, "event saved", order="R", at_term="touch asked; until test -e go; do sleep 0.05; done; exit 143")
    until(lambda: cx.file("asked") is not None, "its asking to end")
    return t


def requeued(cx):
    t = Talk(cx, "event", grace="0")
    cx.wait(t.urgent)
    cx.wait(t.job, "Q")
    return t


def restart_begun(cx):
    t = requeued(cx)
    cx.api.run(t.job, ELSEWHERE)
    cx.wait(t.job)
    return t


def launched_again(cx):
    """Its program is a client of the helper of the other host."""
    t = restart_begun(cx)
    cx.blank("talk.0")
    t.go()
    t.says("up")
    return t


def app(cx, job, node="n1"):
    return os.path.join(cx.dir, "mom", node, "checkpoint", f"{job}.CK", "app")


# --- the victims
def kill_all(cx, name):
    """Every process of this complex whose program has this name; those of a shell are named by its script."""
    found = []
    for p in filter(str.isdigit, os.listdir("/proc")):
        words = words_of(int(p))
        if any(w.endswith("/" + name) for w in words[:2]) and is_ours(cx, int(p), words):
            found.append(int(p))
    for p in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(p, signal.SIGKILL)
    return found


def is_ours(cx, pid, words):
    if any(cx.dir in w for w in words):
        return True
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as f:
        return cx.dir.encode() in f.read()
    return False


def kill(t, who):
    if who == "pbs_shepherd":
        kill_shepherd(t.cx, t.job)
    elif who in ("pbs_pmix", "ckpt-app"):
        assert kill_all(t.cx, who), f"there is no {who}"
    else:
        t.cx.kill(who)
    t.frozen.close()  # that of a server which was killed thaws nothing


def restart(t, who):
    if who in ("n1", "n2", "server"):
        t.cx.restart(who)
        t.cx.again()


# How it went, as its record says; and what the next run begins from. Without its helper the program cannot be asked, so the next letter counts;
# a shepherd takes its run along.
ROWS = [(phase, who, *result) for phase, rows in {
    alert_sent: {"pbs_pmix": "R nothing", "pbs_shepherd": "R nothing", "n1": "C state", "server": "C state"},
    answered_ready: {"pbs_pmix": "R nothing", "pbs_shepherd": "R nothing", "n1": "C state", "server": "C state"},
    deferred: {"pbs_pmix": "R nothing", "pbs_shepherd": "R nothing", "n1": "C state", "server": "C state"},
    save_asked: {"pbs_pmix": "R nothing", "ckpt-app": "R nothing", "pbs_shepherd": "R nothing", "n1": "C state", "server": "C state"},
    image_being_written: {"pbs_pmix": "R nothing", "ckpt-app": "R nothing", "pbs_shepherd": "R nothing", "n1": "C state", "server": "C state"},
    image_taken: {"n1": "C state", "server": "C state"},
    old_run_ending: {"pbs_shepherd": "R state", "n1": "R state", "server": "R state"},
    requeued: {"n1": "C state", "server": "C state"},
    restart_begun: {"pbs_shepherd": "C state", "n1": "C state", "n2": "C state", "server": "C state"},
    launched_again: {"pbs_pmix": "C state"},
}.items() for who, result in ((w, r.split()) for w, r in rows.items())]


@pytest.mark.parametrize("phase, who, method, state", ROWS, ids=[f"{row[0].__name__}-{row[1]}" for row in ROWS])
def test_a_job_gives_way_and_loses_nothing_that_was_saved_when_a_process_dies(cx, phase, who, method, state):
    t = phase(cx)
    kill(t, who)
    if who == "pbs_shepherd":  # before that its program might still save itself
        cx.wait(t.job, "Q")
    t.go()
    restart(t, who)
    cx.wait(t.urgent)
    r = record(cx, t.job)
    assert (r["method"], r["preempted_by"]) == (method, t.urgent)
    assert state == "state" or who not in ("pbs_pmix", "ckpt-app") or r["tried"] == "CR"  # why it was not saved
    if phase in (restart_begun, launched_again) and who != "pbs_shepherd":
        assert t.began(2) == f"begin {state}"
    else:
        assert t.again() == f"begin {state}"


# Phases at which these have ended by themselves, or have not begun: the table has no rows of them.
ENDED = {image_taken: ("pbs_pmix", "pbs_shepherd"), old_run_ending: ("pbs_pmix",), requeued: ("pbs_pmix", "pbs_shepherd"), restart_begun: ("pbs_pmix",)}


@pytest.mark.parametrize("phase", ENDED, ids=[phase.__name__ for phase in ENDED])
def test_helper_and_shepherd_have_ended_at_the_phases_without_a_row_of_them(cx, phase):
    t = phase(cx)
    with t.frozen:
        until(lambda: not of_job(cx, t.job, ENDED[phase]), "their end")
    t.go()
    cx.wait(t.urgent)


def of_job(cx, job, names):
    """The processes of these names that serve a run of the job."""
    found = [words_of(int(p)) for p in filter(str.isdigit, os.listdir("/proc"))]
    return [w for w in found if w and os.path.basename(w[0]) in names and any(cx.dir in x and job in x for x in w[1:])]


def test_an_image_is_waited_for_whose_host_has_not_come_back_since_the_server_did(cx):
    t = requeued(cx)
    t.go()
    with daemon_frozen(cx, "n1"):
        cx.kill("server")
        cx.restart("server")
        cx.again()
        until(lambda: "down" not in cx.node("n2")["state"], "the other host")
        cx.api.run_async(t.job, ELSEWHERE)
        cx.wait(t.job, begun=False)
    assert t.began(2) == "begin state"
