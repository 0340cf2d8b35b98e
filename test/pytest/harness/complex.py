"""A private complex, `cx` in tests: real daemons below a directory of their own, on ports of their own."""
import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile

from . import api, faults, users
from .wait import LIMIT_S, until

COMMAND_LIMIT_S = 120
REPORTED_JOBS = 5
REPORTED_LINES = 600
READ_LINES = 30000
POLLS = re.compile(r"Type (16|19|20|21|51|58|71|81|82|201|203) request")


class Complex:
    """Started by start(), ended and removed by stop(). Jobs are identifiers; times are seconds."""

    def __init__(self, nodes=1, ncpus=4, mem="8gb", store="sqlite", sched=True, history=False, pair=False):
        self.build = os.environ["CEDE_BUILD"]
        self.top = tempfile.mkdtemp(prefix="cede-")
        os.chmod(self.top, 0o755)
        self.dir = os.path.join(self.top, "complex")
        self.nodes, self.ncpus, self.mem, self.store = nodes, ncpus, mem, store
        self.sched, self.history, self.pair = sched, history, pair
        self.work = os.path.join(self.top, "work")
        os.mkdir(self.work)
        os.chmod(self.work, 0o1777)
        self._api = None
        self._scripts = 0

    # --- the complex itself
    @property
    def conf(self):
        return os.path.join(self.dir, "pbs.conf")

    @property
    def home(self):
        return os.path.join(self.dir, "home")

    @property
    def env(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith("PBS_")}
        env["PBS_CONF_FILE"] = self.conf
        env["PATH"] = f"{self.build}/bin:{self.build}/sbin:" + env.get("PATH", "/usr/bin:/bin")
        return env

    def control(self, *args, check=True):
        """pbs_complex with these arguments."""
        return self.command("pbs_complex", *args, "--dir", self.dir, check=check, limit_s=180)

    def start(self):
        self.control("start", "--nodes", self.nodes, "--ncpus", self.ncpus, "--mem", self.mem, "--store",
                     self.store, *(["--pair"] if self.pair else []))
        if not self.sched:
            self.stop_daemon("sched")
        if not self.history:
            self.set_server("job_history_enable", "False")
        return self

    def stop(self):
        if self._api:
            self._api.close()
        self.control("stop", "--purge", check=False)
        self.remove()

    def remove(self):
        """What jobs of MOMs that pbs_complex does not know have left running, and all files, of work as well."""
        for pid in faults.processes_with(self.top + "/"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.top, ignore_errors=True)

    def kill(self, daemon):
        """SIGKILL; it is gone when this returns."""
        self.control("kill", daemon)

    def restart(self, daemon):
        """End it in good order where it runs, start it, wait until it is ready."""
        self.control("restart", daemon)

    def pid(self, daemon):
        """0 when it does not run."""
        for line in self.control("status", check=False).stdout.splitlines():
            words = line.split()
            if words and words[0] == daemon:
                return int(words[3]) if words[1] == "runs," else 0
        return 0

    def stop_daemon(self, daemon):
        """SIGTERM and wait for the end."""
        pid = self.pid(daemon)
        if pid:
            os.kill(pid, 15)
            until(lambda: not self.pid(daemon), f"the end of {daemon}")

    def logs(self, daemon=None, lines=60):
        args = ["logs"] + ([daemon] if daemon else []) + ["--lines", str(lines)]
        return self.control(*args, check=False).stdout

    def log(self, daemon):
        """All that a daemon has written so far: server, sched, sched_NAME, or a node. Files in the order of their last change, for a
        test may set the clock that names them."""
        if daemon.startswith("sched"):
            folder = os.path.join(self.home, f"sched_logs{daemon[len('sched'):]}")
        else:
            folder = os.path.join(self.home, "server_logs") if daemon == "server" else os.path.join(self.dir, "mom", daemon, "mom_logs")
        paths = [os.path.join(folder, name) for name in os.listdir(folder)] if os.path.isdir(folder) else []
        text = []
        for path in sorted(paths, key=os.path.getmtime):
            with open(path, encoding="utf-8", errors="replace") as f:
                text.append(f.read())
        return "".join(text)

    def wait_log(self, daemon, text, times=1, limit_s=LIMIT_S):
        """Until a daemon has written this so many times: a line comes a moment after what it tells of. Its whole log then."""
        return until(lambda: (log := self.log(daemon)).count(text) >= times and log,
                     lambda: f"{text!r} {times} times in the log of {daemon}:\n{self.logs(daemon)}", limit_s)

    # --- commands
    def command(self, *words, user=None, check=True, stdin=None, limit_s=COMMAND_LIMIT_S, env=None):
        """Run a command; `user` by name, as root only. The CompletedProcess, with text."""
        who = {}
        if user and os.geteuid() == 0:
            who = {"user": user, "group": user, "extra_groups": []}
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, input=stdin,
                              timeout=limit_s, cwd=self.work if os.path.isdir(self.work) else "/",
                              env={**self.env, **(env or {})}, check=False,
                              stdin=None if stdin is not None else subprocess.DEVNULL, **who)
        if check and done.returncode != 0:
            raise AssertionError(f"{shlex.join(map(str, words))}: exit {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
        return done

    def peak_memory(self, *words):
        """The most memory that a command takes, in bytes: looked at whenever some of its output comes."""
        peak = 0
        with subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, env=self.env) as child:
            while child.stdout.read1(1 << 16):
                with open(f"/proc/{child.pid}/status", encoding="ascii") as f:
                    peak = next((int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM:")), peak)
        assert child.returncode == 0
        return peak

    def qmgr(self, *lines):
        """Each line as one directive; the output of all."""
        return "".join(self.command("qmgr", "-c", line).stdout for line in lines)

    def set_server(self, name, value, resource=None):
        self.api.manager(api.MSET, api.SERVER, "", [(name, resource, value)])

    def set_queue(self, queue, name, value, resource=None):
        self.api.manager(api.MSET, api.QUEUE, queue, [(name, resource, value)])

    def set_sched(self, name, value, sched="default"):
        self.api.manager(api.MSET, api.SCHED, sched, [(name, None, value)])

    def configure_sched(self, text, sched="sched_priv", **files):
        """sched_config is these lines now, and files (by name) beside it are these texts; the scheduler has read them."""
        priv = os.path.join(self.home, sched)
        for name, content in {"sched_config": text, **files}.items():
            with open(os.path.join(priv, name), "w", encoding="utf-8") as f:
                f.write(content)
        with open(os.path.join(priv, "sched.lock"), encoding="ascii") as f:
            pid = int(f.read())
        logs = os.path.join(self.home, sched.replace("priv", "logs"))

        def times():
            count = 0
            for name in os.listdir(logs):
                with open(os.path.join(logs, name), encoding="utf-8", errors="replace") as f:
                    count += f.read().count("Scheduler is reconfigured")
            return count
        before = times()
        os.kill(pid, signal.SIGHUP)
        until(lambda: times() > before, "the scheduler to read its files again")

    def make_queue(self, name, **attrs):
        """An execution queue that runs jobs."""
        attrs = {"queue_type": "Execution", "enabled": "True", "started": "True", **attrs}
        self.api.manager(api.CREATE, api.QUEUE, name, [(k, None, v) for k, v in attrs.items()])

    # --- libpbs
    @property
    def api(self):
        """A connection as whoever runs the tests; made again after the server has gone."""
        if self._api is None:
            self._api = api.Connection(self.conf)
        return self._api

    def connect(self):
        """Another connection, to be closed by the caller."""
        return api.Connection(self.conf)

    def again(self):
        """Forget the connection: the server was restarted."""
        if self._api:
            self._api.close()
        self._api = None
        return self.api

    def crash_server(self):
        """SIGKILL the server and start it again; what it knew is stored.

        What a client sees need not be stored yet: a state is shown at once and written in the next batch. The
        answer to a manager's request comes behind all that went before.
        """
        self.api.manager(api.MUNSET, api.SERVER, "", [("comment", None, "")])
        self.kill("server")
        self.restart("server")
        return self.again()

    def hosts_back(self):
        """All MOMs are connected to the server, which asks nothing of jobs on others."""
        until(lambda: not any("down" in n.state for n in self.api.stat("vnode", want=["state"])), "the MOMs", LIMIT_S)

    def script(self, text):
        """A job script as a file."""
        self._scripts += 1
        path = os.path.join(self.work, f"script{self._scripts}.sh")
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text if text.startswith("#!") else "#!/bin/sh\n" + text + "\n")
        os.chmod(path, 0o755)
        return path

    def submit(self, text="sleep 600", user=None, queue=None, select=None, options=(), **attrs):
        """Submit a script's text; the identifier.

        Without `user`, through libpbs as whoever runs the tests; else by qsub as that user. Attributes are
        keywords (Priority=5, Rerunable="False"); l_NAME is a resource (l_walltime="1:00"). A job that root
        submits runs as a test user: root's own login files may do anything.
        """
        items = [("Resource_List", "select", select)] if select else []
        for name, value in attrs.items():
            items.append(("Resource_List", name[2:], value) if name.startswith("l_") else (name, None, value))
        if user or options:
            return self._qsub(text, user, queue, items, options)
        defaults = {"Output_Path": os.path.join(self.work, "out"), "Error_Path": os.path.join(self.work, "err")}
        items += [(k, None, v) for k, v in defaults.items() if k not in attrs]
        if os.geteuid() == 0 and "User_List" not in attrs:
            items.append(("User_List", None, users.NAMES[0]))
        items += [] if "Variable_List" in attrs else [("Variable_List", None, f"PBS_O_WORKDIR={self.work}")]
        return self.api.submit(items, self.script(text), queue)

    def _qsub(self, text, user, queue, items, options):
        words = ["qsub", *options]
        for name, resource, value in items:
            words += ["-l", f"{resource}={value}"] if resource else ["-W", f"{name}={value}"]
        words += ["-q", queue] if queue else []
        return self.command(*words, self.script(text), user=user).stdout.strip()

    def stat(self, job, extend=None):
        """The job's attributes, or None when the server knows no such job. History counts where it is kept."""
        extend = extend or ("x" if self.history else None)
        try:
            found = self.api.stat("job", job, extend=extend)
        except api.PbsError as e:
            if e.code in (15001, 15139):
                return None
            raise
        return found[0] if found else None

    def state(self, job):
        job = self.stat(job)
        return job.state if job else None

    def wait(self, job, state="R", limit_s=LIMIT_S, begun=True, run=None):
        """Until the job is in this state (or one of these letters); its status then.

        A job is shown as R from the order to its host on. What is done to it before the host has begun it (substate 41) is another
        thing than what tests usually mean, so R alone means that it has, unless `begun` is false. `run`: its run_count then.
        """
        def check():
            s = self.stat(job)
            if not s or s.state not in state or run not in (None, s.run_count):
                return None
            return None if begun and state == "R" and s.get("substate") == "41" else s
        return until(check, lambda: f"job {job} in state {state}; it is {self.describe(job)}", limit_s)

    def wait_gone(self, job, limit_s=LIMIT_S):
        """Until the job has ended: unknown, or history."""
        until(lambda: self.state(job) in (None, "F", "X"),
                   lambda: f"the end of job {job}; it is {self.describe(job)}", limit_s)

    def describe(self, job):
        s = self.stat(job)
        return f"{s.state} {s.get('substate')} ({s.get('comment', 'no comment')})" if s else "unknown"

    def node(self, name="n1"):
        return self.api.stat("vnode", name)[0]

    def file(self, name):
        """The text of a file of the work directory, None when it is not there."""
        try:
            with open(os.path.join(self.work, name), encoding="utf-8") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def blank(self, *names):
        """Empty files in the work directory, in which jobs of any user may write."""
        for name in names:
            path = os.path.join(self.work, name)
            if os.path.exists(path):  # of another user: with fs.protected_regular root may not open it to create it
                os.truncate(path, 0)
            else:
                with open(path, "x", encoding="ascii"):
                    pass
            os.chmod(path, 0o666)

    def clean(self):
        """No jobs, for the next test on this complex."""
        jobs = self.api.select()
        if jobs:
            self.api.delete_list(jobs, "force")
        until(lambda: not self.api.select(), "the end of all jobs")

    def report(self):
        """What explains a failed test."""
        parts = [self.control("status", check=False).stdout]
        try:
            jobs = self.again().stat("job", extend="x" if self.history else None)
            parts += [f"{j.name}: {dict(j)}" for j in jobs[:REPORTED_JOBS]]
        except (api.PbsError, OSError) as e:
            parts.append(f"no job status: {e}")
        return "\n".join(parts + self._last_words())

    def _last_words(self):
        """The end of each log, without the questions of whoever waited."""
        logs = []
        for line in self.logs(lines=READ_LINES).splitlines():
            if line.startswith("==> ") or not logs:
                logs.append([line])
            elif not POLLS.search(line):
                logs[-1].append(line)
        return [line for log in logs for line in log[:1] + log[1:][-REPORTED_LINES:]]
