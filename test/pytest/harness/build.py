"""The build tree under test, at a place that every user can reach; and small C programs for jobs, compiled against the public
headers and libpbs.so as a site's user would do it: those of the build tree, or what was installed, as its pkg-config says."""
import fcntl
import os
import shutil
import stat
import subprocess
import tempfile

PROGRAMS = os.path.join(os.path.dirname(__file__), "programs")
INCLUDE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "ifl", "include")


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


def _flags(cx):
    if hasattr(cx, "flags"):
        return cx.flags()
    for name in ("libpbs.so", "libpbs.so.0"):
        shutil.copy(os.environ["CEDE_LIBPBS"], os.path.join(cx.work, name))
    return ["-I", INCLUDE, "-L", cx.work, "-lpbs", "-Wl,-rpath,$ORIGIN"]


def program(cx, name):
    """The executable of programs/NAME.c, in the complex's work directory, with the library beside it."""
    path = os.path.join(cx.work, name)
    if not os.path.exists(path):
        subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Werror", os.path.join(PROGRAMS, name + ".c"),
                        "-o", path + ".new", *_flags(cx)], check=True)
        os.rename(path + ".new", path)
    return path


def mpi_program(cx, name, which):
    """The executable of programs/NAME.c, built by the compiler wrapper of an MPI library (mpich or openmpi)."""
    path = os.path.join(cx.work, f"{name}.{which}")
    subprocess.run([f"mpicc.{which}", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Werror",
                    os.path.join(PROGRAMS, name + ".c"), "-o", path], check=True)
    return path


def pmix_program(cx, name, folder=PROGRAMS):
    """The executable of NAME.c, which uses nothing but pmix.h."""
    path = os.path.join(cx.work, name)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "pmix"], check=True, capture_output=True, text=True).stdout.split()
    subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Werror", os.path.join(folder, name + ".c"), "-o", path, *flags],
                   check=True)
    return path
