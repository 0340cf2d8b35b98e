"""A site: hosts that are not one. Each has its own network, files, processes and host name, by namespaces of Linux.

Every host has a link to one switch, and addresses of 10.77.0.0/24 and fd77::/64 that exist inside these namespaces only. An
installed tree is at /opt/pbs, as `make install` makes it; /etc, /var/spool, /run and /tmp are the host's own, /home is its own
or one for all. /srv/site/HOST is where an scp of a test finds the files of the others. /srv/source and /srv/build
are what is tested: its own place may be below a folder that each host has for itself. What is set up follows doc/running.md: pbs_postinstall, pbs_init.d, pbs_keys, MUNGE.
"""
import contextlib
import json
import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from . import users
from .installed import ROOT
from .wait import LIMIT_S, until

LIMIT_OF_A_COMMAND_S = 120
KINDS = ["--net", "--mount", "--uts", "--ipc", "--pid"]
ENTER = ["-m", "-n", "-u", "-i", "-p"]
USER, OTHER = users.NAMES[:2]

# The first process of a host: says that it is there, collects ended processes, and takes all with it when it ends.
INIT = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
print("up", flush=True)
while True:
    signal.sigwait([signal.SIGCHLD])
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
"""
MOUNTS = """
mount --make-rprivate /
mount --bind {top}/etc /etc
mount --bind {home} /home
mount -t tmpfs none /opt
mkdir /opt/pbs
mount --bind {tree} /opt/pbs
mount --bind {top}/spool /var/spool
mount --bind {top}/run /run
mount -t tmpfs none /srv
mkdir /srv/site
mount --bind {site} /srv/site
mkdir /srv/source /srv/build
mount --bind {source} /srv/source
mount --bind {build} /srv/build
mount --bind {top}/tmp /tmp
mount -t proc proc /proc
mount -o remount,bind /sys 2>/dev/null || true
hostname {name}
ip link set lo up
"""


def reason_against():
    """Why there can be no site here; None: there can."""
    if os.geteuid() != 0:
        return "only root makes namespaces"
    for program in ("unshare", "nsenter", "ip", "munged"):
        if not shutil.which(program):
            return f"there is no {program}"
    tried = subprocess.run(["unshare", *KINDS, "--fork", "sh", "-ec", "mount --make-rprivate /; hostname n0\n"
                            "ip link add br0 type bridge; ip link add veth8 type veth peer name veth9"],
                           capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"no namespaces here: {tried.stderr.strip()}"


class Namespace:
    """A first process with namespaces of its own, which live as long as it."""

    def __init__(self, kinds):
        # By its path: a wrapper would put a process of its own in between.
        python = os.path.realpath(sys.executable)
        self.unshare = subprocess.Popen(["unshare", *kinds, "--fork", "--kill-child", python, "-c", INIT],
                                        stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        assert self.unshare.stdout.readline() == b"up\n"
        with open(f"/proc/{self.unshare.pid}/task/{self.unshare.pid}/children", encoding="ascii") as f:
            self.pid = int(f.read().split()[0])

    def end(self):
        self.unshare.kill()
        self.unshare.wait(120)
        self.unshare.stdout.close()


class Host:
    """One of a site; number N has the addresses 10.77.0.N and fd77::N."""

    def __init__(self, site, number):
        self.site, self.number, self.name = site, number, f"n{number}"
        self.address, self.address6 = f"10.77.0.{number}", f"fd77::{number}"
        self.top = os.path.join(site.top, self.name)
        self.home = os.path.join(site.top, "home") if site.shared_home else os.path.join(self.top, "home")
        self.ns = None
        for folder, mode in (("spool", 0o755), ("run/munge", 0o755), ("tmp", 0o1777)):
            os.makedirs(os.path.join(self.top, folder))
            os.chmod(os.path.join(self.top, folder), mode)
        users.copy_etc(os.path.join(self.top, "etc"))
        for name in users.NAMES:
            self._make_home(name)
        for path in ("pbs.conf", "profile.d/pbs.sh", "profile.d/pbs.csh"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path("etc", path))
        self.write("etc/nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files\n")
        self.write("etc/munge.key", site.munge_key)
        os.chmod(self.path("etc/munge.key"), 0o600)

    def _make_home(self, name):
        user = pwd.getpwnam(name)
        folder = os.path.join(self.home, name)
        if not os.path.isdir(folder):
            os.makedirs(folder, 0o755)
            os.chown(folder, user.pw_uid, user.pw_gid)

    def path(self, *below):
        """Where a file of this host is for the test: path("etc/pbs.conf"), path("spool/pbs")."""
        return os.path.join(self.top, *below)

    def write(self, below, text):
        with open(self.path(below), "wb" if isinstance(text, bytes) else "w") as f:
            f.write(text)

    def read(self, below):
        with open(self.path(below), encoding="utf-8", errors="replace") as f:
            return f.read()

    def file(self, name, user=USER):
        """A file of the user's home directory here; None: there is none."""
        try:
            with open(os.path.join(self.home, user, name), encoding="utf-8", errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def boot(self):
        """The host is there: namespaces, files, link, MUNGE."""
        self.ns = Namespace(KINDS)
        self.root(MOUNTS.format(top=self.top, site=self.site.top, home=self.home, name=self.name,
                                tree=self.site.trees.get(self.number, self.site.tree),
                                source=ROOT, build=os.environ["CEDE_BUILD"]))
        self.site.plug(self)
        v4 = "ip -4 addr flush dev lo" if self.site.only_ipv6 else f"ip addr add {self.address}/24 dev eth0"
        self.root(f"{v4}; ip -6 addr add {self.address6}/64 dev eth0 nodad; ip link set eth0 up")
        self.start_munge()
        return self

    def start_munge(self, environment=""):
        """Another one than before, if it ran."""
        self.root("[ ! -e /run/munge/pid ] || { kill $(cat /run/munge/pid); while [ -e /run/munge/pid ]; do sleep 0.05; done; }")
        self.root(f"{environment} munged --force --key-file=/etc/munge.key --log-file=/run/munge/log --pid-file=/run/munge/pid "
                  "--seed-file=/run/munge/seed --socket=/run/munge/munge.socket.2")

    def crash(self):
        """No process of it is left."""
        if self.ns:
            self.ns.end()
            self.ns = None
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path("run/munge/pid"))

    def rename(self, name):
        """All hosts know it by this name and no longer by the one before. Its programs must be started again."""
        self.name = name
        self.site.write_names()
        self.root(f"hostname {name}")

    def init(self, *words, environment="", check=True):
        """What pbs_init.d has said, on either channel."""
        done = self.run(f"{environment} /opt/pbs/libexec/pbs_init.d {' '.join(words)} 2>&1", check=check)
        return done.stdout

    def conf(self, **keys):
        """pbs.conf has these values for these keys."""
        text = "".join(line for line in self.read("etc/pbs.conf").splitlines(True) if line.split("=")[0] not in keys)
        self.write("etc/pbs.conf", text + "".join(f"{k}={v}\n" for k, v in keys.items()))

    def run(self, script, user=None, check=True, stdin=None, limit_s=LIMIT_OF_A_COMMAND_S):
        """Lines of sh here, as that user with his login environment or as root; the CompletedProcess, with text."""
        inner = ["sh", "-ec", script]
        if user:
            inner = ["su", "-", user, "-s", "/bin/sh", "-c", script]
        words = ["nsenter", "-t", str(self.ns.pid), *ENTER, "--wd=/", "--", "env", "-i",
                 "PATH=/opt/pbs/bin:/opt/pbs/sbin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", *inner]
        done = subprocess.run(words, capture_output=True, text=True, input=stdin, timeout=limit_s, check=False,
                              stdin=None if stdin is not None else subprocess.DEVNULL)
        if check and done.returncode != 0:
            raise AssertionError(f"{self.name}: {script}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def root(self, script, **how):
        return self.run(script, **how).stdout

    def user(self, script, user=USER, **how):
        """As an ordinary user who has logged in here; what it has said."""
        return self.run(script, user=user, **how).stdout

    def submit(self, text, *options, user=USER):
        """qsub of a script here; the identifier."""
        return self.user(f"cd; printf '%s\\n' {shlex.quote(text)} | qsub {shlex.join(options)}", user=user).strip()

    def link(self, up):
        """Its cable."""
        self.site.switch(f"ip link set n{self.number} {'up' if up else 'down'}")

    def log(self, daemon):
        """Files are named by the day of a clock that a test may set, so they come in the order of their last change."""
        folder = self.path("spool/pbs", f"{daemon}_logs")
        paths = [os.path.join(folder, name) for name in os.listdir(folder)] if os.path.isdir(folder) else []
        return "".join(self.read(path) for path in sorted(paths, key=os.path.getmtime))

    def undelivered(self):
        return sorted(os.listdir(self.path("spool/pbs/undelivered")))


def make_tree(top, former=None):
    """make install DESTDIR=: the tree, with all that names its place naming /opt/pbs. `former`: the build folder of another version."""
    source, build = (os.path.dirname(os.path.abspath(former)), former) if former else (ROOT, os.environ["CEDE_BUILD"])
    subprocess.run([os.path.join(source, "tools", "install"), "install", build, top, "/opt/pbs"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(top, "opt", "pbs")


class Site:
    """hosts[0], n1, has the server; all of them execute."""

    def __init__(self, tree, hosts=2, shared_home=True, nameless=(), only_ipv6=False, trees=None):
        """`trees`: hosts, by number, that have another tree than `tree`."""
        self.tree, self.trees, self.shared_home, self.only_ipv6 = tree, trees or {}, shared_home, only_ipv6
        self.top = tempfile.mkdtemp(prefix="cede-site-")
        os.chmod(self.top, 0o755)
        self.munge_key = os.urandom(1024)
        self.hosts = []
        self.net = None
        self.hosts = [Host(self, n) for n in range(1, hosts + 1)]
        self.n1, self.n2 = self.hosts[:2]
        self.n3 = self.hosts[2] if hosts > 2 else None
        self.asked = self.n1  # where job(), done() and the like ask
        self.nameless = nameless
        self.write_names()

    def write_names(self):
        """/etc/hosts of each: names and both addresses of all. `nameless` hosts, by number, have a name for themselves
        only."""
        for h in self.hosts:
            lines = ["::1 localhost ip6-localhost"] + ([] if self.only_ipv6 else ["127.0.0.1 localhost"])
            for x in self.hosts:
                if x.number in self.nameless and h is not x:
                    continue
                for address in [x.address6] if self.only_ipv6 else [x.address, x.address6]:
                    lines.append(f"{address} {x.name}.site.example {x.name}")
            h.write("etc/hosts", "\n".join(lines) + "\n")
            h.write("etc/hostname", h.name + "\n")

    def switch(self, script):
        subprocess.run(["nsenter", "-t", str(self.net.pid), "-n", "sh", "-ec", script], check=True)

    def plug(self, host):
        subprocess.run(["ip", "link", "add", "name", "eth0", "netns", str(host.ns.pid), "type", "veth", "peer", "name",
                        f"n{host.number}", "netns", str(self.net.pid)], check=True)
        self.switch(f"ip link set n{host.number} master br0; ip link set n{host.number} up")

    def boot(self):
        self.net = Namespace(["--net"])
        self.switch("ip link add br0 type bridge; ip link set br0 up")
        for h in self.hosts:
            h.boot()
        return self

    def start(self):
        """As doc/running.md says: a server's host, then the others join."""
        self.boot()
        self.n1.root(f"/opt/pbs/libexec/pbs_postinstall {self.homes} server")
        self.settle(self.n1)
        self.n1.root("/opt/pbs/libexec/pbs_init.d start")
        self.n1.root("qmgr -c 'set server job_history_enable=True'")
        self.n1.run("qmgr -c 'create node n1'", check=False)  # unless its MOM was quicker
        for h in self.hosts[1:]:
            self.n1.root(f"qmgr -c 'create node {h.name}'")
            self.join(h)
        for h in self.hosts:
            self.wait_node(h.name)
        return self

    def join(self, h):
        h.root(f"/opt/pbs/libexec/pbs_postinstall {self.homes} execution n1")
        self.settle(h)
        said = self.n1.root(f"pbs_keys token {h.name}")
        h.root(re.search(r"pbs_keys join .*", said).group(0))
        h.root("/opt/pbs/libexec/pbs_init.d start")

    @property
    def homes(self):
        return "--shared-home /home" if self.shared_home else "--no-shared-home"

    def settle(self, h):
        """Jobs have cpus enough, and are not bound to those that the machine has."""
        h.root("mkdir -p /var/spool/pbs/mom_priv; printf 'ncpus 4\\n$cpuset false\\n' >>/var/spool/pbs/mom_priv/config")

    def stop(self):
        for h in self.hosts:
            if h.ns:
                h.run("/opt/pbs/libexec/pbs_init.d stop", check=False)
        for h in self.hosts:
            h.crash()
        if self.net:
            self.net.end()
        shutil.rmtree(self.top, ignore_errors=True)

    # --- what the server says
    def job(self, job, on=None):
        """The job's attributes, of those in history too; None: unknown."""
        done = (on or self.asked).run(f"qstat -x -f -F json {job}", check=False)
        if done.returncode != 0:
            return None
        return next(iter(json.loads(done.stdout)["Jobs"].values()))

    def wait(self, job, state, limit_s=LIMIT_S):
        """Until it is in this state, or one of these letters; R alone: and its host has begun it."""
        def look():
            j = self.job(job)
            if not j or j["job_state"] not in state:
                return None
            return None if state == "R" and j["substate"] == 41 else j
        return until(look, lambda: f"job {job} in state {state}; it is {self.job(job)}", limit_s)

    def done(self, job, limit_s=LIMIT_S):
        """Until it has ended; its attributes then."""
        return self.wait(job, "F", limit_s)

    def node(self, name):
        done = self.asked.run(f"pbsnodes -F json {name}", check=False)
        return json.loads(done.stdout)["nodes"][name] if done.returncode == 0 else None

    def wait_node(self, name, state="free"):
        return until(lambda: (self.node(name) or {}).get("state") == state,
                     lambda: f"node {name} {state}; it is {self.node(name)}")

    def clean(self):
        """No jobs, and all hosts as at the beginning."""
        self.n1.root("qdel -W force $(qselect) 2>/dev/null || true")
        until(lambda: not self.n1.root("qselect").split(), "the end of all jobs")
        for h in self.hosts:
            self.wait_node(h.name)

    def report(self):
        """What explains a failed test."""
        parts = []
        for h in self.hosts:
            for daemon in ("server", "sched", "mom"):
                text = h.log(daemon).splitlines()[-120:]
                if text:
                    parts.append(f"==> {daemon} of {h.name}\n" + "\n".join(text))
        return "\n".join(parts)
