"""Users of other hosts: a munged, and what is installed where they log in."""
import os
import shutil
import subprocess

from harness.wait import until


class Munged:
    """A munged of our own, below a directory of our own."""

    def __init__(self, top, name, key_of=None, origin=None):
        """key_of: another munged, of whose realm this one is; origin: the address of the host that it is on."""
        self.dir = os.path.join(top, name)
        os.mkdir(self.dir, 0o755)
        self.socket = os.path.join(self.dir, "socket")
        key = os.path.join(self.dir, "key")
        if key_of:
            shutil.copy(os.path.join(key_of.dir, "key"), key)
        else:
            with open(key, "wb") as f:
                f.write(os.urandom(1024))
        os.chmod(key, 0o600)
        self.process = subprocess.Popen(
            ["munged", "--foreground", "--force", f"--socket={self.socket}", f"--key-file={key}",
             f"--log-file={self.dir}/log", f"--pid-file={self.dir}/pid", f"--seed-file={self.dir}/seed",
             *([f"--origin={origin}"] if origin else [])],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: os.path.exists(self.socket), "munged's socket")

    def stop(self):
        self.process.terminate()
        self.process.wait(120)


def port_of(cx):
    for line in open(cx.conf, encoding="ascii"):
        if line.startswith("PBS_BATCH_SERVICE_PORT="):
            return int(line.split("=")[1])
    raise AssertionError("no port")


def login_host(cx, name, munge_socket):
    """PBS_HOME and pbs.conf as on a host where users log in: the CA's certificate, and nothing of the server."""
    home = os.path.join(cx.top, name)
    os.makedirs(os.path.join(home, "certs"), 0o755)
    os.chmod(home, 0o755)
    shutil.copy(os.path.join(cx.home, "certs", "ca.crt"), os.path.join(home, "certs", "ca.crt"))
    conf = os.path.join(home, "pbs.conf")
    with open(conf, "w", encoding="ascii") as f:
        f.write(f"PBS_EXEC={cx.build}\nPBS_HOME={home}\nPBS_SERVER=127.0.0.1\n"
                f"PBS_BATCH_SERVICE_PORT={port_of(cx)}\nPBS_MUNGE_SOCKET={munge_socket}\n")
    return {"PBS_CONF_FILE": conf}
