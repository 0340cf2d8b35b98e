"""Daemon logs as PBS writes them, and what the server's event mask leaves out."""
import glob
import os
import re

import pytest

from harness import api, users
from harness.complex import Complex
from harness.wait import until

LINE = re.compile(r"^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d(\.\d{6})?;([0-9a-f]{4});([^;]+);(\w+);([^;]*);(.*)$")
CLASSES = {"Svr", "Que", "Job", "Req", "Fil", "Act", "Node", "Resv", "Sched", "Hook", "Resc", "TPP", "Log", "Acct"}
WORK = [("Output_Path", "/tmp/o"), ("Error_Path", "/tmp/e")]


@pytest.fixture(scope="module")
def place():
    c = Complex(nodes=1, ncpus=2)
    try:
        yield c.start()
    finally:
        c.stop()


def lines(cx, folder="server_logs"):
    out = []
    for path in sorted(glob.glob(os.path.join(cx.dir, "**", folder, "2*"), recursive=True)):
        assert os.stat(path).st_mode & 0o777 == 0o644
        with open(path, encoding="utf-8", errors="surrogateescape") as f:
            out += [line.rstrip("\n") for line in f]
    return out


def texts(cx, name, mask=None):
    """The texts about an object, in order."""
    found = [LINE.match(line) for line in lines(cx)]
    return [m[6] for m in found if m and m[5] == name and (mask is None or int(m[2], 16) & mask)]


@pytest.mark.parametrize("folder,daemon", [("server_logs", "Server@"), ("sched_logs", "pbs_sched"),
                                           ("mom_logs", "pbs_mom")])
def test_every_line_has_the_form_of_pbs(place, folder, daemon):
    place.wait_gone(place.submit("true"))
    there = until(lambda: lines(place, folder), f"lines in {folder}")
    for line in there:
        m = LINE.match(line)
        assert m, f"no log line: {line!r}"
        assert m[3].startswith(daemon) and m[4] in CLASSES


@pytest.mark.parametrize("folder,daemon", [("server_logs", "Server@"), ("sched_logs", "pbs_sched"),
                                           ("mom_logs", "pbs_mom")])
def test_each_log_begins_with_who_writes_it_and_where(place, folder, daemon):
    head = [LINE.match(line) for line in until(lambda: lines(place, folder)[4:] and lines(place, folder)[:5], folder)]
    assert head[0][6] == "Log opened" and all(m[5].startswith(daemon) for m in head[1:])
    assert head[1][6] == "pbs_version=23.06.06" and head[2][6].startswith("pbs_build=")
    assert re.fullmatch(r"hostname=[^;]+;pbs_leaf_name=[^;]+;pbs_mom_node_name=[^;]+", head[3][6])
    assert re.fullmatch(r"ipv4 interface \w+: [\d.]+", head[4][6])
    until(lambda: any(";cede_version=" in line for line in lines(place, folder)), "its own version")


def test_a_jobs_life_is_told_in_the_servers_log(place):
    job = place.submit("true", Job_Name="told")
    place.wait_gone(job)
    told = "\n".join(until(lambda: [t for t in texts(place, job) if "Exit_status" in t] and texts(place, job),
                           "the end of the job in the log"))
    for text in ("Job Queued at request of ", "job name = told, queue = workq", "Exit_status=0"):
        assert text in told


def test_a_jobs_life_is_told_in_the_words_that_scripts_look_for(place):
    place.set_server("log_events", "4095")
    job = place.submit("sleep 600")
    session = until(lambda: place.stat(job).get("session_id"), "its session")
    place.api.delete(job)
    place.wait_gone(job)
    told = until(lambda: [t for t in texts(place, job) if "dequeuing" in t] and texts(place, job), "its end in the log")
    place.api.manager(api.MUNSET, api.SERVER, "", [("log_events", "")])
    looked_for = ["enqueuing into workq, state Q hop 1", f"Received session ID for job: {session}",
                  "Job sent signal TermJob on delete", "Obit received momhop:1 serverhop:1 state:R substate:42",
                  "dequeuing from workq, state F"]
    assert [t for t in told if t in looked_for] == looked_for, told
    assert "Updated job state to 4 and substate to 42" in told


@pytest.mark.parametrize("attribute, value, said", [
    ("node_fail_requeue", "77", "node_fail_requeue value changed to 77"),
    ("resend_term_delay", "9", "resend_term_delay value changed to 9"),
    ("job_history_duration", "01:00:00", "svr_history_duration set to val 3600")])
def test_a_change_that_matters_is_told_with_its_value(place, attribute, value, said):
    place.set_server(attribute, value)
    until(lambda: any(line.endswith(";" + said) for line in lines(place)), said)
    place.api.manager(api.MUNSET, api.SERVER, "", [(attribute, "")])


@pytest.mark.complex(sched=False)
def test_a_restarted_server_logs_its_jobs_only_where_the_event_mask_asks_for_it(cx):
    cx.submit("true")
    cx.set_server("log_events", "1")
    told = [line for line in lines(cx) if "Recovered" in line]
    cx.restart("server")
    cx.again()
    cx.set_server("log_events", "511")
    cx.set_server("comment", "now")
    until(lambda: any("comment = now" in line for line in lines(cx)), "what comes later")
    assert told and [line for line in lines(cx) if "Requeueing job" in line or "Recovered" in line] == told


@pytest.mark.complex(sched=False)
def test_a_restarted_server_tells_what_it_has_recovered(cx):
    cx.make_queue("other")
    waiting, held = cx.submit("true"), cx.submit("true", Hold_Types="u", queue="other")
    cx.restart("server")
    until(lambda: any("Recovered 2 jobs" in line for line in lines(cx)), "the second start")
    told = [line.split(";", 3)[3] for line in lines(cx)]
    assert f"Job;{waiting};Requeueing job, substate: 10 Requeued in queue: workq" in told
    assert f"Job;{held};Requeueing job, substate: 20 Requeued in queue: other" in told
    for said in ("Que;workq;Recovered queue workq", "Que;other;Recovered queue other",
                 "Sched;default;Recovered scheduler default"):
        assert said in told, said


def test_how_many_subjobs_may_run_is_told_when_it_is_said(place):
    array = place.submit("true", Hold_Types="u", array_indices_submitted="0-9", max_run_subjobs="3")
    place.api.alter(array, [("max_run_subjobs", "4")])
    until(lambda: "max_run_subjobs set to 4" in texts(place, array), "the second limit")
    assert "max_run_subjobs set to 3" in texts(place, array)
    place.api.delete(array)


def test_a_file_that_is_written_where_it_belongs_is_told_to_be_skipped(place):
    job = place.submit("true", Keep_Files="oed")
    place.wait_gone(job)
    said = f"{place.dir}/mom/n1/spool/{job}.OU"
    until(lambda: any(line.endswith(f"stage_file;Skipping directly written/absent spool file {said}")
                      for line in lines(place, "mom_logs")), said)


def test_a_mom_that_starts_and_one_that_reconnects_send_different_greetings(cx):
    until(lambda: any("Restart sent to server at " in line for line in lines(cx, "mom_logs")), "the first greeting")
    cx.restart("server")
    until(lambda: any("Hello sent to server at " in line for line in lines(cx, "mom_logs")), "the next one")
    until(lambda: len([line for line in lines(cx, "mom_logs") if "ReplyHello (no inventory required) from server at "
                       in line]) >= 2, "both answers")
    assert len([line for line in lines(cx, "mom_logs") if "Restart sent to server at " in line]) == 1


def test_an_accounting_file_that_is_opened_is_told(place):
    place.wait_gone(place.submit("true"))
    path = os.path.join(place.home, "server_priv", "accounting", "")
    until(lambda: any(re.fullmatch(rf"Account file {path}\d{{8}} opened", t) for t in texts(place, "Act")), "its line")


def test_server_and_scheduler_log_why_the_scheduler_is_woken(place):
    place.api.manager(api.MSET, api.SCHED, "default", [("log_events", "4095")])
    place.set_server("scheduling", "True")
    until(lambda: "Scheduler sent command 5" in texts(place, "default", 0x40), "the command in the server's log")
    until(lambda: any(line.endswith(";Scheduler received command 5") for line in lines(place, "sched_logs")),
          "the scheduler has heard that scheduling was set")
    place.api.manager(api.MUNSET, api.SCHED, "default", [("log_events", "")])


def test_the_log_says_who_changed_what(place):
    place.make_queue("told")
    place.set_queue("told", "Priority", "7")
    place.api.manager(api.DELETE, api.QUEUE, "told")
    told = "\n".join(until(lambda: texts(place, "told")[3:] and texts(place, "told"), "lines about the queue"))
    assert "created at request of" in told and "Priority = 7" in told and "deleted at request of" in told


def test_a_refusal_is_told_with_its_number(place):
    with pytest.raises(api.PbsError):
        place.api.stat("job", "999999")
    with pytest.raises(api.PbsError):
        place.api.submit([*WORK, ("Priority", "x")], place.script("true"))
    until(lambda: any("Reject reply code=15014" in t for t in texts(place, "req_reject")), "the refusal in the log")


@pytest.mark.skipif(not users.available(), reason="needs root, to be somebody else")
def test_a_request_without_permission_is_logged(place):
    job = place.submit(Hold_Types="u")
    place.command("qdel", job, user=users.NAMES[1], check=False)
    place.command("qmgr", "-c", "set queue workq Priority=1", user=users.NAMES[1], check=False)
    who = f"request from: {users.NAMES[1]}@"
    for text in (f"request type: 100, Object: Job, Name: {job}, {who}", "request type: 9, Object: server, Name: "):
        until(lambda text=text: any(text in t for t in texts(place, "", 0x20)), lambda text=text: text)
    place.api.delete(job)


def test_the_mask_of_the_server_leaves_events_out(place):
    place.set_server("log_events", "15")
    before = len([line for line in lines(place) if "request received from" in line])
    job = place.submit(Hold_Types="u")
    place.api.delete(job)
    until(lambda: texts(place, job), "the job in the log")
    assert len([line for line in lines(place) if "request received from" in line]) == before
    place.api.manager(api.MUNSET, api.SERVER, "", [("log_events", "")])
    place.api.stat("server")
    until(lambda: len([line for line in lines(place) if "Type 21 request received from" in line]) > 0,
          "requests in the log again")


@pytest.mark.parametrize("name", ["a\nb;Svr;x;forged", "x\r\n01/01/2026 00:00:00;0002;Server@x;Svr;y;forged", "\x1b[2J"])
def test_users_cannot_forge_lines_of_the_log(place, name):
    with pytest.raises(api.PbsError):
        place.api.manager(api.CREATE, api.QUEUE, name, [("queue_type", "e")])
    with pytest.raises(api.PbsError):
        place.api.delete(name)
    job = place.submit(Hold_Types="u")
    place.api.alter(job, [("comment", name)])
    place.set_server("comment", name)
    until(lambda: any("Modified" in t for t in texts(place, job)), "the alteration in the log")
    for line in lines(place):
        assert LINE.match(line) and "\x1b" not in line, repr(line)
