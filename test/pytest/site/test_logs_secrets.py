"""No log, accounting line or answer holds what a job keeps to itself: its environment, cookies, the complex's keys."""
import os
import re
import sqlite3

import pytest

from harness import users
from harness.mom_priv import add_lines, reread
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=1)


def lines_of(folder):
    """Every line below a folder that daemons write for people."""
    for where, _, names in os.walk(folder):
        for name in names:
            if re.fullmatch(r"\d{8}", name):
                with open(os.path.join(where, name), encoding="utf-8", errors="replace") as f:
                    yield from f


def test_logs_and_accounting_hold_no_secret_of_a_job(cx):
    cx.set_server("log_events", "2047")
    cx.set_sched("log_events", "2047")
    add_lines(cx, "$logevent 0xffffffff")
    reread(cx)
    job = cx.submit(f"env > {cx.work}/part; mv {cx.work}/part {cx.work}/environment; sleep 600", user=users.NAMES[0],
                    options=("-v", "TOKEN=hunter2"))
    text = until(lambda: cx.file("environment"), "the job's environment")
    env = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    with sqlite3.connect(os.path.join(cx.home, "server_priv", "cede.db")) as db:
        secret, = db.execute("SELECT value FROM meta WHERE name = 'secret'").fetchone()
        fixed, = db.execute("SELECT fixed FROM job").fetchone()
    db.close()
    cx.command("qdel", job)
    cx.wait_gone(job)
    secrets = {"hunter2", secret, env["PBS_JOBCOOKIE"], re.search(r'"token":"(\w+)"', fixed)[1]}
    for name in os.listdir(os.path.join(cx.home, "certs")):
        if name.endswith(".key"):
            with open(os.path.join(cx.home, "certs", name), encoding="ascii") as f:
                secrets.add(f.read().splitlines()[1])
    assert len(secrets) >= 6 and all(len(s) > 6 for s in secrets)
    lines = list(lines_of(cx.dir))
    assert any(job in line for line in lines)
    assert not [line for line in lines if any(s in line for s in secrets)]
