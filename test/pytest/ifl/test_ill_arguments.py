"""Calls of pbs_ifl.h, tm.h and rm.h with arguments that are none, and on connections that are none: what they return, and that none crashes."""
import collections
import subprocess

import pytest

from harness import api, build

pytestmark = [pytest.mark.skipif(build.is_sanitized(), reason="a plain program cannot link a sanitized library"),
              pytest.mark.complex(nodes=1, history=True)]

NOT_MADE = ("pbs_stagein", "pbs_py_spawn", "pbs_defschreply", "pbs_rescquery", "pbs_rescreserve", "pbs_rescrelease")
STATUS = ("pbs_selstat", "pbs_statjob", "pbs_statque", "pbs_statserver", "pbs_statsched", "pbs_statnode", "pbs_stathost", "pbs_statvnode",
          "pbs_statresv", "pbs_statrsc")
ONE_JOB = ("pbs_alterjob", "pbs_holdjob", "pbs_rlsjob", "pbs_movejob", "pbs_msgjob", "pbs_orderjob", "pbs_relnodesjob", "pbs_rerunjob",
           "pbs_asyrunjob", "pbs_asyrunjob_ack", "pbs_runjob", "pbs_sigjob", "pbs_locjob", "pbs_deljob")
ONE_RESV = ("pbs_modify_resv", "pbs_delresv", "pbs_confirmresv")
WITHOUT_ASKING = ("pbs_isjobid", "pbs_preempt_jobs", "pbs_deljoblist", *ONE_RESV)  # what is wrong with NULL is seen here


def errors(cx, how, job):
    """{call: {pbs_errno of each of its calls}} until calls on wrong handles begin, those of these, and {call: {results}}."""
    program = build.program(cx, "ill_arguments")
    with subprocess.Popen([program, how, job], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=cx.env) as child:
        lines = []
        if how == "lost":
            assert child.stdout.readline() == "ready\n"
            cx.kill("server")
        lines = child.communicate("\n")[0].splitlines()
    assert child.returncode == 0, lines[-1:]
    found, wrong, results = collections.defaultdict(set), collections.defaultdict(set), collections.defaultdict(set)
    into = found
    for name, result, *code in map(str.split, lines):
        if name == "pbs_disconnect":
            into = wrong
        into[name].add(int((code or [0])[0]))
        results[name].add(result)
    assert set(results["pbs_isjobid"]) == {"0"} and len(found) == 44
    return found, wrong, results


def on_wrong_handles(wrong):
    assert wrong == {"pbs_disconnect": {15033}, "pbs_connection_set_nodelay": {0}, "pbs_deljob": {15033}, "pbs_statserver": {15033}}


def but(found, *names):
    return {name: found[name] for name in names}


def all_of(names, *codes):
    return {name: set(codes) for name in names}


@pytest.mark.parametrize("how", ["null", "empty"])
def test_a_call_about_a_thing_that_is_not_named_is_refused_and_one_about_all_is_answered(cx, how):
    found, wrong, results = errors(cx, how, cx.submit(Hold_Types="u"))  # a queue that has it is not deleted with all of them
    assert but(found, *ONE_JOB, *ONE_RESV) == all_of(ONE_JOB + ONE_RESV, 15004)
    assert but(found, *STATUS, "pbs_selectjob") == all_of(STATUS + ("pbs_selectjob",), 0 if how == "null" else 15002)
    assert but(found, *NOT_MADE) == all_of(NOT_MADE, 15029)
    assert found["pbs_submit"] == {0 if how == "null" else 15002} and found["pbs_submit_resv"] == {15086 if how == "null" else 15002}
    assert found["pbs_deljoblist"] == {0, 15004} and found["pbs_terminate"] == {15004}
    assert found["pbs_register_sched"] == {15230 if how == "null" else 15213}
    assert found["pbs_asyalterjob"] == {0}  # its answer is thrown away
    if how == "null":
        assert all("some" in results[name] for name in STATUS if name != "pbs_statresv")
    on_wrong_handles(wrong)
    assert [s.name for s in cx.api.stat("sched")] == ["default"] and [q.name for q in cx.api.stat("que")] == ["workq"]
    cx.clean()


def test_a_text_or_list_that_is_too_large_is_refused_before_it_is_sent(cx):
    found, wrong, _ = errors(cx, "huge", "1")
    others = NOT_MADE + ("pbs_isjobid",)
    assert {name: codes for name, codes in found.items() if name not in others and codes != {15004}} == {}
    assert but(found, *NOT_MADE) == all_of(NOT_MADE, 15029)
    on_wrong_handles(wrong)
    assert cx.api.stat("server")


def test_a_call_on_a_handle_that_was_closed_says_that_it_is_none(cx):
    found, wrong, _ = errors(cx, "closed", cx.submit(Hold_Types="u"))
    others = NOT_MADE + WITHOUT_ASKING
    assert {name: codes for name, codes in found.items() if name not in others and codes != {15033}} == {}
    on_wrong_handles(wrong)
    cx.clean()


def test_a_call_whose_server_has_gone_says_that_the_connection_is_lost(cx):
    found, wrong, _ = errors(cx, "lost", cx.submit(Hold_Types="u"))
    others = NOT_MADE + WITHOUT_ASKING + ("pbs_register_sched",)
    assert {name: codes for name, codes in found.items() if name not in others and codes != {15031}} == {}
    on_wrong_handles(wrong)
    cx.restart("server")
    cx.again()


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a b", "1st", "-x"])
def test_a_scheduler_has_a_name_that_can_be_one_of_a_directory(cx, name):
    with pytest.raises(api.PbsError) as e:
        cx.api.manager(api.CREATE, api.SCHED, name, [])
    assert e.value.code == 15172


# --- tm.h and rm.h

BAD_PLACE, NOT_FOUND, NO_INIT = 17000, 17006, 17007
MONITOR = [("openrm", -1)] * 3 + [("closerm", -1), ("downrm", -1), ("configrm", -1), ("addreq", -1), ("addreq", -1), ("allreq", 0), ("getreq", 0),
                                  ("flushreq", 0), ("activereq", -1)]
LOCAL = ["tm_nodeinfo", "tm_nodeinfo", "tm_atnode", "tm_atnode", "tm_poll"]
WITHOUT_PLACE = ["tm_spawn", "tm_kill", "tm_obit", "tm_taskinfo", "tm_rescinfo", "tm_publish", "tm_subscribe", "tm_publish", "tm_publish", "tm_publish",
                 "tm_subscribe"]
ASKED = ["tm_kill", "tm_obit", "tm_taskinfo", "tm_taskinfo", "tm_rescinfo", "tm_publish", "tm_subscribe", "tm_spawn"]
ATTACH = [("tm_attach", 17011), ("tm_attach", NOT_FOUND)]


def said(text):
    return [(name, int(code)) for name, code in map(str.split, text.splitlines())]


def test_a_call_of_tm_outside_of_a_job_says_that_it_has_not_begun(cx):
    done = cx.command(build.program(cx, "tm_ill"))
    spawns = ["tm_spawn"] * 8
    assert said(done.stdout) == [(name, NO_INIT) for name in LOCAL + WITHOUT_PLACE + spawns + ASKED] + ATTACH + [("tm_finalize", NO_INIT)] * 2 + MONITOR


def test_a_call_of_tm_without_a_place_for_its_answer_is_refused_or_has_none(cx):
    out = f"{cx.work}/tm"
    job = cx.submit(f"{build.program(cx, 'tm_ill')} > {out}; echo ended $? >> {out}")
    cx.wait_gone(job)
    with open(out, encoding="ascii") as f:
        found = said(f.read())
    codes = [BAD_PLACE, BAD_PLACE, BAD_PLACE, NOT_FOUND, BAD_PLACE]
    assert found == [*zip(LOCAL, codes), *((name, BAD_PLACE) for name in WITHOUT_PLACE), *[("tm_spawn", NOT_FOUND)] * 7, ("tm_spawn", BAD_PLACE),
                     *((name, 0) for name in ASKED), *(("event", code) for code in (NOT_FOUND, NOT_FOUND, 0, NOT_FOUND, 0, 0, 0, 0)), *ATTACH,
                     ("tm_finalize", 0), ("tm_finalize", NO_INIT), *MONITOR, ("ended", 0)]
