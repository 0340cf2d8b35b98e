"""A server whose disk is full promises nothing, forgets nothing and goes on when there is room."""
import contextlib
import os
import re
import shutil
import subprocess

import pytest

from harness.wait import until


@pytest.fixture
def small(cx):
    """The server's files lie on a file system of 24 MB; the path of what fills it."""
    cx.stop_daemon("sched")
    cx.stop_daemon("server")
    kept = cx.home + ".kept"
    os.rename(cx.home, kept)
    os.mkdir(cx.home)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=755", "tmpfs", cx.home], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        shutil.copytree(kept, cx.home, dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
        cx.restart("server")
        cx.restart("sched")
        cx.again()
        yield os.path.join(cx.home, "filler")
    finally:
        cx.stop_daemon("sched")
        cx.stop_daemon("server")
        subprocess.run(["umount", "-l", cx.home], check=False)


def fill(path):
    with open(path, "wb", buffering=0) as f, contextlib.suppress(OSError):
        while True:
            f.write(bytes(4096))


def use_up(cx):
    """Submit held jobs until the store has no room for one, and return the submission of that one. What a full disk leaves is
    the room that the store's log has made before (server/store/wal_room.h)."""
    script = cx.script("sleep 600\n" + "# and no more\n" * 14000)
    while True:
        one = subprocess.Popen(["qsub", "-h", script], env=cx.env, cwd=cx.work, stdout=subprocess.DEVNULL)
        until(lambda p=one: p.poll() is not None or "cannot be stored" in cx.log("server"), lambda: cx.log("server"))
        if one.poll() is None:
            return one
        assert one.returncode == 0


def begin_block(cx, folder):
    """A line behind which the log has a block nearly for itself: what is logged next finds room, whatever is full."""
    directory = os.path.join(cx.home, folder)
    path = os.path.join(directory, max(os.listdir(directory)))
    with open(path, "ab", buffering=0) as f:
        begin = b"01/01/2000 00:00:00.000000;0002;Server@here;Svr;Log;"
        n = -(os.path.getsize(path) + len(begin) + 1) % 4096
        f.write(begin + b"." * n + b"\n")
        f.write(b"01/01/2000 00:00:00.000000;0002;Server@here;Svr;Log;here\n")


def lines_of(cx, folder):
    directory = os.path.join(cx.home, folder)
    text = ""
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), encoding="utf-8") as f:
            text += f.read()
    return text.split("\n")[:-1]  # the last line may be under way


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.complex(nodes=1, ncpus=4, history=True)
@pytest.mark.parametrize("killed", [False, True])
def test_requests_to_a_server_with_a_full_disk_are_done_when_there_is_room(cx, small, killed):
    ends = cx.submit(f"while [ ! -e {cx.work}/go ]; do sleep 0.1; done")
    cx.wait(ends)
    begin_block(cx, "server_logs")
    fill(small)
    before = use_up(cx)
    script = cx.script("sleep 600")
    late = subprocess.Popen(["qsub", "-r", "n", script], env=cx.env, cwd=cx.work, stdout=subprocess.PIPE, text=True)
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    assert cx.stat(ends)  # questions are answered
    assert late.poll() is None and before.poll() is None  # promises are not
    started = False
    if killed:
        cx.kill("server")
        started = not cx.control("restart", "server", check=False).returncode  # the room of what was not committed may do for it
    os.unlink(small)
    if killed and not started:
        cx.restart("server")
    if killed:
        cx.again()
    assert late.wait(120) == 0 and before.wait(120) == 0
    job = late.stdout.read().strip()
    cx.wait(job)
    assert cx.wait(ends, state="F")["Exit_status"] == "0"
    until(lambda: any(f";S;{job};" in line for line in lines_of(cx, "server_priv/accounting")), lambda: cx.describe(job))
    kinds = [line.split(";")[1:3] for line in lines_of(cx, "server_priv/accounting")]
    assert sorted(k for k, of in kinds if of == ends) == ["E", "Q", "S"]
    assert sorted(k for k, of in kinds if of == job) == ["Q", "S"]
    for line in lines_of(cx, "server_logs"):
        assert killed or len(re.findall(";[0-9a-f]{4};Server@", line)) == 1, line
