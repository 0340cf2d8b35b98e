"""pbs_web changes jobs: each request is one of libpbs, by a token that may write; and a client made of its OpenAPI document."""
import json
import re

import pytest

from harness.wait import until
from harness.web import Web


@pytest.fixture
def web(cx):
    w = Web(cx)
    yield w
    assert w.stop() == 0, w.said()


class Client:
    """A client that knows nothing but the document: a method for each operationId."""

    def __init__(self, web):
        self.web, self.document = web, web.get("/api/v1/openapi.json")
        self.operations = {o["operationId"]: (path, method.upper(), o) for path, methods in self.document["paths"].items() for method, o in methods.items()}

    def schema(self, s):
        return self.document["components"]["schemas"][s["$ref"].rsplit("/", 1)[1]] if "$ref" in s else s

    def check(self, value, schema):
        schema = self.schema(schema)
        kinds = {"string": str, "integer": int, "object": dict, "array": list, "number": (int, float), "boolean": bool}
        assert isinstance(value, kinds[schema["type"]]), (value, schema)
        for name in schema.get("required", []):
            assert name in value
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                self.check(value[name], inner)
        for one in value if schema["type"] == "array" else []:
            self.check(one, schema["items"])

    def __getattr__(self, name):
        path, method, o = self.operations[name]

        def call(body=None, **parameters):
            known = {p["name"]: p for p in o["parameters"]}
            assert set(parameters) <= set(known) and {p for p in known if known[p]["required"]} <= set(parameters)
            where = path
            query = "&".join(f"{k}={v}" for k, v in parameters.items() if known[k]["in"] == "query")
            for k, v in parameters.items():
                where = where.replace("{%s}" % k, str(v))
            if body is not None:
                assert set(body) <= set(o["requestBody"]["content"]["application/json"]["schema"]["properties"])
            a = self.web.ask(where + (f"?{query}" if query else ""), method=method, body=body)
            said = o["responses"].get(str(a.status), o["responses"]["default"])
            for kind, content in said.get("content", {}).items():
                assert a.headers["Content-Type"].startswith(kind), (a, kind)
                if "json" in kind:
                    self.check(a.json(), content["schema"])
                    return a.json()
            return a.body.decode()
        return call


def script(cx, text="sleep 600", **attributes):
    """The body of a submission; output goes where the test's user may write."""
    from harness import users
    owner = {"User_List": users.NAMES[0]} if users.available() else {}
    return {"script": f"#!/bin/sh\n{text}\n",
            "attributes": {"Output_Path": f"{cx.work}/out", "Error_Path": f"{cx.work}/err", "Variable_List": {"PBS_O_WORKDIR": cx.work, "A": "x,y\\z"}, **owner, **attributes}}


def test_a_client_made_from_the_document_plays_the_life_of_a_job(cx, web):
    client = Client(web)
    assert len(client.operations) == len({o for o in client.operations}) >= 20
    job = client.submitJob(body=script(cx, "echo hello; echo $A; sleep 600", Job_Name="first", Priority=7, Rerunable=True, Resource_List={"select": "1:ncpus=1"}))["id"]
    until(lambda: cx.stat(job).get("substate") == "42", "the job to run")
    shown = client.getJob(id=job)["attributes"]
    assert shown["Job_Name"] == "first" and shown["Priority"] == 7 and shown["Variable_List"]["A"] == "x,y\\z"
    until(lambda: client.getOutput(id=job) == "hello\nx,y\\z\n", "its output")
    assert client.signalJob(id=job, body={"signal": "suspend"}) == ""
    cx.wait(job, "S")
    assert client.signalJob(id=job, body={"signal": "resume"}) == ""
    cx.wait(job, "R")
    held = client.submitJob(body=script(cx, Hold_Types="u"))["id"]
    assert client.alterJob(id=held, body={"attributes": {"Job_Name": "second", "Resource_List": {"walltime": "00:10:00"}}}) == ""
    assert cx.stat(held)["Job_Name"] == "second"
    assert client.releaseJob(id=held, body={}) == ""
    cx.wait(held, "R")
    assert {j["id"] for j in client.listJobs(state="R")["jobs"]} == {job, held}
    assert client.explainJob(id=held)["verdict"] in ("runs", "under_way")
    for name in ("listNodes", "listQueues", "listReservations", "listSchedulers", "getServer", "getPolicy", "listPreemptions", "getOpenApi"):
        assert isinstance(getattr(client, name)(), dict)
    assert client.listEvents(wait=0)["events"] == []
    assert client.deleteJob(id=job) == ""
    cx.wait_gone(job)
    assert client.getJob(id=job)["pbs_code"] == 15001


def test_a_job_may_be_held_by_the_service(cx, web):
    first = web.ask("/api/v1/jobs", method="POST", body=script(cx, Resource_List={"select": "1:ncpus=64"}))
    assert first.status == 201
    job = first.json()["id"]
    assert web.ask(f"/api/v1/jobs/{job}/hold", method="POST", body={"type": "u"}).status == 204
    cx.wait(job, "H")
    assert web.ask(f"/api/v1/jobs/{job}/release", method="POST").status == 204
    cx.wait(job, "Q")


@pytest.mark.parametrize("path, method, body, status, code, said", [
    ("/api/v1/jobs", "POST", {"script": "true\n", "queue": "nosuch"}, 404, 15018, ""),
    ("/api/v1/jobs", "POST", {"script": "true\n", "attributes": {"Resource_List": {"nosuch": 1}}}, 422, 15035, "nosuch"),
    ("/api/v1/jobs", "POST", {"script": "true\n", "attributes": {"Job_Name": ["x"]}}, 400, None, "Job_Name"),
    ("/api/v1/jobs", "POST", {"script": "#PBS -l ncpus=1\ntrue\n"}, 400, None, "-l ncpus=1"),
    ("/api/v1/jobs", "POST", {}, 400, None, "script is missing"), ("/api/v1/jobs", "POST", {"script": "true", "x": 1}, 400, None, "x is not a member"),
    ("/api/v1/jobs", "POST", {"script": 1}, 400, None, "script is a text"), ("/api/v1/jobs", "POST", "[1]", 400, None, "a JSON object"),
    ("/api/v1/jobs", "POST", "{", 400, None, "not JSON"), ("/api/v1/jobs", "POST", b'{"script":"\xff"}', 400, None, "not JSON"),
    ("/api/v1/jobs", "POST", '{"script":"a","script":"b"}', 400, None, "not JSON"), ("/api/v1/jobs", "POST", "[" * 100000, 400, None, "not JSON"),
    ("/api/v1/jobs/4711", "DELETE", None, 404, 15001, ""), ("/api/v1/jobs/workq", "DELETE", None, 404, 15001, ""),
    ("/api/v1/jobs/4711/signal", "POST", {"signal": "SIGNOSUCH"}, 404, 15001, ""), ("/api/v1/jobs/4711", "PATCH", {"attributes": {"Priority": 1}}, 404, 15001, "")])
def test_what_is_refused_says_why(quiet_web, path, method, body, status, code, said):
    a = quiet_web.ask(path, method=method, body=body)
    assert a.status == status and a.json().get("pbs_code") == code and said in a.json()["detail"], a


@pytest.fixture(scope="module")
def quiet_web():
    from harness.complex import Complex
    c = Complex(nodes=0, sched=False).start()
    w = Web(c)
    yield w
    w.stop()
    c.stop()


def test_a_read_only_token_changes_nothing(quiet_web):
    job = quiet_web.cx.submit("sleep 600")
    for method, path, body in (("DELETE", f"/api/v1/jobs/{job}", None), ("POST", f"/api/v1/jobs/{job}/hold", {}), ("PATCH", f"/api/v1/jobs/{job}", {"attributes": {"Priority": 1}}),
                               ("POST", "/api/v1/jobs", {"script": "true\n"})):
        a = quiet_web.ask(path, method=method, body=body, token=quiet_web.reader)
        assert a.status == 403 and "read-only" in a.json()["detail"]
    assert quiet_web.get("/api/v1/jobs", token=quiet_web.reader)["total"] == len(quiet_web.cx.api.select())
    assert cx_priority(quiet_web.cx, job) == "0"


def cx_priority(cx, job):
    return cx.stat(job)["Priority"]


def test_a_page_of_another_site_cannot_delete_a_job(quiet_web):
    """Even with the token: a browser says where a request comes from."""
    job = quiet_web.cx.submit("sleep 600")
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}):
        assert quiet_web.ask(f"/api/v1/jobs/{job}", method="DELETE", headers=headers).status in (403, 421)
    assert quiet_web.cx.stat(job)


def test_names_are_told_as_they_are(quiet_web):
    """What looks like markup is text, and every character is told."""
    name = "<b>&amp;\"'"
    job = quiet_web.cx.submit("sleep 600", Job_Name=name)
    shown = quiet_web.get(f"/api/v1/jobs/{job}")["attributes"]
    assert shown["Job_Name"] == name
    made = quiet_web.ask("/api/v1/jobs", method="POST", body={"script": "true\n", "attributes": {"Account_Name": "caf\u00e9 \u2603"}})
    if made.status == 201:
        assert quiet_web.get(f"/api/v1/jobs/{made.json()['id']}")["attributes"]["Account_Name"] == "caf\u00e9 \u2603"
    a = quiet_web.ask(f"/api/v1/jobs?fields={re.sub('.', 'x', 'y' * 200)}")
    assert a.status == 400
    assert json.loads(quiet_web.ask("/api/v1/jobs?name=%ff%fe").body.decode("utf-8"))


def test_a_byte_that_is_no_utf8_is_shown_so_that_a_client_can_send_it_back(quiet_web):
    """As U+10FF00 plus the byte; qstat shows the same. No such character stands for a byte of ASCII."""
    cx, account = quiet_web.cx, b"caf\xe9 \xc3\xa9".decode(errors="surrogateescape")
    job = cx.submit("sleep 600", Account_Name=account)
    shown = quiet_web.get(f"/api/v1/jobs/{job}")["attributes"]["Account_Name"]
    assert shown == "caf\U0010ffe9 \u00e9"
    assert json.loads(cx.command("qstat", "-f", "-F", "json", job).stdout)["Jobs"][job]["Account_Name"] == shown
    ascii_in_disguise = "x\U0010ff0a"
    for sent, stored in ((shown, account), (ascii_in_disguise, ascii_in_disguise)):
        again = quiet_web.ask("/api/v1/jobs", method="POST", body={"script": "true\n", "attributes": {"Account_Name": sent}})
        assert again.status == 201, again
        assert cx.stat(again.json()["id"])["Account_Name"] == stored


def test_a_body_too_deep_is_refused_at_its_place(quiet_web):
    a = quiet_web.ask("/api/v1/jobs", method="POST", body='{"script":' + "[" * 5000 + "]" * 5000 + "}", headers={"Content-Type": "application/json"})
    assert a.status == 400 and "line 1, column 75: brackets are too deep" in a.json()["detail"], a
