"""Submission, status and deletion, without a node that could run anything."""
import contextlib
import os
import pwd
import re
import sqlite3
import subprocess

import pytest

from harness import api, users

pytestmark = pytest.mark.complex(nodes=0)

WORK = [("Output_Path", "/tmp/o"), ("Error_Path", "/tmp/e")]


def test_identifiers_ascend_and_end_in_the_servers_name(quiet):
    first, second = quiet.submit(), quiet.submit()
    number, server = first.split(".", 1)
    assert second == f"{int(number) + 1}.{server}"
    assert server == quiet.api.stat("server")[0].name.split(".")[0]


def test_a_status_holds_what_was_asked_for_and_nothing_else(quiet):
    job = quiet.submit(Job_Name="asked", select="1:ncpus=2")
    status = quiet.api.stat("job", job, want=["Job_Name", ("Resource_List", "ncpus")])[0]
    assert dict(status) == {"Job_Name": "asked", "Resource_List": {"ncpus": "2"}}


def test_an_unknown_job_is_unknown(quiet):
    with pytest.raises(api.PbsError) as e:
        quiet.api.stat("job", "999999")
    assert e.value.code == 15001


def test_a_refused_attribute_is_named(quiet):
    with pytest.raises(api.PbsError) as e:
        quiet.api.submit(WORK + [("Priority", "many")], quiet.script("true"))
    assert e.value.code == 15014
    assert [(name, code) for name, _, code, _ in e.value.attributes] == [("Priority", 15014)]


def test_an_unknown_resource_is_named(quiet):
    with pytest.raises(api.PbsError) as e:
        quiet.api.submit(WORK + [("Resource_List", "bananas", "3")], quiet.script("true"))
    assert e.value.code == 15035 and "bananas" in e.value.text


def test_a_deleted_job_is_gone(quiet):
    job = quiet.submit()
    quiet.api.delete(job)
    assert quiet.state(job) is None


def test_deleting_a_list_names_those_that_were_not_deleted(quiet):
    jobs = [quiet.submit() for _ in range(3)]
    assert quiet.api.delete_list([*jobs, "888888.nowhere"]) == {"888888.nowhere": 15001}
    assert quiet.state(jobs[1]) is None


def test_a_hold_is_shown_and_released(quiet):
    job = quiet.submit(Hold_Types="u")
    assert quiet.state(job) == "H"
    quiet.api.release(job, "u")
    assert quiet.state(job) == "Q"


def test_altering_changes_one_attribute(quiet):
    job = quiet.submit(Job_Name="before")
    quiet.api.alter(job, [("Job_Name", "after")])
    assert quiet.stat(job)["Job_Name"] == "after"


def test_selection_is_made_by_the_server(quiet):
    quiet.clean()
    quiet.submit(Priority=1)
    high = quiet.submit(Priority=100)
    assert quiet.api.select([("Priority", None, "50", api.GE)]) == [high]


def test_a_script_of_any_size_arrives_in_pieces(quiet):
    job = quiet.submit("true\n" + "# filling\n" * 40000)
    assert quiet.state(job) == "Q"


def test_a_script_with_any_bytes_is_taken(quiet):
    path = os.path.join(quiet.work, "binary")
    with open(path, "wb") as f:
        f.write(b"#!/bin/sh\n" + bytes(range(256)) * 16)
    assert quiet.api.submit(WORK, path)


def test_many_calls_under_way_on_one_connection(quiet):
    tickets = [quiet.api.submit_send(WORK, quiet.script("true")) for _ in range(100)]
    jobs = [quiet.api.submit_recv(t) for t in reversed(tickets)]
    assert len(set(jobs)) == 100


def test_jobs_outlive_a_killed_server(cx):
    jobs = [cx.submit() for _ in range(5)]
    cx.kill("server")
    cx.restart("server")
    cx.again()
    assert sorted(cx.api.select()) == sorted(jobs)
    assert cx.submit() not in jobs


@pytest.mark.skipif(not users.available(), reason="needs root, to be several users")
def test_a_user_cannot_touch_anothers_job(quiet):
    job = quiet.submit(user="pbstest1")
    done = quiet.command("qdel", job, user="pbstest2", check=False)
    assert done.returncode == 15007 % 256 and "Unauthorized" in done.stderr
    assert quiet.state(job) == "Q"
    quiet.command("qdel", job, user="pbstest1")


def test_the_stream_of_changes_is_what_a_fresh_read_shows(quiet):
    c = quiet.connect()
    watch = c.watch({2: ["Job_Name", "job_state"]})
    watch.catch_up()
    job = quiet.submit(Job_Name="seen")
    gone = quiet.submit()
    quiet.api.delete(gone)
    quiet.api.hold(job)
    while watch.objects.get((2, job), {}).get("job_state") != "H" or (2, gone) in watch.objects:
        watch.next()
    fresh = {(2, j.name): dict(j) for j in quiet.api.stat("job", want=["Job_Name", "job_state"])}
    assert watch.objects == fresh
    c.close()


# --- what the server makes of a request

def resources(cx, job):
    return cx.stat(job)["Resource_List"]


@pytest.mark.parametrize("asked,select,place,ncpus,nodect", [
    ({}, "1:ncpus=1", "pack", "1", "1"),
    ({"ncpus": "4", "mem": "2gb"}, "1:mem=2gb:ncpus=4", "pack", "4", "1"),
    ({"select": "2:ncpus=3+ncpus=1"}, "2:ncpus=3+ncpus=1", "free", "7", "3"),
    ({"select": "2:ncpus=2", "place": "scatter:excl"}, "2:ncpus=2", "scatter:excl", "4", "2"),
    ({"nodes": "2:ppn=2"}, "2:ncpus=2:mpiprocs=2", "scatter", "4", "2"),
    ({"nodes": "2:ppn=2", "mem": "1gb"}, "2:ncpus=2:mpiprocs=2:mem=524288kb", "scatter", "4", "2"),
    ({"nodes": "3", "ncpus": "7"}, "3:ncpus=3", "scatter", "9", "3"),
    ({"nodes": "2:ppn=4", "ncpus": "2"}, "2:ncpus=4:mpiprocs=4", "scatter", "8", "2"),
    ({"nodes": "1:mem=1gb+1", "mem": "3gb"}, "1:ncpus=1:mem=1gb+1:ncpus=1:mem=1572864kb", "scatter", "2", "2")])
def test_a_request_is_completed(quiet, asked, select, place, ncpus, nodect):
    job = quiet.api.submit([*WORK, *[("Resource_List", n, v) for n, v in asked.items()]], quiet.script("true"))
    got = resources(quiet, job)
    assert sorted(re.split("[:+]", got["select"])) == sorted(re.split("[:+]", select))
    assert (got["place"], got["ncpus"], got["nodect"]) == (place, ncpus, nodect)
    assert "ncpus" in quiet.stat(job)["schedselect"]


@pytest.mark.parametrize("asked", [{"ncpus": "3", "mem": "1gb"}, {"nodes": "2:ppn=2"}, {"select": "2:ncpus=3"},
                                   {"nodes": "2", "mem": "1gb"}])
def test_the_original_request_of_a_job_stays_when_the_job_is_altered_or_moved(quiet, asked):
    """A sum over chunks is written over ncpus=3, which is still what the job itself asked for."""
    if "elsewhere" not in [q.name for q in quiet.api.stat("que")]:
        quiet.make_queue("elsewhere")
    job = quiet.api.submit([*WORK, *[("Resource_List", n, v) for n, v in asked.items()]], quiet.script("true"))
    before = resources(quiet, job)
    quiet.api.alter(job, [("Resource_List", "walltime", "60")])
    quiet.api.move(job, "elsewhere")
    quiet.api.alter(job, [("Resource_List", "walltime", "90")])
    assert resources(quiet, job) == {**before, "walltime": "00:01:30"}


@pytest.mark.parametrize("asked", [{"ncpus": "3", "mem": "1gb"}, {"nodes": "2:ppn=2"}])
def test_a_select_takes_the_place_of_what_was_asked_for_in_other_forms(quiet, asked):
    job = quiet.api.submit([*WORK, *[("Resource_List", n, v) for n, v in asked.items()]], quiet.script("true"))
    quiet.api.alter(job, [("Resource_List", "select", "2:ncpus=1")])
    got = resources(quiet, job)
    assert (got["select"], got["ncpus"]) == ("2:ncpus=1", "2") and not {"mem", "nodes", "mpiprocs"} & set(got)
    with pytest.raises(api.PbsError) as e:
        quiet.api.alter(job, [("Resource_List", "select", "1:ncpus=1"), ("Resource_List", "mem", "1gb")])
    assert e.value.code == 15109
    assert resources(quiet, job) == got


def test_an_amount_that_is_what_the_job_said_stays_as_it_was_said(quiet):
    job = quiet.api.submit([*WORK, ("Resource_List", "nodes", "2"), ("Resource_List", "mem", "100mb")], quiet.script("true"))
    got = resources(quiet, job)
    assert got["mem"] == "100mb" and got["select"] == "2:ncpus=1:mem=51200kb"


def test_defaults_come_from_the_queue_then_from_the_server(quiet):
    quiet.make_queue("defaults")
    quiet.set_queue("defaults", "resources_default", "1:00:00", "walltime")
    quiet.set_server("resources_default", "2:00:00", "walltime")
    quiet.set_server("resources_default", "9:00:00", "cput")
    quiet.set_queue("defaults", "default_chunk", "512mb", "mem")
    try:
        in_queue, own, elsewhere = (quiet.submit(queue="defaults"), quiet.submit(queue="defaults", l_walltime="60"),
                                    quiet.submit())
        assert resources(quiet, in_queue)["walltime"] == "01:00:00"
        assert resources(quiet, own)["walltime"] == "00:01:00"
        assert resources(quiet, elsewhere)["walltime"] == "02:00:00"
        assert resources(quiet, own)["cput"] == "09:00:00"
        assert "mem=512mb" in quiet.stat(in_queue)["schedselect"] or "mem=524288kb" in quiet.stat(in_queue)["schedselect"]
    finally:
        for name in ("walltime", "cput"):
            quiet.api.manager(api.MUNSET, api.SERVER, "", [("resources_default", name, "")])


def test_defaults_are_filled_in_again_after_qalter(quiet):
    job = quiet.submit(select="2:ncpus=2:mem=1gb")
    quiet.api.alter(job, [("Resource_List", "select", "3:ncpus=1")])
    got = resources(quiet, job)
    assert (got["ncpus"], got["nodect"]) == ("3", "3") and "mem" not in got
    with pytest.raises(api.PbsError) as e:
        quiet.api.alter(job, [("Resource_List", "ncpus", "8")])
    assert e.value.code == 15109 and resources(quiet, job)["ncpus"] == "3"


def test_paths_and_environment_are_completed(quiet):
    job = quiet.api.submit([("Job_Name", "paths"), ("Variable_List", r"PBS_O_WORKDIR=/some/where,X=a\,b")],
                           quiet.script("true"))
    status = quiet.stat(job)
    number, host = job.split(".")[0], status["Submit_Host"]
    assert status["Output_Path"] == f"{host}:/some/where/paths.o{number}"
    assert status["Error_Path"] == f"{host}:/some/where/paths.e{number}"
    assert r"X=a\,b" in status["Variable_List"] and "PBS_O_QUEUE=workq" in status["Variable_List"]


def test_the_server_names_the_user_of_a_job_of_qsub_where_the_environment_does_not(quiet):
    def variables(**env):
        words = ["qsub", "-h", "--", "/bin/true"]
        asked = {k: v for k, v in quiet.env.items() if k != "LOGNAME"}
        job = subprocess.run(words, env={**asked, **env}, cwd=quiet.work, check=True, capture_output=True, text=True).stdout.strip()
        return [v for v in quiet.stat(job)["Variable_List"].split(",") if v.startswith("PBS_O_LOGNAME=")]
    assert variables() == [f"PBS_O_LOGNAME={pwd.getpwuid(os.getuid()).pw_name}"]
    assert variables(LOGNAME="anna") == ["PBS_O_LOGNAME=anna"]


def test_an_altered_path_is_completed_and_one_that_is_taken_away_is_the_first_again(quiet):
    """Else nobody would know where the output went."""
    job = quiet.api.submit([("Job_Name", "paths"), ("Variable_List", "PBS_O_WORKDIR=/some/where")], quiet.script("true"))
    first = quiet.stat(job)
    host = first["Submit_Host"]
    quiet.api.alter(job, [("Output_Path", f"{host}:/other/"), ("Error_Path", "else:/file")])
    then = quiet.stat(job)
    assert (then["Output_Path"], then["Error_Path"]) == (f"{host}:/other/", "else:/file")  # a directory: the file in it is JOB.OU
    quiet.command("qalter", "-W", "Output_Path=,Error_Path=", job)
    then = quiet.stat(job)
    assert (then["Output_Path"], then["Error_Path"]) == (first["Output_Path"], first["Error_Path"])


def test_a_new_job_has_the_values_of_the_guide(quiet):
    status = quiet.stat(quiet.submit())
    for name, value in {"Checkpoint": "u", "Hold_Types": "n", "Join_Path": "n", "Keep_Files": "n", "Mail_Points": "a",
                        "Priority": "0", "Rerunable": "True", "job_state": "Q", "substate": "10", "queue": "workq",
                        "run_count": "0", "project": "_pbs_project_default"}.items():
        assert status[name] == value, name
    assert status["ctime"] == status["qtime"] == status["etime"]


def test_a_closed_queue_and_a_full_one_refuse_jobs(quiet):
    quiet.make_queue("closed", enabled="False")
    quiet.make_queue("small", max_queuable="1")
    for queue, code in (("closed", 15021), ("small", 15046)):
        if queue == "small":
            quiet.submit(queue=queue)
        with pytest.raises(api.PbsError) as e:
            quiet.submit(queue=queue)
        assert e.value.code == code and queue in e.value.text


def test_without_a_default_queue_one_must_be_named(quiet):
    quiet.api.manager(api.MUNSET, api.SERVER, "", [("default_queue", None, "")])
    try:
        with pytest.raises(api.PbsError) as e:
            quiet.submit()
        assert e.value.code == 15037
        assert quiet.stat(quiet.submit(queue="workq"))["queue"] == "workq"
    finally:
        quiet.set_server("default_queue", "workq")


def test_jobs_are_exchanged_and_moved(quiet):
    quiet.make_queue("target")
    first, second = quiet.submit(), quiet.submit()
    ranks = [quiet.stat(j)["queue_rank"] for j in (first, second)]
    quiet.api._simple("orderjob", first.encode(), second.encode(), None)
    assert [quiet.stat(j)["queue_rank"] for j in (second, first)] == ranks
    quiet.api.move(first, "target")
    assert quiet.stat(first)["queue"] == "target"
    with pytest.raises(api.PbsError) as e:
        quiet.api.move(first, "nowhere")
    assert e.value.code == 15018 and quiet.stat(first)["queue"] == "target"
    assert quiet.api.locate(first) == first.split(".", 1)[1]


def test_submission_with_an_unsupported_attribute_says_so(quiet):
    for attr in [("cred", "krb")]:
        with pytest.raises(api.PbsError) as e:
            quiet.api.submit([*WORK, attr], quiet.script("true"))
        assert e.value.code == 15029 and attr[0] in e.value.text


def test_a_job_of_another_server_is_not_here(quiet):
    job = quiet.submit()
    number, server = job.split(".", 1)
    for call in (quiet.api.delete, quiet.api.hold, lambda j: quiet.api.stat("job", j)):
        with pytest.raises(api.PbsError) as e:
            call(f"{number}.elsewhere")
        assert e.value.code == 15001
    quiet.api.hold(f"{number}.{server}.example.org")
    assert quiet.state(job) == "H"


def test_the_servers_default_qsub_arguments_are_weaker_than_directives_and_the_command_line(quiet):
    quiet.set_server("default_qsub_arguments", "-N fromserver -l walltime=1:00:00 -p 7 -r n -v COLOR=red")
    try:
        job = quiet.command("qsub", "-p", "9", stdin="#PBS -l walltime=2:00:00\ntrue\n",
                            user=(users.available() or [None])[0]).stdout.strip()
        s = quiet.stat(job)
        assert (s["Job_Name"], s["Priority"], s["Rerunable"]) == ("fromserver", "9", "False")
        assert s["Resource_List"]["walltime"] == "02:00:00" and "COLOR=red" in s["Variable_List"]
        assert quiet.stat(quiet.submit())["Job_Name"] != "fromserver"  # libpbs sends what it is given
        quiet.set_server("default_qsub_arguments", "-p high")
        done = quiet.command("qsub", "--", "/bin/true", check=False, user=(users.available() or [None])[0])
        assert done.returncode == 1 and "default_qsub_arguments cannot be read" in done.stderr
    finally:
        quiet.api.manager(api.MUNSET, api.SERVER, "", [("default_qsub_arguments", None, "")])


@pytest.mark.complex(sched=False, history=True)
def test_numbers_come_round_and_pass_over_jobs_that_are_there(cx):
    ended = cx.submit()
    waiting, array = cx.submit(Hold_Types="u"), cx.submit(array_indices_submitted="0-2")
    cx.api.delete(ended)
    cx.stop_daemon("server")
    with contextlib.closing(sqlite3.connect(f"{cx.home}/server_priv/cede.db")) as db, db:
        db.execute("UPDATE object SET hot = '{\"next_seq\":9999999}' WHERE kind = 'server'")
    cx.control("restart", "server")
    cx.again()
    numbers = [cx.submit().split(".")[0] for _ in range(3)]
    assert numbers == ["9999999", "0", "3"]
    assert cx.stat(waiting).state == "H" and cx.stat(array).state == "Q"
    cx.api.delete(ended)  # the new job of that number; the old one gives way to it in history
    assert [j.name for j in cx.api.stat("job", extend="x")].count(ended) == 1
    assert cx.stat(ended)["job_state"] == "F"
