"""The report of `sluice sim --html` opened in a browser: no errors on its console, lanes are the kernel's streams, the plot
is not blank, versions can be chosen, zooming and the table of waits work. Leaves screenshots in SCRATCH_DIR.

Speaks the DevTools protocol over the browser's pipe, so that nothing but Chromium is needed.

usage: browser.py SOURCE_DIR SLUICE SCRATCH_DIR
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "checks"))
from tap import Tap  # noqa: E402 (a module of tests/checks)

ROWS = ("rmsnorm", "tiled_matmul")
STRATEGIES = ("shadow", "per-loop", "barrier")
SECONDS = 120  # for everything a browser is asked; a loaded machine is slow

# Colours in the part of the plot that has lanes, and in how many of its columns and of its rows something is painted.
PLOT = """(() => {
  const canvas = document.querySelector("#%s"), copy = document.createElement("canvas");
  copy.width = canvas.width;
  copy.height = canvas.height;
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const { data, width, height } = pen.getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set(), columns = new Set(), rows = new Set();
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
    const at = 4 * (y * width + x);
    if (data[at + 3] < 40) continue;
    colours.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
    columns.add(x);
    rows.add(y);
  }
  return { colours: colours.size, columns: columns.size / width, rows: rows.size / height, width, height };
})()"""


class Browser:
    """One page of a headless Chromium."""

    def __init__(self, program, profile):
        to_child, self.out = os.pipe()
        self.input, from_child = os.pipe()
        self.deadline = time.monotonic() + SECONDS
        self.buffer = b""
        self.last = 0
        self.events = []
        arguments = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--remote-debugging-pipe", "--window-size=1400,1100", f"--user-data-dir={profile}"]

        def adopt():
            # The protocol's pipe is file 3 for reading and 4 for writing; duplicates survive exec.
            reading, writing = os.dup(to_child), os.dup(from_child)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(arguments, preexec_fn=adopt, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def receive(self):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.input], [], [], max(0, self.deadline - time.monotonic()))
            part = os.read(self.input, 1 << 20) if ready else b""
            if not part:
                raise TimeoutError("the browser does not answer")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def ask(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        """Loads a page and waits until it has painted."""
        self.events.clear()
        self.ask("Page.navigate", url=path.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())
        self.settle()

    def settle(self):
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def run(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def complaints(self):
        """What the page has said on its console, exceptions, and what it asked the network for."""
        said = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                said.append(json.dumps(parameters)[:500])
            elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "data:")):
                said.append(parameters["request"]["url"])
        return said

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        try:
            self.session = None
            self.ask("Browser.close")
            self.process.wait(20)
        except (TimeoutError, RuntimeError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.input)


def is_painted(plot):
    return plot["colours"] >= 6 and plot["columns"] > .9 and plot["rows"] > .5


def check_row(tap, browser, row, page, streams, scratch):
    """What must hold of one kernel's page, with the streams that the simulation's JSON names."""
    browser.open(page)
    lanes = browser.run('Array.from(document.querySelectorAll("#lanes .lane"), (lane) => lane.dataset.stream)')
    tap.check(lanes == streams, f"{row}: the lanes are the kernel's streams", f"{lanes}, not {streams}")
    plot = browser.run(PLOT % "slices")
    tap.check(is_painted(plot), f"{row}: the plot is not blank", plot)
    aligned = browser.run('document.querySelector("#lanes").getBoundingClientRect().height === '
                          'document.querySelector("#slices").getBoundingClientRect().height')
    tap.check(aligned, f"{row}: names stand beside their lanes")
    overview = browser.run(PLOT % "overview")
    tap.check(overview["colours"] >= 2 and overview["columns"] > .9, f"{row}: the overview is not blank", overview)
    browser.screenshot(scratch / f"{row}.png")

    names = browser.run('Array.from(document.querySelectorAll("#comparison tbody tr td:first-child"), (cell) => cell.textContent)')
    tap.check(names == [*STRATEGIES, "ideal"], f"{row}: versions are compared", names)
    before = browser.run('document.querySelector("#window").textContent')
    browser.run('document.querySelector("#zoom-in").click()')
    browser.settle()
    after = browser.run('document.querySelector("#window").textContent')
    zoomed = browser.run(PLOT % "slices")
    tap.check(before != after and zoomed["colours"] >= 3, f"{row}: zooming shows a shorter time", f"{before}, {after}, {zoomed}")
    browser.run('document.querySelector("#comparison tbody tr:nth-child(3)").click()')
    browser.settle()
    chosen = browser.run('document.querySelector("#timeline .of").textContent')
    tap.check(chosen == "barrier" and is_painted(browser.run(PLOT % "slices")), f"{row}: another version can be chosen", chosen)
    browser.run('document.querySelector("#stalls tbody tr").click()')
    browser.settle()
    marked = browser.run('document.querySelectorAll("#stalls tr.chosen").length')
    shown = browser.run('document.querySelector("#window").textContent')
    tap.check(marked == 1 and shown != after and browser.run(PLOT % "slices")["colours"] >= 3,
              f"{row}: a wait is shown in the timeline", shown)
    browser.screenshot(scratch / f"{row}.wait.png")
    hover = """(() => { const box = document.querySelector("#slices").getBoundingClientRect();
      for (let y = 30; y < box.height && document.querySelector("#tip").hidden; y += 4)
        document.querySelector("#slices").dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width / 2,
          clientY: box.top + y, bubbles: true }));
      return document.querySelector("#tip").hidden ? "" : document.querySelector("#tip").textContent; })()"""
    tap.check(browser.run(hover), f"{row}: pointing at a slice tells what it is")
    tap.check(not browser.complaints(), f"{row}: nothing on the console, nothing asked of the network",
              "\n".join(browser.complaints()))


def make_page(tap, source, sluice, row, scratch):
    """Returns the page and the names of the kernel's streams."""
    kernel, page = source / "bench" / "table2" / f"{row}.slu", scratch / f"{row}.html"
    strategies = [f"--alloc={name}" for name in STRATEGIES]
    done = tap.run(f"{row}: sluice sim --html",
                   [sluice, "sim", str(kernel), *strategies, "--sync=ideal", "--json", f"--html={page}"])
    kernels = json.loads(done.stdout)
    kernels = kernels.get("kernels", kernels) if isinstance(kernels, dict) else kernels
    return page, [stream["name"] for stream in kernels[0]["streams"]]


def main():
    source, sluice, scratch = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    tap = Tap()
    pages = {row: make_page(tap, source, sluice, row, scratch) for row in ROWS}
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        tap.skip("reports in a browser", "chromium is not installed")
        tap.finish()
    browser = None
    try:
        browser = Browser(program, scratch / "profile")
        for row, (page, streams) in pages.items():
            check_row(tap, browser, row, page, streams, scratch)
    except (TimeoutError, RuntimeError, OSError) as error:
        tap.check(False, "the browser does what it is asked", error)
    finally:
        if browser:
            browser.close()
    tap.finish()


main()
