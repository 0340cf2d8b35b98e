"""Resources of a site: counted on a vnode, shared by vnodes, at a queue, at the server; matched; bounded."""
import os
import re

import pytest

from harness import api
from harness.wait import until


def resource(cx, name, type_, flag=""):
    cx.qmgr(f"create resource {name} type={type_}" + (f",flag={flag}" if flag else ""))


def vnode(cx, name, **amounts):
    cx.api.manager(api.MSET, api.NODE, name, [("resources_available", k, str(v)) for k, v in amounts.items()])


def submit(cx, *options):
    return cx.submit("sleep 1000", options=options)


def comment(cx, job, text):
    until(lambda: text in (cx.stat(job).get("comment") or ""), f"a comment about {text}")


def vnodes_of(cx, job):
    return {part.strip("()").split(":")[0] for part in cx.stat(job)["exec_vnode"].split("+")}


# --- indirect

@pytest.fixture
def shared_tape(cx):
    """n2 and n3 have tapes only by way of n1, which has two."""
    resource(cx, "tape", "long", "nh")
    vnode(cx, "n1", tape=2)
    for name in ("n2", "n3"):
        vnode(cx, name, tape="@n1")
    return cx


@pytest.mark.complex(nodes=3, ncpus=4)
def test_vnodes_share_what_one_of_them_has(shared_tape):
    cx = shared_tape
    first = [submit(cx, "-l", f"select=1:ncpus=1:tape=1:vnode={n}") for n in ("n2", "n3")]
    for job in first:
        cx.wait(job, "R")
    late = submit(cx, "-l", "select=1:ncpus=1:tape=1:vnode=n2")
    comment(cx, late, "Insufficient amount of resource: tape")
    assert cx.node("n1")["resources_assigned"]["tape"] == "2"
    assert not cx.node("n1").get("jobs") and "tape" not in cx.node("n2")["resources_assigned"]
    cx.api.delete(first[1])
    cx.wait(late, "R")
    assert vnodes_of(cx, late) == {"n2"} and cx.node("n1")["resources_assigned"]["tape"] == "2"


@pytest.mark.complex(nodes=3, ncpus=4)
def test_a_job_of_several_chunks_takes_no_more_than_is_shared(shared_tape):
    cx = shared_tape
    much = submit(cx, "-l", "select=3:ncpus=1:tape=1", "-l", "place=scatter")
    comment(cx, much, "Can Never Run")
    fits = submit(cx, "-l", "select=2:ncpus=1:tape=1", "-l", "place=scatter")
    cx.wait(fits, "R")
    assert len(vnodes_of(cx, fits)) == 2 and cx.node("n1")["resources_assigned"]["tape"] == "2"


@pytest.mark.complex(nodes=3, ncpus=4, sched=False)
def test_the_server_refuses_runs_beyond_what_is_shared(shared_tape):
    cx = shared_tape
    jobs = [submit(cx, "-l", "select=1:ncpus=1:tape=1") for _ in range(3)]
    sched = cx.connect()
    sched.register()
    sched.run_async(jobs[0], "(n2:ncpus=1:tape=1)")
    sched.run_async(jobs[1], "(n1:ncpus=1:tape=1)")
    with pytest.raises(api.PbsError) as e:
        sched.run_async(jobs[2], "(n3:ncpus=1:tape=1)")
    sched.close()
    assert e.value.code == 15044 and "tape (R: 1 A: 0 T: 2) on n1" in e.value.text


@pytest.mark.complex(nodes=3, ncpus=2)
def test_an_urgent_job_preempts_the_job_that_has_what_vnodes_share(shared_tape):
    cx = shared_tape
    cx.make_queue("express", Priority="200")
    cx.qmgr("set sched default preempt_order = R")
    low = submit(cx, "-l", "select=1:ncpus=1:tape=2:vnode=n3")
    cx.wait(low, "R")
    urgent = submit(cx, "-q", "express", "-l", "select=1:ncpus=1:tape=1:vnode=n2")
    cx.wait(urgent, "R")
    assert cx.state(low) == "Q" and cx.node("n1")["resources_assigned"]["tape"] == "1"


@pytest.mark.complex(nodes=3, ncpus=2, sched=False)
def test_indirect_amounts_that_lead_nowhere_are_refused(shared_tape):
    cx = shared_tape
    for node, value, code in (("n2", "@n9", 15062), ("n2", "@n3", 15112), ("n1", "@n3", 15112)):
        with pytest.raises(api.PbsError) as e:
            vnode(cx, node, tape=value)
        assert e.value.code == code, (node, value, e.value)
    resource(cx, "drum", "long", "nh")
    resource(cx, "colour", "string", "h")
    for name, code in (("drum", 15113), ("colour", 15014)):
        with pytest.raises(api.PbsError) as e:
            vnode(cx, "n2", **{name: "@n1"})
        assert e.value.code == code


# --- amounts of a vnode, a queue, the server

@pytest.mark.complex(nodes=2, ncpus=4)
def test_a_consumable_of_a_vnode_is_used_up(cx):
    resource(cx, "card", "long", "nh")
    vnode(cx, "n2", card=2)
    jobs = [submit(cx, "-l", "select=1:ncpus=1:card=1") for _ in range(3)]
    for job in jobs[:2]:
        cx.wait(job, "R")
    assert vnodes_of(cx, jobs[0]) == vnodes_of(cx, jobs[1]) == {"n2"}
    comment(cx, jobs[2], "Insufficient amount of resource: card")
    cx.api.delete(jobs[0])
    cx.wait(jobs[2], "R")


@pytest.mark.complex(nodes=1, ncpus=4)
@pytest.mark.parametrize("place, where", [("server", "server"), ("queue workq", "queue")])
def test_licences_of_the_server_or_a_queue_are_used_up(cx, place, where):
    resource(cx, "licence", "long", "q")
    cx.qmgr(f"set {place} resources_available.licence = 2")
    first, second = submit(cx, "-l", "licence=1"), submit(cx, "-l", "licence=2")
    cx.wait(first, "R")
    comment(cx, second, f"Insufficient amount of {where} resource: licence (R: 2 A: 1 T: 2)")
    cx.api.delete(first)
    cx.wait(second, "R")


@pytest.mark.complex(nodes=1, ncpus=4)
def test_a_negative_amount_of_a_consumable_resource_is_refused(cx):
    resource(cx, "licence", "long", "q")
    resource(cx, "gpus", "float", "nh")
    resource(cx, "offset", "long", "h")
    for request in ("licence=-2", "select=1:gpus=-0.5", "select=2:gpus=2+1:gpus=-4", "gpus=-1"):
        done = cx.command("qsub", "-l", request, "--", "/bin/true", check=False)
        assert done.returncode == 15014 % 256 and "the amount is negative" in done.stderr, request
    job = submit(cx, "-h", "-l", "select=1:offset=-3")  # what is only compared may be any number
    with pytest.raises(api.PbsError) as e:
        cx.api.alter(job, [("Resource_List", "licence", "-1")])
    assert e.value.code == 15014 and "licence" not in cx.stat(job)["Resource_List"]


@pytest.mark.complex(nodes=1, ncpus=4)
def test_the_counting_flags_of_a_resource_are_not_changed_while_a_job_has_it(cx):
    resource(cx, "licence", "long", "q")
    cx.qmgr("set server resources_available.licence = 2")
    job = submit(cx, "-l", "licence=1")
    cx.wait(job, "R")
    done = cx.command("qmgr", "-c", "set resource licence flag = h", check=False)
    assert done.returncode == 15174 % 256 and f"Resource busy on job {job}" in done.stderr
    cx.qmgr("set resource licence flag = qr")  # who may ask for it is another matter
    cx.api.delete(job)
    cx.wait_gone(job)
    assert cx.api.stat("server")[0]["resources_assigned"]["licence"] == "0"
    cx.qmgr("set resource licence flag = h")


# --- the resources: line of sched_config

def append_resource(cx, name):
    """What an administrator's script does: the name goes to the end of the line that is there."""
    with open(os.path.join(cx.home, "sched_priv", "sched_config"), encoding="utf-8") as f:
        text = f.read()
    assert len(re.findall("(?m)^resources:", text)) == 1
    cx.configure_sched(re.sub('(?m)^(resources: "[^"]*)"', rf'\1, {name}"', text))


@pytest.mark.complex(nodes=2, ncpus=2)
def test_consumable_resources_of_vnodes_are_checked_though_the_resources_line_leaves_them_out(cx):
    """A site that appends a name of its own, and one that leaves ncpus out: no node is chosen that the server refuses."""
    resource(cx, "tape", "long", "nh")
    vnode(cx, "n1", tape=1)
    append_resource(cx, "switch")
    first, second, waits = [submit(cx, "-l", "select=1:ncpus=2") for _ in range(3)]
    for job in (first, second):
        cx.wait(job, "R")
    assert vnodes_of(cx, first) | vnodes_of(cx, second) == {"n1", "n2"}
    comment(cx, waits, "Insufficient amount of resource: ncpus")
    cx.configure_sched('resources: "tape"\n')
    taped = submit(cx, "-l", "select=1:ncpus=1:tape=1")
    comment(cx, taped, "Insufficient amount of resource")
    assert "PBS Error" not in cx.log("sched")
    for job in (first, second):
        cx.api.delete(job)
    cx.wait(waits, "R")
    cx.api.delete(waits)
    cx.wait(taped, "R")


# --- what is only matched

@pytest.mark.complex(nodes=2, ncpus=4)
@pytest.mark.parametrize("type_, has, asks", [("boolean", "True", "True"), ("string", "red", "red"),
                                              ("string_array", "red,blue", "blue")])
def test_a_property_of_a_host_is_matched(cx, type_, has, asks):
    """As PBS has it: one that is matched counts when the site appends it to `resources:`, a boolean counts always."""
    resource(cx, "trait", type_, "h")
    vnode(cx, "n2", trait=has)
    if type_ != "boolean":
        append_resource(cx, "trait")
    jobs = [submit(cx, "-l", f"select=1:ncpus=1:trait={asks}") for _ in range(2)]
    for job in jobs:
        cx.wait(job, "R")
        assert vnodes_of(cx, job) == {"n2"}
    if type_ != "boolean":
        other = submit(cx, "-l", "select=1:ncpus=1:trait=green")
        comment(cx, other, "Can Never Run")


# --- bounds of a queue and of the server

@pytest.mark.complex(nodes=0, sched=False)
def test_the_request_of_a_job_lies_between_resources_min_and_resources_max(cx):
    cx.qmgr("set queue workq resources_min.ncpus = 2", "set queue workq resources_max.ncpus = 4",
            "set server resources_max.walltime = 01:00:00")
    for asked in ({"l_ncpus": "1"}, {"l_ncpus": "5"}, {"l_ncpus": "2", "l_walltime": "01:00:01"}):
        with pytest.raises(api.PbsError) as e:
            cx.submit(**asked)
        assert e.value.code == 15036, asked
    assert cx.submit(l_ncpus="4", l_walltime="01:00:00")


@pytest.mark.complex(nodes=0, sched=False)
def test_resourcedef_holds_the_custom_resources(cx):
    path = os.path.join(cx.home, "server_priv", "resourcedef")

    def lines():
        with open(path, encoding="ascii") as f:
            return f.read().splitlines()

    assert lines() == []
    resource(cx, "card", "long", "hn")
    resource(cx, "paper", "string", "")
    assert lines() == ["card type=long flag=hn", "paper type=string"]
    cx.qmgr("set resource card flag=h", "delete resource paper")
    assert lines() == ["card type=long flag=h"] and os.stat(path).st_mode & 0o777 == 0o644
    os.unlink(path)
    cx.restart("server")
    assert lines() == ["card type=long flag=h"]


@pytest.mark.complex(nodes=1, ncpus=1, sched=False)
def test_a_deleted_resource_is_gone_from_all_but_jobs_which_keep_it(cx):
    resource(cx, "tape", "long", "nhq")
    vnode(cx, "n1", tape=4)
    cx.qmgr("set server resources_available.tape = 9", "set queue workq resources_max.tape = 3",
            'set server max_run_res.tape = "[o:PBS_ALL=5]"', "set server restrict_res_to_release_on_suspend = ncpus",
            "set server restrict_res_to_release_on_suspend += tape")
    job = submit(cx, "-l", "select=1:ncpus=1:tape=1")
    busy = cx.command("qmgr", "-c", "delete resource tape", check=False)
    assert busy.returncode and "Resource busy on job" in busy.stderr
    cx.api.delete(job)
    cx.wait_gone(job)
    cx.qmgr("delete resource tape")
    server, queue = cx.api.stat("server")[0], cx.api.stat("que", "workq")[0]
    for o in (server, queue, cx.node("n1")):
        assert "tape" not in str(dict(o)), o
    assert server["restrict_res_to_release_on_suspend"] == "ncpus"
    cx.crash_server()
    assert "tape" not in str(dict(cx.api.stat("server")[0]))


@pytest.mark.complex(nodes=0, sched=False)
def test_resources_without_a_name_are_those_of_the_site(cx):
    for verb in ("list", "print"):
        assert "ncpus" not in cx.command("qmgr", "-c", f"{verb} resource").stdout
    resource(cx, "tape", "long", "nh")
    assert cx.command("qmgr", "-c", "list resource").stdout.splitlines()[0] == "Resource tape"
    assert "create resource tape" in cx.command("qmgr", "-c", "print resource").stdout
    assert "type = long" in cx.command("qmgr", "-c", "list resource ncpus").stdout
    again = cx.command("qmgr", "-c", "create resource tape type=long", check=False)
    assert again.returncode and "Duplicate entry in list" in again.stderr and "15174" not in again.stderr


@pytest.mark.parametrize("select", ["1:NCPUS=2:Mem=1gb", "NCPUS=2:MEM=1gb"])
def test_a_resource_of_a_select_counts_in_letters_of_any_case(cx, select):
    vnode(cx, "n1", ncpus=4, mem="4gb")
    job = submit(cx, "-l", f"select={select}:host=n1")
    cx.wait(job)
    got = cx.stat(job)
    assert got["exec_vnode"] == "(n1:ncpus=2:mem=1048576kb)", got
    assert (got["Resource_List"]["ncpus"], got["Resource_List"]["mem"]) == ("2", "1gb")
    assert got["Resource_List"]["select"] == "1:ncpus=2:mem=1gb:host=n1"


def test_a_resource_that_a_chunk_names_twice_in_other_letters_is_refused(cx):
    done = cx.command("qsub", "-l", "select=1:ncpus=1:NCPUS=2", cx.script("true"), check=False)
    assert "duplicated resource within a section of a select specification, resource is: ncpus" in done.stderr
