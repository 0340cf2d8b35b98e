"""Files that are damaged or empty do not keep pbs_mom or pbs_sched from starting."""
import os
import random
import shutil

import pytest

from harness.complex import Complex
from harness.wait import until

KINDS = ("empty", "cut", "noise", "gone")


def damage(dice, path, kind):
    with open(path, "rb") as f:
        data = f.read()
    if kind == "gone":
        os.unlink(path)
        return
    if kind == "cut":
        data = data[:dice.randrange(len(data) + 1)]
    elif kind == "noise":
        at = dice.randrange(len(data) + 1)
        data = data[:at] + dice.randbytes(8) + data[at + 8:]
    with open(path, "wb") as f:
        f.write(b"" if kind == "empty" else data)


def files_below(top):
    return sorted(os.path.join(d, name) for d, _, names in os.walk(top) for name in names
                  if os.path.isfile(os.path.join(d, name)) and not os.path.islink(os.path.join(d, name)))


def mom_priv(cx, name):
    found = [d for d, _, _ in os.walk(cx.dir) if d.endswith("mom_priv") and f"/{name}/" in d]
    assert found, "no mom_priv"
    return found[0]


def starts(cx, daemon, what):
    cx.restart(daemon)
    assert cx.pid(daemon), what


@pytest.mark.parametrize("kind", KINDS)
def test_a_mom_starts_whatever_its_files_of_runs_hold(kind):
    cx = Complex(nodes=1, ncpus=8)
    try:
        cx.start()
        jobs = [cx.submit("sleep 600") for _ in range(3)] + [cx.submit("sleep 600", array_indices_submitted="1-2")]
        for job in jobs:
            cx.wait(job, "RB")
        until(lambda: cx.stat(jobs[1])["substate"] == "42", "the job to have begun")
        cx.api.signal(jobs[1], "suspend")
        cx.wait(jobs[1], "S")
        cx.kill("n1")
        top, kept = mom_priv(cx, "n1"), os.path.join(cx.top, "kept")
        shutil.copytree(os.path.join(top, "jobs"), kept, symlinks=True, ignore=lambda d, names: [n for n in names if n == "sock"])
        files = [os.path.relpath(f, kept) for f in files_below(kept)]
        assert len(files) >= 4
        for i, name in enumerate(files):
            path = os.path.join(top, "jobs", name)
            if os.path.exists(path):
                damage(random.Random(i), path, kind)
            starts(cx, "n1", (name, kind))
            cx.kill("n1")
        starts(cx, "n1", "the end")
        until(lambda: "free" in cx.node().state, "the vnode to be up")
        cx.clean()
        cx.wait(cx.submit())
    finally:
        cx.stop()


def test_a_run_that_cannot_be_read_is_set_aside_beside_one_of_the_same_name(cx):
    cx.kill("n1")
    top = mom_priv(cx, "n1")
    aside = os.path.join(top, "set_aside")
    for text in ("first", "second", "third"):
        os.mkdir(os.path.join(top, "jobs", "7.damaged"), 0o700)
        with open(os.path.join(top, "jobs", "7.damaged", "run"), "w", encoding="ascii") as f:
            f.write(text)
        starts(cx, "n1", text)
        until(lambda: not os.path.exists(os.path.join(top, "jobs", "7.damaged")), "the run to be set aside")
        cx.kill("n1")
    kept = []
    for path in files_below(aside):
        with open(path, encoding="ascii") as f:
            kept.append(f.read())
    assert sorted(kept) == ["first", "second", "third"]
    starts(cx, "n1", "the end")


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a directory to another user")
def test_a_spool_that_belongs_to_another_user_is_told_at_the_start(cx):
    path = os.path.join(os.path.dirname(mom_priv(cx, "n1")), "spool")
    told = f"{path} belongs to user 65534"
    assert told not in cx.log("n1")
    os.chown(path, 65534, -1)
    try:
        starts(cx, "n1", "spool of another user")
        until(lambda: told in cx.log("n1"), "a line about the spool")
    finally:
        os.chown(path, 0, -1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_scheduler_starts_whatever_its_files_hold(kind):
    cx = Complex(nodes=1)
    try:
        cx.start()
        priv = os.path.join(cx.home, "sched_priv")
        cx.configure_sched("fair_share: true ALL\nhelp_starving_jobs: false\n", resource_group="grp1 10 root 10\n")
        job = cx.submit("true")
        cx.wait_gone(job)
        cx.kill("sched")
        for i, name in enumerate(f for f in files_below(priv) if not f.endswith(".lock")):
            damage(random.Random(i), name, kind)
            if "sched_config" in name:  # what a person configures is refused with its line, and not guessed at
                with open(name, "w", encoding="ascii") as f:
                    f.write("fair_share: true ALL\n")
            starts(cx, "sched", (name, kind))
            cx.kill("sched")
        with open(os.path.join(priv, "sched_config"), "w", encoding="ascii") as f:
            f.write("fair_share: false ALL\n")
        cx.restart("sched")
        cx.wait(cx.submit())
    finally:
        cx.stop()


def test_a_directory_whose_order_cannot_be_read_is_set_aside_by_the_mom(cx):
    top = mom_priv(cx, "n1")
    cx.kill("n1")
    for name, content in (("4711.x.1", b"\0\0\1\0 noise, and more of it"), ("4712.x.1", b"\0")):
        os.mkdir(os.path.join(top, "jobs", name))
        with open(os.path.join(top, "jobs", name, "run"), "wb") as f:
            f.write(content)
    starts(cx, "n1", "noise")
    assert os.listdir(os.path.join(top, "set_aside")) == ["4711.x.1"]
    assert not [name for name in os.listdir(os.path.join(top, "jobs")) if name.startswith("471")]
    cx.wait_log("n1", "4711.x.1;its directory is set aside")
    cx.wait(cx.submit())
