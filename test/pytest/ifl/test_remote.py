"""Users over TCP: TLS always, then a certificate of the complex or a MUNGE credential made for this connection."""
import os
import shutil
import struct
import subprocess

import pytest

from harness import rpc_caller, users
from harness.remote import Munged, login_host, port_of
from harness.wait import until

pytestmark = [pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("munged"), reason="needs root and munged"),
              pytest.mark.complex(nodes=1)]
A, B = users.NAMES[:2]


def make_certificate(cx, where, role):
    """As an administrator would for a scheduler on another host."""
    ca, key, request = f"{cx.home}/certs/ca", f"{where}/{role}.key", f"{where}/request"

    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True)
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request,
            "-subj", f"/CN={role}")
    openssl("x509", "-req", "-in", request, "-CA", f"{ca}.crt", "-CAkey", f"{ca}.key", "-CAcreateserial",
            "-CAserial", f"{where}/serial", "-days", "2", "-out", f"{where}/{role}.crt")


def test_a_user_of_another_host_is_known_by_munge(cx, munged):
    env = login_host(cx, "login", munged.socket)
    job = cx.command("qsub", "-N", "far", "--", "/bin/sleep", "600", user=A, env=env).stdout.strip()
    cx.wait(job)
    assert cx.stat(job)["Job_Owner"].startswith(f"{A}@") and cx.stat(job)["euser"] == A
    assert "far" in cx.command("qstat", job, user=B, env=env).stdout
    refused = cx.command("qdel", job, user=B, env=env, check=False)
    assert refused.returncode == 15007 % 256 and cx.state(job) == "R"
    cx.command("qdel", job, user=A, env=env)
    cx.wait_gone(job)


def evil_modules(cx):
    """A directory of the caller's own as PBS_EXEC, and the file that its modules make."""
    evil, seen = os.path.join(cx.work, "evil"), os.path.join(cx.work, "loaded")
    os.makedirs(os.path.join(evil, "lib"))
    code = f'#include <stdio.h>\n__attribute__((constructor)) static void go(void) {{ fclose(fopen("{seen}", "w")); }}\n'
    for name in ("libauth_tls.so", "libauth_munge.so"):
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", os.path.join(evil, "lib", name)], check=True,
                       input=code, text=True)
    return evil, seen


@pytest.mark.parametrize("where", ["environment", "pbs.conf"])
def test_a_module_is_loaded_from_the_installation_alone(cx, munged, where):
    """A module runs with the rights of the caller; who names PBS_EXEC may be somebody else (a job's environment)."""
    evil, seen = evil_modules(cx)
    env = login_host(cx, "login", munged.socket)
    if where == "pbs.conf":
        with open(env["PBS_CONF_FILE"], "a", encoding="ascii") as f:
            f.write(f"PBS_EXEC={evil}\n")
    else:
        env["PBS_EXEC"] = evil
    done = cx.command("qstat", "-B", env=env, check=False)
    assert not os.path.exists(seen) and done.returncode == 0


def test_a_program_that_changes_identity_does_not_obey_its_callers_environment(cx, munged):
    """As root's set-user-ID wrapper of a command would be; without the bit the same copy asks the server that is named."""
    evil, seen = evil_modules(cx)
    env = {**login_host(cx, "login", munged.socket), "PBS_EXEC": evil}
    with open(env["PBS_CONF_FILE"], "a", encoding="ascii") as f:
        f.write(f"PBS_EXEC={evil}\n")
    own = os.path.join(cx.top, "own")
    os.makedirs(os.path.join(own, "bin"))
    os.symlink(os.path.join(cx.build, "lib"), os.path.join(own, "lib"))
    command = shutil.copy(os.path.join(cx.build, "bin", "qstat"), os.path.join(own, "bin"))
    os.chmod(command, 0o4755)
    done = cx.command(command, "-B", user=A, env=env, check=False)
    assert not os.path.exists(seen)
    assert done.returncode != 0 or os.path.exists("/etc/pbs.conf")  # else it knows no server
    os.chmod(command, 0o755)
    assert cx.command(command, "-B", user=A, env=env, check=False).returncode == 0


def test_a_credential_of_another_realm_is_refused(cx, munged):
    other = Munged(cx.top, "stranger")
    try:
        env = login_host(cx, "login", other.socket)
        done = cx.command("qstat", user=A, env=env, check=False)
        assert done.returncode != 0 and "Invalid credential" in done.stderr
        cx.wait_log("server", "MUNGE user-authentication on decode failed")
    finally:
        other.stop()
    cx.command("qstat", user=A, env=login_host(cx, "again", munged.socket))


def test_without_munged_the_user_is_told_why(cx, munged):
    env = login_host(cx, "login", os.path.join(cx.top, "nowhere"))
    done = cx.command("qstat", user=A, env=env, check=False)
    assert done.returncode != 0 and "MUNGE user-authentication on encode failed" in done.stderr


def test_a_client_with_a_certificate_needs_no_munge(cx):
    env = login_host(cx, "admin", os.path.join(cx.top, "nowhere"))
    make_certificate(cx, os.path.join(cx.top, "admin", "certs"), "sched")
    cx.command("qmgr", "-c", "set server comment = far", env=env)
    assert cx.api.stat("server")[0]["comment"] == "far"


def test_a_server_of_another_complex_is_not_believed(cx, munged):
    env = login_host(cx, "login", munged.socket)
    own = os.path.join(cx.top, "login", "certs", "ca.crt")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "/dev/null", "-out", own,
                    "-subj", "/CN=other", "-days", "2"], check=True, capture_output=True)
    done = cx.command("qstat", user=A, env=env, check=False)
    assert done.returncode != 0 and "certificate is not of this complex" in done.stderr


# --- what a client may not do before it is known: by hand, on the wire -------------------------------------------

def guest(cx):
    """A TLS connection without a certificate."""
    return rpc_caller.connect_tls(port_of(cx), rpc_caller.IFL, os.path.join(cx.home, "certs"))


def xdr_text(text):
    return struct.pack(">I", len(text)) + text + b"\0" * (-len(text) % 4)


def test_a_client_without_a_credential_is_served_nothing(cx, munged):
    s = guest(cx)
    args = xdr_text(b"") + struct.pack(">I", 0) + xdr_text(b"") + struct.pack(">I", 0)
    reply = struct.unpack(">4I", rpc_caller.call(s, rpc_caller.IFL, 21, args)[:16])
    assert reply[1:3] == (1, 1)  # MSG_DENIED
    cred = subprocess.run(["munge", "-S", munged.socket, "-s", "x" * 32], check=True, capture_output=True).stdout
    args = xdr_text(b"munge") + xdr_text(cred.strip()) + struct.pack(">I", 0)
    code = struct.unpack(">I", rpc_caller.call(s, rpc_caller.IFL, 95, args)[24:28])[0]
    assert code == 15019  # a good credential of root, made for nothing in particular
    s.close()
    cx.wait_log("server", "made for another connection")


HALF_OPEN = 600  # more than twice what a server keeps


def test_half_open_connections_keep_neither_callers_nor_moms_out(cx):
    flood = [rpc_caller.connect(port_of(cx)) for _ in range(HALF_OPEN)]
    for _ in range(50):
        guest(cx).close()
        flood.append(rpc_caller.connect(port_of(cx)))
    cx.kill("n1")
    cx.restart("n1")
    until(lambda: cx.node("n1")["state"] == "free", "the MOM is back")
    for s in flood:
        s.close()
    cx.wait_log("server", "too many that did not say who they are")


def test_a_client_that_sends_no_credential_is_disconnected(cx):
    s = guest(cx)
    s.settimeout(120)
    assert s.recv(1) == b"", "the server ends the connection"
    s.close()


FAR = "192.0.2.77"  # of another host; the connection comes over a relay on the server's own


@pytest.fixture
def far_root(cx, munged):
    """The environment of root on another host of the realm, whose connection a user's relay brings to the server."""
    far = Munged(cx.top, "far", key_of=munged, origin=FAR)
    yield login_host(cx, "login", far.socket)
    far.stop()


def set_comment(cx, env):
    return cx.command("qmgr", "-c", "set server comment = far", env=env, check=False)


def test_root_of_another_host_is_no_manager_over_a_relay_on_the_servers_host(cx, far_root):
    refused = set_comment(cx, far_root)
    assert refused.returncode != 0 and "Unauthorized" in refused.stderr
    assert "comment" not in cx.api.stat("server")[0]


@pytest.mark.parametrize("entry, may", [("root", False), ("root@vm.example", False), (f"root@{FAR}", True),
                                        ("root@*", True)])
def test_root_of_another_host_is_a_manager_where_the_list_names_its_host(cx, far_root, entry, may):
    cx.set_server("managers", entry if "@" in entry else entry + "@localhost")
    assert (set_comment(cx, far_root).returncode == 0) == may


def test_root_by_munge_is_not_believed_to_be_root_of_the_servers_host(cx, munged):
    """Who has the realm's key can say any address, that of the server too: root there uses the socket."""
    assert set_comment(cx, login_host(cx, "login", munged.socket)).returncode != 0
    cx.command("qmgr", "-c", "set server comment = here")
    assert cx.api.stat("server")[0]["comment"] == "here"


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_root_by_munge_is_root_of_an_address_whatever_name_that_has(cx, munged, name):
    """Root of the realm says that it is at the server: a name of the server in a list must not mean it."""
    cx.set_server("managers", f"root@{name}")
    assert (set_comment(cx, login_host(cx, "login", munged.socket)).returncode == 0) == (name == "127.0.0.1")


def test_root_of_another_host_does_not_own_what_root_of_the_servers_host_owns(cx, far_root):
    job = cx.submit("sleep 600")
    for words in (["qdel", job], ["qalter", "-N", "other", job], ["qhold", job]):
        refused = cx.command(*words, env=far_root, check=False)
        assert refused.returncode != 0 and "Unauthorized" in refused.stderr, words
    assert cx.stat(job)["Job_Owner"].startswith("root@")


def test_root_of_another_host_runs_jobs_as_root_only_where_acl_roots_names_that_host(cx, far_root):
    cx.set_server("acl_roots", "root")
    refused = cx.command("qsub", "--", "/bin/true", env=far_root, check=False)
    assert refused.returncode != 0 and f"root@{FAR} is not in acl_roots" in refused.stderr
    cx.set_server("acl_roots", f"root@{FAR}")
    job = cx.command("qsub", "-h", "--", "/bin/true", env=far_root).stdout.strip()
    assert cx.stat(job)["Job_Owner"] == f"root@{FAR}"
    cx.command("qdel", job, env=far_root)
    cx.wait_gone(job)


def test_a_user_of_another_host_keeps_its_host_over_a_relay(cx, munged, far_root):
    job = cx.command("qsub", "-h", "--", "/bin/true", user=A, env=far_root).stdout.strip()
    assert cx.stat(job)["Job_Owner"] == f"{A}@{FAR}"
    cx.command("qdel", job, user=A, env=far_root)
