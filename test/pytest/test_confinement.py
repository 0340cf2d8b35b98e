"""What keeps a job within what it asked for on its host, and what is left of it afterwards."""
import glob
import os

import pytest

from cede.faults import processes_with
from cede.wait import until

history = pytest.mark.complex(history=True)
TAKE = "python3 -c 'import sys,time; x = bytearray(int(sys.argv[1]) << 20); time.sleep(float(sys.argv[2]))'"


def confinement(cx):
    """{what: by what} as the node n1 shows it."""
    return dict(w.split(":") for w in cx.api.stat("vnode", "n1")[0]["confinement"].split(","))


@pytest.fixture
def limiting(cx):
    """A complex whose host can limit memory."""
    if confinement(cx)["memory"] == "none":
        pytest.skip("this host has no memory controller that we may use")
    return cx


def groups():
    return set(glob.glob("/sys/fs/cgroup/*/pbs_*") + glob.glob("/sys/fs/cgroup/pbs_*"))


def ended(cx, job):
    cx.wait_gone(job)
    return cx.stat(job)


def test_a_node_shows_how_jobs_are_suspended_and_their_memory_is_limited(cx):
    c = confinement(cx)
    assert c["suspend"] in ("signals", "cgroup v1", "cgroup v2") and c["memory"] in ("none", "cgroup v1", "cgroup v2")
    assert f"confinement = suspend:{c['suspend']},memory:{c['memory']}" in cx.command("pbsnodes", "-v", "n1").stdout


@history
def test_a_job_that_takes_more_memory_than_it_asked_for_is_killed_with_a_message(limiting):
    cx = limiting
    job = cx.submit(f"{TAKE} 400 1; echo went on", select="1:ncpus=1:mem=100mb")
    s = ended(cx, job)
    assert s["Exit_status"] == "-27"
    assert "=>> PBS: job killed: mem exceeded limit 102400kb" in cx.file("err")
    assert "went on" not in cx.file("out")


@history
def test_a_process_in_the_background_that_takes_too_much_ends_the_whole_job(limiting):
    cx = limiting
    job = cx.submit(f"setsid {TAKE} 400 60 & sleep 600", select="1:ncpus=1:mem=100mb")
    assert ended(cx, job)["Exit_status"] == "-27"
    assert "mem exceeded limit" in cx.file("err")


@history
def test_the_memory_of_all_processes_of_a_job_counts_together(limiting):
    cx = limiting
    job = cx.submit(f"for i in 1 2 3 4; do {TAKE} 60 60 & done; wait", select="1:ncpus=1:mem=150mb")
    assert ended(cx, job)["Exit_status"] == "-27"


@history
def test_chunks_on_one_host_have_their_memory_together(limiting):
    cx = limiting
    job = cx.submit(f"{TAKE} 120 0.1", select="3:ncpus=1:mem=60mb")
    assert ended(cx, job)["Exit_status"] == "0"


@history
def test_memory_of_a_task_started_by_tm_counts_too(limiting):
    cx = limiting
    job = cx.submit(f"PATH={cx.build}/bin:$PATH\npbsdsh {TAKE} 400 60; sleep 600", select="1:ncpus=1:mem=100mb")
    assert ended(cx, job)["Exit_status"] == "-27"


@history
def test_a_job_within_its_memory_ends_as_it_likes_and_leaves_no_group(limiting):
    cx = limiting
    before = groups()
    job = cx.submit(f"{TAKE} 20 0.1; exit 4", select="1:ncpus=1:mem=200mb")
    assert ended(cx, job)["Exit_status"] == "4"
    until(lambda: not [g for g in groups() - before if os.path.basename(g).startswith(f"pbs_{job}.")],
          "the end of the job's groups")


@history
def test_a_job_that_asks_for_no_memory_has_no_limit(limiting):
    cx = limiting
    assert ended(cx, cx.submit(f"{TAKE} 300 0.1"))["Exit_status"] == "0"


@history
def test_a_site_can_leave_memory_unlimited(limiting):
    cx = limiting
    with open(os.path.join(cx.dir, "mom", "n1", "mom_priv", "config"), "a", encoding="ascii") as f:
        f.write("$enforce !mem\n")
    cx.restart("n1")
    assert ended(cx, cx.submit(f"{TAKE} 300 0.1", select="1:ncpus=1:mem=50mb"))["Exit_status"] == "0"


@history
def test_a_job_with_limited_memory_is_suspended_and_goes_on(limiting):
    cx = limiting
    job = cx.submit("touch $PBS_O_WORKDIR/began; for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done; exit 6",
                    select="1:ncpus=1:mem=100mb")
    until(lambda: cx.file("began") is not None, "the job's first step")
    until(lambda: cx.stat(job)["substate"] == "42", "the server's news of it")
    cx.command("qsig", "-s", "suspend", job)
    cx.wait(job, "S")
    cx.command("qsig", "-s", "resume", job)
    assert ended(cx, job)["Exit_status"] == "6"


RABBIT = """python3 - <<'X' &
import os
open("rabbit", "w").close()
while True:
    if os.fork():
        os._exit(0)
X"""


@history
def test_processes_that_fork_faster_than_they_can_be_found_end_with_the_job(cx):
    """Each is gone before its number can be sent a signal: they must be made to stand still first."""
    job = cx.submit("cd $PBS_O_WORKDIR\n" + "\n".join([RABBIT] * 4)
                    + "\nwhile [ ! -e rabbit ]; do sleep 0.05; done; exit 5")
    assert ended(cx, job)["Exit_status"] == "5"
    assert not processes_with(f"TMPDIR={cx.dir}/mom/n1/tmp/pbs.{job}")
