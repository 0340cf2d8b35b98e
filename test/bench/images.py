"""What a checkpoint takes: to save and to come back, by adapter and by the size of what is saved; and the work that each method loses."""
import os
import re
import time

from show import ms, note, row

MB = 1 << 20
SIZES = (("10 MB", 10 * MB), ("1 GB", 1 << 30))
# Holds so many bytes; saves them when it is asked, and reads them back. What it does itself is written in the way of ckpt-app's contract.
HOLDER = """#!/usr/bin/python3
import os, signal, sys, time
d, size = os.environ["PBS_CHECKPOINT_DIR"], {size}
asked = False
def ask(*_):
    global asked
    asked = True
signal.signal(signal.SIGUSR1, ask)
state = os.path.join(d, "state")
data = open(state, "rb").read() if os.path.exists(state) else os.urandom(1 << 20) * (size >> 20)
open("{ready}", "a").write("x")
while True:
    time.sleep(0.01)
    if asked:
        with open(state + ".new", "wb") as f:
            f.write(data); f.flush(); os.fsync(f.fileno())
        os.rename(state + ".new", state); open(os.path.join(d, "done"), "w"); asked = False
"""
LOSERS, RAN_S = 8, 10


class Images:
    """A part of the bench; `self` has complex, items() and fill() of run."""

    def images(self):
        print("Checkpoint and restart of a job that holds so much, on this host's disk")
        cx = self.complex(nodes=1, ncpus=1).start()
        try:
            node = self.probed(cx)
            for name in node["checkpoint"].split(","):
                for words, size in SIZES:
                    self.one_image(cx, name, words, size)
            note(f"not measured: {node.get('checkpoint_missing', 'nothing')}")
        finally:
            cx.stop()
        self.lost_by_method()

    def probed(self, cx):
        while True:
            node = cx.node("n1")
            if {"app", "criu", "dmtcp"} <= set(re.findall(r"app|criu|dmtcp", node.get("checkpoint", "") +
                                                          node.get("checkpoint_missing", ""))):
                return node
            time.sleep(0.05)

    def one_image(self, cx, adapter, words, size):
        if adapter == "dmtcp":
            note("dmtcp: its launcher is not part of this program")
            return
        path = os.path.join(cx.dir, "mom", "n1", "mom_priv", "config")
        with open(path, "a", encoding="ascii") as f:
            f.write(f"$checkpoint_adapter {adapter}\n")
        cx.restart("n1")
        ready = os.path.join(cx.work, "ready")
        cx.blank("ready")
        job = cx.submit(HOLDER.format(size=size, ready=ready), Checkpoint="c")
        self.wait_size(ready, 1)
        begin = time.monotonic()
        cx.api.hold(job)
        saved = time.monotonic() - begin
        found = re.findall(r"checkpointed on mom:n1: .* (\d+) bytes in (\d+) ms", cx.logs("server", 400))
        begin = time.monotonic()
        cx.api.release(job)
        self.wait_size(ready, 2)
        row(f"{adapter}, {words}: hold to its answer", ms(saved), "", "")
        note(f"{int(found[-1][0]) / MB:,.1f} MB, {found[-1][1]} ms of that by the adapter")
        row(f"{adapter}, {words}: release to the program with its state", ms(time.monotonic() - begin), "", "")
        cx.api.delete(job)
        cx.wait_gone(job)

    def wait_size(self, path, n):
        while os.path.getsize(path) < n:
            time.sleep(0.005)

    def lost_by_method(self):
        print(f"Work lost when {LOSERS} jobs that save themselves give way after {RAN_S} s, with a notice of 1 s")
        for letter in ("C", "R", "D"):
            cx = self.complex(nodes=1, ncpus=LOSERS).start()
            try:
                lost, methods = self.lost_by(cx, letter)
            finally:
                cx.stop()
            row(f"method {letter}", f"{lost:,.0f} core-s", "", "")
            note(f"methods applied: {methods}")

    def lost_by(self, cx, letter):
        ready = os.path.join(cx.work, "ready")
        cx.blank("ready")
        cx.make_queue("express", Priority="200")
        cx.set_sched("preempt_order", letter)
        cx.set_sched("preempt_grace", "1")
        for _ in range(LOSERS):
            cx.submit(HOLDER.format(size=MB, ready=ready), Checkpoint="c")
        self.wait_size(ready, LOSERS)
        time.sleep(RAN_S)
        urgent = cx.submit("exit 0", queue="express", select=f"1:ncpus={LOSERS}")
        cx.wait_gone(urgent)
        said = re.findall(r"preempted: (\w) for .* ([\d.]+) core-seconds lost", cx.logs("server", 4000))
        return sum(float(n) for _, n in said), " ".join(m for m, _ in said)
