"""The hooks of doc/examples/hooks, each run by pbs_python --hook for the events it is written for. No complex."""
import getpass
import grp
import json
import os

import pytest

from harness.hook_desk import desk

PLACE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "doc", "examples", "hooks")


@pytest.fixture
def tmp(tmp_path):
    return str(tmp_path)


def run(tmp, name, event, data, config=None, **more):
    if config is not None:
        with open(os.path.join(tmp, "config.json"), "w", encoding="utf-8") as f:
            json.dump(config, f)
        data += f"pbs.hook_config_filename={tmp}/config.json\n"
    done = desk(tmp, os.path.abspath(os.path.join(PLACE, name + ".py")), event, data, name=name, **more)
    assert done.status == 0, (done.log, done.stderr)
    return done


def test_every_example_is_run_by_a_test_of_its_name():
    names = {name[:-3] for name in os.listdir(PLACE) if name.endswith(".py")}
    assert names == {name[len("test_"):] for name in globals() if name.startswith("test_") and name != "test_every_example_is_run_by_a_test_of_its_name"}


def test_need_walltime(tmp):
    assert "qsub -l walltime=2:00:00" in run(tmp, "need_walltime", "queuejob", "pbs.event().job.Resource_List[ncpus]=1\n").message
    assert run(tmp, "need_walltime", "queuejob", "pbs.event().job.Resource_List[walltime]=00:10:00\n").accepted
    alter = "pbs.event().job_o.Resource_List[walltime]=00:10:00\npbs.event().job.Resource_List[walltime]="
    assert run(tmp, "need_walltime", "modifyjob", alter + "00:20:00\n").accepted
    assert not run(tmp, "need_walltime", "modifyjob", alter + "0\n").accepted


def test_project_by_group(tmp):
    me, group = getpass.getuser(), grp.getgrgid(os.getgid()).gr_name
    asks = f"pbs.event().requestor={me}\npbs.event().job.queue=workq\n"
    rules = {group: {"project": "chemistry", "queue": "chemq"}}
    done = run(tmp, "project_by_group", "queuejob", asks, rules, server="pbs.server().queue(chemq).enabled=True\n")
    assert done.changes() == {"pbs.event().job.project": "chemistry", "pbs.event().job.queue": "chemq"}
    assert "does not exist" in run(tmp, "project_by_group", "queuejob", asks, rules).message
    assert "may submit jobs" in run(tmp, "project_by_group", "queuejob", asks, {}).message
    assert "not known" in run(tmp, "project_by_group", "queuejob", "pbs.event().requestor=no.such.user\n", rules).message
    chosen = run(tmp, "project_by_group", "queuejob", asks + "pbs.event().job.group_list=bio@h\n", {**rules, "bio": {"project": "b"}})
    assert chosen.changes() == {"pbs.event().job.project": "b"}


def test_defaults_by_queue(tmp):
    done = run(tmp, "defaults_by_queue", "queuejob", "pbs.event().job.queue=short\npbs.event().job.Resource_List[mem]=2gb\n")
    assert done.changes() == {'pbs.event().job.Resource_List["walltime"]': "00:30:00"}
    done = run(tmp, "defaults_by_queue", "queuejob", "pbs.event().job.Job_Name=x\n", server="pbs.server().default_queue=long\n")
    assert done.changes() == {'pbs.event().job.Resource_List["walltime"]': "48:00:00", 'pbs.event().job.Resource_List["mem"]': "4gb"}


def test_licence_counter(tmp):
    nodes = 'pbs.event().vnode_list["n1"].state=0\n'
    config = {"command": ["echo", "17"], "resource": "solver_licences"}
    resourcedef = "solver_licences type=long flag=h\n"
    for event in ("exechost_periodic", "periodic"):
        done = run(tmp, "licence_counter", event, nodes, config, resourcedef=resourcedef)
        assert done.changes() == {'pbs.event().vnode_list["n1"].resources_available["solver_licences"]': "17"}
    done = run(tmp, "licence_counter", "periodic", nodes, {**config, "command": ["false"]}, resourcedef=resourcedef)
    assert done.accepted and not done.changes() and "is not known" in done.log


def test_accounting_tag(tmp):
    data = """pbs.event().job.id=7.svr
pbs.event().job.Job_Owner=anna@login
pbs.event().job.project=chemistry
pbs.event().job.Exit_status=0
pbs.event().job.resources_used[cput]=00:01:00
pbs.event().job.resources_used[mem]=2kb
"""
    done = run(tmp, "accounting_tag", "jobobit", data, {"file": os.path.join(tmp, "tags")})
    with open(os.path.join(tmp, "tags"), encoding="utf-8") as f:
        assert json.loads(f.read()) == {"job": "7.svr", "owner": "anna@login", "project": "chemistry", "account": "none", "status": 0, "cput_s": 60,
                                        "mem_bytes": 2048}
    assert "Job;7.svr;accounted to none" in done.log


def test_drain(tmp):
    def change(before, now, jobs=""):
        data = f"pbs.event().vnode.name=n1\npbs.event().vnode.state={now}\npbs.event().vnode_o.name=n1\npbs.event().vnode_o.state={before}\n"
        return run(tmp, "drain", "modifyvnode", data + (f"pbs.event().vnode.jobs={jobs}\npbs.event().vnode.comment=fan\n" if jobs else "")).log

    assert "n1 drains, 2 jobs still run: 1.svr 2.svr (fan)" in change(0, 1, "1.svr/0, 1.svr/1, 2.svr/0")
    assert "n1 is drained" in change(0x11, 1) and "n1 is drained" in change(0, 1)
    assert "n1 takes jobs again, it was ND_STATE_OFFLINE" in change(1, 0) and change(0, 0x10) == ""


def test_node_health(tmp):
    data = 'pbs.get_local_nodename()=n1\npbs.event().vnode_list["n1"].state=0\npbs.event().vnode_list["n2"].state=0\npbs.event().job.id=1.svr\n'
    well, ill = {"min_free_mb": {tmp: 0}}, {"min_free_mb": {tmp: 1 << 40}, "mounts": [tmp]}
    assert not run(tmp, "node_health", "execjob_begin", data, well).changes()
    done = run(tmp, "node_health", "execjob_begin", data, ill)
    assert done.changes()['pbs.event().vnode_list["n1"].state'] == "offline" and "is not mounted" in done.message
    assert done.changes()["pbs.event().job.rerun"] == "1.svr" and not any("n2" in key for key in done.changes())
    mended = 'pbs.get_local_nodename()=n1\npbs.event().vnode_list["n1"].state=1\npbs.event().vnode_list["n1"].comment=node_health: x\n'
    done = run(tmp, "node_health", "exechost_periodic", mended, well)
    assert done.changes() == {'pbs.event().vnode_list["n1"].state': "free", 'pbs.event().vnode_list["n1"].comment': ""}


def test_job_tmpfs(tmp):
    data = f"""pbs.get_local_nodename()=n1
pbs.event().job.id=1.svr
pbs.event().job.euser={getpass.getuser()}
pbs.event().job.exec_vnode=(n1:ncpus=1:tmpfs=1gb)+(n1:ncpus=1:tmpfs=1gb)+(n2:tmpfs=1gb)
"""
    env = {"JOB_TMPFS_ROOT": f"{tmp}/tmpfs", "JOB_TMPFS_MOUNT": f"{tmp}/mount true"}
    with open(f"{tmp}/mount", "w", encoding="ascii") as f:
        f.write(f'#!/bin/sh\necho "$@" >{tmp}/mounted\n')
    os.chmod(f"{tmp}/mount", 0o755)
    more = {"resourcedef": "tmpfs type=size flag=nh\n", "env": env}
    assert run(tmp, "job_tmpfs", "execjob_begin", data, **more).accepted
    with open(f"{tmp}/mounted", encoding="ascii") as f:
        assert f"size={2 << 30},mode=0700,uid={os.getuid()}" in f.read()
    assert run(tmp, "job_tmpfs", "execjob_launch", data, **more).changes()['pbs.event().env["JOB_TMPFS"]'] == f"{tmp}/tmpfs/1.svr"
    run(tmp, "job_tmpfs", "execjob_end", data, **more)
    assert not os.path.exists(f"{tmp}/tmpfs/1.svr")
    env["JOB_TMPFS_MOUNT"] = "false true"
    assert "no tmpfs" in run(tmp, "job_tmpfs", "execjob_begin", data, **more).message
