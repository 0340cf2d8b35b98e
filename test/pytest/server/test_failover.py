"""Two servers, one store: whichever is active, no acknowledged job is lost and none runs twice."""
import os
import re
import shutil
import subprocess
import threading

import pytest

from harness import api, faults, work
from harness.desk import SOON_S, Desk, queue
from harness.wait import until

pytestmark = pytest.mark.complex(store="postgres", pair=True, history=True)
UNTIL_GO = "while [ ! -f go ]; do sleep 0.02; done"


def go(cx):
    open(os.path.join(cx.work, "go"), "w", encoding="ascii").close()


def answers(cx):
    """A connection to whichever is active, or None."""
    try:
        cx.again().stat("server")
        return cx.api
    except api.PbsError:
        return None


def active(cx):
    """Which daemon is active: "server", "second", or None."""
    if not answers(cx):
        return None
    return "second" if os.path.exists(os.path.join(cx.home, "server_priv", "secondary_active")) else "server"


def until_active(cx, daemon):
    until(lambda: active(cx) == daemon, lambda: f"{daemon} is active; now it is {active(cx)}")


def up(cx, node="n1"):
    until(lambda: cx.node(node)["state"] in ("free", "job-busy"), f"{node} is up")


def begun(cx, text, name):
    job = work.submit(cx, text, name)
    until(lambda: work.pid(cx, name), f"the script of {job}")
    cx.wait(job, "R")
    return job


def ended(cx, job):
    return until(lambda: (s := cx.stat(job, "x")) and s.state == "F" and s, f"the end of {job}")


def conf_with(cx, name, **keys):
    """The complex's pbs.conf with other words behind; for a daemon of our own."""
    path = os.path.join(cx.top, name)
    shutil.copy(cx.conf, path)
    with open(path, "a", encoding="ascii") as f:
        f.writelines(f"{key}={value}\n" for key, value in keys.items())
    return {"PBS_CONF_FILE": path}


def sql(cx, statement):
    """Run it in the store's database, as the cluster's own superuser."""
    conf = dict(line.strip().split("=", 1) for line in open(cx.conf, encoding="ascii") if "=" in line)
    return subprocess.run(["psql", "-h", conf["PBS_DATA_SERVICE_HOST"], "-p", conf["PBS_DATA_SERVICE_PORT"], "-d",
                           "pbs_datastore", "-Atc", statement], check=True, capture_output=True, text=True).stdout


# --- killed -----------------------------------------------------------------------------------------------

def test_the_second_server_takes_over_and_jobs_run_on(cx):
    job = begun(cx, UNTIL_GO + "; exit 4", "on")
    pid = work.pid(cx, "on")
    cx.kill("server")
    until_active(cx, "second")
    up(cx)
    assert cx.state(job) == "R" and faults.is_alive(pid)
    later = work.submit(cx, "exit 3", "later")
    go(cx)
    assert ended(cx, job)["Exit_status"] == "4" and ended(cx, later)["Exit_status"] == "3"
    assert work.starts(cx, "on") == 1
    records = until(lambda: [text for letter, text in work.accounting(cx, job) if letter == "E"], "the E record")
    assert len(records) == 1 and "Exit_status=4" in records[0]


def test_the_primary_takes_the_store_back_when_it_returns(cx):
    job = begun(cx, UNTIL_GO + "; exit 5", "back")
    cx.kill("server")
    until_active(cx, "second")
    cx.restart("server")
    until_active(cx, "server")
    up(cx)
    assert cx.pid("second") and cx.state(job) == "R"
    go(cx)
    assert ended(cx, job)["Exit_status"] == "5" and work.starts(cx, "back") == 1
    cx.kill("server")  # and once more: the second one is the standby as before
    until_active(cx, "second")
    assert ended(cx, work.submit(cx, "exit 6", "more"))["Exit_status"] == "6"


class Submitter(threading.Thread):
    """Submits job after job, whatever happens to servers; what was acknowledged, by the job's name."""

    def __init__(self, cx, name):
        super().__init__(daemon=True)
        self.cx, self.prefix, self.acknowledged, self.refused = cx, name, {}, 0
        self.enough = threading.Event()

    def run(self):
        connection, script = None, self.cx.script("true")
        for i in range(1000000):
            if self.enough.is_set():
                break
            name = f"{self.prefix}{i}"
            try:
                connection = connection or self.cx.connect()
                self.acknowledged[name] = connection.submit(
                    [("Job_Name", None, name), ("Hold_Types", None, "u"), ("Output_Path", None, "/dev/null"),
                     ("Error_Path", None, "/dev/null")], script)
            except api.PbsError:
                self.refused += 1
                if connection:
                    connection.close()
                connection = None
        if connection:
            connection.close()


def count(submitters):
    return sum(len(s.acknowledged) for s in submitters)


@pytest.mark.complex(store="postgres", pair=True, nodes=0, sched=False)
def test_submissions_continue_through_a_takeover_and_each_makes_one_job(cx):
    """The call that was under way is repeated at the other server with its token, by libpbs."""
    submitters = [Submitter(cx, name) for name in ("a", "b", "c")]
    for s in submitters:
        s.start()
    until(lambda: count(submitters) > 50, "some acknowledged jobs")
    cx.kill("server")
    before = count(submitters)
    until(lambda: count(submitters) > before + 50, "jobs that the second server acknowledged")
    cx.restart("server")
    until_active(cx, "server")
    before = count(submitters)
    until(lambda: count(submitters) > before + 50, "jobs that the first server acknowledged again")
    for s in submitters:
        s.enough.set()
    for s in submitters:
        s.join()
    until(lambda: answers(cx), "a server")
    there = {j.name: j["Job_Name"] for j in cx.api.stat("job")}
    assert len(set(there.values())) == len(there), "one submission made two jobs"
    for s in submitters:
        assert {job: name for name, job in s.acknowledged.items()}.items() <= there.items()


@pytest.mark.complex(store="postgres", pair=True, history=True, ncpus=2)
def test_servers_killed_in_turn_and_every_job_runs_once(cx):
    jobs = {f"r{i}": work.submit(cx, f"sleep 0.{1 + i % 4}; exit {i % 5}", f"r{i}") for i in range(16)}
    until(lambda: work.pid(cx, "r1"), "the first jobs")
    with work.NodeWatch(cx):
        cx.kill("server")
        until_active(cx, "second")
        cx.restart("server")
        until_active(cx, "server")
        cx.kill("server")
        until_active(cx, "second")
    got = [ended(cx, job)["Exit_status"] for job in jobs.values()]
    assert got == [str(i % 5) for i in range(16)]
    assert [work.starts(cx, name) for name in jobs] == [1] * 16


# --- cut off ------------------------------------------------------------------------------------------------

def test_a_server_that_lost_its_session_becomes_the_standby(cx):
    """It stands still while the database gives up its session; the other one is active when it wakes."""
    job = begun(cx, UNTIL_GO + "; exit 7", "cut")
    with faults.daemon_frozen(cx, "server"):
        sql(cx, "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted")
        until(lambda: os.path.exists(os.path.join(cx.home, "server_priv", "secondary_active")), "the takeover")
    until(lambda: "this server is not active any more" in cx.log("server"), "the old one to notice")
    until_active(cx, "second")
    up(cx)
    go(cx)
    assert ended(cx, job)["Exit_status"] == "7" and work.starts(cx, "cut") == 1
    cx.kill("second")  # the first one is a standby as a second one would be, but leaves the other its time
    assert cx.pid("server") and not answers(cx)


def test_a_session_that_is_lost_and_found_ends_nothing(cx):
    job = begun(cx, UNTIL_GO + "; exit 8", "db")
    pid = cx.pid("server")
    cx.stop_daemon("second")  # the very moment may be the other one's chance: here it is about the session alone
    sql(cx, "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = "
            "'pbs_datastore'")
    go(cx)
    assert ended(cx, job)["Exit_status"] == "8" and cx.pid("server") == pid
    assert "not active any more" not in cx.log("server")


# --- told -----------------------------------------------------------------------------------------------------

def test_a_server_that_is_stopped_in_good_order_hands_over_at_once(cx):
    job = begun(cx, UNTIL_GO, "hand")
    cx.stop_daemon("second")
    second = {"PBS_CONF_FILE": os.path.join(cx.dir, "second", "pbs.conf")}
    cx.command("pbs_server", "-F", "3600", env=second)
    cx.command("qterm")
    until_active(cx, "second")
    assert cx.state(job) == "R" and not cx.pid("server")


def test_qterm_can_idle_or_end_the_standby(cx):
    cx.command("qterm", "-i")
    until(lambda: not cx.pid("server"), "the end of the first server")
    assert cx.pid("second") and faults.stays(lambda: not answers(cx), 2)
    cx.restart("server")
    until_active(cx, "server")
    cx.command("qterm", "-F")
    until(lambda: not cx.pid("second"), "the end of the second server")
    assert active(cx) == "server"
    cx.control("restart", "second")
    assert faults.stays(lambda: cx.pid("second"), 1)  # what its predecessor was told is not for it
    cx.command("qterm", "-f")
    until(lambda: not cx.pid("server") and not cx.pid("second"), "the end of both")


def test_the_standby_says_that_it_is_one(cx):
    port = re.search(r"PBS_SECONDARY=127.0.0.1:(\d+)", open(cx.conf, encoding="ascii").read())[1]
    env = conf_with(cx, "second.conf", PBS_PRIMARY=f"127.0.0.1:{port}", PBS_BATCH_SERVICE_PORT=port,
                    PBS_HOME=os.path.join(cx.top, "elsewhere"))
    shutil.copytree(os.path.join(cx.home, "certs"), os.path.join(cx.top, "elsewhere", "certs"))
    done = cx.command("qstat", "-B", env=env, check=False)
    assert done.returncode != 0 and f"server 127.0.0.1:{port} is the standby: it is not active" in done.stderr


def test_a_pair_without_a_common_store_or_host_is_refused(cx):
    plain = {k: "" for k in ("PBS_DATA_SERVICE_HOST",)}
    done = cx.command("pbs_server", env=conf_with(cx, "nowhere.conf", PBS_PRIMARY="198.51.100.1",
                                                  PBS_SECONDARY="198.51.100.2"), check=False)
    assert done.returncode == 1
    assert "this host is neither PBS_PRIMARY (198.51.100.1) nor PBS_SECONDARY (198.51.100.2)" in done.stderr
    lines = [line for line in open(cx.conf, encoding="ascii") if not line.startswith(tuple(plain))]
    path = os.path.join(cx.top, "sqlite.conf")
    with open(path, "w", encoding="ascii") as f:
        f.writelines(lines)
    done = cx.command("pbs_server", env={"PBS_CONF_FILE": path}, check=False)
    assert done.returncode == 1 and "set PBS_DATA_SERVICE_HOST" in done.stderr
    done = cx.command("pbs_server", "-F", "soon", check=False)
    assert done.returncode == 1 and "-F invalid delay time: soon" in done.stderr


@pytest.mark.complex(nodes=0, sched=False, pair=False, store="sqlite")
def test_a_server_that_is_alone_has_no_secondary_to_end(cx):
    done = cx.command("qterm", "-F", check=False)
    assert done.returncode == 2 and "there is no secondary server" in done.stderr
    assert cx.pid("server")


# --- reservations -----------------------------------------------------------------------------------------------

@pytest.mark.complex(store="postgres", pair=True, nodes=2, clock=True)
def test_reservations_in_each_state_are_as_they_were_and_go_on_after_a_takeover(cx):
    """Their time passes on n1; n2 is away, so that what ends there cannot end."""
    desk = Desk(cx)
    cx.set_server("reserve_retry_time", "1")
    cx.set_server("node_fail_requeue", "0")

    def new(host="n1", **how):
        return desk.new(select=f"1:ncpus=1:host={host}", **how)

    def inside(resv):
        job = cx.submit(queue=queue(resv), select="1:ncpus=1")
        until(lambda: (s := cx.stat(job)) and s["substate"] == "42", lambda: cx.describe(job))
        return job

    made = {"CO": new(), "AL/CO": new(start=9000), "DG": new("n2", start=9000), "RN": new(start=SOON_S, lasts=3000),
            "RN/DG": new("n2", start=SOON_S, lasts=3000), "BD/DJ": new("n2", start=SOON_S, lasts=300),
            "DJ/DG": desk.standing(select="1:ncpus=1:host=n2", start=SOON_S, lasts=300, rule="FREQ=HOURLY;COUNT=2")}
    for what in ("RN", "RN/DG", "BD/DJ", "DJ/DG"):
        desk.begin(made[what])
    jobs = {what: inside(made[what]) for what in ("RN", "RN/DG", "BD/DJ", "DJ/DG")}
    cx.kill("n2")
    desk.wait(made["RN/DG"], "RN/DG")
    desk.end(made["BD/DJ"])
    cx.set_server("scheduling", "False")
    cx.command("pbs_ralter", "-D", "1200", made["AL/CO"])
    made["UN"] = new(start=9000, wait="UN")
    for what, resv in made.items():
        desk.wait(resv, what)
    cx.kill("server")
    until_active(cx, "second")
    up(cx)
    assert {what: desk.state(resv) for what, resv in made.items()} == {what: what for what in made}
    cx.restart("n2")
    cx.set_server("scheduling", "True")
    for what, now in {"UN": "CO", "CO": "CO", "AL/CO": "CO", "DG": "CO", "RN": "RN", "RN/DG": "RN", "BD/DJ": None, "DJ/DG": "CO"}.items():
        desk.wait(made[what], now)
    assert desk.stat(made["AL/CO"])["reserve_duration"] == "1200" and desk.stat(made["DJ/DG"])["reserve_index"] == "2"
    assert cx.state(jobs["RN"]) == cx.state(jobs["RN/DG"]) == "R"
    cx.wait_gone(jobs["BD/DJ"])
    for what, records in {"UN": "UY", "RN": "UYB", "BD/DJ": "UYBK"}.items():
        desk.recorded("UYBKk", made[what], records)
