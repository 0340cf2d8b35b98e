"""A submission in pieces that stops half-way has a whole life: it is seen, counted, deleted, ended, and survives a restart."""
import pytest

from cede import users
from cede.complex import Complex
from cede.pieces import INLINE, Pieces

ANNA = users.NAMES[0]


@pytest.fixture(params=["sqlite", "postgres"])
def cx(request):
    marker = request.node.get_closest_marker("complex")
    c = Complex(nodes=0, sched=False, **{**(marker.kwargs if marker else {}), "store": request.param})
    try:
        yield c.start()
    finally:
        c.stop()


def begun(cx, user=ANNA, **how):
    """The connection, and the job whose script has not come."""
    p = Pieces(cx, user)
    code, job = p.begin(**how)
    assert code == 0, job
    return p, job


def test_a_server_starts_that_was_killed_while_a_script_arrived(cx):
    p, job = begun(cx)
    cx.crash_server()
    assert cx.submit() != job
    p.close()


def test_a_script_arrives_on_although_the_server_was_killed(cx):
    p, job = begun(cx, length=2 * INLINE)
    assert p.send(job, b"#" * INLINE) == (0, "")
    cx.crash_server()
    p.close()
    p = Pieces(cx, ANNA)
    assert p.send(job, b"\n" * INLINE, INLINE) == (0, "")
    assert p.commit(job) == (0, "")
    assert cx.state(job) == "Q"
    p.close()
