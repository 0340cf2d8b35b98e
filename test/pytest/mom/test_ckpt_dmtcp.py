"""ckpt-dmtcp, with stand-ins for the programs of DMTCP that speak to one another as those do: by TCP, to a coordinator."""
import os
import socket
import subprocess

import pytest

from harness.checkpoints import preempt, running, stop
from harness.mom_priv import configure
from harness.wait import until
from test_ckpt_default import by, installation

alone = pytest.mark.complex(history=True, sched=False)

# Listens on all addresses, ends with its program, has an image written for any program that says so: as the real one.
COORDINATOR = """#!/usr/bin/python3
import os, socket, sys, time
args = dict(zip(sys.argv[1:], sys.argv[2:]))
s = socket.socket(); s.bind(("0.0.0.0", int(args["--coord-port"]))); s.listen()
if os.fork(): os._exit(0)
os.setsid()
with open(args["--port-file"], "w") as f: f.write(str(s.getsockname()[1]))
program = None
while True:
    c, _ = s.accept()
    word = c.recv(100).decode()
    if word == "program":
        program = c
        if os.fork() == 0:
            program.recv(1); os.kill(os.getppid(), 9); os._exit(0)
    else:
        name = args["--ckptdir"] + "/ckpt_counter.dmtcp"
        with open(name + ".temp", "w") as f: f.write(open("{work}/now").read())
        os.rename(name + ".temp", name)
        c.sendall(b"done"); c.close()
"""
LAUNCH = """#!/usr/bin/python3
import os, socket, sys, time
args = dict(zip(sys.argv[1:], sys.argv[2:]))
s = socket.create_connection((args["--coord-host"], int(args["--coord-port"]))); s.sendall(b"program")
images = [a for a in sys.argv if a.endswith(".dmtcp")]
n = int(open(images[0]).read()) if images else 0
with open("{work}/begins", "a") as f: f.write(f"{{n}} {{args['--coord-port']}} {{os.environ['PBS_JOBID']}}\\n")
while not os.path.exists("{work}/stop"):
    n += 1
    with open("{work}/now.new", "w") as f: f.write(str(n))
    os.rename("{work}/now.new", "{work}/now")
    time.sleep(0.02)
sys.exit(5)
"""
COMMAND = """#!/usr/bin/python3
import socket, sys
args = dict(zip(sys.argv[1:], sys.argv[2:]))
assert "--bcheckpoint" in sys.argv
s = socket.create_connection((args["--coord-host"], int(args["--coord-port"]))); s.sendall(b"checkpoint")
sys.exit(0 if s.recv(10) == b"done" else 1)
"""
TOOLS = {"dmtcp_coordinator": COORDINATOR, "dmtcp_launch": LAUNCH, "dmtcp_restart": LAUNCH, "dmtcp_command": COMMAND}


def stand_ins(cx):
    top = os.path.join(cx.work, "dmtcp")
    os.mkdir(top)
    for name, text in TOOLS.items():
        path = os.path.join(top, name)
        with open(path, "w", encoding="ascii") as f:
            f.write(text.format(work=cx.work))
        os.chmod(path, 0o755)
    os.chmod(cx.work, 0o777)
    cx.blank("begins", "now", "now.new")
    os.remove(os.path.join(cx.work, "now.new"))
    return top


def probe(cx, top):
    tool = os.path.join(cx.build, "libexec", "ckpt-dmtcp")
    return subprocess.run([tool, "--probe"], env={**os.environ, "CKPT_DMTCP_BIN": top}, text=True, capture_output=True,
                          timeout=120, check=False)


def test_the_probe_of_ckpt_dmtcp_says_what_is_missing(shared):
    done = probe(shared, "/nowhere")
    assert done.returncode == 1 and done.stdout == "DMTCP is not installed (/nowhere/dmtcp_launch)\n"


def start(cx):
    top = stand_ins(cx)
    done = probe(cx, top)
    if done.returncode:
        pytest.skip(done.stdout.strip())
    real = os.path.join(cx.build, "libexec", "ckpt-dmtcp")
    installation(cx, dmtcp=f"CKPT_DMTCP_BIN={top} exec {real} \"$@\"")
    configure(cx, "$checkpoint_adapter dmtcp")
    until(lambda: cx.node("n1").get("checkpoint", "").startswith("dmtcp"), "its probe")
    job = cx.submit(f"CKPT_DMTCP_BIN={top} exec {real} launch counter", Checkpoint="c")
    cx.api.run(job, "(n1:ncpus=1)")
    running(cx, job)
    until(lambda: (cx.file("now") or "").strip(), "the first count")
    return job


@alone
def test_a_program_under_dmtcp_is_saved_and_restarted_from_its_images(cx):
    job = start(cx)
    assert by(cx, job) == "-c"
    for k in range(2):
        assert preempt(cx, job, "CR") == {job: "C"}
        saved = int(cx.file("now"))
        cx.api.run(job, "(n1:ncpus=1)")
        until(lambda n=k + 2: len(cx.file("begins").splitlines()) == n, "its restart")
        assert 0 < int(cx.file("begins").split()[-3]) <= saved
    stop(cx)
    cx.wait_gone(job)
    assert cx.stat(job)["Exit_status"] == "5"


@alone
def test_the_coordinator_of_a_job_cannot_be_spoken_to_from_outside(cx):
    job = start(cx)
    port = int(cx.file("begins").split()[1])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=120)
    assert preempt(cx, job, "C") == {job: "C"}  # though it is there


@alone
def test_a_job_that_did_not_start_its_program_by_launch_is_not_saved_by_dmtcp(cx):
    start(cx)
    job = cx.submit("sleep 600", Checkpoint="c")
    cx.api.run(job, "(n1:ncpus=1)")
    running(cx, job)
    assert preempt(cx, job, "CR") == {job: "Q"}
