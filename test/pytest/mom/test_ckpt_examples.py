"""The examples of doc/examples/checkpoint, preempted at random moments, end with the result of a run that was not.

A few moments each; --ckpt-moments 20 for more, --ckpt-seed for others."""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from harness.checkpoints import running
from harness.installed import ROOT
from harness.wait import until

EXAMPLES = os.path.join(ROOT, "doc", "examples", "checkpoint")
STEP_S = 0.02
BETWEEN_S = (0.0, 0.8)  # a moment, after the job's start
STEPS_A_MOMENT = 60  # more than it can do until then

history = pytest.mark.complex(history=True)


def compiled(cx, compiler, name):
    path = os.path.join(cx.work, name)
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", os.path.join(EXAMPLES, name + ".c"), "-o", path], check=True)
    return [path]


def copied(cx, name):
    """A copy of the example that the job's owner can read, also where the source tree is closed to that user."""
    return shutil.copy(os.path.join(EXAMPLES, name), cx.work)


def command_of(cx, what):
    """The words of the example, and its pause in its own unit."""
    if what == "bash":
        return ["/bin/bash", copied(cx, "sum.sh")], str(STEP_S)
    if what == "python":
        return [sys.executable if os.access(sys.executable, os.X_OK) and not sys.executable.startswith("/root") else
                "/usr/bin/python3", copied(cx, "train.py")], str(STEP_S)
    if what == "c":
        return compiled(cx, "cc", "primes"), str(int(STEP_S * 1e6))
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        pytest.skip("Open MPI is not installed")
    return ["mpirun", "--oversubscribe", "-n", "2", *compiled(cx, "mpicc", "heat_mpi")], str(int(STEP_S * 1e6))


def catches(path):
    """A process of this program has its handler: before that it would lose nothing that is worth a test."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
            with open(f"/proc/{pid}/status", encoding="utf-8") as f:
                mask = next(line.split()[1] for line in f if line.startswith("SigCgt"))
        except (OSError, StopIteration):
            continue
        if path.encode() in words[:2] and int(mask, 16) >> (signal.SIGUSR1 - 1) & 1:
            return True
    return False


def result_without_interruption(cx, words, steps):
    as_root = ["--allow-run-as-root"] if words[0] == "mpirun" and os.geteuid() == 0 else []
    done = subprocess.run([words[0], *as_root, *words[1:], str(steps), "0"], cwd=cx.work, check=True, text=True,
                          capture_output=True, env={**os.environ, "PBS_CHECKPOINT_DIR": os.path.join(cx.work, "nowhere")})
    return done.stdout


@history
@pytest.mark.parametrize("what", ["bash", "python", "c", "mpi"])
def test_an_example_that_is_preempted_at_random_moments_ends_with_the_right_result(cx, what, pytestconfig):
    moments, seed = pytestconfig.getoption("--ckpt-moments"), pytestconfig.getoption("--ckpt-seed")
    dice = random.Random(f"{what} {seed}")
    words, pause = command_of(cx, what)
    steps = moments * STEPS_A_MOMENT
    right = result_without_interruption(cx, words, steps)
    cx.qmgr("create queue fast queue_type=execution, enabled=true, started=true, Priority=200")
    cx.set_sched("preempt_order", "CR")
    job = cx.submit(" ".join([*words, str(steps), pause]), select="1:ncpus=1", preempt_methods="CR")
    for _ in range(moments):
        running(cx, job)
        until(lambda: catches(words[-1]), "its handler")
        time.sleep(dice.uniform(*BETWEEN_S))  # the moment
        before = int(cx.stat(job).get("preempt_count", 0))
        urgent = cx.submit("exit 0", queue="fast", select="1:ncpus=1", l_place="excl")
        until(lambda b=before: int(cx.stat(job).get("preempt_count", 0)) > b, "its preemption")
        cx.wait_gone(urgent)
    cx.wait_gone(job, limit_s=120)
    s = cx.stat(job)
    assert s["Exit_status"] == "0" and s["preempt_count"] == str(moments)
    assert cx.file("out") == right, f"seed {seed}"
    cx.wait_log("server", "checkpointed on mom:n1")
