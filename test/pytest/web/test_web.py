"""pbs_web: REST and metrics. What it shows is what the commands show; whom it serves is those with a token."""
import http.client
import json
import os
import re
import ssl
import stat
import subprocess
import time

import pytest

from harness import users
from harness.wait import until
from harness.web import Web


@pytest.fixture(scope="module")
def site():
    from harness.complex import Complex
    cx = Complex(nodes=2, ncpus=4, history=True)
    try:
        yield cx.start()
    finally:
        cx.stop()


@pytest.fixture(scope="module")
def web(site):
    w = Web(site)
    yield w
    assert w.stop() == 0, w.said()


@pytest.fixture(scope="module")
def jobs(site):
    """One that runs, one that waits, one that is held, with names and variables that are hard to write."""
    running = site.submit("sleep 600", select="1:ncpus=1", Job_Name="one", Variable_List='A="q",B=3,C=<b>&amp;')
    site.wait(running, "R")
    until(lambda: site.stat(running).get("substate") == "42", "the job to run")
    waiting = site.submit("sleep 600", select="1:ncpus=64", Job_Name="1234", Account_Name="7e3")
    held = site.submit("sleep 600", Hold_Types="u", project="p1")
    until(lambda: "comment" in site.stat(waiting), "the reason why it waits")
    return running, waiting, held


def without_usage(attributes):
    """Usage grows between two looks."""
    return {k: v for k, v in attributes.items() if k not in ("resources_used", "eligible_time", "estimated")}


def qstat(cx, *words):
    return json.loads(cx.command("qstat", "-f", "-F", "json", *words).stdout)


def by_id(objects):
    return {o["id"]: o["attributes"] for o in objects}


# --- what is shown

def test_jobs_are_those_of_qstat(site, web, jobs):
    shown, expected = by_id(web.get("/api/v1/jobs")["jobs"]), qstat(site)["Jobs"]
    assert set(jobs) <= set(expected)
    assert {k: without_usage(v) for k, v in shown.items()} == {k: without_usage(v) for k, v in expected.items()}


def test_a_job_is_that_of_qstat(site, web, jobs):
    for job in jobs:
        shown = web.get(f"/api/v1/jobs/{job}")
        assert shown["id"] == job and without_usage(shown["attributes"]) == without_usage(qstat(site, job)["Jobs"][job])


def test_times_are_seconds_since_1970(site, web, jobs):
    raw = site.stat(jobs[0])
    shown = web.get(f"/api/v1/jobs/{jobs[0]}")["times"]
    assert {k: str(v) for k, v in shown.items()} == {k: raw[k] for k in shown} and {"ctime", "stime", "qtime"} <= set(shown)


def test_other_objects_are_those_of_the_commands(site, web, jobs):
    nodes = json.loads(site.command("pbsnodes", "-av", "-F", "json").stdout)["nodes"]
    changing = ("resources_assigned", "last_used_time", "last_state_change_time")

    def steady(found):
        return {k: {n: v for n, v in a.items() if n not in changing} for k, a in found.items()}
    assert steady(by_id(web.get("/api/v1/nodes")["nodes"])) == steady(nodes)
    assert by_id(web.get("/api/v1/queues")["queues"]) == qstat(site, "-Q")["Queue"]
    server = web.get("/api/v1/server")
    assert {server["id"]: server["attributes"]} == qstat(site, "-B")["Server"]
    policy = json.loads(site.command("pbs_preempt", "--policy", "-F", "json").stdout)
    assert web.get("/api/v1/policy") == policy
    assert [s["id"] for s in web.get("/api/v1/schedulers")["schedulers"]] == ["default"]


def test_a_plan_is_that_of_pbs_preempt(site, web, jobs):
    plan = json.loads(site.command("pbs_preempt", "--explain", "-F", "json", jobs[1]).stdout)
    assert web.get(f"/api/v1/jobs/{jobs[1]}/explain") == plan and plan["verdict"] == "waits"


def test_reservations_are_shown(site, web):
    name = site.command("pbs_rsub", "-R", "2359", "-D", "60", "-l", "ncpus=1").stdout.split()[0]
    until(lambda: site.api.stat("resv", name)[0].get("reserve_state") == "2", "the reservation")
    shown = by_id(web.get("/api/v1/reservations")["reservations"])
    assert list(shown) == [name] and web.get(f"/api/v1/reservations/{name}")["attributes"] == shown[name]
    assert web.metrics()['pbs_reservations{state="CONFIRMED"}'] == 1
    site.command("pbs_rdel", name)


def test_filters_fields_and_pages(site, web, jobs):
    running, waiting, held = jobs
    assert list(by_id(web.get("/api/v1/jobs?state=R")["jobs"])) == [running]
    assert set(by_id(web.get("/api/v1/jobs?state=QH")["jobs"])) == {waiting, held}
    assert list(by_id(web.get("/api/v1/jobs?name=one&queue=workq")["jobs"])) == [running]
    assert web.get("/api/v1/jobs?queue=workq&user=nosuchuser")["jobs"] == []
    few = web.get("/api/v1/jobs?fields=Job_Name,Resource_List.ncpus&state=R")["jobs"]
    assert few == [{"id": running, "attributes": {"Job_Name": "one", "Resource_List": {"ncpus": 1}}}]
    seen, at = [], 0
    while at is not None:
        page = web.get(f"/api/v1/jobs?limit=1&fields=job_state&offset={at}")
        assert page["total"] == 3 and len(page["jobs"]) == 1
        seen += [j["id"] for j in page["jobs"]]
        at = page.get("next")
    assert seen == list(jobs)
    assert [n["id"] for n in web.get("/api/v1/nodes?offset=1&fields=state")["nodes"]] == ["n2"]
    assert web.get("/api/v1/nodes?state=down")["nodes"] == []


def test_a_finished_job_is_found_where_history_is_kept(site, web):
    job = site.submit("exit 3")
    site.wait(job, "F")
    assert web.get(f"/api/v1/jobs/{job}")["attributes"]["Exit_status"] == 3
    assert job in by_id(web.get("/api/v1/jobs?history=true")["jobs"])
    assert job not in by_id(web.get("/api/v1/jobs")["jobs"])


def test_the_log_of_a_job_is_that_of_tracejob(site, web):
    job = site.submit("true")
    site.wait(job, "F")

    def traced():
        return json.loads(site.command("tracejob", "-F", "json", job).stdout)["jobs"][job]

    def ended():
        lines = traced()
        return any(line["source"] == "accounting" and "Exit_status=" in line["text"] for line in lines) and lines
    before = until(ended, "the record of its end")
    shown, after = web.get(f"/api/v1/jobs/{job.split('.')[0]}/log?days=1"), traced()
    assert shown["id"] == job and shown["days"] == 1
    assert {"server", "mom"} < {line["source"] for line in shown["lines"]}
    assert all(line in after for line in shown["lines"]) and all(line in shown["lines"] for line in before)


@pytest.mark.parametrize("path, status, code", [
    ("/api/v1/jobs/4711", 404, 15001), ("/api/v1/jobs/workq", 404, 15001), ("/api/v1/nodes/nosuch", 404, 15062),
    ("/api/v1/queues/nosuch", 404, 15018), ("/api/v1/reservations/R99", 404, 15084), ("/api/v1/jobs?fields=Nonsense", 422, 15002),
    ("/api/v1/jobs?limit=10001", 400, None), ("/api/v1/jobs?limit=-1", 400, None), ("/api/v1/jobs?limit=1e3", 400, None),
    ("/api/v1/jobs?nosuch=1", 400, None), ("/api/v1/jobs?history=maybe", 400, None), ("/api/v1/jobs?fields=,", 400, None),
    ("/api/v1/jobs/4711/log", 404, 15001), ("/api/v1/jobs/1/log?days=32", 400, None), ("/api/v1/nonsense", 404, None), ("/api/v1/jobs/1/2", 404, None), ("/nonsense", 404, None)])
def test_what_cannot_be_answered_is_a_problem_with_pbs_code(site, web, path, status, code):
    a = web.ask(path)
    assert a.status == status and a.headers["Content-Type"] == "application/problem+json", a
    problem = a.json()
    assert problem["status"] == status and problem.get("pbs_code") == code and problem["detail"]
    assert problem["type"] == (f"urn:pbs:error:{code}" if code else "about:blank")


def test_another_method_is_told_which_there_are(web):
    a = web.ask("/api/v1/nodes", method="DELETE")
    assert a.status == 405 and a.headers["Allow"] == "GET"
    assert web.ask("/api/v1/jobs", method="HEAD").status == 200


# --- metrics

def test_metrics_count_jobs_nodes_and_processors(site, web, jobs):
    m = web.metrics()
    assert m['pbs_jobs{queue="workq",state="Running"}'] == 1 and m['pbs_jobs{queue="workq",state="Held"}'] == 1
    assert m['pbs_cpus{state="total"}'] == 8 and m['pbs_cpus{state="used"}'] == 1 and m['pbs_cpus{state="free"}'] == 7
    assert m['pbs_nodes{state="up"}'] == 2 and m["pbs_server_up"] == 1
    assert m['pbs_memory_bytes{state="total"}'] == 16 * 2**30


def test_metrics_count_what_the_server_does(site, web, jobs):
    """Requests and their times, cycles of the scheduler, batches of the store, MOMs."""
    def cycles(m):
        return m.get('pbs_scheduler_cycle_seconds_count{scheduler="default"}', 0)
    before = web.metrics()
    job = site.submit("sleep 600", select="1:ncpus=65")
    until(lambda: "comment" in site.stat(job), "a cycle to look at it")
    until(lambda: cycles(web.metrics()) > cycles(before), "the scheduler to tell its cycles")
    m = web.metrics()
    assert m['pbs_moms{state="up"}'] == 2 and m['pbs_moms{state="down"}'] == 0
    for name in ('pbs_server_request_seconds_%s{request="QueueJob"}', "pbs_store_batch_seconds_%s"):
        count, total = name % "count", name % "sum"
        assert m[count] > before[count] and m[total] > before[total]
    assert m["pbs_store_rows_total"] > before["pbs_store_rows_total"] and m["pbs_store_failures_total"] == 0
    assert m['pbs_scheduler_jobs_total{scheduler="default"}'] >= len(jobs) - 1
    for name in ('pbs_server_request_seconds_bucket{request="QueueJob",le="+Inf"}',
                 'pbs_scheduler_cycle_seconds_bucket{scheduler="default",le="30"}', 'pbs_store_batch_seconds_bucket{le="+Inf"}'):
        assert m[name] > 0, name
    site.command("qdel", job)


def test_metrics_are_open_metrics(web):
    a = web.ask("/metrics")
    assert a.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    families = {}
    for line in a.body.decode().splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in families
            families[name] = kind
        elif not line.startswith("#"):
            name = line.split("{")[0].split(" ")[0]
            family = next(f for f in families if name == f or name in (f + "_total", f + "_bucket", f + "_sum", f + "_count"))
            assert (families[family] == "counter") == name.endswith("_total")
    assert {"gauge", "counter", "histogram"} == set(families.values())


def test_the_dashboard_and_the_alerts_name_metrics_that_are_there(web):
    """Names that begin with pbs_, in doc/examples/web."""
    examples = os.path.join(os.path.dirname(__file__), "..", "..", "..", "doc", "examples", "web")
    there = {name.split("{")[0] for name in web.metrics()}
    for file in ("dashboard.json", "alerts.yml"):
        with open(os.path.join(examples, file), encoding="utf-8") as f:
            named = set(re.findall(r"\bpbs_\w+", f.read()))
        assert len(named) > 3 and named - {"pbs_web"} <= there, (file, named - there)
    with open(os.path.join(examples, "dashboard.json"), encoding="utf-8") as f:
        assert json.load(f)["panels"]


def test_every_path_of_the_document_is_on_the_page_of_the_manual(web):
    manual = os.path.join(os.path.dirname(__file__), "..", "..", "..", "doc", "web.md")
    with open(manual, encoding="utf-8") as f:
        text = f.read()
    for path in web.get("/api/v1/openapi.json")["paths"]:
        words = path.replace("/{id}", "").replace("/assets", "/")
        assert words.rsplit("/", 1)[-1] in text, path


def test_the_page_is_whole_and_is_not_sent_twice(web):
    index = web.ask("/", token="")
    assert index.status == 200 and index.headers["Content-Type"].startswith("text/html")
    names = re.findall(r"/assets/([\w.]+)", index.body.decode())
    seen = set()
    while names:
        name = names.pop()
        if name not in seen:
            seen.add(name)
            a = web.ask(f"/assets/{name}", token="")
            assert a.status == 200, name
            assert web.ask(f"/assets/{name}", token="", headers={"If-None-Match": a.headers["ETag"]}).status == 304
            names += re.findall(r"from '\./([\w.]+)'", a.body.decode())
    assert {"app.js", "app.css", "store.js", "jobs.js", "timeline.js"} <= seen
    assert b"<script>" not in index.body and b"style=" not in index.body and b" onclick" not in index.body


def test_metrics_count_waits_and_preemptions(cx):
    web = Web(cx)
    try:
        until(lambda: web.metrics()["pbs_web_changes_total"] > 0, "the stream of changes")
        cx.make_queue("express", Priority="200")
        cx.set_sched("preempt_order", "R")
        low = cx.submit("sleep 600", select="1:ncpus=4", Rerunable="True")
        until(lambda: cx.stat(low).get("substate") == "42", "the job to run")
        until(lambda: web.metrics()["pbs_job_wait_seconds_count"] == 1, "the wait to be counted")
        high = cx.submit("sleep 600", select="1:ncpus=4", queue="express")
        cx.wait(high, "R")
        until(lambda: web.metrics()['pbs_preemptions_total{method="Q"}'] == 1, "the preemption to be counted")
        until(lambda: web.metrics()["pbs_job_wait_seconds_count"] == 2, "the urgent job's wait to be counted")
        told = web.get("/api/v1/preemptions")["preemptions"]
        assert [(p["job"], p["for"], p["method"], p["queue"]) for p in told] == [(low, high, "Q", "workq")]
        m = web.metrics()
        assert 2 == m['pbs_job_wait_seconds_bucket{le="+Inf"}']
        assert m['pbs_preemption_lost_core_seconds_total{method="Q"}'] >= 0 and m['pbs_preemptions_total{method="S"}'] == 0
    finally:
        web.stop()


def test_without_a_server_it_says_so_and_comes_back(cx):
    web = Web(cx)
    try:
        assert web.metrics()["pbs_server_up"] == 1
        cx.kill("server")
        assert web.metrics()["pbs_server_up"] == 0
        a = web.ask("/api/v1/jobs")
        assert a.status == 503 and a.json()["pbs_code"]
        cx.restart("server")
        until(lambda: web.ask("/api/v1/jobs").status == 200, "the server again")
        assert web.metrics()["pbs_server_up"] == 1
    finally:
        web.stop()


# --- events

def test_changes_are_told_once_and_in_order(site, web, jobs):
    cursor = web.get("/api/v1/events?wait=0")["cursor"]
    site.api.hold(jobs[1], "u")
    told = web.get(f"/api/v1/events?wait=30&after={cursor}&kinds=job&job={jobs[1]}")
    assert not told["reset"] and [e["id"] for e in told["events"]][-1] == jobs[1]
    assert told["events"][-1]["attributes"]["job_state"] == "H"
    site.api.release(jobs[1], "u")
    again = web.get(f"/api/v1/events?wait=30&after={told['cursor']}&kinds=job&job={jobs[1]}")
    assert again["events"][-1]["attributes"]["job_state"] == "Q"
    assert web.get(f"/api/v1/events?wait=0&after={told['cursor']}&kinds=queue")["events"] == []


def test_a_cursor_of_another_process_is_told_to_read_everything(web):
    assert web.get("/api/v1/events?wait=30&after=1-1")["reset"]
    assert web.get("/api/v1/events?wait=30&after=nonsense")["reset"]


def test_a_stream_tells_changes_as_they_happen(site, web):
    c = web.connect()
    try:
        c.request("GET", "/api/v1/events?kinds=job", headers={"Authorization": f"Bearer {web.reader}"})
        r = c.getresponse()
        assert r.status == 200 and r.headers["Content-Type"] == "text/event-stream"
        lines = []
        while b"event: hello\n" not in lines:
            lines.append(r.readline())
        job = site.submit("sleep 600", Hold_Types="u")
        while not any(line.startswith(b"data: ") and job.encode() in line for line in lines):
            lines.append(r.readline())
        data = json.loads(next(x for x in lines if job.encode() in x)[6:])
        assert data["kind"] == "job" and data["attributes"]["job_state"] == "H"
        site.api.delete(job)
        while not any(b'"gone":true' in line and job.encode() in line for line in lines):
            if site.history and any(job.encode() in x and b'"job_state":"F"' in x for x in lines):
                break
            lines.append(r.readline())
    finally:
        c.close()


# --- who may ask

def test_without_a_token_there_is_no_data(web):
    for path in ("/api/v1/jobs", "/api/v1/server", "/metrics", "/api/v1/events"):
        for token in ("", "cede_" + "0" * 64, web.token[:-1], web.token + "0", web.token.upper()):
            a = web.ask(path, token=token)
            assert a.status in (401, 429) and b"jobs" not in a.body, a


def test_the_file_of_tokens_has_no_token_and_is_the_users_alone(web):
    with open(web.tokens, encoding="ascii") as f:
        text = f.read()
    assert web.token not in text and web.token[5:] not in text
    assert stat.S_IMODE(os.stat(web.tokens).st_mode) == 0o600


def test_a_token_ends_when_it_is_revoked_or_its_file_is_open_to_others(site):
    web = Web(site)
    try:
        other = web.make_token()
        assert web.ask("/api/v1/server", token=other).status == 200
        names = [line.split()[0] for line in web.command("token", "list").stdout.splitlines()[1:]]
        assert len(names) == 3
        for name in names:
            web.command("token", "revoke", name)
        assert web.ask("/api/v1/server", token=other).status == 401
        last = web.make_token()
        assert web.ask("/api/v1/server", token=last).status == 200
        os.chmod(web.tokens, 0o640)
        assert web.ask("/api/v1/server", token=last).status == 401
        assert "0600" in web.command("token", "list", check=False).stderr
    finally:
        web.stop()


def test_an_expired_token_is_refused(site):
    web = Web(site)
    try:
        with open(web.tokens, encoding="ascii") as f:
            lines = f.read().split("\n")
        name, sha, right, _ = lines[0].split()
        with open(web.tokens, "w", encoding="ascii") as f:
            f.write(f"{name} {sha} {right} {int(time.time()) - 1}\n{lines[1]}\n")
        assert web.ask("/api/v1/server").status == 401
        assert web.ask("/api/v1/server", token=web.reader).status == 200
    finally:
        web.stop()


@pytest.mark.parametrize("headers, status", [
    ({"Host": "evil.example"}, 421), ({"Host": "127.0.0.1"}, 421), ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
    ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Sec-Fetch-Site": "same-site"}, 403), ({"Sec-Fetch-Site": "same-origin"}, 200)])
def test_pages_of_other_sites_are_refused(web, headers, status):
    a = web.ask("/api/v1/server", headers=headers)
    assert a.status == status
    assert not [h for h in a.headers if h.lower().startswith("access-control")]


def test_the_service_is_known_by_localhost_and_names_it_was_given(site):
    web = Web(site, "--host", "pbs.example:443")
    try:
        for host, status in ((f"localhost:{web.port}", 200), (f"LOCALHOST:{web.port}", 200), ("pbs.example:443", 200), ("pbs.example", 421)):
            assert web.ask("/api/v1/server", headers={"Host": host}).status == status
        own = f"http://127.0.0.1:{web.port}"
        assert web.ask("/api/v1/server", headers={"Origin": own}).status == 200
    finally:
        web.stop()


def test_it_acts_as_the_user_who_runs_it_and_shows_what_that_user_may_see(cx):
    if not users.available():
        pytest.skip("only root can run it as another user")
    cx.set_server("query_other_jobs", "False")
    mine = cx.submit("sleep 600", user=users.NAMES[0], options=("-h",))
    other = cx.submit("sleep 600", user=users.NAMES[1], options=("-h",))
    web = Web(cx, user=users.NAMES[0])
    try:
        assert [j["id"] for j in web.get("/api/v1/jobs")["jobs"]] == [mine]
        assert web.metrics()['pbs_server_request_seconds_count{request="QueueJob"}'] == 2, "sums are for every user"
        assert web.ask(f"/api/v1/jobs/{other}").status in (403, 404)
        assert web.ask(f"/api/v1/jobs/{other}/log").status in (403, 404)
    finally:
        web.stop()


@pytest.mark.parametrize("options, said", [
    (("--identity", "pam"), "not supported: a service that acts as any user"), (("--identity", "header"), "a pbs_web of their own"), (("--listen", "0.0.0.0:0"), "in the clear"),
    (("--cert", "/nonexistent"), "--cert and --key go together"), (("--listen", "nonsense:80"), "--cert and --key"), (("--days", "0"), "1 to 3653")])
def test_what_it_cannot_do_is_an_error_that_says_why(quiet, options, said):
    done = quiet.command(os.path.join(quiet.build, "sbin", "pbs_web"), *options, check=False)
    assert done.returncode and said in done.stderr, done


def test_it_speaks_tls(site, tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", cert, "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    web = Web(site, "--cert", str(cert), "--key", str(key))
    try:
        assert web.url.startswith("https://")
        c = http.client.HTTPSConnection("127.0.0.1", web.port, timeout=120, context=ssl.create_default_context(cafile=cert))
        assert web.ask("/api/v1/server", connection=c).status == 200
        c.close()
        plain = http.client.HTTPConnection("127.0.0.1", web.port, timeout=120)
        with pytest.raises((http.client.HTTPException, OSError)):
            web.ask("/api/v1/server", connection=plain)
        plain.close()
    finally:
        web.stop()


# --- clients that do not keep to the rules

def test_answers_say_what_a_browser_may_do(web):
    for path in ("/", "/api/v1/jobs", "/nonsense"):
        h = web.ask(path).headers
        policy = h["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert h["X-Content-Type-Options"] == "nosniff"


def test_paths_lead_to_no_file(web):
    for path in ("/../etc/passwd", "/assets/../../etc/passwd", "/assets/..%2f..%2fetc%2fpasswd", "/assets/%2e%2e/etc/passwd", "//etc/passwd",
                 "/assets/index.html%00.js", "/api/v1/jobs/..%2f..%2fserver", "/%", "/assets/" + "a" * 5000):
        a = web.ask(path)
        assert b"root:" not in a.body and a.status in (400, 404, 414), (path, a)
