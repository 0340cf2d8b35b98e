"""The public C API: what a program written for PBS includes and calls, and a scheduler that is not ours."""
import glob
import os
import re
import shutil
import subprocess
import threading
import time

import pytest

from harness import build
from harness.complex import Complex
from harness.installed import ROOT, Installed
from harness.sim import Simulator
from harness.wait import LIMIT_S, until

HANG_S = 180
plain = pytest.mark.skipif(build.is_sanitized(), reason="a plain program cannot link a sanitized library")
alone = pytest.mark.complex(nodes=0, sched=False)


@pytest.fixture(params=["private", "installed"])
def bare(request):
    """A complex that has a server and nothing else: of the build tree, and as a site installs it."""
    if request.param == "private":
        c = Complex(nodes=0, sched=False)
    else:
        c = Installed(PBS_START_MOM=0, PBS_START_SCHED=0, PBS_START_COMM=0)
    try:
        yield c.start()
    finally:
        c.stop()


# --- headers


@plain
def test_types_constants_and_signatures_are_those_of_pbs(shared):
    done = subprocess.run([build.program(shared, "ifl_contract")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@plain
def test_every_name_of_an_attribute_is_that_of_pbs(shared):
    """programs/attr_names.txt has a line for each ATTR_name: name=string."""
    with open(os.path.join(build.PROGRAMS, "attr_names.txt"), encoding="ascii") as f:
        pairs = [line.rstrip("\n").split("=", 1) for line in f]
    assert len(pairs) > 300
    lines = [f"ATTR_{name}, \"{text}\"" for name, text in pairs]
    source = os.path.join(shared.work, "names.c")
    with open(source, "w", encoding="ascii") as f:
        f.write("#include <pbs_ifl.h>\n#include <string.h>\n#include <stdio.h>\nint main(void)\n{\n"
                "#define IS(name, text) if (strcmp(name, text)) printf(#name \" is %s\\n\", name);\n")
        f.writelines(f"IS({line})\n" for line in lines)
        f.write("}\n")
    subprocess.run(["gcc", "-I", build.INCLUDE, source, "-o", source[:-2]], check=True)
    assert subprocess.run([source[:-2]], capture_output=True, text=True, check=True).stdout == ""


@plain
@pytest.mark.parametrize("header", ["pbs_ifl.h", "pbs_error.h", "pbs_ext.h", "tm.h", "tm_.h", "rm.h"])
def test_each_header_compiles_alone_also_in_cxx(tmp_path, header):
    both = [("c", "c99"), ("c++", "c++11")]
    for language, standard in both if shutil.which("g++") else both[:1]:
        subprocess.run(["gcc", "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I",
                        build.INCLUDE, "-"], input=f"#include <{header}>\n", text=True, check=True)


# --- rm.h


MONITOR = r"""
#include <pbs_error.h>
#include <pbs_ifl.h>
#include <rm.h>
#include <stdio.h>
#include <stdlib.h>

static void say(int s)
{
    char *line = getreq(s);

    printf("%s %d\n", line ? line : "nothing", line ? 0 : pbs_errno);
    free(line);
}

static void code(int rc)
{
    printf("%d %d\n", rc, rc < 0 ? pbs_errno : 0);
}

int main(void)
{
    char host[] = "s1", nobody[] = "nobody", ncpus[] = "ncpus", mem[] = "mem[x=y]", what[] = "what", empty[] = "";
    int a = openrm(host, 0), b = openrm(host, 15003);

    printf("%d %d %d\n", a >= 0, b > a, openrm(nobody, 0));
    printf("%d ", addreq(a, ncpus));
    printf("%d ", allreq(mem));
    printf("%d\n", addreq(a, what));
    printf("%d ", flushreq());
    printf("%d\n", activereq() == a);
    say(a);
    say(a);
    say(a);
    say(a);
    fullresp(0);
    printf("%d\n", addreq(b, ncpus));
    say(b);
    say(b);
    code(addreq(a, empty));
    code(configrm(a, host));
    code(downrm(a));
    printf("%d %d\n", closerm(a), closerm(b));
    code(closerm(a));
    return 0;
}
"""


@plain
@alone
def test_a_monitor_asks_what_a_host_offers(cx):
    source = os.path.join(cx.work, "monitor.c")
    with open(source, "w", encoding="ascii") as f:
        f.write(MONITOR)
    lib = os.path.join(os.environ["CEDE_BUILD"], "lib")
    subprocess.run(["gcc", "-I", build.INCLUDE, source, "-o", source[:-2], f"-L{lib}", "-lpbs", f"-Wl,-rpath,{lib}"],
                   check=True)
    with Simulator(cx, nodes=1, ncpus=4, mem="64gb"):
        mem = cx.api.stat("vnode", "s1")[0]["resources_available"]["mem"]
        assert cx.command(source[:-2]).stdout.splitlines() == [
            "1 1 -1", "0 2 0", "2 1", "ncpus=4 0", f"mem={mem} 0", "what=? 15201 0", "nothing 0",
            "0", f"mem={mem} 0", "4 0", "-1 15203", "-1 15029", "-1 15029", "0 0", "-1 15202"]


# --- a scheduler that is not ours


class Outside:
    """programs/outside.c: says what it was told, does what it is told."""

    def __init__(self, cx, name="default"):
        self.process = subprocess.Popen([build.program(cx, "outside"), name], env=cx.env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.states, self.wakes, self.now = {}, [], 0
        self.guard = threading.Timer(HANG_S, self.process.kill)  # a test that waits in vain fails, and does not hang
        self.guard.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.guard.cancel()
        self.process.kill()
        self.process.wait()

    def line(self):
        return self.process.stdout.readline().rstrip()

    def tell(self, *words):
        self.process.stdin.write(" ".join(str(w) for w in words) + "\n")
        self.process.stdin.flush()

    def do(self, *words):
        """The answer to an order: "0" where it was done."""
        self.tell(*words)
        return self.line()

    def next(self):
        """Wait for news, and take them in."""
        self.tell("next")
        while True:
            kind, *rest = self.line().split()
            if kind == "now":
                self.now = int(rest[0])
                return
            if kind == "job":
                self.states[rest[0]] = rest[1]
            elif kind == "gone":
                self.states[rest[0]] = "gone"
            elif kind == "wake":
                self.wakes.append(rest)
            else:
                raise AssertionError(f"the outside scheduler says {kind} {rest}")

    def sees(self, job, *states):
        end = time.monotonic() + LIMIT_S
        while self.states.get(job) not in states:
            assert time.monotonic() < end, f"{job} is {self.states.get(job)}, not {states}"
            self.next()


@plain
def test_an_outside_scheduler_comments_runs_and_holds(bare):
    cx = bare
    with Simulator(cx, nodes=1, ncpus=4) as sim, Outside(cx) as out:
        jobs = [sim.job(select="1:ncpus=1") for _ in range(2)]
        out.sees(jobs[0], "Q")
        out.sees(jobs[1], "Q")
        assert out.do("comment", jobs[1], "later") == "0"
        assert out.do("run", jobs[0], "(s1:ncpus=1)") == "0"
        out.sees(jobs[0], "R")
        assert cx.stat(jobs[1])["comment"] == "later"
        assert out.do("hold", jobs[1]) == "0"
        out.sees(jobs[1], "H")
        assert out.do("run", jobs[1], "(s1:ncpus=4)").startswith("15016 ")
        assert out.do("release", jobs[1]) == "0"
        out.sees(jobs[1], "Q")
        assert out.do("run", jobs[1], "(s1:ncpus=4)").startswith("15044 ")
        assert out.do("delete", jobs[0]) == "0"
        out.sees(jobs[0], "gone", "F")


@plain
@pytest.mark.parametrize("order, letter, state", [("S", "S", "S"), ("R", "Q", "Q"), ("D", "D", None)])
def test_an_outside_scheduler_preempts(bare, order, letter, state):
    cx = bare
    cx.set_sched("preempt_order", order)
    with Simulator(cx, nodes=1, ncpus=4) as sim, Outside(cx) as out:
        victim, urgent = sim.job(select="1:ncpus=4"), sim.job(select="1:ncpus=4")
        out.sees(victim, "Q")
        assert out.do("run", victim, "(s1:ncpus=4)") == "0"
        cx.wait(victim, "R")
        assert out.do("preempt", victim) == f"{victim}={letter}"
        assert cx.state(victim) == state
        assert out.do("run", urgent, "(s1:ncpus=4)") == "0"
        cx.wait(urgent, "R")
        if order == "S":
            out.do("delete", urgent)
            cx.wait_gone(urgent)
            assert out.do("signal", victim, "resume") == "0"
            cx.wait(victim, "R")


@plain
def test_an_outside_scheduler_plans_and_the_server_starts_the_job(bare):
    cx = bare
    cx.set_sched("preempt_order", "R")
    with Simulator(cx, nodes=1, ncpus=4) as sim, Outside(cx) as out:
        victim, urgent = sim.job(select="1:ncpus=4"), sim.job(select="1:ncpus=4")
        out.sees(victim, "Q")
        assert out.do("run", victim, "(s1:ncpus=4)") == "0"
        cx.wait(victim, "R")
        run = cx.stat(victim)["run_version"]
        assert out.do("plan", urgent, "(s1:ncpus=4)", victim, run, "R") == "0"
        out.sees(urgent, "R")
        cx.wait(victim, "Q")


@plain
def test_an_outside_scheduler_answers_qrun(bare):
    cx = bare
    with Simulator(cx, nodes=1, ncpus=4) as sim, Outside(cx) as out:
        job = sim.job(select="1:ncpus=1")
        out.sees(job, "Q")
        qrun = subprocess.Popen([os.path.join(cx.build, "bin", "qrun"), job], env=cx.env, text=True,
                                stderr=subprocess.PIPE)
        until(lambda: out.next() or ["11", job] in out.wakes, "the wake")
        assert out.do("reply", 15044) == "0"
        said = qrun.communicate()[1]
        assert qrun.returncode != 0 and "the outside scheduler says no" in said


@plain
@pytest.mark.complex(nodes=0, sched=False, history=True)
def test_an_outside_scheduler_sees_an_hour_pass_in_stepped_time(cx):
    """It is asked to wait for news as any scheduler is, and the clock moves when nothing else is to be done."""
    cx.stop_daemon("server")
    cx.command(f"{cx.build}/sbin/pbs_server", "--virtual")
    cx.again()
    with Simulator(cx, nodes=1, ncpus=4, options=["--virtual"]) as sim, Outside(cx) as out:
        job = sim.job(ms=3600000, select="1:ncpus=1")
        out.sees(job, "Q")
        begun = out.now
        assert out.do("run", job, "(s1:ncpus=1)") == "0"
        out.sees(job, "gone", "F")
        assert out.now - begun == 3600


@plain
def test_each_call_of_our_scheduler_is_declared_and_offered_to_all(bare):
    """What pbs_sched calls of libpbs stands in the headers, with its reason, and is exported; so others can do it, too."""
    calls = set()
    for source in glob.glob(os.path.join(ROOT, "sched", "*.c")):
        with open(source, encoding="utf-8") as f:
            calls |= set(re.findall(r"\b(pbs_[a-z_]+)\(", re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)))
    assert {"pbs_watch", "pbs_preempt_run_send", "pbs_asyrunjob_send", "pbs_explain_reply_send"} <= calls
    include = os.path.join(bare.exec, "include") if hasattr(bare, "exec") else build.INCLUDE
    lib = os.path.join(bare.exec if hasattr(bare, "exec") else bare.build, "lib", "libpbs.so")
    declared = ""
    for header in ("pbs_ifl.h", "pbs_ext.h"):
        with open(os.path.join(include, header), encoding="utf-8") as f:
            declared += f.read()
    exported = subprocess.run(["nm", "-D", "--defined-only", "--without-symbol-versions", lib], capture_output=True, text=True, check=True).stdout
    for call in calls:
        assert re.search(rf"\b{call}\(", declared) and re.search(rf" T {call}$", exported, re.M), call


# --- threads and one parked call


@plain
def test_eight_threads_share_a_connection_on_which_a_call_is_parked(bare):
    """A preemption of a job whose host does not answer is parked; the others go on, and each has its own error."""
    cx = bare
    with Simulator(cx, nodes=1, ncpus=4, die_ms=3000) as sim:
        job = sim.job(select="1:ncpus=1")
        program = build.program(cx, "eight_threads")
        cx.set_sched("preempt_order", "R")
        done = cx.command(program, job)
        assert done.stdout.split() == ["ok"] * 8 + [f"{job}=Q"]


# --- errors and extend strings


@plain
@pytest.mark.complex(nodes=0, sched=False, history=True)
def test_errors_are_each_connections_own_and_extend_strings_mean_what_they_do_in_pbs(cx):
    with Simulator(cx, nodes=1, ncpus=4) as sim:
        job = sim.job(select="1:ncpus=1")
        array = sim.job(array_indices_submitted="1-3")
        cx.api.run(job, "(s1:ncpus=1)")
        cx.wait(job, "R")
        assert cx.command(build.program(cx, "extend"), job, array, "workq").stdout.splitlines() == [
            "job 15001", "queue 15018", "Unknown Job Id 999999|Unknown queue none", "0 Unknown queue none",
            "alter 1", "Priority 15014", "unheard 15002", "after 0",
            "all 2", "all t 5", "queue t 5", "select 2", "select T 4", "888888 15001"]
        cx.wait_gone(job)
        cx.wait_gone(array)
        assert len(cx.api.stat("job", extend="x")) == 2 and not cx.api.stat("job")
