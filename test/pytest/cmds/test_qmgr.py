"""qmgr for people: configuration as text, help that knows the attributes, and the keys of a terminal."""
import json
import os
import pty
import select
import subprocess
import time

import pytest

from harness.wait import LIMIT_S


def diff(cx, text, word="diff", check=True):
    return cx.command("qmgr", "-c", f"{word} -", stdin=text, check=check)


@pytest.mark.complex(nodes=0, sched=False)
def test_each_c_on_the_command_line_is_done_in_its_order(cx):
    words = ("-c", "create queue one queue_type=e", "-c", "set queue one Priority=x", "-c", "set queue one Priority=7")
    done = cx.command("qmgr", *words, check=False)
    assert (done.returncode, cx.api.stat("que", "one")[0]["Priority"]) == (15014 % 256, "7")
    cx.command("qmgr", "-c", "unset queue one Priority", check=True)
    done = cx.command("qmgr", "-a", *words[2:], check=False)
    assert done.returncode and "Priority" not in cx.api.stat("que", "one")[0]


# --- lists in JSON

def listed(cx, *lines, **how):
    """The documents that these lines print, one after another."""
    text = cx.command("qmgr", "-F", "json", *(word for line in lines for word in ("-c", line)), **how).stdout
    documents, at = [], 0
    while at < len(text):
        one, at = json.JSONDecoder().raw_decode(text, at)
        documents.append(one)
        at += text[at] == "\n"
    return documents


@pytest.mark.complex(nodes=2, sched=True)
def test_a_list_in_json_shows_objects_as_qstat_and_pbsnodes_do(cx):
    cx.qmgr("create resource lic type=long,flag=q", "set queue workq max_run=[u:PBS_GENERIC=2]", "set queue workq resources_max.ncpus=3")
    (queues,) = listed(cx, "list queue workq")
    assert queues["Queue"] == json.loads(cx.command("qstat", "-Q", "-f", "-F", "json", "workq").stdout)["Queue"]
    assert queues["Queue"]["workq"]["resources_max"] == {"ncpus": 3} and queues["pbs_server"] and queues["timestamp"]
    (nodes,) = listed(cx, "list node @default")
    shown = json.loads(cx.command("pbsnodes", "-a", "-F", "json").stdout)["nodes"]
    assert {name: node["resources_available"] for name, node in nodes["nodes"].items()} == \
        {name: node["resources_available"] for name, node in shown.items()}
    (server,) = listed(cx, "list server")
    assert list(server["Server"].values())[0]["default_queue"] == "workq"
    (scheds,) = listed(cx, "list sched")
    assert scheds["Sched"]["default"]["state"]
    (resources,) = listed(cx, "list resource")
    assert resources["Resource"] == {"lic": {"type": "long", "flag": "q"}}


@pytest.mark.complex(nodes=0, sched=False)
def test_a_line_is_a_document_and_what_there_is_not_is_an_error(cx):
    cx.qmgr("create queue second queue_type=e")
    both, hooks = listed(cx, "list queue workq,second queue_type", "list hook")
    assert both["Queue"] == {"workq": {"queue_type": "Execution"}, "second": {"queue_type": "Execution"}}
    assert hooks["Hook"] == {}
    assert listed(cx, "list queue nosuch", check=False) == []
    assert "create queue second" in cx.command("qmgr", "-F", "json", "-c", "print queue second").stdout
    assert cx.command("qmgr", "-F", "yaml", "-c", "list server", check=False).returncode != 0


# --- configuration as text

@pytest.mark.complex(nodes=2, sched=False)
def test_qmgr_finds_no_difference_between_the_server_and_its_own_print(cx):
    cx.qmgr("create resource lic type=long,flag=q", "create resource gpu type=long,flag=nh",
            "set server resources_available.lic=7", "set queue workq max_run=[u:PBS_GENERIC=2]",
            "set queue workq acl_users=anna,acl_users+=bert", "set node n1 resources_available.gpu=2")
    for what in ("server", "sched default", "node @default"):
        text = cx.qmgr(f"print {what}")
        done = diff(cx, text)
        assert (done.returncode, done.stdout) == (0, ""), text


@pytest.mark.complex(nodes=1, sched=False)
def test_diff_shows_lines_that_qmgr_takes_and_changes_nothing(cx):
    wanted = ("create queue fast queue_type=execution,Priority=200,enabled=t,started=t\n"
              "set server scheduler_iteration = 300\n")
    before = cx.qmgr("print server")
    done = diff(cx, wanted, check=False)
    assert done.returncode == 1
    assert done.stdout == ("create queue fast\nset queue fast queue_type = Execution\nset queue fast Priority = 200\n"
                           "set queue fast enabled = True\nset queue fast started = True\n"
                           "# was 600\nset server scheduler_iteration = 300\n")
    assert cx.qmgr("print server") == before
    cx.command("qmgr", stdin=done.stdout)
    assert diff(cx, wanted).stdout == ""


@pytest.mark.complex(nodes=1, sched=False)
def test_apply_makes_it_so_and_says_what_it_did(cx):
    wanted = ("create resource gpu type=long,flag=hn\ncreate queue gpu queue_type=e,resources_max.gpu=4\n"
              "set server default_queue=gpu\nset node n1 resources_available.gpu=2\ndelete queue workq\n")
    done = diff(cx, wanted, "apply")
    assert done.stdout.endswith("delete queue workq\n# 5 changes made\n")
    assert [q.name for q in cx.api.stat("que")] == ["gpu"]
    assert cx.node()["resources_available"]["gpu"] == "2"
    assert cx.api.stat("server")[0]["default_queue"] == "gpu"
    again = diff(cx, wanted, "apply")
    assert again.stdout == "# 0 changes made\n"


@pytest.mark.complex(nodes=0, sched=False)
def test_an_attribute_that_a_created_object_does_not_name_goes_back_to_its_default(cx):
    cx.qmgr("set queue workq Priority=9,max_queuable=5", "set server comment=mine")
    text = "create queue workq\nset queue workq queue_type=e,enabled=t,started=t\nset server scheduler_iteration=60\n"
    diff(cx, text, "apply")
    queue = cx.api.stat("que", "workq")[0]
    assert "Priority" not in queue and "max_queuable" not in queue
    assert cx.api.stat("server")[0]["comment"] == "mine"


@pytest.mark.complex(nodes=0, sched=False)
def test_a_file_with_wrong_lines_changes_nothing_and_names_them_all(cx):
    before = cx.qmgr("print server")
    done = diff(cx, "set server scheduler_iteration = 60\nset queue nix Priority=1\nset server scheduler_iteration=x\n"
                    "frob\nset server total_jobs=3\nlist server\ncreate server s2\nset queue workq Priority=1\ncreate queue workq\n",
                "apply", check=False)
    lines = done.stderr.splitlines()
    assert done.returncode == 2
    assert [line.split(": ")[0] for line in lines] == ["-:2", "-:3", "-:4", "-:5", "-:6", "-:7", "-:9", "qmgr"]
    assert "no queue nix" in lines[0] and "scheduler_iteration" in lines[1] and '"frob"' in lines[2]
    assert "a configuration has lines that create, set, unset or delete" in lines[4] and "create comes first, once" in lines[6]
    assert lines[-1] == "qmgr: - has 7 wrong lines; nothing has changed"
    assert cx.qmgr("print server") == before


@pytest.mark.complex(nodes=0, sched=False)
def test_earlier_steps_are_undone_when_the_server_refuses_a_later_one(cx):
    cx.qmgr("create queue old queue_type=e,Priority=5", "set server comment=before")
    cx.submit(Hold_Types="u")  # workq is not empty: it cannot be deleted
    before = cx.qmgr("print server")
    done = diff(cx, "create resource gpu type=long\ncreate queue new queue_type=e\nset server comment=after\n"
                    "set server resources_max.gpu=3\nset queue old Priority=6\ndelete queue workq\n", "apply", check=False)
    assert done.returncode != 0 and done.stdout == ""
    assert "cannot delete queue workq" in done.stderr and done.stderr.endswith("qmgr: nothing has changed\n")
    assert cx.qmgr("print server") == before


def test_a_file_that_is_not_there_is_named(quiet):
    done = quiet.command("qmgr", "-c", "diff /nonexistent.conf", check=False)
    assert done.returncode != 0 and "No such file" in done.stderr


# --- help

@pytest.mark.parametrize("topic, said", [
    ("preempt_order", ["sched preempt_order", "Default: SCR"]),
    ("queue Priority", ["queue Priority (long)", "-1024 to 1023", "operator and above"]),
    ("server rpp_retry", ["Kept and shown, but nothing acts on it."]),
    ("sched", ["attributes of a sched:", "preempt_queue_prio"]), ("apply", ["all is done or nothing"]),
    ("serverpublic", ["attributes of a server:", "scheduling"]), ("serverro", ["state_count"]), ("queueroute", ["route_destinations"]),
    ("queueexec", ["kill_delay"]), ("queuepublic", ["acl_users"]), ("queuero", ["total_jobs"]), ("nodeattr", ["resv_enable", "pcpus"]),
    ("nothing_such", ["Help is available on:"])])
def test_help_knows_attributes_with_type_range_and_meaning(quiet, topic, said):
    text = quiet.qmgr(f"help {topic}")
    assert all(words in text for words in said), text


def test_help_divides_attributes_into_those_that_are_set_and_those_that_are_told(quiet):
    assert "total_jobs" not in quiet.qmgr("help queuepublic") and "route_destinations" not in quiet.qmgr("help queuepublic")
    assert "acl_users" not in quiet.qmgr("help queuero") and "kill_delay" not in quiet.qmgr("help queueroute")


# --- a terminal

class Terminal:
    """qmgr at a terminal of its own."""

    def __init__(self, cx):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe("qmgr", ["qmgr"], {**cx.env, "TERM": "vt100", "HOME": cx.work})
        self.seen = ""
        self.expect("Qmgr: ")

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, text):
        """Read until this has come; what came before it since the last time."""
        end = time.monotonic() + LIMIT_S
        while text not in self.seen:
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            assert ready, f"waited for {text!r}, there is {self.seen!r}"
            self.seen += os.read(self.fd, 65536).decode(errors="replace")
        before, _, self.seen = self.seen.partition(text)
        return before

    def end(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def test_the_tabulator_key_finishes_words_and_shows_what_fits(quiet):
    t = Terminal(quiet)
    try:
        t.type("pri\tque\twork\tsta\t\r")
        t.expect("set queue workq started = True")
        t.type("set server acl_\t")
        t.expect("acl_host_enable  acl_hosts")
        t.type("\x15")  # forget the line
        t.type("quit\r")
    finally:
        t.end()


def test_a_server_that_was_lost_is_connected_to_again_at_a_terminal(cx):
    t = Terminal(cx)
    try:
        t.type("list queue workq queue_type\r")
        t.expect("Execution")
        cx.kill("server")
        t.type("list queue workq queue_type\r")
        t.expect("qmgr: Protocol error, server disconnected")
        t.type("list queue workq queue_type\r")
        t.expect("qmgr: cannot connect to server")
        cx.restart("server")
        t.type("list queue workq queue_type\r")
        t.expect("Execution")
        t.type("quit\r")
    finally:
        t.end()
    cx.again()


def test_lines_after_the_loss_of_the_server_are_not_done(cx):
    with subprocess.Popen(["qmgr"], env=cx.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        child.stdin.write("list queue workq queue_type\n")
        child.stdin.flush()
        assert "workq" in child.stdout.readline()
        cx.kill("server")
        child.stdin.write("set server comment = one\n")
        child.stdin.flush()
        assert "obj= svr=default" in child.stderr.readline()
        assert child.stderr.readline() == "qmgr: Protocol error, server disconnected\n"
        child.wait()
        assert child.returncode == 15031 % 256
    cx.restart("server")
    cx.again()
    assert "comment" not in cx.api.stat("server")[0]


UNREACHED = "nosuch.invalid"


def test_a_server_that_cannot_be_reached_does_not_become_active(cx):
    done = cx.command("qmgr", stdin=f"active server {UNREACHED}\nlist queue workq queue_type\n", check=False)
    assert done.returncode == 4 and "Execution" in done.stdout and f"cannot connect to server {UNREACHED}" in done.stderr
    done = cx.command("qmgr", "-a", stdin=f"active server {UNREACHED}\nlist queue workq queue_type\n", check=False)
    assert done.returncode == 1 and not done.stdout
    assert cx.command("qmgr", "-c", "list server", UNREACHED, check=False).returncode == 3
    silent = cx.command("qmgr", "-z", "-c", f"active server {UNREACHED}", check=False)
    assert (silent.returncode, silent.stdout + silent.stderr) == (4, "")


def test_history_is_kept_from_one_terminal_to_the_next(cx):
    for lines in (["list server comment"], ["history"]):
        t = Terminal(cx)
        for line in lines:
            t.type(line + "\r")
        if lines == ["history"]:
            t.expect("list server comment")
        t.type("quit\r")
        try:
            t.expect("no such words ever come")
        except OSError:
            pass  # the end of the terminal
        t.end()


def test_an_express_queue_that_every_user_may_use_is_warned_of(cx):
    said = cx.command("qmgr", "-c", "create queue urgent queue_type=e,Priority=200,enabled=True").stderr
    assert "warning: queue urgent is an express queue" in said and "acl_user_enable" in said
    assert "takes jobs of every user" in cx.command("pbs_preempt", "--policy", "urgent").stdout
    assert "every user" in cx.command("qmgr", "-c", "set queue urgent acl_user_enable = True").stderr  # an empty list allows all
    cx.qmgr("set queue urgent acl_users = root@*")
    closed = cx.command("qmgr", "-c", "set queue urgent Priority = 210")
    assert closed.stderr == "" and "every user" not in cx.command("pbs_preempt", "--policy", "urgent").stdout
    assert cx.command("qmgr", "-c", "create queue slow queue_type=e,Priority=10").stderr == ""


OPENERS = [  # what opens queue q, what is so before
    ("set queue q acl_user_enable = False", ""), ("unset queue q acl_user_enable", ""), ("unset queue q acl_users", ""),
    ("set queue q acl_users += +", ""), ("set queue q from_route_only = False", "set queue q acl_user_enable = False, from_route_only = True"),
    ("set sched default preempt_queue_prio = 100", "set queue q acl_user_enable = False, Priority = 120"),
    ("unset sched default preempt_queue_prio", "set sched default preempt_queue_prio = 1000; set queue q acl_user_enable = False")]


def test_each_way_to_open_an_express_queue_is_warned_of(cx):
    wrong = []
    for line, before in OPENERS:
        cx.qmgr("create queue q queue_type=e,Priority=200,acl_users=root@*,acl_user_enable=True", *filter(None, before.split("; ")))
        said = cx.command("qmgr", "-c", line).stderr
        if "warning: queue q is an express queue" not in said:
            wrong.append((line, said))
        if cx.command("qmgr", "-c", "set queue q comment = x", check=False).stderr.count("warning"):
            wrong.append((line, "a line that opens nothing"))
        cx.qmgr("delete queue q", "unset sched default preempt_queue_prio")
    assert not wrong, wrong
