"""Jobs on several hosts: started together, ended together, and what happens when one of the hosts is lost."""
import os
import signal
import threading

import pytest

from harness.faults import daemon_frozen, is_alive, stays
from harness.hosts import accounting, running, stores
from harness.shepherds import shepherd
from harness.wait import until

three = pytest.mark.complex(nodes=3, history=True)
SPREAD = {"select": "3:ncpus=2:mpiprocs=2", "l_place": "scatter"}
LOOP = "while :; do sleep 0.05; done"


def spread(cx, text=LOOP, **attrs):
    """A job on one chunk of each of three nodes; it works in the directory of the test."""
    return cx.submit("cd $PBS_O_WORKDIR\n" + text, **{**SPREAD, **attrs})


def shepherds(cx, job):
    return {node: pid for node in ("n1", "n2", "n3") if (pid := shepherd(cx, job, node))}


def free(cx):
    """Nodes on which nothing is assigned."""
    return [n.name for n in cx.api.stat("vnode") if n.get("resources_assigned", {}).get("ncpus", "0") == "0"]


# --- together


@three
def test_the_script_runs_on_the_first_host_and_every_host_is_in_its_nodefile(cx):
    job = spread(cx, "cat $PBS_NODEFILE > nodes; echo $PBS_NODENUM > num; exit 3")
    cx.wait_gone(job)
    s = cx.stat(job)
    assert cx.file("nodes").split() == ["n1", "n1", "n2", "n2", "n3", "n3"] and cx.file("num") == "0\n"
    assert s["Exit_status"] == "3" and s["exec_host"] == "n1/0*2+n2/0*2+n3/0*2"
    line = accounting(cx, job, "E")[0]
    assert "exec_host=n1/0*2+n2/0*2+n3/0*2" in line and "Exit_status=3" in line
    assert "exec_vnode=(n1:ncpus=2:mpiprocs=2)+(n2:ncpus=2:mpiprocs=2)+(n3:ncpus=2:mpiprocs=2)" in line \
        or "exec_vnode=(n1:ncpus=2)+(n2:ncpus=2)+(n3:ncpus=2)" in line


@pytest.mark.complex(nodes=3, history=True)
@pytest.mark.parametrize("select, lines", [
    ("1:ncpus=1:host=n1+1:ncpus=1:mpiprocs=2:host=n2+1:ncpus=2:host=n1", "n1 n2 n2 n1"),
    ("2:ncpus=3:mpiprocs=2+1:ncpus=1:mpiprocs=0:host=n2+1:ncpus=1:host=n1", "n1 n1 n2 n2 n1"),
    ("1:ncpus=1:host=n3+1:ncpus=0:host=n1+1:ncpus=1:host=n2", "n3 n2"),
])
def test_the_nodefile_has_the_chunks_in_the_order_of_the_select(cx, select, lines):
    dsh = os.path.join(cx.build, "bin", "pbsdsh")
    job = cx.submit(f"cat $PBS_NODEFILE > nodes.$$; mv nodes.$$ {cx.work}/nodes\n"
                    f"{dsh} -s -- /bin/sh -c 'echo $PBS_NODEFILE'", select=select)
    cx.wait_gone(job)
    assert cx.file("nodes").split() == lines.split()
    said = until(lambda: cx.file("out"), "the output of the tasks")
    assert [path.split("/mom/")[1].split("/")[0] for path in said.split()] == lines.split()  # TM counts the same lines


@three
def test_hosts_that_come_again_in_the_nodefile_leave_it_altogether_when_they_are_given_back(cx):
    job = cx.submit(LOOP, select="+".join(f"1:ncpus=1:host={n}" for n in ("n1", "n2", "n1", "n3", "n2")))
    running(cx, job)

    def lines():
        with open(f"{cx.dir}/mom/n1/aux/{job}", encoding="ascii") as f:
            return f.read().split()
    assert lines() == ["n1", "n2", "n1", "n3", "n2"]
    cx.command("pbs_release_nodes", "-j", job, "n2")
    until(lambda: lines() == ["n1", "n1", "n3"], "the nodefile without n2")


@three
def test_every_sister_is_held_by_a_shepherd_with_nodefile_and_directory_until_the_end(cx):
    job = spread(cx)
    running(cx, job)
    assert sorted(shepherds(cx, job)) == ["n1", "n2", "n3"]
    for node in ("n2", "n3"):
        with open(f"{cx.dir}/mom/{node}/aux/{job}", encoding="ascii") as f:
            assert f.read().split() == ["n1", "n1", "n2", "n2", "n3", "n3"]
        assert os.path.isdir(f"{cx.dir}/mom/{node}/tmp/pbs.{job}")
    cx.api.delete(job)
    cx.wait_gone(job)
    until(lambda: not shepherds(cx, job), "the end of its shepherds")
    for node in ("n2", "n3"):
        assert not os.path.exists(f"{cx.dir}/mom/{node}/aux/{job}")
        assert not os.path.exists(f"{cx.dir}/mom/{node}/tmp/pbs.{job}")


@three
def test_the_script_does_not_begin_before_every_host_is_ready(cx):
    with daemon_frozen(cx, "n3"):
        job = spread(cx, "touch began; " + LOOP)
        until(lambda: sorted(shepherds(cx, job)) == ["n2"], "the shepherd of n2")
        assert stays(lambda: cx.file("began") is None and cx.stat(job)["substate"] == "41", 1)
    running(cx, job)
    until(lambda: cx.file("began") is not None, "the beginning")


@three
def test_suspension_and_resumption_reach_every_host(cx):
    job = spread(cx)
    running(cx, job)
    with daemon_frozen(cx, "n2"):
        asker = cx.connect()
        ticket = asker.call_send("sigjob_send", job, "suspend", None)
        assert stays(lambda: cx.state(job) == "R", 0.5)  # one host has not said that the job is stopped
    asker.recv(ticket)
    asker.close()
    assert cx.state(job) == "S" and len(free(cx)) == 3
    cx.api.signal(job, "resume")
    cx.wait(job, "R")
    cx.api.delete(job)
    cx.wait_gone(job)
    for node, said in (("n1", ["signal job with suspend", "signal job with resume", "signal job with TermJob"]),
                       ("n2", ["SUSPEND received", "RESUME received", "KILL_JOB received", "DELETE_JOB received"])):
        for words in said:
            until(lambda words=words, node=node: f";{job};{words}\n" in cx.log(node), f"{words} of {node}")


@three
def test_a_requeued_job_of_three_hosts_runs_again_with_new_shepherds(cx):
    job = spread(cx)
    running(cx, job)
    first = shepherds(cx, job)
    cx.api.rerun(job)
    running(cx, job, 2)
    until(lambda: not any(is_alive(p) for p in first.values()), "the end of the first shepherds")
    assert sorted(shepherds(cx, job)) == ["n1", "n2", "n3"]


@three
def test_the_usage_of_a_job_is_the_sum_over_its_hosts(cx):
    job = spread(cx, "exit 0")
    cx.wait_gone(job)
    assert cx.stat(job)["resources_used"]["ncpus"] == "6"


# --- a host that is done before the others


@three
def test_the_nodes_of_sisters_are_free_while_the_first_host_still_runs_its_epilogue(cx):
    path = f"{cx.dir}/mom/n1/mom_priv/epilogue"
    with open(path, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\nwhile [ ! -e {cx.work}/go ]; do sleep 0.05; done\n")
    os.chmod(path, 0o700)
    cx.command("qmgr", "-c", "list server")
    os.kill(cx.pid("n1"), signal.SIGHUP)
    job = spread(cx, "exit 4")
    cx.wait(job, "E")
    until(lambda: free(cx) == ["n2", "n3"], "the nodes of the sisters")
    other = cx.submit(select="2:ncpus=4", l_place="scatter")
    s = cx.wait(other)
    assert s["exec_host"] == "n2/0*4+n3/0*4"
    s = cx.stat(job)
    assert s.state == "E" and s["Exit_status"] == "4"
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    cx.wait_gone(job)


@three
def test_a_sister_that_ends_first_when_a_job_is_rerun_was_not_lost(cx):
    job = spread(cx)
    running(cx, job)
    rerun = threading.Thread(target=cx.command, args=("qrerun", job))
    with daemon_frozen(cx, "n1"):
        rerun.start()
        until(lambda: free(cx) == ["n2", "n3"], "the end on the other hosts")
    rerun.join()
    running(cx, job, 2)
    assert "Exit_status=-11 " in accounting(cx, job, "R")[0]
    assert f"{job};lost communication" not in cx.log("server")


# --- a host that is lost


def lose(cx, node, job):
    """The MOM and the shepherd of this job on this node are killed; the MOM comes back to find that."""
    pid = shepherd(cx, job, node)
    assert pid, f"no shepherd of {job} on {node}"
    cx.kill(node)
    os.kill(pid, signal.SIGKILL)
    cx.control("restart", node)


@three
@pytest.mark.parametrize("node", ["n1", "n3"])
def test_a_job_that_loses_one_of_its_hosts_goes_back_to_its_queue(cx, node):
    job = spread(cx)
    running(cx, job)
    lose(cx, node, job)
    running(cx, job, 2)
    assert len(accounting(cx, job, "R")) == 1
    if node != "n1":
        cx.wait_log("server", f"{job};Job requeued, execution node {node} down")


@three
def test_a_job_that_is_not_rerunable_ends_when_a_sister_is_lost_and_says_why(cx):
    job = spread(cx, Rerunable="False")
    running(cx, job)
    lose(cx, "n2", job)
    cx.wait_gone(job)
    s = cx.stat(job)
    assert s["Exit_status"] == "-14" and s["run_count"] == "1"
    assert len(free(cx)) == 3


@three
def test_a_job_whose_sister_stays_away_is_requeued_after_node_fail_requeue(cx):
    cx.set_server("node_fail_requeue", "2")
    job = spread(cx)
    running(cx, job)
    cx.kill("n3")
    cx.wait(job, "Q")  # n3 is needed again, and down
    assert sorted(free(cx)) == ["n1", "n2", "n3"]
    cx.control("restart", "n3")
    running(cx, job, 2)


@three
def test_a_tolerant_job_continues_without_a_sister(cx):
    job = spread(cx, "while [ ! -e go ]; do sleep 0.05; done; exit 5", tolerate_node_failures="all")
    running(cx, job)
    lose(cx, "n2", job)
    until(lambda: "n2" in free(cx), "the release of n2")
    assert stays(lambda: cx.state(job) == "R", 0.5)
    cx.api.signal(job, "suspend")
    cx.wait(job, "S")
    cx.api.signal(job, "resume")
    cx.wait(job, "R")
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    cx.wait_gone(job)
    s = cx.stat(job)
    assert s["Exit_status"] == "5" and s["run_count"] == "1"


@three
def test_a_job_that_is_tolerant_at_its_start_is_not_later(cx):
    job = spread(cx, tolerate_node_failures="job_start")
    running(cx, job)
    lose(cx, "n2", job)
    running(cx, job, 2)


@three
def test_a_tolerant_job_does_not_wait_for_a_slow_sister_for_ever(cx):
    with daemon_frozen(cx, "n3"):
        job = spread(cx, "touch began; " + LOOP, tolerate_node_failures="job_start")
        until(lambda: cx.file("began") is not None, "the beginning without n3")
        assert cx.stat(job)["substate"] == "42" or running(cx, job)
    until(lambda: sorted(shepherds(cx, job)) == ["n1", "n2"], "the end of what came too late")
    assert cx.stat(job)["run_count"] == "1"


@three
def test_a_suspended_job_that_loses_a_sister_can_be_resumed_where_that_is_tolerated(cx):
    job = spread(cx, tolerate_node_failures="all")
    running(cx, job)
    cx.api.signal(job, "suspend")
    cx.wait(job, "S")
    lose(cx, "n3", job)
    until(lambda: "ignoring lost communication with n3" in cx.log("server"), "the loss")
    cx.api.signal(job, "resume")
    running(cx, job)


# --- daemons that are killed


@stores
def test_killing_every_mom_and_the_server_leaves_a_job_of_three_hosts_running(cx, store):
    assert cx.store == store
    job = spread(cx, "while [ ! -e go ]; do sleep 0.05; done; exit 6")
    running(cx, job)
    before = shepherds(cx, job)
    for daemon in ("server", "n1", "n2", "n3"):
        cx.kill(daemon)
    for daemon in ("server", "n1", "n2", "n3", "sched"):
        cx.control("restart", daemon)
    cx.again()
    running(cx, job)
    assert shepherds(cx, job) == before
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "6"


@three
def test_a_job_that_ends_while_a_sister_is_away_ends_there_when_it_comes_back(cx):
    job = spread(cx, "while [ ! -e go ]; do sleep 0.05; done; exit 7")
    running(cx, job)
    cx.kill("n2")
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    cx.wait(job, "E")
    until(lambda: sorted(free(cx)) == ["n1", "n3"], "the nodes that are here")
    cx.control("restart", "n2")
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "7"
    until(lambda: not shepherds(cx, job), "the end of its shepherds")


# --- hosts that are given back


def resources(s, name):
    return s["Resource_List"].get(name)


@three
def test_a_running_job_gives_back_a_host_which_others_can_use_at_once(cx):
    job = spread(cx, "while [ ! -e go ]; do sleep 0.05; done; exit 8")
    running(cx, job)
    cx.command("pbs_release_nodes", "-j", job, "n2")
    until(lambda: free(cx) == ["n2"], "n2")
    s = cx.stat(job)
    assert s["exec_host"] == "n1/0*2+n3/0*2" and resources(s, "ncpus") == "4"
    assert resources(s, "select") == "2:ncpus=2:mpiprocs=2" and resources(s, "nodect") == "2"
    assert sorted(shepherds(cx, job)) == ["n1", "n3"]
    other = cx.submit("sleep 600", select="1:ncpus=4")
    assert cx.wait(other)["exec_host"] == "n2/0*4"
    cx.api.signal(job, "suspend")  # the host that has left need not be stopped
    cx.wait(job, "S")
    cx.api.signal(job, "resume")
    running(cx, job)
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    cx.wait_gone(job)
    s = cx.stat(job)
    assert s["Exit_status"] == "8" and s["exec_host"] == "n1/0*2+n3/0*2"
    u, c, e, end = (accounting(cx, job, k)[0] for k in "uceE")
    assert "exec_host=n1/0*2+n2/0*2+n3/0*2" in u and "resources_used.walltime=" in u
    assert "exec_host=n1/0*2+n3/0*2" in c and "Resource_List.ncpus=4" in c
    assert "exec_host=n1/0*2+n3/0*2" in e and "exec_host=n1/0*2+n2/0*2+n3/0*2" in end
    assert "Resource_List.ncpus=6" in end and "Exit_status=8" in end


@three
@pytest.mark.parametrize("words,left", [(["-a"], ["n1"]), (["-k", "1"], ["n1", "n2"]),
                                        (["-k", "1:ncpus=2"], ["n1", "n2"]), (["n3", "n2"], ["n1"])])
def test_release_nodes_keeps_the_first_host_a_number_of_hosts_or_a_select(cx, words, left):
    job = spread(cx)
    running(cx, job)
    cx.command("pbs_release_nodes", *words, env={"PBS_JOBID": job})
    until(lambda: sorted(shepherds(cx, job)) == left, "the shepherds that are left")
    assert [w.split("/")[0] for w in cx.stat(job)["exec_host"].split("+")] == left


@three
def test_the_nodefile_on_the_hosts_that_stay_names_only_those_that_stay(cx):
    job = spread(cx)
    running(cx, job)

    def lines(node):
        with open(f"{cx.dir}/mom/{node}/aux/{job}", encoding="ascii") as f:
            return f.read().split()
    cx.command("pbs_release_nodes", "-j", job, "n2")
    for node in ("n1", "n3"):
        until(lambda n=node: lines(n) == ["n1", "n1", "n3", "n3"], f"the nodefile of {node}")
    mode = os.stat(f"{cx.dir}/mom/n1/aux/{job}").st_mode
    assert mode & 0o777 == 0o644
    with daemon_frozen(cx, "n1"):
        cx.command("pbs_release_nodes", "-j", job, "n3")
        cx.kill("n1")
    cx.control("restart", "n1")
    until(lambda: lines("n1") == ["n1", "n1"], "the nodefile after its MOM was killed")
    assert cx.state(job) == "R"


@three
def test_half_a_nodefile_of_a_mom_that_was_killed_is_removed_by_the_next_one(cx):
    aux = os.path.join(cx.dir, "mom", "n2", "aux")
    job = spread(cx)
    running(cx, job)
    cx.kill("n2")
    with open(os.path.join(aux, f".{job}.4711.1.tmp"), "w", encoding="ascii") as f:
        f.write("n1\n")
    cx.restart("n2")
    until(lambda: sorted(os.listdir(aux)) == [job, f"{job}.tm"], lambda: os.listdir(aux))


@three
def test_release_nodes_says_which_vnodes_cannot_be_released(cx):
    job = spread(cx)
    running(cx, job)

    def refused(*words):
        done = cx.command("pbs_release_nodes", "-j", job, *words, check=False)
        assert done.returncode != 0
        return done.stderr

    assert "n1 is of the job's first host" in refused("n1")
    assert "n9 is not a vnode of the job" in refused("n9")
    assert "could not satisfy select chunk (ncpus=8)" in refused("-k", "1:ncpus=8")
    assert "no vnode of job" in refused("-k", "5")
    assert "exclude each other" in refused("-a", "n2")
    done = cx.command("pbs_release_nodes", "-a", check=False)
    assert done.returncode == 2 and "No jobid given" in done.stderr
    assert sorted(shepherds(cx, job)) == ["n1", "n2", "n3"]


@stores
def test_released_vnodes_stay_released_when_the_server_is_killed(cx, store):
    assert cx.store == store
    job = spread(cx)
    running(cx, job)
    with daemon_frozen(cx, "n3"):
        cx.command("pbs_release_nodes", "-j", job, "n3")
        cx.kill("server")
        cx.control("restart", "server")
        cx.again()
        s = cx.stat(job)
        assert s["exec_host"] == "n1/0*2+n2/0*2" and resources(s, "ncpus") == "4"
        assert free(cx) == []  # n3 has not said that it is clean
    until(lambda: free(cx) == ["n3"], "n3")
    cx.hosts_back()
    cx.api.rerun(job)
    s = running(cx, job, 2)
    assert s["exec_host"] == "n1/0*2+n2/0*2+n3/0*2" and resources(s, "ncpus") == "6"
    assert resources(s, "select") == "3:ncpus=2:mpiprocs=2"


@three
def test_release_nodes_on_stageout_leaves_the_first_host_when_the_script_is_over(cx):
    job = spread(cx, "exit 0", release_nodes_on_stageout="True")
    cx.wait_gone(job)
    assert cx.stat(job)["exec_host"] == "n1/0*2"
    assert "exec_host=n1/0*2 " in accounting(cx, job, "c")[0]
    assert "exec_host=n1/0*2+n2/0*2+n3/0*2" in accounting(cx, job, "E")[0]


@pytest.mark.complex(nodes=2)
def test_a_host_that_is_sent_START_by_a_restarted_server_has_the_cookie_of_the_others(cx):
    dsh = os.path.join(cx.build, "bin", "pbsdsh")
    with daemon_frozen(cx, "n2"):
        job = cx.submit(f"cd $PBS_O_WORKDIR\n{dsh} -n 1 -- /bin/sh -c 'echo $PBS_JOBCOOKIE > {cx.work}/there'\n"
                        "echo $PBS_JOBCOOKIE > here; " + LOOP, select="2:ncpus=1", l_place="scatter")
        until(lambda: shepherd(cx, job, "n1") or f"{job};run 1: taken" in cx.log("n1")
              or os.path.exists(f"{cx.dir}/mom/n1/mom_priv/jobs/{job}.1"), "START at n1")
        cx.kill("n2")  # what lay in its socket is gone
    cx.kill("server")
    cx.control("restart", "server")
    cx.control("restart", "n2")
    cx.again()
    until(lambda: cx.file("here") and cx.file("there"), "the script and its task")
    assert cx.file("here") == cx.file("there") and len(cx.file("here")) == 33
