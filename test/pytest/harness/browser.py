"""A headless Chromium, driven over its pipe (Chrome DevTools Protocol): `Browser(directory)` has one page."""
import base64
import fcntl
import itertools
import json
import os
import shutil
import subprocess

import pytest

from .wait import LIMIT_S, until

NAMES = ("chromium-headless-shell", "chromium")


def program():
    return next((p for p in map(shutil.which, NAMES) if p), None)


def _high(pair):
    """The same descriptors, beyond those that the browser wants."""
    made = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in pair]
    for fd in pair:
        os.close(fd)
    return made


class Browser:
    """Ended by stop(). `errors` are exceptions and refusals that the page has seen. `prefix`: a command that runs the browser."""

    def __init__(self, directory, width=1280, height=800, prefix=()):
        path = program()
        if not path:
            pytest.skip(f"none of {', '.join(NAMES)} is installed")
        self.errors, self._numbers = [], itertools.count(1)
        down, self._down = _high(os.pipe())
        self._up, up = _high(os.pipe())
        # The pipe is descriptors 3 and 4 of the browser.
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", f'exec 3<&{down} 4>&{up} {down}<&- {up}>&-; exec "$@"', "bash", *prefix, path, "--remote-debugging-pipe", "--no-sandbox",
             "--headless", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars=false",
             f"--user-data-dir={directory}", f"--window-size={width},{height}", "about:blank"],
            pass_fds=(down, up), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(directory), "TZ": "UTC"})
        os.close(down)
        os.close(up)
        self._rest = b""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.do(f"{domain}.enable")
        self.size(width, height)

    def _read(self):
        while b"\0" not in self._rest:
            piece = os.read(self._up, 1 << 16)
            assert piece, "the browser has ended"
            self._rest += piece
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _call(self, method, session=None, **params):
        number = next(self._numbers)
        said = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self._down, json.dumps(said).encode() + b"\0")
        while True:
            m = self._read()
            if m.get("id") == number:
                assert "error" not in m, (method, m)
                return m["result"]
            if m.get("method") == "Runtime.exceptionThrown":
                self.errors.append(m["params"]["exceptionDetails"].get("exception", {}).get("description") or str(m["params"]))
            elif m.get("method") == "Log.entryAdded" and m["params"]["entry"]["level"] == "error":
                self.errors.append(m["params"]["entry"]["text"])

    def do(self, method, **params):
        return self._call(method, self._session, **params)

    def size(self, width, height, mobile=False):
        self.do("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def dark(self, on=True):
        self.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def go(self, url):
        self.do("Page.navigate", url=url)
        until(lambda: self.js("document.readyState") == "complete", f"{url} to load")

    def js(self, expression):
        """The value of an expression, which may be a promise."""
        r = self.do("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in r, r["exceptionDetails"]
        return r["result"].get("value")

    def wait(self, expression, limit_s=2 * LIMIT_S):
        """Until the expression is true; its value."""
        return until(lambda: self.js(expression), lambda: f"{expression}; the page says {self.js('document.body.innerText')[:2000]!r}, errors {self.errors}", limit_s)

    def key(self, name, text=None):
        for kind in ("keyDown", "keyUp"):
            self.do("Input.dispatchKeyEvent", type=kind, key=name, **({"text": text} if text and kind == "keyDown" else {}),
                    **({"windowsVirtualKeyCode": 13} if name == "Enter" else {}))

    def picture(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.do("Page.captureScreenshot", format="png")["data"]))

    def stop(self):
        self.process.kill()
        self.process.wait()
        os.close(self._down)
        os.close(self._up)
