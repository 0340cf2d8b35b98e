"""A machine with systemd as its first process: namespaces and control groups of its own over the root of a Debian, which it does not change.

Lan() is a switch; Machine(lan, number, root, home) has the name nN and the address 10.78.0.N, and is plugged into it.
"""
import contextlib
import os
import shutil
import subprocess

from .site import Namespace
from .wait import until

LIMIT_OF_A_COMMAND_S = 170
# The machine's groups are its root of each hierarchy of this kernel, as in a container.
START = """
for m in $(findmnt -rno TARGET -t cgroup,cgroup2); do
    mkdir $m/{group}
    [ ! -e $m/cpuset.cpus ] || {{ cat $m/cpuset.cpus >$m/{group}/cpuset.cpus; cat $m/cpuset.mems >$m/{group}/cpuset.mems; }}
    echo $$ >$m/{group}/cgroup.procs
done
exec unshare --net --pid --uts --ipc --mount --cgroup --fork --kill-child sh -ec '{boot}'
"""
BOOT = """
mount --make-rprivate /
mount -t tmpfs upper {top}/over
mkdir {top}/over/upper {top}/over/work
mount -t overlay -o lowerdir={root},upperdir={top}/over/upper,workdir={top}/over/work root {top}/root
cd {top}/root
mount --bind {home} home
mount -t proc proc proc
mount -t sysfs -o ro sys sys
for m in $(findmnt -rno TARGET -t cgroup,cgroup2); do
    [ $m = /sys/fs/cgroup ] || mountpoint -q .$m || mountpoint -q ./sys/fs/cgroup || mount -t tmpfs -o mode=755 groups ./sys/fs/cgroup
    mkdir -p .$m
    mount -t $(findmnt -rno FSTYPE $m) -o $(findmnt -rno FS-OPTIONS $m) groups .$m
done
mount -t tmpfs run run
mount -t tmpfs shm dev/shm
ip link set lo up
echo {name} >etc/hostname
echo "127.0.0.1 localhost" >etc/hosts
for n in 1 2 3 4; do echo "10.78.0.$n n$n" >>etc/hosts; done
pivot_root . mnt
umount -l /mnt
exec env -i container=cede PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb /lib/systemd/systemd --log-target=null --show-status=no \\
    </dev/null >/dev/null 2>&1
"""


class Lan:
    """Ended by stop(), after its machines."""

    def __init__(self):
        self.net = Namespace(["--net"])
        self.switch("ip link add br0 type bridge; ip link set br0 up")

    def switch(self, script):
        subprocess.run(["nsenter", "-t", str(self.net.pid), "-n", "sh", "-ec", script], check=True)

    def stop(self):
        self.net.end()


class Machine:
    """`root`: a Debian with systemd, dbus and iproute2. `home`: the folder that is /home. Ended by stop()."""

    def __init__(self, lan, number, root, home, top):
        self.name, self.top = f"n{number}", os.path.join(top, f"n{number}")
        for folder in ("over", "root"):
            os.makedirs(os.path.join(self.top, folder))
        self.group = f"cede_machine.{os.getpid()}.{self.name}"
        boot = BOOT.format(top=self.top, root=root, home=home, name=self.name)
        self.unshare = subprocess.Popen(["sh", "-ec", START.format(group=self.group, boot=boot)], stdin=subprocess.DEVNULL)
        try:
            self.first = until(self._first, f"systemd of {self.name}", limit_s=60)
            subprocess.run(["ip", "link", "add", "name", "eth0", "netns", self.first, "type", "veth", "peer", "name", self.name,
                            "netns", str(lan.net.pid)], check=True)
            lan.switch(f"ip link set {self.name} master br0; ip link set {self.name} up")
            self.run(f"ip addr add 10.78.0.{number}/24 dev eth0; ip link set eth0 up; systemctl is-system-running --wait")
        except BaseException:
            self.stop()
            raise

    def _first(self):
        """The process of systemd, when it takes commands; None: not yet."""
        assert self.unshare.poll() is None, f"{self.name} has ended, exit {self.unshare.returncode}"
        with open(f"/proc/{self.unshare.pid}/task/{self.unshare.pid}/children", encoding="ascii") as f:
            child = f.read().split()
        with contextlib.suppress(FileNotFoundError):
            if child and os.readlink(f"/proc/{child[0]}/exe").endswith("/systemd") and \
                    os.path.exists(f"/proc/{child[0]}/root/run/systemd/private"):
                return child[0]
        return None

    def enter(self, *words):
        """A command line that runs here."""
        return ["nsenter", "-t", self.first, "-n", "-p", "-u", "-i", "-m", "-C", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive", *words]

    def run(self, script, user=None):
        """What lines of bash have said, on either channel, as that user with the login environment or as root."""
        words = ["su", "-", user, "-c", script] if user else ["bash", "-euc", script]
        done = subprocess.run(self.enter(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_OF_A_COMMAND_S,
                              stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == 0, f"{self.name}: {script}: exit {done.returncode}\n{done.stdout}"
        return done.stdout

    def stop(self):
        self.unshare.kill()
        self.unshare.wait(60)
        groups = subprocess.run(["findmnt", "-rno", "TARGET", "-t", "cgroup,cgroup2"], capture_output=True, text=True, check=True).stdout.split()
        for folder in groups:
            until(lambda: self._remove(os.path.join(folder, self.group)), f"the end of {self.name}'s processes in {folder}", limit_s=60)
        shutil.rmtree(self.top, ignore_errors=True)

    @staticmethod
    def _remove(group):
        for folder, _, _ in os.walk(group, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        return not os.path.exists(group)
