"""What goes wrong around a checkpoint by the application: nothing is lost that had been saved, and nothing loops."""
import contextlib
import os
import signal
import subprocess
import threading

import pytest

from harness.checkpoints import COUNTER, by_application, preempt, running, small_disk
from harness.faults import is_alive, processes_with
from harness.mom_priv import configure
from harness.shepherds import kill_shepherd
from harness.wait import until

alone = pytest.mark.complex(history=True, sched=False)
# Asked to save itself, it says that it was and waits on.
SLOW = """#!/bin/bash
trap 'touch {work}/asked' USR1
[ -e {work}/begun ] && echo again >> {work}/begun || echo begun > {work}/begun
while :; do sleep 0.05; done
"""


def start(cx, text, **attrs):
    job = cx.submit(text.format(work=cx.work), preempt_methods="CR", **attrs)
    cx.api.run(job, "(n1:ncpus=1)")
    running(cx, job)
    return job


def begin(cx, order):
    """A preemption in the middle of a checkpoint that will not be answered; its requester waits in a thread."""
    cx.blank("asked")
    os.remove(os.path.join(cx.work, "asked"))
    job = start(cx, SLOW)
    until(lambda: cx.file("begun"), "its handler")
    result = {}
    t = threading.Thread(target=lambda: result.update(preempt(cx, job, order)), daemon=True)
    t.start()
    until(lambda: cx.file("asked") is not None, "its asking")
    return job, result, t


@alone
def test_an_adapter_that_is_killed_has_failed_and_the_next_letter_is_tried(cx):
    os.chmod(cx.work, 0o777)
    job, result, t = begin(cx, "CR")
    for pid in set(processes_with("/ckpt-app", "cmdline")) & set(processes_with(cx.dir)):
        with contextlib.suppress(ProcessLookupError):  # one ends with another
            os.kill(pid, signal.SIGKILL)
    t.join(120)
    assert result == {job: "Q"} and cx.state(job) == "Q"


@alone
def test_a_shepherd_that_is_killed_in_a_checkpoint_loses_its_run_and_not_the_job(cx):
    os.chmod(cx.work, 0o777)
    job, result, t = begin(cx, "CR")
    kill_shepherd(cx, job, "n1")
    t.join(120)
    assert result == {job: "Q"} and cx.state(job) == "Q"
    cx.api.run(job, "(n1:ncpus=1)")
    running(cx, job)
    until(lambda: "again" in cx.file("begun"), "its second start")


@alone
def test_a_program_that_saves_itself_and_crashes_ends_as_it_did_and_does_not_come_back_for_ever(cx):
    job = start(cx, COUNTER.replace("touch $PBS_CHECKPOINT_DIR/done;", "touch $PBS_CHECKPOINT_DIR/done; kill -9 $$;"))
    until(lambda: (cx.file("now") or "").strip(), "the first count")
    said = preempt(cx, job, "CR")
    s = cx.stat(job)
    if said == {job: "C"}:  # it was stopped before it could crash
        assert cx.state(job) == "Q"
    else:
        assert s["job_state"] == "F" and s["Exit_status"] == str(256 + signal.SIGKILL)
    assert int(s["run_count"]) == 1 and "saved" in cx.file("counts")


# Its state is large, and it looks at whether it was written.
CAREFUL = COUNTER.replace("n=$(cat $PBS_CHECKPOINT_DIR/state)", "read n < $PBS_CHECKPOINT_DIR/state").replace(
    "{{ echo $n > $PBS_CHECKPOINT_DIR/state.new;",
    "{{ if ! (echo $n && head -c 16000000 /dev/zero) > $PBS_CHECKPOINT_DIR/state.new; then\n"
    "rm $PBS_CHECKPOINT_DIR/state.new; echo no room >> {work}/counts; return; fi;")


# Saves itself in its notice, as a program does that is told through the file, and crashes.
CRASHER = COUNTER.replace("trap save USR1", "trap 'save; exit 3' USR1")


def in_its_notice(cx, text, order, grace):
    """A job that counts, and is given notice of its preemption."""
    cx.blank("counts", "now")
    cx.set_sched("preempt_order", order)
    cx.set_sched("preempt_grace", grace)
    job = start(cx, text, preempt_signal="USR1")
    until(lambda: (cx.file("now") or "").strip(), "the first count")
    c = cx.connect()
    c.register("default")
    c.preempt_run(cx.submit(select="1:ncpus=1", l_place="excl"), "(n1:ncpus=1)", [job])
    return job


def begins(cx, job, node="n1"):
    """Run it once more; the counts from which it has begun."""
    cx.wait(job, state="Q")
    cx.api.run(job, f"({node}:ncpus=1)")
    until(lambda: cx.file("counts").count("begin") == 2, "its second start")
    return [line.split()[1] for line in cx.file("counts").splitlines() if line.startswith("begin")]


def saved(cx):
    """The count that its program has saved, or ""."""
    return next((line.split()[1] for line in cx.file("counts").splitlines() if line.startswith("saved")), "")


@alone
@pytest.mark.parametrize("order", ["C", "R"])
def test_a_program_that_saves_itself_in_its_notice_and_crashes_continues_from_there(cx, order):
    job = in_its_notice(cx, CRASHER, order, "600")
    assert begins(cx, job) == ["0", saved(cx)]


@alone
def test_what_a_program_has_saved_that_crashes_while_its_mom_is_away_is_kept(cx):
    job = in_its_notice(cx, CRASHER.replace("'save;", "'echo told > {work}/told; until [ -e {work}/go ]; do sleep 0.05; done; save; echo $$ > {work}/gone;"),
                        "R", "600")
    until(lambda: cx.file("told"), "its notice")  # the server's deadline is there before the MOM has heard of it
    cx.kill("n1")
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    until(lambda: cx.file("gone") and not is_alive(int(cx.file("gone"))), "its crash")
    cx.restart("n1")
    assert begins(cx, job) == ["0", saved(cx)]


# What is on the host stays there for a job that is requeued; only an image goes to another one.
two = pytest.mark.complex(nodes=2, history=True, sched=False)
# How a program says that it has saved itself; with its answer it gives way at once.
SAYS = {"the file done": ("save", "2"), "its answer": ("save; rm $PBS_CHECKPOINT_DIR/done; pbs_preempt_ack -s", "600")}


@two
@pytest.mark.parametrize("how", SAYS)
def test_a_program_that_has_saved_itself_in_its_notice_and_is_requeued_continues_on_another_host(cx, how):
    does, grace = SAYS[how]
    job = in_its_notice(cx, COUNTER.replace("trap save", f"PATH={cx.build}/bin:$PATH\ntrap '{does}'"), "R", grace)
    assert begins(cx, job, "n2") == ["0", saved(cx)] and saved(cx)


# A state that says nothing of itself may be half a state; one from before the notice is not what was asked for.
NOT_SAVED = {"not said that it has": "trap 'save; rm $PBS_CHECKPOINT_DIR/done' USR1", "saved itself only before it": "n=$((n+1)); save; trap '' USR1"}


@two
@pytest.mark.parametrize("what", NOT_SAVED)
def test_a_requeued_job_begins_from_its_beginning_on_another_host_where_its_program_has(cx, what):
    job = in_its_notice(cx, COUNTER.replace("trap save USR1", NOT_SAVED[what]), "R", "2")
    assert begins(cx, job, "n2") == ["0", "0"] and int(saved(cx)) > 0


@alone
def test_nothing_is_left_of_a_program_that_crashes_in_its_notice_and_may_not_go_back(cx):
    job = in_its_notice(cx, CRASHER, "D", "600")
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "3"
    until(lambda: not os.path.exists(os.path.join(cx.dir, "mom", "n1", "checkpoint", f"{job}.CK")), "the end of its image")


@alone
def test_a_program_that_saves_itself_needs_no_room_for_its_memory(cx):
    with small_disk(cx, "24m"):
        configure(cx, "$min_check_poll 1", "$max_check_poll 1")
        job = start(cx, COUNTER.replace("n=0\n", "n=0\nlarge=$(head -c 40000000 /dev/zero | tr '\\0' x)\n"))
        until(lambda: (cx.file("now") or "").strip(), "the first count")
        until(lambda: int((cx.stat(job).get("resources_used") or {}).get("mem", "0kb")[:-2]) > 32000, "what it uses to be known")
        assert preempt(cx, job, "C") == {job: "C"}
        cx.api.delete(job)
        cx.wait_gone(job)


def first_line(path):
    with open(path, encoding="ascii") as f:
        return f.readline()


@alone
def test_a_full_disk_fails_the_save_of_a_program_and_what_it_had_saved_stays(cx):
    with small_disk(cx, "24m") as path:
        by_application(cx, seconds=3)
        job = start(cx, CAREFUL)
        until(lambda: (cx.file("now") or "").strip(), "the first count")
        until(lambda: preempt(cx, job, "C") == {job: "C"}, "the save with room")
        cx.api.run(job, "(n1:ncpus=1)")
        until(lambda: cx.file("counts").count("begin") == 2, "its second start")
        state = os.path.join(path, f"{job}.CK", "app", "state")
        before = first_line(state)
        running(cx, job)
        assert preempt(cx, job, "C") == {job: "000"}
        until(lambda: "no room" in cx.file("counts"), "what the program has seen")
        assert cx.state(job) == "R" and first_line(state) == before
        subprocess.run(["mount", "-o", "remount,size=256m", path], check=True)
        until(lambda: preempt(cx, job, "C") == {job: "C"}, "the save with more room")
        assert first_line(state) != before
        cx.api.delete(job)
        cx.wait_gone(job)
