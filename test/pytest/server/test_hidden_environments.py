"""hide_environments: what others brought in their environment is shown to them, to operators and managers only."""
import json
import os

import pytest

from harness import api, users

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="needs several users"), pytest.mark.complex(history=True)]
SECRET = "TOKEN=hunter2"


def told(cx, job, user, *options):
    """Every form in which a command shows the job to a user."""
    return "".join(cx.command("qstat", *options, *form, job, user=user).stdout for form in (["-f"], ["-f", "-F", "json"], ["-f", "-F", "dsv"]))


@pytest.fixture
def job(cx):
    owner, _ = users.NAMES[:2]
    script = cx.script("sleep 600")
    return cx.command("qsub", "-v", SECRET, script, user=owner).stdout.strip()


def test_by_default_everybody_sees_them_as_in_pbs(cx, job):
    assert "hunter2" in told(cx, job, users.NAMES[1])


def test_others_see_none_and_owner_and_manager_do(cx, job):
    cx.set_server("hide_environments", "True")
    owner, other = users.NAMES[:2]
    assert "hunter2" not in told(cx, job, other) and "Job_Owner" in told(cx, job, other)
    assert "hunter2" in told(cx, job, owner) and "hunter2" in told(cx, job, None)
    listed = cx.command("qstat", "-f", "-F", "json", user=other).stdout
    assert "hunter2" not in listed and json.loads(listed)["Jobs"][job]["Job_Owner"]


def test_a_finished_job_hides_them_too(cx, job):
    cx.set_server("hide_environments", "True")
    cx.wait(job, "R")
    cx.command("qdel", job)
    cx.wait_gone(job)
    owner, other = users.NAMES[:2]
    assert "hunter2" not in told(cx, job, other, "-x") and "hunter2" in told(cx, job, owner, "-x")


def test_a_selection_by_them_is_for_operators(cx, job):
    """Which jobs come back would tell what is in them."""
    by_value = [("Variable_List", None, "TOKEN=hunter2", api.NE)]
    cx.set_server("hide_environments", "True")
    with users.acting_as(users.NAMES[1]):
        other = cx.connect()
    with pytest.raises(api.PbsError) as refused:
        other.select(by_value)
    assert "hide_environments" in str(refused.value)
    assert cx.api.select(by_value) == [job]
    other.close()


def test_a_watch_shows_none_to_others(cx, job):
    cx.set_server("hide_environments", "True")
    shown = {}
    for user in users.NAMES[:2]:
        with users.acting_as(user):
            connection = cx.connect()
        watch = connection.watch({2: None})
        while not watch.caught_up:
            watch.next()
        shown[user] = watch.objects[(2, job)]
        connection.close()
    owner, other = users.NAMES[:2]
    assert "hunter2" in str(shown[owner]) and "hunter2" not in str(shown[other]) and shown[other]["Job_Owner"]
