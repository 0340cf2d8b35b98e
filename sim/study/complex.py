"""Private complexes that pass the days of a workload: pbs_server and pbs_sched with pbs_execsim, in stepped time.

Everything is below one temporary directory and on sockets there. A process of its own, the keeper, ends the daemons and removes
the directory when pbs_sim ends, however it ends: it reads a pipe that only pbs_sim holds open.
"""
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

READY_LIMIT_S = 60
QMGR_LINES = 200
SCHED_LOG_EVENTS = 767   # its default; the estimates of start times are read from this log, whatever the site logs


class Failed(Exception):
    """A simulation could not be made, and why."""


class Keeper:
    """The directory of a study. Used as a context: afterwards nothing is left of it, nor of the processes noted here."""

    def __init__(self, parent=None):
        try:
            self.top = tempfile.mkdtemp(prefix="pbs_sim.", dir=parent)
            if os.geteuid() == 0:
                os.chmod(self.top, 0o755)   # the scheduler runs as another user
        except OSError as e:
            raise Failed(f"no temporary directory: {e.filename or parent}: {e.strerror}") from e
        self._lock = threading.Lock()
        sys.stdout.flush()
        sys.stderr.flush()
        reading, self._pipe = os.pipe()
        self._keeper = os.fork()
        if self._keeper == 0:
            os.close(self._pipe)
            self._keep(reading)
        os.close(reading)

    def _keep(self, reading):
        """In the keeper: never returns."""
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        alive = set()
        with os.fdopen(reading, "r", encoding="ascii") as lines:
            for line in lines:
                word, pid = line.split()
                (alive.add if word == "began" else alive.discard)(int(pid))
        for _ in range(100):
            alive |= self._ours()   # one that began while pbs_sim was killed was not noted
            for pid in alive:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            alive = set()
            shutil.rmtree(self.top, ignore_errors=True)
            if not os.path.exists(self.top) and not self._ours():
                break
            time.sleep(0.1)   # a process that was killed may still write
        os._exit(0)

    def _ours(self):
        """Processes of complexes below the directory: their pbs.conf is there."""
        key, found = f"PBS_CONF_FILE={self.top}/".encode(), set()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/environ", "rb") as f:
                    if any(word.startswith(key) for word in f.read().split(b"\0")):
                        found.add(int(pid))
        return found

    def _tell(self, word, pid):
        with self._lock:
            if self._pipe is None:
                if word == "began":
                    os.kill(pid, signal.SIGKILL)
                return
            os.write(self._pipe, f"{word} {pid}\n".encode("ascii"))

    def start(self, words, **kwargs):
        """A Popen whose process does not outlive pbs_sim."""
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True, **kwargs)   # ^C is for pbs_sim alone
        self._tell("began", process.pid)
        return process

    def over(self, process):
        """The process has been waited for: its number may be used again."""
        self._tell("ended", process.pid)

    def __enter__(self):
        return self

    def end(self):
        """End what runs and remove the directory, now. May be called again."""
        with self._lock:
            pipe, self._pipe = self._pipe, None
        if pipe is not None:
            os.close(pipe)
            os.waitpid(self._keeper, 0)

    def __exit__(self, *_):
        self.end()


class Complex:
    """One complex, for one simulation. `site` says what it is like (site.Site)."""

    def __init__(self, keeper, exec_dir, name, site, begin_s):
        self.keeper, self.exec_dir, self.site, self.begin_s = keeper, exec_dir, site, begin_s
        self.top = os.path.join(keeper.top, name)
        self.home = os.path.join(self.top, "home")
        self.server = self.sched = self.simulator = None
        self.cancelled = False

    # --- files
    def _write(self, name, text):
        path = os.path.join(self.top, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def _make_files(self):
        priv = os.path.join(self.home, "sched_priv")
        os.makedirs(self.home, mode=0o755)
        host = socket.gethostname().split(".")[0] or "localhost"
        # Port 1: a client that does not find the socket must not find the server of this host instead.
        self._write("pbs.conf", f"PBS_EXEC={self.exec_dir}\nPBS_HOME={self.home}\nPBS_SERVER={host}\n"
                    "PBS_SERVER_HOST_NAME=127.0.0.1\nPBS_BATCH_SERVICE_PORT=1\nPBS_START_SERVER=1\nPBS_START_SCHED=1\nPBS_START_MOM=0\n")
        os.makedirs(priv, mode=0o750)
        for file, text in self.site.sched_files.items():
            self._write(os.path.join("home", "sched_priv", file), text)

    @property
    def env(self):
        """That of the daemons: nothing of the caller's complex."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("PBS_")}
        return {**env, "PBS_CONF_FILE": os.path.join(self.top, "pbs.conf")}

    def _daemon(self, name, *options, **kwargs):
        log = self._write(f"{name}.said", "")
        with open(log, "ab") as out:
            return self.keeper.start([os.path.join(self.exec_dir, "sbin", f"pbs_{name}"), *options], env=self.env,
                                     stderr=out, stdout=kwargs.pop("stdout", out), cwd=self.top, **kwargs)

    def said(self, name):
        """The last words of a daemon that has failed, about the caller's files by their own names."""
        try:
            with open(os.path.join(self.top, f"{name}.said"), encoding="utf-8", errors="replace") as f:
                text = " ".join(f.read().split()[-60:])
        except OSError:
            return ""
        for folder in (os.path.join(self.home, "sched_priv"), self.top):
            for file in (*self.site.sched_files, "rules"):
                text = text.replace(os.path.join(folder, file), self.site.named.get(file, file))
        return text.removeprefix(f"pbs_{name}: ")

    def complaints(self):
        """What the scheduler says about its files: it starts, but does not use these lines."""
        return [f"{self.site.named.get(file, file)}: {text}"
                for _, _, _, kind, file, text in (line.split(";", 5) for line in self._log("sched") if line.count(";") >= 5)
                if kind == "Fil" and file in self.site.sched_files]

    # --- start
    def _wait_for(self, process, name, is_ready):
        end = time.monotonic() + READY_LIMIT_S
        while not is_ready():
            if process.poll() is not None:
                raise Failed(f"pbs_{name} has ended: {self.said(name) or self._log_tail(name)}")
            if time.monotonic() > end:
                raise Failed(f"pbs_{name} is not ready after {READY_LIMIT_S} s")
            time.sleep(0.01)

    def _server_listens(self):
        try:
            folder = os.open(self.home, os.O_PATH)
        except OSError:
            return False
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(f"/proc/self/fd/{folder}/pbs_server.sock")   # an address holds 107 bytes
            return True
        except OSError:
            return False
        finally:
            os.close(folder)

    def _sched_waits(self):
        done = subprocess.run([os.path.join(self.exec_dir, "bin", "qmgr"), "-c", "list sched default state"], env=self.env,
                              capture_output=True, text=True, check=False)
        return "idle" in done.stdout or "scheduling" in done.stdout

    def _log(self, name):
        """Lines of the daemon's latest log."""
        folder = os.path.join(self.home, f"{name}_logs")
        with contextlib.suppress(OSError, IndexError):
            with open(os.path.join(folder, sorted(os.listdir(folder))[-1]), encoding="utf-8", errors="replace") as f:
                return f.read().splitlines()
        return []

    def _log_tail(self, name):
        return (self._log(name) or ["it has said nothing"])[-1]

    def _qmgr(self, lines):
        for at in range(0, len(lines), QMGR_LINES):
            part = lines[at:at + QMGR_LINES]
            done = subprocess.run([os.path.join(self.exec_dir, "bin", "qmgr")], input="\n".join(part) + "\n", env=self.env,
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                raise Failed(f"the server of the simulation refuses a setting: {' '.join(done.stderr.split())}")

    def start(self):
        """Server, settings, scheduler. Failed: what is in the way."""
        try:
            self._make_files()
        except OSError as e:
            raise Failed(f"{e.filename}: {e.strerror}") from e
        self.server = self._daemon("server", "-N", "--virtual", "--local", "--begin", str(self.begin_s), "-e", "0", "-t", "create")
        self._wait_for(self.server, "server", self._server_listens)
        self._qmgr([*self.site.server_lines, f"set sched default log_events = {SCHED_LOG_EVENTS}"])
        self.sched = self._daemon("sched", "-N")
        self._wait_for(self.sched, "sched", self._sched_waits)

    # --- the days
    def run(self, feed, progress):
        """Pass them. `feed` is the text for pbs_execsim --workload; progress(now_s, submitted, ended) is called now and then.

        The dict: "refused" (line of the feed: why), "stuck" (True if jobs are left that never start).
        """
        nodes = self._write("nodes", self.site.nodes_text())
        rules = self._write("rules", self.site.rules)
        workload = self._write("workload", feed)
        self.simulator = self._daemon("execsim", "--virtual", "--file", nodes, "--rules", rules, "--workload", workload,
                                      stdout=subprocess.PIPE, text=True)
        out = {"refused": {}, "stuck": False, "end_s": 0.0}
        over = False
        with self.simulator.stdout as lines:
            for line in lines:
                word, _, rest = line.rstrip("\n").partition(" ")
                if word == "refused":
                    number, _, why = rest.partition(" ")
                    out["refused"][int(number)] = why
                    continue
                now_ms, submitted, ended = map(int, rest.split())
                out["end_s"] = now_ms / 1000
                out["stuck"] = word == "stuck"
                over = over or word != "at"
                progress(now_ms / 1000, submitted, ended)
        self.simulator.wait()
        if not over:
            raise Failed(f"the simulation has broken off: {self.said('execsim') or self._log_tail('server')}")
        return out

    def stop(self):
        """End the daemons, in good order where that is quick; the accounting is complete then."""
        for process, limit in ((self.simulator, 0), (self.sched, 0), (self.server, 20)):
            if process is None:
                continue
            process.send_signal(signal.SIGTERM if limit else signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(limit or 10)
            if process.returncode is None:
                process.kill()
                process.wait()
            self.keeper.over(process)

    def accounting(self):
        """The accounting files, in order."""
        return self._files(os.path.join("server_priv", "accounting"))

    def sched_logs(self):
        """The logs of the scheduler, in order."""
        return self._files("sched_logs")

    def _files(self, folder):
        folder = os.path.join(self.home, folder)
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))] if os.path.isdir(folder) else []

    def remove(self):
        """Its files, early: a study of many simulations needs less room."""
        shutil.rmtree(self.top, ignore_errors=True)
