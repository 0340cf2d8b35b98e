"""What a job costs on its host, split by step: read from the MOM's own log of each run's transitions."""
import glob
import os
import pwd
import re
import statistics
import subprocess
import time

# What has happened when the MOM logs a transition of a run, in order; the first is the taking of START.
STEPS = (
    ("taken", None),
    ("prepared", "directory, script and order are written"),
    ("prologue-ok", "prologue (none here)"),
    ("started", "shepherd, nodefile, TMPDIR, output, first process"),
    ("ended", "the job itself; its end is on disk"),
    ("epilogue-ok", "epilogue (none here)"),
    ("closed", "TMPDIR and nodefile put away, output delivered"),
    ("purge", "server: events durable, order to forget it"),
)
LINE = re.compile(r" (\d+):(\d+):(\d+\.\d+);[^;]*;[^;]*;Job;([^;]*);run \d+: ([a-z-]+)")


def transitions(mom_home):
    """{job: {event: seconds of the day}} from the log of the MOM."""
    seen = {}
    for path in glob.glob(os.path.join(mom_home, "mom_logs", "*")):
        with open(path, encoding="utf-8", errors="replace") as f:
            for m in filter(None, map(LINE.search, f)):
                h, minute, s, job, event = m.groups()
                seen.setdefault(job, {})[event] = int(h) * 3600 + int(minute) * 60 + float(s)
    return seen


def split(seen):
    """[(label, median seconds)] over the runs that went through all steps."""
    whole = [t for t in seen.values() if all(event in t for event, _ in STEPS)]
    pairs = zip(STEPS, STEPS[1:])
    return len(whole), [(label, statistics.median(t[b] - t[a] for t in whole)) for (a, _), (b, label) in pairs]


def log_transitions(cx):
    """Have the MOM n1 log them."""
    with open(os.path.join(cx.dir, "mom", "n1", "mom_priv", "config"), "a", encoding="ascii") as f:
        f.write("$logevent 0xffff\n")
    cx.restart("n1")


def wait_for_no_jobs(cx):
    """By the server's own count: a list of thousands of jobs would be work for the server that we measure."""
    while int(next(iter(cx.api.stat("server", want=["total_jobs"])))["total_jobs"]):
        time.sleep(0.01)


def shells_a_second(script, users, n=300):
    """Login shells that are given the path of a script, as a MOM does it: 64 at once."""
    who = pwd.getpwnam(users.NAMES[0] if os.geteuid() == 0 else users.me())
    shell = f"-{os.path.basename(who.pw_shell)}"
    env = {"HOME": who.pw_dir, "USER": who.pw_name, "PATH": "/bin:/usr/bin"}
    change = {"user": who.pw_name, "group": who.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    begin, running = time.monotonic(), []
    for _ in range(n):
        child = subprocess.Popen([shell], executable=who.pw_shell, stdin=subprocess.PIPE, env=env, cwd=who.pw_dir,
                                 stdout=subprocess.DEVNULL, **change)
        child.stdin.write(f"'{script}'\n".encode())
        child.stdin.close()
        running.append(child)
        if len(running) >= 64:
            running.pop(0).wait()
    for child in running:
        child.wait()
    return n / (time.monotonic() - begin)


def cpu_s(pid):
    """Seconds of processor time of one process, without its children."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        words = f.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Used:
    """Processor time of some processes from now on; each is a pid or several, by the name to show."""

    def __init__(self, **processes):
        self._pids = {name: p if isinstance(p, list) else [p] for name, p in processes.items()}
        self._before = self._now()

    def _now(self):
        return {name: sum(map(cpu_s, pids)) for name, pids in self._pids.items()}

    def each(self, n):
        """What each of n jobs has cost, as text."""
        now = self._now()
        return "processor time of a job: " + ", ".join(f"{name} {(now[name] - t) / n * 1000:.2f} ms"
                                                       for name, t in self._before.items())


def resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmRSS:"))
