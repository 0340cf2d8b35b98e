"""An installed tree and the complex that its init script starts, as a site has it; below a directory of its own."""
import contextlib
import os
import signal
import socket
import subprocess

from . import api, faults, ports
from .complex import Complex

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
LOCKS = {"server": "server_priv/server.lock", "mom": "mom_priv/mom.lock", "sched": "sched_priv/sched.lock",
         "comm": "server_priv/comm.lock"}


def source_version(top=ROOT):
    """The version of Cede that this source tree builds, as three numbers."""
    with open(os.path.join(top, "GNUmakefile"), encoding="utf-8") as f:
        return next(line.split()[-1] for line in f if line.startswith("VERSION  :="))


class Installed(Complex):
    """make install, pbs.conf, pbs_init.d. Jobs, commands and waiting are those of Complex."""

    def __init__(self, **keys):
        super().__init__(nodes=1)
        self.exec = os.path.join(self.top, "exec")
        os.mkdir(self.dir)
        self.make("install")
        self.keys = {"PBS_EXEC": self.exec, "PBS_HOME": self.home, "PBS_SERVER": socket.gethostname(),
                     "PBS_BATCH_SERVICE_PORT": ports.claim(self.dir), "PBS_MANAGER_SERVICE_PORT": ports.claim(self.dir),
                     "PBS_START_SERVER": 1, "PBS_START_MOM": 1, "PBS_START_SCHED": 1, "PBS_START_COMM": 1, **keys}
        self.write_conf()

    def make(self, what):
        """tools/install, as `make install` and `make uninstall` call it."""
        subprocess.run([os.path.join(ROOT, "tools", "install"), what, self.build, "", self.exec], check=True,
                       stdout=subprocess.DEVNULL)

    def flags(self, **env):
        """What a compiler is told to build a program against this tree: the words of pkg-config."""
        where = {"PKG_CONFIG_PATH": f"{self.exec}/lib/pkgconfig", **env}
        return subprocess.run(["pkg-config", "--cflags", "--libs", "pbs"], capture_output=True, text=True, check=True,
                              env={**os.environ, **where}).stdout.split()

    def write_conf(self):
        with open(self.conf, "w", encoding="ascii") as f:
            f.writelines(f"{k}={v}\n" for k, v in self.keys.items())

    @property
    def env(self):
        env = super().env
        env["PATH"] = f"{self.exec}/bin:{self.exec}/sbin:" + os.environ.get("PATH", "/usr/bin:/bin")
        return env

    def init(self, word, check=True, **env):
        """pbs_init.d WORD, with these variables beside; it must let go of our pipes to return."""
        return self.command(os.path.join(self.exec, "libexec", "pbs_init.d"), word, check=check, limit_s=200, env=env)

    def start(self):
        self.init("start")
        return self

    def stop(self):
        """No process of a job stays behind, no file either."""
        if self.pid("server"):
            self.again().manager(api.MSET, api.SERVER, "", [("scheduling", None, "False")])
            self.clean()
            self.api.close()
        self.init("stop")
        # A shepherd whose job was deleted by force waits for its MOM, which has ended.
        for pid in faults.processes_called(f"{self.exec}/libexec/pbs_shepherd"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.remove()

    def pid(self, daemon):
        try:
            with open(os.path.join(self.home, LOCKS[daemon]), encoding="ascii") as f:
                return int(f.read() or 0)
        except FileNotFoundError:
            return 0

    def logs(self, daemon=None, lines=60):
        text = []
        for name in [daemon] if daemon else LOCKS:
            folder = os.path.join(self.home, f"{name}_logs")
            for log in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
                with open(os.path.join(folder, log), encoding="utf-8", errors="replace") as f:
                    text += f.readlines()[-lines:]
        return "".join(text)
