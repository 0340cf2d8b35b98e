"""pbs_execsim, the second execution service: vnodes without hosts, jobs that only take time."""
import os
import subprocess

import pytest

from harness.complex import Complex
from harness.faults import is_alive, stays
from harness.wait import until

alone = pytest.mark.complex(nodes=0, history=True)
beside = pytest.mark.complex(nodes=2, history=True)


def write(cx, name, text):
    path = os.path.join(cx.top, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


def simulated(cx, ms=600000, **attrs):
    return cx.submit("true", Variable_List=f"PBS_O_WORKDIR=/,EXECSIM_MS={ms}", **attrs)


class Service:
    """pbs_execsim with these options; nodes come with its HELLO. Ended in good order."""

    def __init__(self, cx, *options):
        self.cx, self.options, self.process = cx, options, None

    def __enter__(self):
        self.process = subprocess.Popen([os.path.join(self.cx.build, "sbin", "pbs_execsim"),
                                         *map(str, self.options)], env=self.cx.env)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class ByHand(Service):
    """One whose jobs take the steps that the test says."""

    def __enter__(self):
        self.process = subprocess.Popen([os.path.join(self.cx.build, "sbin", "pbs_execsim"), "--by-hand",
                                         *map(str, self.options)], env=self.cx.env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def step(self, job, *words):
        """What the simulator answers, without the step itself."""
        self.process.stdin.write(" ".join([job, *words]) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n").split(": ", 1)[-1]


def nodes(cx, state=None):
    return sorted(n.name for n in cx.api.stat("vnode") if state in (None, n.state))


def ncpus(cx, node):
    return cx.node(node).get("resources_available", {}).get("ncpus")


# --- which nodes


@alone
def test_nodes_and_their_sizes_come_from_a_file(cx):
    path = write(cx, "cluster", "s[1-3] ncpus=4 mem=8gb\nbig[01-02] ncpus=64 mem=1tb  # two of them\n")
    with Service(cx, "--file", path):
        until(lambda: len(nodes(cx, "free")) == 5, "five nodes")
        assert cx.node("big02")["resources_available"]["ncpus"] == "64"
        job = simulated(cx, select="2:ncpus=64")
        assert {w.split("/")[0] for w in cx.wait(job)["exec_host"].split("+")} == {"big01", "big02"}


@pytest.mark.complex(nodes=0, sched=False)
def test_a_file_that_is_wrong_is_refused_with_its_line(cx):
    path = write(cx, "cluster", "s1 ncpus=4\ns2 ncpus\n")
    done = cx.command(f"{cx.build}/sbin/pbs_execsim", "--file", path, check=False)
    assert done.returncode == 1 and "line 2" in done.stderr and "RESOURCE=AMOUNT" in done.stderr


@pytest.mark.complex(nodes=0, sched=False)
def test_one_process_simulates_ten_thousand_nodes(cx):
    with Service(cx, "--nodes", 10000, "--prefix", "s"):
        until(lambda: len(cx.api.stat("vnode", want=["state"])) == 10000, "ten thousand nodes")
        until(lambda: cx.node("s10000").state == "free", "the last one")


# --- how long, and how it ends


@alone
def test_scaled_time_makes_an_hour_short_and_still_counts_as_an_hour(cx):
    with Service(cx, "--prefix", "s", "--scale", 3600):
        job = simulated(cx, ms=3600 * 1000)
        cx.wait_gone(job)
        assert cx.stat(job)["resources_used"]["walltime"] == "01:00:00"


@alone
def test_durations_and_exit_statuses_come_from_a_trace(cx):
    rules = write(cx, "rules", "run short* 0.1 7\nrun * 600\n")
    with Service(cx, "--prefix", "s", "--rules", rules):
        short = cx.submit("true", Job_Name="short1")
        long = cx.submit("true", Job_Name="other")
        cx.wait_gone(short)
        assert cx.stat(short)["Exit_status"] == "7" and cx.wait(long).state == "R"


@alone
def test_failures_and_refusals_come_by_rule_and_no_job_is_lost(cx):
    rules = write(cx, "rules", "fail 4 13\nrefuse 5\n")
    with Service(cx, "--prefix", "s", "--ncpus", 64, "--rules", rules):
        jobs = [simulated(cx, ms=1) for _ in range(20)]
        for job in jobs:
            cx.wait_gone(job)
        ends = [cx.stat(job)["Exit_status"] for job in jobs]
        assert ends.count("13") == 5 and ends.count("0") == 15
        assert sum(int(cx.stat(job)["run_count"]) - 1 for job in jobs) >= 4  # refused, and tried again


@alone
def test_a_slow_epilogue_holds_its_own_node_and_no_other(cx):
    rules = write(cx, "rules", "epilogue s2 600\n")
    with Service(cx, "--nodes", 3, "--prefix", "s", "--ncpus", 4, "--rules", rules):
        job = simulated(cx, ms=1, select="3:ncpus=4", l_place="scatter")
        cx.wait(job, "E")
        assert cx.stat(job)["Exit_status"] == "0"
        other = simulated(cx, select="2:ncpus=4", l_place="scatter")
        assert {w.split("/")[0] for w in cx.wait(other)["exec_host"].split("+")} == {"s1", "s3"}
        assert cx.state(job) == "E"
        cx.kill("server")
        cx.control("restart", "server")  # what is free already stays free
        cx.again()
        assert cx.node("s2")["resources_assigned"]["ncpus"] == "4"
        cx.api.delete(other, "force")
        until(lambda: cx.node("s1").get("resources_assigned", {}).get("ncpus", "0") == "0", "s1")


@alone
def test_lost_nodes_come_by_rule_with_the_jobs_on_them(cx):
    rules = write(cx, "rules", "lose s1 5 4\n")
    with Service(cx, "--nodes", 2, "--prefix", "s", "--ncpus", 4, "--rules", rules):
        job = simulated(cx, select="1:ncpus=4:vnode=s1", l_place="excl")
        cx.wait(job)
        until(lambda: "down" in cx.node("s1").state, "the loss")
        until(lambda: cx.node("s1").state in ("free", "job-exclusive", "job-busy,job-exclusive"), "its return")
        until(lambda: int(cx.stat(job)["run_count"]) == 2, "the second run")


@alone
def test_single_nodes_of_a_simulated_job_are_given_back_while_it_runs(cx):
    with Service(cx, "--nodes", 3, "--prefix", "s", "--ncpus", 4):
        job = simulated(cx, select="3:ncpus=4", l_place="scatter")
        cx.wait(job)
        until(lambda: cx.stat(job)["substate"] == "42", "the start")
        cx.command("pbs_release_nodes", "-j", job, "s2")
        until(lambda: cx.node("s2").get("resources_assigned", {}).get("ncpus", "0") == "0", "s2")
        assert cx.stat(job)["exec_host"] == "s1/0*4+s3/0*4" and cx.state(job) == "R"
        cx.api.delete(job)
        cx.wait_gone(job)


# --- beside a MOM


@beside
def test_a_simulator_takes_a_node_over_when_its_job_has_ended_and_hands_it_back(cx):
    job = cx.submit("cd $PBS_O_WORKDIR; while [ ! -e go ]; do sleep 0.05; done; exit 3",
                    select="1:ncpus=1:vnode=n1")
    until(lambda: (s := cx.stat(job)) and s["substate"] == "42", "the job")
    path = write(cx, "cluster", "n1 ncpus=64 mem=1tb\n")
    with Service(cx, "--file", path):
        until(lambda: "offline_by_mom" in cx.node("n1").state or "offline" in cx.node("n1").state, "the drain")
        assert "drained for sim:1" in cx.node("n1")["comment"]
        waiting = cx.submit("true", select="1:ncpus=1:vnode=n1")
        assert stays(lambda: cx.state(waiting) == "Q", 1) and cx.state(job) == "R"
        with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
            pass
        cx.wait_gone(job)
        assert cx.stat(job)["Exit_status"] == "3"  # nothing was taken from it
        until(lambda: ncpus(cx, "n1") == "64", "the hand-over")
        big = simulated(cx, select="1:ncpus=64")
        assert cx.wait(big)["exec_host"].startswith("n1/")
    cx.wait(big, "Q")  # the simulator has left, and with it its run
    until(lambda: ncpus(cx, "n1") == "4" and cx.node("n1").state == "free",
          "the hand-back")
    real = cx.submit("cd $PBS_O_WORKDIR; echo here > real", select="1:ncpus=1:vnode=n1")
    until(lambda: cx.file("real"), "a real job on n1 again")
    cx.wait_gone(real)


@beside
def test_a_node_that_waits_for_a_simulator_is_free_again_when_that_gives_up(cx):
    job = cx.submit(select="1:ncpus=1:vnode=n1")
    until(lambda: (s := cx.stat(job)) and s["substate"] == "42", "the job")
    path = write(cx, "cluster", "n1 ncpus=64\n")
    with Service(cx, "--file", path):
        until(lambda: "drained" in cx.node("n1").get("comment", ""), "the drain")
    until(lambda: cx.node("n1").state == "free" and "comment" not in cx.node("n1"), "the node")
    other = cx.submit(select="1:ncpus=1:vnode=n1")
    cx.wait(other)


@beside
def test_a_simulator_that_was_killed_leaves_its_nodes_to_the_mom(cx):
    cx.set_server("node_fail_requeue", "1")
    path = write(cx, "cluster", "n1 ncpus=64\n")
    with Service(cx, "--file", path) as sim:
        until(lambda: ncpus(cx, "n1") == "64", "the hand-over")
        job = simulated(cx, select="1:ncpus=64")
        cx.wait(job)
        sim.process.kill()
        until(lambda: not is_alive(sim.process.pid), "its end")
        until(lambda: ncpus(cx, "n1") == "4" and cx.node("n1").state == "free",
              "the hand-back")
    assert cx.state(job) == "Q"


# --- stepped time


def virtual(cx):
    """The server again, with a clock that only a simulator moves."""
    cx.stop_daemon("server")
    cx.command(f"{cx.build}/sbin/pbs_server", "--virtual")
    cx.again()
    until(lambda: cx.api.stat("sched")[0].state in ("idle", "scheduling"), "the scheduler")


def hours(cx, jobs):
    """When each job started and ended, in seconds after the first start."""
    found = [cx.stat(job) for job in jobs]
    zero = min(int(s["stime"]) for s in found)
    return [(int(s["stime"]) - zero, int(s["obittime"]) - zero) for s in found]


@alone
def test_in_stepped_time_hours_pass_as_fast_as_server_and_scheduler_can_think(cx):
    virtual(cx)
    jobs = [simulated(cx, ms=3600 * 1000) for _ in range(12)]
    with Service(cx, "--prefix", "s", "--ncpus", 4, "--virtual"):
        for job in jobs:
            cx.wait_gone(job)
        times = hours(cx, jobs)
        assert [end - start for start, end in times] == [3600] * 12  # to the second
        assert sorted(start for start, _ in times) == [0] * 4 + [3600] * 4 + [7200] * 4
        assert all(cx.stat(job)["resources_used"]["walltime"] == "01:00:00" for job in jobs)


@alone
def test_a_job_that_waits_for_tomorrow_starts_when_it_is_tomorrow(cx):
    virtual(cx)
    first = simulated(cx, ms=1000)
    with Service(cx, "--prefix", "s", "--virtual"):
        cx.wait_gone(first)
        begun = int(cx.stat(first)["stime"])
        job = simulated(cx, ms=1000, Execution_Time=str(begun + 86400))
        cx.wait_gone(job)
        assert int(cx.stat(job)["stime"]) - begun == 86400


@alone
def test_time_stands_still_without_jobs_and_without_a_simulator(cx):
    virtual(cx)
    first = simulated(cx, ms=60000)
    with Service(cx, "--prefix", "s", "--virtual"):
        cx.wait_gone(first)
        ended = int(cx.stat(first)["obittime"])
        assert stays(lambda: cx.state(first) == "F", 1)
        job = simulated(cx, ms=1000)
        assert int(cx.stat(job)["ctime"]) == ended  # no second has passed
        cx.wait_gone(job)


@beside
def test_a_mom_may_not_register_in_stepped_time_and_real_time_cannot_be_advanced(cx):
    with Service(cx, "--prefix", "s", "--virtual"):
        until(lambda: "time is real; start it with --virtual" in cx.log("server"), "the refusal")
        assert nodes(cx) == ["n1", "n2"]
    virtual(cx)
    until(lambda: "time is simulated; only a simulator" in cx.log("server"), "the refusal")
    with Service(cx, "--prefix", "s", "--virtual"):
        until(lambda: "s1" in nodes(cx, "free"), "the simulated node")
        assert "down" in cx.node("n1").state or "unknown" in cx.node("n1").state


def one_day(store):
    """Start and end of each job of a day that is simulated in a complex of its own."""
    cx = Complex(nodes=0, history=True, store=store)
    try:
        cx.start()
        virtual(cx)
        cx.set_server("scheduling", "False")
        jobs = [simulated(cx, ms=(1 + 7 * i % 11) * 1000000, select=f"1:ncpus={1 + i % 4}", Priority=str(i % 3))
                for i in range(40)]
        array = cx.submit("true", array_indices_submitted="0-399", Job_Name="short")
        rules = write(cx, "rules", "run short 100-900\n")
        cx.set_server("scheduling", "True")
        with Service(cx, "--prefix", "s", "--nodes", 2, "--ncpus", 4, "--rules", rules, "--virtual"):
            for job in [*jobs, array]:
                cx.wait_gone(job)
            return hours(cx, [*jobs, *(array.replace("[]", f"[{i}]") for i in range(400))])
    finally:
        cx.stop()


def test_the_same_day_twice_is_the_same_to_the_second_in_both_stores():
    first = one_day("sqlite")
    assert first == one_day("sqlite") == one_day("postgres")
    assert max(end for _, end in first) > 20000


# --- what else may happen to a job


@alone
def test_a_job_that_crashes_by_rule_goes_back_or_ends_as_it_allows(cx):
    rules = write(cx, "rules", "crash bad* 0.2\nrun * 600\n")
    with Service(cx, "--prefix", "s", "--rules", rules):
        once = cx.submit("true", Job_Name="bad1", Rerunable="False")
        cx.wait_gone(once)
        assert cx.stat(once)["Exit_status"] == "-20"
        again = cx.submit("true", Job_Name="bad2")
        until(lambda: int(cx.stat(again).get("run_count", 0)) > 1, "another run of it")
        assert cx.wait(cx.submit("true", Job_Name="good")).state == "R"


@alone
def test_a_preempted_job_is_saved_and_only_runs_the_rest_afterwards(cx):
    virtual(cx)
    cx.set_server("scheduling", "False")
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", "C")
    job = cx.submit("true", select="1:ncpus=4", Rerunable="False")
    begin = int(cx.stat(job)["ctime"])  # the clock does not move
    urgent = cx.submit("true", select="1:ncpus=4", queue="express", Job_Name="urgent", Execution_Time=str(begin + 3600))
    cx.set_server("scheduling", "True")
    rules = write(cx, "rules", "run urgent 600\nrun * 36000 7\ncheckpoint 30 60\n")
    with Service(cx, "--prefix", "s", "--ncpus", 4, "--rules", rules, "--virtual"):
        cx.wait_gone(job)
        first, then = cx.stat(urgent), cx.stat(job)
        assert int(first["stime"]) == begin + 3600 + 30 and int(first["obittime"]) == begin + 3600 + 30 + 600
        assert int(then["stime"]) == int(first["obittime"]) and then["run_count"] == "2"
        assert int(then["obittime"]) - int(then["stime"]) == 60 + 36000 - 3600
        assert then["Exit_status"] == "7"


@alone
def test_jobs_of_a_span_have_lengths_of_their_own_which_are_the_same_in_every_run(cx):
    virtual(cx)
    rules = write(cx, "rules", "run * 1000-9000\n")
    cx.set_server("scheduling", "False")
    jobs = [cx.submit("true") for _ in range(8)]
    cx.set_server("scheduling", "True")
    with Service(cx, "--prefix", "s", "--ncpus", 8, "--rules", rules, "--virtual"):
        for job in jobs:
            cx.wait_gone(job)
        lengths = [end - start for start, end in hours(cx, jobs)]
    assert len(set(lengths)) > 4 and all(1000 <= n <= 9000 for n in lengths)


# --- by hand


@pytest.mark.complex(nodes=0, history=True)
def test_a_test_decides_when_a_simulated_job_starts_ends_and_fails(cx):
    with ByHand(cx, "--nodes", 1) as sim:
        job = cx.submit("true", Variable_List="PBS_O_WORKDIR=/,EXECSIM_MS=0")
        until(lambda: sim.step(job, "finish", "0") == "it has not started", "START")
        assert cx.stat(job)["substate"] == "41"
        until(lambda: sim.step(job, "start") == "done", "its start")
        until(lambda: cx.stat(job)["substate"] == "42", "a job that runs")
        assert sim.step(job, "start") == "it has started"
        assert sim.step(job, "fail") == "done"
        until(lambda: cx.stat(job)["run_count"] == "2" and sim.step(job, "start") == "done", "its second run")
        assert sim.step(job, "finish", "7") == "done"
        cx.wait_gone(job)
        s = cx.stat(job)
        assert s["Exit_status"] == "7" and s["run_count"] == "2"
        assert sim.step("9.nowhere", "start") == "it is not here"
        assert sim.step(job, "dance") == "the steps are: start, finish STATUS, fail"


def counts(cx, array):
    """How many subjobs are in which state, as the array says."""
    return dict(w.split(":") for w in cx.stat(array)["array_state_count"].split())


@alone
def test_ten_thousand_requeues_at_once_do_not_make_server_and_simulator_wait_for_each_other(cx):
    """Both ask all at once, each more than the other's socket holds."""
    n = 10000
    cx.set_server("max_array_size", n)
    with Service(cx, "--nodes", 1000, "--ncpus", 10, "--prefix", "s"):
        array = simulated(cx, 3600000, array_indices_submitted=f"0-{n - 1}", Rerunable="True")
        until(lambda: counts(cx, array)["Running"] == str(n), "all run", 170)
        cx.set_server("scheduling", "False")
        cx.kill("server")
        cx.restart("server")
        cx.again()
        until(lambda: all(v.state in ("job-busy", "free") for v in cx.api.stat("vnode", want=["state"])),
              "the simulator is back", 100)
        cx.api.rerun(array)
        until(lambda: counts(cx, array)["Queued"] == str(n), "all are back", 100)
        cx.set_server("scheduling", "True")
        until(lambda: counts(cx, array)["Running"] == str(n), "all run again", 170)
        assert all(v.state in ("job-busy", "free") for v in cx.api.stat("vnode"))
        assert "nothing was heard of" not in cx.log("server")
