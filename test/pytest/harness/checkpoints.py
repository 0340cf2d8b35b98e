"""Jobs that can be saved, and tools of a site that save them."""
import contextlib
import os
import subprocess

import pytest

from harness.mom_priv import configure, script
from harness.wait import until

# Counts; saves its count when it is told to, and continues from there.
COUNTER = """#!/bin/bash
n=0
[ -e $PBS_CHECKPOINT_DIR/state ] && n=$(cat $PBS_CHECKPOINT_DIR/state)
echo begin $n >> {work}/counts
save() {{ echo $n > $PBS_CHECKPOINT_DIR/state.new; mv $PBS_CHECKPOINT_DIR/state.new $PBS_CHECKPOINT_DIR/state
          echo saved $n >> {work}/counts; touch $PBS_CHECKPOINT_DIR/done; }}
trap save USR1
while [ ! -e {work}/stop ]; do n=$((n+1)); echo $n > {work}/now; sleep 0.02; done
echo end >> {work}/counts
"""
# Saves itself from the moment at which there is a file `handle`.
HANDLES_LATER = """cd {work}
until test -f handle; do sleep 0.05; done
trap 'echo 1 > "$PBS_CHECKPOINT_DIR/state"; touch "$PBS_CHECKPOINT_DIR/done"' USR1
while :; do sleep 0.05; done
"""
SAVE = 'mkdir $3 && echo "image of $1 $4" > $3/core'
SPREAD = {"select": "2:ncpus=1", "l_place": "scatter"}


def by_application(cx, *nodes, seconds=20):
    """By lines of the site: tried on every job. Without them each MOM does the same for jobs that have said that they save themselves."""
    tool = os.path.join(cx.build, "libexec", "ckpt-app")
    for node in nodes or ("n1",):
        configure(cx, f"$action checkpoint 30 !{tool} USR1 {seconds}",
                  f"$action checkpoint_abort 30 !{tool} USR1 {seconds}", node=node)


def tool(cx, **scripts):
    """Stand-ins for a tool: what each does is in its text; all note that they ran."""
    configure(cx, *[f"$action {name} 20 !{script(cx, name, text)} %jobid %sid %path %login" for name, text in
                    scripts.items()])


def both_hosts(cx, text="mkdir $3 && echo $PBS_SIDS > $3/core"):
    """A tool on both hosts; `saves` tells what it was called for."""
    for node in ("n1", "n2"):
        save = script(cx, "save", f"echo {node} >> {cx.work}/saves\n" + text, node)
        again = script(cx, "again", f"echo {node} $3 >> {cx.work}/agains\n"
                                    f"(while [ ! -e {cx.work}/stop ]; do sleep 0.05; done; exit 9) & exit 0", node)
        configure(cx, f"$action checkpoint 20 !{save} %jobid %sid %path",
                  f"$action restart 20 !{again} %jobid %sid %path", node=node)


def count(cx, **attrs):
    cx.blank("counts", "now")
    job = cx.submit(COUNTER.format(work=cx.work), **attrs)
    until(lambda: (cx.file("now") or "").strip(), "the first count")
    return job


def stop(cx):
    with open(os.path.join(cx.work, "stop"), "w", encoding="ascii"):
        pass


def preempt(cx, job, order="C"):
    cx.set_sched("preempt_order", order)
    cx.api.register()
    return dict(cx.api.preempt([job]))


def running(cx, job):
    """Not just on its way: its first process is there."""
    return until(lambda: (lambda s: s if s["substate"] == "42" else None)(cx.stat(job)), "the job's first process")


def spread(cx, text="exec sleep 600", **attrs):
    job = cx.submit(text, **{**SPREAD, **attrs})
    running(cx, job)
    return job


@contextlib.contextmanager
def small_disk(cx, size):
    """The checkpoint directory of n1 is a file system of its own, of this size, while its MOM is stopped at both ends: that directory."""
    path = os.path.join(cx.dir, "mom", "n1", "checkpoint")
    cx.stop_daemon("n1")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=711", "tmpfs", path], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield path
    finally:
        cx.stop_daemon("n1")
        subprocess.run(["umount", "-l", path], check=False)
