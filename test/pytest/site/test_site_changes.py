"""A site that changes: hosts are renamed, lost, set to another time, upgraded and removed; and one with IPv6 only."""
import os
import re
import shutil
import struct
import subprocess

import pytest

from harness import site as sites
from harness.build import PROGRAMS, is_sanitized
from harness.installed import ROOT
from harness.site import USER
from harness.wait import until

why_not = sites.reason_against()
pytestmark = pytest.mark.skipif(why_not is not None, reason=str(why_not))

UNTIL_STOP = "while [ ! -e stop ]; do sleep 0.1; done"
SCATTERED = ("-l", "select=2:ncpus=1", "-l", "place=scatter")


def number(job):
    return job.split(".")[0]


def output(site, job, host=None):
    """What the job, named out, has written into the home directory of its user."""
    return (host or site.n1).file(f"out.o{number(job)}")


def running(site, text, *options):
    """A job whose hosts have begun it: before that, it is R but cannot be suspended."""
    job = site.n1.submit(text, "-N", "out", "-j", "oe", *options)
    site.wait(job, "R")
    until(lambda: site.job(job)["substate"] == 42, lambda: f"the start of {job}; it is {site.job(job)}")
    return job


def hosts_of_a_job(site):
    """The hosts on which the tasks of a job of two hosts run."""
    job = site.n1.submit("pbsdsh -- hostname", "-N", "out", "-j", "oe", *SCATTERED)
    assert site.done(job)["Exit_status"] == 0, site.job(job)
    return sorted(output(site, job).split())


def interactive_host(here, name):
    """What the shell of an interactive job on that host, of a user at a terminal here, says of its host."""
    answer = f"answer-{name}"
    done = here.run(f"mkfifo {answer}.in; exec 3<>{answer}.in; "
                    f"script -qefc 'qsub -I -l select=1:host={name}' {answer} <&3 >/dev/null & "
                    f"until grep -q ready {answer}; do ! grep -q deleted {answer} || break; sleep 0.05; done; "
                    f"echo 'echo it=$(hostname); exit 0' >&3; wait; cat {answer}", user=USER, check=False, limit_s=60)
    found = re.search(r"^it=(\w+)", done.stdout, re.M)
    assert found, done.stdout
    return found.group(1)


# --- addresses

def test_a_site_with_ipv6_only_runs_parallel_and_interactive_jobs(make):
    site = make(only_ipv6=True)
    assert hosts_of_a_job(site) == ["n1", "n2"]
    for here in site.hosts:
        for there in site.hosts:
            assert interactive_host(here, there.name) == there.name
        assert here.run("pbs_doctor -v", check=False).returncode == 0, here.run("pbs_doctor", check=False).stdout
    assert "fd77::1" in site.n2.root("pbs_hostn -v n1")
    assert "Active" in site.n2.user("PBS_DEFAULT='[fd77::1]:15001' qstat -B")


# --- names

def test_a_renamed_host_keeps_its_node_and_jobs_where_pbs_conf_names_the_node(make):
    site = make()
    job = running(site, UNTIL_STOP + "; echo $PBS_JOBID; hostname", "-l", "select=1:host=n2")
    site.n2.init("stop")
    site.n2.rename("n9")
    said = site.n2.init("start", check=False)
    assert "mom-n9.crt is missing" in said and "PBS_MOM_NODE_NAME=n2 in pbs.conf keeps its node and jobs" in said
    assert "PBS_MOM_NODE_NAME=n2" in site.n2.log("mom")
    doctor = site.n2.run("pbs_doctor", check=False).stdout
    assert "error: node-certificate: " in doctor and "PBS_MOM_NODE_NAME" in doctor
    site.n2.conf(PBS_MOM_NODE_NAME="n2")
    site.n2.init("start")
    site.wait_node("n2")
    assert site.job(job)["job_state"] == "R"
    site.n2.user("touch stop")
    j = site.done(job)
    assert (j["Exit_status"], j["run_count"]) == (0, 1)
    assert output(site, job).split() == [job, "n9"]
    assert hosts_of_a_job(site) == ["n1", "n9"]
    assert "node-certificate" not in site.n2.run("pbs_doctor", check=False).stdout


def test_a_renamed_host_joins_as_a_new_node(make):
    site = make()
    site.n2.init("stop")
    site.n1.root("qmgr -c 'delete node n2'; pbs_keys revoke mom:n2")
    site.n2.rename("n9")
    site.n1.root("qmgr -c 'create node n9'")
    said = site.n1.root("pbs_keys token n9")
    site.n2.root(re.search(r"pbs_keys join .*", said).group(0))
    site.n2.init("start")
    site.wait_node("n9")
    assert site.node("n2") is None
    assert hosts_of_a_job(site) == ["n1", "n9"]


def test_a_server_whose_host_is_renamed_keeps_its_name_and_jobs(make):
    """PBS_SERVER stays, for identifiers of jobs hold it; PBS_SERVER_HOST_NAME says where it is now."""
    site = make()
    job = running(site, UNTIL_STOP, "-l", "select=1:host=n2")
    site.n1.init("stop")
    site.n1.rename("head")
    said = site.n1.init("start", check=False)
    assert "*** The PBS server could not be found: n1" in said and "PBS_SERVER" in said
    for h in site.hosts:
        h.conf(PBS_SERVER_HOST_NAME="head")
    site.n1.conf(PBS_MOM_NODE_NAME="n1")
    site.n1.init("start")
    site.n2.init("restart")
    for node in ("n1", "n2"):
        site.wait_node(node)
    site.n2.user("touch stop")
    j = site.done(job)
    assert (j["Exit_status"], j["run_count"]) == (0, 1) and job.endswith(".n1")
    assert "pbs_keys join head:15001 " in site.n1.root("pbs_keys token n3")
    assert hosts_of_a_job(site) == ["head", "n2"]


# --- clocks

@pytest.mark.skipif(is_sanitized(), reason="the sanitizer wants to be loaded first")
def test_a_host_whose_clock_is_wrong_says_so_and_connects_once_it_is_right(make):
    site = make()
    subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", site.n2.path("spool/clock.so"),
                    os.path.join(PROGRAMS, "clock_jump.c")], check=True)
    clock = "LD_PRELOAD=/var/spool/clock.so CLOCK_JUMP=/var/spool/clock"

    def ahead(seconds):
        site.n2.write("spool/clock", struct.pack("qq", seconds, 0))

    ahead(-3600)
    site.n2.start_munge(clock)
    refused = site.n2.run("qstat -B", user=USER, check=False)
    assert refused.returncode != 0 and "the clocks of the two hosts are apart" in refused.stderr
    until(lambda: "the clocks of the two hosts are apart" in site.n1.log("server"), "the server's word about the clocks")
    site.n2.start_munge()
    assert "Active" in site.n2.user("qstat -B")
    ahead(-3 * 86400)
    site.n2.init("restart", environment=clock)
    until(lambda: "certificate is not yet valid" in site.n2.log("mom"), "a word about the clock")
    doctor = site.n2.run(f"{clock} pbs_doctor", check=False).stdout
    assert "error: certificate-dates: " in doctor and "or this one is behind" in doctor
    assert re.search("^error: server: .*certificate is not yet valid", doctor, re.M), doctor
    ahead(0)
    site.wait_node("n2")


# --- a standby on another host

def with_database(site):
    """PostgreSQL on n3, which lets in all hosts; servers on n1 and n2; the job's host is n3."""
    site.boot()
    folder = max(os.listdir("/usr/lib/postgresql"), key=int)
    as_postgres = f"setpriv --reuid=postgres --regid=postgres --init-groups -- /usr/lib/postgresql/{folder}/bin"
    site.n3.root(f"install -d -o postgres /tmp/db; {as_postgres}/initdb -D /tmp/db -A trust -U pbs -E UTF8 --locale=C; "
                 "printf 'host all all 10.77.0.0/24 trust\\nhost all all fd77::/64 trust\\n' >>/tmp/db/pg_hba.conf; "
                 f"{as_postgres}/pg_ctl -D /tmp/db -o \"-c listen_addresses='*' -c unix_socket_directories=/tmp/db\" "
                 "-l /tmp/db/log -w start")
    pair = {"PBS_SERVER": "svr", "PBS_PRIMARY": "n1", "PBS_SECONDARY": "n2"}
    store = {"PBS_DATA_SERVICE_HOST": "n3", "PBS_DATA_SERVICE_PORT": "5432"}
    for h in (site.n1, site.n2):
        h.root(f"/opt/pbs/libexec/pbs_postinstall {site.homes} server")
        site.settle(h)
        h.conf(**pair, **store)
    site.n1.init("start")
    site.n1.root("qmgr -c 'set server job_history_enable=True'")
    subprocess.run(["cp", "-a", site.n1.path("spool/pbs/certs"), site.n2.path("spool/pbs/certs")], check=True)
    site.n1.root("qmgr -c 'create node n3'")
    site.n3.root(f"/opt/pbs/libexec/pbs_postinstall {site.homes} execution n1")
    site.settle(site.n3)
    site.n3.conf(**pair)
    said = site.n1.root("pbs_keys token n3")
    site.n3.root(re.search(r"pbs_keys join .*", said).group(0))
    site.n3.init("start")
    site.n2.root("pbs_server -F 1")
    site.n2.init("start", environment="PBS_START_MOM=0")
    site.asked = site.n3
    site.wait_node("n3")
    return site


@pytest.mark.skipif(not shutil.which("pg_isready"), reason="there is no PostgreSQL")
def test_the_standby_takes_over_from_a_host_that_is_lost_and_gives_back(plan):
    site = with_database(plan(hosts=3))
    job = site.n3.submit(UNTIL_STOP + "; hostname", "-N", "out", "-j", "oe", "-l", "select=1:host=n3")
    site.wait(job, "R")
    site.n1.crash()
    until(lambda: "server_state = Active" in site.n3.run("qstat -Bf", check=False).stdout, "the standby", limit_s=180)
    site.wait_node("n3", "free")
    assert site.job(job)["run_count"] == 1
    after = site.n3.submit("true", "-l", "select=1:host=n3")
    assert site.done(after)["Exit_status"] == 0
    site.n1.boot()
    site.n1.init("start")
    until(lambda: not os.path.exists(site.n2.path("spool/pbs/server_priv/secondary_active")), "the primary", limit_s=180)
    until(lambda: site.job(job), "the primary's answer", limit_s=180)
    site.n3.user("touch stop")
    j = site.done(job)
    assert (j["Exit_status"], j["run_count"]) == (0, 1) and site.n3.file(f"out.o{number(job)}") == "n3\n"


# --- programs

def test_an_upgrade_under_running_jobs_loses_none_of_them(plan, tmp_path):
    """The tree is written over while all run; then the daemons are started again, the server's host first."""
    tree = sites.make_tree(str(tmp_path))
    site = plan(tree=tree).start()
    alone = [running(site, UNTIL_STOP + "; pbsdsh -- hostname; exit 3", "-l", f"select=1:host={h}") for h in ("n1", "n2")]
    both = running(site, UNTIL_STOP + "; pbsdsh -- hostname; exit 4", *SCATTERED)
    asleep = running(site, UNTIL_STOP + "; exit 5")
    site.n1.root(f"qsig -s suspend {asleep}")
    sites.make_tree(str(tmp_path))
    between = site.n1.submit("hostname", "-N", "out", "-j", "oe", "-l", "select=1:host=n2")
    assert site.done(between)["Exit_status"] == 0 and output(site, between) == "n2\n"
    for h in site.hosts:
        h.root("/opt/pbs/libexec/pbs_postinstall")
        h.init("restart")
    for h in site.hosts:
        site.wait_node(h.name)
    site.n1.user("touch stop")
    for job, host in zip(alone, ("n1", "n2")):
        j = site.done(job)
        assert (j["Exit_status"], j["run_count"]) == (3, 1) and output(site, job).split() == [host]
    j = site.done(both)
    assert (j["Exit_status"], j["run_count"]) == (4, 1) and sorted(output(site, both).split()) == ["n1", "n2"]
    assert site.job(asleep)["job_state"] == "S"
    site.n1.root(f"qsig -s resume {asleep}")
    assert site.done(asleep)["Exit_status"] == 5
    for h in site.hosts:
        assert "(deleted)" not in h.root("ls -l /proc/[0-9]*/exe 2>/dev/null || true")


@pytest.fixture
def former(request, tmp_path_factory):
    """The build folder of a former version, in its tree: that of --former, else one made here of the last release."""
    found = request.config.getoption("--former")
    if found:
        return os.path.abspath(found)
    with open(os.path.join(ROOT, "packaging", "releases"), encoding="utf-8") as f:
        version, commit = f.read().splitlines()[-1].split()
    git = ["git", "-c", "safe.directory=*", "-C", ROOT]
    if subprocess.run([*git, "cat-file", "-e", commit], check=False, stderr=subprocess.DEVNULL).returncode:
        pytest.skip(f"{commit}, release {version}, is not in this clone: git fetch --unshallow")
    top = tmp_path_factory.mktemp(f"cede-{version}")
    archive = subprocess.run([*git, "archive", commit], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", top], input=archive, check=True)
    subprocess.run(["make", "-s", "-j", str(os.cpu_count()), "all"], cwd=top, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return str(top / "build")


def version_of(host, daemon):
    """Is the program of this daemon the one of the tree, or the former one, which was written over?"""
    return "former" if "(deleted)" in host.root(f"ls -l /proc/$(pidof -s pbs_{daemon})/exe") else "new"


def test_a_complex_of_a_former_version_is_upgraded_host_by_host_under_running_jobs(plan, tmp_path, former):
    """First the server's host, whose server and scheduler then serve a MOM of the former version; then the other host."""
    trees = [sites.make_tree(str(tmp_path / name), former) for name in ("n1", "n2")]
    site = plan(tree=trees[0], trees={2: trees[1]}).start()
    jobs = [running(site, UNTIL_STOP + "; pbsdsh -- hostname; exit 3", "-l", f"select=1:host={h}") for h in ("n1", "n2")]
    jobs.append(running(site, UNTIL_STOP + "; pbsdsh -- hostname; exit 3", *SCATTERED))
    asleep = running(site, UNTIL_STOP + "; exit 5")
    site.n1.root(f"qsig -s suspend {asleep}")
    waits = site.n1.submit("exit 6", "-h")
    for h, folder in ((site.n1, "n1"), (site.n2, "n2")):
        sites.make_tree(str(tmp_path / folder))
        assert version_of(h, "mom") == "former"
        h.root("/opt/pbs/libexec/pbs_postinstall")
        h.init("restart")
        assert version_of(h, "mom") == "new"
        for one in site.hosts:
            site.wait_node(one.name)
            # Each host runs a job, and one that is suspended and resumed, whichever version its MOM has.
            short = running(site, "while [ ! -e go-on ]; do sleep 0.1; done; hostname", "-l", f"select=1:host={one.name}")
            site.n1.root(f"qsig -s suspend {short}; qsig -s resume {short}")
            site.n1.user("touch go-on")
            assert site.done(short)["Exit_status"] == 0 and output(site, short) == one.name + "\n"
            site.n1.user("rm go-on")
    site.n1.user("touch stop")
    for job in jobs:
        j = site.done(job)
        assert (j["Exit_status"], j["run_count"]) == (3, 1) and set(output(site, job).split()) <= {"n1", "n2"}
    assert site.job(asleep)["job_state"] == "S" and site.job(waits)["job_state"] == "H"
    site.n1.root(f"qsig -s resume {asleep}; qrls {waits}")
    assert site.done(asleep)["Exit_status"] == 5 and site.done(waits)["Exit_status"] == 6


def test_a_tree_is_removed_only_when_nothing_of_it_runs(plan, tmp_path):
    site = plan(trees={2: sites.make_tree(str(tmp_path))}).start()
    remove = "/srv/source/tools/install uninstall /srv/build '' /opt/pbs"
    job = running(site, "sleep 600", "-l", "select=1:host=n2")
    for daemons in (True, False):
        refused = site.n2.run(remove, check=False)
        assert refused.returncode == 1 and "Nothing was removed: programs of /opt/pbs run on this host: " in refused.stderr
        assert ("pbs_mom (pid " in refused.stderr) == daemons and "pbs_shepherd (pid " in refused.stderr
        assert "pbs_init.d stop" in refused.stderr
        site.n2.init("stop", check=False)
    site.n2.init("start")
    site.wait_node("n2")
    site.n1.root(f"qdel {job}")
    site.done(job)
    site.n2.init("stop")
    said = site.n2.root(remove)
    assert "/etc/pbs.conf, PBS_HOME and the account" in said
    assert site.n2.root("find /opt/pbs -mindepth 1; find /etc -lname '/opt/pbs/*'") == ""
    site.n1.root("qmgr -c 'delete node n2'")
    assert site.node("n2") is None and site.done(site.n1.submit("true"))["Exit_status"] == 0
