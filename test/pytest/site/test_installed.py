"""make install, pbs.conf and the init script: a site's complex, with the options of its daemons."""
import json
import os
import pwd
import re
import shutil
import socket
import stat
import struct
import subprocess

import pytest

from harness import faults, users
from harness.installed import LOCKS, ROOT, Installed
from harness.wait import until


@pytest.fixture
def site():
    c = Installed()
    try:
        yield c.start()
    finally:
        c.stop()


@pytest.fixture(scope="module")
def tree():
    """An installed tree of which nothing was started."""
    c = Installed()
    yield c
    c.remove()


root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


# --- hooks

def test_an_installed_tree_runs_hooks_also_through_a_link(tree):
    link = os.path.join(tree.top, "pbs_python")
    os.symlink(f"{tree.exec}/bin/pbs_python", link)
    script = f"{tree.exec}/share/doc/cede/examples/hooks/need_walltime.py"
    for program in (f"{tree.exec}/bin/pbs_python", link):
        done = subprocess.run([program, "--hook", "-e", "queuejob", "-l", "log", script], input="pbs.event().job.Resource_List[ncpus]=1\n",
                              capture_output=True, text=True, cwd=tree.top, check=True)
        assert "pbs.event().reject_msg=Please say how long" in done.stdout
    near, far = socket.socketpair()
    with near, far:
        worker = subprocess.Popen([f"{tree.exec}/libexec/pbs_hook_worker", "--fd", str(far.fileno())], pass_fds=(far.fileno(),))
        far.close()
        hello = json.dumps({"op": "hello", "version": 1}).encode()
        near.sendall(len(hello).to_bytes(4, "big") + hello)
        length = int.from_bytes(near.recv(4), "big")
        assert json.loads(near.recv(length)) == {"op": "hello", "version": 1, "pid": worker.pid}
    assert worker.wait(120) == 0


# --- the init script

def test_pbs_conf_alone_gives_a_complex_that_runs_jobs(site):
    job = site.submit(f"echo done > {site.work}/site.out")
    site.wait_gone(job)
    assert site.file("site.out") == "done\n"


def test_start_names_what_it_starts_and_what_runs_already(site):
    again = site.init("start").stdout.splitlines()
    assert again == ["Starting PBS", "PBS comm already running.", "PBS Server already running.",
                     "PBS mom already running.", "PBS scheduler already running."]


def test_the_script_has_two_more_names_finds_cores_and_takes_a_sites_limits(site):
    script = os.path.join(site.exec, "libexec", "pbs_init.d")
    for name in ("pbs_start", "pbs_stop"):
        os.symlink(script, os.path.join(site.work, name))
    os.makedirs(os.path.join(site.exec, "lib", "init.d"), exist_ok=True)
    with open(os.path.join(site.exec, "lib", "init.d", "limits.pbs_sched"), "w", encoding="ascii") as f:
        f.write("umask 077\nexport SITE_LIMITS=taken\n")
    folder = os.path.join(site.home, "sched_priv")
    for n in (1, 2):
        site.command(os.path.join(site.work, "pbs_stop"))
        assert not site.pid("server")
        with open(os.path.join(folder, "core"), "w", encoding="ascii") as f:
            f.write(f"core {n}")
        out = site.command(os.path.join(site.work, "pbs_start")).stdout
        assert f"Warning: {folder}/core was found, and is now {folder}/core_000{n}\n" in out
        with open(os.path.join(folder, f"core_000{n}"), encoding="ascii") as f:
            assert f.read() == f"core {n}"
    with open(f"/proc/{site.pid('sched')}/environ", encoding="utf-8", errors="replace") as f:
        assert "SITE_LIMITS=taken" in f.read().split("\0")


def test_status_gives_the_pids_and_is_always_0(site):
    lines = site.init("status").stdout.splitlines()
    assert lines == [f"pbs_server is pid {site.pid('server')}", f"pbs_mom is pid {site.pid('mom')}",
                     f"pbs_sched is pid {site.pid('sched')}", f"pbs_comm is {site.pid('comm')}"]
    site.init("stop")
    lines = site.init("status").stdout.splitlines()
    assert lines == [f"pbs_{d} is not running" for d in ("server", "mom", "sched", "comm")]


@root_only
def test_a_user_who_may_not_read_the_lock_files_is_told_so_and_stops_nothing(site):
    pids = {d: site.pid(d) for d in ("server", "mom", "sched", "comm")}
    script = os.path.join(site.exec, "libexec", "pbs_init.d")
    seen = site.command(script, "status", user=users.NAMES[0])
    assert seen.stdout == f"pbs_mom is pid {pids['mom']}\n"
    for name in ("server_priv/server.lock", "sched_priv/sched.lock", "server_priv/comm.lock"):
        assert f"you may not read {site.home}/{name}" in seen.stderr
    for word in ("start", "stop", "restart", "reload"):
        done = site.command(script, word, user=users.NAMES[0], check=False)
        assert done.returncode == 1 and "daemons are started and stopped by root" in done.stderr
    assert {d: site.pid(d) for d in pids} == pids and all(faults.is_alive(pid) for pid in pids.values())


def test_the_environment_overrides_pbs_conf_so_one_daemon_is_restarted_alone(site):
    job = site.submit("sleep 600")
    site.wait(job)
    before = {d: site.pid(d) for d in ("server", "mom", "sched", "comm")}
    site.init("restart", PBS_START_SERVER="0", PBS_START_SCHED="0", PBS_START_COMM="0")
    after = {d: site.pid(d) for d in before}
    assert after.pop("mom") != before.pop("mom") and after == before
    assert site.wait(job)["run_count"] == "1"


def test_one_daemon_is_restarted_by_its_name(site):
    script = os.path.join(site.exec, "libexec", "pbs_init.d")
    job = site.submit("sleep 600")
    site.wait(job)
    before = {d: site.pid(d) for d in ("server", "mom", "sched", "comm")}
    for word in ("restart", "start"):
        site.command(script, word, "mom")
    after = {d: site.pid(d) for d in before}
    assert after.pop("mom") != before.pop("mom") and after == before
    assert site.wait(job)["run_count"] == "1"
    refused = site.command(script, "start", "mom", env={"PBS_START_MOM": "0"}, check=False)
    assert refused.returncode == 1 and "does not give mom to this host" in refused.stderr


@pytest.mark.parametrize("daemon", ["server", "sched", "mom"])
def test_a_daemon_tells_systemd_that_it_is_ready_by_itself(site, daemon):
    """As a unit of Type=notify has it: one process from the script to the daemon, in the folder of its lock, and one word of it."""
    script = os.path.join(site.exec, "libexec", "pbs_init.d")
    running = site.command(script, "run", daemon, check=False)
    assert running.returncode == 1 and f"pbs_{daemon} runs already" in running.stderr
    site.command(script, "stop", daemon)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        name = f"cede/{os.getpid()}/{daemon}"
        systemd.bind(b"\0" + name.encode())
        systemd.settimeout(60)
        systemd.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        process = subprocess.Popen([script, "run", daemon], env={**site.env, "NOTIFY_SOCKET": f"@{name}"}, stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            word, control, _, _ = systemd.recvmsg(64, socket.CMSG_SPACE(12))
            sender = struct.unpack("iii", control[0][2])[0]
            assert (word, sender) == (b"READY=1", process.pid) and site.pid(daemon) == process.pid
            assert os.readlink(f"/proc/{process.pid}/cwd").endswith(f"/{daemon}_priv")
            assert os.readlink(f"/proc/{process.pid}/fd/2") == "/dev/null"
            site.command("qstat", "-B")
            site.command(script, "stop", daemon)
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()


def test_a_scheduler_that_is_told_to_end_says_that_all_is_well(site):
    """Else its unit is called failed after each stop, and is started again."""
    site.command(os.path.join(site.exec, "libexec", "pbs_init.d"), "stop", "sched")
    with subprocess.Popen([f"{site.exec}/sbin/pbs_sched", "-N"], env=site.env, stderr=subprocess.DEVNULL) as sched:
        until(lambda: f"startup pid {sched.pid}" in site.logs("sched") and "Connected" in site.logs("sched", lines=5),
              "a scheduler in the foreground")
        sched.terminate()
        assert sched.wait() == 0


def test_jobs_run_on_while_everything_is_restarted(site):
    job = site.submit(f"cd {site.work}; echo began >> ends; until [ -e go ]; do sleep 0.05; done; echo ended >> ends")
    site.wait(job)
    until(lambda: site.file("ends"), "the job's first line")
    site.init("restart")
    site.again()
    open(os.path.join(site.work, "go"), "w", encoding="ascii").close()
    site.wait_gone(job)
    assert site.file("ends") == "began\nended\n"


@pytest.mark.parametrize("manner", ["quick", "delay"])
def test_qterm_m_ends_the_moms_and_jobs_run_on(site, manner):
    job = site.submit(f"until [ -e {site.work}/go ]; do sleep 0.2; done")
    until(lambda: site.stat(job).get("session_id"), "its start")
    if manner == "delay":
        site.command("qsig", "-s", "suspend", job)  # a job that is stopped is not waited for
        site.wait(job, "S")
    mom, server = site.pid("mom"), site.pid("server")
    site.command("qterm", "-m", "-t", manner)
    until(lambda: not faults.is_alive(server) and not faults.is_alive(mom), "the end of server and MOM")
    site.init("start")
    site.again()
    site.wait(job, "S" if manner == "delay" else "R")
    assert site.stat(job)["run_count"] == "1"


def test_hup_reopens_the_logs_and_ends_no_daemon(site):
    pids = [site.pid(d) for d in ("server", "mom", "sched", "comm")]
    log_dir = os.path.join(site.home, "comm_logs")
    log = os.path.join(log_dir, os.listdir(log_dir)[0])
    os.rename(log, log + ".old")
    site.init("reload")
    until(lambda: os.path.exists(log), "a new log file")
    assert "Processed SIGHUP" in site.logs("comm")
    assert all(faults.is_alive(pid) for pid in pids)


def test_a_wrong_argument_gives_the_usage_and_1(tree):
    script = os.path.join(tree.exec, "libexec", "pbs_init.d")
    for wrong in (["begin"], ["start", "workq"]):
        done = tree.command(script, *wrong, check=False)
        assert done.returncode == 1
        assert done.stdout == "Usage: pbs_init.d --version\nUsage: pbs_init.d {start|stop|restart|status} [server|mom|sched|comm]\n"


@pytest.mark.parametrize("text, said", [("PBS_EXEC=/x\nPBS_SERVER=a\n", "variables not found: PBS_HOME"),
                                        (None, "is missing or cannot be read")])
def test_a_pbs_conf_that_cannot_serve_is_named(tree, text, said):
    path = os.path.join(tree.work, "bad.conf")
    if text:
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
    done = tree.init("start", check=False, PBS_CONF_FILE=path if text else "/nonexistent/pbs.conf")
    assert done.returncode == 1 and said in done.stderr


@pytest.mark.parametrize("server, said", [("a server", "*** The hostname of the PBS server in {conf} is invalid."),
                                          ("-x:15001", "*** The hostname of the PBS server in {conf} is invalid."),
                                          ("no-such-host.invalid:15001",
                                           "*** The PBS server could not be found: no-such-host.invalid")])
@pytest.mark.parametrize("word", ["start", "restart"])
def test_a_server_that_is_nowhere_is_said_before_anything_starts(tree, word, server, said):
    conf = os.path.join(tree.work, "lost.conf")
    with open(conf, "w", encoding="ascii") as f:
        f.write(f"PBS_EXEC={tree.exec}\nPBS_HOME={tree.home}\nPBS_SERVER={server}\nPBS_START_MOM=1\n")
    done = tree.init(word, check=False, PBS_CONF_FILE=conf)
    assert (done.returncode, done.stdout) == (1, "")
    first, remedy = done.stderr.splitlines()
    assert first == said.format(conf=conf) and "PBS_SERVER" in remedy


def test_a_daemon_that_cannot_start_stops_the_start_and_says_why():
    c = Installed(PBS_BATCH_SERVICE_PORT=1)
    try:
        with open(os.path.join(c.dir, "home"), "w", encoding="ascii"):
            pass  # a file where PBS_HOME should be
        done = c.init("start", check=False)
        assert done.returncode == 1
        assert "startup failed, exit 1 aborting." in done.stderr and c.home in done.stderr
    finally:
        c.remove()


@pytest.fixture
def served():
    """A site whose server and scheduler are somebody, of whom `uid` is the number."""
    c = Installed(PBS_DAEMON_SERVICE_USER=users.NAMES[2])
    c.uid = pwd.getpwnam(users.NAMES[2]).pw_uid
    try:
        yield c
    finally:
        c.stop()


def ids(pid):
    """Real, effective, saved and file system user of a process."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return {int(n) for n in re.search(r"^Uid:(.*)$", f.read(), re.M).group(1).split()}


def owners(site, *names):
    return {name: os.stat(os.path.join(site.home, name)).st_uid for name in names}


@root_only
def test_server_and_scheduler_are_the_service_user_of_pbs_conf(served):
    site = served.start()
    assert [ids(site.pid(d)) for d in ("server", "sched", "mom")] == [{site.uid}, {site.uid}, {0}]
    for name, uid in owners(site, "sched_priv", "sched_priv/sched_config", "sched_priv/sched.lock", "sched_logs",
                            "server_priv", "server_priv/cede.db", "server_priv/accounting", "server_priv/server.lock",
                            "server_logs", "certs", "certs/ca.key", "pbs_server.sock").items():
        assert uid == site.uid, name
    assert owners(site, "", "mom_priv", "spool") == {"": 0, "mom_priv": 0, "spool": 0}
    site.wait(site.submit("sleep 600"))
    site.init("restart", PBS_START_SERVER="0", PBS_START_MOM="0")
    assert ids(site.pid("sched")) == {site.uid}
    site.wait(site.submit("sleep 600"))


@root_only
def test_a_server_that_is_not_root_serves_all_users_and_knows_them_by_the_kernels_word(served):
    """Its jobs are their owners' own, who is not a manager stays none, and all of it is there after a restart."""
    site = served.start()
    for name in users.NAMES[:2]:
        job = site.submit(f"id -un > {site.work}/{name}", user=name)
        assert site.stat(job)["Job_Owner"].split("@")[0] == name
        site.wait_gone(job)
        assert site.file(name) == f"{name}\n"
        done = site.command("qmgr", "-c", "set server comment = mine", user=name, check=False)
        assert done.returncode and "Unauthorized Request" in done.stderr
    running = site.submit("sleep 600", user=users.NAMES[0])
    site.wait(running)
    site.init("restart", PBS_START_SCHED="0", PBS_START_MOM="0")
    assert ids(site.pid("server")) == {site.uid}
    site.again()
    assert site.wait(running)["run_count"] == "1"
    site.command("qmgr", "-c", "set server comment = mine", user=users.NAMES[2])
    assert site.api.stat("server")[0]["comment"] == "mine"
    assert site.command("pbs_probe").stdout == ""


@root_only
def test_without_cores_no_process_of_the_service_user_looks_into_a_daemon(served):
    """What holds keys cannot be dumped: the kernel then gives what is below /proc/PID to root."""
    served.keys["PBS_CORE_LIMIT"] = 0
    served.write_conf()
    served.start()
    for daemon in ("server", "sched", "mom"):
        assert os.stat(f"/proc/{served.pid(daemon)}/environ").st_uid == 0
        with open(f"/proc/{served.pid(daemon)}/limits", encoding="ascii") as f:
            assert re.search(r"^Max core file size +0 ", f.read(), re.M)
    assert ids(served.pid("server")) == {served.uid}
    looked = served.command("cat", f"/proc/{served.pid('server')}/environ", user=users.NAMES[2], check=False)
    assert looked.returncode and "Permission denied" in looked.stderr
    served.wait_gone(served.submit("true", user=users.NAMES[0]))


@root_only
def test_a_home_of_root_becomes_the_service_users_when_one_is_named(site):
    """And root's again: what stood where the link is now was a socket of the server that was root."""
    job = site.submit("sleep 600", user=users.NAMES[0])
    site.wait(job)
    link = os.path.join(site.home, "pbs_server.sock")
    site.keys["PBS_DAEMON_SERVICE_USER"] = users.NAMES[2]
    site.write_conf()
    assert site.command("pbs_probe").stdout == ""
    site.init("restart")
    assert ids(site.pid("server")) == {pwd.getpwnam(users.NAMES[2]).pw_uid} and os.path.islink(link)
    site.again()
    assert site.wait(job)["run_count"] == "1"
    del site.keys["PBS_DAEMON_SERVICE_USER"]
    site.write_conf()
    site.init("restart")
    assert ids(site.pid("server")) == {0} and not os.path.islink(link)
    site.again()
    assert site.wait(job)["run_count"] == "1"


def test_a_service_user_that_does_not_exist_stops_the_start():
    site = Installed(PBS_DAEMON_SERVICE_USER="no-such-user")
    try:
        done = site.init("start", check=os.geteuid() != 0)
        if os.geteuid() == 0:
            assert done.returncode == 1 and "there is no user no-such-user" in done.stderr
    finally:
        site.init("stop")
        site.remove()


# --- the home

def test_the_first_start_makes_the_home_of_the_manual(site):
    modes = {"": 0o755, "server_logs": 0o755, "server_priv": 0o750, "server_priv/accounting": 0o755,
             "server_priv/jobs": 0o750, "server_priv/users": 0o750, "server_priv/hooks": 0o750,
             "sched_logs": 0o755, "sched_priv": 0o750, "spool": 0o755, "undelivered": 0o1777, "aux": 0o755,
             "checkpoint": 0o711, "mom_logs": 0o755, "mom_priv": 0o751, "mom_priv/jobs": 0o751,
             "mom_priv/config.d": 0o700, "comm_logs": 0o755, "certs": 0o755, "pbs_environment": 0o644,
             "pbs_version": 0o644, "sched_priv/sched_config": 0o644, "sched_priv/resource_group": 0o644,
             "sched_priv/holidays": 0o644, "sched_priv/dedicated_time": 0o644, "server_priv/server.lock": 0o600,
             "server_priv/comm.lock": 0o600, "mom_priv/mom.lock": 0o644, "sched_priv/sched.lock": 0o644}
    assert {name: oct(mode(os.path.join(site.home, name))) for name in modes} == \
           {name: oct(m) for name, m in modes.items()}


def test_the_first_start_makes_workq_and_schedules(site):
    queue = site.api.stat("que", "workq")[0]
    server = site.api.stat("server")[0]
    assert queue["queue_type"] == "Execution" and queue["started"] == "True" and queue["enabled"] == "True"
    assert server["scheduling"] == "True" and server["default_queue"] == "workq"


def test_the_scheduler_begins_with_the_files_of_the_tree_and_keeps_what_a_site_wrote(site):
    priv, etc = os.path.join(site.home, "sched_priv"), os.path.join(site.exec, "etc")
    for ours, pristine in (("sched_config", "pbs_sched_config"), ("holidays", "pbs_holidays"),
                           ("resource_group", "pbs_resource_group"), ("dedicated_time", "pbs_dedicated")):
        with open(os.path.join(priv, ours), "rb") as a, open(os.path.join(etc, pristine), "rb") as b:
            assert a.read() == b.read(), ours
    with open(os.path.join(priv, "holidays"), "w", encoding="ascii") as f:
        f.write("* ours\n")
    site.init("restart", PBS_START_SERVER="0", PBS_START_MOM="0", PBS_START_COMM="0")
    with open(os.path.join(priv, "holidays"), encoding="ascii") as f:
        assert f.read() == "* ours\n"


def cycles(site):
    return site.logs("sched", lines=10000).count("Starting Scheduling Cycle")


def test_scheduling_set_true_always_gives_one_logged_cycle(site):
    until(lambda: "Connected to the server" in site.logs("sched"), "the scheduler's connection")
    for _ in range(3):
        before = cycles(site)
        site.set_server("scheduling", "True")
        until(lambda n=before: cycles(site) > n, "one more cycle")


def test_there_are_licenses_for_those_who_look_and_no_hook_that_runs(site):
    assert "Avail_Local:10000000" in site.api.stat("server")[0]["license_count"]
    assert site.qmgr("list hook") == "" and "enabled = true" not in site.qmgr("list pbshook")
    assert "Hook PBS_preempt_policy" in site.qmgr("list pbshook")


# --- how a server may begin

def restart_server(site, *options):
    pid = site.pid("server")
    site.command("qterm", "-t", "quick")
    until(lambda: not faults.is_alive(pid), "the end of the server")
    site.command("pbs_server", *options)
    site.again()


def test_a_cold_start_drops_jobs_and_keeps_queues(site):
    site.make_queue("extra")
    running, waiting = site.submit("sleep 600"), site.submit("sleep 600", Hold_Types="u")
    site.wait(running)
    restart_server(site, "-t", "cold")
    assert site.stat(running) is None and site.stat(waiting) is None
    assert [q.name for q in site.api.stat("que")] == ["workq", "extra"]
    until(lambda: site.node(socket.gethostname().split('.')[0]).get("resources_assigned", {}).get("ncpus", "0") == "0",
          "the room of the dropped job")


def test_a_create_start_drops_everything_but_the_numbers_of_jobs(site):
    site.make_queue("extra")
    site.set_server("comment", "mine")
    before = site.submit("sleep 600")
    job = site.submit(f"echo $$ > {site.work}/pid; exec sleep 600")
    site.wait(job)
    pid = int(until(lambda: site.file("pid"), "the job's pid"))
    restart_server(site, "-t", "create")
    assert [q.name for q in site.api.stat("que")] == ["workq"]
    assert "comment" not in site.api.stat("server")[0]
    assert site.stat(before) is None
    until(lambda: not faults.is_alive(pid), "the end of a job that nobody knows any more")
    after = site.submit("true")
    assert int(after.split(".")[0]) > int(job.split(".")[0])


def test_the_kind_of_start_is_in_the_log(site):
    assert "started, initialization type = 1" in site.logs("server")
    restart_server(site, "-t", "hot")
    assert "started, initialization type = 0" in site.logs("server")


@pytest.mark.parametrize("options, said", [
    (["-t", "lukewarm"], "bad recovery type: lukewarm"), (["-a", "perhaps"], "perhaps is neither true nor false"),
    (["-p", "0x"], "host:port invalid: 0x"), (["-M", "n1:"], "host:port invalid: n1:"), (["-e", "many"], "not a mask"),
    (["-F", "soon"], "-F invalid delay time: soon"), (["-q"], "no option -q"), (["word"], "invalid operand: word")])
def test_options_of_the_server_that_are_wrong_are_named(tree, options, said):
    done = tree.command("pbs_server", *options, check=False)
    assert done.returncode == 1 and said in done.stderr


# --- pbs_comm

def test_pbs_comm_says_that_it_is_not_needed_and_is_there_once(site):
    log = site.logs("comm")
    assert f"pbs_comm ready (pid={site.pid('comm')}), Proxy Name:" in log and "no router is needed" in log
    done = site.command("pbs_comm", check=False)
    assert done.returncode == 2 and str(site.pid("comm")) in done.stderr


# --- the tree

PROGRAM = """#include <pbs_ifl.h>
#include <stdio.h>
int main(void)
{
    int c = pbs_connect(NULL);
    struct batch_status *s = c < 0 ? NULL : pbs_statserver(c, NULL, NULL);

    if (s)
        puts(s->name);
    pbs_statfree(s);
    return c < 0 || pbs_disconnect(c) ? 1 : 0;
}
"""


def test_a_program_is_built_against_the_installed_tree_by_pkg_config(site):
    if "asan" in site.build:
        pytest.skip("an ordinary program is not linked with the sanitizers")
    source, program = os.path.join(site.work, "p.c"), os.path.join(site.work, "p")
    with open(source, "w", encoding="ascii") as f:
        f.write(PROGRAM)
    subprocess.run(["gcc", "-Wall", "-Werror", source, "-o", program, *site.flags()], check=True)
    assert site.command(program).stdout.strip() == site.api.stat("server")[0].name


def words(*command, **env):
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **env}).stdout.split()


def test_a_program_that_was_linked_with_openpbs_runs_with_the_installed_library(site):
    """It was linked with a library of that name which has public names only, and finds ours."""
    if "asan" in site.build:
        pytest.skip("an ordinary program is not linked with the sanitizers")
    source, program, theirs = (os.path.join(site.work, name) for name in ("old.c", "old", "libpbs.so"))
    with open(source, "w", encoding="ascii") as f:
        f.write(PROGRAM)
    public = ("pbs_connect", "pbs_statserver", "pbs_statfree", "pbs_disconnect")
    with open(source + ".lib.c", "w", encoding="ascii") as f:
        f.writelines(f"int {name}(void) {{ return 0; }}\n" for name in public)
    subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-Wl,-soname,libpbs.so.0", source + ".lib.c", "-o", theirs], check=True)
    subprocess.run(["gcc", "-I", f"{site.exec}/include", source, "-o", program, "-L", site.work, "-lpbs"], check=True)
    said = site.command(program, env={"LD_LIBRARY_PATH": f"{site.exec}/lib"}).stdout
    assert said.strip() == site.api.stat("server")[0].name
    assert os.readlink(f"{site.exec}/lib/libpbs.so") == "libpbs.so.0"


def test_configure_scripts_find_the_library_and_tm(site):
    config = os.path.join(site.exec, "bin", "pbs-config")
    flags = words(config, "--cflags", "--libs")
    assert flags == site.flags() == words("pkg-config", "--cflags", "--libs", "tm",
                                          PKG_CONFIG_PATH=f"{site.exec}/lib/pkgconfig")
    assert words(config, "--prefix") == [site.exec]
    assert subprocess.run([config, "--nonsense"], capture_output=True, check=False).returncode == 2


def test_files_installed_below_destdir_name_only_the_prefix():
    """As a packager does it; and a program is built against that tree before it is where it will be."""
    c = Installed()
    root = os.path.join(c.top, "root")
    try:
        subprocess.run([os.path.join(ROOT, "tools", "install"), "install", c.build, root, "/opt/pbs"], check=True,
                       stdout=subprocess.DEVNULL)
        named = subprocess.run(["grep", "-rl", root, root], capture_output=True, text=True, check=False)
        assert named.stdout == ""
        flags = c.flags(PKG_CONFIG_PATH=f"{root}/opt/pbs/lib/pkgconfig", PKG_CONFIG_SYSROOT_DIR=root)
        assert {f"-I{root}/opt/pbs/include", f"-L{root}/opt/pbs/lib", "-lpbs"} <= set(flags)
    finally:
        c.remove()


def test_uninstall_leaves_nothing_of_the_tree():
    c = Installed()
    c.make("uninstall")
    assert not os.path.exists(c.exec)
    c.remove()


def test_postinstall_writes_pbs_conf_once_and_only_where_there_is_none(tree):
    conf = os.path.join(tree.work, "new.conf")
    words = [os.path.join(tree.exec, "libexec", "pbs_postinstall"), "execution", "head1"]
    env = {"PBS_CONF_FILE": conf, "PBS_HOME": "/var/spool/elsewhere"}
    first = tree.command(*words, env=env).stdout
    assert f"Wrote {conf}." in first and "pbs_keys token" in first and "ca.key" not in first
    with open(conf, encoding="ascii") as f:
        text = f.read()
    assert f"PBS_EXEC={tree.exec}\nPBS_HOME=/var/spool/elsewhere\nPBS_SERVER=head1\n" in text
    assert "PBS_START_MOM=1" in text and "PBS_START_SERVER=0" in text
    assert f"{conf} stays as it is." in tree.command(*words, env=env).stdout
    with open(conf, encoding="ascii") as f:
        assert f.read() == text


@root_only
def test_postinstall_names_a_service_user_that_is_there(tree):
    conf = os.path.join(tree.work, "served.conf")
    words = [os.path.join(tree.exec, "libexec", "pbs_postinstall"), "server"]
    refused = tree.command(*words, env={"PBS_CONF_FILE": conf, "PBS_DAEMON_SERVICE_USER": "nosuchuser"}, check=False)
    assert refused.returncode == 1 and "there is no user nosuchuser" in refused.stderr and not os.path.exists(conf)
    tree.command(*words, env={"PBS_CONF_FILE": conf, "PBS_DAEMON_SERVICE_USER": users.NAMES[2]})
    with open(conf, encoding="ascii") as f:
        text = f.read()
    assert f"PBS_DAEMON_SERVICE_USER={users.NAMES[2]}\n" in text and "PBS_CORE_LIMIT=0\n" in text


@root_only
def test_postinstall_makes_the_service_user_of_a_site(tree):
    """In a mount namespace of its own, in which /etc is a copy."""
    users.copy_etc(f"{tree.top}/etc")
    text = (f"mount --bind {tree.top}/etc /etc && rm -f /etc/pbs.conf && "
            f"{tree.exec}/libexec/pbs_postinstall && grep PBS_DAEMON /etc/pbs.conf && getent passwd pbs && ls -l /etc/systemd/system")
    try:
        out = tree.command("unshare", "-m", "sh", "-c", text, env={"PBS_CONF_FILE": "/etc/pbs.conf"}).stdout
    finally:
        shutil.rmtree(f"{tree.top}/etc", ignore_errors=True)
    assert "PBS_DAEMON_SERVICE_USER=pbs\n" in out and ":/usr/sbin/nologin" in out
    web = ("pbs-web@",) if os.path.exists(f"{tree.exec}/sbin/pbs_web") else ()
    for unit in ("pbs", "pbs-server", "pbs-sched", "pbs-mom", "pbs-jobs", *web):
        assert f"{unit}.service -> {tree.exec}/libexec/{unit}.service" in out


@root_only
def test_uninstall_takes_along_what_was_linked_into_etc():
    c = Installed()
    users.copy_etc(f"{c.top}/etc")
    text = (f"mount --bind {c.top}/etc /etc && rm -f /etc/pbs.conf && mkdir -p /etc/systemd/system/x.wants && "
            f"{c.exec}/libexec/pbs_postinstall >/dev/null && ln -s /etc/systemd/system/pbs-mom.service /etc/systemd/system/x.wants && "
            f"ln -s /nowhere/else /etc/profile.d/others.sh && {ROOT}/tools/install uninstall {c.build} '' {c.exec} >/dev/null && "
            "find /etc/profile.d /etc/systemd -xtype l")
    try:
        left = c.command("unshare", "-m", "sh", "-c", text, env={"PBS_CONF_FILE": "/etc/pbs.conf"}).stdout
    finally:
        c.remove()
    assert "/etc/profile.d/others.sh\n" in left and "pbs" not in left


def test_postinstall_writes_the_line_for_shared_home_directories_once(tree):
    conf, home = os.path.join(tree.work, "shared.conf"), os.path.join(tree.work, "shared-home")
    words = [os.path.join(tree.exec, "libexec", "pbs_postinstall"), "--shared-home"]
    env = {"PBS_CONF_FILE": conf, "PBS_HOME": home}
    for wrong in ("home", "/", "/a b", "execution"):
        done = tree.command(*words, wrong, "execution", "head1", env=env, check=False)
        assert done.returncode == 2 and not os.path.exists(conf), wrong
    assert "$usecp *:/home /home" in tree.command(*words, "/home/", "execution", "head1", env=env).stdout
    tree.command(*words, "/home", "execution", "head1", env=env)
    with open(f"{home}/mom_priv/config", encoding="ascii") as f:
        assert f.read() == "$usecp *:/home /home\n"
    assert mode(f"{home}/mom_priv") == 0o751


def test_a_changed_version_builds_again_what_shows_it(tmp_path):
    """One object of a build of its own."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "MFLAGS"}

    def make(version):
        subprocess.run(["make", f"BUILD={tmp_path}", f"VERSION={version}", f"{tmp_path}/obj/ifl/spec/home_files.o"], cwd=ROOT, env=env, check=True,
                       capture_output=True)
        with open(tmp_path / "obj" / "ifl" / "spec" / "home_files.o", "rb") as f:
            return f.read()
    assert b"7.1.first" in make("7.1.first")
    assert b"7.1.second" in make("7.1.second")


def test_the_init_script_says_which_daemons_a_host_has(tree):
    script = os.path.join(tree.exec, "libexec", "pbs_init.d")
    for name, exit_status in (("server", 0), ("mom", 0), ("sched", 0)):
        assert tree.command(script, "wants", name, check=False).returncode == exit_status
    assert tree.command(script, "wants", "mom", check=False, env={"PBS_START_MOM": "0"}).returncode == 1
    assert tree.command(script, "wants", "nothing", check=False).returncode == 1
    # To ExecCondition= anything less is "not on this host", said nowhere.
    lost = tree.command(script, "wants", "mom", check=False, env={"PBS_CONF_FILE": "/nonexistent/pbs.conf"})
    assert lost.returncode == 255 and "/nonexistent/pbs.conf is missing" in lost.stderr


def test_the_units_say_what_a_real_systemd_needs(tree):
    """Each line was missing, or another one there, when they were first booted."""
    def lines(unit):
        with open(os.path.join(tree.exec, "libexec", f"{unit}.service"), encoding="utf-8") as f:
            return [line for line in f.read().splitlines() if not line.startswith("#")]
    script = f"{tree.exec}/libexec/pbs_init.d"
    for daemon in ("server", "sched", "mom"):
        unit = lines(f"pbs-{daemon}")
        # Among shepherds that outlive a MOM no main process is found: one that is killed then never comes back.
        assert {"Type=notify", "Restart=on-failure"} <= set(unit)
        # By a name: PBS_START_MOM=0 in its environment makes the server's first start leave out the node of its own host.
        assert {f"Exec{what}={script} {word} {daemon}" for what, word in
                (("Condition", "wants"), ("Start", "run"), ("Stop", "stop"), ("Reload", "reload"))} <= set(unit)
        assert not [line for line in unit if "PBS_START_" in line]
        assert "nss-user-lookup.target" in next(line for line in unit if line.startswith("After="))
    # An exim that delivers to ~/Maildir does it below the server.
    assert not [line for line in lines("pbs-server") if line.startswith(("ProtectHome=", "NoNewPrivileges="))]
    assert not [line for line in lines("pbs-mom") if line.startswith(("Protect", "Private", "Restrict", "NoNew", "SystemCall"))]
    assert {"KillMode=process", "Restart=on-failure"} <= set(lines("pbs-mom"))
    assert {"KillMode=process", "Delegate=yes", "Slice=pbs.slice", "TasksMax=infinity"} <= set(lines("pbs-jobs"))
    # `systemctl enable --now pbs` and `systemctl stop pbs` return when it is done.
    whole = lines("pbs")
    assert "After=pbs-server.service pbs-sched.service pbs-mom.service" in whole and f"ExecStop={script} stop" in whole


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
def test_the_units_are_as_open_as_the_page_says_and_no_more(tree):
    units = os.path.join(tree.exec, "libexec")
    verified = tree.command("systemd-analyze", "verify", *(f"{units}/{u}.service" for u in ("pbs-server", "pbs-sched", "pbs-mom", "pbs-jobs", "pbs")),
                            check=False)
    assert not [line for line in verified.stderr.splitlines() if f"{units}/pbs" in line], verified.stderr
    with open(os.path.join(tree.exec, "share", "doc", "cede", "security.md"), encoding="utf-8") as f:
        page = f.read()
    web = ("pbs-web@",) if os.path.exists(f"{units}/pbs-web@.service") else ()
    for unit in ("pbs-server", "pbs-sched", "pbs-mom", "pbs-jobs", *web):
        out = tree.command("systemd-analyze", "security", "--offline=yes", f"{units}/{unit}.service").stdout
        figure = re.search(r"exposure level for \S+: ([\d.]+)", out)[1]
        said = re.search(rf"^\| `{unit}.service` \| ([\d.]+) ", page, re.M)[1]
        assert float(figure) <= float(said), f"{unit}: {figure}, the page says {said}"


def test_postinstall_asks_for_the_server_of_a_host_that_is_none(tree):
    done = tree.command(os.path.join(tree.exec, "libexec", "pbs_postinstall"), "client", check=False,
                        env={"PBS_CONF_FILE": os.path.join(tree.work, "other.conf")})
    assert done.returncode == 2 and "name the server's host" in done.stderr


class Loopback(Installed):
    """A host of its own that has only a loopback interface: pbs.conf says nothing of ports, all daemons have theirs."""

    def __init__(self):
        super().__init__(PBS_CORE_LIMIT=4194304, PBS_SCP="/usr/bin/scp", PBS_LOG_HIGHRES_TIMESTAMP=1)
        for key in ("PBS_BATCH_SERVICE_PORT", "PBS_MANAGER_SERVICE_PORT"):
            del self.keys[key]
        self.keys["PBS_SERVER"] = "localhost"
        self.write_conf()
        self.host = subprocess.Popen(["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec cat"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.host.stdout.readline() == b"up\n"

    def command(self, *words, user="root", **more):
        return super().command("nsenter", f"--net=/proc/{self.host.pid}/ns/net", "runuser", "-u", user, "--", *words,
                               **more)

    def answers(self, port):
        return self.command("bash", "-c", f"</dev/tcp/127.0.0.1/{port}", check=False).returncode == 0

    def stop(self):
        self.command("qdel", "-Wforce", *self.command("qselect").stdout.split(), check=False)
        self.init("stop")
        self.host.stdin.close()
        self.host.stdout.close()
        self.host.wait()
        self.remove()


def core_limit(pid):
    with open(f"/proc/{pid}/limits", encoding="ascii") as f:
        return next(line.split()[4] for line in f if line.startswith("Max core file size"))


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a network of its own")
def test_a_loopback_and_the_usual_ports_are_enough():
    site = Loopback()
    try:
        site.start()
        assert [port for port in range(15000, 15010) if site.answers(port)] == [15001, 15003]
        for daemon in ("server", "mom", "sched", "comm"):
            assert core_limit(site.pid(daemon)) == "4194304", daemon
            assert os.readlink(f"/proc/{site.pid(daemon)}/cwd") == os.path.dirname(os.path.join(site.home, LOCKS[daemon]))
            assert re.match(r"../../.... ..:..:..\.\d{6};", site.logs(daemon)), daemon
        job = site.command("qsub", "-o", os.path.join(site.work, "site.out"), "-j", "oe", "--", "/bin/echo",
                           "done", user=users.NAMES[0]).stdout.strip()
        until(lambda: site.command("qstat", job, check=False).returncode == 153, "the end of the job")
        assert site.file("site.out") == "done\n"
    finally:
        site.stop()
