"""A site of hosts that are not one: names, users, output, rights, and hosts that come and go."""
import datetime
import os
import struct
import subprocess
import uuid

import pytest

from harness import site as sites
from harness.build import PROGRAMS, is_sanitized
from harness.site import OTHER, USER, Site
from harness.wait import until

why_not = sites.reason_against()
pytestmark = pytest.mark.skipif(why_not is not None, reason=str(why_not))

# What replaces scp: of hosts without sshd, and of hosts with one.
COPY = """#!/bin/sh
for last; do :; done
echo "ssh: connect to host ${last%%:*} port 22: No route to host" >&2
exit 255
"""

SCP = """#!/bin/sh
# scp of a test, which finds the files of all hosts below one directory.
for last; do from=$to to=$last; done
host=${to%%:*}
cp "$from" "/srv/site/${host%%.*}/${to#*:}"
"""


@pytest.fixture(scope="module")
def _day(site_tree):
    """Two hosts with shared home directories, which most tests use."""
    s = Site(site_tree)
    try:
        yield s.start()
    finally:
        s.stop()


@pytest.fixture
def day(_day):
    _day.clean()
    return _day


def owner(j):
    user, host = j["Job_Owner"].split("@")
    return user, host.split(".")[0]


def number(job):
    return job.split(".")[0]


# --- names, users, output

@pytest.mark.parametrize("host", ["n1", "n2"])
def test_a_job_from_each_host_has_its_owner_by_name_and_gives_its_output(day, host):
    h = getattr(day, host)
    for where in ("n1", "n2"):
        job = h.submit("hostname; id -un", "-N", "out", "-j", "oe", "-l", f"select=1:host={where}")
        j = day.done(job)
        assert owner(j) == (USER, host) and j["Exit_status"] == 0
        assert j["Output_Path"].split(":")[0].split(".")[0] == host
        assert h.file(f"out.o{number(job)}").splitlines() == [where, USER]
    assert not day.n1.undelivered() and not day.n2.undelivered()


@pytest.mark.parametrize("host", ["n1", "n2"])
def test_a_job_that_a_job_submits_belongs_to_the_user_at_the_host_where_that_job_runs(day, host):
    job = day.n1.submit("cd; echo 'hostname' | qsub -N inner -j oe > submitted", "-l", f"select=1:host={host}")
    day.done(job)
    inner = until(lambda: day.n1.file("submitted"), "the identifier of the inner job").strip()
    j = day.done(inner)
    assert owner(j) == (USER, host) and j["Exit_status"] == 0
    assert day.n1.file(f"inner.o{number(inner)}").split()[0] in ("n1", "n2")


def test_commands_do_the_same_on_each_host(day):
    job = day.n2.submit("sleep 600", "-N", "seen")
    day.wait(job, "R")
    for h in day.hosts:
        assert "seen" in h.user(f"qstat {job}") and "server_state = Active" in h.user("qstat -Bf")
        assert "set server default_queue = workq" in h.user("qmgr -c 'print server'")
        refused = h.run("qmgr -c 'set server comment=mine'", user=USER, check=False)
        assert refused.returncode != 0 and "Unauthorized Request" in refused.stderr
        refused = h.run(f"qdel {job}", user=OTHER, check=False)
        assert refused.returncode != 0 and "Unauthorized Request" in refused.stderr
    day.n1.user(f"qdel {job}")  # of the same user, who has submitted it on another host
    day.done(job)


@pytest.mark.parametrize("name", ["n2.site.example", "n2", "*.site.example"])
def test_root_of_another_host_is_a_manager_when_it_is_named(day, name):
    def try_it():
        return day.n2.run("qmgr -c 'set server comment=from_n2'", check=False)
    assert try_it().returncode != 0
    day.n1.root(f"qmgr -c 'set server acl_roots += root@{name}'; qmgr -c 'set server managers += root@{name}'")
    try:
        done = try_it()
        assert done.returncode == 0, done.stderr
        assert "comment = from_n2" in day.n1.root("qstat -Bf")
    finally:
        day.n1.root(f"qmgr -c 'set server managers -= root@{name}'; qmgr -c 'unset server acl_roots'; "
                    "qmgr -c 'unset server comment'")
    assert try_it().returncode != 0


@pytest.mark.parametrize("name", ["n1.site.example", "n1"])
def test_a_user_of_the_servers_host_is_a_manager_by_each_of_its_names(day, name):
    def try_it():
        return day.n1.run("qmgr -c 'set server comment=mine'", user=USER, check=False).returncode
    assert try_it() != 0
    day.n1.root(f"qmgr -c 'set server managers += {USER}@{name}'")
    try:
        assert try_it() == 0
        assert day.n2.run("qmgr -c 'set server comment=mine'", user=USER, check=False).returncode != 0
    finally:
        day.n1.root(f"qmgr -c 'set server managers -= {USER}@{name}'; qmgr -c 'unset server comment'")
    assert try_it() != 0


def test_a_queue_lets_in_hosts_by_name(day):
    day.n1.root("qmgr -c 'create queue near queue_type=e,enabled=t,started=t,acl_hosts=n1,acl_host_enable=t'")
    try:
        refused = day.n2.run("echo true | qsub -q near", user=USER, check=False)
        assert refused.returncode != 0 and "Access from host not allowed" in refused.stderr
        day.done(day.n1.submit("true", "-q", "near"))
        for name in ("n2.site.example", "n2"):
            day.n1.root(f"qmgr -c 'set queue near acl_hosts = {name}'")
            day.done(day.n2.submit("true", "-q", "near"))
            day.n1.root(f"qmgr -c 'set queue near acl_hosts = -{name}'; qmgr -c 'set queue near acl_hosts += +*.site.example'")
            assert day.n2.run("echo true | qsub -q near", user=USER, check=False).returncode != 0
    finally:
        day.clean()
        day.n1.root("qmgr -c 'delete queue near'")


# --- both hosts

def test_a_parallel_job_runs_on_both_hosts(day):
    job = day.n2.submit("cat $PBS_NODEFILE; pbsdsh -- hostname", "-N", "both", "-j", "oe", "-l",
                        "select=2:ncpus=2", "-l", "place=scatter")
    assert day.done(job)["Exit_status"] == 0
    lines = day.n2.file(f"both.o{number(job)}").split()
    assert sorted(lines[2:]) == ["n1", "n2"] and sorted(x.split(".")[0] for x in lines[:2]) == ["n1", "n2"]


def test_an_urgent_job_takes_both_hosts_and_gives_them_back(day):
    day.n1.root("qmgr -c 'create queue urgent queue_type=e,enabled=t,started=t,priority=200'")
    try:
        low = day.n2.submit("sleep 600", "-l", "select=2:ncpus=4", "-l", "place=scatter")
        day.wait(low, "R")
        high = day.n2.submit("hostname", "-q", "urgent", "-l", "select=2:ncpus=4", "-l", "place=scatter")
        assert day.done(high)["Exit_status"] == 0
        assert day.wait(low, "R")["run_count"] == 1
    finally:
        day.clean()
        day.n1.root("qmgr -c 'delete queue urgent'")


# --- output that has no way

def with_copy(site):
    """Separate homes, and an scp that says what one says of a host without sshd."""
    for h in site.hosts:
        h.write("spool/copy", COPY)
        h.root("chmod 755 /var/spool/copy; sed -i '/^PBS_SCP=/d' /etc/pbs.conf; echo PBS_SCP=/var/spool/copy >>/etc/pbs.conf; "
               "PBS_START_SERVER=0 PBS_START_SCHED=0 /opt/pbs/libexec/pbs_init.d restart")
        site.wait_node(h.name)
    return site


def test_room_is_free_while_output_is_tried_and_the_job_says_where_it_is_kept(make):
    site = with_copy(make(shared_home=False))
    job = site.n2.submit("echo kept", "-N", "far", "-j", "oe", "-l", "select=1:ncpus=4:host=n1")
    site.wait(job, "E")
    after = site.n2.submit("true", "-N", "next", "-o", "/dev/null", "-e", "/dev/null", "-l", "select=1:ncpus=4:host=n1")
    site.done(after)
    assert site.job(job)["job_state"] == "E"
    j = site.done(job, limit_s=180)
    place = f"/var/spool/pbs/undelivered/{number(job)}.n1.OU"
    said = f"output kept on n1: {place} (/var/spool/copy ended with status 255: ssh: connect to host n2"
    assert j["Exit_status"] == 0 and said in j["comment"] and "No route to host" in j["comment"]
    assert said in site.n1.root(f"qstat -xf {job}").replace("\n\t", "")
    assert site.n1.root(f"cat {place}") == "kept\n"


def test_output_goes_to_the_home_directory_of_the_submit_host_where_each_has_its_own(make):
    site = make(shared_home=False)
    for h in site.hosts:
        h.write("spool/copy", SCP)
        h.root("chmod 755 /var/spool/copy; sed -i '/^PBS_SCP=/d' /etc/pbs.conf; "
               "PBS_START_SERVER=0 PBS_START_SCHED=0 /opt/pbs/libexec/pbs_init.d restart")
        assert "output of jobs from other hosts will be kept in /var/spool/pbs/undelivered: PBS_SCP of pbs.conf" in h.log("mom")
        h.root("echo PBS_SCP=/var/spool/copy >>/etc/pbs.conf; "
               "PBS_START_SERVER=0 PBS_START_SCHED=0 /opt/pbs/libexec/pbs_init.d restart")
        site.wait_node(h.name)
    for here, there in ((site.n1, site.n2), (site.n2, site.n1)):
        job = here.submit("hostname; pwd", "-N", "own", "-j", "oe", "-l", f"select=1:host={there.name}")
        assert site.done(job)["Exit_status"] == 0
        assert here.file(f"own.o{number(job)}").split() == [there.name, f"/home/{USER}"]
        assert there.file(f"own.o{number(job)}") is None and not there.undelivered()


# --- hosts that come and go

def test_a_host_that_is_cut_off_is_down_and_its_job_ends_when_it_is_back(make):
    site = make()
    site.n1.root("qmgr -c 'set server node_fail_requeue=0'")  # its jobs stay where they are
    job = site.n2.submit("while [ ! -e stop ]; do sleep 0.1; done; echo over", "-N", "cut", "-j", "oe", "-l", "select=1:host=n2")
    site.wait(job, "R")
    site.n2.link(False)
    until(lambda: "down" in site.node("n2")["state"], "n2 to be down", limit_s=180)
    assert site.job(job)["job_state"] == "R"
    other = site.n1.submit("true")
    assert site.done(other)["exec_host"].startswith("n1/")
    site.n2.root(f"touch /home/{USER}/stop")
    site.n2.link(True)
    j = site.done(job, limit_s=180)
    assert j["Exit_status"] == 0 and j["run_count"] == 1
    assert site.n2.file(f"cut.o{number(job)}") == "over\n"
    site.wait_node("n2")


def reboot(site, host):
    """Power fails, and the host is back as a boot leaves it: the kernel is another one, memory and what is kept in it are gone."""
    host.crash()
    host.boot()
    host.write("tmp/boot_id", f"{uuid.uuid4()}\n")
    host.root("mount --bind /tmp/boot_id /proc/sys/kernel/random/boot_id")
    host.root("/opt/pbs/libexec/pbs_init.d start")
    site.wait_node(host.name)


def test_a_host_that_reboots_runs_its_jobs_again_or_ends_them_with_the_reason(make):
    """One that may run again, one that may not, one that is on the other host too, one that was suspended there."""
    site = make()
    wait = "echo begun >>$PBS_JOBNAME.txt; while [ ! -e stop ]; do sleep 0.1; done"
    where = ("-j", "oe", "-l", "select=1:ncpus=1:host=n2")
    again = site.n1.submit(wait, "-N", "again", *where)
    once = site.n1.submit(wait, "-N", "once", "-r", "n", *where)
    both = site.n1.submit(wait, "-N", "both", "-j", "oe", "-l", "select=1:ncpus=1:host=n1+1:ncpus=1:host=n2")
    kept = site.n1.submit(wait, "-N", "kept", *where)
    for job in (again, once, both, kept):
        site.wait(job, "R")
    site.n1.root(f"qsig -s suspend {kept}")
    site.wait(kept, "S")
    reboot(site, site.n2)
    j = site.done(once)
    assert j["Exit_status"] == -4 and "n2" in j["comment"], j
    for job in (again, both, kept):
        until(lambda job=job: (j := site.job(job))["run_count"] == 2 and j["substate"] == 42, lambda job=job: site.job(job))
    site.n1.root(f"touch /home/{USER}/stop")
    for job, name in ((again, "again"), (both, "both"), (kept, "kept")):
        assert site.done(job)["Exit_status"] == 0 and site.n1.file(f"{name}.txt") == "begun\n" * 2
    assert not site.node("n2").get("resources_assigned", {}).get("ncpus") and "jobs" not in site.node("n2")


@pytest.mark.parametrize("family", ["IPv4", "IPv6"])
def test_a_host_with_another_address_is_known_by_its_certificate_and_its_users_by_the_address(make, family):
    site = make()
    address, new = ("10.77.0.77", "10.77.0.77/24") if family == "IPv4" else ("fd77::77", "fd77::77/64 nodad")
    site.n2.root(f"ip addr flush dev eth0; ip addr add {new} dev eth0; /opt/pbs/libexec/pbs_init.d restart")
    site.wait_node("n2")
    job = site.n1.submit("hostname", "-N", "moved", "-j", "oe", "-l", "select=1:host=n2")
    site.done(job)
    assert site.n1.file(f"moved.o{number(job)}") == "n2\n"
    # No entry leads from that address to a name; output goes to the host by the name that it has for itself.
    job = site.n2.submit("hostname", "-N", "nameless", "-j", "oe", "-l", "select=1:host=n1")
    j = site.done(job)
    assert j["Job_Owner"] == f"{USER}@{address}" and j["Output_Path"] == f"n2:/home/{USER}/nameless.o{number(job)}"
    assert site.n1.file(f"nameless.o{number(job)}") == "n1\n"


def test_a_host_that_the_server_has_no_name_for_runs_parts_of_jobs(make):
    site = make(hosts=3, nameless=(3,))
    job = site.n3.submit("pbsdsh -- hostname", "-N", "three", "-j", "oe", "-l", "select=3:ncpus=2", "-l", "place=scatter")
    j = site.done(job)
    assert j["Exit_status"] == 0
    assert sorted(site.n3.file(f"three.o{number(job)}").split()) == ["n1", "n2", "n3"]


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer wants to be loaded first")
@pytest.mark.parametrize("ahead_s", [3 * 3600, -3 * 3600])
def test_hosts_whose_clocks_are_apart_run_jobs_of_the_right_length(make, ahead_s):
    site = make()
    subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", site.n2.path("spool/clock.so"),
                    os.path.join(PROGRAMS, "clock_jump.c")], check=True)
    site.n2.write("spool/clock", struct.pack("qq", ahead_s, 0))
    site.n2.root("LD_PRELOAD=/var/spool/clock.so CLOCK_JUMP=/var/spool/clock /opt/pbs/libexec/pbs_init.d restart")
    site.wait_node("n2")
    says = datetime.datetime.strptime(site.n2.log("mom").splitlines()[-1][:19], "%m/%d/%Y %H:%M:%S")
    assert abs((says - datetime.datetime.now()).total_seconds() - ahead_s) < 1800
    job = site.n1.submit("true", "-l", "select=1:host=n2", "-l", "walltime=10:00")
    j = site.done(job)
    assert j["Exit_status"] == 0 and j["resources_used"]["walltime"] < "00:01:00"
    late = site.n1.submit("sleep 600", "-l", "select=1:host=n2", "-l", "walltime=2")
    j = site.done(late)
    assert "exceeded resource walltime" in j["comment"] and "00:00:01" < j["resources_used"]["walltime"] < "00:01:00"


def test_a_host_that_is_removed_runs_nothing_and_one_that_joins_again_does(make):
    site = make()
    site.n2.root("/opt/pbs/libexec/pbs_init.d stop")
    site.n1.root("qmgr -c 'delete node n2'")
    serial = [line.split()[1] for line in site.n1.root("pbs_keys list").splitlines() if line.startswith("mom:n2 ")][-1]
    site.n1.root(f"pbs_keys revoke {serial}")
    site.n2.root("/opt/pbs/libexec/pbs_init.d start")
    until(lambda: serial in site.n1.log("server") or "revoked" in site.n1.log("server") + site.n2.log("mom"),
          lambda: f"a word about the revoked certificate:\n{site.report()}")
    assert site.node("n2") is None
    site.n2.root("/opt/pbs/libexec/pbs_init.d stop")
    said = site.n1.root("pbs_keys token n2")
    site.n2.root(said[said.index("pbs_keys join"):])
    site.n1.root("qmgr -c 'create node n2'")
    site.n2.root("/opt/pbs/libexec/pbs_init.d start")
    site.wait_node("n2")
    job = site.n1.submit("hostname", "-N", "again", "-j", "oe", "-l", "select=1:host=n2")
    site.done(job)
    assert site.n1.file(f"again.o{number(job)}") == "n2\n"
