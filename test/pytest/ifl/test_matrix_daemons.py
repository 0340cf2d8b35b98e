"""Each command where a daemon is down, twice in a row, and after HUP and restart: tables of command lines, as scripts have them.

The lines name J, a job that runs, H, one that is held, A, an array of which no subjob runs, and script, a script.
"""
import os
import signal

import pytest

from harness.wait import until

pytestmark = pytest.mark.complex(nodes=1, ncpus=4, history=True)
REFUSED = "Connection refused"
# What asks the server, whatever it is asked for: number of the exit status where the server is down.
ASKS_SERVER = [
    ("qsub script", 111), ("qstat", 111), ("qstat J", 111), ("qstat -f J", 111), ("qstat -Q", 111), ("qstat -q", 111), ("qstat -B", 111),
    ("qstat -f -F json", 111), ("qstat -T", 111), ("qdel J", 111), ("qdel -W force J", 111), ("qdel -x J", 111), ("qhold H", 111), ("qrls H", 111),
    ("qalter -p 3 H", 111), ("qsig -s TERM J", 111), ("qmove workq H", 111), ("qorder J H", 1), ("qrerun J", 111), ("qrun H", 2), ("qrun -H n1 H", 2),
    ("qselect", 111), ("qselect -s R", 111), ("qmsg words J", 111), ("qenable workq", 111), ("qdisable workq", 111), ("qstart workq", 111),
    ("qstop workq", 111), ("qterm", 2), ("pbsnodes -a", 1), ("pbsnodes n1", 1), ("pbsnodes -av -F json", 1), ("pbsnodes -o n1", 1), ("pbsnodes -r n1", 1),
    ("pbsnodes -l", 1), ("pbsnodes -C words n1", 1), ("pbs_rsub -R 2359 -D 60", 111), ("pbs_rstat", 111), ("pbs_rdel R1", 111),
    ("pbs_ralter -N x R1", 111), ("pbs_release_nodes -j J -a", 111), ("pbs_preempt --explain H", 111), ("pbs_preempt --policy", 111),
    ("pbs_eff J", 111), ("qwait J", 111), ("qpeek J", 111), ("printjob J", 111), ("pbs_topologyinfo -a", 1), ("pbs_iff -t HOST PORT", 111),
    *((f"qmgr -c '{verb}'", 3) for verb in (
        "list server", "print server", "list node n1", "list sched", "list queue workq", "list resource", "list hook", "create queue x queue_type=e",
        "create resource x", "create node x", "create sched x", "create hook x", "delete queue workq", "delete node n1", "set server comment=x",
        "unset server comment", "set node n1 state=offline", "set sched default scheduling=f", "set queue workq enabled=f",
        "import hook x application/x-python default /etc/hostname", "active server elsewhere"))]

# What is asked of a job's host: (exit status, words of stderr) where the MOM is down.
AWAY = "Server could not connect to MOM"
ASKS_HOST = [
    ("qsig -s CONT J", 222, AWAY), ("qsig -s suspend J", 222, AWAY), ("qhold J", 222, AWAY), ("qmsg words J", 222, AWAY), ("qpeek J", 222, AWAY),
    ("qrerun J", 222, AWAY), ("qrun -H n1 H", 2, AWAY), ("qdel J", 222, AWAY), ("qdel J", 222, AWAY),
    ("qstat -f J", 0, ""), ("pbsnodes n1", 0, ""), ("pbsnodes -l", 0, ""), ("qalter -N other J", 0, ""),
    ("qmove workq J", 168, "Request invalid for state of job"), ("qdel -W force J", 0, ""), ("qdel -W force J", 35, "Job has finished")]

# The same line twice, on jobs or objects that are used: exit status and words of the first and of the second.
TWICE = [
    ("qhold H", 0, "", 0, ""), ("qrls -h uso H", 0, "", 0, ""), ("qhold -h u H", 0, "", 0, ""), ("qalter -p 3 H", 0, "", 0, ""), ("qalter -A account H", 0, "", 0, ""), ("qalter -A EMPTY H", 0, "", 0, ""),
    ("qalter -l walltime=10 J", 0, "", 0, ""), ("qmove workq H", 0, "", 0, ""), ("qorder A H", 0, "", 0, ""), ("qsig -s CONT J", 0, "", 0, ""),
    ("qsig -s suspend J", 0, "", 168, "Request invalid for state of job"), ("qsig -s resume J", 0, "", 168, "Request invalid for state of job"),
    ("qrun J", 2, "Request invalid for state of job", 2, "Request invalid for state of job"),
    ("qenable workq", 0, "", 0, ""), ("qdisable workq", 0, "", 0, ""), ("qenable workq", 0, "", 0, ""), ("qstop workq", 0, "", 0, ""),
    ("qstart workq", 0, "", 0, ""), ("pbsnodes -o n1", 0, "", 0, ""), ("pbsnodes -r n1", 0, "", 0, ""), ("pbsnodes -C words n1", 0, "", 0, ""),
    ("qdel A", 0, "", 35, "Job has finished"), ("qdel H", 0, "", 35, "Job has finished"), ("qhold H", 35, "Job has finished", 35, "Job has finished"),
    ("qmove workq H", 35, "Job has finished", 35, "Job has finished"), ("qdel -x H", 0, "", 153, "Unknown Job Id"),
    *((f"qmgr -c '{verb}'", *rest) for verb, *rest in (
        ("delete queue workq", 179, "Cannot delete busy object", 179, "Cannot delete busy object"),
        ("delete node n1", 179, "busy", 179, "busy"),
        ("set node n1 state=offline", 0, "", 0, ""), ("set node n1 state-=offline", 0, "", 0, ""), ("set node n1 comment=x", 0, "", 0, ""),
        ("unset node n1 comment", 0, "", 0, ""), ("set server comment=x", 0, "", 0, ""), ("unset server comment", 0, "", 0, ""),
        ("set queue workq max_run=[u:PBS_GENERIC=9]", 0, "", 0, ""), ("unset queue workq max_run", 0, "", 0, ""),
        ("set server managers+=a@b", 0, "", 0, ""), ("set server managers-=a@b", 0, "", 0, ""),
        ("create queue x queue_type=e", 0, "", 177, "already exists"), ("delete queue x", 0, "", 170, "Unknown queue"),
        ("create node x", 0, "", 218, "already exists"), ("delete node x", 0, "", 214, "Unknown node"),
        ("create resource x type=long", 0, "", 207, "Duplicate entry in list"), ("delete resource x", 0, "", 187, "Unknown resource"),
        ("create sched x", 0, "", 107, "already exists"), ("delete sched x", 0, "", 109, "Unknown Scheduler")))]


@pytest.fixture(scope="module")
def cx(complex):
    return complex


@pytest.fixture
def jobs(cx):
    """A job that runs, one that is held, and an array that is; they are gone afterwards."""
    running = cx.submit("sleep 600", select="1:ncpus=1")
    until(lambda: cx.stat(running)["substate"] == "42", "its begin")
    with open(os.path.join(cx.work, "script"), "w", encoding="ascii") as f:
        f.write("true\n")
    with open(cx.conf, encoding="ascii") as f:
        port = next(line.rstrip().split("=")[1] for line in f if line.startswith("PBS_BATCH_SERVICE_PORT="))
    yield {"J": running, "H": cx.submit(Hold_Types="u"), "A": cx.submit(Hold_Types="u", array_indices_submitted="1-3"), "EMPTY": "", "HOST": "127.0.0.1", "PORT": port}
    cx.clean()


def ask(cx, line, names):
    """The command of this line, with what its names stand for."""
    words, _, last = line.partition(" '")
    named = [names.get(word, word) for word in words.split()]
    return cx.command(*named, *([last[:-1]] if last else []), check=False)


def test_each_command_says_that_the_server_is_down_and_shows_nothing(cx, jobs):
    wrong = []
    cx.kill("server")
    for line, status in ASKS_SERVER:
        done = ask(cx, line, jobs)
        name = line.split()[0]
        if done.returncode != status or done.stdout or REFUSED not in done.stderr or any(not said.startswith(f"{name}: ") for said in done.stderr.splitlines()):
            wrong.append((line, done.returncode, done.stdout, done.stderr))
    cx.restart("server")
    cx.again()
    until(lambda: cx.node("n1").state == "free", "the host")
    assert cx.state(jobs["J"]) == "R" and cx.state(jobs["H"]) == "H"
    assert not wrong, "\n".join(map(str, wrong))


def test_what_a_host_is_asked_for_says_that_the_host_is_away(cx, jobs):
    wrong = []
    cx.kill("n1")
    until(lambda: "down" in cx.node("n1").state, "its absence")
    for line, status, words in ASKS_HOST:
        done = ask(cx, line, jobs)
        if done.returncode != status or words not in done.stderr:
            wrong.append((line, done.returncode, done.stdout, done.stderr))
    cx.restart("n1")
    until(lambda: cx.node("n1").state == "free", "the host")
    assert not wrong, "\n".join(map(str, wrong))


def test_without_a_scheduler_jobs_wait_and_what_it_is_asked_for_says_so(cx, jobs):
    cx.kill("sched")
    until(lambda: "state = down" in cx.qmgr("list sched default"), "its absence")
    for line in ("qrun H", "pbs_preempt --explain H"):
        done = ask(cx, line, jobs)
        assert done.returncode and "Could not contact Scheduler" in done.stderr, (line, done.stderr)
    waits = cx.submit("true")
    assert cx.state(waits) == "Q"
    cx.restart("sched")
    cx.wait(waits, state="F")


def test_each_verb_twice_says_what_has_become_of_its_object(cx, jobs):
    wrong = []
    cx.set_server("scheduling", "False")  # what is released stays where it is
    for line, first, words, second, again in TWICE:
        for status, said in ((first, words), (second, again)):
            done = ask(cx, line, jobs)
            if done.returncode != status or said not in done.stderr or (not said and done.stderr):
                wrong.append((line, status, done.returncode, done.stdout, done.stderr))
    cx.set_server("scheduling", "True")
    assert not wrong, "\n".join(map(str, wrong))


def test_an_account_that_is_empty_is_none(cx):
    job = cx.submit(Hold_Types="u", Account_Name="a")
    cx.command("qalter", "-A", "", job)
    assert "Account_Name" not in cx.stat(job)
    cx.api.delete(job)


SHOWN = ["qstat", "qstat -f", "qstat -fx", "qstat -a", "qstat -Q", "qstat -Bf", "pbsnodes -av", "pbsnodes -l", "qselect", "qmgr -c 'print server'",
         "qmgr -c 'print sched'", "qmgr -c 'print node @default'", "qmgr -c 'list resource'", "qmgr -c 'print hook'"]
MOVES = ("mtime", "resources_used", "server_state", "state_count", "last_state_change_time", "last_used_time", "checkpoint_by", "eligible_time", "cput", "mem =", "license_count", "walltime")


def shown(cx, jobs):
    """What each of these commands shows, without what moves by itself; times of a listing are not compared."""
    cut = {line: ask(cx, line, jobs).stdout.splitlines() for line in SHOWN if line not in ("qstat", "qstat -a")}
    return {line: [text for text in texts if not any(word in text for word in MOVES)] for line, texts in cut.items()}


@pytest.mark.parametrize("how", ["HUP", "restart", "stop"])
def test_what_commands_show_lasts(cx, jobs, how):
    cx.qmgr("create resource lasts type=long,flag=nh", "set node n1 resources_available.lasts=3", "set queue workq max_run=[u:PBS_GENERIC=9]",
            "create queue lasts queue_type=e,Priority=7", "set server comment='it lasts'")
    before = shown(cx, jobs)
    daemons = ("server", "sched", "n1")
    for name in daemons:
        if how == "HUP":
            os.kill(cx.pid(name), signal.SIGHUP)
        else:
            (cx.kill if how == "restart" else cx.stop_daemon)(name)
    for name in daemons if how != "HUP" else ():
        cx.restart(name)
    cx.again()
    until(lambda: cx.node("n1").state == "free", "the host")
    until(lambda: shown(cx, jobs) == before, lambda: "\n".join(
        f"{line}: {[t for t in texts if t not in before[line]]} for {[t for t in before[line] if t not in texts]}" for line, texts in shown(cx, jobs).items()
        if texts != before[line]))
    cx.qmgr("unset node n1 resources_available.lasts", "delete resource lasts", "unset queue workq max_run", "delete queue lasts", "unset server comment")
