"""Small C programs for jobs, compiled against the public headers and libpbs.so, as a site's user would do it.

Against the build tree, or, where the complex was installed, against what was installed, as its pkg-config says."""
import os
import shutil
import subprocess

PROGRAMS = os.path.join(os.path.dirname(__file__), "programs")
INCLUDE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "ifl", "include")


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
