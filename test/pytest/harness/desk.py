"""Reservations of one complex, asked for as users do: by commands, and looked at by letters of states.

Where the complex has a clock (cx.clock) a reservation begins and ends when the test says so, however long its commands take.
"""
import time

from .ask import stat_resv
from .wait import until
from .work import account_lines

LETTERS = dict(zip("0 1 2 3 4 5 6 7 8 9 10 11 12".split(), "NO UN CO WT TR RN FN BD DE DJ DG AL IC".split()))
LIMIT_S = 120
SOON_S = 20


def queue(resv):
    return resv.split(".")[0]


class Desk:
    """`sim` makes jobs; None: they are real."""

    def __init__(self, cx, sim=None):
        self.cx, self.sim = cx, sim
        self.server = cx.api.stat("server")[0].name

    def rsub(self, *words, check=False, **how):
        return self.cx.command("pbs_rsub", *words, check=check, **how)

    def at(self, seconds):
        """So many seconds from now, as pbs_rsub -R and -E take it."""
        now = self.cx.clock.now() if self.cx.clock else time.time()
        return time.strftime("%Y%m%d%H%M.%S", time.localtime(now + seconds))

    def new(self, *words, start=None, lasts=600, select="1:ncpus=4", wait="CO", **how):
        """A reservation that begins in so many seconds, in this state; its identifier. One that is to run, RN, is confirmed, and then
        its time comes."""
        start = start or (SOON_S if wait == "RN" else 3600)
        done = self.rsub("-R", self.at(start), "-D", lasts, "-l", f"select={select}", *words, **how)
        assert done.returncode == 0, done.stderr
        resv = done.stdout.split()[0]
        if wait == "RN":
            self.wait(resv, "CO")
            self.begin(resv)
        else:
            self.wait(resv, wait)
        return resv

    def standing(self, *words, rule="FREQ=DAILY;COUNT=2", **how):
        """The same of one that recurs by this rule."""
        return self.new("-r", rule, *words, env={"PBS_TZID": "UTC"}, **how)

    def begin(self, resv, state="RN"):
        """Its time has come."""
        self.cx.clock.leap_to(int(self.stat(resv)["reserve_start"]))
        self.wait(resv, state)

    def end(self, resv):
        """The time of what is its current occurrence is over."""
        self.cx.clock.leap_to(int(self.stat(resv)["reserve_end"]))

    def stat(self, resv):
        return stat_resv(self.cx, resv) or {}

    def state(self, resv):
        """ "CO"; with a substate that differs "RN/DG"; None: it is gone."""
        s = self.stat(resv)
        if not s:
            return None
        state, sub = (LETTERS[s[k]] for k in ("reserve_state", "reserve_substate"))
        return state if sub == state else f"{state}/{sub}"

    def told(self, resv):
        return lambda: f"{resv} {self.state(resv)}: {self.stat(resv)}\n{self.cx.logs('sched', 40)}\n{self.cx.logs('server', 20)}"

    def wait(self, resv, state, **attrs):
        """Until it has this state and these attributes; None: until it is gone."""
        until(lambda: self.state(resv) == state and all(self.stat(resv).get(k) == v for k, v in attrs.items()),
              lambda: f"{state} {attrs} of {self.told(resv)()}", LIMIT_S)

    def gone(self, resv):
        self.wait(resv, None)

    def log(self, daemon, text, times=1):
        """Until the log of this daemon has this text."""
        self.cx.wait_log(daemon, text, times)

    def comment(self, job, text):
        until(lambda: text in ((self.cx.stat(job) or {}).get("comment") or ""), lambda: self.cx.describe(job), LIMIT_S)

    def job(self, ms=600000, user=None, select="1:ncpus=1", options=(), **attrs):
        """A simulated job of that length; with `user` by qsub."""
        if not user and not options:
            return self.sim.job(ms=ms, select=select, **attrs)
        return self.cx.submit("true", user=user, select=select, options=["-v", f"EXECSIM_MS={ms}", *options], **attrs)

    def records(self, letters, name):
        """Accounting records of an object, [letter, text], in order."""
        found = [line.split(";", 3) for line in account_lines(self.cx)]
        return [(w[1], w[3]) for w in found if w[2] == name and w[1] in letters]

    def recorded(self, letters, name, wanted):
        """Until the records of these letters are `wanted`, as a word; their texts."""
        until(lambda: "".join(r[0] for r in self.records(letters, name)) == wanted,
              lambda: f"records {wanted} of {name}: {self.records(letters, name)}", LIMIT_S)
        return [r[1] for r in self.records(letters, name)]
