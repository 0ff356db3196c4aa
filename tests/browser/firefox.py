"""Debian's Firefox by WebDriver BiDi, as far as a smoke test needs it: goes to an address, evaluates, takes pictures, and
keeps what the console says."""

import base64
import contextlib
import json
import re
import signal
import subprocess
import tempfile
import time

import websockets.sync.client


class Firefox:
    def __init__(self):
        self.profile = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(["firefox-esr", "--headless", "--no-remote", "--profile", self.profile.name, "--remote-debugging-port", "0"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.said = []
        for line in self.process.stderr:
            if match := re.search(r"WebDriver BiDi listening on (ws://\S+)", line):
                break
        self.connection = contextlib.ExitStack()
        self.socket = self.connection.enter_context(websockets.sync.client.connect(match[1] + "/session", max_size=None))
        self.number = 0
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            answer = json.loads(self.socket.recv(60))
            if answer.get("method") == "log.entryAdded":
                self.said.append((answer["params"]["level"], answer["params"]["text"]))
            elif answer.get("id") == self.number:
                assert answer["type"] == "success", answer
                return answer["result"]

    def go(self, url):
        self.ask("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def evaluate(self, expression):
        # In a realm of its own: the page's policy is about the page.
        result = self.ask("script.evaluate", expression=expression, target={"context": self.context, "sandbox": "test"}, awaitPromise=True)
        assert result["type"] == "success", result
        return result["result"].get("value")

    def until(self, expression, seconds=30):
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            assert time.monotonic() < end, f"not within {seconds} s: {expression}"
            time.sleep(0.05)

    def picture(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.ask("browsingContext.captureScreenshot", context=self.context)["data"]))

    def problems(self):
        return [text for level, text in self.said if level in ("error", "warn")]

    def stop(self):
        self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        self.profile.cleanup()
