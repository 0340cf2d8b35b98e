"""Built-in hooks, the objects `pbshook` of qmgr, and the one that comes with the installation."""
import json
import os

import pytest

from harness import api
from harness.hooks import Hooks, log

NAME = "PBS_preempt_policy"
ROOM = "(n1:ncpus=4)"
LISTED = f"""Hook {NAME}
    type = pbs
    enabled = false
    event = preempt
    user = pbsadmin
    alarm = 5
    order = 0
    debug = false
    fail_action = none
"""

pytestmark = pytest.mark.complex(nodes=1, ncpus=4, sched=False)


@pytest.fixture
def policy(complex):
    """policy(config): the hook is enabled with it until the end of the test."""
    def make(config):
        path = os.path.join(complex.work, "policy.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(config, f)
        complex.qmgr(f"import pbshook {NAME} application/x-config default {path}", f"set pbshook {NAME} enabled=true")

    yield make
    complex.qmgr(f"set pbshook {NAME} enabled=false")
    complex.clean()


@pytest.fixture
def scheduler(complex):
    c = complex.connect()
    c.register("default")
    complex.set_sched("preempt_order", "SR")
    yield c
    c.close()


def ask(cx, *lines):
    done = None
    for line in lines:
        done = cx.command("qmgr", "-c", line, check=False)
    return done


def started(cx, location=ROOM, **attrs):
    job = cx.submit(**attrs)
    cx.api.run(job, location)
    cx.wait(job)
    return job


def test_built_in_hooks_are_listed_as_pbshook_only(complex):
    assert ask(complex, f"list pbshook {NAME}").stdout.rstrip() + "\n" == LISTED
    assert NAME in ask(complex, "list pbshook").stdout and NAME not in ask(complex, "list hook").stdout
    assert "hook not found" in ask(complex, f"list hook {NAME}").stderr
    hooks = Hooks(complex)
    hooks.make("site", "queuejob", "pass")
    assert "hook not found" in ask(complex, "list pbshook site").stderr and "site" not in ask(complex, "list pbshook").stdout
    hooks.delete()


@pytest.mark.parametrize("line, text", [
    (f"set hook {NAME} enabled=true", "cannot set attributes of a 'pbs' hook"),
    (f"unset hook {NAME} order", "cannot unset attributes of a 'pbs' hook"),
    (f"delete hook {NAME}", "cannot delete a PBS hook"),
    (f"delete pbshook {NAME}", "cannot delete a PBS hook"),
    (f"create pbshook {NAME}2", "built-in hooks come with the installation only"),
    (f"create hook {NAME}", "cannot use PBS as a prefix it is reserved for pbs hooks"),
    (f"export hook {NAME} application/x-python default", f"{NAME} not of 'site' type"),
    (f"export pbshook {NAME} application/x-python default", "<content-type> must be application/x-config"),
    (f"set pbshook {NAME} type=site", f"can't set hook to site type - hook name ({NAME}) already prefixed with PBS"),
    (f"unset pbshook {NAME} type", f"can't unset hook's type since hook name is {NAME}"),
    (f"set pbshook {NAME} order=2001", "order given (2001) is outside the acceptable range of [-1000, 2000] for type 'pbs'."),
])
def test_requests_that_a_built_in_hook_does_not_allow_are_refused_with_the_words_of_pbs(complex, line, text):
    done = ask(complex, line)
    assert done.returncode != 0 and text in done.stderr
    assert "qmgr: hook error returned from server" in done.stderr


def test_the_log_names_the_built_in_hook_that_was_not_to_be_changed(complex):
    ask(complex, f"set hook {NAME} enabled=true", f"delete pbshook {NAME}")
    assert f"mgr_hook_set;cannot set attributes of a 'pbs' hook named {NAME}" in log(complex)
    assert f"mgr_hook_delete;cannot delete a PBS hook named {NAME}" in log(complex)


def test_settings_and_configuration_of_a_built_in_hook_outlive_the_server(complex, policy):
    policy({"spare": {}})
    ask(complex, f"set pbshook {NAME} order=-7")
    complex.crash_server()
    shown = ask(complex, f"list pbshook {NAME}").stdout
    assert "order = -7" in shown and "enabled = true" in shown
    assert json.loads(ask(complex, f"export pbshook {NAME} application/x-config default").stdout) == {"spare": {}}
    printed = ask(complex, "print pbshook").stdout
    assert "# Set PBS hooks properties." in printed and f"# Set pbshook {NAME}" in printed and "create" not in printed
    assert f"import hook {NAME} application/x-config base64 -" in printed and f"set pbshook {NAME} order = -7" in printed
    ask(complex, f"set pbshook {NAME} order=0")


def test_disabling_a_built_in_hook_warns(complex):
    assert "WARNING: Disabling a PBS hook results in an unsupported configuration!" in ask(complex, f"set pbshook {NAME} enabled=false").stderr


def test_the_policy_spares_jobs_and_chooses_methods(complex, policy, scheduler):
    policy({"spare": {"project": ["demo"]}, "methods": {"project": {"licensed": "R"}}})
    spared, licensed = (started(complex, "(n1:ncpus=2)", select="1:ncpus=2", project=p) for p in ("demo", "licensed"))
    urgent = complex.submit(select="1:ncpus=2")
    scheduler.preempt_run(urgent, "(n1:ncpus=2)", [spared, licensed])
    complex.wait(urgent)
    complex.wait(licensed, "Q")
    assert complex.state(spared) == "R"


def test_the_policy_keeps_quiet_hours(complex, policy, scheduler):
    policy({"quiet_hours": ["00:00-12:00", "12:00-00:00"]})
    victim, urgent = started(complex), complex.submit(select="1:ncpus=4")
    with pytest.raises(api.PbsError) as e:
        scheduler.preempt_run(urgent, ROOM, [victim])
    assert e.value.code == 15136 and "(PBS_preempt_policy)" in e.value.text and complex.state(victim) == "R"
