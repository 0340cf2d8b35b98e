"""qtop: jobs, nodes and preemptions of a complex, live in a terminal.

What is shown is made of a mirror by plain functions (`head`, `job_rows`, `node_rows`, `preemption_rows`), which `qtop -b` prints once; curses only
draws their lines. The program waits for a key and for changes at the same time, and asks the server nothing else.
"""
from __future__ import annotations

import argparse
import contextlib
import curses
import os
import pwd
import select
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from . import _libpbs as _l
from .connection import Connection, connect
from .errors import PbsError
from .mirror import Mirror
from .objects import Job, Node, Object

WANTS = {
    "server": ["server_host", "scheduling"],
    "job": ["Job_Name", "Job_Owner", "job_state", "queue", "comment", "stime", "Resource_List.walltime", "Resource_List.ncpus", "Priority",
            "exec_host", "preempted_by", "preempt_method", "preempt_time", "preempt_count", "preempt_deadline", "estimated",
            "array_state_count", "qtime"],
    "node": ["state", "resources_available.ncpus", "resources_assigned.ncpus", "comment", "jobs"],
}
STATES = "RSEBTQWHMXF"  # the order of jobs in the list
REDRAW_S = 1.0  # times that pass are shown again this often


class Filter(NamedTuple):
    """Which jobs are shown: those of a user ("" for all), and those whose line has a text."""

    user: str = ""
    text: str = ""


def _clock(span: timedelta | None) -> str:
    if span is None:
        return "-"
    seconds = max(int(span.total_seconds()), 0)
    return f"{seconds // 3600:d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def _resource(job: Object, name: str) -> object:
    """A resource that the job asked for, or None."""
    asked = job.raw.get("Resource_List")
    return job["Resource_List"].get(name) if isinstance(asked, dict) else None


def _ncpus(node: Object, attribute: str) -> int:
    amounts = node.get(attribute)
    count = amounts.get("ncpus", 0) if isinstance(amounts, dict) else 0
    return count if isinstance(count, int) else 0


def _bar(used: int, total: int, width: int) -> str:
    filled = min(width, round(width * used / total)) if total else 0
    return "#" * filled + "." * (width - filled)


def head(mirror: Mirror) -> list[str]:
    """Two lines: server and processors; jobs and nodes by state."""
    nodes = [n for n in mirror["node"].values() if isinstance(n, Node)]
    usable = [n for n in nodes if not any(word in n.state for word in ("down", "offline", "unknown"))]
    total = sum(_ncpus(n, "resources_available") for n in usable)
    used = sum(_ncpus(n, "resources_assigned") for n in nodes)
    jobs = Counter(str(j.raw.get("job_state", "?")) for j in mirror["job"].values())
    states = Counter(n.state for n in nodes)
    server = next(iter(mirror["server"].values()), None)
    off = "" if server is None or server.get("scheduling") is not False else "  SCHEDULING IS OFF"
    return [f"{server.name if server else '?'}  cpus [{_bar(used, total, 20)}] {used} of {total}{off}",
            "jobs " + " ".join(f"{n}{letter}" for letter, n in sorted(jobs.items(), key=lambda p: STATES.find(p[0])) if n)
            + "   nodes " + ", ".join(f"{n} {word}" for word, n in states.most_common())]


def job_rows(mirror: Mirror, wanted: Filter, now: datetime) -> Iterator[tuple[str, str, str]]:
    """(identifier, state, line) of each job: those that run first, then by priority and age."""
    yield "", "", f"{'Job':<16} {'User':<10} {'Queue':<10} {'Name':<15} {'S':1} {'CPUs':>5} {'Time':>9} {'of':>9}  Where, or why not"
    jobs = [j for j in mirror["job"].values() if isinstance(j, Job)]
    for j in sorted(jobs, key=lambda j: (STATES.find(j.state), -int(j.raw.get("Priority", 0) or 0), int(j.raw.get("qtime", 0) or 0))):
        started = j.get("stime")
        ran = now - started if isinstance(started, datetime) and j.state in "RSE" else None
        limit = _resource(j, "walltime")
        why = ", ".join(j.hosts) if j.state == "R" else j.comment
        if j.state == "S" and "preempted_by" in j.raw:
            why = f"suspended for {j.raw['preempted_by']}"
        line = (f"{j.name:<16.16} {j.owner:<10.10} {j.queue:<10.10} {j.title:<15.15} {j.state:1} {_resource(j, 'ncpus') or '-':>5} "
                f"{_clock(ran):>9} {_clock(limit if isinstance(limit, timedelta) else None):>9}  {why}")
        if (not wanted.user or j.owner == wanted.user) and wanted.text.lower() in line.lower():
            yield j.name, j.state, line


def node_rows(mirror: Mirror, wanted: Filter, now: datetime) -> Iterator[tuple[str, str, str]]:
    """(name, state, line) of each vnode."""
    yield "", "", f"{'Node':<20} {'State':<20} {'CPUs':<22} {'Used':>9}  Jobs, or comment"
    for node in mirror["node"].values():
        if not isinstance(node, Node):
            continue
        used, total = _ncpus(node, "resources_assigned"), _ncpus(node, "resources_available")
        about = str(node.raw.get("comment") or ", ".join(node.jobs))
        line = f"{node.name:<20.20} {node.state:<20.20} [{_bar(used, total, 20)}] {f'{used}/{total}':>9}  {about}"
        if wanted.text.lower() in line.lower():
            yield node.name, node.state, line


def preemption_rows(mirror: Mirror, wanted: Filter, now: datetime) -> Iterator[tuple[str, str, str]]:
    """(identifier, state, line) of each job that has given way, or has been told to, the latest first."""
    yield "", "", f"{'Job':<16} {'User':<10} {'S':1} {'Gave way to':<16} {'by':<4} {'times':>5} {'ago':>9}  Notice"
    methods = {"S": "suspension", "C": "checkpoint", "R": "requeue", "Q": "requeue", "D": "deletion"}
    touched = [j for j in mirror["job"].values() if isinstance(j, Job) and (j.raw.get("preempt_time") or j.raw.get("preempt_deadline"))]
    for j in sorted(touched, key=lambda j: -int(j.raw.get("preempt_time", 0) or 0)):
        at, deadline = j.get("preempt_time"), j.get("preempt_deadline")
        ago = now - at if isinstance(at, datetime) else None
        notice = f"must give way within {_clock(deadline - now)}" if isinstance(deadline, datetime) and deadline > now else ""
        method = str(j.raw.get("preempt_method", ""))
        line = (f"{j.name:<16.16} {j.owner:<10.10} {j.state:1} {j.raw.get('preempted_by', '-'):<16.16} {method:<4} "
                f"{j.raw.get('preempt_count', '0'):>5} {_clock(ago):>9}  {notice or methods.get(method[:1], '')}")
        if (not wanted.user or j.owner == wanted.user) and wanted.text.lower() in line.lower():
            yield j.name, j.state, line


Rows = Callable[[Mirror, Filter, datetime], Iterator[tuple[str, str, str]]]
VIEWS: dict[str, Rows] = {"jobs": job_rows, "nodes": node_rows, "preemptions": preemption_rows}
KEYS = "j jobs  n nodes  p preemptions  u mine  / find  Enter details  q quit"
_COLOURS = {"R": 1, "free": 1, "job-busy": 1, "S": 2, "H": 2, "W": 2, "E": 2, "offline": 2, "X": 3, "down": 3}


class Screen:
    """The terminal: a view, where it has been scrolled to, and the line that is chosen."""

    def __init__(self, window: curses.window, mirror: Mirror, connection: Connection, view: str, wanted: Filter) -> None:
        self.window, self.mirror, self.connection = window, mirror, connection
        self.view, self.wanted, self.top, self.chosen = view, wanted, 0, 0
        self.details: list[str] = []
        with contextlib.suppress(curses.error):  # some terminals cannot hide it
            curses.curs_set(0)
        window.keypad(True)
        window.nodelay(True)
        if curses.has_colors():
            curses.use_default_colors()
            for number, colour in ((1, curses.COLOR_GREEN), (2, curses.COLOR_YELLOW), (3, curses.COLOR_RED)):
                curses.init_pair(number, colour, -1)

    def _put(self, y: int, text: str, attribute: int = 0) -> None:
        height, width = self.window.getmaxyx()
        if y < height:
            with contextlib.suppress(curses.error):  # the last cell of the screen cannot be written without an error
                self.window.addnstr(y, 0, "".join(c if c.isprintable() else "?" for c in text), width, attribute)

    def draw(self) -> None:
        self.window.erase()
        height = self.window.getmaxyx()[0]
        lines = head(self.mirror)
        for y, text in enumerate(lines):
            self._put(y, text, curses.A_BOLD if y == 0 else 0)
        if self.details:
            for y, text in enumerate(self.details[:height - 4], len(lines) + 1):
                self._put(y, text)
        else:
            self._draw_rows(len(lines) + 1, height - len(lines) - 2)
        self._put(height - 1, KEYS, curses.A_REVERSE)
        self.window.refresh()

    def _draw_rows(self, y: int, room: int) -> None:
        title, *rows = list(VIEWS[self.view](self.mirror, self.wanted, datetime.now().astimezone()))
        self._rows = rows
        self.chosen = max(0, min(self.chosen, len(rows) - 1))
        self.top = max(0, min(self.top, self.chosen), self.chosen - max(room - 2, 0))
        self._put(y, title[2], curses.A_UNDERLINE)
        for i, (_, state, line) in enumerate(rows[self.top:self.top + max(room - 1, 0)], self.top):
            colour = curses.color_pair(_COLOURS.get(state.split(",")[0], 0)) if curses.has_colors() else 0
            self._put(y + 1 + i - self.top, line, colour | (curses.A_REVERSE if i == self.chosen else 0))

    def key(self, key: int) -> bool:
        """Act on a key. False: the program ends."""
        page = max(self.window.getmaxyx()[0] - 6, 1)
        moves = {curses.KEY_DOWN: 1, curses.KEY_UP: -1, curses.KEY_NPAGE: page, curses.KEY_PPAGE: -page, curses.KEY_HOME: -1 << 30,
                 curses.KEY_END: 1 << 30}
        views = {"j": "jobs", "n": "nodes", "p": "preemptions"}
        letter = chr(key) if 0 <= key < 256 else ""
        if self.details and key != curses.KEY_RESIZE:
            self.details = []
        elif letter in ("q", "\x1b"):
            return False
        elif key in moves:
            self.chosen += moves[key]
        elif letter in views:
            self.view, self.chosen, self.top = views[letter], 0, 0
        elif letter == "u":
            self.wanted = self.wanted._replace(user="" if self.wanted.user else _me())
        elif letter == "/":
            self.wanted = self.wanted._replace(text=self._ask("find: "))
        elif letter in ("\n", "\r"):
            self._show()
        return True

    def _ask(self, question: str) -> str:
        y = self.window.getmaxyx()[0] - 1
        self._put(y, question.ljust(len(KEYS)))
        curses.echo()
        self.window.nodelay(False)
        try:
            return self.window.getstr(y, len(question), 60).decode(errors="replace")
        finally:
            self.window.nodelay(True)
            curses.noecho()

    def _show(self) -> None:
        if not self._rows:
            return
        kind, name = "node" if self.view == "nodes" else "job", self._rows[self.chosen][0]
        try:
            whole = self.connection.job(name) if kind == "job" else self.connection.node(name)
        except PbsError as e:
            self.details = [str(e)]
            return
        self.details = [name, *(f"    {key} = {value}" for key, value in _flat(whole))]


def _flat(thing: Object) -> Iterator[tuple[str, str]]:
    for key, value in thing.raw.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{resource}", text) for resource, text in value.items())
        else:
            yield key, str(value)


def _me() -> str:
    return pwd.getpwuid(os.getuid()).pw_name


def _live(window: curses.window, mirror: Mirror, news: Connection, ask: Connection, view: str, wanted: Filter) -> None:
    screen = Screen(window, mirror, ask, view, wanted)
    while True:
        screen.draw()
        mirror.send()
        readable = select.select([sys.stdin, _l.lib.pbs_fd(news.handle)], [], [], REDRAW_S)[0]
        while mirror.follow(0):
            pass
        while sys.stdin in readable and (key := window.getch()) != -1:
            if not screen.key(key):
                return


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="qtop", add_help=False, description="Jobs, nodes and preemptions of a complex, live in a terminal.")
    parser.add_argument("-b", action="store_true", dest="once", help="print once, as plain text, and end")
    parser.add_argument("-u", metavar="USER", dest="user", default="", help="jobs of this user only")
    parser.add_argument("-v", choices=list(VIEWS), dest="view", default="jobs", help="the view to begin with (default: jobs)")
    parser.add_argument("-f", metavar="TEXT", dest="text", default="", help="lines that have this text only")
    parser.add_argument("server", nargs="?", help="HOST[:PORT]; default: the server of pbs.conf")
    if "--help" in sys.argv[1:]:
        parser.print_help()
        sys.exit(0)
    return parser.parse_args()


def main() -> int:
    asked = _arguments()
    wanted = Filter(asked.user, asked.text)
    try:
        with connect(asked.server) as news:
            mirror = Mirror(news, WANTS)
            if asked.once:
                rows = [line for _, _, line in VIEWS[asked.view](mirror, wanted, datetime.now().astimezone())]
                print("\n".join([*head(mirror), "", *(row.rstrip() for row in rows)]))
                return 0
            if not (sys.stdin.isatty() and sys.stdout.isatty()):
                print("qtop: this is no terminal; qtop -b prints once", file=sys.stderr)
                return 2
            with connect(asked.server) as ask:
                curses.wrapper(_live, mirror, news, ask, asked.view, wanted)
    except PbsError as e:
        print(f"qtop: {e}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
