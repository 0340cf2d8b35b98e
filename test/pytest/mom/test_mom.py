"""What happens on a host: identity, output, limits, and a MOM or shepherd that is killed at any moment."""
import contextlib
import os
import pwd
import re
import signal
import struct
import subprocess
import time

import pytest

from harness import users
from harness.ask import ended
from harness.faults import is_alive, processes_with, stays
from harness.mom_priv import replace_lines
from harness.shepherds import kill_shepherd, shepherd
from harness.wait import until

history = pytest.mark.complex(history=True)
LOOP = "while :; do sleep 0.05; done"


def here(cx, text, **attrs):
    """Submit a script that works in the directory of the test."""
    return cx.submit("cd $PBS_O_WORKDIR\n" + text, **attrs)


def processes_of(cx, job):
    """By their TMPDIR: job identifiers are alike in all complexes of this machine."""
    return processes_with(f"TMPDIR={cx.dir}/mom/n1/tmp/pbs.{job}")


def start_mom(cx):
    cx.control("restart", "n1")


# --- what a MOM is called with


def call_mom(cx, *options):
    """In the place of that of the complex."""
    cx.stop_daemon("n1")
    return cx.command("pbs_mom", *options, check=False, env={"PBS_CONF_FILE": os.path.join(cx.dir, "mom", "n1", "pbs.conf")})


def nice_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return int(f.read().rpartition(")")[2].split()[16])


def test_a_mom_takes_configuration_images_and_nice_value_from_its_command_line(cx):
    with open(os.path.join(cx.dir, "mom", "n1", "mom_priv", "config"), encoding="ascii") as f:
        text = f.read()
    with open(os.path.join(cx.dir, "mom", "n1", "mom_priv", "other"), "w", encoding="ascii") as f:
        f.write(text.replace("ncpus 4", "ncpus 3"))
    done = call_mom(cx, "-c", "other", "-C", f"{cx.dir}/images", "-n", "5", "-a", "3", "-p")
    assert done.returncode == 0, done.stderr
    until(lambda: cx.node()["resources_available"]["ncpus"] == "3", "what the other file says")
    cx.wait_log("n1", "Using checkpoint path from command line.")
    assert os.path.isdir(f"{cx.dir}/images")
    job = cx.submit("exec sleep 600")
    cx.wait(job)
    session = until(lambda: cx.stat(job).get("session_id"), "the job's session")
    assert nice_of(cx.pid("n1")) == 5
    if os.geteuid() == 0:  # who else may take a nice value back?
        until(lambda: nice_of(session) == 0, "the job's own nice value")


def test_a_mom_writes_the_log_file_that_its_command_line_names(cx):
    path = os.path.join(cx.top, "log_of_n1")
    done = call_mom(cx, "-L", path)
    assert done.returncode == 0, done.stderr
    os.rename(path, path + ".old")
    os.kill(cx.pid("n1"), signal.SIGHUP)
    until(lambda: os.path.exists(path), "the log opened anew")
    cx.wait_gone(job := cx.submit("true"))
    with open(path + ".old", encoding="utf-8") as old, open(path, encoding="utf-8") as new:
        assert "Mom pid = " in old.read() and f";Job;{job};Started, pid = " in new.read()


def test_a_mom_that_is_told_to_ends_the_jobs_of_the_one_before(cx):
    job = here(cx, "echo run >> runs; exec sleep 600")
    once = cx.submit("exec sleep 600", Rerunable="False")
    until(lambda: cx.file("runs") == "run\n", "the first run")
    cx.wait(once)
    done = call_mom(cx, "-r")
    assert done.returncode == 0, done.stderr
    until(lambda: cx.file("runs") == "run\nrun\n", "the second run")
    cx.wait_gone(once)


@pytest.mark.parametrize("options, why", [
    (("-p", "-r"), "only one of them"),
    (("-c", "missing"), "missing"),
    (("-n", "50"), "50"),
    (("-S", "x"), "x"),
    (("-C", "images"), "not an absolute path"),
    (("-L", "log"), "not an absolute path"),
])
def test_a_mom_that_cannot_do_as_it_is_told_says_so(cx, options, why):
    done = call_mom(cx, *options)
    assert done.returncode == 1 and why in done.stderr, done


# --- a MOM that is killed


@history
def test_a_job_outlives_its_mom_and_its_exit_status_is_kept(cx):
    job = here(cx, "touch began\nwhile [ ! -e go ]; do sleep 0.02; done\nexit 7")
    until(lambda: cx.file("began") is not None, "the job's first step")
    cx.kill("n1")
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    until(lambda: not processes_of(cx, job), "the end of the job's processes")
    start_mom(cx)
    s = ended(cx, job)
    assert s["Exit_status"] == "7" and s["run_count"] == "1"


@history
def test_a_mom_that_is_killed_again_and_again_runs_each_job_once(cx):
    cx.qmgr("set node n1 resources_available.ncpus = 64")
    jobs = [here(cx, "echo x >> ran.$PBS_JOBID; sleep 0.3; exit 5") for _ in range(40)]
    for k in range(8):
        time.sleep(0.03 * k)  # another moment each time; what is waited for comes below
        cx.kill("n1")
        start_mom(cx)
    for job in jobs:
        assert ended(cx, job)["Exit_status"] == "5"
        assert cx.file(f"ran.{job}") == "x\n"


def test_a_suspended_job_stays_suspended_while_its_mom_is_away(cx):
    job = here(cx, "while :; do echo x >> ticks; sleep 0.02; done")
    until(lambda: cx.file("ticks"), "the first tick")
    cx.api.signal(job, "suspend")
    cx.wait(job, state="S")
    cx.kill("n1")
    start_mom(cx)
    before = cx.file("ticks")
    assert stays(lambda: cx.file("ticks") == before, 0.3)
    until(lambda: cx.node()["state"] != "down", "the node")
    cx.api.signal(job, "resume")
    cx.wait(job, state="R")
    until(lambda: cx.file("ticks") != before, "another tick")


def test_walltime_and_grace_are_kept_without_a_mom(cx):
    job = cx.submit(f"trap '' TERM\n{LOOP}", l_walltime="5")
    cx.wait(job, state="R")
    pids = until(lambda: processes_of(cx, job), "the job's processes")
    cx.qmgr("set queue workq kill_delay = 1")
    cx.kill("n1")
    until(lambda: not any(is_alive(p) for p in pids), "the end of the job at its limit of time")


@history
@pytest.mark.parametrize("suspended", [False, True])
def test_a_job_whose_shepherd_is_killed_leaves_nothing_behind(cx, suspended):
    job = cx.submit(f"setsid sh -c '{LOOP}' &\n{LOOP}", Rerunable="False")
    cx.wait(job, state="R")
    until(lambda: len(processes_of(cx, job)) >= 2, "both parts of the job")
    if suspended:
        cx.api.signal(job, "suspend")
        cx.wait(job, state="S")
    kill_shepherd(cx, job)
    s = ended(cx, job)
    assert s["Exit_status"] == "-4" and "shepherd" in s["comment"]
    until(lambda: not processes_of(cx, job), "the end of what the shepherd left")


@history
def test_a_session_whose_number_now_belongs_to_another_process_is_not_killed(cx):
    """The number is put into the shepherd's note, as nobody can choose that of a process everywhere."""
    job = cx.submit("exec sleep 600", Rerunable="False")
    cx.wait(job, state="R")
    session = int(until(lambda: cx.stat(job).get("session_id"), "the job's session"))
    holder = until(lambda: shepherd(cx, job), "its shepherd")
    cx.kill("n1")
    for pid in (holder, session):
        os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(holder) and not is_alive(session), "the end of everything")
    stranger = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    try:
        path = os.path.join(cx.dir, "mom", "n1", "mom_priv", "jobs", f"{job}.1", "run")
        with open(path, "r+b") as f:
            noted = f.read()
            old, new = (struct.pack(">Ii", 1, pid) for pid in (session, stranger.pid))
            assert noted.count(old) == 1
            f.seek(0)
            f.write(noted.replace(old, new))
        long_ago = time.time() - 3600
        os.utime(path, (long_ago, long_ago))
        cx.restart("n1")
        assert ended(cx, job)["Exit_status"] == "-4"
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_nothing_of_a_job_stays_on_the_host(cx):
    job = cx.submit("touch $TMPDIR/x; sleep 0.1 & setsid sleep 600 & exit 0")
    cx.wait_gone(job)
    home = os.path.join(cx.dir, "mom", "n1")
    for place in ("mom_priv/jobs", "spool", "aux", "tmp", "undelivered"):
        until(lambda p=place: not [f for f in os.listdir(os.path.join(home, p)) if not f.startswith(".spare.")],
              f"an empty {place}")
    assert not processes_of(cx, job)
    for top, dirs, files in os.walk(os.path.join(home, "mom_priv", "jobs")):
        assert not [f for f in files if "sleep" in open(os.path.join(top, f), encoding="latin-1").read()]
        assert not [d for d in dirs if os.listdir(os.path.join(top, d)) and d == "tmp"]


@pytest.mark.skipif(len(users.available()) < 2, reason="needs two users")
def test_a_run_finds_nothing_of_the_runs_before_it_in_its_directory(cx):
    """The directories of runs are used again, with the files in them (mom/mom/start/rundir_pool.h)."""
    text = "cat $PBS_NODEFILE; ls -A $TMPDIR; stat -c %U:%a $TMPDIR; cat $0\n#"
    for user in (users.NAMES[0], users.NAMES[0], users.NAMES[1], users.NAMES[0], users.NAMES[1]):
        for length in (3000, 10):
            path = cx.script(text + "x" * length)
            job = cx.command("qsub", "-o", f"{cx.work}/out", "-j", "oe", path, user=user).stdout.strip()
            cx.wait_gone(job)
            with open(path, encoding="ascii") as f:
                assert cx.file("out") == f"n1\n{user}:700\n{f.read()}"
            os.unlink(os.path.join(cx.work, "out"))
    spares = os.path.join(cx.dir, "mom", "n1", "mom_priv", "jobs")
    until(lambda: all(d.startswith(".spare.") for d in os.listdir(spares)), "the end of the last run's directory")
    assert len(os.listdir(spares)) <= 3
    start_mom(cx)
    assert os.listdir(spares) == []


def zygote_of(cx):
    """The pid of the process that the MOM's shepherds are forked from."""
    return next(iter(processes_with(f"zygote\0003\0{cx.dir}/mom/n1/mom_priv/jobs", "cmdline")), 0)


@history
def test_jobs_start_although_the_zygote_of_shepherds_is_killed(cx):
    cx.wait_gone(cx.submit("exit 0"))
    for _ in range(3):
        os.kill(until(lambda: zygote_of(cx), "the zygote"), signal.SIGKILL)
        assert ended(cx, cx.submit("exit 3"))["Exit_status"] == "3"
        cx.restart("n1")
        assert ended(cx, cx.submit("exit 4"))["Exit_status"] == "4"


def test_the_zygote_of_shepherds_ends_with_its_mom_and_jobs_run_on(cx):
    job = cx.submit()
    until(lambda: processes_of(cx, job), "the job's first process")
    zygote = zygote_of(cx)
    cx.kill("n1")
    until(lambda: not is_alive(zygote), "the end of the zygote")
    assert is_alive(shepherd(cx, job))
    start_mom(cx)
    cx.hosts_back()
    cx.api.delete(job)
    cx.wait_gone(job)


# --- ends


@history
@pytest.mark.parametrize("text, status", [("exit 3", "3"), ("kill -9 $$", "137"), ("exit 0", "0")])
def test_the_exit_status_is_that_of_the_login_shell(cx, text, status):
    assert ended(cx, cx.submit(text))["Exit_status"] == status


@history
def test_a_killed_program_counts_256_and_its_signal(cx):
    job = cx.command("qsub", "--", "/bin/sh", "-c", "kill -9 $$", user=users.NAMES[0]).stdout.strip()
    assert ended(cx, job)["Exit_status"] == "265"


def test_a_job_that_handles_sigterm_has_its_grace(cx):
    cx.qmgr("set queue workq kill_delay = 20")
    job = here(cx, "trap 'sleep 0.5; echo saved > saved; exit 0' TERM\ntouch trapped\n" + LOOP)
    until(lambda: cx.file("trapped") is not None, "the trap")
    cx.api.delete(job)
    cx.wait_gone(job)
    assert cx.file("saved") == "saved\n"


@history
def test_a_program_that_is_not_there_is_said_in_the_output(cx):
    job = cx.command("qsub", "-o", cx.work + "/o", "-e", cx.work + "/e", "--", "/no/such/program",
                     user=users.NAMES[0]).stdout.strip()
    assert int(ended(cx, job)["Exit_status"]) < 0
    assert "/no/such/program" in until(lambda: cx.file("e"), "the job's error file")


# --- output


def test_joined_output_has_both_in_order(cx):
    cx.wait_gone(cx.submit("echo a; echo b >&2; echo c", Join_Path="oe"))
    assert cx.file("out") == "a\nb\nc\n" and cx.file("err") is None


def test_output_that_cannot_be_delivered_is_kept(cx):
    job = cx.submit("echo precious", Output_Path="/no/such/directory/x")
    cx.wait_gone(job)
    kept = os.path.join(cx.dir, "mom", "n1", "undelivered", job + ".OU")
    with open(kept, encoding="ascii") as f:
        assert f.read() == "precious\n"


def test_output_is_removed_after_success_when_asked(cx):
    cx.wait_gone(cx.submit("echo x", Remove_Files="oe"))
    assert cx.file("out") is None and cx.file("err") is None


@pytest.mark.parametrize("status,left", [(0, False), (1, True)])
def test_output_that_was_written_in_its_place_is_removed_after_success_when_asked(cx, status, left):
    place = os.path.join(cx.work, "dir")
    os.mkdir(place)
    os.chmod(place, 0o777)
    job = cx.submit(f"echo x; exit {status}", Keep_Files="oed", Remove_Files="oe", Output_Path=place)
    cx.wait_gone(job)
    assert cx.file(f"dir/{job}.OU") == ("x\n" if left else None)
    assert cx.file("err") == ("" if left else None)


def test_output_that_is_kept_in_the_home_directory_is_removed_after_success_when_asked(cx):
    name = f"homely{os.getpid()}"  # homes are shared with other complexes
    home = pwd.getpwnam(users.NAMES[0]).pw_dir if os.geteuid() == 0 else os.path.expanduser("~")
    jobs = [cx.submit("pwd", Job_Name=name, Keep_Files="oe", **more) for more in ({}, {"Remove_Files": "e"})]
    for job in jobs:
        cx.wait_gone(job)
    files = [os.path.join(home, f"{name}.{kind}{job.split('.')[0]}") for job in jobs for kind in "oe"]
    there = [os.path.exists(path) for path in files]
    for path in files:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    assert there == [True, True, True, False]


def test_output_goes_into_a_directory_under_the_jobs_name(cx):
    os.mkdir(os.path.join(cx.work, "dir"))
    os.chmod(os.path.join(cx.work, "dir"), 0o777)
    job = cx.submit("echo x", Output_Path=os.path.join(cx.work, "dir"))
    cx.wait_gone(job)
    assert cx.file(f"dir/{job}.OU") == "x\n"


def test_a_script_may_name_its_interpreter(cx):
    cx.wait_gone(cx.submit("#!/usr/bin/python3\nimport sys\nprint(sys.version_info[0])\n"))
    assert cx.file("out").splitlines()[-1] == "3"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs jobs of others")
def test_a_job_has_the_ids_groups_and_directory_of_its_owner(cx):
    cx.wait_gone(cx.submit("id -u; id -Gn; pwd; umask; echo $HOME; stat -c %U:%a $TMPDIR"))
    owner = pwd.getpwnam(users.NAMES[0])
    lines = cx.file("out").splitlines()
    assert lines[-6:] == [str(owner.pw_uid), f"{owner.pw_name} {users.GROUP}", owner.pw_dir, "0077",
                          owner.pw_dir, f"{owner.pw_name}:700"]


# --- prologue and epilogue


def put(cx, name, text):
    path = os.path.join(cx.dir, "mom", "n1", "mom_priv", name)
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)


@pytest.mark.parametrize("options, said", [((), "Job manually qrun."), (("-H", "n1"), "Job manually qrun on n1")])
def test_the_comment_says_that_a_job_was_run_by_an_operator_until_it_has_started(cx, options, said):
    cx.set_server("scheduling", "False")
    put(cx, "prologue", f"while ! [ -e {cx.work}/go ]; do sleep 0.05; done")
    job = cx.submit()
    cx.command("qrun", "-a", *options, job)
    until(lambda: cx.stat(job).get("comment") == said, lambda: cx.describe(job))
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    until(lambda: cx.stat(job)["comment"].startswith("Job run at ") and " on (n1" in cx.stat(job)["comment"],
          lambda: cx.describe(job))


@pytest.mark.complex(nodes=2, sched=False)
@pytest.mark.parametrize("named, where", [
    ("n1+n2", "(n1:ncpus=2:mem=1gb)+(n2:ncpus=1)"), ("n2", "(n2:ncpus=2:mem=1gb)+(n2:ncpus=1)"),
    ("(n1:ncpus=1)", "(n1:ncpus=1)")])
def test_vnodes_that_are_named_by_hand_get_the_chunks_in_turn(cx, named, where):
    job = cx.submit(select="1:ncpus=2:mem=1gb:arch=linux+1:ncpus=1:mpiprocs=1")
    cx.command("qrun", "-H", named, job)
    assert cx.stat(job)["exec_vnode"] == where


@pytest.mark.complex(sched=False)
@pytest.mark.parametrize("named", ["n1+nosuch", "nosuch+n1", "(n1:ncpus=1)+(nosuch:ncpus=1)"])
def test_a_vnode_that_is_named_by_hand_and_not_there_is_refused_also_where_it_is_not_needed(cx, named):
    job = cx.submit(select="1:ncpus=1")
    done = cx.command("qrun", "-H", named, job, check=False)
    assert (done.returncode, done.stderr) == (2, f"qrun: Unknown node nosuch {named}\n")
    assert cx.stat(job)["job_state"] == "Q"


def test_prologue_and_epilogue_run_before_and_after_the_job(cx):
    put(cx, "prologue", "echo before $1")
    put(cx, "epilogue", "echo after $1 ${10}")
    job = cx.submit("echo job; exit 4")
    cx.wait_gone(job)
    assert cx.file("out").splitlines() == [f"before {job}", "job", f"after {job} 4"]


@history
def test_a_prologue_that_says_1_aborts_the_job(cx):
    put(cx, "prologue", "exit 1")
    job = cx.submit("echo never")
    assert ended(cx, job)["Exit_status"] == "-2"
    assert "never" not in (cx.file("out") or "")


# --- what a job is told


def test_a_parallel_job_finds_its_processes_and_threads(cx):
    cx.wait_gone(cx.submit("cat $PBS_NODEFILE; echo $NCPUS $OMP_NUM_THREADS", select="1:ncpus=2:mpiprocs=2+1:ncpus=1"))
    assert cx.file("out").splitlines()[-4:] == ["n1", "n1", "n1", "2 2"]
    cx.wait_gone(cx.submit("echo $NCPUS $OMP_NUM_THREADS", select="1:ncpus=4:ompthreads=3", Output_Path=cx.work + "/o2"))
    assert cx.file("o2").splitlines()[-1] == "3 3"


@history
def test_a_job_of_a_user_who_is_unknown_on_the_host_ends_with_the_reason(cx):
    name = "pbsgone"
    if os.geteuid() != 0:
        pytest.skip("only root makes users")
    cx.set_server("scheduling", "False")
    with users.accounts():
        cx.command("useradd", "-M", name, check=False)
        try:
            job = cx.submit("true", User_List=name)
        finally:
            cx.command("userdel", name)
    cx.set_server("scheduling", "True")
    s = ended(cx, job)
    assert s["Exit_status"] == "-10" and name in s["comment"]


@history
def test_a_job_that_is_deleted_while_it_is_being_started_does_not_run(cx):
    """A shell between fork and exec catches SIGTERM and forgets it at exec: SIGKILL must come before the work ends."""
    cx.set_queue("workq", "kill_delay", "1")
    cx.set_server("scheduling", "False")
    jobs = [here(cx, "sleep 30; touch ran") for _ in range(10)]
    for job in jobs:
        cx.api.run(job, "(n1:ncpus=0)")
        cx.api.delete(job)
    for job in jobs:
        ended(cx, job)
        until(lambda j=job: not processes_of(cx, j), "the end of the job's processes")
    assert cx.file("ran") is None


# --- what a site says of its host


def mom_says(cx, *words, check=True):
    """pbs_mom -s of the node n1."""
    conf = os.path.join(cx.dir, "mom", "n1", "pbs.conf")
    env = {"PBS_CONF_FILE": conf if os.path.exists(conf) else cx.conf, "PBS_MOM_HOME": os.path.join(cx.dir, "mom", "n1")}
    return cx.command("pbs_mom", "-s", *words, check=check, env=env)


def vnode_file(cx, text):
    path = os.path.join(cx.work, "vnodes")
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


def test_vnode_files_define_vnodes_that_jobs_run_on(cx):
    path = vnode_file(cx, "$configversion 2\nn1: resources_available.ncpus = 0\n"
                          "n1[0]: resources_available.ncpus = 3\nn1[1]: resources_available.ncpus = 2\n")
    mom_says(cx, "insert", "site", path)
    assert mom_says(cx, "list").stdout == "site\n" and "n1[1]" in mom_says(cx, "show", "site").stdout
    os.kill(cx.pid("n1"), signal.SIGHUP)
    until(lambda: {n.name for n in cx.api.stat("vnode")} == {"n1", "n1[0]", "n1[1]"}, "the vnodes")
    until(lambda: cx.node("n1[1]")["state"] == "free", "the vnode")
    job = cx.submit("echo here", select="1:ncpus=2:vnode=n1[1]")
    cx.wait_gone(job)
    assert cx.file("out") == "here\n"


def test_a_vnode_that_its_mom_names_no_more_is_stale_until_it_is_named_again(cx):
    text = "$configversion 2\nn1[0]: resources_available.ncpus = 2\n"
    for turn in (1, 2):
        mom_says(cx, "insert", "site", vnode_file(cx, text))
        os.kill(cx.pid("n1"), signal.SIGHUP)
        until(lambda: "n1[0]" in {n.name for n in cx.api.stat("vnode")} and cx.node("n1[0]")["state"] == "free", "the vnode")
        mom_says(cx, "remove", "site")
        os.kill(cx.pid("n1"), signal.SIGHUP)
        until(lambda: "Stale" in cx.node("n1[0]")["state"], "its state")
        until(lambda: cx.node("n1")["state"] == "free", "the end of the greeting")
        assert cx.wait_log("server", ";n1[0];vnode n1[0] is stale\n", turn).count(";n1[0];vnode n1[0] is stale\n") == turn
    cx.wait_log("server", "autocreated vnode n1[0]\n")
    job = cx.submit("true", select="1:ncpus=1:vnode=n1[0]")
    until(lambda: re.match("Not Running|Can Never Run", cx.stat(job).get("comment", "")), "why it waits")


def test_of_a_vnode_file_only_the_lines_with_unknown_attributes_are_refused(cx):
    done = mom_says(cx, "insert", "site", vnode_file(cx, "$configversion 2\nn1[0]: resources_available.ncpus = 2\nn1[0]: color = blue\n"
                                                     "n1[0]: Priority = 5\nn1[0]: sharing = force_excl\n"))
    assert 'line 3: "color" is not an attribute' in done.stderr and 'line 4: "Priority"' in done.stderr
    os.kill(cx.pid("n1"), signal.SIGHUP)
    until(lambda: "n1[0]" in {n.name for n in cx.api.stat("vnode")} and cx.node("n1[0]")["state"] == "free", "the vnode")
    n = cx.node("n1[0]")
    assert (n["resources_available"]["ncpus"], n["sharing"]) == ("2", "force_excl") and "Priority" not in n
    cx.wait_log("n1", f'{cx.dir}/mom/n1/mom_priv/config.d/site, line 3: "color" is not an attribute')
    until(lambda: re.search(r"n1\[0\];Undefined attribute  color|its service says color", cx.log("server")), "the server's word on color")


def test_a_bad_vnode_file_is_not_taken(cx):
    bad = mom_says(cx, "insert", "site", vnode_file(cx, "$configversion 2\nn1[0] color = blue\n"), check=False)
    assert bad.returncode != 0 and "color" in bad.stderr and "line 2" in bad.stderr
    reserved = mom_says(cx, "insert", "PBSx", vnode_file(cx, "$configversion 2\n"), check=False)
    assert reserved.returncode != 0 and "reserved" in reserved.stderr
    mom_says(cx, "insert", "site", vnode_file(cx, "$configversion 2\n"))
    again = mom_says(cx, "insert", "site", vnode_file(cx, "$configversion 2\n"), check=False)
    assert again.returncode != 0 and "exists" in again.stderr
    mom_says(cx, "remove", "site")
    assert mom_says(cx, "list").stdout == ""


def test_a_reload_applies_whole_or_changes_nothing_and_says_why(cx):
    config = os.path.join(cx.dir, "mom", "n1", "mom_priv", "config")
    with open(config, encoding="ascii") as f:
        good = f.read()
    with open(config, "w", encoding="ascii") as f:
        f.write(good.replace("ncpus 4", "ncpus 7") + "$no_such_thing 1\n")
    os.kill(cx.pid("n1"), signal.SIGHUP)
    until(lambda: "no_such_thing" in cx.log("n1"), "the refusal")
    cx.wait_log("n1", "the old configuration stays")
    assert cx.node()["resources_available"]["ncpus"] == "4"
    with open(config, "w", encoding="ascii") as f:
        f.write(good.replace("ncpus 4", "ncpus 7"))
    os.kill(cx.pid("n1"), signal.SIGHUP)
    until(lambda: cx.node()["resources_available"]["ncpus"] == "7", "what the new file says")


def test_jobs_run_on_through_a_reload(cx):
    job = cx.submit("sleep 600")
    cx.wait(job)
    until(lambda: cx.stat(job)["substate"] == "42", "the job")
    for _ in range(3):
        os.kill(cx.pid("n1"), signal.SIGHUP)
        until(lambda: cx.node()["state"] in ("free", "job-busy"), "the node")
    assert cx.state(job) == "R" and cx.stat(job)["run_count"] == "1"


def test_a_host_with_too_much_load_is_busy_until_it_is_not(cx):
    """The machine of the tests is never quite idle."""
    config = os.path.join(cx.dir, "mom", "n1", "mom_priv", "config")
    with open(config, encoding="ascii") as f:
        good = f.read()
    with open(config, "w", encoding="ascii") as f:
        f.write(good + "$max_load 0.0001\n")
    os.kill(cx.pid("n1"), signal.SIGHUP)
    until(lambda: cx.node()["state"] == "busy", "the node being busy")
    job = cx.submit("true")
    assert stays(lambda: cx.state(job) == "Q", 0.5)
    with open(config, "w", encoding="ascii") as f:
        f.write(good)
    os.kill(cx.pid("n1"), signal.SIGHUP)
    cx.wait_gone(job)


# --- resources of a site


def tool(cx, name, text):
    path = os.path.join(cx.work, name)
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)
    return path


def test_static_and_dynamic_resources_of_a_host_are_shown_and_asked_for(cx):
    cx.qmgr("create resource scratch type=size, flag=h", "create resource licences type=long, flag=h")
    tool(cx, "free", f"cat {cx.work}/amount")
    with open(os.path.join(cx.work, "amount"), "w", encoding="ascii") as f:
        f.write("10gb\nof what\n")
    replace_lines(cx, "licences 7", f"scratch !{cx.work}/free now", "$resource_poll 1")
    until(lambda: cx.node()["resources_available"].get("scratch") == "10gb", "the amount")
    assert cx.node()["resources_available"]["licences"] == "7"
    cx.configure_sched('resources: "ncpus, mem, arch, host, vnode, scratch"\n')
    job = cx.submit("true", select="1:ncpus=1:scratch=20gb")
    assert stays(lambda: cx.state(job) == "Q", 0.3)
    with open(os.path.join(cx.work, "amount"), "w", encoding="ascii") as f:
        f.write("30gb\n")
    cx.wait_gone(job)
    assert cx.node()["resources_available"]["scratch"] == "30gb" and cx.node()["state"] == "free"


def test_a_script_of_a_resource_that_fails_or_hangs_delays_no_job_and_is_named(cx):
    cx.qmgr("create resource good type=long, flag=h", "create resource bad type=long, flag=h")
    tool(cx, "bad", "exit 3")
    tool(cx, "good", "echo 5")
    replace_lines(cx, f"bad !{cx.work}/bad", f"missing !{cx.work}/none", f"good !{cx.work}/good")
    until(lambda: cx.node()["resources_available"].get("good") == "5", "the good one")
    assert "bad" not in cx.node()["resources_available"]
    log = cx.log("n1")
    assert f"resource bad: {cx.work}/bad: it has failed; it has no amount" in log and "resource missing" in log
    tool(cx, "bad", "sleep 600")
    replace_lines(cx, f"bad !{cx.work}/bad")
    cx.wait_gone(cx.submit("true"))


def test_a_script_of_a_resource_in_a_directory_that_others_can_change_is_not_run(cx):
    cx.qmgr("create resource good type=long, flag=h", "create resource bad type=long, flag=h")
    where = os.path.join(cx.top, "site")
    os.mkdir(where, 0o755)
    for name in ("bad", "good"):
        os.rename(tool(cx, name, f"echo 5 | tee {cx.work}/ran_{name}"), os.path.join(where, name))
    os.symlink(f"{where}/good", os.path.join(cx.top, "link"))
    os.mkdir(os.path.join(where, "open"), 0o755)
    os.rename(f"{where}/bad", f"{where}/open/bad")
    os.chmod(os.path.join(where, "open"), 0o777)
    replace_lines(cx, f"bad !{where}/open/bad", f"good !{cx.top}/link")
    until(lambda: cx.node()["resources_available"].get("good") == "5", "the good one, behind a link")
    assert "bad" not in cx.node()["resources_available"] and not os.path.exists(f"{cx.work}/ran_bad")
    cx.wait_log("n1", f"{where}/open can be changed by others than its owner")


@pytest.mark.parametrize("line, why", [
    ("$max_load 5 stop", "is not a load"),
    ("$configversion 2", "pbs_mom -s insert"),
    ("$kbd_idle 30 x", "IDLE [INUSE [POLL]]"),
    ("$restrict_user_exceptions nobody-here", "there is no user nobody-here"),
    ("scratch !free", "NAME !/SCRIPT"),
    ("$restrict_user maybe", "restrict_user"),
    ("$tmpdir here", "not an absolute path"),
])
def test_a_directive_that_cannot_be_served_is_refused_with_the_reason(cx, line, why):
    replace_lines(cx, "ncpus 3", line)
    until(lambda: why in cx.log("n1"), "the refusal")
    cx.wait_log("n1", "the old configuration stays")
    assert cx.node()["resources_available"]["ncpus"] == "4"


def test_a_reload_says_which_settings_only_a_restart_takes_over(cx):
    replace_lines(cx, f"$checkpoint_path {cx.work}/images", "$kill_delay 4", "$port 15003")
    until(lambda: "$checkpoint_path has changed: restart pbs_mom to apply it" in cx.log("n1"), "the notice")
    assert "$kill_delay" not in cx.log("n1") and "$port" not in cx.log("n1")


def test_a_host_that_reads_its_configuration_again_is_not_down_meanwhile(cx):
    job = cx.submit("exec sleep 600")
    until(lambda: cx.stat(job)["substate"] == "42", "the job")

    def said(words):
        return cx.log("server").count(words)
    for _ in range(5):
        hellos, downs = said("Hello from MoM"), said("node down: communication closed")
        os.kill(cx.pid("n1"), signal.SIGHUP)
        until(lambda h=hellos: said("Hello from MoM") > h, "its HELLO")
        assert cx.node("n1").state == "free" and said("node down: communication closed") == downs
    cx.api.signal(job, "suspend")  # by the new connection
    assert cx.stat(job).state == "S"
