"""What preemption takes: by each method on real hosts, its grace, its decision, and what others feel of it."""
import glob
import os
import subprocess
import time

import bare  # beside this file
from show import ms, note, row

SLEEP = ("executable", None, "<jsdl-hpcpa:Executable>/bin/sleep</jsdl-hpcpa:Executable>")
LONG = ("argument_list", None, "<jsdl-hpcpa:Argument>3600</jsdl-hpcpa:Argument>")
# letter: words, and for N = 1, 10, 100, 1000 the aims and what OpenPBS took
METHODS = {
    "S": ("suspension", ("20 ms", "30 ms", "100 ms", ""), ("50 ms", "60 ms", "330 ms", "")),
    "R": ("requeue", ("300 ms",) * 3 + ("",), ("9-11 s",) * 3 + ("",)),
    "D": ("deletion", ("300 ms",) * 3 + ("",), ("9-11 s",) * 3 + ("",)),
    "C": ("checkpoint", ("",) * 4, ("",) * 4),
}
SIZES = (1, 10, 100, 1000)
# The image of a job that keeps nothing: what is left is the cost of saving itself.
SAVE = '#!/bin/sh\nmkdir "$1" && echo image > "$1/image"\n'
GRACE_S = 1
# Says when TERM has come and what its notice had announced (warned.c).
WARNED = """#!/bin/sh
exec {warned} {dir}/$PBS_JOBID
"""


def checkpoints(cx):
    """Each MOM of the complex saves jobs from now on."""
    for priv in glob.glob(os.path.join(cx.dir, "mom", "*", "mom_priv")):
        path = os.path.join(priv, "save")
        with open(path, "w", encoding="ascii") as f:
            f.write(SAVE)
        os.chmod(path, 0o755)
        with open(os.path.join(priv, "config"), "a", encoding="ascii") as f:
            f.write(f"$action checkpoint_abort 60 !{path} %path\n")
        cx.restart(os.path.basename(os.path.dirname(priv)))


def until_started(connection, job):
    """By the delta stream, which costs the server nothing meanwhile."""
    watch = connection.watch_job(job)
    while "R" not in (o.get("job_state") for o in watch.objects.values()):
        watch.next()


class Preemption:
    """Parts of the bench; `self` has complex, api, items() and fill() of run."""

    def until(self, cx, n, *criteria):
        while len(cx.api.select([(name, None, value, self.api.EQ) for name, value in criteria])) < n:
            time.sleep(0.05)

    def until_running(self, cx, n):
        self.until(cx, n, ("job_state", "R"))

    # --- by real hosts
    def preempt(self):
        print("From submission of an urgent job to its start, when N one-cpu jobs on real hosts must give way")
        for n in SIZES:
            alone = self.stopped_alone(n)
            for letter, took in self.by_each_method(n).items():
                words, aims, figures = METHODS[letter]
                i = SIZES.index(n)
                row(f"{words}, N = {n}", ms(min(took)), aims[i], figures[i])
                note(f"the best of {len(took)}; the slowest {ms(max(took))}")
                if letter in alone:
                    verb, least = alone[letter]
                    note(f"{verb} alone takes {ms(least)}, the whole {min(took) / least:.1f} times that; aim at 100: 2")

    @staticmethod
    def stopped_alone(n):
        """By letter of the method, in words and seconds, the least that the kernel takes for the programs of n victims."""
        frozen, killed = zip(*(bare.stop_alone(["/bin/sleep", "3600"], n) for _ in range(1 if n >= 1000 else 5)))
        out = dict.fromkeys("RD", ("killing and reaping", min(killed)))
        if None in frozen:
            note("what freezing alone takes: no freezer of cgroups that this user may write to")
            return out
        return {"S": ("freezing", min(frozen)), **out}

    def by_each_method(self, n):
        hosts = 4 if n >= 1000 else 1
        cx = self.complex(nodes=hosts, ncpus=n // hosts).start()
        try:
            checkpoints(cx)
            cx.make_queue("express", Priority="200")
            items = self.items() + [SLEEP, LONG]
            return {letter: [self.one_in_the_room_of(cx, items, letter, n) for _ in range(1 if n >= 1000 else 5)]
                    for letter in METHODS}
        finally:
            cx.stop()

    def one_in_the_room_of(self, cx, items, letter, n):
        """Seconds; before it all N jobs run, and each has said that its program is there."""
        self.fill([cx.api], n - len(cx.api.select()), None, items=items)
        self.until(cx, n, ("job_state", "R"), ("substate", "42"))
        cx.set_sched("preempt_order", letter)
        hosts = len(cx.api.stat("vnode"))
        items, mine = [*items, ("Resource_List", "select", f"{hosts}:ncpus={n // hosts}")], cx.connect()
        begin = time.monotonic()
        job = mine.submit(items, None, "express")
        until_started(mine, job)
        took = time.monotonic() - begin
        mine.close()
        cx.api.delete(job)
        cx.wait_gone(job)
        return took

    # --- grace
    def grace(self):
        print(f"Grace of {GRACE_S} s before a requeue: from the announced deadline to the signal, in the victims")
        for n in (1, 10, 100):
            late = self.graces(n)
            row(f"N = {n}, median", ms(late[len(late) // 2]), "50 ms")
            row("  the latest", ms(late[-1]), "50 ms")
            row("  the earliest", ms(late[0]), "0 ms")

    def graces(self, n):
        cx = self.complex(nodes=1, ncpus=n).start()
        try:
            cx.make_queue("express", Priority="200")
            cx.set_sched("preempt_order", "R")
            cx.set_sched("preempt_grace", str(GRACE_S))
            warned = os.path.join(os.environ["CEDE_BUILD"], "test/bench/warned")
            said = os.path.join(cx.work, "said")
            os.mkdir(said)
            os.chmod(said, 0o1777)
            self.fill([cx.api], n, cx.script(WARNED.format(dir=said, warned=warned)))
            while sum(name.endswith(".ready") for name in os.listdir(said)) < n:
                time.sleep(0.05)
            items = self.items() + [SLEEP, LONG, ("Resource_List", "select", f"1:ncpus={n}")]
            until_started(cx.api, cx.api.submit(items, None, "express"))
            late = []
            for name in set(glob.glob(f"{said}/*")) - set(glob.glob(f"{said}/*.ready")):
                with open(name, encoding="ascii") as f:
                    words = f.read().split()
                late += [float(words[0]) - float(words[1])] if words else []
            return sorted(late)
        finally:
            cx.stop()

    # --- thousands
    def many_victims(self):
        """10,000 one-cpu jobs on 1,000 simulated nodes: the decision, the whole, and what others feel of it."""
        print("10,000 running one-cpu jobs on 1,000 simulated nodes: an urgent job in the room of N of them")
        self.decision_alone()
        from harness.sim import Simulator
        cx = self.complex(nodes=0).start()
        try:
            with Simulator(cx, nodes=1000, ncpus=10):
                cx.make_queue("express", Priority="200")
                items = self.items(Variable_List="PBS_O_WORKDIR=/tmp,EXECSIM_MS=3600000")
                self.fill([cx.api], 10000, cx.script("true"), items=items)
                self.until_running(cx, 10000)
                for order, words in (("S", "suspension"), ("R", "requeue"), ("D", "deletion")):
                    cx.set_sched("preempt_order", order)
                    # the first is not counted: after a change of policy all jobs are looked at again
                    self.one_urgent(cx, items, words + ", the first after qmgr", 1)
                    for n in SIZES:
                        self.one_urgent(cx, items, words, n)
        finally:
            cx.stop()

    @staticmethod
    def decision_alone():
        """The scheduler's core alone, as its own test prints it."""
        program = os.path.join(os.environ["CEDE_BUILD"], "test/sched/core/cycle/cycle_test")
        if not os.path.exists(program):
            return note(f"the decision alone: make {program} builds what prints it")
        best = {}
        for _ in range(5):
            for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
                if "urgent job that needs" in line:
                    words = line.split()
                    best[words[0]] = min(best.get(words[0], 1e9), int(words[-2]))
        for n, us in best.items():
            row(f"the decision alone, {n} victims", ms(us / 1e6), "50 ms")
        return None

    @staticmethod
    def choice_alone():
        """Each choice against all other sets of victims, in small worlds, as the test of the core prints it."""
        program = os.path.join(os.environ["CEDE_BUILD"], "test/sched/core/preempt/pick_best_test")
        if not os.path.exists(program):
            return note(f"the choice alone: make {program} builds what prints it")
        out = subprocess.run([program, "1", "150"], check=True, capture_output=True, text=True).stdout
        for line in out.splitlines():
            if not line.startswith("gap\t"):
                continue
            rule, n, best, *more, over, ratio, single, unknown = line.split("\t")[1:]
            row(f"{n} choices in small worlds, {rule}: price, of the best", ratio)
            note(f"{best} are the best; up to 5, 25, 100 percent dearer: {', '.join(more)}; more: {over}; in {single} one victim "
                 f"is the best; {unknown} others have too many sets")
        return None

    def one_urgent(self, cx, items, words, n):
        """While it waits somebody asks for the state of one job, again and again: what the slowest of 99 in 100 took."""
        answers, begin = [], time.monotonic()
        job = cx.api.submit([*items, ("Resource_List", "select", f"{n}:ncpus=1")], cx.script("true"), "express")
        while True:
            before = time.monotonic()
            state = cx.state(job)
            answers.append(time.monotonic() - before)
            if state == "R" or time.monotonic() - begin > 60:
                break
        row(f"{words}, N = {n}", ms(time.monotonic() - begin) if state == "R" else "over 60 s")
        if len(answers) >= 100:
            note(f"a status call meanwhile: 99th percentile {ms(sorted(answers)[len(answers) * 99 // 100])}")
        else:
            note(f"a status call meanwhile: the slowest of {len(answers)} {ms(max(answers))}")
        cx.api.delete(job)
        self.until_running(cx, 10000 - n if words.startswith("deletion") else 10000)
        if words.startswith("deletion"):
            self.fill([cx.api], n, cx.script("true"), items=items)
            self.until_running(cx, 10000)
