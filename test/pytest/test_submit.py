"""Submission, status and deletion, without a node that could run anything."""
import os

import pytest

from cede import api, users

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
