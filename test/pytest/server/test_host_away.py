"""What a command says of a job whose MOM is away, and what the server has the MOM do when it is back."""
import os

import pytest

from harness.checkpoints import by_application, count, running, stop
from harness.wait import until

UNTIL_GO = "cd $PBS_O_WORKDIR; while [ ! -e go ]; do sleep 0.05; done"
AWAY = "Server could not connect to MOM"
pytestmark = pytest.mark.complex(nodes=1, ncpus=2, history=True)


def go(cx):
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass


def without_mom(cx):
    cx.kill("n1")
    until(lambda: "down" in cx.node("n1")["state"], "the loss of n1")


def says_away(cx, *words):
    said = cx.command(*words, check=False)
    assert said.returncode == 15070 % 256 and said.stderr == f"{words[0]}: {AWAY} {words[-1]}\n", said
    assert said.stdout == ""


@pytest.fixture
def job(cx):
    cx.set_server("node_fail_requeue", "0")
    job = cx.submit(UNTIL_GO)
    running(cx, job)
    return job


def test_qdel_says_that_the_mom_is_away_and_the_job_is_deleted_when_it_is_back(cx, job):
    without_mom(cx)
    says_away(cx, "qdel", job)
    cx.control("restart", "n1")
    assert cx.wait(job, state="F")["Exit_status"] == "271"


def test_the_order_is_kept_by_a_server_that_is_killed(cx, job):
    without_mom(cx)
    says_away(cx, "qdel", job)
    cx.crash_server()
    cx.control("restart", "n1")
    assert cx.wait(job, state="F")["Exit_status"] == "271"


def test_qdel_of_several_jobs_names_those_of_the_host_that_is_away(cx, job):
    waits = cx.submit("true", Hold_Types="u")
    without_mom(cx)
    said = cx.command("qdel", job, waits, check=False)
    assert said.stderr == f"qdel: {AWAY} {job}\n" and said.returncode == 15070 % 256
    assert cx.state(waits) == "F" and cx.state(job) == "R"


def test_qdel_of_an_array_says_it_of_the_array_and_deletes_what_waits(cx):
    cx.set_server("node_fail_requeue", "0")
    array = cx.submit(UNTIL_GO, array_indices_submitted="1-4")
    for i in (1, 2):
        running(cx, array.replace("[]", f"[{i}]"))
    without_mom(cx)
    says_away(cx, "qdel", array)
    states = {e["array_index"]: e.state for e in cx.api.stat("job", array, extend="t") if "array_index" in e}
    assert states == {"1": "R", "2": "R", "3": "X", "4": "X"}
    cx.control("restart", "n1")
    cx.wait(array, state="F")


def test_qdel_with_force_needs_no_mom(cx, job):
    without_mom(cx)
    cx.command("qdel", "-W", "force", job)
    cx.wait(job, state="F")


def test_qrerun_says_it_at_once_and_the_job_is_requeued_when_the_mom_is_back(cx, job):
    without_mom(cx)
    says_away(cx, "qrerun", job)
    cx.control("restart", "n1")
    cx.wait(job, run=2)
    go(cx)
    assert cx.wait(job, state="F")["Exit_status"] == "0"


@pytest.mark.parametrize("command", [["qsig", "-s", "USR1"], ["qsig", "-s", "suspend"], ["qmsg", "-E", "a text"]])
def test_requests_that_need_an_absent_mom_are_refused_and_change_nothing(cx, job, command):
    without_mom(cx)
    says_away(cx, *command, job)
    cx.control("restart", "n1")
    until(lambda: "down" not in cx.node("n1")["state"], "the MOM")
    assert cx.state(job) == "R"
    go(cx)
    assert cx.wait(job, state="F")["Exit_status"] == "0"


def test_qhold_of_a_job_that_can_be_checkpointed_says_it_and_the_checkpoint_is_taken_when_the_mom_is_back(cx):
    by_application(cx)
    job = count(cx)
    without_mom(cx)
    says_away(cx, "qhold", job)
    assert cx.stat(job)["Hold_Types"] == "u"
    cx.control("restart", "n1")
    cx.wait(job, state="H")
    saved = cx.file("counts").splitlines()[-1].split()[1]
    cx.api.release(job)
    until(lambda: cx.file("counts").count("begin") == 2, "the second start")
    assert cx.file("counts").split("begin ")[2].split()[0] == saved
    stop(cx)
    cx.wait(job, state="F")
