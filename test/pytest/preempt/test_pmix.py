"""A program and its preemption, through PMIx: it asks, declares, is told, answers (doc/pmix.md)."""
import contextlib
import ctypes
import os
import shutil
import socket
import stat
import time

import pytest

from harness.build import pmix_program
from harness.shepherds import helper_pid
from harness.wait import until
from test_notice import LONG, ROOM, noticed, record, scheduler, started

pytestmark = [pytest.mark.complex(nodes=2, ncpus=4, sched=False),
              pytest.mark.skipif(not shutil.which("pkg-config"), reason="there is no pkg-config")]

SYS_PIDFD_GETFD = 438  # on all machines
TWO = "(n1:ncpus=4)+(n2:ncpus=4)"


def talker(cx, *words, ranks=1, where=ROOM, **attrs):
    """A job of programs that speak PMIx; started, and heard of."""
    pmix_program(cx, "pmix_talk")
    select = attrs.pop("select", f"1:ncpus=4:mpiprocs={ranks}")
    job = started(cx, f"pbs_launch -K 0 ./pmix_talk talk {' '.join(words)}", where, select=select, **attrs)
    for r in range(ranks):
        until(lambda r=r: "up" in said(cx, r), f"rank {r}")
    return job


def said(cx, rank=0):
    return (cx.file(f"talk.{rank}") or "").splitlines()


def line(cx, word, rank=0):
    """The last line that begins so: its words, those of a=b as a dictionary."""
    found = until(lambda: [x for x in said(cx, rank) if x.startswith(word)], f"{word} in what rank {rank} has said")
    return found[-1], dict(w.split("=", 1) for w in found[-1].split() if "=" in w)


def is_declared(cx, job):
    """Return true while the job exists and its program has declared that it saves itself."""
    return (cx.stat(job) or {}).get("checkpoint_by") == "pmix"


# --- 1. it asks
def test_the_policy_is_that_of_pbs_preempt(cx):
    scheduler(cx, "SCR 50 R", grace="30", most="90")
    cx.set_queue("workq", "preempt_max_count", "3")
    talker(cx, "query", Variable_List=f"PBS_CONF_FILE={cx.conf}")  # as qsub -V takes it along
    text, p = line(cx, "policy")
    assert text.startswith("policy SUCCESS order=SCR 50 R grace_s=30 ")
    assert {k: p[k] for k in ("grace_max_s", "negotiable", "in_memory", "limit", "exempt_s")} == {
        "grace_max_s": "90", "negotiable": "1", "in_memory": "1", "limit": "3", "exempt_s": "0"}


# --- 2. it declares
@pytest.mark.parametrize("how", ["event", "signal"])
def test_a_program_that_declares_that_it_saves_itself_is_saved(cx, how):
    victim = talker(cx, how, "need=7", Checkpoint="u")
    until(lambda: is_declared(cx, victim), "the declaration in qstat -f")
    kill_ranks(cx, 0)
    until(lambda: not is_declared(cx, victim), "the end of the declaration")


def test_the_time_that_a_program_needs_stretches_its_notice_within_the_bound(cx):
    victim = talker(cx, "event", "need=500")
    until(lambda: is_declared(cx, victim), "the declaration in qstat -f")
    scheduler(cx, grace="100", most="900").preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    assert 400 < int(noticed(cx, victim)) - time.time() <= 500


def test_the_colliding_key_is_a_time_where_an_event_is_declared(cx):
    victim = talker(cx, "shared", "need=500")
    until(lambda: is_declared(cx, victim), "the declaration in qstat -f")
    scheduler(cx, grace="100", most="900").preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    assert 400 < int(noticed(cx, victim)) - time.time() <= 500


def test_method_c_asks_the_program_by_an_event_and_is_done_when_it_reports(cx):
    victim = talker(cx, "event")
    until(lambda: is_declared(cx, victim), "the declaration in qstat -f")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, "C", grace="0").preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    assert "checkpoint" in said(cx) and "reports" in said(cx)
    assert record(cx, victim)["method"] == "C"


def test_a_save_since_the_alert_is_the_checkpoint_of_method_c(cx):
    victim = talker(cx, "event", "saved")
    until(lambda: is_declared(cx, victim), "the declaration in qstat -f")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, "C", grace=LONG).preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    assert "checkpoint" not in said(cx) and said(cx).count("reports") == 1
    r = record(cx, victim)
    assert r["method"] == "C" and r["reply"] == "saved"


# --- who is a client
@pytest.mark.parametrize("who", ["job", "queue", "server"])
def test_the_script_of_a_job_that_asks_is_a_client_without_a_launcher(cx, who):
    pmix_program(cx, "pmix_talk")
    attrs = {"pmix": "True"} if who == "job" else {}
    if who == "queue":
        cx.set_queue("workq", "default_pmix", "True")
    if who == "server":
        cx.set_server("default_pmix", "True")
    started(cx, "./pmix_talk talk", **attrs)
    assert until(lambda: said(cx), "the program") == ["up"]


def test_a_job_may_say_no_where_its_queue_says_yes(cx):
    cx.set_queue("workq", "default_pmix", "True")
    started(cx, "env > seen.new; mv seen.new seen; sleep 600", pmix="False")
    assert "PMIX_RANK" not in until(lambda: cx.file("seen"), "its environment")


# --- 3. it is told
def test_the_alert_says_how_what_for_whom_and_until_when(cx):
    victim = talker(cx)
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, grace=LONG).preempt_run(urgent, ROOM, [victim])
    deadline = noticed(cx, victim)
    _, a = line(cx, "alert")
    assert a["id"] == f"{victim}.1.1" and a["method"] == "requeue" and a["reclaim"] == "n1" and a["by"] == urgent
    assert a["deadline"] == deadline and 0 < int(a["timeout"]) <= int(LONG)


def test_a_program_that_comes_in_the_middle_is_told_when_it_declares(cx):
    pmix_program(cx, "pmix_talk")
    victim = started(cx, "until test -e go; do sleep 0.02; done; pbs_launch ./pmix_talk talk event", select="1:ncpus=4:mpiprocs=1")
    scheduler(cx, grace=LONG).preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    noticed(cx, victim)
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    assert line(cx, "alert")[1]["id"] == f"{victim}.1.1"


def connections(pid):
    """Options TCP_NODELAY of the TCP connections of a process, taken over from it."""
    libc, own = ctypes.CDLL(None, use_errno=True), os.pidfd_open(pid)
    found = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        fd = libc.syscall(SYS_PIDFD_GETFD, own, int(name), 0)
        if fd < 0:
            continue  # closed meanwhile
        if not stat.S_ISSOCK(os.fstat(fd).st_mode):
            os.close(fd)
            continue
        with socket.socket(fileno=fd) as s:
            if s.family == socket.AF_INET and s.type == socket.SOCK_STREAM and not s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                found.append(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
    os.close(own)
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads the sockets of others")
def test_an_alert_does_not_wait_until_what_was_sent_before_it_is_acknowledged(cx):
    """Else it comes 40 ms late, when the kernel acknowledges what nothing is said to (Nagle, delayed acknowledgement)."""
    victim = talker(cx, "event", ranks=2)
    until(lambda: is_declared(cx, victim), "the declaration in qstat -f")
    options = connections(helper_pid(cx, victim, "n1"))
    assert len(options) >= 2 and all(options)


# --- 4. it answers
@pytest.mark.parametrize("words, reply", [(["ready"], "ready"), (["event", "saved"], "saved")])
def test_a_program_that_is_ready_gives_way_at_once(cx, words, reply):
    victim = talker(cx, *words)
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, grace=LONG).preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == reply


def test_time_is_granted_up_to_the_bound_of_the_site(cx):
    victim = talker(cx, "defer=900")
    scheduler(cx, grace="300", most="1000").preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    text, a = line(cx, "answered")
    assert text.startswith("answered SUCCESS") and 800 < int(a["timeout"]) <= 900
    until(lambda: int(cx.stat(victim)["preempt_deadline"]) > time.time() + 800, "the later deadline")


def test_more_time_than_may_be_is_granted_in_part(cx):
    victim = talker(cx, "defer=5000")
    scheduler(cx, grace="300", most="1000").preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    text, _ = line(cx, "answered")
    assert "RESOURCE-BUSY" in text
    text, a = line(cx, "deadline")
    assert text.startswith("deadline SUCCESS") and 900 < int(a["at"]) - time.time() <= 1000


def test_no_time_is_granted_where_the_site_forbids_it(cx):
    victim = talker(cx, "defer=5000")
    scheduler(cx, grace=LONG).preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    assert "NO-PERMISSIONS" in line(cx, "answered")[0]


def test_a_refusal_is_recorded_and_the_deadline_stands(cx):
    victim = talker(cx, "refuse")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, grace="3").preempt_run(urgent, ROOM, [victim])
    assert line(cx, "answered")[0].startswith("answered SUCCESS")
    assert cx.state(victim) == "R"
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == "decline"


@pytest.mark.parametrize("answer", ["partial=n2", "release=n2"])
def test_a_program_gives_a_host_away_and_runs_on_with_the_rest(cx, answer):
    victim = talker(cx, f"0:{answer}", where=TWO, select="2:ncpus=4:mpiprocs=1", l_place="scatter", ranks=2)
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, grace=LONG).preempt_run(urgent, "(n2:ncpus=4)", [victim])
    cx.wait(urgent)
    assert line(cx, "answered")[0].startswith("answered SUCCESS")
    assert cx.stat(victim)["exec_vnode"] == "(n1:ncpus=4)" and cx.state(victim) == "R"
    until(lambda: line(cx, "alert")[1]["method"] == "none", "the withdrawal")


def test_hosts_that_do_not_do_are_refused_with_the_reason(cx):
    victim = talker(cx, "0:release=n1", where=TWO, select="2:ncpus=4:mpiprocs=1", l_place="scatter", ranks=2)
    scheduler(cx, grace=LONG).preempt_run(cx.submit(select="2:ncpus=4", l_place="scatter"), TWO, [victim])
    assert "RESOURCE-BUSY" in line(cx, "answered")[0]
    assert cx.state(victim) == "R"


# --- 5. what else may be
def test_an_alert_that_is_withdrawn_is_followed_by_one_with_the_same_id(cx):
    victim = talker(cx)
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, grace=LONG).preempt_run(urgent, ROOM, [victim])
    first = line(cx, "alert")[1]
    cx.api.delete(urgent)
    until(lambda: line(cx, "alert")[1]["method"] == "none", "the withdrawal")
    assert line(cx, "alert")[1]["id"] == first["id"]


def test_an_answer_to_another_alert_is_not_taken(cx):
    victim = talker(cx, "late")
    scheduler(cx, grace=LONG).preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    assert "NOT-FOUND" in line(cx, "answered")[0]
    assert cx.state(victim) == "R"


@pytest.mark.parametrize("words", [["event", "quiet"], ["event", "die"]])
def test_a_program_that_dies_or_never_answers_is_waited_for_no_longer_than_the_deadline(cx, words):
    pmix_program(cx, "pmix_talk")
    victim = started(cx, f"pbs_launch ./pmix_talk talk {' '.join(words)}; sleep 600", select="1:ncpus=4:mpiprocs=1")
    until(lambda: "up" in said(cx), "the program")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, grace="2" if "quiet" in words else LONG).preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == ("none" if "quiet" in words else "ready")


def test_of_two_ranks_that_answer_differently_the_one_that_needs_time_counts(cx):
    victim = talker(cx, "event", "0:ready", "1:defer=900", ranks=2)
    scheduler(cx, grace="300", most="1000").preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    assert line(cx, "answered", 0)[0].startswith("answered SUCCESS")
    assert line(cx, "answered", 1)[0].startswith("answered SUCCESS")
    assert cx.state(victim) == "R" and cx.stat(victim).get("preempt_deadline")


def test_all_ranks_that_take_part_are_ready_or_gone_before_the_job_is(cx):
    victim = talker(cx, "event", "0:ready", "1:ready", ranks=3)
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, grace=LONG).preempt_run(urgent, ROOM, [victim])
    assert all(line(cx, "answered", r)[0].startswith("answered SUCCESS") for r in (0, 1))
    assert cx.state(victim) == "R" and cx.state(urgent) == "Q"
    kill_ranks(cx, 2)
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == "ready"


def kill_ranks(cx, *ranks):
    """They are the owner's; PMIX_RANK says which is which."""
    for p in os.listdir("/proc"):
        try:
            with open(f"/proc/{p}/cmdline", "rb") as f:
                mine = f.read().startswith(b"./pmix_talk") and os.readlink(f"/proc/{p}/cwd") == cx.work
            with open(f"/proc/{p}/environ", "rb") as f:
                mine = mine and any(b"PMIX_RANK=%d" % r in f.read().split(b"\0") for r in ranks)
        except OSError:
            continue
        if mine:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(p), 9)


def test_a_program_that_floods_is_answered_in_the_end(cx):
    victim = talker(cx, "flood")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, grace=LONG).preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == "ready"


# Kinds of requests that a client can make, with as many as it makes at once.
FLOODS = {"policy": 4000, "deadline": 20000, "declare": 20000, "release": 20000, "log": 4000, "publish": 4000, "lookup": 4000,
          "notify": 4000, "report": 4000, "monitor": 4000, "fence": 4000, "spawn": 4000}


@pytest.mark.parametrize("kind", FLOODS)
def test_each_request_of_a_program_that_floods_has_its_answer(cx, kind):
    pmix_program(cx, "pmix_flood")
    n = FLOODS[kind]
    started(cx, f"pbs_launch ./pmix_flood {kind} {n}", select="1:ncpus=4:mpiprocs=1")
    words = until(lambda: cx.file("flood.0"), "the last answer").split()
    assert words[0] == kind and words[1] == f"asked={n}"
    counts = dict(w.split("=") for w in words[1:])
    assert int(counts["answered"]) + int(counts["refused"]) == n


@pytest.mark.parametrize("daemon", ["n1", "server"])
def test_an_answer_while_a_daemon_is_away_arrives_when_it_is_back(cx, daemon):
    victim = talker(cx, "event")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, grace=LONG).preempt_run(urgent, ROOM, [victim])
    line(cx, "alert")
    cx.kill(daemon)
    kill_ranks(cx, 0)  # its end is its answer
    cx.restart(daemon)
    if daemon == "server":
        cx.again()
    cx.wait(urgent)


@pytest.mark.parametrize("victim_of_kill", ["pbs_pmix", "pbs_shepherd"])
def test_the_job_gives_way_at_its_deadline_when_its_helper_or_shepherd_is_killed(cx, victim_of_kill):
    victim = talker(cx, "event")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, grace="4").preempt_run(urgent, ROOM, [victim])
    line(cx, "alert")
    for p in os.listdir("/proc"):
        try:
            with open(f"/proc/{p}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(victim_of_kill.encode()) and os.path.dirname(cx.work).encode() in b" ".join(words):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(p), 9)
    cx.wait(urgent)


# --- a job on two hosts: each has a helper of its own
def spread(cx, *words):
    """A talker with rank 0 on n1 and rank 1 on n2."""
    return talker(cx, *words, where=TWO, select="2:ncpus=4:mpiprocs=1", l_place="scatter", ranks=2)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_of_either_host_gets_the_time_it_asks_for(cx, rank):
    victim = spread(cx, f"{rank}:defer=900")
    scheduler(cx, grace="300", most="1000").preempt_run(cx.submit(select="1:ncpus=4"), ROOM, [victim])
    assert line(cx, "answered", rank)[0].startswith("answered SUCCESS")
    assert int(cx.stat(victim)["preempt_deadline"]) > time.time() + 600 and cx.state(victim) == "R"


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("word", ["partial", "release"])
def test_a_rank_of_either_host_gives_the_second_host_back(cx, rank, word):
    victim = spread(cx, f"{rank}:{word}=n2")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, grace=LONG).preempt_run(urgent, "(n2:ncpus=4)", [victim])
    assert cx.wait(urgent)["exec_vnode"] == "(n2:ncpus=4)"
    assert cx.stat(victim)["exec_vnode"] == "(n1:ncpus=4)" and cx.state(victim) == "R"
    until(lambda: line(cx, "alert", 0)[1]["method"] == "none", "the withdrawal")


def states(cx, job, node):
    """The states that ranks have written on this host, below what its MOM keeps of the job."""
    top = os.path.join(cx.dir, "mom", node, "checkpoint", f"{job}.CK")
    return sorted({f for _, _, files in os.walk(top) for f in files if f.startswith("state.")})


def test_a_save_on_two_hosts_is_the_checkpoint_of_method_c_and_each_host_has_its_part(cx):
    victim = spread(cx, "event", "saved")
    urgent = cx.submit(select="1:ncpus=4")
    scheduler(cx, "CR", grace=LONG).preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    assert record(cx, victim)["method"] == "C"
    assert [states(cx, victim, n) for n in ("n1", "n2")] == [["state.0"], ["state.1"]]
    assert cx.wait(victim, "Q")["schedselect"] == "1:ncpus=4:mpiprocs=1:host=n1+1:ncpus=4:mpiprocs=1:host=n2"
    cx.api.delete(urgent)
    cx.wait_gone(urgent)
    cx.api.run(victim, TWO)
    cx.wait(victim)
    until(lambda: all(said(cx, r).count("up") == 2 for r in (0, 1)), "both ranks to be back")
    assert [states(cx, victim, n) for n in ("n1", "n2")] == [["state.0"], ["state.1"]]


# --- what a program does with it
EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "..", "doc", "examples", "pmix")


@pytest.mark.parametrize("language", ["c", "python"])
def test_the_examples_save_themselves_and_continue_where_they_were(cx, language):
    if language == "c":
        pmix_program(cx, "saves_itself", EXAMPLES)
        program = "./saves_itself"
    else:
        shutil.copy(os.path.join(EXAMPLES, "saves_itself.py"), cx.work)
        program = "python3 saves_itself.py"
    victim = started(cx, f"pbs_launch {program} 1000000", select="1:ncpus=4:mpiprocs=1")
    urgent = cx.submit(select="1:ncpus=4")
    until(lambda: ranks_run(cx, program), "the program")
    scheduler(cx, grace=LONG).preempt_run(urgent, ROOM, [victim])
    cx.wait(urgent)
    assert record(cx, victim)["reply"] == "saved"
    with open(os.path.join(cx.dir, "mom", "n1", "checkpoint", f"{victim}.CK", "app", "count"), encoding="ascii") as f:
        assert int(f.read()) >= 0


def ranks_run(cx, program):
    """It is a client: the helper has a connection besides that to the shepherd."""
    for p in os.listdir("/proc"):
        try:
            with open(f"/proc/{p}/cmdline", "rb") as f:
                if f.read().replace(b"\0", b" ").startswith(program.encode()) and os.readlink(f"/proc/{p}/cwd") == cx.work:
                    with open(f"/proc/{p}/task/{p}/children", encoding="ascii"):
                        return len(os.listdir(f"/proc/{p}/task")) > 1  # the library's thread
        except OSError:
            continue
    return False
