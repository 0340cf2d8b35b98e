"""Mail: to whom, when, by which program; and that it never holds anything up."""
import contextlib
import os
import signal
import time

import pytest

from harness import api, faults, users
from harness.desk import Desk, queue
from harness.sim import Simulator
from harness.wait import until

history = pytest.mark.complex(history=True)
root = pytest.mark.skipif(os.geteuid() != 0, reason="only root acts for others")


def catch_mail(cx, text=""):
    """The site's mailer writes each message, with its arguments, into a file of its own."""
    box = os.path.join(cx.work, "mail")
    os.mkdir(box)
    os.chmod(box, 0o777)
    path = os.path.join(cx.top, "mailer")
    with open(path, "w", encoding="ascii") as f:
        f.write(f'#!/bin/sh\n{text}\nf=$(mktemp {box}/.XXXXXX)\n{{ for a in "$@"; do echo "<$a>"; done; cat; }} > $f\n'
                f'mv $f {box}/m$$\n')
    os.chmod(path, 0o755)
    cx.set_server("mailer", path)
    return box


def mails(box):
    found = []
    for name in sorted(os.listdir(box)):
        if not name.startswith("."):
            with open(os.path.join(box, name), encoding="utf-8") as f:
                found.append(f.read())
    return found


def one_mail(box, with_text=""):
    return until(lambda: next((m for m in mails(box) if with_text in m), None), f"a mail with {with_text!r}")


@history
def test_begin_and_end_are_mailed_to_those_who_are_named(cx):
    box = catch_mail(cx)
    cx.set_server("mail_from", "pbs@site")
    job = cx.submit("exit 3", Mail_Points="be", Mail_Users="anna@login,bert", Job_Name="relax")
    cx.wait_gone(job)
    begin, end = one_mail(box, "Begun execution"), one_mail(box, "Execution terminated")
    head = "<-f>\n<pbs@site>\n<anna@login>\n<bert>\n"
    assert begin == (f"{head}To: anna@login, bert\nSubject: PBS JOB {job}\n\nPBS Job Id: {job}\nJob Name:   relax\n"
                     "Begun execution\n")
    assert end.startswith(head) and "\nExecution terminated\nExit_status=3\nresources_used.cpupercent=" in end
    assert len(mails(box)) == 2


@history
def test_a_job_that_was_killed_at_a_limit_is_mailed_to_users_who_ask_for_aborts(cx):
    box = catch_mail(cx)
    cx.wait_gone(cx.submit("sleep 600", l_walltime="1"))
    assert one_mail(box, "Aborted").endswith(
        "Aborted by PBS Server \nJob exceeded resource walltime\nSee job standard error file\n")
    assert len(mails(box)) == 1


@history
def test_no_mail_is_sent_for_a_job_that_ends_well_unless_asked_for(cx):
    box = catch_mail(cx)
    cx.wait_gone(cx.submit("true"))
    marker = cx.submit("true", Mail_Points="e")
    cx.wait_gone(marker)
    one_mail(box, marker)
    assert len(mails(box)) == 1


@history
@pytest.mark.parametrize("order", ["R", "D"])
def test_mail_tells_a_preempted_job_from_a_killed_one(cx, order):
    box = catch_mail(cx)
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", order)
    victim = cx.submit("cd $PBS_O_WORKDIR; [ -e once ] || { touch once; exec sleep 600; }", select="1:ncpus=4", Mail_Points="ae",
                       Variable_List=f"PBS_O_WORKDIR={cx.work}")
    cx.wait(victim)
    urgent = cx.submit("sleep 600", queue="express", select="1:ncpus=4")
    cx.wait(urgent)
    if order == "R":
        cx.api.delete(urgent)
        until(lambda: cx.state(victim) in "FR", "its second run")
        with contextlib.suppress(api.PbsError):  # it may have ended in this moment
            cx.api.delete(victim)
    else:
        text = one_mail(box, "Aborted by PBS Server")
        assert f"PBS JOB {victim}" in text and f"Preempted by deletion, to make room for {urgent}" in text
    text = one_mail(box, "Execution terminated")
    assert f"preempt_method={'Q' if order == 'R' else 'D'}\npreempted_by={urgent}\n" in text
    assert "preempt_count=1\n" in text


@root
@history
def test_a_job_that_another_user_deletes_is_mailed_to_its_owner(cx):
    box = catch_mail(cx)
    script = cx.script("sleep 600")
    job = cx.command("qsub", script, user=users.NAMES[0]).stdout.strip()
    mine = cx.command("qsub", script, user=users.NAMES[0]).stdout.strip()
    cx.command("qdel", mine, user=users.NAMES[0])
    cx.api.delete(job)
    text = one_mail(box, f"PBS JOB {job}")
    assert f"<{users.NAMES[0]}@" in text and "Aborted by PBS Server" in text
    assert "Job to be deleted at request of root@" in text
    cx.wait_gone(job)
    cx.wait_gone(mine)
    assert len(mails(box)) == 1


@root
@history
@pytest.mark.parametrize("site, options, mailed", [
    (None, [], 4), (None, ["-Wsuppress_email=2"], 2), (None, ["-W", "suppress_email=-1"], 0),
    ("-Wsuppress_email=1", [], 1), ("-W suppress_email=-1", [], 0), ("-Wsuppress_email=1", ["-Wsuppress_email=3"], 3),
    ("-Wsuppress_email=-1", ["-Wsuppress_email=0"], 4)])
def test_qdel_sends_no_more_mails_than_it_or_the_site_says(cx, site, options, mailed):
    box = catch_mail(cx)
    if site:
        cx.set_server("default_qdel_arguments", site)
    jobs = [cx.command("qsub", "-h", "--", "/bin/true", user=users.NAMES[0]).stdout.strip() for _ in range(4)]
    last = cx.command("qsub", "-h", "--", "/bin/true", user=users.NAMES[0]).stdout.strip()
    cx.command("qdel", *options, *jobs)
    cx.command("qdel", "-Wsuppress_email=1", last)
    one_mail(box, f"PBS JOB {last}")
    until(lambda: len(mails(box)) >= mailed + 1, f"{mailed} mails more")
    assert len(mails(box)) == mailed + 1


@history
def test_a_job_that_cannot_be_run_is_mailed_with_the_reason(cx):
    box = catch_mail(cx)
    path = os.path.join(cx.dir, "mom", "n1", "mom_priv", "prologue")
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\nexit 1\n")
    os.chmod(path, 0o755)
    job = cx.submit("true")
    text = one_mail(box, f"PBS JOB {job}")
    assert "Aborted by PBS Server" in text and "Could not run prolog" in text


@history
def test_files_that_could_not_be_delivered_are_mailed_whatever_was_asked_for(cx):
    box = catch_mail(cx)
    job = cx.submit("echo precious", Mail_Points="n", Output_Path="/no/such/directory/x")
    text = one_mail(box, f"PBS JOB {job}")
    assert "Post job file processing error" in text and "Unable to copy file" in text
    assert "Output retained on that host in:" in text


def end_mailers(cx):
    """Those at work outlive their server; each leads a group of its own."""
    cx.stop_daemon("server")
    for pid in faults.processes_with(os.path.join(cx.top, "mailer"), "cmdline"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


@history
def test_a_mailer_that_hangs_holds_nothing_up(cx):
    catch_mail(cx, "sleep 600")
    try:
        jobs = [cx.submit("true", Mail_Points="be") for _ in range(20)]
        for job in jobs:
            cx.wait_gone(job)
        begin = time.monotonic()
        assert cx.stat(jobs[0])["Exit_status"] == "0"
        assert time.monotonic() - begin < 30
    finally:
        end_mailers(cx)


@history
def test_an_address_that_looks_like_an_option_or_a_header_is_left_out(cx):
    box = catch_mail(cx)
    job = cx.submit("true", Mail_Points="e", Mail_Users="-Cbad,anna@login")
    cx.wait_gone(job)
    text = one_mail(box, "Execution terminated")
    assert "-Cbad" not in text and "<anna@login>" in text


@history
def test_a_mailer_that_is_not_there_is_said_once_in_the_log(cx):
    cx.set_server("mailer", "/no/such/mailer")
    for _ in range(3):
        cx.wait_gone(cx.submit("true", Mail_Points="be"))
    log = cx.wait_log("server", "mail cannot be sent by /no/such/mailer")
    assert log.count("mail cannot be sent by /no/such/mailer") == 1


@history
def test_of_an_array_one_begin_and_one_end_are_mailed_and_of_its_subjobs_with_j(cx):
    box = catch_mail(cx)
    for points, subjobs in (("be", 0), ("jbe", 2)):
        job = cx.submit("true", array_indices_submitted="1-2", Mail_Points=points, Mail_Users="anna")
        cx.wait_gone(job)
        number = job.split("[")[0]
        until(lambda: sum(f"JOB {number}[" in m for m in mails(box)) == 2 + 2 * subjobs, lambda: str(mails(box)))
        about = [m for m in mails(box) if f"JOB {job}" in m]
        assert sorted("Begun execution" in m for m in about) == [False, True] and len(about) == 2


@pytest.mark.complex(nodes=0, clock=True)
def test_a_reservation_is_mailed_from_its_confirmation_to_its_end(cx):
    """Each end of a period is mailed and logged, that of the last occurrence too; who deletes one is named; a denial is not mailed."""
    box = catch_mail(cx)

    def told(resv, text, times=1):
        head = f"Subject: PBS RESERVATION {resv}\n\nPBS Reservation Id: {resv}\nReservation Name:   lunch\n"
        until(lambda: sum(m.endswith(head + text + "\n") for m in mails(box)) == times, lambda: f"{times} of {text!r} of {resv}: {mails(box)}")

    with Simulator(cx, nodes=1, ncpus=4) as sim:
        d = Desk(cx, sim)
        server = f"pbs_server@{d.server}"
        twice = d.standing("-N", "lunch", "-m", "abce", rule="FREQ=HOURLY;COUNT=2", lasts=60)
        told(twice, "Reservation transitioned from state UNCONFIRMED to CONFIRMED")
        for times in (1, 2):
            d.begin(twice)
            told(twice, "Reservation period starting", times)
            cx.wait(d.job(queue=queue(twice)))
            d.end(twice)
            told(twice, "Reservation period ended", times)
            cx.wait_log("server", f"Resv;{twice};Reservation period ended", times=times)
            d.wait(twice, "CO" if times == 1 else None)
        told(twice, f"Reservation removed\nRequesting party: {server}")
        once = d.new("-N", "lunch", "-m", "abe", wait="RN")
        d.end(once)
        told(once, "Reservation period ended")
        told(once, f"Reservation removed\nRequesting party: {server}")
        deleted = d.new("-N", "lunch", "-m", "ae", wait="RN")
        cx.api.delete_resv(deleted)
        told(deleted, f"Reservation removed\nRequesting party: {users.me()}@{d.server}")
        none = d.new("-N", "lunch", "-m", "n", wait="RN")
        d.end(none)
        d.wait(none, None)
        denied = d.rsub("-N", "lunch", "-m", "abce", "-R", d.at(900), "-D", "60", "-l", "ncpus=5", "-I", "50").stdout.split()[0]
        last = d.new("-N", "lunch", "-m", "c")
        told(last, "Reservation transitioned from state UNCONFIRMED to CONFIRMED")
    assert not [m for m in mails(box) for r in (none, denied) if r in m]
    assert f"{denied};PBS Failed to confirm resv: " in cx.log("sched") and f"{denied};Reservation Confirmed" not in cx.log("sched")
    assert len([m for m in mails(box) if deleted in m]) == 1
