"""Hooks of execution hosts: what an epilogue decides about the job, loops in steps of a running job, MOMs that are killed in them, and what outlives the server."""
import pytest

from harness import api, tasks
from harness.wait import until
from hooks.test_mom_hooks import empty, ended, marks, mom_log, note
from hooks.test_mom_hook_asks import there
from hooks.test_mom_hooks_more import background, running
from hooks.test_task_hooks import attach

N1 = "1:ncpus=1:host=n1"

pytestmark = pytest.mark.complex(nodes=2, history=True)


def alarm_text(event):
    return f"alarm call while running {event} hook 'loops', request rejected"


def loops(cx, hooks, event):
    """A hook whose first run loops until its alarm."""
    empty(cx)
    hooks.make("loops", event, note(cx, "'ran'") + f"if len(open('{cx.work}/marks').readlines()) == 1:\n    while True: pass", alarm=1)


def waits(cx, hooks, event, **attrs):
    """A hook that notes that it runs, and ends when the file `go` is there."""
    empty(cx, "marks", "go")
    hooks.make("waits", event, "import os, time\nif pbs.get_local_nodename() == 'n1':\n    " + note(cx, "'asked'").replace("\n    ", "\n        ") +
               f"    while not os.path.exists('{cx.work}/go'): time.sleep(0.05)", **attrs)


def killed_in_the_hook(cx):
    """Kill the MOM of n1 while its hook runs, and start it again."""
    until(lambda: marks(cx) == ["asked"], "the hook")
    cx.kill("n1")
    cx.blank("go")
    cx.restart("n1")
    until(lambda: "down" not in cx.node("n1").state, "n1 is back")


# ---- what outlives the server ----

HOST_SAYS = """if pbs.get_local_nodename() == 'n1':
    e.vnode_list['n1'].resources_available['cards'] = 3
    e.vnode_list['n1.made'] = pbs.vnode('n1.made')
    e.vnode_list['n1.made'].resources_available['mem'] = pbs.size('9gb')
"""


def test_what_a_hook_has_said_of_its_host_is_there_after_a_restart_of_the_server(complex, hooks):
    complex.qmgr("create resource cards type=long,flag=nh")
    hooks.make("tells", "exechost_startup", HOST_SAYS)
    there(complex, "tells.PY", "tells.HK")
    complex.restart("n1")
    until(lambda: any(n.name == "n1.made" and n["resources_available"].get("mem") == "9gb" for n in complex.api.stat("vnode")), "the vnode")
    complex.crash_server()
    until(lambda: complex.node("n1").state == "free", "n1 is back")
    assert complex.node("n1")["resources_available"]["cards"] == "3"
    made = complex.node("n1.made")
    assert made.state == "free" and made["resources_available"]["mem"] == "9gb"
    complex.qmgr("delete node n1.made")
    complex.crash_server()
    until(lambda: complex.node("n1").state == "free", "n1 is back")
    assert not any(n.name == "n1.made" for n in complex.api.stat("vnode")), "a manager has deleted it"


def test_what_a_hook_says_while_the_server_is_away_is_said_when_it_is_back(complex, hooks):
    complex.qmgr("create resource cards type=long,flag=nh")
    waits(complex, hooks, "exechost_startup")
    hooks.make("tells", "exechost_startup", HOST_SAYS + note(complex, "'told'"), order=2)
    there(complex, "waits.PY", "tells.PY", "tells.HK")
    complex.restart("n1")
    until(lambda: marks(complex), "the first hook")
    complex.kill("server")
    complex.blank("go")
    until(lambda: "told" in marks(complex), "the second hook")
    complex.restart("server")
    complex.again()
    until(lambda: (complex.node("n1")["resources_available"] or {}).get("cards") == "3", "what it has said")
