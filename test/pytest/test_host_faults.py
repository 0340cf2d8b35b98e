"""What a host may suffer: its disk is full, it is rebooted, its clock jumps."""
import contextlib
import os
import shutil
import signal
import subprocess

import pytest

from cede import faults
from cede.wait import until

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
        with open(os.path.join(cx.dir, "mom", "n1", "mom_priv", "config"), "a", encoding="ascii") as f:
            f.write(f"${directive} {path}\n")
        cx.restart("n1")
        until(lambda: cx.node().state == "free", "n1")
        for name in ("a", "b"):
            with open(os.path.join(path, name), "w", encoding="ascii"):
                pass
        job = cx.submit("sleep 600", sandbox="PRIVATE")
        until(lambda: (cx.stat(job) or {}).get("exec_host", "").startswith("n2/"), lambda: cx.describe(job))
        node = until(lambda: "offline" in cx.node().state and cx.node(), "n1 offline")
        assert f"no inodes are left for {path}" in node["comment"]


# --- a reboot

def reboot(cx, node):
    """Every process of the only host is gone at once, and who starts there is told another boot id by the kernel."""
    elsewhere = {cx.pid("server"), cx.pid("sched")}

    def there():
        return [p for p in {*faults.processes_with(cx.dir), *faults.processes_called(cx.dir)} - elsewhere if faults.is_alive(p)]

    for signo in (signal.SIGSTOP, signal.SIGKILL):  # nobody is to see the end of another
        for pid in there():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signo)
    until(lambda: not there(), "the end of everything on the host")
    boot = os.path.join(cx.work, "boot_id")
    with open(boot, "w", encoding="ascii") as f:
        f.write("11111111-2222-3333-4444-555555555555\n")
    return cx.command("unshare", "--mount", "sh", "-c", f"mount --bind {boot} /proc/sys/kernel/random/boot_id && "
                      f"exec pbs_complex restart {node} --dir {cx.dir}", check=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="another boot id needs a namespace")
@pytest.mark.complex(nodes=1, ncpus=4, history=True)
def test_after_a_reboot_jobs_run_again_or_end_as_they_allow(cx):
    again = cx.submit("echo run >> $PBS_O_WORKDIR/runs; sleep 600")
    once = cx.submit("sleep 600", Rerunable="False")
    for job in (again, once):
        cx.wait(job)
    until(lambda: cx.file("runs") == "run\n", "the first run")
    done = reboot(cx, "n1")
    if done.returncode and "mount" in done.stderr:
        pytest.skip(f"no namespace can be made here: {done.stderr.strip()}")
    until(lambda: cx.file("runs") == "run\nrun\n", lambda: f"the second run; {cx.describe(again)}")
    assert cx.wait(again)["run_count"] == "2"
    ended = cx.wait(once, state="F")
    assert int(ended["Exit_status"]) != 0, ended
