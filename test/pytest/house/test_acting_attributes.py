"""An attribute that somebody may set acts, or its row says that nothing acts on it: what acts is named by a test beside those of the tables."""
import pathlib
import re

import pytest

from harness.attributes import definitions

TOP = pathlib.Path(__file__).resolve().parents[3]
TABLES = {"test_attributes.py", "test_matrix.py", "test_matrix_use.py", "test_bad_input.py", "test_acting_attributes.py", "attributes.py"}
UNDER_ANOTHER_NAME = {  # a test that makes the name, or uses the option that sets it: a text that is in it
    "acl_resv_host_enable": ("sched/test_reservation_site.py", 'name[:-1] + "_enable"'),
    "acl_resv_group_enable": ("sched/test_reservation_site.py", 'name[:-1] + "_enable"'),
    "argument_list": ("cmds/test_commands.py", '"--"'), "reserve_job": ("sched/test_reservation_of_job.py", '"--job"')}


@pytest.fixture(scope="module")
def texts():
    tests = TOP / "test" / "pytest"
    found = [p.read_text(encoding="utf-8") for p in tests.rglob("*.py") if p.name not in TABLES]
    found += [p.read_text(encoding="utf-8") for folder in ("ifl", "server", "sched", "mom") for p in (TOP / folder).rglob("*_test.c")]
    found += [p.read_text(encoding="utf-8") for p in (TOP / "sched" / "core" / "scenario" / "scenarios").iterdir()]
    for module, text in UNDER_ANOTHER_NAME.values():
        assert text in (tests / module).read_text(encoding="utf-8")
    return {word for text in found for word in re.findall(r"\w+", text)}


@pytest.mark.parametrize("kind", ["server", "queue", "node", "sched", "job", "resv", "hook"])
def test_an_attribute_that_can_be_set_is_one_that_a_test_sees_act(texts, kind):
    acting = {name for name, _, _, writer, flags, *_ in definitions(kind) if writer != "SERVER" and "AF_UNUSED" not in flags}
    assert acting - texts - set(UNDER_ANOTHER_NAME) == set()
