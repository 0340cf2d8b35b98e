"""Users that tests submit as. Root makes pbstest1 to pbstest3 once; anybody else is only himself."""
import contextlib
import fcntl
import os
import pwd
import shutil
import subprocess

NAMES = ("pbstest1", "pbstest2", "pbstest3")
GROUP = "pbstestg"


@contextlib.contextmanager
def accounts():
    """The files of accounts are ours meanwhile, against the other processes that run tests: useradd puts locks and copies beside
    them, refuses where it finds those of another, and a copy of /etc must hold none of them."""
    with open("/tmp/.cede-users.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def copy_etc(to):
    """A copy of /etc, which is not there yet, with no account half written."""
    with accounts():
        shutil.copytree("/etc", to, symlinks=True)


def ensure():
    """Make the test users where that is possible. Safe to call from several processes at once."""
    if os.geteuid() != 0:
        return
    with accounts():
        subprocess.run(["groupadd", "-f", GROUP], check=True)
        for name in NAMES:
            try:
                pwd.getpwnam(name)
            except KeyError:
                subprocess.run(["useradd", "-m", "-s", "/bin/bash", "-G", GROUP, name], check=True)


def available():
    """Names of users other than ourselves that commands can be run as."""
    return NAMES if os.geteuid() == 0 else ()


def me():
    return pwd.getpwuid(os.geteuid()).pw_name


@contextlib.contextmanager
def acting_as(name):
    """Connections made meanwhile are this user's: the kernel tells the server so. As root only."""
    os.seteuid(pwd.getpwnam(name).pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)
