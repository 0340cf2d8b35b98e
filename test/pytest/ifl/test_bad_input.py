"""Whatever comes in from outside: an error that names what is wrong, nothing lost, nobody else disturbed."""
import contextlib
import os
import random
import resource
import socket
import struct

import pytest

from harness import api
from harness.wait import until

WORK = [("Output_Path", "/tmp/o"), ("Error_Path", "/tmp/e")]
IFL, CALL, VERSION = 0x20000050, 0, 1
PROCEDURES = [1, 3, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 23, 50, 51, 58, 71, 80, 81, 82,
              83, 93, 96, 97, 98, 100, 200, 201]


@pytest.fixture(autouse=True)
def nobody_else_is_disturbed(place):
    """The same server process goes on serving a connection that was there before."""
    bystander, pid = place.connect(), place.pid("server")
    yield
    assert bystander.stat("server")[0]["server_state"]
    assert place.pid("server") == pid != 0
    bystander.close()


def refused(code, call, *args, **named):
    with pytest.raises(api.PbsError) as e:
        call(*args, **named)
    assert e.value.code in (code if isinstance(code, tuple) else (code,)), e.value
    return e.value


def submit(cx, *attrs, script="true", queue=None):
    return cx.api.submit([*WORK, *attrs], cx.script(script), queue)


# --- attributes

@pytest.mark.parametrize("name,value,code", [
    ("colour", "red", 15002), ("Job_State", "R", 15003), ("Priority", "high", 15014),
    ("Priority", "1024", 15014), ("Priority", "-1025", 15014), ("Priority", "99999999999999999999", 15014),
    ("Priority", "", None), ("Hold_Types", "x", 15014), ("Hold_Types", "uu?", 15014), ("Rerunable", "maybe", 15014),
    ("Execution_Time", "tomorrow", 15014), ("Execution_Time", "-5", 15014), ("Join_Path", "xy", 15014),
    ("Keep_Files", "q", 15014), ("Mail_Points", "zz", 15014), ("Checkpoint", "c=", 15014),
    ("Checkpoint", "sometimes", 15014), ("umask", "9", 15014), ("umask", "7777", 15014), ("sandbox", "BOX", 15014),
    ("Job_Name", "n" * 231, 15173), ("project", "a/b", 15014), ("project", 'quo"te', 15014),
    ("tolerate_node_failures", "some", 15014), ("run_count", "-1", 15014),
    ("Remove_Files", "x", 15014), ("eligible_time", "x", (15003, 15014)),
])
def test_a_bad_attribute_is_refused_by_name(place, name, value, code):
    if code is None:
        submit(place, (name, value))
        return
    error = refused(code, submit, place, (name, value))
    assert error.attributes and error.attributes[0][0] == name
    assert name.lower() in error.text.lower()


@pytest.mark.parametrize("name,value,code", [
    ("bananas", "3", 15035), ("ncpus", "many", 15014), ("ncpus", "-1", 15014), ("ncpus", "1.5", 15014),
    ("ncpus", "99999999999999999999", 15014), ("mem", "lots", 15014), ("mem", "-1gb", 15014),
    ("mem", "99999999999999999999gb", 15014), ("mem", "999999999999pb", 15014), ("mem", "1zb", 15014),
    ("walltime", "soon", 15014), ("walltime", "1:2:3:4:5", 15014), ("walltime", "-1", 15014),
    ("walltime", "99999999999999999:00:00", 15014),
])
def test_a_bad_resource_is_refused_by_name(place, name, value, code):
    error = refused(code, submit, place, ("Resource_List", name, value))
    assert name in error.text or any(name in (a[1] or "") for a in error.attributes), error


THREE_WRONG = [("Priority", None, "9999"), ("project", None, "good"), ("bogus", None, "3"), ("Resource_List", "ncpus", "x")]
THEIR_CODES = [("Priority", None, 15014), ("bogus", None, 15002), ("Resource_List", "ncpus", 15014)]


def all_named(call, *args):
    e = refused(15014, call, *args)
    assert [(name, resource, code) for name, resource, code, _ in e.attributes] == THEIR_CODES
    assert e.attributes[0][3] == e.text and "bogus" in e.attributes[1][3] and "'x'" in e.attributes[2][3]


def test_every_wrong_attribute_of_a_submission_or_an_alteration_is_named(place):
    all_named(place.api.submit, THREE_WRONG, None)
    job = place.submit("true", Hold_Types="u")
    all_named(place.api.alter, job, THREE_WRONG)
    assert place.stat(job)["project"] == "_pbs_project_default"


def test_commands_print_a_line_for_every_wrong_attribute(place):
    said = ("Priority: Illegal attribute or resource value: '9999': must be -1024 to 1023", "Undefined attribute  bogus")
    done = place.command("qsub", "-W", "Priority=9999,bogus=3", place.script("true"), check=False)
    assert done.stderr == "".join(f"qsub: {text}\n" for text in said) and done.returncode == 15014 % 256
    job = place.submit("true", Hold_Types="u")
    done = place.command("qalter", "-W", "Priority=9999,bogus=3", job, check=False)
    assert done.stderr == "".join(f"qalter: {text} {job}\n" for text in said)
    place.make_queue("named")
    done = place.command("qmgr", "-c", "set queue named Priority=9999,bogus=3", check=False)
    assert done.stderr == "".join(f"qmgr obj=named svr=default: {text}\n" for text in said) + "qmgr: Error (15014) returned from server\n"


def test_a_node_state_beside_a_wrong_attribute_is_not_reported_as_wrong(place):
    place.api.manager(api.CREATE, api.NODE, "named")
    e = refused(15014, place.api.manager, api.MSET, api.NODE, "named",
                [("state", None, "offline"), ("Priority", None, "x"), ("bogus", None, "1")])
    assert [name for name, *_ in e.attributes] == ["Priority", "bogus"]


def test_a_resource_attribute_needs_a_resource(place):
    assert "Resource_List" in refused((15002, 15014), submit, place, ("Resource_List", "4")).text


@pytest.mark.parametrize("select,code", [
    ("", 0), ("1:ncpus", 15014), ("0:ncpus=1", 15014), ("-1:ncpus=1", 15014), ("1:ncpus=x", 15014), (":", 15014),
    ("1:", 15014), ("+", 15014), ("1:ncpus=1+", 15014), ("ncpus=1:", 15014), ("1:ncpus=1:ncpus=2", 15116),
    ("1:bananas=2", 15035), ("1:walltime=60", 15108), ("99999999999999999999:ncpus=1", 15014),
    ("9223372036854775807:ncpus=9223372036854775807", 15014), ("1:mem=99999999999pb", 15014),
    ("1:ncpus=1 2:ncpus=2", 15116), ("1:ncpus=1;rm", 15014), ("2147483647:ncpus=2147483647:mem=1000tb", 15014),
    ("1:host=a'b", 15014), ("1:host='a b'", 0), ("+".join(["1:ncpus=1"] * 5000), 0),
])
def test_a_bad_select_is_refused(place, select, code):
    if code == 0:
        submit(place, ("Resource_List", "select", select))
    else:
        refused(code, submit, place, ("Resource_List", "select", select))


@pytest.mark.parametrize("attrs,code", [
    ([("select", "1:ncpus=1"), ("ncpus", "2")], 15109), ([("place", "scatter")], 15111),
    ([("nodes", "2"), ("select", "1")], 15110), ([("nodes", "2:ppn=x")], 15014), ([("nodes", "")], 0),
    ([("select", "1"), ("place", "pack:nowhere")], 15014), ([("select", "1"), ("place", "free:group=")], 15014),
    ([("preempt_targets", "queue=workq")], 0), ([("preempt_targets", "None")], 0),
    ([("preempt_targets", "queue=nowhere")], 15018), ([("preempt_targets", "bananas=1")], (15014, 15035)),
    ([("preempt_targets", "Resource_List.bananas=1")], 15035),
    ([("preempt_targets", "Resource_List.ncpus=4")], 0),
    ([("preempt_targets", "None,queue=workq")], 15014), ([("preempt_targets", "queue")], 15014),
])
def test_requests_that_do_not_fit_together_are_refused(place, attrs, code):
    items = [("Resource_List", n, v) for n, v in attrs]
    if code == 0:
        submit(place, *items)
    else:
        refused(code, submit, place, *items)


@pytest.mark.parametrize("text", ["", "X", "SS", "SCRX", "S C", "S -1 C", "S 50", "50 S", "S 50 60 C",
                                  "S 50% C", "s", "SCRDS", "S x C", "S\n", "S" * 100000])
def test_a_bad_preempt_order_is_refused(place, text):
    if text == "":
        return place.set_sched("preempt_order", text)
    assert "preempt_order" in refused(15014, place.set_sched, "preempt_order", text).text
    assert place.api.stat("sched")[0]["preempt_order"] == "SCR"
    return None


@pytest.mark.parametrize("name,value,code", [
    ("preempt_prio", "royal_jobs", 15014), ("preempt_prio", "", 0), ("preempt_sort", "max_anger", 15014),
    ("preempt_queue_prio", "x", 15014), ("job_run_wait", "ever", 15014), ("sched_cycle_length", "-1", 15014),
    ("scheduler_iteration", "0", 15014),
])
def test_a_bad_scheduler_attribute_is_refused(place, name, value, code):
    if code:
        assert name in refused(code, place.set_sched, name, value).text
    else:
        place.set_sched(name, value)


# --- names and texts

ODD = ['with "quotes"', "with 'quotes'", "a\nb", "tab\there", "semi;colon", "back\\slash", "per%scent%n", "ünïcödé",
       "x" * 200, "$(reboot)", "`id`", "{json}", "comma,comma", "DROP TABLE job;--"]


@pytest.mark.parametrize("text", ODD)
def test_any_text_comes_back_as_it_was_given(place, text):
    job = submit(place, ("Account_Name", text))
    place.api.alter(job, [("comment", text)])
    status = place.stat(job)
    assert status["Account_Name"] == text and status["comment"] == text
    place.set_server("comment", text)
    assert place.api.stat("server")[0]["comment"] == text


@pytest.mark.parametrize("name", ["two words", "new\nline", "tab\t", ""])
def test_an_odd_job_name_is_taken_or_refused_but_never_mangled(place, name):
    try:
        job = submit(place, ("Job_Name", name))
    except api.PbsError as e:
        assert e.code == 15014 and "Job_Name" in e.text
    else:
        assert place.stat(job)["Job_Name"] == (name or "none")


def test_bytes_that_are_no_text_come_back_as_they_were_given(place):
    job = submit(place, ("Account_Name", b"\xff\xfe\x80 latin"))
    assert place.stat(job)["Account_Name"].encode(errors="surrogateescape") == b"\xff\xfe\x80 latin"


@pytest.mark.complex(nodes=0, sched=False, history=True)
def test_any_text_outlives_a_killed_server(cx):
    texts = [*ODD, "\udcff\udcfe latin"]
    jobs = {submit(cx, ("Account_Name", t.encode(errors="surrogateescape"))): t for t in texts}
    gone = {submit(cx, ("Account_Name", t.encode(errors="surrogateescape"))): t for t in texts}
    cx.api.delete_list(list(gone))
    cx.kill("server")
    cx.restart("server")
    cx.again()
    for job, t in {**jobs, **gone}.items():
        assert cx.api.stat("job", job, extend="x")[0]["Account_Name"] == t


@pytest.mark.parametrize("job", ["", "abc", "-1", "1.2.3.4", "99999999999999999999999", "1[", "1[]", "1[5]", "1[a]",
                                 "1 2", "0x10", "1." + "h" * 600, "%n%n", "\n", "1@", "1@elsewhere", "@"])
def test_a_bad_job_identifier_is_refused_everywhere(place, job):
    codes = (15001, 15004, 15014, 15018, 15029, 15031, 15034, 15062)
    for call in (place.api.delete, place.api.hold, place.api.release, place.api.locate):
        refused(codes, call, job)
    refused(codes, place.api.alter, job, [("Priority", "1")])
    if job not in ("", "@"):
        with contextlib.suppress(api.PbsError):
            assert place.api.stat("job", job) == []


def test_bad_questions_are_refused(place):
    assert "colour" in refused(15002, place.api.stat, "job", None, ["colour"]).text
    assert "bananas" in refused(15035, place.api.stat, "job", None, [("Resource_List", "bananas")]).text
    assert "colour" in refused(15002, place.api.select, [("colour", None, "red", api.EQ)]).text
    refused(15014, place.api.select, [("Priority", None, "red", api.EQ)])
    refused(15014, place.api.select, [("job_state", None, "?", api.EQ)])
    refused((15004, 15014), place.api.select, [("Priority", None, "1", api.SET)])
    refused((15004, 15029), place.api.manager, 77, api.QUEUE, "workq")
    refused((15004, 15029), place.api.manager, api.MSET, 77, "x", [("a", "b")])
    refused((15004, 15014), place.api.manager, api.MSET, api.QUEUE, "workq", [("Priority", None, "1", 42)])
    refused((15004, 15018), submit, place, queue="q" * 400)
    refused(15018, submit, place, queue="nowhere")
    refused((15004, 15014), place.api.hold, submit(place), "z")
    refused((15004, 15013, 15016), place.api.signal, submit(place), "NOSUCHSIGNAL")
    refused(15004, place.api.terminate, 7)


# --- sizes

def test_one_value_may_be_large_and_not_endless(place):
    job = submit(place, ("Variable_List", ",".join(f"X{i}=" + "v" * 100_000 for i in range(5))))
    assert len(place.stat(job)["Variable_List"]) > 500_000
    with pytest.raises(api.PbsError):
        submit(place, ("Variable_List", ",".join(f"X{i}=" + "v" * 100_000 for i in range(20))))


def test_a_job_that_grows_by_alterations_does_so_within_a_bound(place):
    """Beyond it the job's row could not be written, and nobody's change would be answered any more."""
    job = submit(place, ("Account_Name", "a"))
    for name in ["Account_Name", "Output_Path", "Error_Path", "gridname"]:
        place.api.alter(job, [(name, None, "a" * 1_000_000)])
    refused(15014, place.api.alter, job, [("Mail_Users", None, "m" * 300_000)])
    assert "4194304" in refused(15014, place.api.alter, job, [("Resource_List", "software", "s" * 300_000)]).text
    place.api.alter(job, [("gridname", None, "g")])
    place.api.alter(job, [("Mail_Users", None, "m" * 300_000)])
    assert submit(place)


def test_too_many_attributes_are_refused(place):
    many = [("Resource_List", "ncpus", "1")] * 5000
    with pytest.raises(api.PbsError):
        submit(place, *many)


def big_file(cx, size):
    path = os.path.join(cx.work, "big.sh")
    with open(path, "wb") as f:
        f.write(b"#!/bin/sh\nexit 0\n")
        block = os.urandom(1 << 20)
        while f.tell() < size:
            f.write(block[:size - f.tell()])
    return path


def test_a_script_of_100_mb_is_taken_and_one_byte_more_is_not(place):
    path = big_file(place, 100 << 20)
    assert place.state(place.api.submit(WORK, path)) == "Q"
    with open(path, "ab") as f:
        f.write(b"!")
    before = place.api.select()
    assert "104857601" in refused(15175, place.api.submit, WORK, path).text
    assert place.api.select() == before
    os.unlink(path)


def test_the_largest_script_has_its_own_bound(place):
    assert "jobscript_max_size" in refused(15176, place.set_server, "jobscript_max_size", "3gb").text
    place.set_server("jobscript_max_size", "1kb")
    refused(15175, submit, place, script="#" * 2000)
    place.api.manager(api.MUNSET, api.SERVER, "", [("jobscript_max_size", None, "")])


def test_a_script_that_is_not_a_regular_file_is_refused(place):
    for path in (place.work, "/nonexistent", "/dev/zero"):
        with pytest.raises(api.PbsError):
            place.api.submit(WORK, path)


# --- the wire

def u32(n):
    return struct.pack(">I", n & 0xFFFFFFFF)


def text(s):
    raw = s if isinstance(s, bytes) else s.encode()
    return u32(len(raw)) + raw + b"\0" * (-len(raw) % 4)


def record(body, last=True):
    return u32((0x80000000 if last else 0) | len(body)) + body


def call(proc, args=b"", xid=7, program=IFL, version=VERSION, rpc=2):
    return record(u32(xid) + u32(CALL) + u32(rpc) + u32(program) + u32(version) + u32(proc) + u32(0) * 4 + args)


class Wire:
    """A connection that says what it likes."""

    def __init__(self, cx, tcp=False):
        if tcp:
            self.s = socket.create_connection(("127.0.0.1", port_of(cx)), timeout=120)
        else:
            self.s = socket.socket(socket.AF_UNIX)
            self.s.settimeout(120)
            self.s.connect(os.path.join(cx.home, "pbs_server.sock"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.s.close()

    def end(self):
        """No more will be sent."""
        with contextlib.suppress(OSError):
            self.s.shutdown(socket.SHUT_WR)

    def send(self, data):
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.s.sendall(data)

    def read(self, n):
        data = b""
        with contextlib.suppress(ConnectionResetError):
            while len(data) < n:
                more = self.s.recv(n - len(data))
                if not more:
                    break
                data += more
        return data

    def reply(self):
        """The body of one record, or None when the server has closed."""
        mark = self.read(4)
        return self.read(struct.unpack(">I", mark)[0] & 0x7FFFFFFF) if len(mark) == 4 else None

    def is_closed(self):
        """Waits until the server has closed the connection, whatever it says before."""
        with contextlib.suppress(ConnectionResetError):
            while self.s.recv(65536):
                pass
        return True


def port_of(cx):
    with open(cx.conf, encoding="ascii") as f:
        return int(next(line for line in f if "SERVICE_PORT" in line).split("=")[1])


def accept_state(body):
    """(reply_stat, accept_stat) of a reply; of a denied one (reply_stat, reject_stat)."""
    words = struct.unpack(f">{len(body[:24]) // 4}I", body[:24])
    assert words[1] == 1, "a reply"
    return words[2], words[5 if words[2] == 0 else 3]


@pytest.fixture(params=["unix", "tcp"])
def wire(request, place):
    with Wire(place, tcp=request.param == "tcp") as w:
        yield w


def test_procedure_0_is_answered_to_everybody(wire):
    wire.send(call(0))
    assert accept_state(wire.reply()) == (0, 0)


@pytest.mark.parametrize("proc", PROCEDURES)
def test_without_identity_tcp_gets_procedure_0_and_nothing_else(place, proc):
    with Wire(place, tcp=True) as w:
        w.send(call(proc, u32(0) * 64))
        body = w.reply()
        assert body is None or accept_state(body) == (1, 1), "denied with AUTH_ERROR"


def test_an_unknown_program_version_and_procedure_are_named_as_such(place):
    with Wire(place) as w:
        for args, state in ((dict(program=1), 1), (dict(version=9), 2), (dict(proc=12345), 3)):
            w.send(call(**{"proc": 19, **args}))
            assert accept_state(w.reply()) == (0, state)


def test_arguments_that_cannot_be_decoded_are_refused_and_that_is_all(place):
    with Wire(place) as w:
        w.send(call(19, b""))
        body = w.reply()
        assert body is None or accept_state(body) == (0, 4)


def test_another_rpc_version_is_denied(place):
    with Wire(place) as w:
        w.send(call(0, rpc=3))
        body = w.reply()
        assert body is None or accept_state(body)[0] == 1


BROKEN = {
    "text": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a length of 2 GB": u32(0xFFFFFFFF),
    "a record that never ends": b"".join(record(b"\0" * 65536, last=False) for _ in range(2000)),
    "no bytes": record(b""),
    "a reply nobody asked for": record(u32(99) + u32(1) + u32(0) * 4),
    "half a header": record(u32(7) + u32(0)),
    "a strange message type": record(u32(7) + u32(5) + u32(0) * 8),
    "an endless credential": record(u32(7) + u32(0) + u32(2) + u32(IFL) + u32(1) + u32(19) + u32(0) +
                                    u32(0xFFFFFFFF) + u32(0) * 4),
    "a string longer than the message": call(19, u32(0x7FFFFFFF) + b"x" * 64),
    "a string longer than allowed": call(6, text("x" * 600) + text("") + u32(0)),
    "a zero byte in a string": call(6, text(b"1\0.x") + text("") + u32(0)),
    "a list of four billion": call(100, u32(0xFFFFFFFF)),
    "many empty fragments": u32(0) * 100000,
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_message_costs_its_sender_the_connection_or_an_error(wire, what):
    wire.send(BROKEN[what])
    wire.end()
    assert wire.is_closed()


@pytest.mark.parametrize("seed", range(8))
def test_random_bytes_do_no_harm(place, seed):
    rng = random.Random(seed)
    for tcp in (False, True):
        with Wire(place, tcp=tcp) as w:
            w.send(rng.randbytes(rng.randint(1, 5000)))
            w.end()
            assert w.is_closed()


@pytest.mark.parametrize("proc", [p for p in PROCEDURES if p != 17])
def test_random_arguments_of_a_procedure_do_no_harm(place, proc):
    rng = random.Random(proc)
    names = ["", "1", "workq", "Priority", "x" * 50, "a,b", "None", "Resource_List", "ncpus", "u", "*"]
    for _ in range(60):
        with Wire(place) as w:
            parts = [rng.choice([lambda: u32(rng.choice([0, 1, 2, 3, 7, 0xFFFFFFFF, 0x7FFFFFFF])),
                                 lambda: text(rng.choice(names)), lambda: u32(0) * 4,
                                 lambda: rng.randbytes(rng.randint(0, 30) * 4)])()
                     for _ in range(rng.randint(0, 12))]
            w.send(call(proc, b"".join(parts) + u32(0) * rng.choice([0, 1, 8])))
            w.end()
            assert w.is_closed()


def test_a_message_in_single_bytes_is_understood(place):
    with Wire(place) as w:
        w.s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        for byte in call(21, text("") + u32(0) + text("") + u32(0)):
            w.send(bytes([byte]))
        assert accept_state(w.reply()) == (0, 0)


def test_a_message_in_many_fragments_is_understood(place):
    body = call(21, text("") + u32(0) + text("") + u32(0))[4:]
    with Wire(place) as w:
        pieces = [body[i:i + 4] for i in range(0, len(body), 4)]
        w.send(b"".join(record(p, last=i == len(pieces) - 1) for i, p in enumerate(pieces)))
        assert accept_state(w.reply()) == (0, 0)


def test_half_open_connections_do_not_delay_other_clients(place):
    with contextlib.ExitStack() as stack:
        for i in range(200):
            w = stack.enter_context(Wire(place, tcp=i % 2 == 0))
            w.send(call(19)[:4 + i % 40])
        job = submit(place)
        assert place.state(job) == "Q"


def test_a_client_that_does_not_read_its_answers_does_not_delay_others(place):
    for _ in range(200):
        submit(place, ("Variable_List", "X=" + "v" * 20000))
    with Wire(place) as w:
        for xid in range(20):
            w.send(call(19, text("") + u32(0) + text("") + u32(0), xid=xid))
        assert submit(place)
    place.clean()


def test_2000_idle_connections_do_not_delay_other_clients(place):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip(f"only {hard} open files allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    with contextlib.ExitStack() as stack:
        for i in range(2000):
            stack.enter_context(Wire(place, tcp=i % 2 == 0))
        assert place.state(submit(place)) == "Q"
        with Wire(place) as w:
            w.send(call(0))
            assert accept_state(w.reply()) == (0, 0)
    c = place.connect()
    until(lambda: c.stat("server"), "the server to serve on")
    c.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_script_that_never_comes_to_its_end_is_a_job_in_transit_that_can_be_deleted(place):
    token, attrs = os.urandom(16), u32(0)
    before = place.api.select()
    with Wire(place) as w:
        w.send(call(1, token + text("") + attrs + struct.pack(">Q", 200_000) + u32(0) + text("") + u32(0)))
        body = w.reply()
        assert accept_state(body) == (0, 0)
    (arriving,) = set(place.api.select()) - set(before)
    assert place.state(arriving) == "T"
    place.api.delete(arriving)
    assert place.api.select() == before
    total = place.api.stat("server")[0]["total_jobs"]
    assert int(total) == len(before)


def test_a_token_that_comes_again_is_the_same_job(place):
    token = os.urandom(16)
    one = call(1, token + text("") + u32(0) + struct.pack(">Q", 4) + text("true") + text("") + u32(0))
    with Wire(place) as w:
        w.send(one)
        first = w.reply()
    with Wire(place) as w:
        w.send(one)
        second = w.reply()
    assert first == second and place.api.select().count(place.api.select()[-1]) == 1
