"""The build tree under test, at a place that every user can reach."""
import fcntl
import os
import shutil
import stat
import tempfile


def is_sanitized():
    """Python then calls a libpbs of another build, and memory says nothing."""
    return os.environ["CEDE_LIBPBS"] != os.path.join(os.environ["CEDE_BUILD"], "lib", "libpbs.so")


def _reachable(path):
    """May others go through every directory above?"""
    while True:
        if not os.stat(path).st_mode & stat.S_IXOTH:
            return False
        if path == "/":
            return True
        path = os.path.dirname(path)


def place(build):
    """`build`, or, below a closed directory such as /root, one copy of it below /tmp for all test processes."""
    build = os.path.realpath(build)
    if os.geteuid() != 0 or _reachable(build):
        return build
    newest = max(int(os.stat(os.path.join(build, d)).st_mtime) for d in ("bin", "sbin", "lib", "share/man/man7"))
    copy = os.path.join(tempfile.gettempdir(), f"cede-build-{abs(hash_of(build)):x}-{newest}")
    with open(copy + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(copy):
            _copy(build, copy)
    return copy


def hash_of(text):
    """The same in every process, unlike hash()."""
    value = 5381
    for byte in text.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def _copy(build, copy):
    part = copy + ".part"
    shutil.rmtree(part, ignore_errors=True)
    os.mkdir(part, 0o755)
    for name in ("bin", "sbin", "lib", "libexec", "share", "etc"):
        source = os.path.join(build, name)
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(part, name))
    os.chmod(part, 0o755)
    os.rename(part, copy)
