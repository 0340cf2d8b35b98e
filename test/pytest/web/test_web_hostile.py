"""Clients that do not keep to the rules cost what they may cost, and no other client waits for them."""
import contextlib
import resource
import socket
import threading

import pytest

from harness import users
from harness.complex import Complex
from harness.wait import until
from harness.web import Web


@pytest.fixture(scope="module")
def web():
    c = Complex(nodes=0, sched=False).start()
    w = Web(c)
    yield w
    assert w.process.poll() is None, w.said()
    assert w.stop() == 0
    c.stop()


def connect(web):
    return socket.create_connection(("127.0.0.1", web.port), timeout=120)


def answer(web, data):
    """What comes back for these bytes until the other end closes, or nothing comes for a moment after a whole head."""
    with connect(web) as s:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            s.sendall(data)
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while b"\r\n\r\n" not in got and (piece := s.recv(65536)):
                got += piece
    return got


def head(web, line="GET /api/v1/server HTTP/1.1", more=""):
    return f"{line}\r\nHost: 127.0.0.1:{web.port}\r\nAuthorization: Bearer {web.token}\r\n{more}\r\n".encode()


def is_well(web):
    return web.ask("/api/v1/server").status == 200


NAMING = ("Remote-User", "X-Remote-User", "X-Forwarded-User", "X-Forwarded-Preferred-Username", "X-Auth-Request-User", "REMOTE_USER", "From", "X-User")


def test_a_header_that_names_a_user_opens_nothing_and_changes_nothing(web):
    """A client says that a proxy has found out who asks. With a token it is who made the token, else no user."""
    claims = {name: "root" for name in NAMING}
    for token in ("", "cede_wrong"):
        a = web.ask("/api/v1/server", token=token, headers=claims)
        assert a.status in (401, 429) and b"attributes" not in a.body, a
    a = web.ask("/api/v1/server", token="", headers={**claims, "Authorization": "Basic cm9vdDpyb290"})
    assert a.status in (401, 429) and "Basic" not in a.headers.get("WWW-Authenticate", ""), a
    body = {"script": "true\n", "attributes": {"Hold_Types": "u", "Job_Name": "x"}}
    made = web.ask("/api/v1/jobs", "POST", body=body, headers={name: users.NAMES[0] for name in NAMING})
    job = web.get(f"/api/v1/jobs/{made.json()['id']}")
    assert job["attributes"]["Job_Owner"].split("@")[0] == users.me()


@pytest.mark.parametrize("name, data", [
    ("a long line", lambda w: b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n"),
    ("a long header", lambda w: head(w, more="X: " + "a" * 100000 + "\r\n")),
    ("many headers", lambda w: head(w, more="".join(f"X-{i}: y\r\n" for i in range(20000)))),
    ("no HTTP", lambda w: b"\x00\x01\x02\x03" * 100 + b"\r\n\r\n"),
    ("TLS where there is none", lambda w: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 64 + b"\r\n\r\n"),
    ("a negative length", lambda w: head(w, "POST /api/v1/jobs HTTP/1.1", "Content-Length: -1\r\n")),
    ("a huge length", lambda w: head(w, "POST /api/v1/jobs HTTP/1.1", "Content-Length: 99999999999999999999999\r\n")),
    ("no host", lambda w: b"GET /api/v1/server HTTP/1.1\r\n\r\n"),
    ("an old version", lambda w: b"GET /api/v1/server HTTP/0.9\r\n\r\n")])
def test_a_bad_request_ends_its_own_connection(web, name, data):
    got = answer(web, data(web))
    assert not got or got.split()[1][:1] in (b"4", b"5"), (name, got[:200])
    assert is_well(web)


def test_a_body_is_bounded(web):
    big = b'{"script":"' + b"a" * (5 << 20) + b'"}'
    with contextlib.suppress(ConnectionError):
        assert web.ask("/api/v1/jobs", method="POST", body=big).status == 413
    with contextlib.suppress(ConnectionError):
        assert web.ask("/api/v1/server", method="GET", body=b"x" * 1000).status == 413
    assert is_well(web)


def test_a_body_without_end_is_bounded(web):
    with connect(web) as s:
        s.sendall(head(web, "POST /api/v1/jobs HTTP/1.1", "Transfer-Encoding: chunked\r\n"))
        with contextlib.suppress(OSError):
            for _ in range(200):
                s.sendall(b"10000\r\n" + b"a" * 65536 + b"\r\n")
            s.sendall(b"0\r\n\r\n")
        got = b""
        with contextlib.suppress(OSError):
            got = s.recv(65536)
    assert not got or b" 413 " in got
    assert is_well(web)


def test_slow_heads_are_ended_and_hold_up_no_other_client(web):
    """Each sends a byte now and then, which would put off a limit that begins again with each byte."""
    slow = [connect(web) for _ in range(50)]
    ended = threading.Event()

    def drip():
        while not ended.wait(0.3):
            for s in slow:
                with contextlib.suppress(OSError):
                    s.sendall(b"G")
    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    try:
        assert is_well(web)
        for s in slow:
            s.settimeout(60)
            with contextlib.suppress(ConnectionResetError):
                while s.recv(65536):
                    pass
        assert is_well(web)
    finally:
        ended.set()
        thread.join()
        for s in slow:
            s.close()


def test_a_thousand_connections_at_once_are_served(web):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2500:
        pytest.skip(f"this account may open {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2500), hard))
    many = []
    try:
        for _ in range(1000):
            many.append(connect(web))
            many[-1].sendall(head(web))  # at once: a connection without one has ten seconds, and these may take longer
        assert is_well(web)
        for s in many:
            assert s.recv(15) == b"HTTP/1.1 200 OK"
    finally:
        for s in many:
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert is_well(web)


def test_streams_are_bounded_and_given_back(web):
    opened = []
    try:
        for _ in range(256):
            s = connect(web)
            s.sendall(head(web, "GET /api/v1/events HTTP/1.1"))
            opened.append(s)
        for s in opened:
            assert s.recv(15) == b"HTTP/1.1 200 OK"
        assert web.ask("/api/v1/events?wait=0").status == 503
    finally:
        for s in opened:
            s.close()
    job = web.cx.submit("sleep 600")  # a change: those that are gone are found
    until(lambda: web.ask("/api/v1/events?wait=0").status == 200, "room for a stream")
    web.cx.api.delete(job)


def test_wrong_tokens_are_slowed_and_the_right_one_is_not(web):
    seen = {web.ask("/api/v1/server", token=f"cede_{i:064x}").status for i in range(60)}
    assert seen == {401, 429}
    assert is_well(web)
