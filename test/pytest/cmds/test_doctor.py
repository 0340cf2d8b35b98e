"""pbs_doctor: each fault is made on purpose, one at a time, and told by its check and no other that it does not cause."""
import datetime
import json
import os
import sqlite3
import struct
import subprocess

import pytest

from harness import users
from harness.build import PROGRAMS, is_sanitized
from harness.installed import Installed, source_version
from harness.wait import until

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs namespaces and owners")


@pytest.fixture(scope="module")
def site():
    c = Installed()
    try:
        c.start()
        until(lambda: "state = free" in c.command("pbsnodes", "-a", check=False).stdout, "the node")
        yield c
    finally:
        c.stop()


def look(site, *words, user=None, env=None, before=""):
    """The findings of one run and its exit status; `before` is done in a mount namespace of its own."""
    command = ["pbs_doctor", "-F", "json"]
    if before:
        command = ["unshare", "-m", "sh", "-c", f"{before} && exec pbs_doctor -F json"]
    done = site.command(*command, *words, user=user, env=env, check=False)
    told = json.loads(done.stdout)
    states = {f["state"] for f in told["findings"]}
    assert done.returncode == (2 if "error" in states else 1 if "warning" in states else 0), done.stdout
    assert told["errors"] == sum(f["state"] == "error" for f in told["findings"])
    return told["findings"]


def faults(findings):
    """Checks that found something, and how bad it is. What this machine itself lacks (its name, MUNGE) is left out."""
    return {(f["check"], f["state"]) for f in findings if f["state"] in ("warning", "error")}


@pytest.fixture(scope="module")
def usual(site):
    found = faults(look(site))
    assert {name for name, _ in found} <= {"own-name", "reverse-name", "munge", "confinement", "delivery"}
    return found


def expect(site, usual, *wanted, **how):
    found = look(site, **how)
    assert faults(found) - usual == set(wanted), found
    return found


def text_of(findings, check):
    return next(f["text"] for f in findings if f["check"] == check)


def hosts(site, text):
    path = os.path.join(site.top, "hosts")
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return f"mount --bind {path} /etc/hosts"


class Mode:
    """A file or folder has another mode for a while."""

    def __init__(self, path, mode):
        self.path, self.mode = path, mode

    def __enter__(self):
        self.was = os.stat(self.path).st_mode & 0o7777
        os.chmod(self.path, self.mode)

    def __exit__(self, *_):
        os.chmod(self.path, self.was)


def test_a_site_that_is_well_has_no_error(site, usual):
    assert not {state for _, state in usual if state == "error"}
    lines = site.command("pbs_doctor", "-v", check=False).stdout.splitlines()
    assert {"fine: store", "fine: server", "fine: clock", "fine: daemons", "fine: versions"} <= set(lines)


def test_a_fault_is_one_line_with_its_remedy(site, usual):
    with Mode(os.path.join(site.home, "certs", "server.key"), 0o644):
        done = site.command("pbs_doctor", check=False)
    line, = [x for x in done.stdout.splitlines() if x.startswith("error: key-rights: ")]
    assert "server.key" in line and "0644" in line and "; chmod 0600" in line and done.returncode == 2


@root_only
def test_an_own_name_of_127_0_1_1_is_told(site):
    name = os.uname().nodename
    good = look(site, before=hosts(site, f"127.0.0.1 localhost\n192.0.2.77 {name}\n"))
    assert ("own-name", "warning") not in faults(good)
    bad = look(site, before=hosts(site, f"127.0.0.1 localhost\n127.0.1.1 {name}\n"))
    assert ("own-name", "warning") in faults(bad) and "127.0.1.1" in text_of(bad, "own-name")


@root_only
def test_an_address_that_leads_to_another_name_is_told(site):
    name = os.uname().nodename
    found = look(site, before=hosts(site, f"127.0.0.1 localhost\n192.0.2.77 other.example {name}\n"))
    assert "other.example" in text_of(found, "reverse-name")


def test_a_server_name_that_is_not_known_is_told(site, usual):
    found = expect(site, usual, ("server-name", "error"), ("server", "error"), env={"PBS_SERVER": "no-such-host.invalid",
                                                               "PBS_SERVER_HOST_NAME": "no-such-host.invalid"})
    assert "no-such-host.invalid" in text_of(found, "server-name")


def test_a_service_user_that_is_not_there_is_told(site, usual):
    expect(site, usual, ("users", "error"), ("store", "error"), env={"PBS_DAEMON_SERVICE_USER": "nosuchuser"})


def test_a_folder_that_others_may_write_to_is_told(site, usual):
    with Mode(os.path.join(site.home, "server_priv", "accounting"), 0o777):
        found = expect(site, usual, ("files", "warning"))
    assert "accounting" in text_of(found, "files") and "0777" in text_of(found, "files")


@root_only
def test_a_spool_of_another_owner_is_told(site, usual):
    spool = os.path.join(site.home, "spool")
    os.chown(spool, 65534, -1)
    try:
        found = expect(site, usual, ("files", "warning"))
    finally:
        os.chown(spool, os.stat(site.home).st_uid, -1)
    assert "spool" in text_of(found, "files") and "owner" in text_of(found, "files")


@root_only
@pytest.mark.parametrize("options, fill, check", [("size=1m", "true", "space"),
                                                  ("size=900m,nr_inodes=100", "(cd {0}; touch $(seq 99))", "inodes")])
def test_a_file_system_that_is_full_is_told(site, usual, options, fill, check):
    folder = os.path.join(site.home, "undelivered")
    found = look(site, before=f"mount -t tmpfs -o {options},mode=1777 x {folder} && {fill.format(folder)}")
    assert faults(found) - usual == {(check, "error")}, found
    assert folder in text_of(found, check)


def test_a_ca_that_others_could_replace_is_told(site, usual):
    with Mode(os.path.join(site.home, "certs", "ca.crt"), 0o666):
        expect(site, usual, ("ca", "error"))


def test_a_ca_that_is_missing_is_told(site, usual):
    path = os.path.join(site.home, "certs", "ca.crt")
    os.rename(path, path + ".away")
    try:
        assert ("ca", "error") in faults(look(site)) - usual
    finally:
        os.rename(path + ".away", path)


def test_a_key_that_others_may_read_is_told(site, usual):
    with Mode(os.path.join(site.home, "certs", "server.key"), 0o640):
        expect(site, usual, ("key-rights", "error"))


def certificate(site, name, begin, end, ca=True):
    """A certificate of its own key with these days from now, signed by the CA of the complex or by itself."""
    folder = os.path.join(site.home, "certs")
    path = os.path.join(folder, name)
    key = os.path.join(site.top, "spare.key")
    day = datetime.timedelta(days=1)
    now = datetime.datetime.now(datetime.timezone.utc)
    dates = [(now + n * day).strftime("%Y%m%d%H%M%SZ") for n in (begin, end)]
    conf = os.path.join(site.top, "ca.conf")
    for made in ("index.txt", "index.txt.attr", "serial"):
        with open(os.path.join(site.top, made), "w", encoding="ascii") as f:
            f.write("01\n" if made == "serial" else "")
    with open(conf, "w", encoding="ascii") as f:
        f.write(f"[ca]\ndefault_ca=x\n[x]\ndatabase={site.top}/index.txt\nserial={site.top}/serial\n"
                f"new_certs_dir={site.top}\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n")
    run = {"check": True, "capture_output": True}
    subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                    "-subj", "/CN=spare", "-out", key + ".csr"], **run)
    by = ["-cert", f"{folder}/ca.crt", "-keyfile", f"{folder}/ca.key"] if ca else ["-selfsign", "-keyfile", key]
    subprocess.run(["openssl", "ca", "-batch", "-config", conf, "-in", key + ".csr", "-out", path, "-notext",
                    "-startdate", dates[0], "-enddate", dates[1], *by], **run)
    return path


@pytest.mark.parametrize("begin, end, ca, wanted", [(-40, -2, True, ("certificate-dates", "error")),
                                                    (-1, 10, True, ("certificate-dates", "warning")),
                                                    (5, 90, True, ("certificate-dates", "error")),
                                                    (-1, 90, False, ("certificate-signer", "error"))])
def test_a_certificate_that_will_not_do_is_told(site, usual, begin, end, ca, wanted):
    path = certificate(site, "spare.crt", begin, end, ca)
    try:
        found = expect(site, usual, wanted)
        assert path in text_of(found, wanted[0])
    finally:
        os.unlink(path)


def test_munge_that_does_not_work_is_told_and_is_an_error_on_a_host_without_server(site):
    env = {"PBS_MUNGE_SOCKET": "/nowhere/munge.socket"}
    assert ("munge", "warning") in faults(look(site, env=env))
    away = {**env, "PBS_START_SERVER": "0", "PBS_START_SCHED": "0", "PBS_START_MOM": "0"}
    assert ("munge", "error") in faults(look(site, env=away))


def test_a_client_host_is_not_asked_for_daemons(site):
    away = {"PBS_START_SERVER": "0", "PBS_START_SCHED": "0", "PBS_START_MOM": "0"}
    asked = {f["check"] for f in look(site, env=away)}
    assert not asked & {"daemons", "store", "delivery", "resources", "nodes", "key-rights"} and {"server", "ca"} <= asked


def test_a_store_of_a_newer_server_is_told(site, usual):
    path = os.path.join(site.home, "server_priv", "cede.db")

    def schema(n):
        with sqlite3.connect(path) as db:
            was = db.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()[0]
            db.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (n,))
        db.close()
        return was

    was = schema("99")
    try:
        found = expect(site, usual, ("store", "error"))
        assert "99" in text_of(found, "store")
    finally:
        schema(was)


def test_a_port_that_nothing_listens_to_is_told(site, usual):
    found = expect(site, usual, ("ports", "error"), env={"PBS_MANAGER_SERVICE_PORT": "1"})
    assert "port 1 " in text_of(found, "ports")


def test_a_copy_program_that_is_not_there_is_told(site, usual):
    expect(site, usual, ("delivery", "error"), env={"PBS_SCP": "/nowhere/scp"})


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer wants to be loaded first")
def test_a_clock_that_differs_from_the_servers_is_told(site, usual):
    library, path = os.path.join(site.top, "clock_jump.so"), os.path.join(site.top, "clock")
    subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library,
                    os.path.join(PROGRAMS, "clock_jump.c")], check=True)
    for ahead_s, wanted, word in ((60, "warning", "behind"), (-60, "warning", "ahead of"), (3600, "error", "behind")):
        with open(path, "wb") as f:
            f.write(struct.pack("qq", ahead_s, 0))
        found = look(site, env={"LD_PRELOAD": library, "CLOCK_JUMP": path})
        assert ("clock", wanted) in faults(found), found
        assert f"{word} this host's" in text_of(found, "clock")


def test_a_resource_that_the_scheduler_does_not_look_at_is_told(site, usual):
    site.qmgr("create resource tape type=long,flag=nh")
    try:
        found = expect(site, usual, ("resources", "warning"))
        assert "tape" in text_of(found, "resources")
        path = os.path.join(site.home, "sched_priv", "sched_config")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(text + '\nresources: "ncpus, mem, tape"\n')
        expect(site, usual)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    finally:
        site.qmgr("delete resource tape")


@root_only
def test_an_ordinary_user_is_told_what_was_not_looked_at(site):
    found = look(site, user=users.NAMES[0])
    unseen = {f["check"] for f in found if f["state"] == "unseen"}
    assert {"store", "key-rights"} & unseen and not [f for f in found if f["state"] == "error"], found


def test_daemons_that_do_not_run_are_told_each_by_its_name():
    c = Installed()
    try:
        c.start()
        node = os.uname().nodename.split(".")[0]
        c.stop_daemon("mom")
        until(lambda: "down" in c.command("pbsnodes", "-a", check=False).stdout, "the node is down")
        found = look(c)
        assert {("daemons", "error"), ("ports", "error"), ("nodes", "warning")} <= faults(found)
        assert "pbs_mom" in text_of(found, "daemons") and node in text_of(found, "nodes")
        c.stop_daemon("server")
        with sqlite3.connect(os.path.join(c.home, "server_priv", "cede.db")) as db:
            db.execute("UPDATE object SET attrs = replace(attrs, ?, '0.0.9'), hot = replace(hot, ?, '0.0.9') WHERE kind = 'node'",
                       (source_version(), source_version()))
        db.close()
        found = look(c)
        assert {("server", "error"), ("ports", "error"), ("daemons", "error")} <= faults(found)
        c.init("start", PBS_START_MOM="0")
        found = look(c)
        assert "0.0.9" in text_of(found, "versions"), found
        c.init("start")
    finally:
        c.stop()
