"""qpeek and pbs_peekjob: what a job has written so far, from its host."""
import os
import subprocess

import pytest

from harness import api, users
from harness.wait import until
from harness.work import exists, touch

pytestmark = pytest.mark.complex(history=True)
root = pytest.mark.skipif(os.geteuid() != 0, reason="takes users of several numbers")
OUTPUT = 1  # MSG_OUT of pbs_ifl.h
GO = "touch began; while [ ! -e go ]; do sleep 0.02; done"


def begun(cx, text, **attrs):
    """A job that has done `text` and waits for the file `go`."""
    job = cx.submit(f"cd {cx.work}; {text}; {GO}", **attrs)
    until(lambda: exists(cx, "began"), "the job's first step")
    until(lambda: cx.stat(job)["substate"] == "42", "the job running")
    return job


def peek(cx, *words, **how):
    return cx.command("qpeek", *words, **how).stdout


def test_a_job_that_runs_shows_its_output_and_its_errors(cx):
    job = begun(cx, "echo one; echo two; echo bad >&2")
    assert peek(cx, job) == "one\ntwo\n"
    assert peek(cx, "-e", job) == "bad\n"
    assert peek(cx, "-n", "1", job) == "two\n"
    assert peek(cx, "-n", "0", job) == ""
    assert peek(cx, "-n", "9", job) == "one\ntwo\n"


def test_output_of_several_pieces_arrives_whole(cx):
    job = begun(cx, "seq 1 30000")
    lines = "".join(f"{i}\n" for i in range(1, 30001))
    assert peek(cx, job) == lines
    assert peek(cx, "-n", "20000", job) == "".join(f"{i}\n" for i in range(10001, 30001))


def test_joined_output_is_shown_by_either_name(cx):
    job = begun(cx, "echo one; echo two >&2", Join_Path="oe")
    assert peek(cx, job) == peek(cx, "-e", job) == "one\ntwo\n"


def test_output_that_is_written_where_it_belongs_is_shown(cx):
    job = begun(cx, "echo one", Keep_Files="oed")
    assert peek(cx, job) == "one\n"


def test_output_whose_file_was_renamed_is_shown(cx):
    job = begun(cx, "echo one", Keep_Files="oed")
    path = cx.stat(job)["Output_Path"].split(":", 1)[-1]
    os.rename(path, path + ".moved")
    assert peek(cx, job) == "one\n"


def test_a_suspended_job_shows_what_it_wrote_before(cx):
    job = begun(cx, "echo one")
    cx.api.signal(job, "suspend")
    assert peek(cx, job) == "one\n"
    cx.api.signal(job, "resume")


def test_a_job_on_another_host_is_shown(cx):
    cx.submit("sleep 600", select="1:ncpus=1")
    job = begun(cx, "echo far")
    assert peek(cx, job) == "far\n"


def test_several_jobs_are_shown_under_their_names(cx):
    one = begun(cx, "echo first")
    os.unlink(os.path.join(cx.work, "began"))
    two = begun(cx, "echo second")
    assert peek(cx, one, two) == f"==> {one} <==\nfirst\n==> {two} <==\nsecond\n"


def test_a_follower_sees_what_is_written_later_and_ends_with_the_job(cx):
    job = begun(cx, "echo one")
    with subprocess.Popen(["qpeek", "-f", job], env=cx.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        assert p.stdout.readline() == "one\n"
        touch(cx, "go")
        out, err = p.communicate(timeout=120)
    assert p.returncode == 0 and out == ""
    assert f"qpeek: {job} does not run any more" in err and cx.stat(job, "x")["Output_Path"] in err


def test_peeking_at_output_without_a_file_says_so(cx):
    job = begun(cx, "echo one", Output_Path="/dev/null")
    failed = cx.command("qpeek", job, check=False)
    assert failed.returncode == 15029 % 256 and "does not go to a file" in failed.stderr


def test_a_job_that_does_not_run_is_refused(cx):
    held = cx.submit("true", Hold_Types="u")
    failed = cx.command("qpeek", held, check=False)
    assert "Request invalid for state of job: it has no processes that write" in failed.stderr
    over = cx.submit("true")
    cx.wait(over, state="F")
    assert "Job has finished" in cx.command("qpeek", over, check=False).stderr
    assert "Unknown Job Id" in cx.command("qpeek", "999", check=False).stderr


@pytest.mark.parametrize("words", [[], ["-n", "x"], ["-n", "-1"], ["-f", "1", "2"]])
def test_wrong_words_are_answered_with_the_usage(cx, words):
    failed = cx.command("qpeek", *words, *([] if "-f" in words or not words else ["1"]), check=False)
    assert failed.returncode == 2 and "usage: qpeek" in failed.stderr


@root
def test_output_is_shown_to_the_owner_and_to_operators_only(cx):
    job = begun(cx, "umask 077; echo secret", user=users.NAMES[0])
    failed = cx.command("qpeek", job, user=users.NAMES[1], check=False)
    assert failed.returncode != 0 and "Unauthorized" in failed.stderr and "secret" not in failed.stdout
    assert peek(cx, job, user=users.NAMES[0]) == "secret\n"
    cx.set_server("operators", f"{users.NAMES[1]}@*")
    assert peek(cx, job, user=users.NAMES[1]) == "secret\n"
    cx.api.manager(api.MUNSET, api.SERVER, "", [("operators", None, "")])


def test_offsets_beyond_the_file_are_its_ends(cx):
    job = begun(cx, "echo one")
    for offset, piece in ((0, b"one\n"), (2, b"e\n"), (4, b""), (1 << 62, b""), (-2, b"e\n"), (-(1 << 63), b"one\n")):
        found = cx.api.peek(job, OUTPUT, offset)
        assert found.data == piece and found.size == 4 and found.offset == 4 - len(piece)
    for file in (0, 3, 1 << 31):
        with pytest.raises(api.PbsError) as refused:
            cx.api.peek(job, file, 0)
        assert refused.value.code == 15004


def test_a_host_that_is_away_is_said(cx):
    job = begun(cx, "echo one")
    cx.kill("n1")
    until(lambda: "down" in cx.node("n1")["state"], "the MOM away")
    failed = cx.command("qpeek", job, check=False)
    assert failed.returncode == 15070 % 256 and "Server could not connect to MOM" in failed.stderr
    cx.control("restart", "n1")
    until(lambda: "down" not in cx.node("n1")["state"], "the MOM")
    assert peek(cx, job) == "one\n"
