"""Files in the working directory of jobs."""
import os


def touch(cx, name):
    with open(os.path.join(cx.work, name), "w", encoding="ascii"):
        pass


def exists(cx, name):
    return os.path.exists(os.path.join(cx.work, name))
