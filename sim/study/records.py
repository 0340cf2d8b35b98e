"""What became of each job of a simulation, by the accounting log of its complex."""
import dataclasses
import re

from .accounting import pairs, read_records

VNODE = re.compile(r"\(?([^:+()]+):[^+()]*?ncpus=\d")


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
