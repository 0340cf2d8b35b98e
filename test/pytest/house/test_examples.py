"""The programs of doc/examples are what they say, built against an installed tree by pkg-config."""
import fcntl
import os
import subprocess
import threading

import pytest

from harness import users
from harness.installed import ROOT, Installed
from harness.wait import until

EXAMPLES = os.path.join(ROOT, "doc", "examples")


@pytest.fixture(scope="module")
def site():
    if "asan" in os.environ["CEDE_BUILD"]:
        pytest.skip("an ordinary program is not linked with the sanitizers")
    c = Installed()
    c.start()
    flags = c.flags()
    for source in (name for name in os.listdir(EXAMPLES) if name.endswith(".c")):
        subprocess.run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", os.path.join(EXAMPLES, source), "-o",
                        os.path.join(c.work, source[:-2]), *flags], check=True)
    yield c
    c.stop()


class Program:
    """An example that runs until it is ended; its lines as they come."""

    def __init__(self, site, *words):
        self.lines = []
        self.process = subprocess.Popen([os.path.join(site.work, words[0]), *words[1:]], env=site.env, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def said(self, text):
        until(lambda: any(text in line for line in self.lines), lambda: f"{text!r} among {self.lines}")


def test_submit_wait_ends_as_its_job_did(site):
    script = site.script("exit 7")
    done = site.command(os.path.join(site.work, "submit_wait"), script, "walltime=0:10:00", user=users.NAMES[0],
                        check=False)
    assert done.returncode == 7 and done.stdout.strip().endswith(site.api.stat("server")[0].name)


def test_submit_wait_knows_the_end_of_a_job_that_was_over_before_it_was_waited_for(site):
    answer, full = os.pipe()
    size = fcntl.fcntl(full, fcntl.F_GETPIPE_SZ)
    os.write(full, b"\n" * size)  # no room for the job's name, so the program stays there before it waits
    there = os.path.join(site.work, "there")
    with subprocess.Popen([os.path.join(site.work, "submit_wait"), site.script(f"touch {there}; exit 7")], env=site.env,
                          stdout=full, user=users.NAMES[0], group=users.NAMES[0], extra_groups=[]) as program:
        os.close(full)
        try:
            until(lambda: os.path.exists(there) and not site.api.select(), "the job's end")
            assert program.poll() is None
            os.read(answer, size)
            assert program.wait(120) == 7
        finally:
            program.kill()
            os.close(answer)


def test_submit_wait_says_what_the_server_says(site):
    done = site.command(os.path.join(site.work, "submit_wait"), site.script("true"), "ncpus=many", user=users.NAMES[0],
                        check=False)
    assert done.returncode == 1 and "Illegal attribute or resource value" in done.stderr


def test_monitor_tells_of_each_job_as_it_happens(site):
    with Program(site, "monitor") as monitor:
        job = site.submit("true", Job_Name="seen")
        monitor.said(f"{job} (seen) is ")  # Q may have been over before the answer left
        monitor.said(f"{job} is gone")


def test_a_scheduler_of_a_hundred_lines_runs_jobs(site):
    site.init("stop", PBS_START_SERVER="0", PBS_START_MOM="0", PBS_START_COMM="0")
    try:
        with Program(site, "sched") as sched:
            jobs = [site.submit("true") for _ in range(5)]
            for job in jobs:
                sched.said(f"{job} runs on")
                site.wait_gone(job)
    finally:
        site.init("start")
