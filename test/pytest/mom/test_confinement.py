"""What keeps a job within what it asked for on its host, and what is left of it afterwards."""
import os
import shutil

import pytest

from harness import users
from harness.ask import ended
from harness.mom_priv import add_lines, configure, configure_live, reread
from harness.shepherds import confinement, groups, kill_shepherd, shepherd
from harness.faults import processes_called, processes_with
from harness.wait import until

history = pytest.mark.complex(history=True)
TAKE = "python3 -c 'import sys,time; x = bytearray(int(sys.argv[1]) << 20); time.sleep(float(sys.argv[2]))'"


@pytest.fixture
def limiting(cx):
    """A complex whose host can limit memory."""
    if confinement(cx)["memory"] == "none":
        pytest.skip("this host has no memory controller that we may use")
    return cx


def prefix_of(cx, node="n1"):
    """What the names of this MOM's groups begin with; other complexes have jobs of the same name."""
    jobs = os.stat(os.path.join(cx.dir, "mom", node, "mom_priv", "jobs"))
    return f"pbs_{jobs.st_dev:x}-{jobs.st_ino:x}_"


def needs(cx, what):
    if confinement(cx)[what] in ("none", "rlimit"):
        pytest.skip(f"this host has no {what} controller that we may use")


def test_a_node_shows_what_holds_its_jobs(cx):
    c = confinement(cx)
    assert list(c) == ["suspend", "memory", "pids", "cpuset", "devices"]
    assert c["suspend"] in ("signals", "cgroup v1", "cgroup v2")
    assert c["memory"] in ("none", "cgroup v1", "cgroup v2")
    assert c["pids"] in ("rlimit", "cgroup v1", "cgroup v2")
    assert c["cpuset"] in ("none", "off") and c["devices"] in ("none", "off")
    assert f"confinement = suspend:{c['suspend']},memory:{c['memory']}" in cx.command("pbsnodes", "-v", "n1").stdout
    configure_live(cx, "$enforce !mem", "$pids_max 0", "$device_allow /dev/null")
    until(lambda: confinement(cx)["memory"] in ("none", "off"), "the new confinement")
    assert confinement(cx)["pids"] in ("none", "off") and confinement(cx)["devices"] != "off"
    until(lambda: cx.node()["state"] == "free", "the node after its reload")


@history
def test_a_job_that_takes_more_memory_than_it_asked_for_is_killed_with_a_message(limiting):
    cx = limiting
    job = cx.submit(f"{TAKE} 400 1; echo went on", select="1:ncpus=1:mem=100mb")
    s = ended(cx, job)
    assert s["Exit_status"] == "-27"
    assert "=>> PBS: job killed: mem exceeded limit 102400kb" in cx.file("err")
    assert "went on" not in cx.file("out")


@history
def test_a_process_in_the_background_that_takes_too_much_ends_the_whole_job(limiting):
    cx = limiting
    job = cx.submit(f"setsid {TAKE} 400 60 & sleep 600", select="1:ncpus=1:mem=100mb")
    assert ended(cx, job)["Exit_status"] == "-27"
    assert "mem exceeded limit" in cx.file("err")


@history
def test_the_memory_of_all_processes_of_a_job_counts_together(limiting):
    cx = limiting
    job = cx.submit(f"for i in 1 2 3 4; do {TAKE} 60 60 & done; wait", select="1:ncpus=1:mem=150mb")
    assert ended(cx, job)["Exit_status"] == "-27"


@history
def test_chunks_on_one_host_have_their_memory_together(limiting):
    cx = limiting
    job = cx.submit(f"{TAKE} 120 0.1", select="3:ncpus=1:mem=60mb")
    assert ended(cx, job)["Exit_status"] == "0"


@history
def test_memory_of_a_task_started_by_tm_counts_too(limiting):
    cx = limiting
    job = cx.submit(f"PATH={cx.build}/bin:$PATH\npbsdsh {TAKE} 400 60; sleep 600", select="1:ncpus=1:mem=100mb")
    assert ended(cx, job)["Exit_status"] == "-27"


@history
def test_a_job_within_its_memory_ends_as_it_likes_and_leaves_no_group(limiting):
    cx = limiting
    job = cx.submit(f"{TAKE} 20 0.1; exit 4", select="1:ncpus=1:mem=200mb")
    assert ended(cx, job)["Exit_status"] == "4"
    until(lambda: not groups(prefix_of(cx)), "the end of the job's groups")


@history
def test_a_job_that_asks_for_no_memory_has_no_limit(limiting):
    cx = limiting
    assert ended(cx, cx.submit(f"{TAKE} 300 0.1"))["Exit_status"] == "0"


@history
def test_a_site_can_leave_memory_unlimited(limiting):
    cx = limiting
    configure(cx, "$enforce !mem")
    assert ended(cx, cx.submit(f"{TAKE} 300 0.1", select="1:ncpus=1:mem=50mb"))["Exit_status"] == "0"


@history
def test_a_job_with_limited_memory_is_suspended_and_resumed(limiting):
    cx = limiting
    job = cx.submit("cd $PBS_O_WORKDIR; touch began; until [ -e enough ]; do sleep 0.1; done; exit 6", select="1:ncpus=1:mem=100mb")
    until(lambda: cx.file("began") is not None, "the job's first step")
    until(lambda: cx.stat(job)["substate"] == "42", "the server's news of it")
    cx.command("qsig", "-s", "suspend", job)
    cx.wait(job, "S")
    cx.command("qsig", "-s", "resume", job)
    cx.blank("enough")
    assert ended(cx, job)["Exit_status"] == "6"


RABBIT = """python3 - <<'X' &
import os
open("rabbit", "w").close()
while True:
    if os.fork():
        os._exit(0)
X"""


@history
def test_processes_that_fork_faster_than_they_can_be_found_end_with_the_job(cx):
    """Each is gone before its number can be sent a signal: they must be made to stand still first."""
    job = cx.submit("cd $PBS_O_WORKDIR\n" + "\n".join([RABBIT] * 4)
                    + "\nwhile [ ! -e rabbit ]; do sleep 0.05; done; exit 5")
    assert ended(cx, job)["Exit_status"] == "5"
    assert not processes_with(f"TMPDIR={cx.dir}/mom/n1/tmp/pbs.{job}")


# --- processes


BOMB = """python3 - <<'X'
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.01)
X"""


def of_job(cx, job):
    return processes_with(f"TMPDIR={cx.dir}/mom/n1/tmp/pbs.{job}")


@history
def test_a_fork_bomb_hurts_only_its_own_job_and_can_be_ended(cx):
    needs(cx, "pids")
    configure_live(cx, "$pids_max 50")
    bomb = cx.submit(BOMB)
    until(lambda: len(of_job(cx, bomb)) >= 45, "the bomb")
    other = cx.submit("for i in $(seq 20); do sleep 0.01 & done; wait; exit 4")
    assert ended(cx, other)["Exit_status"] == "4"
    assert len(of_job(cx, bomb)) <= 50
    cx.api.delete(bomb)
    cx.wait_gone(bomb)
    assert not of_job(cx, bomb)
    assert "the job could not make more than 50 processes and threads ($pids_max of this host)" in cx.file("err")


@history
def test_a_job_has_some_thousand_processes_when_the_site_says_nothing(cx):
    needs(cx, "pids")
    ended(cx, cx.submit("cat /sys/fs/cgroup/$(test -e /sys/fs/cgroup/pids && echo pids)"
                        "$(grep -e :pids: -e ^0:: /proc/self/cgroup | head -1 | cut -d: -f3)/pids.max"))
    assert 1024 <= int(cx.file("out")) <= 32768


@history
def test_the_groups_of_a_job_have_its_name(cx):
    needs(cx, "pids")
    job = cx.submit("cat /proc/self/cgroup")
    ended(cx, job)
    assert f"/{prefix_of(cx)}{job}.1." in cx.file("out")


# --- processors


AFFINITY = "python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))'"
both_cpus = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")


@both_cpus
@pytest.mark.complex(history=True, ncpus=2)
def test_jobs_are_bound_to_processors_of_their_own_also_after_a_restart(cx):
    needs(cx, "cpuset")
    configure_live(cx, "$cpuset true")
    until(lambda: confinement(cx)["cpuset"] != "off", "the binding")
    first = cx.submit(f"{AFFINITY} > $PBS_O_WORKDIR/first.new; cd $PBS_O_WORKDIR; mv first.new first; sleep 600")
    until(lambda: cx.file("first"), "the first job's processors")
    assert len(cx.file("first").split()) == 1
    second = cx.submit(f"{AFFINITY}", Output_Path=cx.work + "/second")
    cx.wait_gone(second)
    assert len(cx.file("second").split()) == 1 and cx.file("second") != cx.file("first")
    cx.kill("n1")
    cx.restart("n1")
    third = cx.submit(f"{AFFINITY}", Output_Path=cx.work + "/third")
    cx.wait_gone(third)
    assert cx.file("third") == cx.file("second")
    cx.api.signal(first, "suspend")
    cx.wait(first, "S")
    cx.wait_gone(cx.submit(f"{AFFINITY}", Output_Path=cx.work + "/all", select="1:ncpus=2"))
    assert len(cx.file("all").split()) == 2


@pytest.mark.complex(history=True, ncpus=3000)
def test_a_host_that_offers_more_processors_than_it_has_binds_no_job_and_says_so(cx):
    configure_live(cx, "$cpuset true")
    assert confinement(cx)["cpuset"] in ("none", "off")
    if confinement(cx)["cpuset"] == "off":
        cx.wait_log("n1", "3000 ncpus are offered, this host has")
    cx.wait_gone(cx.submit(AFFINITY))
    assert len(cx.file("out").split()) == len(os.sched_getaffinity(0))


# --- devices


@pytest.fixture
def device():
    """A device that anybody may open, and that is not one of the usual."""
    for name in ("/dev/fuse", "/dev/vsock", "/dev/loop-control", "/dev/net/tun"):
        if os.path.exists(name) and os.stat(name).st_mode & 0o006 == 0o006:
            return name
    pytest.skip("this host has no device that is open to all")
    return None


@history
def test_a_job_opens_only_devices_that_the_site_allows_and_the_usual_ones(cx, device):
    needs(cx, "devices")
    look = f"echo x > /dev/null && head -c 1 /dev/zero > /dev/null && (exec 3<>{device}) && echo open || echo shut"
    assert ended(cx, cx.submit(look)) and cx.file("out") == "open\n"
    configure_live(cx, "$device_allow /dev/null rw")
    assert ended(cx, cx.submit(look)) and cx.file("out") == "shut\n"
    assert "Operation not permitted" in cx.file("err")
    configure_live(cx, f"$device_allow {device} rw")
    assert ended(cx, cx.submit(look)) and cx.file("out") == "open\n"


def test_a_rule_for_devices_that_is_none_changes_nothing_and_is_named(cx):
    add_lines(cx, "$pids_max 10", "$device_allow /dev/no_such_thing rw")
    reread(cx)
    until(lambda: "/dev/no_such_thing is not a device of this host" in cx.log("n1"), "the refusal")
    cx.wait_log("n1", "the old configuration stays")


# --- nothing is left


DAEMON = """python3 - MARK <<'X'
import os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.chdir("/")
os.closerange(0, 256)
os.execve("/bin/sh", ["MARK", "-c", "while :; do sleep 600; done", "MARK"], {})
X"""


@history
def test_a_daemon_that_a_job_leaves_behind_ends_with_it(cx):
    """setsid, double fork, files closed, environment thrown away."""
    mark = f"left-{os.path.basename(cx.top)}"
    job = cx.submit(DAEMON.replace("MARK", mark) + f"\nwhile ! pgrep -f 'while.*{mark}' > /dev/null; do sleep 0.02; done; exit 3")
    assert ended(cx, job)["Exit_status"] == "3"
    assert not processes_called(f"sleep 600; done\0{mark}")


@history
def test_a_daemon_of_a_job_ends_when_its_shepherd_is_killed(cx):
    """Nothing tells whose it is but the group it was born in."""
    needs(cx, "pids")
    mark = f"left-{os.path.basename(cx.top)}"
    job = cx.submit(DAEMON.replace("MARK", mark) + "\nsleep 600", Rerunable="False")
    until(lambda: processes_called(f"sleep 600; done\0{mark}"), "the daemon")
    kill_shepherd(cx, job)
    assert ended(cx, job)["Exit_status"] == "-4"
    until(lambda: not processes_called(f"sleep 600; done\0{mark}"), "the end of the daemon")


@pytest.mark.skipif(not users.available(), reason="needs root, to be somebody else")
def test_without_groups_too_and_what_forks_without_end_is_ended(quiet):
    """A complex of an ordinary user has no cgroups: sessions and the subreaper do it."""
    me = users.NAMES[2]
    home = f"/home/{me}/confined.{os.getpid()}"
    env = {"PBS_CONF_FILE": f"{home}/pbs.conf", "HOME": f"/home/{me}"}
    mark = f"own-{os.getpid()}"

    def run(*words, **more):
        return quiet.command(*words, user=me, env=env, **more).stdout

    run("pbs_complex", "start", "--nodes", "1", "--ncpus", "2", "--dir", home)
    try:
        assert "confinement = suspend:signals,memory:none,pids:rlimit,cpuset:none,devices:none" in run("pbsnodes", "-v", "n1")
        text = (DAEMON.replace("MARK", mark) + f"\nwhile ! pgrep -f 'while.*{mark}' > /dev/null; do sleep 0.02; done\n"
                + RABBIT.replace('"rabbit"', f'"{home}/rabbit"') + f"\nwhile [ ! -e {home}/rabbit ]; do sleep 0.05; done\n")
        job = run("qsub", "-o", "/dev/null", "-j", "oe", "-W", "block=true", "-", stdin=text).strip()
        assert job and not processes_called(f"sleep 600; done\0{mark}")
        assert not processes_with(f"TMPDIR={home}/mom/n1/tmp/pbs.{job}")
    finally:
        run("pbs_complex", "stop", "--dir", home, "--purge", check=False)
        shutil.rmtree(home, ignore_errors=True)


def test_ps_shows_at_the_host_which_jobs_are_suspended(cx):
    """Processes that are frozen look as before; their shepherd says it."""
    job, other = cx.submit("exec sleep 600"), cx.submit("exec sleep 600")
    for j in (job, other):
        until(lambda j=j: cx.stat(j)["substate"] == "42", "the job")

    def words(j):
        with open(f"/proc/{shepherd(cx, j)}/cmdline", "rb") as f:
            return [w for w in f.read().split(b"\0") if w][1:]
    run = words(job)
    assert run[0] == b"hold" and f"/{job}." in run[1].decode() and b"suspended" not in run
    for _ in range(2):
        cx.api.signal(job, "suspend")
        assert words(job) == [*run[:2], b"suspended"] and b"suspended" not in words(other)
        cx.api.signal(job, "resume")
        assert words(job) == run[:2]
