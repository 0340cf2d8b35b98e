"""What goes wrong around a checkpoint by the application: nothing is lost that had been saved, and nothing loops."""
import contextlib
import os
import signal
import subprocess
import threading

import pytest

from harness.checkpoints import COUNTER, by_application, preempt, running, small_disk
from harness.faults import processes_with
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


def crash_in_its_notice(cx):
    """A job that is given notice of its preemption, saves itself and crashes."""
    job = start(cx, CRASHER, preempt_signal="USR1")
    until(lambda: (cx.file("now") or "").strip(), "the first count")
    c = cx.connect()
    c.register("default")
    c.preempt_run(cx.submit(select="1:ncpus=1", l_place="excl"), "(n1:ncpus=1)", [job])
    return job


@alone
@pytest.mark.parametrize("order", ["C", "R"])
def test_a_program_that_saves_itself_in_its_notice_and_crashes_continues_from_there(cx, order):
    cx.set_sched("preempt_order", order)
    cx.set_sched("preempt_grace", "600")
    job = crash_in_its_notice(cx)
    cx.wait(job, state="Q")
    saved = cx.file("counts").splitlines()[-1].split()
    cx.api.run(job, "(n1:ncpus=1)")
    until(lambda: cx.file("counts").count("begin") == 2, "its second start")
    assert saved[0] == "saved" and cx.file("counts").splitlines()[2] == "begin " + saved[1]


@alone
def test_nothing_is_left_of_a_program_that_crashes_in_its_notice_and_may_not_go_back(cx):
    cx.set_sched("preempt_order", "D")
    cx.set_sched("preempt_grace", "600")
    job = crash_in_its_notice(cx)
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
