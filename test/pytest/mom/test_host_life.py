"""The life of a job on its host: prologue and epilogue, limits that are changed, how it is ended."""
import contextlib
import os
import re
import signal
import subprocess
import threading

import pytest

from harness import api, users
from harness.ask import ended
from harness.build import is_sanitized
from harness.clock import Clock
from harness.complex import Complex
from harness.faults import daemon_frozen, frozen, is_alive, processes_with, stays
from harness.mom_priv import configure_live, priv
from harness.remote import port_of
from harness.wait import until
from harness.work import exists, touch

history = pytest.mark.complex(history=True)
root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs jobs of others")
LOOP = "while :; do sleep 0.05; done"


def put(cx, name, text, mode=0o755):
    """A script of the site for the MOM n1."""
    with open(priv(cx, name), "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + text + "\n")
    os.chmod(priv(cx, name), mode)


def here(cx, text, **attrs):
    return cx.submit("cd $PBS_O_WORKDIR\n" + text, **attrs)


# --- signals


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return int(f.read().rpartition(")")[2].split()[1])


@history
def test_a_signal_for_a_job_whose_processes_are_gone_is_refused_and_its_end_follows(cx):
    job = here(cx, "touch began; exec sleep 600")
    until(lambda: exists(cx, "began"), "the job")
    session = int(until(lambda: cx.stat(job).get("session_id"), "its session"))
    asker = cx.connect()
    with frozen(parent_of(session)):
        os.killpg(session, signal.SIGKILL)
        until(lambda: not processes_with(f"TMPDIR={cx.dir}/mom/n1/tmp/pbs.{job}"), "the end of its processes")
        ticket = asker.call_send("sigjob_send", job, "SIGUSR1", None)
        until(lambda: "signal job with SIGUSR1" in cx.log("n1"), "the signal at the MOM")
    with pytest.raises(api.PbsError) as refused:
        asker.recv(ticket)
    asker.close()
    assert refused.value.code == 15016
    assert ended(cx, job)["Exit_status"] == "265"
    cx.wait_log("n1", f";{job};Job recycled into exiting on signal from substate 42")


# --- a job whose hosts have not begun it

def starting(cx):
    """A job that is R and whose prologue waits for a file."""
    put(cx, "prologue", f"while [ ! -e {cx.work}/go ]; do sleep 0.05; done")
    job = here(cx, "exec sleep 600", l_select="1:host=n1+1:host=n2")
    assert cx.wait(job, "R", begun=False)["substate"] == "41"
    return job


ABOUT_ITS_PROCESSES = {"suspend": ("qsig", "-s", "suspend"), "signal": ("qsig", "-s", "SIGCONT"), "message": ("qmsg", "hello"),
                       "release": ("pbs_release_nodes", "-a", "-j"), "reservation": ("pbs_rsub", "--job")}


@pytest.mark.complex(nodes=2)
@pytest.mark.parametrize("what", ABOUT_ITS_PROCESSES)
def test_a_request_about_processes_of_a_job_that_is_starting_waits_for_them(cx, what):
    job = starting(cx)
    with subprocess.Popen([*ABOUT_ITS_PROCESSES[what], job], env=cx.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as asks:
        assert stays(lambda: asks.poll() is None and cx.stat(job)["substate"] == "41", 0.5)
        touch(cx, "go")
        said = asks.communicate(timeout=120)
    assert asks.returncode == 0, said
    assert cx.stat(job)["substate"] == ("43" if what == "suspend" else "42")


@pytest.mark.complex(nodes=2)
def test_a_request_that_waits_for_the_start_of_a_job_is_answered_when_the_job_is_deleted(cx):
    job = starting(cx)
    with subprocess.Popen(["qsig", "-s", "suspend", job], env=cx.env, stderr=subprocess.PIPE, text=True) as asks:
        assert stays(lambda: asks.poll() is None, 0.5)
        cx.api.delete_list([job], "force")
        said = asks.communicate(timeout=120)[1]
    assert asks.returncode != 0 and "it has ended" in said
    touch(cx, "go")


# --- prologue and epilogue


@history
def test_a_prologue_that_says_2_sends_the_job_back_and_the_owner_reads_why(cx):
    put(cx, "prologue", f"[ -e {cx.work}/better ] || exit 2")
    job = cx.submit("echo ran")
    until(lambda: int(cx.stat(job).get("run_count", 0)) >= 2, "a second try")
    touch(cx, "better")
    if cx.stat(job).state == "H":
        cx.api.release(job, "s")
    assert ended(cx, job)["Exit_status"] == "0"
    lines = cx.file("out").splitlines()
    assert lines[-1] == "ran"
    assert "=>> PBS: Could not run prolog: exit 2" in cx.file("err")


def test_a_job_whose_prologue_never_works_is_held_in_the_end(cx):
    put(cx, "prologue", "exit 3")
    job = cx.submit("echo never", run_count="18")
    s = cx.wait(job, state="H")
    assert "too many failed attempts" in s["comment"] and s["Hold_Types"] == "s" and s["run_count"] == "21"


def test_a_job_that_its_host_cannot_start_is_tried_again_with_pauses(cx):
    put(cx, "prologue", f"echo >>{cx.work}/tries; exit 3")
    job = cx.submit("echo never")

    def tries():
        return len((cx.file("tries") or "").splitlines())
    until(lambda: tries() == 3 and cx.stat(job).state == "Q", "the tries that come at once")
    assert stays(lambda: tries() == 3 and cx.stat(job).state == "Q", 1)
    assert "Could not run prolog" in cx.stat(job)["comment"] or "prologue" in cx.stat(job)["comment"]
    cx.command("qrun", "-H", "n1", job, check=False)  # an operator need not wait
    assert tries() >= 4
    until(lambda: tries() >= 5, "the next try")


@history
def test_a_prologue_that_others_may_write_is_not_run(cx):
    put(cx, "prologue", f"touch {cx.work}/prologue-ran", mode=0o777)
    job = cx.submit("echo never")
    until(lambda: int(cx.stat(job).get("run_count", 0)) >= 2, "another try")
    assert not exists(cx, "prologue-ran")
    cx.wait_log("n1", "Permission Error")
    cx.api.delete(job)


@history
def test_an_epilogue_whose_input_is_gone_is_not_run_and_the_log_says_so(cx):
    put(cx, "epilogue", f"touch {cx.work}/epilogue-ran")
    job = here(cx, "touch began; exec sleep 600")
    until(lambda: exists(cx, "began"), "the job")
    session = int(until(lambda: cx.stat(job).get("session_id"), "its session"))
    run, = [name for name in os.listdir(priv(cx, "jobs")) if name.startswith(job)]
    os.unlink(os.path.join(priv(cx, "jobs"), run, f"{job}.SC"))
    os.killpg(session, signal.SIGKILL)
    ended(cx, job)
    cx.wait_log("n1", "epilogue, exit: -2, no pro/epilogue input file")
    assert not exists(cx, "epilogue-ran")


@history
def test_a_slow_prologue_is_ended_at_its_limit_and_other_jobs_run_meanwhile(cx):
    configure_live(cx, "$prologalarm 4")
    put(cx, "prologue", f'[ -e {cx.work}/slow.$1 ] && {{ touch {cx.work}/begun; sleep 600; }}\nexit 0')
    cx.set_server("scheduling", "False")
    slow = cx.submit("echo never")
    touch(cx, "slow." + slow)
    cx.api.run_async(slow, "(n1:ncpus=1)")
    until(lambda: exists(cx, "begun"), "the slow prologue")
    quick = cx.submit("echo quick", Output_Path=cx.work + "/quick")
    cx.api.run(quick, "(n1:ncpus=1)")
    assert ended(cx, quick)["Exit_status"] == "0"
    s = cx.wait(slow, state="Q")
    assert s["run_count"] == "1" and "Could not run prolog" in s["comment"]


@history
def test_a_job_that_is_deleted_during_its_prologue_never_runs(cx):
    put(cx, "prologue", f"echo $$ > {cx.work}/pid\nsleep 600")
    job = here(cx, "touch ran")
    pid = int(until(lambda: cx.file("pid"), "the prologue"))
    cx.api.delete(job)
    ended(cx, job)
    assert not exists(cx, "ran")
    until(lambda: not is_alive(pid), "the end of the prologue")


@history
@pytest.mark.parametrize("which", ["prologue", "epilogue"])
def test_a_mom_that_is_killed_in_the_middle_of_a_script_takes_it_along_and_it_is_run_again(cx, which):
    put(cx, which, f'echo $$ >> {cx.work}/pids\n[ -e {cx.work}/again ] || sleep 600\necho {which}')
    job = cx.submit("echo job; exit 6")
    first = int(until(lambda: cx.file("pids"), "the script").split()[0])
    cx.kill("n1")
    until(lambda: not is_alive(first), "the end of the script")
    touch(cx, "again")
    cx.restart("n1")
    s = ended(cx, job)
    assert s["Exit_status"] == "6" and s["run_count"] == "1"
    assert len(cx.file("pids").split()) == 2
    assert sorted(cx.file("out").splitlines()) == sorted([which, "job"])


OWNERS = ("LD_PRELOAD=/tmp/evil.so", "PATH=/home/evil:/bin:/usr/bin", "HOME=/evil", "PBS_EXEC=/evil", "PBS_CONF_FILE=/evil",
          "PBS_SERVER=evil", "PBS_HOME=/evil", "PBS_TMPDIR=/evil", "PBS_ACCOUNT=/evil", "PBS_ARRAY_ID=/evil", "PBS_MINE=/evil",
          "PBS_O_HOME=/evil", "NCPUS=/evil", "SHELL=/evil", "TMPDIR=/evil", "BASH_ENV=/evil", "ENV=/evil", "USER=/evil")


def environment(text):
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


@root
@history
@pytest.mark.parametrize("which", ["prologue", "epilogue"])
def test_variables_of_the_owner_do_not_reach_a_script_of_root(cx, which):
    put(cx, which, f"env > {cx.work}/site; id -u > {cx.work}/uid")
    cx.blank("mine")
    job = cx.submit("env > $PBS_O_WORKDIR/mine", Variable_List=",".join([*OWNERS, f"PBS_O_WORKDIR={cx.work}"]))
    ended(cx, job)
    site, mine = environment(cx.file("site")), environment(cx.file("mine"))
    assert cx.file("uid") == "0\n"
    assert {name for name, value in site.items() if "evil" in value} == {"PBS_O_HOME"}
    assert site["HOME"] == "/" and site["SHELL"] == "/bin/sh" and site["PBS_JOBID"] == job and site["USER"] == users.NAMES[0]
    assert site["PBS_O_WORKDIR"] == str(cx.work) and site["PBS_TASK_TMPDIR"] == mine["TMPDIR"]
    assert mine["PBS_MINE"] == mine["PBS_EXEC"] == "/evil" and mine["NCPUS"] == "1"


SCRIPTS_OF_ROOT = ("prologue", "epilogue", "terminate", "checkpoint_abort")


def site_script(cx, which, text):
    """The MOM runs these lines as root at that point in the life of a job."""
    put(cx, which, text)
    if which not in ("prologue", "epilogue"):
        configure_live(cx, f"$action {which} 60 !{priv(cx, which)} %jobid")


def go_through_scripts(cx, **attrs):
    """A job that runs, is asked for a checkpoint, deleted and ended."""
    job = cx.submit("exec sleep 600", **attrs)
    until(lambda: cx.stat(job)["substate"] == "42", "the job's first process")
    with contextlib.suppress(api.PbsError):  # the script saves nothing, or there is none
        cx.api.hold(job)
    cx.api.delete(job)
    ended(cx, job)


@root
@history
@pytest.mark.parametrize("which", SCRIPTS_OF_ROOT)
def test_a_program_that_obeys_SHELL_in_a_script_of_root_does_not_run_that_of_qsub_S(cx, which):
    path = os.path.join(cx.work, "shell")
    with open(path, "w", encoding="ascii") as f:
        f.write(f'#!/bin/sh\nid -u >> {cx.work}/ids\nexec /bin/sh "$@"\n')
    os.chmod(path, 0o755)
    cx.blank("ids")
    site_script(cx, which, f"flock {cx.work} -c 'touch {cx.work}/{which}'; exit {int(which == 'checkpoint_abort')}")
    go_through_scripts(cx, Shell_Path_List=path)
    assert exists(cx, which)
    assert "0" not in cx.file("ids").split()


@root
@history
@pytest.mark.parametrize("which", SCRIPTS_OF_ROOT)
def test_a_PBS_command_in_a_script_of_root_loads_no_code_of_the_owner(cx, which):
    """The owner names another PBS_EXEC, with a module of its own, and a pbs.conf by which the command needs a module."""
    evil = os.path.join(cx.work, "evil")
    os.makedirs(os.path.join(evil, "lib"))
    cx.blank("ids")
    code = (f'#include <stdlib.h>\n__attribute__((constructor)) static void evil_load(void) {{ '
            f'unsetenv("LD_PRELOAD"); if (system("id -u >> {cx.work}/ids")) abort(); }}\n')
    for name in ("libauth_tls.so", "libauth_munge.so"):
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", os.path.join(evil, "lib", name)], check=True,
                       input=code, text=True)
    conf = os.path.join(evil, "pbs.conf")
    with open(conf, "w", encoding="ascii") as f:
        f.write(f"PBS_EXEC={evil}\nPBS_HOME={evil}\nPBS_SERVER=127.0.0.1\nPBS_BATCH_SERVICE_PORT={port_of(cx)}\n")
    asks = f"{cx.build}/bin/qstat -B >/dev/null 2>&1; touch {cx.work}/{which}"
    site_script(cx, which, f"{asks}; exit {int(which == 'checkpoint_abort')}")
    go_through_scripts(cx, Variable_List=f"PBS_EXEC={evil},PBS_CONF_FILE={conf},PBS_SERVER=127.0.0.1,PBS_O_WORKDIR={cx.work}")
    assert exists(cx, which)
    assert cx.file("ids") == ""


def test_an_epilogue_is_told_what_was_asked_for_and_used(cx):
    put(cx, "epilogue", 'for a in "$@"; do echo "<$a>"; done')
    job = cx.submit("true", Job_Name="told", l_walltime="1:00")
    cx.wait_gone(job)
    words = cx.file("out").splitlines()
    assert words[0] == f"<{job}>" and words[3] == "<told>" and int(words[4].strip("<>")) > 1
    assert "walltime=00:01:00" in words[5] and re.fullmatch(r"<cpupercent=\d+,cput=[\d:]{8},mem=\d+kb,ncpus=\d+,vmem=\d+kb,walltime=[\d:]{8}>", words[6]) and words[7:] == ["<workq>", "<null>", "<0>"]


@pytest.mark.complex(nodes=2, history=True)
def test_scripts_of_the_site_run_on_the_first_host_alone(cx):
    for node in ("n1", "n2"):
        path = priv(cx, "prologue", node)
        with open(path, "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\necho {node} >> {cx.work}/hosts\n")
        os.chmod(path, 0o755)
    cx.blank("hosts")
    job = cx.submit("echo x", select="2:ncpus=1", l_place="scatter")
    assert ended(cx, job)["Exit_status"] == "0"
    assert cx.file("hosts") in ("n1\n", "n2\n")


# --- limits that are changed while the job runs


@history
def test_a_limit_of_cpu_time_that_was_raised_outlives_mom_and_server(cx):
    configure_live(cx, "$min_check_poll 1", "$max_check_poll 1")
    job = cx.submit("end=$(($(date +%s)+600)); while :; do :; done", l_cput="3")
    cx.wait(job, state="R")
    cx.api.alter(job, [("Resource_List", "cput", "10:00")])
    cx.kill("n1")
    cx.restart("n1")
    assert stays(lambda: cx.state(job) == "R", 6)
    cx.api.delete(job)


@history
def test_a_job_that_uses_too_much_cpu_time_in_all_its_processes_is_ended_and_told(cx):
    configure_live(cx, "$min_check_poll 1", "$max_check_poll 1")
    job = cx.submit("(while :; do :; done) & while :; do :; done", l_cput="1")
    assert ended(cx, job)["Exit_status"] == "-28"
    assert "=>> PBS: job killed: cput" in cx.file("err") and "exceeded limit 1" in cx.file("err")
    assert "exceeded resource cput" in cx.stat(job)["comment"]


@history
def test_a_limit_that_is_lowered_while_the_mom_is_away_counts_when_it_is_back(cx):
    configure_live(cx, "$min_check_poll 1", "$max_check_poll 1")
    job = cx.submit(LOOP, l_walltime="10:00")
    cx.wait(job, state="R")
    cx.kill("n1")
    cx.api.alter(job, [("Resource_List", "walltime", "1")])
    cx.restart("n1")
    assert ended(cx, job)["Exit_status"] == "-29"


@pytest.mark.complex(history=True, sched=False)
def test_a_limit_that_is_lowered_while_the_job_is_prepared_counts_from_its_start(cx):
    put(cx, "prologue", f"touch {cx.work}/before; while [ ! -e {cx.work}/go_on ]; do sleep 0.02; done")
    job = cx.submit(LOOP, l_walltime="10:00")
    cx.api.run_async(job, "(n1:ncpus=1)")
    until(lambda: exists(cx, "before"), "its prologue")
    cx.command("qalter", "-l", "walltime=1", job)
    touch(cx, "go_on")
    assert ended(cx, job)["Exit_status"] == "-29"


# --- the grace between SIGTERM and SIGKILL


@history
def test_a_queue_with_kill_delay_0_kills_at_once(cx):
    cx.set_queue("workq", "kill_delay", "0")
    job = here(cx, "trap 'touch termed' TERM\ntouch trapped\n" + LOOP)
    until(lambda: exists(cx, "trapped"), "the trap")
    cx.api.delete(job)
    ended(cx, job)
    assert not exists(cx, "termed")


@history
def test_where_the_queue_says_nothing_the_host_says_how_long_the_grace_is(cx):
    configure_live(cx, "$kill_delay 0")
    job = here(cx, "trap 'touch termed' TERM\ntouch trapped\n" + LOOP)
    until(lambda: exists(cx, "trapped"), "the trap")
    cx.api.delete(job)
    ended(cx, job)
    assert not exists(cx, "termed")


# --- a script of the site that ends a job


def ending(cx, text, limit_s=20):
    put(cx, "ending", text)
    configure_live(cx, f"$action terminate {limit_s} !{priv(cx, 'ending')} %jobid %sid %login")


@history
def test_a_site_may_end_its_jobs_by_a_script(cx):
    ending(cx, f'echo "$1 $2 $3 $PBS_JOBID [$LD_PRELOAD]" > {cx.work}/ending; kill -USR2 $2')
    job = here(cx, "trap 'touch termed' TERM\ntouch trapped\n" + LOOP, Variable_List=f"PBS_O_WORKDIR={cx.work},LD_PRELOAD=")
    until(lambda: exists(cx, "trapped"), "the trap")
    sid = cx.stat(job)["session_id"]
    cx.api.delete(job)
    ended(cx, job)
    owner = users.NAMES[0] if os.geteuid() == 0 else users.me()
    assert cx.file("ending").split() == [job, sid, owner, job, "[]"]
    assert not exists(cx, "termed")


@history
@pytest.mark.parametrize("text", ["exit 1", "sleep 600"])
def test_a_script_that_cannot_end_the_job_leaves_it_to_the_signals(cx, text):
    cx.set_queue("workq", "kill_delay", "20")
    ending(cx, text, limit_s=1)
    job = here(cx, "trap 'touch termed; exit 0' TERM\ntouch trapped\n" + LOOP)
    until(lambda: exists(cx, "trapped"), "the trap")
    cx.api.delete(job)
    ended(cx, job)
    assert exists(cx, "termed")


@history
def test_said_twice_the_script_has_no_say_any_more(cx):
    ending(cx, f"echo $$ > {cx.work}/pid; sleep 600")
    job = cx.submit(LOOP)
    cx.wait(job)
    until(lambda: cx.stat(job)["substate"] == "42", "the job's first process")
    cx.api.delete(job)
    pid = int(until(lambda: cx.file("pid"), "the script"))
    cx.api.delete(job)
    ended(cx, job)
    until(lambda: not is_alive(pid), "the end of the script")


@history
@pytest.mark.parametrize("script", [False, True])
def test_a_server_that_dies_does_not_shorten_the_grace_of_a_job_that_is_ending(cx, script):
    """The order to end is repeated after the next HELLO; the job is saving itself meanwhile."""
    cx.set_queue("workq", "kill_delay", "600")
    if script:
        ending(cx, f"until [ -e {cx.work}/go ]; do sleep 0.05; done; touch {cx.work}/asked; exit 1", limit_s=600)
    job = here(cx, "trap 'until [ -e go ]; do sleep 0.05; done; touch saved; exit 0' TERM\ntouch trapped\n" + LOOP)
    until(lambda: exists(cx, "trapped"), "the trap")
    cx.api.delete(job)
    cx.crash_server()
    cx.hosts_back()
    until(lambda: len(repeats(cx, job)) == 2, "the repeated order")
    open(os.path.join(cx.work, "go"), "w", encoding="ascii").close()
    ended(cx, job)
    assert exists(cx, "saved") and exists(cx, "asked") == script


def repeats(cx, job):
    return [line for line in cx.log("n1").splitlines() if f"{job};signal job with TermJob" in line]


# --- messages


@history
def test_a_message_is_written_to_the_output_of_the_job(cx):
    job = here(cx, "echo first; echo err >&2; touch began; while [ ! -e go ]; do sleep 0.02; done; echo last")
    until(lambda: exists(cx, "began"), "the job's first step")
    until(lambda: cx.stat(job)["substate"] == "42", "the job running")
    cx.command("qmsg", "-O", "power is cut at ten; save $(date) 'now'", job)
    cx.command("qmsg", "to the error file", job)
    touch(cx, "go")
    ended(cx, job)
    assert cx.file("out").splitlines() == ["first", "power is cut at ten; save $(date) 'now'", "last"]
    assert cx.file("err").splitlines() == ["err", "to the error file"]


@history
def test_a_message_to_an_array_or_a_range_reaches_what_runs_of_it(cx):
    text = "touch began$PBS_ARRAY_INDEX; while [ ! -e go ]; do sleep 0.02; done"
    job = here(cx, text, array_indices_submitted="1-3", Error_Path=os.path.join(cx.work, "err.^array_index^"))
    until(lambda: all(exists(cx, f"began{i}") for i in (1, 2, 3)), "the subjobs' first steps")
    until(lambda: cx.stat(job)["array_state_count"].startswith("Queued:0 Running:3"), "three that run")
    for one in (1, 2, 3):
        until(lambda i=one: cx.stat(job.replace("[]", f"[{i}]"))["substate"] == "42", "the subjob running")
    cx.command("qmsg", "to all", job)
    cx.command("qmsg", "to some", job.replace("[]", "[2-9]"))
    unknown = cx.command("qmsg", "to none", job.replace("[]", "[7-9]"), check=False)
    assert unknown.returncode == 15001 % 256 and "Unknown Job Id" in unknown.stderr
    touch(cx, "go")
    cx.wait_gone(job)
    assert [cx.file(f"err.{i}") for i in (1, 2, 3)] == ["to all\n", "to all\nto some\n", "to all\nto some\n"]
    over = cx.command("qmsg", "late", job, check=False)
    assert over.returncode == 15139 % 256


@root
@history
def test_a_message_to_a_job_of_another_user_or_to_one_that_waits_is_refused(cx):
    cx.set_server("scheduling", "False")
    job = cx.submit("true")
    failed = cx.command("qmsg", "hello", job, check=False)
    assert failed.returncode != 0 and "state" in failed.stderr
    failed = cx.command("qmsg", "hello", job, user=users.NAMES[1], check=False)
    assert failed.returncode != 0 and "Unauthorized" in failed.stderr


# --- a job that comes back elsewhere

elsewhere = pytest.mark.complex(nodes=2, sched=False, history=True)
TWICE = "echo run $PBS_JOBID on it; echo oops >&2; while [ ! -e {work}/go ]; do sleep 0.02; done; echo over"


def spool(cx, node):
    return sorted(os.listdir(os.path.join(cx.dir, "mom", node, "spool")))


def run_and_send_back(cx, where="(n1:ncpus=1)", how=None, **attrs):
    """A job whose first run has written a line on n1; how: "force" waits for no host."""
    job = cx.submit(TWICE.format(work=cx.work), **attrs)
    cx.api.run(job, where)
    path = os.path.join(cx.dir, "mom", "n1", "spool", f"{job}.OU")
    until(lambda: os.path.exists(path) and os.path.getsize(path), "its first line")
    cx.api.rerun(job, how)
    cx.wait(job, "Q")
    return job


def let_end(cx, job):
    with open(os.path.join(cx.work, "go"), "w", encoding="ascii"):
        pass
    cx.wait_gone(job)
    return cx.file("out"), cx.file("err")


@elsewhere
def test_the_output_of_a_job_that_runs_again_on_another_host_is_appended(cx):
    job = run_and_send_back(cx)
    assert f"{job}.KEY" in spool(cx, "n1")
    cx.api.run(job, "(n2:ncpus=1)")
    until(lambda: cx.stat(job)["substate"] == "42", "its second run")
    until(lambda: spool(cx, "n1") == [], "the end of what was fetched")
    out, err = let_end(cx, job)
    assert out == f"run {job} on it\n" * 2 + "over\n" and err == "oops\noops\n"
    until(lambda: spool(cx, "n2") == [], "the end of its spool")


@elsewhere
def test_a_job_that_has_written_nothing_leaves_no_output_and_runs_on_another_host(cx):
    job = cx.submit(f"while [ ! -e {cx.work}/go ]; do sleep 0.02; done; echo over")
    cx.api.run(job, "(n1:ncpus=1)")
    cx.wait(job)
    cx.api.rerun(job)
    cx.wait(job, "Q")
    assert f"{job}.KEY" not in spool(cx, "n1")
    cx.api.run(job, "(n2:ncpus=1)")
    until(lambda: cx.stat(job)["substate"] == "42", "its second run")
    out, err = let_end(cx, job)
    assert (out, err) == ("over\n", "")
    assert "refused its files" not in cx.log("n1")
    until(lambda: spool(cx, "n1") == [], "the end of its spool")


@elsewhere
@pytest.mark.parametrize("node", ["n1", "n2"])
def test_the_output_of_a_job_that_is_rerun_by_force_is_appended_on_any_host(cx, node):
    """Its next run is ordered at once: the host of the last one may not have ended it yet."""
    job = run_and_send_back(cx, how="force")
    cx.api.run(job, f"({node}:ncpus=1)")
    out, err = let_end(cx, job)
    assert out == f"run {job} on it\n" * 2 + "over\n" and err == "oops\noops\n"


@history
def test_a_process_that_a_trap_starts_does_not_get_the_signal_of_the_trap(cx):
    job = here(cx, "trap 'for i in $(seq 40); do /bin/true || echo $? >> lost; done; echo saved > saved; exit 0' TERM\n"
                   "touch began; while :; do sleep 0.05; done")
    until(lambda: exists(cx, "began"), "the trap")
    cx.api.delete(job)
    ended(cx, job)
    assert cx.file("saved") == "saved\n" and cx.file("lost") is None


@history
def test_a_job_that_is_deleted_while_it_goes_back_has_its_output_delivered(cx):
    job = here(cx, "trap '' TERM; echo said; touch began; while :; do sleep 0.05; done")
    until(lambda: exists(cx, "began") and cx.stat(job)["substate"] == "42", "the job")
    asker = cx.connect()
    asker.call_send("rerunjob_send", job, None)
    until(lambda: f";{job};signal job with Rerun" in cx.log("n1"), "the rerun at the MOM")
    cx.api.delete(job)
    ended(cx, job)
    asker.close()
    assert "said" in until(lambda: cx.file("out"), "its output")
    until(lambda: not os.listdir(os.path.join(cx.dir, "mom", "n1", "spool")), "an empty spool")


@pytest.fixture
def slow_host(monkeypatch):
    """Two hosts whose MOMs can be made to see time pass."""
    cx = Complex(nodes=2, sched=False, history=True)
    cx.clock = Clock(cx, monkeypatch, "pbs_mom")
    try:
        cx.start()
        yield cx
    finally:
        cx.stop()


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer wants to be loaded first")
def test_output_is_waited_for_while_the_last_host_has_not_done_with_the_job(slow_host):
    """Its epilogue may take longer than a host is waited for that does not answer."""
    cx = slow_host
    configure_live(cx, "$prologalarm 600")
    put(cx, "epilogue", f"touch {cx.work}/epilogue; while [ ! -e {cx.work}/enough ]; do sleep 0.02; done")
    job = run_and_send_back(cx, how="force")
    until(lambda: exists(cx, "epilogue"), "the epilogue")
    cx.api.run_async(job, "(n2:ncpus=1)")
    order = os.path.join(cx.dir, "mom", "n2", "mom_priv", "jobs", f"{job}.2", "run")
    until(lambda: os.path.exists(order), "its order")
    assert stays(lambda: cx.stat(job)["substate"] != "42", 0.7)  # n2 asks now
    cx.clock.leap(12)
    assert stays(lambda: cx.stat(job)["substate"] != "42", 1.5)
    touch(cx, "enough")
    out, err = let_end(cx, job)
    assert out == f"run {job} on it\n" * 2 + "over\n" and err == "oops\noops\n"


@elsewhere
def test_the_host_that_was_first_may_be_another_one_of_the_next_run(cx):
    """It has a part of the run that fetches from it, and that part writes none of the job's files."""
    job = run_and_send_back(cx, "(n1:ncpus=1)+(n2:ncpus=1)", select="2:ncpus=1", l_place="scatter")
    cx.api.run(job, "(n2:ncpus=1)+(n1:ncpus=1)")
    out, err = let_end(cx, job)
    assert out == f"run {job} on it\n" * 2 + "over\n" and err == "oops\noops\n"


@elsewhere
def test_output_of_many_pieces_is_fetched_whole_and_in_order(cx):
    job = cx.submit(f"seq 1 200000; touch {cx.work}/done; while [ ! -e {cx.work}/go ]; do sleep 0.02; done")
    os.chmod(cx.work, 0o777)
    cx.api.run(job, "(n1:ncpus=1)")
    until(lambda: os.path.exists(f"{cx.work}/done"), "its lines")
    cx.api.rerun(job)
    cx.wait(job, "Q")
    cx.api.run(job, "(n2:ncpus=1)")
    out, _ = let_end(cx, job)
    assert out == "".join(f"{i}\n" for i in range(1, 200001)) * 2


@elsewhere
def test_a_job_whose_last_host_is_gone_starts_and_says_so(cx):
    job = run_and_send_back(cx)
    cx.kill("n1")
    until(lambda: "down" in cx.node("n1")["state"], "the loss of n1")
    cx.api.run(job, "(n2:ncpus=1)")
    out, err = let_end(cx, job)
    assert out == f"run {job} on it\nover\n"
    assert err.startswith("=>> PBS: what this job had written before is missing: it is on mom:n1, which is away\n")
    assert err.endswith("oops\n")


@elsewhere
def test_output_that_a_requeued_job_left_is_removed_when_the_job_is_deleted(cx):
    job = run_and_send_back(cx)
    assert spool(cx, "n1")
    cx.api.delete(job)
    until(lambda: spool(cx, "n1") == [], "the end of its spool")


@elsewhere
def test_a_mom_that_is_killed_while_output_is_fetched_fetches_it_again(cx):
    job = run_and_send_back(cx)
    with daemon_frozen(cx, "n1"):
        cx.api.run_async(job, "(n2:ncpus=1)")
        until(lambda: os.path.exists(os.path.join(cx.dir, "mom", "n2", "mom_priv", "jobs", f"{job}.2", "run")),
              "its order")
        cx.kill("n2")
    cx.restart("n2")
    until(lambda: cx.stat(job)["substate"] == "42", "its second run")
    out, err = let_end(cx, job)
    assert out == f"run {job} on it\n" * 2 + "over\n" and err == "oops\noops\n"


# --- a MOM that reads its configuration again
def hello_storm(cx, over):
    """The MOM says HELLO again and again, until it is over."""
    while not over.wait(0.002):
        os.kill(cx.pid("n1"), signal.SIGHUP)


@history
def test_no_request_is_refused_because_a_mom_reads_its_configuration_again(cx):
    job = cx.submit("sleep 600")
    cx.wait(job)
    cx.set_server("scheduling", "False")
    over = threading.Event()
    storm = threading.Thread(target=hello_storm, args=(cx, over))
    storm.start()
    try:
        for _ in range(60):
            cx.api.signal(job, "SIGCONT")
            cx.api.run(cx.submit("true"), "(n1:ncpus=0)")
    finally:
        over.set()
        storm.join()
