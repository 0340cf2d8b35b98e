"""What a host may suffer: its disk is full, it is rebooted, its clock jumps."""
import contextlib
import os
import shutil
import signal
import subprocess

import pytest

from harness import faults
from harness.mom_priv import configure
from harness.wait import until

MB = 1 << 20


@pytest.fixture
def small(cx):
    """The files of n1's MOM lie on a file system of a few megabytes; its path."""
    mom = os.path.join(cx.dir, "mom", "n1")
    cx.stop_daemon("n1")
    kept = mom + ".kept"
    os.rename(mom, kept)
    os.mkdir(mom)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=755", "tmpfs", mom], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        os.rmdir(mom)
        os.rename(kept, mom)
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        shutil.copytree(kept, mom, dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
        for name in ("spool", "undelivered"):
            os.chmod(os.path.join(mom, name), 0o1777)
        cx.restart("n1")
        until(lambda: cx.node().state == "free", "n1")
        yield mom
    finally:
        cx.stop_daemon("n1")
        subprocess.run(["umount", "-l", mom], check=False)


def fill(mom):
    path = os.path.join(mom, "filler")
    with open(path, "wb", buffering=0) as f:
        try:
            while True:
                f.write(bytes(MB // 16))
        except OSError:
            pass
    return path


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.complex(nodes=2, ncpus=2)
def test_a_job_that_finds_the_disk_full_runs_elsewhere_and_the_node_drains(cx, small):
    running = cx.submit(f"touch {cx.work}/began; sleep 600", select="1:ncpus=1:host=n1", Output_Path="/dev/null",
                        Error_Path="/dev/null")
    until(lambda: cx.file("began") is not None, "a job that runs")
    filler = fill(small)
    jobs = [cx.submit("sleep 600") for _ in range(2)]
    for job in jobs:
        until(lambda j=job: (cx.stat(j) or {}).get("exec_host", "").startswith("n2/"), lambda j=job: cx.describe(j))
    node = until(lambda: "offline" in cx.node().state and cx.node(), "n1 offline")
    assert "no space is left for" in node["comment"]
    assert cx.stat(running).state == "R"
    os.unlink(filler)
    cx.command("pbsnodes", "-r", "n1")
    until(lambda: "offline" not in cx.node().state, "n1 online")
    again = cx.submit("sleep 600", select="1:ncpus=1:host=n1")
    assert cx.wait(again)["exec_host"].startswith("n1/")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.complex(nodes=2, ncpus=4, history=True)
def test_jobs_that_end_while_the_disk_is_full_have_their_exit_status_and_can_be_deleted(cx, small):
    where = {"select": "1:ncpus=1:host=n1", "Output_Path": "/dev/null", "Error_Path": "/dev/null"}
    ends = [cx.submit(f"touch {cx.work}/began{i}; while [ ! -e {cx.work}/go ]; do sleep 0.05; done; exit {i}", **where)
            for i in (3, 4)]
    deleted = cx.submit(f"touch {cx.work}/began5; exec sleep 600", **where)
    until(lambda: all(cx.file(f"began{i}") is not None for i in (3, 4, 5)), "three jobs that run")
    filler = fill(small)
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    cx.api.delete(deleted)
    for job in (*ends, deleted):
        cx.wait_gone(job)
    assert [cx.stat(j)["Exit_status"] for j in ends] == ["3", "4"]
    os.unlink(filler)
    cx.kill("n1")
    cx.restart("n1")
    until(lambda: cx.node()["resources_assigned"]["ncpus"] == "0" and "down" not in cx.node().state, "n1, without jobs")


PAGE = 4096


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.complex(nodes=1, ncpus=4, history=True)
def test_the_end_of_a_job_finds_room_on_a_full_disk_also_behind_the_last_block_of_its_file(cx, small):
    def job_and_size(padding):
        """A job whose file has these bytes more, and the size of the file when it runs."""
        job = cx.submit(f"touch {cx.work}/began.$PBS_JOBID; while [ ! -e {cx.work}/go ]; do sleep 0.05; done; exit 3",
                        Output_Path="/dev/null", Error_Path="/dev/null",
                        Variable_List=f"PBS_O_WORKDIR={cx.work},PAD={'x' * padding}")
        until(lambda: cx.file(f"began.{job}") is not None, "a job that runs")
        return job, os.path.getsize(os.path.join(small, "mom_priv", "jobs", f"{job}.1", "run"))
    (_, base), (_, more) = job_and_size(100), job_and_size(200)
    each = (more - base) // 100  # how often a byte of the variable is in the file
    job, size = job_and_size(100 + (-base % PAGE - 8) // each)
    assert size % PAGE > PAGE - 40, (base, more, size)
    session = int(until(lambda: cx.stat(job).get("session_id"), "its session"))
    filler = fill(small)
    cx.kill("n1")
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    until(lambda: not os.path.exists(f"/proc/{session}"), "the end of the job, which its shepherd has seen")
    os.unlink(filler)
    cx.restart("n1")
    assert cx.wait(job, state="F")["Exit_status"] == "3"


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.complex(nodes=3, ncpus=1)
def test_a_job_of_two_hosts_one_of_which_has_a_full_disk_runs_on_others(cx, small):
    fill(small)
    job = cx.submit("sleep 600", select="2:ncpus=1", l_place="scatter")
    until(lambda: (cx.stat(job) or {}).get("exec_host") == "n2/0+n3/0" and cx.state(job) == "R", lambda: cx.describe(job))
    assert "no space is left for" in until(lambda: "offline" in cx.node().state and cx.node(), "n1 offline")["comment"]


@contextlib.contextmanager
def small_directory(cx):
    """A directory in which two files can be made, and no more."""
    path = os.path.join(cx.top, "tmp")
    os.mkdir(path)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=3,mode=1777", "tmpfs", path],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.parametrize("directive", ["tmpdir", "jobdir_root"])
@pytest.mark.complex(nodes=2, ncpus=2)
def test_a_job_that_finds_no_room_for_a_directory_of_its_own_runs_elsewhere_and_the_node_drains(cx, directive):
    with small_directory(cx) as path:
        configure(cx, f"${directive} {path}")
        for name in ("a", "b"):
            with open(os.path.join(path, name), "w", encoding="ascii"):
                pass
        job = cx.submit("sleep 600", sandbox="PRIVATE")
        until(lambda: (cx.stat(job) or {}).get("exec_host", "").startswith("n2/"), lambda: cx.describe(job))
        node = until(lambda: "offline" in cx.node().state and cx.node(), "n1 offline")
        assert f"no inodes are left for {path}" in node["comment"]


# --- a reboot

def reboot(cx, node):
    """Every process of this host is gone at once, and who starts there is told another boot id by the kernel."""
    where, mom = f"{cx.dir}/mom/{node}/", {cx.pid(node)}

    def there():
        return [p for p in {*faults.processes_with(where), *faults.processes_called(where), *mom} if faults.is_alive(p)]

    for signo in (signal.SIGSTOP, signal.SIGKILL):  # no process is to see the end of another
        for pid in there():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signo)
    until(lambda: not there(), "the end of everything on the host")
    boot = os.path.join(cx.work, "boot_id")
    with open(boot, "w", encoding="ascii") as f:
        f.write("11111111-2222-3333-4444-555555555555\n")
    done = cx.command("unshare", "--mount", "sh", "-c", f"mount --bind {boot} /proc/sys/kernel/random/boot_id && "
                      f"exec pbs_complex restart {node} --dir {cx.dir}", check=False)
    if done.returncode and "mount" in done.stderr:
        pytest.skip(f"no namespace can be made here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="another boot id needs a namespace")
@pytest.mark.complex(nodes=1, ncpus=4, history=True)
def test_after_a_reboot_jobs_run_again_or_end_as_they_allow(cx):
    again = cx.submit("echo run >> $PBS_O_WORKDIR/runs; sleep 600")
    once = cx.submit("sleep 600", Rerunable="False")
    for job in (again, once):
        cx.wait(job)
    until(lambda: cx.file("runs") == "run\n", "the first run")
    reboot(cx, "n1")
    until(lambda: cx.file("runs") == "run\nrun\n", lambda: f"the second run; {cx.describe(again)}")
    assert cx.wait(again)["run_count"] == "2"
    ended = cx.wait(once, state="F")
    assert int(ended["Exit_status"]) != 0, ended


@pytest.mark.skipif(os.geteuid() != 0, reason="another boot id needs a namespace")
@pytest.mark.complex(nodes=2, ncpus=2, history=True)
@pytest.mark.parametrize("node", ["n1", "n2"])
def test_after_the_reboot_of_one_of_its_hosts_a_job_runs_again_or_ends_as_it_allows(cx, node):
    both = {"select": "2:ncpus=1", "l_place": "scatter"}
    again = cx.submit("echo run >> $PBS_O_WORKDIR/runs; exec sleep 600", **both)
    once = cx.submit("touch $PBS_O_WORKDIR/once; exec sleep 600", Rerunable="False", **both)
    until(lambda: cx.file("runs") == "run\n" and cx.file("once") is not None, "the first runs")
    reboot(cx, node)
    until(lambda: cx.file("runs") == "run\nrun\n", lambda: f"the second run; {cx.describe(again)}")
    assert cx.wait(again)["run_count"] == "2"
    ended = cx.wait(once, state="F")
    assert int(ended["Exit_status"]) != 0, ended
