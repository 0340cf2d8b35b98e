"""Tasks of a job on one host: pbsdsh, pbs_tmrsh, pbs_attach and programs written for tm.h."""
import contextlib
import os
import pwd
import re
import signal
import socket
import struct
import subprocess

import pytest

from harness import users
from harness.build import program
from harness.mom_priv import configure_live
from harness.shepherds import confinement
from harness.tasks import is_gone, output_of, parent_of, run, running, stands_still, start
from harness.wait import until


@pytest.fixture(autouse=True)
def no_old_output(request):
    if "shared" in request.fixturenames:
        cx = request.getfixturevalue("shared")
        for name in os.listdir(cx.work):
            if not name.startswith(("script", "tm_probe", "lib")):
                os.unlink(os.path.join(cx.work, name))


# --- pbsdsh
def test_pbsdsh_runs_a_program_on_every_node_of_the_job(shared):
    out = run(shared, "pbsdsh sh -c 'echo task $PBS_TASKNUM node $PBS_NODENUM'; echo exit $?", "3:ncpus=1")
    assert sorted(out.splitlines()) == ["exit 0", "task 2 node 0", "task 3 node 1", "task 4 node 2"]


def test_pbsdsh_runs_on_one_node_on_some_nodes_or_one_after_the_other(shared):
    out = run(shared, """
        pbsdsh -n 1 sh -c 'echo one $PBS_NODENUM'
        pbsdsh -h $(head -1 $PBS_NODEFILE) sh -c 'echo host $PBS_NODENUM'
        pbsdsh -c 5 sh -c 'echo copy $PBS_NODENUM'
        pbsdsh -s sh -c 'echo begin; sleep 0.2; echo end'
    """, "2:ncpus=1")
    lines = out.splitlines()
    assert lines[:2] == ["one 1", "host 0"]
    assert sorted(lines[2:7]) == ["copy 0"] * 3 + ["copy 1"] * 2
    assert lines[7:] == ["begin", "end", "begin", "end"]


def test_tasks_that_begin_and_end_are_told_in_the_log_of_their_host(shared):
    job = start(shared, "pbsdsh -n 0 /bin/true")
    shared.wait_gone(job)
    for said in (f"0008;pbs_mom;Job;{job};task 00000002 started, /bin/true",
                 f"0080;pbs_mom;Job;{job};task 00000002 terminated"):
        until(lambda said=said: any(said in shared.logs(n, lines=300) for n in ("n1", "n2")), said)


def test_pbsdsh_exits_with_the_worst_status_and_says_what_it_does(shared):
    out = run(shared, "pbsdsh -v sh -c 'exit $((3 + PBS_NODENUM))'; echo exit $?", "2:ncpus=1")
    lines = out.splitlines()
    assert lines[-1] == "exit 4"
    assert "pbsdsh: task 0x00000002 exit status 3" in lines and "pbsdsh: task 0x00000003 exit status 4" in lines


def test_pbsdsh_says_why_a_program_cannot_run(shared):
    out = run(shared, "pbsdsh /no/such/program; echo exit $?")
    assert "cannot execute /no/such/program: No such file or directory" in out
    assert out.splitlines()[-1] == "exit 1"


def test_commands_for_jobs_say_so_outside_of_one(shared):
    dsh = shared.command("pbsdsh", "true", check=False)
    assert (dsh.returncode, dsh.stderr) == (1, "pbsdsh: not executing under PBS\n")
    tmrsh = shared.command("pbs_tmrsh", "n1", "true", check=False)
    assert (tmrsh.returncode, tmrsh.stderr) == (255, "pbs_tmrsh: not executing under PBS\n")


# --- pbs_tmrsh
def test_pbs_tmrsh_brings_the_output_and_status_of_a_command(shared):
    out = run(shared, """
        host=$(head -1 $PBS_NODEFILE)
        pbs_tmrsh $host 'echo to stdout; echo to stderr >&2; exit 7' >tmrsh.out 2>tmrsh.err
        echo exit $?
        pbs_tmrsh -n $host -l $USER 'yes | head -n 100000' | wc -l
        pbs_tmrsh elsewhere true; echo exit $?
        pbs_tmrsh $host -l nobody true; echo exit $?
    """)
    assert shared.file("tmrsh.out") == "to stdout\n" and shared.file("tmrsh.err") == "to stderr\n"
    lines = out.splitlines()
    assert lines[:2] == ["exit 7", "100000"]
    assert re.match(r'pbs_tmrsh: host "elsewhere" is not a node in job \d+', lines[2]) and lines[3] == "exit 255"
    assert lines[4:] == ['pbs_tmrsh: bad user "nobody"', "exit 255"]


# --- programs
def test_a_program_written_for_tm_h_compiles_and_works(shared):
    probe = program(shared, "tm_probe")
    out = run(shared, f"""
        {probe} init nodes 'spawn:1:exit 5' obit atnode 'spawn:0:sleep 600' tasks:0 kill:15 obit obit \\
            publish:name=value subscribe:1:name subscribe:1:other resources:0 finalize spawn:0:true
    """, "2:ncpus=1")
    lines = out.splitlines()
    assert lines[:2] == ["task 1 of 0, 2 nodes", "nodes 0 1"]
    assert lines[2:5] == ["spawned", "ended 5", "at node 1 (0)"]
    assert lines[5:10] == ["spawned", "tasks 2", "signalled", f"ended {256 + 15}", f"ended {256 + 15}"]
    assert lines[10:13] == ["published", "name is value (6)", "subscribe: error 17006"]
    assert re.match(r"resources Linux \S+ .*:.*ncpus=", lines[13])
    assert lines[14:] == ["finalize 0", "spawn failed: 17007"]


def test_tm_init_needs_the_environment_and_the_cookie_of_the_job(shared):
    probe = program(shared, "tm_probe")
    out = run(shared, f"env -u PBS_TASKNUM {probe} init\nPBS_JOBCOOKIE=wrong {probe} init\n")
    assert out.splitlines() == ["tm_init failed: 17005"] * 2


def test_a_task_has_the_environment_of_the_job_and_what_was_given(shared):
    probe = program(shared, "tm_probe")
    out = run(shared, f"""
        echo "$PBS_JOBID $PBS_NODEFILE $TMPDIR $PBS_QUEUE"
        {probe} init 'spawn:0:echo "$PBS_JOBID $PBS_NODEFILE $TMPDIR $PBS_QUEUE $GIVEN $PBS_TASKNUM"; {probe} init' obit
    """)
    lines = out.splitlines()
    assert lines[0] + " yes 2" in lines
    assert "task 2 of 1, 1 nodes" in lines


@pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
def test_another_user_cannot_speak_to_a_jobs_shepherd(shared):
    probe = program(shared, "tm_probe")
    job = start(shared, f"env | grep ^PBS_ > env.txt; touch ready; sleep 600", User_List=users.NAMES[0])
    until(lambda: shared.file("ready") is not None, "the job")
    env = dict(line.split("=", 1) for line in shared.file("env.txt").splitlines())
    mine = shared.command(probe, "init", env=env, user=users.NAMES[0], check=False)
    other = shared.command(probe, "init", env=env, user=users.NAMES[1], check=False)
    assert mine.returncode == 0 and mine.stdout.startswith("task 1")
    assert other.returncode == 1 and other.stdout == "tm_init failed: 17000\n"
    shared.api.delete(job)


# --- tasks are part of the job
def spawned_sleeper(cx):
    """A job whose script waits for a task; the job, the script's pid, the task's."""
    job = start(cx, f"echo $$ > script.pid; pbsdsh sh -c 'echo $$ > {cx.work}/task.pid; exec sleep 600'")
    pid = int(until(lambda: (cx.file("task.pid") or "").strip(), "the task"))
    return job, int(cx.file("script.pid")), pid


def test_a_task_has_a_session_of_its_own_and_ends_with_the_job(shared):
    job, script, task = spawned_sleeper(shared)
    assert os.getsid(task) == task != os.getsid(script)
    shared.api.delete(job)
    until(lambda: is_gone(task), "the end of the task")
    shared.wait_gone(job)


def test_a_task_that_outlives_the_script_is_killed(shared):
    job = start(shared, f"pbsdsh -o sh -c 'echo $$ > {shared.work}/task.pid; exec sleep 600'\n"
                        "until test -s task.pid; do sleep 0.05; done")
    shared.wait_gone(job)
    assert is_gone(int(shared.file("task.pid")))


def test_tasks_are_suspended_and_resumed_with_the_job(cx):
    job, _, task = spawned_sleeper(cx)
    cx.api.signal(job, "suspend")
    cx.wait(job, state="S")
    assert stands_still(task)
    cx.api.signal(job, "resume")
    cx.wait(job, state="R")
    cx.api.delete(job)
    until(lambda: is_gone(task), "the end of the task")


@pytest.mark.complex(history=True)
def test_the_cpu_time_of_tasks_counts_for_the_job(cx):
    job = start(cx, "pbsdsh sh -c 'ulimit -t 2; while :; do :; done'; true")
    assert cx.wait(job, state="F")["resources_used"]["cput"] != "00:00:00"


def test_open_connections_outlive_every_daemon(cx):
    """The shepherd serves TM, and no daemon has a part in an open connection."""
    probe = program(cx, "tm_probe")
    job = start(cx, f"{probe} init 'spawn:0:touch {cx.work}/first; sleep 600' await:go1 "
                    "kill:9 obit 'spawn:0:exit 3' await:go2 obit finalize; echo done $?\n")
    until(lambda: cx.file("first") is not None, "the first task")
    cx.kill("n1")
    cx.kill("server")
    cx.control("restart", "server")
    cx.control("restart", "n1")
    cx.again()
    cx.wait(job)
    open(os.path.join(cx.work, "go1"), "w", encoding="ascii").close()
    open(os.path.join(cx.work, "go2"), "w", encoding="ascii").close()
    lines = output_of(cx, job).splitlines()
    assert lines == ["task 1 of 0, 1 nodes", "spawned", "signalled", "ended 265", "spawned", "ended 3", "finalize 0",
                     "done 0"]


def test_tasks_die_with_a_shepherd_that_is_killed(cx):
    job, script, task = spawned_sleeper(cx)
    os.kill(parent_of(task), signal.SIGKILL)
    until(lambda: is_gone(task) and is_gone(script), "the end of script and task")
    cx.api.delete(job, "force")


def test_tasks_that_hide_their_environment_die_with_their_shepherd_too(cx):
    job = start(cx, f"pbsdsh env -i /bin/sh -c 'echo $$ > {cx.work}/task.pid; exec sleep 600'")
    task = int(until(lambda: (cx.file("task.pid") or "").strip(), "the task"))
    os.kill(parent_of(task), signal.SIGKILL)
    until(lambda: is_gone(task), "the end of the task")
    cx.api.delete(job, "force")


# --- processes that were started by others
def outsider(cx, text="exec sleep 600"):
    """A process in a session of its own that nobody of PBS has started; of the user whose jobs run."""
    who = {"user": users.NAMES[0], "group": users.NAMES[0], "extra_groups": []} if os.geteuid() == 0 else {}
    return subprocess.Popen(["/bin/sh", "-c", text], start_new_session=True, cwd=cx.work, **who)


def attach(cx, *words, user=users.NAMES[0], node="n1", **more):
    return cx.command("setsid", "-w", "pbs_attach", *words, user=user, check=False,
                      env={"PBS_CONF_FILE": os.path.join(cx.dir, "mom", node, "pbs.conf")}, **more)


def test_an_attached_process_is_suspended_and_ends_with_the_job(cx):
    job = running(cx)
    process = outsider(cx, "sleep 600 & exec sleep 600")
    done = attach(cx, "-p", process.pid)
    assert (done.returncode, done.stderr) == (0, "")
    said = rf";{re.escape(job)};pid {process.pid} sid {process.pid} cmd (sh|sleep) attached as task [0-9A-F]{{8}}\n"
    until(lambda: re.search(said, cx.log("n1")), said)
    again = attach(cx, "-j", job, "-p", process.pid)
    assert again.returncode == 1 and "its session is part of the job already" in again.stderr
    cx.api.signal(job, "suspend")
    cx.wait(job, state="S")
    assert stands_still(process.pid)
    cx.api.signal(job, "resume")
    cx.wait(job)
    assert process.poll() is None
    cx.api.delete(job)
    assert process.wait(120) == -15
    cx.wait_gone(job)


def test_a_job_does_not_wait_for_what_was_attached(cx):
    job = running(cx, "until test -e go; do sleep 0.05; done")
    process = outsider(cx)
    assert attach(cx, "-p", process.pid).returncode == 0
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    assert process.wait(120) == -9
    cx.wait_gone(job)


def test_what_left_an_attached_session_is_suspended_and_ends_with_the_job(cx):
    """A daemon that an attached process starts has another session and another parent; the job's group still has it."""
    if confinement(cx)["suspend"] == "signals":
        pytest.skip("this host has no freezer that we may use")
    job = running(cx)
    process = outsider(cx, f"until test -e go; do sleep 0.05; done; setsid sleep 600 & echo $! > {cx.work}/left")
    assert attach(cx, "-p", process.pid).returncode == 0
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    assert process.wait(120) == 0
    left = int(until(lambda: (cx.file("left") or "").strip(), "the daemon"))
    until(lambda: os.getsid(left) == left, "its session")
    try:
        cx.api.signal(job, "suspend")
        cx.wait(job, state="S")
        assert stands_still(left)
        cx.api.signal(job, "resume")
        cx.wait(job, state="R")
        cx.api.delete(job)
        cx.wait_gone(job)
        assert is_gone(left)
    finally:
        if not is_gone(left):
            os.kill(left, signal.SIGKILL)


def test_pbs_attach_runs_a_command_in_the_job(cx):
    job = running(cx)
    assert attach(cx, "-j", job, "sh", "-c", "exit 3").returncode == 3
    assert attach(cx, "-s", "sh", "-c", "kill -9 $$").returncode == 128 + 9
    assert attach(cx, "-s", "-j", job.split(".")[0], "sh", "-c", "exit 4").returncode == 4
    assert attach(cx, "-j", "999", "true").returncode == 1
    cx.api.delete(job)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
def test_only_processes_of_the_jobs_owner_can_be_attached(cx):
    job = running(cx, User_List=users.NAMES[0])
    process = outsider(cx)
    stranger = attach(cx, "-j", job, "-p", process.pid, user=users.NAMES[1])
    assert stranger.returncode == 1 and "no job" in stranger.stderr
    init = attach(cx, "-j", job, "-p", 2)
    assert init.returncode == 1 and "is not that of the job's owner" in init.stderr
    nobody = attach(cx, "-j", job, "-p", 4000000)
    assert nobody.returncode == 1 and "there is no such process" in nobody.stderr
    process.kill()
    process.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
def test_a_session_with_a_process_of_another_user_is_not_attached(cx):
    """All of a session is killed with the job, by root; so root's part of it would die by the word of the owner."""
    job = running(cx, User_List=users.NAMES[0])
    roots = os.path.join(cx.work, "roots")
    process = subprocess.Popen(["sh", "-c", f"sleep 600 & echo $! > {roots}; exec setpriv --reuid {users.NAMES[0]} sleep 600"],
                               start_new_session=True)
    try:
        pid = int(until(lambda: cx.file("roots"), "root's part"))
        until(lambda: os.stat(f"/proc/{process.pid}").st_uid != 0, "the owner's part")
        refused = attach(cx, "-j", job, "-p", process.pid)
        assert refused.returncode == 1 and "is not that of the job's owner" in refused.stderr
        cx.api.delete(job)
        cx.wait_gone(job)
        assert not is_gone(pid)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_host_can_forbid_attaching(cx):
    configure_live(cx, "$attach_allow false")
    process = outsider(cx)

    def refused():
        job = running(cx)
        os.unlink(os.path.join(cx.work, "begun"))
        done = attach(cx, "-j", job, "-p", process.pid)
        cx.api.delete(job)
        return done.returncode == 1 and "$attach_allow" in done.stderr
    until(refused, "a refusal")
    process.kill()
    process.wait()


# --- logins that root takes in
def ask_login(path, pid, uid, user=None):
    """The code and the text of a shepherd's answer to root's question about a login, asked as `user`."""
    def text(b):
        return struct.pack(">I", len(b)) + b + b"\0" * (-len(b) % 4)
    login = struct.pack(">III", uid, 0, 0)
    args = struct.pack(">I", 113) + text(b"1.x") + struct.pack(">i", pid) + text(login)
    record = struct.pack(">10I", 7, 0, 2, 0x20000053, 1, 101, 0, 0, 0, 0) + args
    with contextlib.ExitStack() as stack:
        if user:
            stack.enter_context(users.acting_as(user))
        s = stack.enter_context(socket.socket(socket.AF_UNIX))
        s.connect(path)
        s.settimeout(120)
        s.sendall(struct.pack(">I", 0x80000000 | len(record)) + record)
        answer = b""
        while len(answer) < 4 or len(answer) < 4 + (struct.unpack(">I", answer[:4])[0] & 0x7FFFFFFF):
            answer += s.recv(65536)
    code, length = struct.unpack(">iI", answer[28:36])
    return code, answer[36:36 + length].decode()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
def test_only_root_and_only_for_the_owner_may_ask_for_a_login(cx):
    job = running(cx, User_List=users.NAMES[0])
    path = os.path.join(cx.dir, "mom", "n1", "aux", job + ".tm")
    owner, other = (pwd.getpwnam(u).pw_uid for u in users.NAMES[:2])
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as of_root, \
            subprocess.Popen(["sleep", "600"], start_new_session=True, user=users.NAMES[1]) as of_other:
        try:
            assert ask_login(path, of_root.pid, owner, user=users.NAMES[0]) == (17010, "only root says whose login it is")
            assert ask_login(path, of_root.pid, other) == (17010, "the job belongs to another user")
            leads = (17010, "the process does not lead a session of root or of the job's owner")
            assert ask_login(path, of_other.pid, owner) == leads
            assert ask_login(path, 1, owner) == leads
            assert ask_login(path, 4000000, owner) == (17011, "there is no such process")
            assert ask_login(path, of_root.pid, owner) == (0, "")
            assert ask_login(path, of_root.pid, owner) == (0, "")
            cx.api.delete(job)
            cx.wait_gone(job)
            assert of_root.wait(120) and of_other.poll() is None
        finally:
            of_root.kill()
            of_other.kill()


# --- what may come over the socket
def test_malformed_messages_on_the_socket_do_no_harm(cx):
    """The job's own processes can send anything; the shepherd holds the job all the same."""
    probe = program(cx, "tm_probe")
    job = running(cx, f"until test -e go; do sleep 0.05; done; {probe} init 'spawn:0:exit 3' obit")
    path = os.path.join(cx.dir, "mom", "n1", "aux", job + ".tm")
    record = struct.pack(">10I", 7, 0, 2, 0x20000053, 1, 101, 0, 0, 0, 0)
    for payload in (b"GET / HTTP/1.0\r\n\r\n", b"\xff" * 4096, struct.pack(">I", 0x7FFFFFFF), b"\0" * 8,
                    struct.pack(">I", 0x80000000 | len(record)) + record,
                    struct.pack(">I", 0x80000000 | len(record) + 4) + record + struct.pack(">I", 999),
                    struct.pack(">I", 0x80000000 | len(record) + 12) + record + struct.pack(">3I", 102, 1 << 31, 0)):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            s.settimeout(1)
            try:
                s.sendall(payload)
                s.recv(4096)
            except (TimeoutError, ConnectionError):
                pass
    idle = [socket.socket(socket.AF_UNIX) for _ in range(200)]
    for s in idle:
        s.connect(path)
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    assert output_of(cx, job).splitlines() == ["task 1 of 0, 1 nodes", "spawned", "ended 3"]
    for s in idle:
        s.close()


def test_a_task_that_does_not_read_its_answers_is_not_heard_until_it_does(cx):
    """They would be kept by the shepherd, whose memory is the host's and not the job's."""
    job = running(cx, "sleep 600")
    path = os.path.join(cx.dir, "mom", "n1", "aux", job + ".tm")
    call = struct.pack(">11I", 0x80000000 | 40, 7, 0, 2, 0x20000053, 1, 0, 0, 0, 0, 0)
    calls, sent, got = call * 1000, 0, 0
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.settimeout(5)
        with pytest.raises(TimeoutError):
            while sent < 64 << 20:
                sent += s.send(calls[sent % len(call):])
        while got < sent // len(call) * 28:
            data = s.recv(1 << 20)
            assert data
            got += len(data)
    cx.api.delete(job)
    cx.wait_gone(job)


def test_a_job_that_runs_again_at_once_can_start_tasks(cx):
    """The socket's name is the same in each run of a job: the shepherd of an old run must not take it away."""
    job = start(cx, "echo $$ >> runs\npbsdsh sh -c 'echo task of $PBS_JOBID'\nsleep 600")
    for run_count in range(1, 6):
        until(lambda: (cx.file("runs") or "").count("\n") == run_count, f"run {run_count}")
        path = os.path.join(cx.dir, "mom", "n1", "aux", job + ".tm")
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
        cx.api.rerun(job)
    cx.api.delete(job)
