"""Real jobs that leave traces, run as an ordinary user, and a watch that no node is given out twice."""
import contextlib
import glob
import os
import threading

from . import api, users
from .wait import until

# Ends when there is a file let_go, and notes in `twice` that another run of the same job has its lock.
VICTIM = """
echo $$ > "pid.$PBS_JOBID"
exec 9> "lock.$PBS_JOBID"; flock -n 9 || echo "$PBS_JOBID" >> twice
trap 'echo "$PBS_JOBID" >> asked; until test -e let_go; do sleep 0.02; done; exit 143' TERM
echo "$PBS_JOBID" >> begun
until test -e go || test -e "go.$PBS_JOBID"; do sleep 0.05; done
"""
URGENT = 'echo "$PBS_JOBID" >> begun; until test -e go; do sleep 0.05; done'


def user():
    """Whom jobs run as: a test user where we are root, else ourselves."""
    return users.available()[0] if users.available() else None


def submit(cx, text="sleep 600", name="job", queue=None, select=None, options=(), **attrs):
    """Submit a job that appends "start JOB RUN" to NAME.log and writes its pid to NAME.pid before `text`.

    The text is plain sh in the work directory of the complex. Options are qsub's. A trap at the beginning of the text is set before
    anything is written: who sees that the job has begun may send the signal.
    """
    first, rest = text.split("; ", 1) if text.startswith("trap ") else (":", text)
    script = f'cd "$PBS_O_WORKDIR"\n{first}\necho start $PBS_JOBID >> {name}.log\necho $$ > {name}.pid\n{rest}\n'
    return cx.submit(script, user=user(), queue=queue, select=select,
                     options=("-N", name, "-S", "/bin/sh", "-o", cx.work + "/", "-e", cx.work + "/", *options),
                     **attrs)


def starts(cx, name="job"):
    """How often the job's script has begun."""
    return (cx.file(name + ".log") or "").count("start ")


def pid(cx, name="job"):
    """The pid of the script's shell, 0 when it has written none yet."""
    text = cx.file(name + ".pid")
    return int(text) if text and text.strip() else 0


def account_lines(cx):
    """All lines of accounting, oldest first, without their ends. One that is only half written is left out; and any is written a moment
    after what it tells has been answered, so who wants to see one waits for it."""
    found = []
    for path in sorted(glob.glob(os.path.join(cx.home, "server_priv", "accounting", "*"))):
        with open(path, encoding="utf-8", errors="surrogateescape") as f:
            found += f.read().split("\n")[:-1]
    return found


def accounting(cx, job):
    """The records of a job, oldest first: [(letter, text)]."""
    records = [line.split(";", 3) for line in account_lines(cx)]
    return [(r[1], r[3] if len(r) > 3 else "") for r in records if len(r) > 2 and r[2] == job]


class NodeWatch:
    """Reads the vnodes again and again while the block runs; a node that holds more than it has is a failure.

    A server that is away at the moment is asked again when it is back.
    """

    def __init__(self, cx, pause_s=0.005):
        self._cx, self._pause_s = cx, pause_s
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.reads, self.wrong = 0, []

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, kind, value, trace):
        self._end.set()
        self._thread.join()
        if kind is None and self.reads == 0:  # the block was shorter than a first look
            with contextlib.closing(self._cx.connect()) as c:
                self._read(c)
        if kind is None:
            assert self.reads > 0, "no node was ever read"
            assert not self.wrong, self.wrong

    def _run(self):
        connection = None
        while not self._end.wait(self._pause_s):
            try:
                connection = connection or self._cx.connect()
                self._read(connection)
            except api.PbsError:
                if connection:
                    connection.close()
                connection = None
        if connection:
            connection.close()

    def _read(self, connection):
        for node in connection.stat("vnode", ""):
            has = int(node["resources_available"]["ncpus"])
            uses = int(node.get("resources_assigned", {}).get("ncpus", 0))
            if uses > has:
                self.wrong.append(f"{node.name}: {uses} of {has} cpus, jobs {node.get('jobs')}")
        self.reads += 1


def begun(cx, job):
    """Wait until the job has processes, and return it."""
    until(lambda: (cx.stat(job) or {}).get("substate") == "42", lambda: f"{job} with processes; it is {cx.describe(job)}")
    return job


def touch(cx, name):
    with open(os.path.join(cx.work, name), "w", encoding="ascii"):
        pass


def exists(cx, name):
    return os.path.exists(os.path.join(cx.work, name))
