"""What became of each job of a simulation, by the accounting log of its complex, and what its scheduler had expected, by the
scheduler's log.
"""
import dataclasses
import functools
import re
import time

from .accounting import pairs, read_records

VNODE = re.compile(r"\(?([^:+()]+):[^+()]*?ncpus=\d")
# The scheduler's lines of a job: what it expects (sched/core/cycle/backfill.c), and that it has started it.
EXPECTS = "Job is a top job and will run at "
STARTED = "Job run"


@dataclasses.dataclass(slots=True)
class Record:
    """Times are seconds from the begin of the simulation; a job that never started has start_s None."""
    line: int
    queue: str = ""
    user: str = ""
    cpus: int = 0
    submit_s: float = 0
    start_s: float | None = None     # the first time
    end_s: float | None = None
    estimate_s: float | None = None  # estimated.start_time as first given, before the first start
    runs: list = dataclasses.field(default_factory=list)      # [begin, end, state, vnodes]: state "run" or "suspended"
    preempted: list = dataclasses.field(default_factory=list)  # (when, method)
    lost_core_s: float = 0

    def is_done(self):
        return self.end_s is not None


def _vnodes(text, shown):
    """Those of an exec_vnode on which the job has cpus and that are shown: the strings of `shown`, so that a year fits into memory."""
    if not shown:
        return ()
    found = (VNODE.match(chunk) for chunk in text.split("+"))
    return tuple({shown[f[1]]: None for f in found if f and f[1] in shown})


@functools.lru_cache(maxsize=4096)
def _ctime(text):
    """Seconds since the epoch of "Mon Jan  5 08:00:00 2026", in local time."""
    return int(time.mktime(time.strptime(text)))


class Trace:
    """Follows the log; `by_line` has a Record for each job that was submitted. Jobs are called w1, w2 and so on, by their lines.
    Of vnodes only those are kept that `shown` names.
    """

    def __init__(self, begin_s, shown=()):
        self.begin_s, self._shown = begin_s, {name: name for name in shown}
        self.by_line, self._by_name = {}, {}

    def _queued(self, r, when, fields):
        if r is None:
            line = int(fields["jobname"][1:])
            r = Record(line=line, queue=fields["queue"], user=fields["user"], submit_s=when)
            r.cpus = int(fields.get("Resource_List.ncpus", 0))
            self.by_line[line] = r
        return r

    @staticmethod
    def _close(r, when):
        if r.runs and r.runs[-1][1] is None:
            r.runs[-1][1] = when

    def _take(self, r, when, letter, text):
        if letter == "S":
            fields = pairs(text)
            r.runs.append([when, None, "run", _vnodes(fields.get("exec_vnode", ""), self._shown)])
            r.start_s = when if r.start_s is None else r.start_s
        elif letter in "zr" and r.runs:
            self._close(r, when)
            r.runs.append([when, None, "suspended" if letter == "z" else "run", r.runs[-1][3]])
        elif letter == "R":
            self._close(r, when)
        elif letter in "ED":
            self._close(r, when)
            r.end_s = when if letter == "E" else r.end_s
        elif letter == "v":
            fields = pairs(text)
            r.preempted.append((when, fields.get("method", "?")))
            r.lost_core_s += float(fields.get("lost_core_seconds", 0))

    def read(self, paths):
        for path in paths:
            for _, when, letter, name, text in read_records(path):
                r = self._by_name.get(name)
                when -= self.begin_s
                if letter == "Q":
                    self._by_name[name] = self._queued(r, when, pairs(text))
                elif r is not None:
                    self._take(r, when, letter, text)
        return self

    def read_estimates(self, paths):
        """Of each job the first start time that the scheduler gave it; `paths` are its logs. Call after read(), which knows the
        jobs. What it expects of a job that has run before and waits again is not asked for."""
        started = set()
        for path in paths:
            with open(path, encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    fields = line.rstrip("\n").split(";", 5)
                    if len(fields) < 6 or fields[3] != "Job":
                        continue
                    name, text = fields[4:]
                    r = self._by_name.get(name)
                    if text == STARTED:
                        started.add(name)
                    elif r and r.estimate_s is None and name not in started and text.startswith(EXPECTS):
                        r.estimate_s = _ctime(text[len(EXPECTS):]) - self.begin_s
        return self
