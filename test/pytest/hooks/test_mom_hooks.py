"""Hooks of execution hosts: each event on real MOMs, what hooks see and change, and what becomes of what they refuse."""
import os

import pytest

from cede.complex import Complex
from cede.hooks import Hooks
from cede.wait import until


@pytest.fixture(scope="module")
def complex():
    c = Complex(nodes=2, history=True)
    try:
        yield c.start()
    finally:
        c.stop()


@pytest.fixture
def hooks(complex):
    h = Hooks(complex)
    yield h
    complex.clean()
    h.delete()


def marks(cx, name="marks"):
    return (cx.file(name) or "").splitlines()


def note(cx, text, name="marks"):
    """Lines of a hook that write one."""
    return f"with open('{cx.work}/{name}', 'a') as f:\n    f.write({text} + '\\n')\n"


def empty(cx, *names):
    for name in names or ("marks",):
        path = os.path.join(cx.work, name)
        if os.path.exists(path):
            os.remove(path)


def ended(cx, job):
    cx.wait_gone(job)
    return cx.stat(job)


def mom_log(cx, name="n1"):
    return cx.logs(f"mom.{name}", 4000)


def test_each_step_of_a_job_has_its_event_in_order(complex, hooks):
    empty(complex)
    events = ["execjob_begin", "execjob_prologue", "execjob_launch", "execjob_epilogue", "execjob_end"]
    for event in events:
        hooks.make(event, event, note(complex, f"'{event} %s %s' % (e.job.id, e.job.in_ms_mom())"))
    job = complex.submit("true")
    assert ended(complex, job).get("Exit_status") == "0"
    until(lambda: len(marks(complex)) == 5, "the hooks")
    assert marks(complex) == [f"{event} {job} True" for event in events]
