"""What hooks cost: submissions, starts and long lists of vnodes with and without them."""
import os
import time

import host
from show import ms, note, rate, row

ACCEPTS = "import pbs\npbs.event().accept()\n"
COUNTS = "import pbs, time\ne = pbs.event()\nbegin = time.monotonic()\nn = len(e.vnode_list)\nfor v in e.vnode_list.values():\n    v.state\n    v.resources_available['ncpus']\n" \
    "pbs.logmsg(pbs.LOG_DEBUG, 'saw %d in %f' % (n, time.monotonic() - begin))\n"


def make(cx, name, event, text, **attrs):
    path = os.path.join(cx.work, name + ".py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    given = "".join(f",{k}={v}" for k, v in attrs.items())
    cx.qmgr(f"create hook {name} event={event}{given}", f"import hook {name} application/x-python default {path}")


def workers(cx):
    """Processors of all hook workers of the server so far, in seconds; those that were replaced count too."""
    server = str(cx.pid("server"))
    with open(f"/proc/{server}/stat", encoding="ascii") as f:
        used = sum(map(int, f.read().rpartition(")")[2].split()[13:15])) / os.sysconf("SC_CLK_TCK")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                words = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if words[1] == server:
            used += host.cpu_s(int(pid))
    return used


class Hooks:
    """A part of Bench."""

    def hooks(self):
        self.hook_submissions()
        self.hook_starts()
        self.hook_vnodes()
        self.hook_hosts()

    def hook_submissions(self):
        print("Submission with hooks")
        cx = self.complex(nodes=0, sched=False).start()
        try:
            script, pid = cx.script("true"), cx.pid("server")
            self.submit_load(cx, 1000, script)
            alone = {}
            for hook, enabled in (("no hook", None), ("a hook of another event", "modifyjob"), ("an accepting queuejob hook", "queuejob")):
                if enabled:
                    make(cx, enabled, enabled, ACCEPTS)
                    self.submit_load(cx, 50, script, 8)  # its workers run from now on
                for connections, aim in ((1, ""), (8, "2,000/s" if enabled == "queuejob" else "")):
                    used, by_workers = host.cpu_s(pid), workers(cx)
                    calls, seconds, p50, p99, _ = self.submit_load(cx, 4000, script, connections)
                    used, by_workers = host.cpu_s(pid) - used, workers(cx) - by_workers
                    row(f"{hook}, {connections} connection{'s' * (connections > 1)}", rate(calls, seconds), aim)
                    alone.setdefault(connections, p50)
                    note(f"of a call: median {p50:,.0f} us, {p50 - alone[connections]:+,.0f} (aim +500), 99th percentile {p99:,.0f} us; "
                         f"processors: server {used / calls * 1e6:.0f} us, workers {by_workers / calls * 1e6:.0f} us")
        finally:
            cx.stop()

    def hook_starts(self):
        from harness.sim import Simulator
        print("Starts with a runjob hook: simulated execution")
        for hook in (False, True):
            cx = self.complex(nodes=0).start()
            try:
                if hook:
                    make(cx, "runs", "runjob", ACCEPTS)
                with Simulator(cx, nodes=1, ncpus=128) as sim:
                    used = host.Used(server=cx.pid("server"), scheduler=cx.pid("sched"), simulator=sim.process.pid)
                    begin, n = time.monotonic(), 5000
                    self.fill([cx.api], n, cx.script("true"))
                    host.wait_for_no_jobs(cx)
                    row(f"{n} jobs, {'an accepting' if hook else 'no'} runjob hook", rate(n, time.monotonic() - begin), "1,500/s")
                    note(used.each(n))
            finally:
                cx.stop()

    def hook_vnodes(self):
        from harness.sim import Simulator
        from harness.wait import until
        print("A periodic hook with 1,000 vnodes in e.vnode_list")
        cx = self.complex(nodes=0, sched=False).start()
        try:
            with Simulator(cx, nodes=1000, ncpus=8):
                make(cx, "counts", "periodic", COUNTS, freq=1)

                def said():
                    return [line.rpartition(" ")[2] for line in cx.logs("server", 500).splitlines() if "saw 1000 in" in line]
                until(lambda: len(said()) > 3, "a few runs")
                row("its script reads two attributes of each vnode", ms(min(map(float, said()))))
                pid, runs = cx.pid("server"), len(said())
                used, by_workers = host.cpu_s(pid), workers(cx)
                until(lambda: len(said()) >= runs + 3, "three more runs")
                note(f"processors of a run: server {(host.cpu_s(pid) - used) / 3 * 1e3:.0f} ms, worker {(workers(cx) - by_workers) / 3 * 1e3:.0f} ms")
        finally:
            cx.stop()

    def hook_hosts(self):
        from harness.wait import until
        print("Start of a job on a real MOM, from RunJob to the first line of its script")
        cx = self.complex(nodes=1, sched=False).start()
        events = ("execjob_begin", "execjob_begin", "execjob_prologue", "execjob_prologue", "execjob_launch")
        plain = None
        try:
            for n_hooks in (0, 5):
                for i, event in enumerate(events[:n_hooks]):
                    make(cx, f"host{i}", event, ACCEPTS)
                if n_hooks:
                    last = os.path.join(cx.dir, "mom", "n1", "mom_priv", "hooks", "host4.PY")
                    until(lambda: os.path.exists(last), "the hooks on their host")
                took = sorted(self.start_once(cx, until) for _ in range(60))[:55]
                median = took[len(took) // 2]
                row(f"{n_hooks} hooks: median of 60", ms(median), "" if plain is None else "15 ms more")
                if plain is not None:
                    note(f"added: {(median - plain) * 1e3:.1f} ms; longest of the 55 shortest {ms(took[-1])}")
                plain = median
        finally:
            cx.stop()

    def start_once(self, cx, until):
        path = os.path.join(cx.work, "began")
        cx.blank("began")
        job = cx.submit(f"date +%s.%N > {path}")
        begin = time.time()
        cx.api.run(job, "n1")
        at = float(until(lambda: (cx.file("began") or "").strip(), "the job's script"))
        cx.wait_gone(job)
        return at - begin
