"""pbs_rsub, pbs_rstat, pbs_ralter, pbs_rdel: output and exit codes; this test confirms as a scheduler would."""
import json
import threading

import pytest

from harness import api
from harness.ask import at
from harness.wait import until

pytestmark = pytest.mark.complex(sched=False)


def rsub(cx, *words, check=True, **how):
    return cx.command("pbs_rsub", *words, check=check, **how)


def new(cx, *words):
    """A reservation of an hour, an hour from now; its identifier."""
    return rsub(cx, "-R", at(3600), "-D", "1:00:00", "-l", "select=1:ncpus=2", *words).stdout.split()[0]


def state(cx, resv):
    return cx.api.stat("resv", resv)[0]["reserve_state"]


def test_rsub_says_what_has_become_of_it(cx):
    out = rsub(cx, "-R", at(3600), "-E", at(7200), "-l", "select=1:ncpus=2").stdout
    assert out == "R0.vm UNCONFIRMED\n".replace("vm", cx.api.stat("server")[0].name)


def test_rsub_that_waits_is_answered_by_the_decision(cx):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(new(cx, "-I", "60") and rsub(
        cx, "-R", at(3600), "-D", "60", "-l", "ncpus=1", "-I", "60").stdout))
    thread.start()
    until(lambda: cx.api.stat("resv"), "the first one")
    first = cx.api.stat("resv")[0].name
    cx.api.confirm_resv(first, "(n1:ncpus=2)")
    until(lambda: len(cx.api.stat("resv")) == 2, "the second one")
    second = cx.api.stat("resv")[1].name
    cx.api.confirm_resv(second, extend="PBS_RESV_CONFIRM_FAIL")
    thread.join()
    assert answers == [f"{second} DENIED\n"]


def test_rsub_whose_patience_ends_deletes_or_leaves_it(cx):
    assert new(cx, "-I", "1") in [r.name for r in cx.api.stat("resv")]
    assert rsub(cx, "-R", at(3600), "-D", "60", "-l", "ncpus=1", "-I", "-1").stdout.endswith(
        " delete, wait period expired\n")
    until(lambda: len(cx.api.stat("resv")) == 1, "the second one to be deleted")


@pytest.mark.parametrize("words, text, code", [
    ((), "usage: pbs_rsub", 2), (("-R", "99", "-D", "60"), "pbs_rsub: illegal -R time value", 2),
    (("-D", "60", "-l", "ncpus=1"), "pbs_rsub: Bad time specification(s)", 238),
    (("--hosts",), "pbs_rsub: missing host(s)", 2), (("--hosts", "a", "a"), "pbs_rsub: Duplicate host: a", 2),
    (("-q", "workq", "-D", "60"), 'pbs_rsub: illegal -q value: format "@server"', 2),
    (("foo", "bar"), "pbs_rsub: directive error: foo bar\n", 2),
    (("-D", "60", "-N", "1 x"), "pbs_rsub: illegal -N value", 2),
    (("-D", "60", "-m", "x"), "pbs_rsub: illegal -m value", 2), (("-D", "60", "-m", "an"), "pbs_rsub: illegal -m value", 2),
    (("-D", "60", "-N", "a" * 231), "pbs_rsub: Reservation name is too long ", 2),
    (("-R", at(3600), "-D", "60", "-U", "anna,bob,anna"), "pbs_rsub: Authorized_Users: Duplicate entry in list: anna\n", 207),
    (("-R", at(3600), "-D", "60", "-G", "g,g"), "pbs_rsub: Authorized_Groups: Duplicate entry in list: g\n", 207),
    (("-r", "FREQ=DAILY;COUNT=2;BYHOUR=" + ",".join(map(str, range(24))), "-D", "60"), "pbs_rsub: illegal -r value (expression too long)", 2),
    (("-R", at(3600), "-D", "60", "--hosts", "zz"), "pbs_rsub: No nodes found", 2),
    (("-R", at(3600), "-D", "60", "-u", "nosuchuser"), "pbs_rsub: Bad effective UID for reservation", 247),
    (("-R", at(3600), "-D", "60", "-g", "nosuchgroup"), "pbs_rsub: Bad effective GID for reservation", 248),
    (("--job", "1", "-R", at(3600)), "pbs_rsub: Start/End time cannot be used with --job option", 2),
    (("--job", "1", "-E", at(3600)), "pbs_rsub: Start/End time cannot be used with --job option", 2),
    (("-I", "5", "--hosts", "n1"), "pbs_rsub: can't use -I with --hosts", 2),
    (("-R", "2000", "-D", "60", "-l", "ncpus=1", "--hosts", "n1"), "pbs_rsub: can't use -l with --hosts", 2),
    (("-r", "FREQ=DAILY;COUNT=2", "-D", "60"), "a valid PBS_TZID timezone environment variable is required", 2),
])
def test_rsub_refuses(quiet, words, text, code):
    done = rsub(quiet, *words, check=False)
    assert text in done.stderr and done.returncode == code


def test_ralter_and_rdel_refuse_what_is_wrong_in_the_command_line(quiet):
    done = quiet.command("pbs_ralter", "-m", "x", "R999", check=False)
    assert done.stderr.startswith("pbs_ralter: illegal -m value\n") and done.returncode == 2
    done = quiet.command("pbs_rdel", check=False)
    assert done.stderr.startswith("usage:\tpbs_rdel [-q dest] resv_identifier...\n") and done.returncode == 2


@pytest.mark.parametrize("words", [("pbs_rdel",), ("pbs_rstat",), ("pbs_ralter", "-D", "60")])
def test_an_identifier_is_completed_or_refused(quiet, words):
    server = quiet.api.stat("server")[0].name
    if words[0] != "pbs_rstat":
        assert f": Unknown Reservation Id R999.{server}\n" in quiet.command(*words, "R999", check=False).stderr
    for bad in ("bogus", "R", "R1x", "12", "R1[]", "R1234567890123"):
        done = quiet.command(*words, bad, check=False)
        assert done.stderr == f"{words[0]}: illegally formed reservation identifier: {bad}\n" and done.returncode == 1


def test_rstat_shows_a_line_or_everything(cx):
    assert cx.command("pbs_rstat").stdout == ""
    resv = new(cx, "-N", "lunch")
    cx.api.confirm_resv(resv, "(n1:ncpus=2)")
    line = cx.command("pbs_rstat").stdout.splitlines()
    assert line[1] == "-" * 69 and line[2].split()[:4] == [resv[:10], "R0", "root@vm"[:8], "CO"] and "/ 3600 /" in line[2]
    assert cx.command("pbs_rstat", "-B", resv).stdout == f"Resv ID: {resv}\n"
    full = cx.command("pbs_rstat", "-f", resv.split(".")[0]).stdout
    assert full.startswith(f"Resv ID: {resv}\nReserve_Name = lunch\n") and "reserve_state = RESV_CONFIRMED\n" in full
    assert "reserve_duration = 3600\n" in full and "Resource_List.ncpus = 2\n" in full
    missing = cx.command("pbs_rstat", "R99", resv, check=False)
    assert "pbs_rstat: Unknown Reservation Id" in missing.stderr and resv[:10] in missing.stdout and missing.returncode == 0


def test_rstat_in_json_has_a_member_for_each_reservation(cx):
    assert json.loads(cx.command("pbs_rstat", "-F", "json").stdout)["resvs"] == {}
    resvs = [new(cx), new(cx)]
    shown = json.loads(cx.command("pbs_rstat", "-F", "json").stdout)
    assert sorted(shown["resvs"]) == sorted(resvs) and shown["pbs_server"]
    one = json.loads(cx.command("pbs_rstat", "-F", "json", resvs[0]).stdout)["resvs"]
    assert list(one) == [resvs[0]] and one[resvs[0]]["reserve_state"] == 1
    assert one[resvs[0]]["Resource_List"]["ncpus"] == 2 and "reserve_execvnodes" not in one[resvs[0]]


def test_rdel_deletes_and_reports(cx):
    resv = new(cx)
    cx.api.confirm_resv(resv, "(n1:ncpus=2)")
    job = cx.submit("true", queue=resv.split(".")[0], select="1:ncpus=1")
    done = cx.command("pbs_rdel", resv.split(".")[0])
    assert done.stdout == done.stderr == ""
    until(lambda: not cx.api.stat("resv"), "the reservation to go")
    cx.wait_gone(job)
    done = cx.command("pbs_rdel", resv, check=False)
    assert done.stderr == f"pbs_rdel: Unknown Reservation Id {resv}\n" and done.returncode == 15084 % 256


def test_ralter_waits_for_a_scheduler_and_is_undone_when_that_refuses(cx):
    resv = new(cx)
    assert cx.command("pbs_ralter", "-D", "2:00:00", resv, check=False).returncode == 15016 % 256
    cx.api.confirm_resv(resv, "(n1:ncpus=2)")
    assert cx.command("pbs_ralter", "-D", "2:00:00", resv).stdout == f"pbs_ralter: {resv} ALTER REQUESTED\n"
    assert state(cx, resv) == "11"
    cx.api.confirm_resv(resv, extend="PBS_RESV_CONFIRM_FAIL")
    s = cx.api.stat("resv", resv)[0]
    assert s["reserve_state"] == "2" and int(s["reserve_end"]) - int(s["reserve_start"]) == 3600
    cx.command("pbs_ralter", "-D", "2:00:00", resv)
    cx.crash_server()
    assert state(cx, resv) == "11"
    cx.api.confirm_resv(resv, "(n1:ncpus=2)")
    s = cx.api.stat("resv", resv)[0]
    assert s["reserve_state"] == "2" and int(s["reserve_end"]) - int(s["reserve_start"]) == 7200


@pytest.mark.parametrize("with_job", [False, True])
def test_ralter_that_waits_is_told_that_the_reservation_is_deleted(cx, with_job):
    resv = new(cx)
    cx.api.confirm_resv(resv, "(n1:ncpus=2)")
    if with_job:
        cx.submit("true", queue=resv.split(".")[0], select="1:ncpus=1")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(cx.command("pbs_ralter", "-I", "60", "-D", "2:00:00", resv, check=False).stdout))
    thread.start()
    until(lambda: state(cx, resv) == "11", "the alteration")
    cx.api.delete_resv(resv)
    thread.join()
    assert answers == [f"pbs_ralter: {resv} BEING DELETED\n"]
    until(lambda: not cx.api.stat("resv"), "its end")


def times(cx, resv):
    s = cx.api.stat("resv", resv)[0]
    return int(s["reserve_start"]), int(s["reserve_end"])


def test_alteration_by_force_holds_at_once_where_no_scheduler_answers(cx):
    resv = new(cx)
    start, _ = times(cx, resv)
    cx.command("pbs_ralter", "-D", "2:00:00", "-W", "force", resv)
    assert state(cx, resv) == "1" and times(cx, resv) == (start, start + 7200)
    cx.api.confirm_resv(resv, "(n1:ncpus=2)")
    assert cx.command("pbs_ralter", "-D", "3:00:00", "-W", "force", resv).stdout == f"pbs_ralter: {resv} CONFIRMED\n"
    assert state(cx, resv) == "2" and times(cx, resv) == (start, start + 10800)
    own = rsub(cx, "-R", at(3600), "-D", "60", "-l", "ncpus=1", user="pbstest1").stdout.split()[0]
    done = cx.command("pbs_ralter", "-D", "120", "-W", "force", own, check=False, user="pbstest1")
    assert "Unauthorized Request" in done.stderr and done.returncode == 15007 % 256


@pytest.mark.complex(sched=False, clock=True)
@pytest.mark.parametrize("decision", ["confirmed", "refused"])
def test_reservation_that_runs_without_jobs_may_begin_later(cx, decision):
    resv = rsub(cx, "-R", at(20), "-D", "1:00:00", "-l", "select=1:ncpus=2").stdout.split()[0]
    queue = resv.split(".")[0]
    cx.api.confirm_resv(resv, "(n1:ncpus=2)")
    cx.clock.leap_to(times(cx, resv)[0])
    until(lambda: state(cx, resv) == "5", "its begin")
    job = cx.submit("true", queue=queue, select="1:ncpus=1")
    done = cx.command("pbs_ralter", "-R", at(3600), "-E", at(7200), resv, check=False)
    assert done.stderr == "pbs_ralter: Reservation not empty\n" and done.returncode == 15178 % 256
    cx.command("qdel", job)
    was = times(cx, resv)
    cx.command("pbs_ralter", "-R", at(3600), "-E", at(7200), resv)
    assert state(cx, resv) == "11" and cx.api.stat("que", queue)[0]["started"] == "False"
    cx.crash_server()
    if decision == "refused":
        cx.api.confirm_resv(resv, extend="PBS_RESV_CONFIRM_FAIL")
        assert state(cx, resv) == "5" and times(cx, resv) == was
        assert cx.api.stat("que", queue)[0]["started"] == "True"
        assert cx.node("n1")["resources_assigned"]["ncpus"] == "2"
        return
    cx.api.confirm_resv(resv, "(n1:ncpus=2)")
    assert state(cx, resv) == "2" and times(cx, resv)[0] > was[0] + 1800
    assert cx.node("n1")["resources_assigned"]["ncpus"] == "0" and cx.node("n1")["resv"] == resv


def test_users_of_a_reservation_can_be_altered(cx):
    resv = new(cx)
    cx.api.confirm_resv(resv, "(n1:ncpus=2)")
    cx.command("pbs_ralter", "-U", "somebody", resv)
    assert state(cx, resv) == "2"
    with pytest.raises(api.PbsError) as e:
        cx.submit("true", queue=resv.split(".")[0], select="1:ncpus=1")
    assert e.value.code == 15007


def test_maintenance_is_reserved_at_once(cx):
    out = rsub(cx, "-R", at(3600), "-E", at(7200), "--hosts", "n1").stdout
    resv = out.split()[0]
    assert out.endswith(" CONFIRMED\n") and resv.startswith("M") and state(cx, resv) == "2"
    s = cx.api.stat("resv", resv)[0]
    assert s["Resource_List"]["place"] == "exclhost" and s["resv_nodes"] == "(n1:ncpus=4)"
    none = rsub(cx, "-R", at(3600), "-E", at(7200), "--hosts", "n1", "zz", check=False)
    assert none.stderr == "pbs_rsub: Host with resources not found: zz\n" and none.returncode == 2 and len(cx.api.stat("resv")) == 1
