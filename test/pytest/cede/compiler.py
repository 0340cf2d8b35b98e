"""Small C programs for jobs, compiled against the public headers and libpbs.so, as a site's user would do it."""
import os
import subprocess

PROGRAMS = os.path.join(os.path.dirname(__file__), "programs")
INCLUDE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "ifl", "include")


def program(cx, name):
    """The executable of programs/NAME.c, in the complex's work directory."""
    path = os.path.join(cx.work, name)
    lib = os.path.dirname(os.environ["CEDE_LIBPBS"])
    if not os.path.exists(path):
        lib = os.path.join(cx.build, "lib") if os.path.exists(os.path.join(cx.build, "lib", "libpbs.so")) else lib
        subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Werror", "-I", INCLUDE,
                        os.path.join(PROGRAMS, name + ".c"), "-L", lib, "-lpbs", f"-Wl,-rpath,{lib}", "-o", path + ".new"],
                       check=True)
        os.rename(path + ".new", path)
    return path
