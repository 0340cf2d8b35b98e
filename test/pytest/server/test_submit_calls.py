"""What a submission asks of the kernel, in calls: these are the same on any machine and under any load, where its time is not."""
import os
import shutil
import signal
import subprocess

import pytest

from harness.wait import until

N = 40


def calls_of(path):
    """{call: how often} of a summary that `strace -c` has written; "total" is all."""
    with open(path, encoding="ascii", errors="replace") as f:
        rows = [line.split() for line in f if line.strip() and line.lstrip()[0].isdigit()]
    return {row[-1]: int(row[3]) for row in rows}


@pytest.fixture(scope="module", autouse=True)
def traced():
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    if subprocess.run(["strace", "-c", "-o", os.devnull, "true"], check=False, capture_output=True).returncode:
        pytest.skip("strace may not trace here")


def submit(cx, times):
    loop = f"i=0; while [ $i -lt {times} ]; do qsub -- /bin/true || exit 1; i=$((i+1)); done"
    subprocess.run(["sh", "-c", loop], env=cx.env, cwd=cx.work, check=True, stdout=subprocess.DEVNULL)


def traced_pid(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("TracerPid"))


@pytest.mark.complex(nodes=0, sched=False)
def test_qsub_makes_hardly_more_calls_than_an_empty_program(cx):
    counted, env = {}, {k: v for k, v in cx.env.items() if k != "LOGNAME"}  # as in containers: no user is looked up for that
    for words in (["true"], ["qsub", "--", "/bin/true"]):
        out = os.path.join(cx.work, "calls." + words[0])
        subprocess.run(["strace", "-f", "-c", "-o", out, *words], env=env, cwd=cx.work, check=True, stdout=subprocess.DEVNULL)
        counted[words[0]] = calls_of(out)["total"]
    assert counted["qsub"] <= counted["true"] + 35, counted


@pytest.mark.complex(nodes=0, sched=False)
def test_the_server_waits_for_the_disk_once_a_submission(cx):
    """And one submission costs it a bounded number of calls: the call, lines of the log, pages of the store, and two threads that
    wake each other."""
    submit(cx, 20)  # what is done once is done
    pid, out = cx.pid("server"), os.path.join(cx.work, "calls.server")
    with subprocess.Popen(["strace", "-f", "-c", "-o", out, "-p", str(pid)], stderr=subprocess.DEVNULL) as tracer:
        until(lambda: traced_pid(pid) == tracer.pid, lambda: "strace has not begun")
        submit(cx, N)
        tracer.send_signal(signal.SIGINT)
        tracer.wait(60)
    calls = calls_of(out)
    syncs = calls.get("fdatasync", 0) + calls.get("fsync", 0)
    assert N <= syncs <= N + 5, calls
    assert calls["write"] + calls.get("writev", 0) <= 9 * N, calls
    assert calls["pwrite64"] <= 18 * N, calls
    assert calls["total"] <= 62 * N, calls
