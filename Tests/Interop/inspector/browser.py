"""Headless Chromium, driven through its debugging pipe (Chrome DevTools Protocol), without packages."""
import base64, json, os, shutil, subprocess, tempfile, time


def path():
    return shutil.which("chromium") or shutil.which("google-chrome")


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp()
        read, self.out = os.pipe()
        self.input, write = os.pipe()
        # Chromium reads commands from descriptor 3, and writes to 4.
        script = f'exec 3<&{read} 4>&{write}; exec "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "browser", path(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
             f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=(read, write), stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        self.rest, self.number, self.events = b"", 0, []
        targets = self.send("Target.getTargets")["targetInfos"]
        target = next(target for target in targets if target["type"] == "page")
        self.session = None
        self.session = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log", "Performance"]:
            self.send(domain + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.input, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self.rest += part
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            reply = self.receive()
            if reply.get("id") == self.number:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']}")
                return reply["result"]
            if "method" in reply:
                self.events.append(reply)

    def run(self, script):
        """Returns the value of an expression in the page. A promise is awaited."""
        result = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "the script failed"))
        return result["result"].get("value")

    def wait(self, script, seconds=15):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > end:
                raise AssertionError(f"not true within {seconds} s: {script}")
            time.sleep(0.05)

    def open(self, url, width=1440, height=860, dark=False):
        self.size(width, height)
        self.theme(dark)
        self.send("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def size(self, width, height, scale=1):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def theme(self, dark):
        value = "dark" if dark else "light"
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def key(self, key, text=None):
        code = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "End": 35,
                "Home": 36, "PageDown": 34, "PageUp": 33}.get(key, ord(key[0].upper()))
        shown = key if len(key) == 1 else None
        for kind in ["keyDown", "keyUp"]:
            extra = {"text": shown} if shown and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **extra)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def picture(self, file):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        open(file, "wb").write(base64.b64decode(data))

    def metrics(self):
        return {item["name"]: item["value"] for item in self.send("Performance.getMetrics")["metrics"]}

    def faults(self):
        """Errors of the console and scripts, and requests of other origins."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            if event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                found.append(str(params["args"]))
            if event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
        return found

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
