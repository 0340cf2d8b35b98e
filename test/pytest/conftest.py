"""Fixtures: `cx`, a fresh complex for one test; `shared`, one for many cheap tests of this process."""
import contextlib
import os

import pytest

from harness import build, servers, users
from harness.clock import Clock
from harness.complex import Complex
from harness.hooks import Hooks
from harness.remote import Munged
from harness.terminal import Terminal


def pytest_configure(config):
    config.addinivalue_line("markers", "complex(nodes, ncpus, mem, store, sched, history, pair, clock, registers): how cx, or complex, is started; "
                                       "with clock, cx.clock is that of all its programs; with registers, cx.scheduler is its scheduler")
    os.environ["CEDE_BUILD"] = build.place(os.environ["CEDE_BUILD"])
    users.ensure()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed and report.when in ("setup", "call"):
        for cx in [v for v in getattr(item, "funcargs", {}).values() if isinstance(v, Complex)]:
            report.sections.append(("the complex", cx.report()))


@contextlib.contextmanager
def started(request, monkeypatch):
    """A complex as the marker of the test, or of its module, says."""
    marker = request.node.get_closest_marker("complex")
    how = dict(marker.kwargs if marker else {})
    with_clock, registers = how.pop("clock", False), how.pop("registers", False)
    c = Complex(**how)
    c.clock = Clock(c, monkeypatch) if with_clock else None
    try:
        c.start()
        if registers:
            c.scheduler = c.connect()
            c.scheduler.register("default")
        yield c
    finally:
        c.stop()


@pytest.fixture
def cx(request, monkeypatch):
    with started(request, monkeypatch) as c:
        yield c


@pytest.fixture(scope="module")
def complex(request):
    """One for all tests of a module: pytestmark = pytest.mark.complex(...). Each test removes what it made."""
    with pytest.MonkeyPatch.context() as monkeypatch, started(request, monkeypatch) as c:
        yield c


@pytest.fixture
def pair():
    """Two complexes that trust each other; jobs go from the first, which runs none, to `far`."""
    made = servers.start_all(near={"nodes": 0, "sched": False}, far={"nodes": 1, "history": True})
    try:
        yield made
    finally:
        servers.stop_all(made)


@pytest.fixture(scope="session")
def _shared():
    c = Complex(nodes=2, ncpus=4)
    try:
        yield c.start()
    finally:
        c.stop()


@pytest.fixture(scope="session")
def quiet():
    """A complex without nodes and scheduler, where nothing starts; for many tests of this process."""
    c = Complex(nodes=0, sched=False)
    try:
        yield c.start()
    finally:
        c.stop()


@pytest.fixture(scope="module")
def place():
    """A complex without nodes and scheduler for the tests of one module, which may alter its server."""
    c = Complex(nodes=0, sched=False)
    try:
        yield c.start()
    finally:
        c.stop()


@pytest.fixture
def hooks(complex):
    """The hooks of the module's complex; those that the test makes are removed after it."""
    h = Hooks(complex)
    yield h
    h.clean()


@pytest.fixture
def munged(cx):
    """A munged of the test's own, which the server uses."""
    m = Munged(cx.top, "munge")
    with open(cx.conf, "a", encoding="ascii") as f:
        f.write(f"PBS_MUNGE_SOCKET={m.socket}\n")
    cx.restart("server")
    cx.again()
    yield m
    m.stop()


@pytest.fixture
def shared(_shared):
    """For tests that change nothing but jobs: there are none when a test begins."""
    _shared.clean()
    return _shared


def pytest_addoption(parser):
    parser.addoption("--chaos-seconds", type=float, default=6.0, help="how long test_plan_chaos acts, per seed")
    parser.addoption("--chaos-seeds", default="1-4", help="the seeds of test_plan_chaos, FIRST-LAST")
    parser.addoption("--former", help="the build folder, in its tree, of the version from which test_site_changes upgrades; default: the last release")
    parser.addoption("--soak-seconds", type=float, default=25.0, help="how long test_soak acts")
    parser.addoption("--soak-seed", type=int, default=0, help="the seed of test_soak; 0: another one each time")
    parser.addoption("--model-steps", type=int, default=120, help="how many requests test_model makes, per seed")
    parser.addoption("--damage-seeds", default="1-12", help="the seeds of test_set_aside, FIRST-LAST")
    parser.addoption("--model-seeds", default="1-2", help="the seeds of test_model, FIRST-LAST")
    parser.addoption("--ckpt-moments", type=int, default=3, help="how often test_ckpt_examples preempts each example")
    parser.addoption("--ckpt-seed", type=int, default=1, help="the seed of these moments")
    parser.addoption("--cost-full", action="store_true", help="test_cost_growth gives every attribute all sizes")
    parser.addoption("--packages", action="store_true", help="test_packages builds packages and a root for them")


def pytest_generate_tests(metafunc):
    for name in ("chaos", "model"):
        if name + "_seed" in metafunc.fixturenames:
            first, _, last = metafunc.config.getoption(f"--{name}-seeds").partition("-")
            metafunc.parametrize(name + "_seed", range(int(first), int(last or first) + 1))


@pytest.fixture
def model_steps(request):
    return request.config.getoption("--model-steps")


@pytest.fixture
def damage_seeds(request):
    first, _, last = request.config.getoption("--damage-seeds").partition("-")
    return range(int(first), int(last or first) + 1)


@pytest.fixture
def chaos_seconds(request):
    return request.config.getoption("--chaos-seconds")


@pytest.fixture
def sit(cx):
    """sit(*options of qsub): a user at a terminal with an interactive job; closed at the end."""
    opened = []

    def start(*options, **how):
        opened.append(Terminal(cx, *options, **how))
        return opened[-1]
    yield start
    for t in opened:
        t.close()
