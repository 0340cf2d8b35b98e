"""pbs_keys: the CA's key stays with the server; hosts join by a token for one use, are renewed, and are sent away."""
import contextlib
import fcntl
import os
import re
import signal
import socket
import ssl
import stat
import subprocess
import time

import pytest

from harness import rpc_caller
from harness.exec_peer import ACCEPTED, Mom, Reader, u32
from harness.remote import port_of
from harness.sis import Stranger
from harness.tasks import start
from harness.wait import until

one = pytest.mark.complex(nodes=1, sched=False)
bare = pytest.mark.complex(nodes=0, sched=False)
CERTIFICATE, JOIN = 8, 212


def keys(cx, *words, check=True, conf=None):
    return cx.command("pbs_keys", *words, check=check, env={"PBS_CONF_FILE": conf} if conf else None)


def listed(cx, role):
    """Serial and state of each certificate of the role, oldest first."""
    rows = [line.split() for line in keys(cx, "list").stdout.splitlines()[1:]]
    return [(row[1], row[-1]) for row in rows if row[0] == role]


def token_of(cx, host, *options):
    return keys(cx, "token", host, *options).stdout.split()[-1]


def another_host(cx, name):
    """pbs.conf of a host that has nothing of the complex yet."""
    home = os.path.join(cx.top, name)
    os.makedirs(home)
    conf = os.path.join(home, "pbs.conf")
    with open(conf, "w", encoding="ascii") as f:
        f.write(f"PBS_EXEC={cx.build}\nPBS_HOME={home}\nPBS_SERVER=127.0.0.1\nPBS_MOM_NODE_NAME={name}\n"
                f"PBS_BATCH_SERVICE_PORT={port_of(cx)}\n")
    return conf


def join(cx, conf, token, *options, check=True):
    return keys(cx, "join", "127.0.0.1", "--token", token, *options, check=check, conf=conf)


def openssl(*words, **how):
    return subprocess.run(["openssl", *words], check=True, capture_output=True, **how).stdout


def subject(path):
    return openssl("x509", "-in", path, "-noout", "-subject").decode().split("=")[-1].strip()


class HostOf(Mom):
    """A MOM by hand with the certificates of another directory."""

    def __init__(self, cx, node, certs):
        super().__init__(cx, node)
        self.certs = certs

    def connect(self):
        self.close()
        self.sock = rpc_caller.connect_tls(port_of(self.cx), rpc_caller.EXEC, self.certs, name=f"mom-{self.node}")

    def certificate(self, request=b""):
        """EXEC_CERTIFICATE: code, certificate, list."""
        r = Reader(self.call(CERTIFICATE, u32(len(request)) + request + b"\0" * (-len(request) % 4) + u32(0)))
        code, _ = r.i32(), r.text()
        return code, r.text(), r.text()


# --- joining


@bare
def test_a_host_joins_by_a_token_and_never_has_the_key_of_the_ca(cx):
    conf = another_host(cx, "n9")
    said = keys(cx, "token", "n9").stdout
    assert re.search(r"pbs_keys join \S+ --token [0-9a-f]{64}-[0-9a-f]{32}$", said.strip())
    join(cx, conf, said.split()[-1])
    certs = os.path.join(cx.top, "n9", "certs")
    assert set(os.listdir(certs)) == {"ca.crt", "mom-n9.crt", "mom-n9.key", "certs.lock"}
    assert stat.S_IMODE(os.stat(certs).st_mode) == 0o755
    assert stat.S_IMODE(os.stat(f"{certs}/mom-n9.key").st_mode) == 0o600
    assert subject(f"{certs}/mom-n9.crt") == "mom:n9"
    assert [state for _, state in listed(cx, "mom:n9")] == ["valid"]
    with HostOf(cx, "n9", certs) as mom:
        assert mom.hello().verdict == ACCEPTED
    days = openssl("x509", "-in", f"{certs}/mom-n9.crt", "-noout", "-enddate").decode()
    assert 360 < (ssl.cert_time_to_seconds(days.split("=")[1].strip()) - time.time()) / 86400 < 366


@bare
def test_a_token_is_for_one_use_one_host_and_a_time(cx):
    first, second = another_host(cx, "n8"), another_host(cx, "n9")
    token = token_of(cx, "n9")
    stolen = join(cx, first, token, check=False)
    assert stolen.returncode == 1 and "is not one of host n8" in stolen.stderr
    join(cx, second, token)
    again = join(cx, second, token, check=False)
    assert again.returncode == 1 and "has been used or has expired" in again.stderr
    late = token_of(cx, "n8", "--hours", "1")
    path = f"{cx.home}/certs/tokens"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with open(path, encoding="ascii") as f:
        text = f.read()
    assert late.split("-")[1] not in text  # hashed
    with open(path, "w", encoding="ascii") as f:
        f.write(re.sub(r" n8 \d+ ", f" n8 {int(time.time()) - 1} ", text))
    assert join(cx, first, late, check=False).returncode == 1
    cx.wait_log("server", "may not join")
    assert not os.path.exists(f"{cx.top}/n8/certs/mom-n8.key")


@bare
def test_strangers_cannot_use_up_the_tries_of_a_token(cx):
    conf = another_host(cx, "n9")
    token = token_of(cx, "n9")
    ca, secret = token.split("-")
    other = "".join("1" if digit == "0" else "0" for digit in secret)
    tokens = f"{cx.home}/certs/tokens"
    before = os.stat(tokens).st_ino
    for n in range(20):
        refused = join(cx, conf, f"{ca}-{other[:-2]}{n:02d}", check=False)
        assert refused.returncode == 1 and "is not one of host n9" in refused.stderr
    assert os.stat(tokens).st_ino == before, "what strangers show costs no write"
    join(cx, conf, token)


@bare
def test_an_older_token_without_a_name_is_accepted_and_survives_wrong_tries(cx):
    conf = another_host(cx, "n9")
    token = token_of(cx, "n9")
    with open(f"{cx.home}/certs/tokens", "r+", encoding="ascii") as f:
        line = f.read().split()
        f.seek(0)
        f.truncate()
        f.write(" ".join(line[:4]) + "\n")
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    for _ in range(11):
        assert join(cx, conf, wrong, check=False).returncode == 1
    join(cx, conf, token)


@bare
def test_a_host_whose_token_is_guessed_at_loses_it(cx):
    conf = another_host(cx, "n9")
    token = token_of(cx, "n9")
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    for _ in range(10):
        assert join(cx, conf, wrong, check=False).returncode == 1
    assert join(cx, conf, token, check=False).returncode == 1


@bare
def test_a_host_shows_its_token_to_the_server_that_has_made_it_only(cx):
    conf = another_host(cx, "n9")
    token = token_of(cx, "n9")
    elsewhere = ("0" if token[0] != "0" else "1") + token[1:]
    refused = join(cx, conf, elsewhere, check=False)
    assert refused.returncode == 1 and "its CA has another fingerprint" in refused.stderr
    assert "may not join" not in cx.log("server")
    join(cx, conf, token)


@bare
def test_the_server_does_not_wait_for_a_program_that_holds_the_ca(cx):
    conf = another_host(cx, "n9")
    token = token_of(cx, "n9")
    with open(f"{cx.home}/certs/certs.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        busy = join(cx, conf, token, check=False)
        assert busy.returncode == 1 and "try again" in busy.stderr
    join(cx, conf, token)


@bare
def test_a_mom_that_has_no_certificate_says_how_it_gets_one(cx):
    conf = another_host(cx, "n9")
    mom = cx.command("pbs_mom", check=False, env={"PBS_CONF_FILE": conf})
    assert mom.returncode != 0 and "pbs_keys token n9" in mom.stderr


@contextlib.contextmanager
def mom_with_token(cx, token, mode=0o600):
    """pbs_mom of the new host n9, which finds this in its token file: process, the file, its certificates, its standard error."""
    conf = another_host(cx, "n9")
    home = os.path.dirname(conf)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        with open(conf, "a", encoding="ascii") as f:
            f.write(f"PBS_MANAGER_SERVICE_PORT={s.getsockname()[1]}\n")
    os.makedirs(f"{home}/mom_priv", mode=0o751)
    path = f"{home}/mom_priv/join_token"
    with open(path, "w", encoding="ascii") as f:
        f.write(token + "\n")
    os.chmod(path, mode)
    with open(f"{home}/said", "w", encoding="ascii") as said:
        mom = subprocess.Popen([f"{cx.build}/sbin/pbs_mom", "-N"], env=cx.env | {"PBS_CONF_FILE": conf}, stdout=said,
                               stderr=said)
    try:
        yield mom, path, f"{home}/certs", home
    finally:
        if mom.poll() is None:
            mom.terminate()
        mom.wait(120)


def is_free(cx, name):
    """Its node is made when the host comes."""
    done = cx.command("pbsnodes", name, check=False)
    return done.returncode == 0 and "state = free" in done.stdout


def log_of(home):
    folder = f"{home}/mom_logs"
    return "".join(open(f"{folder}/{name}", encoding="utf-8").read() for name in os.listdir(folder))


@bare
def test_a_mom_joins_by_itself_from_its_token_file_and_removes_it(cx):
    with mom_with_token(cx, token_of(cx, "n9")) as (_, path, certs, home):
        until(lambda: "mom:n9" in cx.log("server") and not os.path.exists(path), "the certificate")
        until(lambda: is_free(cx, "n9"), "the new host")
        assert not os.path.exists(path) and subject(f"{certs}/mom-n9.crt") == "mom:n9"
        assert f"has joined as mom:n9 by the token in {path}, which is removed" in log_of(home)


@bare
def test_a_mom_whose_token_is_refused_says_so_and_ends(cx):
    token = token_of(cx, "n9")
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    with mom_with_token(cx, wrong) as (mom, path, certs, home):
        assert mom.wait(120) == 1
        for text in (log_of(home), open(f"{home}/said", encoding="utf-8").read()):
            assert f"cannot join as mom:n9 by the token in {path}" in text and "is not one of host n9" in text
        assert os.path.exists(path) and not os.path.exists(f"{certs}/mom-n9.crt")


@bare
def test_a_token_file_that_others_can_write_is_not_obeyed(cx):
    with mom_with_token(cx, token_of(cx, "n9"), mode=0o622) as (mom, path, _, home):
        assert mom.wait(120) == 1
        assert f"{path} is not a plain file that root alone can write" in log_of(home)


@bare
def test_a_mom_waits_for_the_server_to_join(cx):
    token = token_of(cx, "n9")
    cx.stop_daemon("server")
    with mom_with_token(cx, token) as (mom, path, _, home):
        until(lambda: os.path.isdir(f"{home}/mom_logs") and "cannot join yet by the token in" in log_of(home), "the wait")
        assert mom.poll() is None and os.path.exists(path)
        mom.send_signal(signal.SIGHUP)
        cx.restart("server")
        until(lambda: not os.path.exists(path), "the certificate")
        until(lambda: is_free(cx, "n9"), "the new host")


@bare
def test_a_mom_with_a_certificate_starts_whether_its_token_is_good_or_not(cx):
    token = token_of(cx, "n9")
    with mom_with_token(cx, token) as (mom, path, _, home):
        until(lambda: not os.path.exists(path), "the certificate")
        mom.terminate()
        mom.wait(120)
        with open(path, "w", encoding="ascii") as f:
            f.write(token)  # used up
        os.chmod(path, 0o600)
        again = subprocess.Popen([f"{cx.build}/sbin/pbs_mom", "-N"], env=cx.env | {"PBS_CONF_FILE": f"{home}/pbs.conf"},
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until(lambda: "the certificate that is here is used" in log_of(home), "the refusal")
            until(lambda: is_free(cx, "n9"), "the host")
        finally:
            again.terminate()
            again.wait(120)


@bare
def test_a_request_is_signed_for_the_name_of_the_token_whatever_it_says(cx):
    key, request = f"{cx.top}/key", f"{cx.top}/request"
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-outform", "DER",
            "-out", request, "-subj", "/CN=server")
    token = token_of(cx, "n9")

    def ask(host, secret, der):
        s = rpc_caller.connect_tls(port_of(cx), rpc_caller.IFL, os.path.join(cx.home, "certs"))
        args = b"".join(u32(len(x)) + x + b"\0" * (-len(x) % 4) for x in (host, secret, der, b""))
        r = Reader(rpc_caller.call(s, rpc_caller.IFL, JOIN, args)[24:])
        s.close()
        return r.i32(), r.text(), r.text()
    with open(request, "rb") as f:
        der = f.read()
    assert ask(b"../x", b"", der)[0] != 0
    assert ask(b"n9", token.split("-")[1].encode(), b"junk")[0] == 15004
    token = token_of(cx, "n9")
    code, _, pem = ask(b"n9", token.split("-")[1].encode(), der)
    assert code == 0
    with open(f"{cx.top}/made", "w", encoding="ascii") as f:
        f.write(pem)
    assert subject(f"{cx.top}/made") == "mom:n9"


# --- renewal


def short_lived(cx, certs, node):
    """The certificate of this host is replaced by one that has a day left of a hundred."""
    work = os.path.join(cx.top, "openssl")
    os.makedirs(work)
    for name, text in (("index", ""), ("serial", "7A57E001\n"), ("conf", "[a]\ndatabase=index\nserial=serial\nnew_certs_dir=.\n"
                                                                         "default_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n"
                                                                         "[r]\ndistinguished_name=d\n[d]\n")):
        with open(f"{work}/{name}", "w", encoding="ascii") as f:
            f.write(text)
    ca = os.path.join(cx.home, "certs")

    def day(n):
        return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + n * 86400))
    openssl("req", "-new", "-key", f"{certs}/mom-{node}.key", "-subj", f"/CN=mom:{node}", "-out", "request", cwd=work)
    openssl("ca", "-batch", "-config", "conf", "-name", "a", "-cert", f"{ca}/ca.crt", "-keyfile", f"{ca}/ca.key", "-in",
            "request", "-startdate", day(-99), "-enddate", day(1), "-notext", "-out", f"{certs}/mom-{node}.crt", cwd=work)


@bare
def test_a_mom_on_another_host_renews_its_certificate_by_itself(cx):
    conf = another_host(cx, "n9")
    join(cx, conf, token_of(cx, "n9"))
    certs = os.path.join(cx.top, "n9", "certs")
    short_lived(cx, certs, "n9")
    with open(f"{certs}/mom-n9.key", "rb") as f:
        key = f.read()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with open(conf, "a", encoding="ascii") as f:
        f.write(f"PBS_MANAGER_SERVICE_PORT={port}\n")
    env = {k: v for k, v in cx.env.items()} | {"PBS_CONF_FILE": conf}
    mom = subprocess.Popen([f"{cx.build}/sbin/pbs_mom", "-N"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: "its certificate was renewed" in cx.log("server"), "the renewal")
        until(lambda: [s for s, _ in listed(cx, "mom:n9")][-1] in
              openssl("x509", "-in", f"{certs}/mom-n9.crt", "-noout", "-serial").decode(), "the new certificate")
        with open(f"{certs}/mom-n9.key", "rb") as f:
            assert f.read() == key
        assert cx.node("n9").state == "free"
    finally:
        mom.terminate()
        mom.wait(120)


def joined_host_asking_for(cx, name):
    """n9 has joined: its certificates, and a signing request by its key that has this name in it."""
    join(cx, another_host(cx, "n9"), token_of(cx, "n9"))
    certs = os.path.join(cx.top, "n9", "certs")
    return certs, openssl("req", "-new", "-key", f"{certs}/mom-n9.key", "-subj", f"/CN={name}", "-outform", "DER")


@bare
def test_renewal_gives_a_host_its_own_name_only(cx):
    certs, der = joined_host_asking_for(cx, "server")
    with HostOf(cx, "n9", certs) as mom:
        mom.hello()
        code, pem, revoked = mom.certificate(der)
        assert code == 0 and revoked == ""
        with open(f"{cx.top}/made", "w", encoding="ascii") as f:
            f.write(pem)
        assert subject(f"{cx.top}/made") == "mom:n9"
        assert mom.certificate(b"junk")[0] != 0


@bare
def test_a_host_is_renewed_once_an_hour(cx):
    certs, der = joined_host_asking_for(cx, "mom:n9")
    with HostOf(cx, "n9", certs) as mom:
        mom.hello()
        assert mom.certificate(b"junk")[0] != 0
        assert [mom.certificate(der)[0] == 0 for _ in range(5)] == [True] + 4 * [False]
    assert len(listed(cx, "mom:n9")) == 2


@one
def test_renew_keeps_the_key_and_issue_makes_another(cx):
    certs = f"{cx.home}/certs"

    def key():
        with open(f"{certs}/mom-n1.key", "rb") as f:
            return f.read()
    first, n = key(), len(listed(cx, "mom:n1"))
    assert "renewed mom:n1" in keys(cx, "renew").stdout
    assert key() == first and len(listed(cx, "mom:n1")) == n + 1
    keys(cx, "issue", "mom:n1", "--days", "7")
    assert key() != first
    cx.restart("n1")
    until(lambda: cx.node("n1").state == "free", "the MOM with its new key")


# --- revocation


@pytest.mark.complex(nodes=2, sched=False)
def test_a_revoked_host_is_sent_away_at_once_and_does_not_come_back(cx):
    assert "revoked 1 certificate" in keys(cx, "revoke", "mom:n1").stdout
    until(lambda: "down" in cx.node("n1").state, "the end of its connection")
    assert [state for _, state in listed(cx, "mom:n1")] == ["revoked"]
    with pytest.raises((ssl.SSLError, AssertionError, OSError)):
        with Mom(cx, "n1") as mom:
            mom.hello()
    assert cx.node("n2").state == "free"
    cx.wait_log("server", "has been revoked")
    keys(cx, "issue", "mom:n1")
    cx.restart("n1")
    until(lambda: cx.node("n1").state == "free", "the host with another key")
    assert [state for _, state in listed(cx, "mom:n1")] == ["revoked", "valid"]


@bare
def test_a_revoked_host_is_not_renewed_before_its_connection_ends(cx):
    conf = another_host(cx, "n9")
    join(cx, conf, token_of(cx, "n9"))
    certs = os.path.join(cx.top, "n9", "certs")
    der = openssl("req", "-new", "-key", f"{certs}/mom-n9.key", "-subj", "/CN=mom:n9", "-outform", "DER")
    with HostOf(cx, "n9", certs) as mom:
        mom.hello()
        keys(cx, "revoke", "mom:n9")
        try:
            assert mom.certificate(der)[0] != 0
        except (ssl.SSLError, AssertionError, OSError):
            pass  # it has been sent away already
    assert [state for _, state in listed(cx, "mom:n9")] == ["revoked"]


@one
def test_a_damaged_list_is_not_replaced_by_one_that_forgets(cx):
    keys(cx, "revoke", "mom:n1")
    path = f"{cx.home}/certs/ca.crl"
    with open(path, "r+b") as f:
        f.truncate(100)
    for words in (("revoke", "sched"), ("list",)):
        said = keys(cx, *words, check=False)
        assert said.returncode == 1 and "ca.crl is not a list of revoked certificates" in said.stderr
    assert os.stat(path).st_size == 100


@bare
def test_the_log_says_once_what_is_wrong_with_the_list(cx):
    path = f"{cx.home}/certs/ca.crl"

    def said():
        return cx.log("server").count("the earlier list of revoked certificates stays in force")
    for n in (1, 2):
        with open(path, "w", encoding="ascii") as f:
            f.write("damaged" * n)
        until(lambda n=n: said() >= n, "the line")
        for _ in range(3):  # handshakes look at the file too
            keys(cx, "join", "127.0.0.1", "--token", "0" * 64 + "-" + "0" * 32, "--host", "n9", check=False)
        assert said() == n


@bare
def test_a_list_that_hosts_could_not_take_is_refused_when_it_is_made(cx):
    keys(cx, "issue", "mom:n1")
    ca, work = f"{cx.home}/certs", os.path.join(cx.top, "openssl")
    os.makedirs(work)
    with open(f"{work}/index", "w", encoding="ascii") as f:
        for n in range(30000):
            f.write(f"R\t351231235959Z\t261101000000Z\t{0x7000000000000000 + n:016X}\tunknown\t/CN=mom:x\n")
    with open(f"{work}/conf", "w", encoding="ascii") as f:
        f.write("[a]\ndatabase=index\ndefault_md=sha256\ndefault_crl_days=30\n")
    openssl("ca", "-config", "conf", "-name", "a", "-gencrl", "-cert", f"{ca}/ca.crt", "-keyfile", f"{ca}/ca.key", "-out",
            f"{ca}/ca.crl", cwd=work)
    before = os.stat(f"{ca}/ca.crl")
    assert before.st_size > 1 << 20
    refused = keys(cx, "revoke", "mom:n1", check=False)
    assert refused.returncode == 1 and "nothing is revoked" in refused.stderr and "1048576" in refused.stderr
    assert os.stat(f"{ca}/ca.crl").st_ino == before.st_ino
    assert [state for _, state in listed(cx, "mom:n1")] == ["valid"]


@pytest.mark.complex(nodes=2, sched=False)
def test_sisters_send_a_revoked_host_away_too(cx):
    taken = Stranger(cx, "n2", "mom:n1")
    assert taken.letter(1, 1, "nothing", 0) != 0  # it is heard
    keys(cx, "revoke", "mom:n1")
    taken.tls.settimeout(60)
    assert taken.tls.recv(1) == b"", "the MOM of n2 ends the connection"
    with pytest.raises((ssl.SSLError, AssertionError, OSError)):
        Stranger(cx, "n2", "mom:n1").letter(1, 1, "nothing", 0)


def connections_to(port):
    """Of this host's processes, established."""
    with open("/proc/net/tcp", encoding="ascii") as f:
        rows = [line.split() for line in f][1:]
    return sum(row[2].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


@pytest.mark.complex(nodes=2)
def test_a_mom_ends_its_own_connections_to_a_revoked_sister(cx):
    job = start(cx, "pbsdsh -n 1 true; touch done; sleep 600", "2:ncpus=1", l_place="scatter")
    until(lambda: cx.file("done") is not None, "a task on the other host")
    first, other = [c.split("/")[0] for c in cx.stat(job)["exec_host"].split("+")]
    port = Stranger.port(cx, other)
    assert connections_to(port) == 1
    keys(cx, "revoke", f"mom:{other}")
    until(lambda: connections_to(port) == 0, f"the end of the connection of {first}")


@one
def test_revocation_by_serial_and_of_what_is_not_there(cx):
    (serial, _), = listed(cx, "mom:n1")
    keys(cx, "revoke", serial)
    again = keys(cx, "revoke", serial, check=False)
    assert again.returncode == 1 and "pbs_keys list" in again.stderr
    assert keys(cx, "revoke", "mom:nowhere", check=False).returncode == 1


@bare
def test_hosts_hear_what_is_revoked_and_obey_only_what_the_ca_has_signed(cx):
    conf = another_host(cx, "n9")
    join(cx, conf, token_of(cx, "n9"))
    join(cx, another_host(cx, "n8"), token_of(cx, "n8"))
    certs = os.path.join(cx.top, "n9", "certs")
    keys(cx, "revoke", "mom:n8")
    with HostOf(cx, "n9", certs) as mom:
        mom.hello()
        code, pem, revoked = mom.certificate()
    assert code == 0 and pem == "" and revoked.startswith("-----BEGIN X509 CRL-----")
    with open(f"{cx.home}/certs/ca.crl", "w", encoding="ascii") as f:  # no CA has signed this one
        f.write(revoked[:60] + "AAAA" + revoked[64:])
    with HostOf(cx, "n9", certs) as mom:
        assert mom.hello().verdict == ACCEPTED
    with pytest.raises((ssl.SSLError, AssertionError, OSError)):
        with HostOf(cx, "n8", os.path.join(cx.top, "n8", "certs")) as mom:
            mom.hello()


# --- files


@pytest.mark.skipif(os.geteuid() != 0, reason="root reads everything, so another user must try")
@one
def test_certs_is_open_and_keys_are_not_and_errors_are_the_systems(cx):
    from harness import users
    certs = f"{cx.home}/certs"
    assert stat.S_IMODE(os.stat(certs).st_mode) == 0o755
    for name in os.listdir(certs):
        if name.endswith(".key"):
            assert stat.S_IMODE(os.stat(f"{certs}/{name}").st_mode) == 0o600, name
    from harness.remote import login_host
    env = login_host(cx, "login", os.path.join(cx.top, "nowhere"))
    ca = os.path.join(cx.top, "login", "certs", "ca.crt")
    os.chmod(ca, 0o600)
    done = cx.command("qstat", user=users.NAMES[0], env=env, check=False)
    assert done.returncode != 0 and f"cannot read {ca}: Permission denied" in done.stderr


@bare
def test_wrong_arguments_are_named(cx):
    for words, what in ((("issue", "root"), "is not a role"), (("issue",), "say which role"), (("fly",), "say what to do"),
                        (("token", "../x"), "is not the name of a host"), (("issue", "sched", "--days", "0"), "days"),
                        (("join", "127.0.0.1", "--token", "short"), "not a whole token"),
                        (("join", "127.0.0.1"), "--token is missing")):
        done = keys(cx, *words, check=False)
        assert done.returncode == 1 and what in done.stderr, words
