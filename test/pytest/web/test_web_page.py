"""The page in a headless Chromium: it shows what qstat shows, follows what happens, and can be used by the keyboard."""
import json

import pytest

from harness import browser, users
from harness.complex import Complex
from harness.sim import Simulator
from harness.wait import until
from harness.web import Web

pytestmark = pytest.mark.skipif(not browser.program(), reason="no headless Chromium is installed (tools/deps)")
SHOWN = """[...document.querySelectorAll('.grid-body .grid-row')].map(r => [...r.children].map(c => c.textContent))"""


@pytest.fixture
def page(tmp_path):
    """open(web, view): a page that is signed in and up to date."""
    b = browser.Browser(tmp_path)

    def sign_in(web, view="jobs"):
        b.go(web.url)
        b.wait("document.getElementById('login').open")
        b.js(f"document.getElementById('token').value = {json.dumps(web.token)}; document.querySelector('#login button').click()")
        b.wait("document.body.dataset.ready === 'yes'")
        show(view)
        return b

    def show(view):
        b.js(f"location.hash = {json.dumps('#' + view)}")
    b.sign_in, b.show = sign_in, show
    yield b
    assert b.errors == []
    b.stop()


@pytest.fixture
def web(cx):
    w = Web(cx)
    yield w
    w.stop()


def test_the_list_is_that_of_qstat_and_follows_what_happens(cx, web, page):
    running = cx.submit("sleep 600", select="1:ncpus=1", Job_Name="<b>&amp;x")
    until(lambda: cx.stat(running).get("substate") == "42", "the job to run")
    waiting = cx.submit("sleep 600", select="1:ncpus=64", Job_Name="big")
    until(lambda: "comment" in cx.stat(waiting), "the reason why it waits")
    page.sign_in(web)
    rows = page.wait(f"{SHOWN}.length === 2 && {SHOWN}")
    jobs = json.loads(cx.command("qstat", "-f", "-F", "json").stdout)["Jobs"]
    assert [r[0] for r in rows] == list(jobs)
    for row, (_, a) in zip(rows, jobs.items()):
        assert row[1:5] == [a["Job_Name"], a["Job_Owner"].split("@")[0], a["queue"], a["job_state"]] and row[5] == str(a["Resource_List"]["ncpus"])
    assert rows[0][7] == "n1" and rows[1][7] == jobs[waiting]["comment"]
    cx.api.hold(waiting, "u")
    page.wait(f"{SHOWN}[1][4] === 'H'")
    cx.api.delete(running, "force")
    page.wait(f"{SHOWN}.length === 1")
    cx.kill("server")
    page.wait("document.getElementById('link').dataset.state === 'off'")
    page.errors.clear()  # a failed request is told as an error
    cx.restart("server")
    page.wait("document.getElementById('link').dataset.state === 'on'")
    page.errors.clear()


def test_a_job_is_opened_by_the_keyboard_and_deleted_by_a_click(cx, web, page):
    first, second = cx.submit("sleep 600", Hold_Types="u"), cx.submit("sleep 600", Hold_Types="u", Job_Name="second")
    page.sign_in(web)
    page.wait(f"{SHOWN}.length === 2")
    page.js("document.querySelector('.grid').focus()")
    page.key("ArrowDown")
    page.key("ArrowDown")
    assert page.js("document.querySelector('[aria-selected=true]').dataset.id") == second
    page.key("Enter")
    page.wait(f"document.querySelector('h2').textContent.includes('Job {second}') && document.querySelector('h2').textContent.includes('second')")
    page.js("[...document.querySelectorAll('button')].find(b => b.textContent === 'Release').click()")
    cx.wait(second, "R")
    page.wait("document.querySelector('h2 .state').textContent === 'R'")
    page.js("[...document.querySelectorAll('button')].find(b => b.textContent === 'Log').click()")
    page.wait(f"[...document.querySelectorAll('td')].some(c => c.textContent.startsWith('Job Queued at request of'))")
    page.js("window.confirm = () => true; [...document.querySelectorAll('button')].find(b => b.textContent === 'Delete').click()")
    cx.wait_gone(second)
    assert cx.stat(first)
    page.wait("document.querySelector('.why').textContent.includes('not there')")
    page.errors.clear()  # the browser tells the 404 as an error


def test_markup_in_names_comments_and_output_is_shown_as_text(cx, web, page):
    """In every view; nothing of it becomes an element or runs. A name has no blank and no slash, so it names an element without attributes."""
    name, markup = "<img>&lt;", "<img src=x onerror=window.broken=1>"
    job = cx.submit(f"echo '{markup}'; sleep 600", select="1:ncpus=1", Job_Name=name, Account_Name=markup, Variable_List=f"WORD={markup}")
    until(lambda: cx.stat(job).get("substate") == "42", "the job to run")
    waiting = cx.submit("sleep 600", Hold_Types="u", Job_Name=name)
    for one in (job, waiting):
        cx.api.alter(one, [("comment", None, markup)])
    cx.qmgr(f"set node n1 comment = '{markup}'")
    broken = "document.querySelectorAll('img').length + (window.broken === undefined ? 0 : 1)"
    clean = f"{broken} === 0 && document.body.textContent.includes({json.dumps(markup)})"
    page.sign_in(web)
    page.wait(f"{SHOWN}.length === 2 && {SHOWN}.every(r => r[1] === {json.dumps(name)}) && {SHOWN}[1][7] === {json.dumps(markup)}")
    assert page.js(clean)
    page.show(f"job/{job}")
    page.wait(f"document.querySelector('h2') && document.querySelector('h2').textContent.includes({json.dumps(name)})")
    for button, told in (("Output so far", "[...document.querySelectorAll('pre')].some(p => p.textContent.startsWith(%s))" % json.dumps(markup)),
                       ("Log", "[...document.querySelectorAll('td')].some(c => c.textContent.startsWith('Job Queued at request of'))")):
        page.js(f"[...document.querySelectorAll('button')].find(b => b.textContent === '{button}').click()")
        page.wait(told)
    assert page.js(clean)
    for view in ("Nodes", "Timeline", "Reports", "Preemptions"):
        page.show(view.lower())
        page.wait(f"document.querySelector('h2').textContent === '{view}'")
        if view == "Nodes":
            page.js("document.querySelector('.cell').click()")
            page.wait(f"[...document.querySelectorAll('dd')].some(d => d.textContent === {json.dumps(markup)})")
        assert page.js(f"{broken} === 0"), view


def test_a_preemption_is_shown_with_who_gave_way_to_whom(cx, web, page):
    page.sign_in(web, "preemptions")
    cx.make_queue("express", Priority="200")
    cx.set_sched("preempt_order", "R")
    low = cx.submit("sleep 600", select="1:ncpus=4")
    until(lambda: cx.stat(low).get("substate") == "42", "the job to run")
    high = cx.submit("sleep 600", select="1:ncpus=4", queue="express", l_walltime="1:00:00")
    cx.wait(high, "R")
    page.wait(f"[...document.querySelectorAll('tbody tr')].some(r => r.textContent.includes('{low}') && r.textContent.includes('{high}') && r.textContent.includes('requeued'))")
    page.show("timeline")
    page.wait(f"[...document.querySelectorAll('.bar.runs')].some(b => b.title.startsWith('{high} '))")
    page.show("nodes")
    page.wait("document.querySelector('.cell').getAttribute('aria-label') === 'n1: job-busy, 4 of 4 cpus used'")
    page.show("reports")
    page.wait("document.querySelector('caption').textContent === 'Now, by user'")


@pytest.mark.complex(history=True)
def test_the_report_of_a_week_sums_by_user_and_by_queue(cx, web, page):
    cx.make_queue("other")
    for queue, script in (("workq", "true"), ("workq", "exit 3"), ("other", "true")):
        cx.wait(cx.submit(script, queue=queue), "F")
    page.sign_in(web, "reports")
    for by, rows in (("user", {users.me(): [3, 1]}), ("queue", {"workq": [2, 1], "other": [1, 0]})):
        page.js(f"document.getElementById('by').value = '{by}'; document.getElementById('by').dispatchEvent(new Event('change'))")
        page.js("[...document.querySelectorAll('button')].find(b => b.textContent === 'Finished jobs').click()")
        caption = f"Finished, by week and {by}"
        table = f"[...document.querySelectorAll('table')].find(t => t.caption.textContent === '{caption}')"
        shown = page.wait(f"{table} && [...{table}.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent))")
        for key, expected in rows.items():  # in two rows, where a week has begun meanwhile
            assert [sum(int(r[i]) for r in shown if r[1] == key) for i in (2, 3)] == expected, shown


def submit_held(cx, n):
    """Jobs that do nothing, many calls under way at once."""
    script = cx.script("true")
    for _ in range(n // 100):
        for ticket in [cx.api.submit_send([("Hold_Types", None, "u"), ("User_List", None, users.me())], script) for _ in range(100)]:
            cx.api.submit_recv(ticket)


def test_ten_thousand_jobs_and_a_thousand_nodes_stay_usable(page):
    """Only the rows in sight exist."""
    cx = Complex(nodes=0, sched=False).start()
    web = None
    try:
        with Simulator(cx, nodes=1000, ncpus=8):
            until(lambda: len(cx.api.stat("vnode", want=["state"])) == 1000, "the nodes")
            submit_held(cx, 10000)
            web = Web(cx)
            page.sign_in(web)
            page.wait("document.querySelector('.sum').textContent.startsWith('10,000 of 10,000 jobs')")
            assert page.js(f"{SHOWN}.length") < 100
            page.js("document.querySelector('.grid').focus()")
            page.key("ArrowDown")
            page.key("End")
            last = page.wait("document.querySelector('[aria-selected=true]')?.dataset.id")
            assert last == cx.api.select()[-1]
            page.js("const s = document.getElementById('search'); s.value = 'nosuchjob'; s.dispatchEvent(new Event('input'))")
            page.wait("document.querySelector('.sum').textContent.startsWith('0 of 10,000')")
            page.show("nodes")
            page.wait("document.querySelectorAll('.cell').length === 1000")
            page.js("document.querySelector('.cell').focus()")
            page.key("ArrowRight")
            assert page.js("document.activeElement.dataset.id") == page.js("document.querySelectorAll('.cell')[1].dataset.id")
    finally:
        if web:
            web.stop()
        cx.stop()


def test_a_wrong_token_is_asked_for_again(web, page):
    page.go(web.url)
    page.wait("document.getElementById('login').open")
    page.js("document.getElementById('token').value = 'cede_wrong'; document.querySelector('#login button').click()")
    page.wait("document.getElementById('login').open && document.getElementById('login-why').textContent.includes('wrong')")
    page.errors.clear()  # the browser tells the 401 as an error
    page.sign_in(web)
