"""Programs that speak PMIx: what their start takes beside the launchers of MPI libraries, what their helper costs, how soon they answer."""
import os
import re
import shutil
import statistics

from show import ms, note, row

RANKS = 64
ROUNDS = 7
# In a job whose nodefile has a line for each rank.
LAUNCHERS = (
    ("pbs_launch", "pbs_launch", f"pbs_launch -n {RANKS} --bind=none", "150 ms"),
    ("mpirun of Open MPI", "mpirun.openmpi", f"mpirun.openmpi -n {RANKS} --bind-to none", ""),
    ("mpiexec.hydra", "mpiexec.hydra", f"mpiexec.hydra -n {RANKS}", ""),
)
TIMED = """for i in $(seq {rounds}); do
a=$(date +%s.%N); timeout 10 {words} /bin/true >&2; rc=$?; b=$(date +%s.%N); echo {name} $a $b $rc; [ $rc = 0 ] || break
done
"""
NOTICE = re.compile(r"(\d+):(\d+):(\d+\.\d+);[^;]*;[^;]*;Job;[^;]*;(Notice: will be|answers its notice)")


def private_bytes(pid):
    """Without the pages of its libraries, which it shares with other helpers."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        return sum(int(line.split()[1]) * 1024 for line in f if line.startswith("Private_Dirty"))


class Ranks:
    """A part of the bench; `self` has complex of run."""

    def ranks(self):
        self.launches()
        self.helper()
        self.alerts()

    def launches(self):
        for hosts in (1, 4):
            print(f"{RANKS} ranks of /bin/true over {hosts} host{'s' * (hosts > 1)}, from the launcher's start to its end")
            cx = self.complex(nodes=hosts, ncpus=RANKS // hosts).start()
            try:
                took = self.launched(cx, hosts)
                for name, _, _, aim in LAUNCHERS:
                    if took.get(name):
                        row(name, ms(statistics.median(took[name])), aim)
                        note(f"median of {len(took[name])}; the quickest {ms(min(took[name]))}, the slowest {ms(max(took[name]))}")
                    else:
                        note(f"not measured: {name}")
            finally:
                cx.stop()

    def launched(self, cx, hosts):
        """{launcher: [seconds]} of those that have succeeded; they take turns within one job."""
        from harness.tasks import output_of, start
        names = {program: name for name, program, _, _ in LAUNCHERS}
        text = "".join(TIMED.format(rounds=ROUNDS, name=program, words=words) for _, program, words, _ in LAUNCHERS
                       if program == "pbs_launch" or shutil.which(program))
        each = RANKS // hosts
        job = start(cx, text, f"{hosts}:ncpus={each}:mpiprocs={each}", l_place="scatter")
        took = {}
        for line in output_of(cx, job).splitlines():
            words = line.split()
            if len(words) == 4 and words[0] in names and words[3] == "0":
                took.setdefault(names[words[0]], []).append(float(words[2]) - float(words[1]))
        return took

    def helper(self):
        from harness.shepherds import helper_pid
        from harness.tasks import running
        import host
        print("The PMIx helper of a job on a host")
        cx = self.complex(nodes=1, ncpus=4).start()
        try:
            private, cpu = [], []
            for _ in range(ROUNDS):
                job = running(cx, "exec sleep 600", pmix="True")
                pid = helper_pid(cx, job, "n1")
                private.append(private_bytes(pid))
                with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
                    cpu.append(int(f.read().split()[0]) / 1e9)
                cx.api.delete(job)
                cx.wait_gone(job)
                os.unlink(os.path.join(cx.work, "begun"))
            row("memory of its own", f"{statistics.median(private) / 2**20:.2f} MB", "2 MB")
            row("processor time until the job has begun", ms(statistics.median(cpu)), "10 ms")
        finally:
            cx.stop()

    def alerts(self):
        """By the server's own log, so with the whole way: server, MOM, shepherd, helper, program, and back."""
        print("From the alert to the answer of a program that answers at once")
        if not shutil.which("pkg-config"):
            return note("not measured: there is no pkg-config")
        cx = self.complex(nodes=1, ncpus=1, sched=False).start()
        try:
            took = [self.one_alert(cx) for _ in range(3 * ROUNDS)]
            row(f"median of {len(took)}", ms(statistics.median(took)), "5 ms")
            row("  the slowest", ms(max(took)))
        finally:
            cx.stop()
        return None

    def one_alert(self, cx):
        from harness.build import pmix_program
        from harness.tasks import start
        from harness.wait import until
        pmix_program(cx, "pmix_talk")
        cx.blank("talk.0")
        job = start(cx, "pbs_launch -K 0 ./pmix_talk talk event ready", Rerunable="y")
        cx.api.run(job, "(n1:ncpus=1)")
        until(lambda: (cx.stat(job) or {}).get("checkpoint_by") == "pmix", "the declaration")
        cx.set_sched("preempt_order", "R")
        cx.set_sched("preempt_grace", "600")
        c = cx.connect()
        c.register("default")
        urgent = cx.submit("exit 0")
        c.preempt_run(urgent, "(n1:ncpus=1)", [job])
        cx.wait_gone(urgent)
        c.close()
        cx.api.delete(job)
        cx.wait_gone(job)
        lines = [x for x in cx.log("server").splitlines() if f";{job};" in x]
        at = {m[4]: int(m[1]) * 3600 + int(m[2]) * 60 + float(m[3]) for m in map(NOTICE.search, lines) if m}
        return at["answers its notice"] - at["Notice: will be"]
