"""The rows of a complex's store, read and changed behind the server's back, while no server runs."""
import contextlib
import json
import os
import sqlite3
import subprocess

KEYS = {"job": ("seq", "idx"), "object": ("kind", "name"), "array_page": ("seq", "page"), "meta": ("name",), "acct": ("n",)}


def _conf(cx):
    with open(cx.conf, encoding="ascii") as f:
        return dict(line.strip().split("=", 1) for line in f if "=" in line)


def quote(value):
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def query(cx, statement):
    """Rows as lists; of SQLite and of PostgreSQL alike."""
    if cx.store == "sqlite":
        db = sqlite3.connect(os.path.join(cx.home, "server_priv", "cede.db"))
        db.text_factory = lambda raw: raw.decode(errors="surrogateescape")
        with db:
            rows = [list(row) for row in db.execute(statement)]
        db.close()
        return rows
    if statement.lower().startswith("select"):
        statement = f"select row_to_json(x) from ({statement}) x"
    out = subprocess.run([*_psql(cx), "-c", statement], check=True, capture_output=True, text=True).stdout
    return [list(json.loads(line).values()) for line in out.splitlines()] if statement.startswith("select") else []


def _psql(cx):
    conf = _conf(cx)
    return ["psql", "-XAtq", "-h", conf["PBS_DATA_SERVICE_HOST"], "-p", conf["PBS_DATA_SERVICE_PORT"], "-d", "pbs_datastore"]


@contextlib.contextmanager
def held(cx, table):
    """PostgreSQL, and a server that runs: what it writes into this table is not committed until the end, or for half a minute."""
    with subprocess.Popen(_psql(cx), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        p.stdin.write("set idle_in_transaction_session_timeout = '30s'; begin; "
                      f"lock table {table} in exclusive mode; select 'held';\n")
        p.stdin.flush()
        assert p.stdout.readline().strip() == "held"
        yield  # psql ends with its input, and the transaction with psql


def where(table, key):
    return " and ".join(f"{column} = {quote(value)}" for column, value in zip(KEYS[table], key))


def get(cx, table, key, column):
    value = query(cx, f"select {column} from {table} where {where(table, key)}")[0][0]
    return json.dumps(value) if isinstance(value, (dict, list)) else value


def put(cx, table, key, column, value):
    query(cx, f"update {table} set {column} = {quote(value)} where {where(table, key)}")


def restore(cx, tables):
    """{table: all its rows, as query("select *") gave them}: that is what these tables hold now."""
    def literal(value):
        return "NULL" if value is None else quote(json.dumps(value) if isinstance(value, (dict, list)) else value)
    statements = []
    for table, content in tables.items():
        statements.append(f"delete from {table}")
        statements += [f"insert into {table} values ({', '.join(literal(v) for v in row)})" for row in content]
    if cx.store == "sqlite":
        for statement in statements:
            query(cx, statement)
    else:
        query(cx, "; ".join(statements))
