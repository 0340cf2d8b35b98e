"""pbs_store: examine, dump, restore and migrate the store of a server, beside it or while it is stopped."""
import json
import os
import sqlite3

import pytest

from harness.complex import Complex
from harness.wait import until


@pytest.fixture(params=["sqlite", "postgres"])
def cx(request):
    c = Complex(nodes=1, store=request.param, history=True)
    try:
        yield c.start()
    finally:
        c.stop()


@pytest.fixture
def lite():
    c = Complex(nodes=1, sched=False)
    try:
        yield c.start()
    finally:
        c.stop()


def store(cx, *words, check=True):
    return cx.command("pbs_store", *words, check=check)


def database(cx):
    return os.path.join(cx.home, "server_priv", "cede.db")


def rows(path):
    """The rows of a dump, without the number of activations, which a copy raises."""
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    assert lines[0]["cede_dump"] == 1 and lines[-1]["rows"] == len(lines) - 2
    return [row for row in lines[1:-1] if row[:2] != ["meta", "epoch"]]


def test_a_restored_server_has_the_objects_of_a_dump_made_beside_it(cx):
    dump = os.path.join(cx.work, "dump")
    held, runs = cx.submit(Hold_Types="u"), cx.submit()
    cx.wait(runs, "R")
    store(cx, "dump", dump)
    assert os.stat(dump).st_mode & 0o777 == 0o600
    later = cx.submit(Hold_Types="u")
    refused = store(cx, "restore", "--force", dump, check=False)
    assert refused.returncode == 2 and "stop it first" in refused.stderr
    cx.stop_daemon("server")
    refused = store(cx, "restore", dump, check=False)
    assert refused.returncode == 2 and "--force" in refused.stderr
    store(cx, "restore", "--force", dump)
    again = os.path.join(cx.work, "again")
    store(cx, "dump", again)
    assert rows(dump) == rows(again)
    cx.restart("server")
    cx.again()
    assert cx.state(held) == "H" and cx.stat(later) is None
    cx.wait(runs, "R")
    cx.wait(cx.submit(), "R")


def test_a_store_moves_to_the_other_database_with_all_that_it_holds(cx):
    file, dump, moved = (os.path.join(cx.work, name) for name in ("moved.db", "dump", "moved"))
    for _ in range(3):
        cx.submit(Hold_Types="u")
    refused = store(cx, "migrate", f"sqlite:{file}", check=False)
    assert refused.returncode == 2 and "stop it first" in refused.stderr
    cx.stop_daemon("server")
    store(cx, "dump", dump)
    assert "3 of them jobs" in store(cx, "migrate", f"sqlite:{file}").stderr
    store(cx, "-s", f"sqlite:{file}", "dump", moved)
    assert rows(dump) == rows(moved)
    refused = store(cx, "migrate", f"sqlite:{file}", check=False)
    assert refused.returncode == 2 and "--force" in refused.stderr
    assert "3 jobs" in store(cx, "-s", f"sqlite:{file}", "check").stdout
    assert "0 faults" in store(cx, "check").stdout


def test_an_altered_dump_is_refused_and_the_store_stays_as_it_was(cx):
    dump, after = os.path.join(cx.work, "dump"), os.path.join(cx.work, "after")
    cx.submit(Hold_Types="u")
    cx.stop_daemon("server")
    store(cx, "dump", dump)
    with open(dump, encoding="utf-8") as f:
        text = f.read()
    with open(dump + ".bad", "w", encoding="utf-8") as f:
        f.write(text.replace("Hold_Types", "Hold_Typed"))
    refused = store(cx, "restore", "--force", dump + ".bad", check=False)
    assert refused.returncode == 2 and "altered" in refused.stderr
    store(cx, "dump", after)
    assert rows(dump) == rows(after)


FAULTS = [
    ("UPDATE job SET hot = '{{' WHERE seq = 0", "job 0.{name}"),
    ("UPDATE job SET queue = 'gone', hot = replace(hot, 'workq', 'gone') WHERE seq = 0", "queue gone"),
    ("UPDATE object SET attrs = '[1' WHERE kind = 'node'", "node n1"),
    ("UPDATE object SET attrs = '{{\"no_such\":\"1\"}}' WHERE kind = 'queue'", "queue workq"),
    ("INSERT INTO script VALUES (4711, -1, 0, x'41')", "script of job 4711"),
    ("INSERT INTO array_page VALUES (4711, 0, '1', '')", "pages of array 4711"),
    ("INSERT INTO history VALUES (4711, -1, '4711.x', 1, 'a@b', 'workq', '{{')", "finished job 4711.x"),
]


@pytest.mark.parametrize("sql, told", FAULTS)
def test_check_tells_a_row_that_the_server_could_not_take_up(lite, sql, told):
    job = lite.submit(Hold_Types="u")
    lite.stop_daemon("server")
    assert store(lite, "check").returncode == 0
    with sqlite3.connect(database(lite)) as db:
        db.execute(sql.format())
    db.close()
    found = store(lite, "check", check=False)
    assert found.returncode == 1
    assert told.format(name=job.split(".", 1)[1]) in found.stdout, found.stdout


def test_check_tells_a_database_file_that_is_damaged(lite):
    lite.submit(Hold_Types="u")
    lite.stop_daemon("server")
    with open(database(lite), "r+b") as f:
        f.seek(4096)
        f.write(b"\xff" * 4096)
    found = store(lite, "check", check=False)
    assert found.returncode in (1, 2) and "database" in found.stdout + found.stderr


def test_a_store_that_is_not_there_is_not_made(lite):
    path = os.path.join(lite.work, "none.db")
    for word in ("check", "dump"):
        done = store(lite, "-s", f"sqlite:{path}", word, check=False)
        assert done.returncode == 2 and "none.db" in done.stderr
    assert not os.path.exists(path)


@pytest.mark.parametrize("words, told", [((), "say what to do"), (("sing",), "say what to do"),
                                         (("check", "x"), "one operand too many"), (("migrate",), "name the store"),
                                         (("migrate", "mysql:x"), "not a kind of store"),
                                         (("migrate", "postgresql:x:0"), "not a port"), (("-s", "sqlite:", "check"), "names no store")])
def test_a_wrong_command_line_is_told(quiet, words, told):
    done = store(quiet, *words, check=False)
    assert done.returncode == 2 and told in done.stderr


def test_a_dump_is_not_there_until_it_is_whole(lite):
    path = os.path.join(lite.work, "dump")
    store(lite, "-s", "sqlite:/nowhere/x.db", "dump", path, check=False)
    assert not [name for name in os.listdir(lite.work) if name.startswith("dump")]
    assert until(lambda: store(lite, "dump", path), "a dump")
