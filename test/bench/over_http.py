"""pbs_web: requests a second, lists, metrics with many jobs, and what it costs the server."""
import json
import socket
import tempfile
import threading
import time

import host
from show import ms, note, rate, row

BATCH = 50


class OverHttp:
    def web(self):
        from harness.web import Web
        print("pbs_web")
        cx = self.complex(nodes=0, sched=False).start()
        web = None
        try:
            script = cx.script("true")
            alone = self.submitted(cx, script, 10000)
            web = Web(cx)
            self.wait_for_changes(web)
            jobs = cx.api.select()
            for connections in (1, 4):
                n, seconds = self.singles(web, jobs, connections, 4000)
                row(f"one job a request, {connections} connection{'s' * (connections > 1)}", rate(n, seconds), "1,000/s")
            self.listed(web, "10,000 jobs, all attributes", "/api/v1/jobs?limit=10000")
            self.listed(web, "10,000 jobs, six attributes",
                        "/api/v1/jobs?limit=10000&fields=Job_Name,Job_Owner,job_state,queue,comment,Resource_List", "")
            self.painted(cx, web)
            row("submission with it, of that without", f"{self.submitted(cx, script, 10000) / alone:.2f}", "0.99")
            self.submit_load(cx, 80000, script, under_way=64)
            self.listed(web, "/metrics, 100,000 jobs", "/metrics", "50 ms")
            self.listed(web, "a page of 100 of 100,000 jobs", "/api/v1/jobs?limit=100&offset=50000", "")
            before, own = host.cpu_s(cx.pid("server")), host.cpu_s(web.process.pid)
            time.sleep(10)
            row("server's processor time in 10 s, idle", f"{host.cpu_s(cx.pid('server')) - before:.2f} s", "0")
            note(f"{host.cpu_s(web.process.pid) - own:.2f} s of its own; it has {host.resident_bytes(web.process.pid) / 2**20:.0f} MB")
        finally:
            if web:
                web.stop()
            cx.stop()

    def submitted(self, cx, script, n):
        """Jobs a second."""
        calls, seconds, *_ = self.submit_load(cx, n, script, under_way=64)
        return calls / seconds

    @staticmethod
    def painted(cx, web):
        """A browser: from the address to the list of 10,000 jobs, and from a change to its row."""
        from harness import browser
        if not browser.program():
            note("no headless Chromium is installed: the page is not measured")
            return
        with tempfile.TemporaryDirectory() as directory:
            b = browser.Browser(directory)
            try:
                b.go(web.url)
                b.js(f"sessionStorage.setItem('cede-token', {json.dumps(web.token)})")
                begin = time.monotonic()
                b.go(web.url)
                b.wait("document.querySelectorAll('.grid-body .grid-row').length > 10")
                row("the page with 10,000 jobs, first rows", ms(time.monotonic() - begin), "")
                job = cx.api.select()[0]
                begin = time.monotonic()
                cx.api.hold(job, "u")
                b.wait("document.querySelector('.grid-body .grid-row').children[4].textContent === 'H'")
                row("a change, until its row shows it", ms(time.monotonic() - begin), "")
            finally:
                b.stop()

    @staticmethod
    def wait_for_changes(web):
        from harness.wait import until
        until(lambda: web.metrics()["pbs_web_changes_total"] >= 10000, "the stream of changes")

    @staticmethod
    def listed(web, what, path, aim="300 ms"):
        took = []
        connection = web.connect()
        for _ in range(5):
            begin = time.monotonic()
            a = web.ask(path, connection=connection)
            took.append(time.monotonic() - begin)
            assert a.status == 200
        row(what, ms(sorted(took)[2]), aim)
        note(f"{len(a.body) / 2**20:.2f} MB")

    @staticmethod
    def singles(web, jobs, connections, n):
        """n requests over some connections, many on the way on each; how many, and the seconds."""
        def run(part):
            with socket.create_connection(("127.0.0.1", web.port)) as s:
                for first in range(0, len(part), BATCH):
                    batch = part[first:first + BATCH]
                    s.sendall("".join(f"GET /api/v1/jobs/{j} HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\nAuthorization: Bearer {web.reader}\r\n\r\n"
                                      for j in batch).encode())
                    got, seen = b"", 0
                    while seen < len(batch):
                        piece = s.recv(1 << 18)
                        assert piece
                        got += piece
                        seen = got.count(b"\r\n\r\n{") if got.endswith(b"}\n") else 0
                    assert got.count(b"HTTP/1.1 200 OK") == len(batch)
        threads = [threading.Thread(target=run, args=(jobs[i:n:connections],)) for i in range(connections)]
        begin = time.monotonic()
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return n, time.monotonic() - begin
