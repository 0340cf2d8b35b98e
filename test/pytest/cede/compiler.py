"""Small C programs for jobs, compiled against the public headers and libpbs.so, as a site's user would do it."""
import os
import shutil
import subprocess

PROGRAMS = os.path.join(os.path.dirname(__file__), "programs")
INCLUDE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "ifl", "include")


def program(cx, name):
    """The executable of programs/NAME.c, in the complex's work directory, with the library beside it."""
    path = os.path.join(cx.work, name)
    if not os.path.exists(path):
        shutil.copy(os.environ["CEDE_LIBPBS"], os.path.join(cx.work, "libpbs.so"))
        subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Werror", "-I", INCLUDE,
                        os.path.join(PROGRAMS, name + ".c"), "-L", cx.work, "-lpbs", "-Wl,-rpath,$ORIGIN",
                        "-o", path + ".new"], check=True)
        os.rename(path + ".new", path)
    return path
