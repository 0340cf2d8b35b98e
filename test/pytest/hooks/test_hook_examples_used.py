"""Each example that acts on hosts or after the fact, set up by an administrator by the very lines that its text gives, and used by a user and by root."""
import json
import os
import re
import shlex

import pytest

from harness import users
from harness.wait import until
from hooks.test_mom_hooks import empty, ended, marks

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "..", "doc", "examples", "hooks")
N1 = "1:ncpus=1:host=n1"

pytestmark = pytest.mark.complex(nodes=2, history=True)

WHO = pytest.mark.parametrize("user", [users.NAMES[0], None], ids=["user", "administrator"])


def qmgr_lines(name):
    """The lines for qmgr in the text of an example."""
    with open(os.path.join(EXAMPLES, name + ".py"), encoding="utf-8") as f:
        return [shlex.split(line)[2] for line in re.findall(r"(?m)^qmgr -c .*$", f.read())]


def own_copy(cx, file):
    """The example, with places of its own: identifiers of jobs are the same in complexes of other tests on this host."""
    with open(os.path.join(EXAMPLES, file), encoding="utf-8") as f:
        text = f.read().replace("/dev/shm/pbs_jobs", os.path.join(cx.work, "tmpfs"))
    place = os.path.join(cx.work, file)
    with open(place, "w", encoding="utf-8") as f:
        f.write(text)
    return place


@pytest.fixture
def set_up(complex, hooks):
    """set_up(name, config): what an administrator does, with the site's configuration in place of the named file; periodic hooks each second."""

    def do(name, config=None):
        hooks.names.append(name)
        for line in qmgr_lines(name):
            if line.startswith("create resource") and complex.command("qmgr", "-c", "list resource " + line.split()[2], check=False).returncode == 0:
                continue
            verb, _, file = line.rpartition(" ")
            if verb.endswith("application/x-config default"):
                place = os.path.join(complex.work, file)
                with open(place, "w", encoding="utf-8") as f:
                    json.dump(config, f)
                line = f"{verb} {place}"
            elif verb.startswith("import"):
                line = f"{verb} {own_copy(complex, file)}"
            complex.qmgr(re.sub(r"freq=\d+", "freq=1", line))

    return do


def submit(cx, user, text, **more):
    return cx.submit(text, user=user, **more)


@WHO
def test_accounting_tag(complex, set_up, user):
    tags = os.path.join(complex.work, "tags")
    empty(complex, "tags")
    set_up("accounting_tag", {"file": tags})
    job = submit(complex, user, "exit 3", project="chem")
    ended(complex, job)
    line = json.loads(until(lambda: marks(complex, "tags"), "the line")[0])
    assert (line["job"], line["project"], line["status"]) == (job, "chem", 3)
    assert line["owner"].partition("@")[0] == (user or "root")


@WHO
def test_drain(complex, set_up, user):
    job = submit(complex, user, "sleep 600", select=N1)
    complex.wait(job)
    set_up("drain")
    complex.command("pbsnodes", "-o", "-C", "fan", "n1")
    complex.wait_log("server", f"n1 drains, 1 jobs still run: {job} (fan)")
    assert complex.command("qdel", job, user=user).returncode == 0
    complex.wait_gone(job)
    complex.command("pbsnodes", "-r", "n1")
    until(lambda: "n1 takes jobs again, it was ND_STATE_OFFLINE" in complex.log("server"), "the log")


@WHO
def test_licence_counter(complex, set_up, user):
    """A job that asks for more licences than are free waits until there are some."""
    free = os.path.join(complex.work, "free")
    with open(free, "w", encoding="ascii") as f:
        f.write("1\n")
    set_up("licence_counter", {"command": ["cat", free], "resource": "solver_licences"})
    until(lambda: all(complex.node(n)["resources_available"].get("solver_licences") == "1" for n in ("n1", "n2")), "the number")
    complex.configure_sched('resources: "ncpus, mem, arch, host, vnode, solver_licences"\n')
    job = submit(complex, user, "true", select="1:ncpus=1:solver_licences=2")
    until(lambda: "Insufficient amount of resource: solver_licences" in (complex.stat(job).get("comment") or ""), lambda: complex.describe(job))
    with open(free, "w", encoding="ascii") as f:
        f.write("2\n")
    until(lambda: complex.node("n1")["resources_available"].get("solver_licences") == "2", "more")
    complex.set_server("scheduling", "True")
    assert ended(complex, job)["Exit_status"] == "0"


def events_on(cx, node):
    """The event line of the hook's control file on its host."""
    place = os.path.join(cx.dir, "mom", node, "mom_priv", "hooks", "node_health.HK")
    if not os.path.exists(place):
        return ""
    with open(place, encoding="utf-8") as f:
        return f.read()


@WHO
def test_node_health(complex, set_up, user):
    """In its turns it takes hosts out of use and gives them back; at the beginning of a job it sends the job back too."""
    well = os.path.join(complex.work, "well")
    complex.blank("well")
    set_up("node_health", {"min_free_mb": {well: 0}})
    complex.qmgr("set hook node_health event=execjob_begin")
    for node in ("n1", "n2"):
        until(lambda n=node: "execjob_begin" in events_on(complex, n) and "exechost_periodic" not in events_on(complex, n), "the hook without turns")
    os.remove(well)
    job = submit(complex, user, "true", select=N1)
    until(lambda: "offline" in complex.node("n1").state, "n1 offline")
    assert complex.node("n1")["comment"].startswith("node_health: ")
    complex.wait(job, state="Q")
    complex.blank("well")
    complex.qmgr("set hook node_health event='execjob_begin,exechost_periodic'", "set hook node_health freq=1")
    assert ended(complex, job)["Exit_status"] == "0"
    until(lambda: "offline" not in complex.node("n1").state, "n1 in use")


@WHO
def test_job_tmpfs(complex, set_up, user):
    set_up("job_tmpfs")
    complex.qmgr("set node n1 resources_available.tmpfs=1gb")
    empty(complex, "where")
    complex.blank("where")
    job = submit(complex, user, f"stat -f -c %T $JOB_TMPFS > {complex.work}/where; touch $JOB_TMPFS/mine && echo $JOB_TMPFS >> {complex.work}/where",
                 select="1:ncpus=1:tmpfs=16mb:host=n1")
    assert ended(complex, job)["Exit_status"] == "0"
    kind, place = marks(complex, "where")
    assert kind == "tmpfs" and job in place and not os.path.exists(place)
