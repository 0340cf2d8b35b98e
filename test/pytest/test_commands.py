"""The command line as scripts know it: exit codes and texts, row by row, and what status shows of a job."""
import re

import pytest

from cede import users
from cede.complex import Complex
from cede.wait import until

USER = (users.available() or [None])[0]


@pytest.fixture(scope="module")
def place():
    """Nodes that nothing is started on, and history."""
    c = Complex(nodes=2, ncpus=4, sched=False, history=True)
    try:
        yield c.start()
    finally:
        c.stop()


def submit(cx, *words, stdin="sleep 600\n", env=None):
    """By qsub, as a plain user: the number alone."""
    done = cx.command("qsub", *words, user=USER, stdin=stdin, env=env)
    assert done.stderr == "" and re.fullmatch(r"\d+(\[\])?\.\S+\n", done.stdout), done
    return done.stdout.strip()


def run(cx, line, user=USER, **names):
    """A line of words; {name} is filled in. (code, stdout, stderr without the usage)"""
    done = cx.command(*[w.format(**names) for w in line.split()], user=user, check=False)
    return done.returncode, done.stdout, re.split(r"(?m)^(?=[uU]sage)", done.stderr)[0]


# --- what the server says: its known words first, then what was wrong

@pytest.mark.parametrize("line, code, said", [
    ("qsig -s SIGFOO {running}", 15013, 'qsig: Unknown/illegal signal name: "SIGFOO" is no signal {running}'),
    ("qsig -s USR1 {held}", 15016, "qsig: Request invalid for state of job {held}"),
    ("qmove workq {running}", 15016, "qmove: Request invalid for state of job {running}"),
    ("qselect -q nowhere", 15018, "qselect: Unknown queue: nowhere"),
    ("qsub -l max_walltime=9 {script}", 15162, 'qsub: Cannot have "max_walltime" without "min_walltime"'),
    ("qsub -l max_walltime=5,min_walltime=9 {script}", 15163,
     'qsub: "min_walltime" can not be greater than "max_walltime"'),
    ("qalter -l max_walltime=9 {held}", 15162,
     'qalter: Cannot have "max_walltime" without "min_walltime" {held}'),
])
def test_an_error_begins_with_the_words_that_scripts_know(jobs, place, line, code, said):
    assert run(place, line, **jobs) == (code % 256, "", said.format(**jobs) + "\n")


@pytest.mark.parametrize("line, code, said", [
    ("qrun {held}", 2, "qrun: Request invalid for state of job: job {held} is held"),
    ("qrerun {held}", 15016, "qrerun: Request invalid for state of job: job {held} is held"),
])
def test_an_operator_reads_them_too(jobs, place, line, code, said):
    assert run(place, line, user=None, **jobs) == (code % 256, "", said.format(**jobs) + "\n")


@pytest.fixture(scope="module")
def jobs(place):
    """One that runs, one that is held, and a script."""
    running = submit(place)
    place.api.run(running, "(n1:ncpus=1)")
    place.wait(running)
    return {"running": running, "held": submit(place, "-h"), "script": place.script("true")}


# --- status

def test_a_null_signal_only_asks_whether_the_job_is_there(place, jobs):
    for name in ("SIGNULL", "NULL", "0"):
        assert run(place, "qsig -s " + name + " {running}", **jobs) == (0, "", "")
    assert place.state(jobs["running"]) == "R"


@pytest.mark.parametrize("asked, shown", [("1:mem=2gb", "2gb"), ("2:mem=2GB+1:mem=1gb", "5gb"),
                                          ("1:mem=1gb+1:mem=100mb", "1150976kb"), ("2:mem=100MW", "200mw")])
def test_memory_is_shown_in_the_unit_that_was_asked_for(place, asked, shown):
    assert place.stat(submit(place, "-h", "-l", f"select={asked}"))["Resource_List"]["mem"] == shown


def test_a_directory_for_output_is_shown_with_the_file_in_it(place):
    job = submit(place, "-h", "-N", "named", "-o", "/tmp", "-e", "/tmp/", "-J", "1-2")
    number, s = job.split("[")[0], place.stat(job)
    assert s["Output_Path"].endswith(f":/tmp/named.o{number}.^array_index^")
    assert s["Error_Path"].endswith(f":/tmp/named.e{number}.^array_index^")


def test_runs_before_its_submission_count_and_waiting_is_not_eligible(place):
    s = place.stat(submit(place, "-a", "203912312359", "-W", "run_count=3"))
    assert s["run_count"] == "3" and "etime" not in s


@pytest.mark.parametrize("restarted", [False, True])
def test_a_job_that_was_deleted_before_it_ran_has_an_exit_status(place, restarted):
    job, array = submit(place, "-h"), submit(place, "-h", "-J", "1-3")
    place.command("qdel", job, array, user=USER)
    if restarted:
        place.kill("server")
        place.restart("server")
        place.again()
    for one in (job, array, array.replace("[]", "[2]")):
        assert place.api.stat("job", one, extend="x")[0]["Exit_status"] == "271"


def test_a_killed_job_shows_256_and_the_signal_and_its_files_are_there_before_it_is_finished(cx):
    cx.set_server("job_history_enable", "True")
    job = submit(cx, "-N", "dies", "--", cx.script("echo last words\nkill -9 $$"))
    ended = until(lambda: (s := cx.api.stat("job", job, extend="x")[0]).state == "F" and s, "the end of the job")
    assert ended["Exit_status"] == str(256 + 9)
    assert cx.file(f"dies.o{job.split('.')[0]}") == "last words\n"


def test_at_server_means_its_default_queue(place):
    place.make_queue("elsewhere")
    job = submit(place, "-h", "-q", "elsewhere")
    assert run(place, "qmove @{server} {job}", server=job.split(".")[1], job=job) == (0, "", "")
    assert place.stat(job)["queue"] == "workq"
