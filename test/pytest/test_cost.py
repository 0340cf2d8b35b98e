"""Requests that are small and ask for much: what they cost is in proportion to what they say and to what is there."""
import contextlib
import pathlib
import re

import pytest

from cede import api
from cede.complex import Complex

MB = 1 << 20


@pytest.fixture(scope="module")
def place():
    c = Complex(nodes=0, sched=False)
    try:
        yield c.start()
    finally:
        c.stop()


def memory(cx, field):
    """VmRSS or VmHWM of the server, in bytes."""
    status = pathlib.Path(f"/proc/{cx.pid('server')}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) << 10


@contextlib.contextmanager
def grows_at_most(cx, limit_bytes):
    """The largest size of the server meanwhile is at most so much above that of before."""
    pathlib.Path(f"/proc/{cx.pid('server')}/clear_refs").write_text("5")
    before = memory(cx, "VmRSS")
    yield
    grown = memory(cx, "VmHWM") - before
    assert grown <= limit_bytes, f"the server grew by {grown >> 20} MB"


def refused(code, call, *args, **named):
    with pytest.raises(api.PbsError) as e:
        call(*args, **named)
    assert e.value.code == code, e.value
    return e.value.text


# --- index ranges

@pytest.fixture(scope="module")
def array(place):
    return place.submit("true", array_indices_submitted="1-1000")


@pytest.mark.parametrize("indices", ["0-2147483646:2147", "0-2147483646:2148", "0-2147483646"])
def test_a_range_of_indices_costs_what_its_array_has(place, array, indices):
    number = array.split("[")[0]
    expected = len([i for i in range(1, 1001) if i % int(indices.partition(":")[2] or 1) == 0])
    with grows_at_most(place, 16 * MB):
        if expected:
            shown = place.api.stat("job", ",".join([f"{number}[{indices}]"] * 4), want=["job_state"])
            assert len(shown) == 4 * expected
        else:
            refused(15001, place.api.stat, "job", f"{number}[{indices}]")
        for call in (place.api.delete, place.api.rerun):
            with contextlib.suppress(api.PbsError):
                call(f"{number}[2000-2147483646:2147]")


def test_a_range_of_an_array_that_is_unknown_costs_nothing(place):
    with grows_at_most(place, 16 * MB):
        refused(15001, place.api.stat, "job", ",".join(["999999[0-2147483646:2147]"] * 40))
        refused(15001, place.api.delete, "999999[0-2147483646:2147]")


def test_indices_far_apart_cost_what_neighbours_cost(place):
    before = memory(place, "VmRSS")
    for _ in range(100):
        place.submit("true", array_indices_submitted="0-2147000000:214721")
    assert memory(place, "VmRSS") - before < 16 * MB
    place.crash_server()
    assert memory(place, "VmRSS") < before + 32 * MB
    assert sum(s["array_indices_remaining"] == "0-2146995279:214721" for s in place.api.stat("job")
               if "array_indices_remaining" in s) == 100


def test_a_selection_has_a_bound_on_criteria_that_its_error_names(place):
    text = refused(15004, place.api.select, [("Priority", None, "0", 0)] * 257)
    assert "257" in text and "256" in text
