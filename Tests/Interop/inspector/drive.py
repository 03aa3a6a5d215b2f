"""Drives the page of the inspector in headless Chromium. Usage: drive.py SCENES RECORDINGS HOSTILE [PICTURES]"""
import base64, json, os, re, subprocess, sys, time
from browser import Browser

scenes, recordings, hostile_file = sys.argv[1:4]
pictures = sys.argv[4] if len(sys.argv) > 4 else None
passed = failed = 0


def check(text, found, expected=True):
    global passed, failed
    if found == expected:
        passed += 1
        print(f"ok    {text}")
    else:
        failed += 1
        print(f"FAIL  {text}: {found!r} instead of {expected!r}")


def timely(text, found):
    """Checks a time only if NETLAYER_TIMES is set, because a busy machine is slow."""
    if os.environ.get("NETLAYER_TIMES"):
        check(text, found)
    elif not found:
        print(f"slow  {text}")


class Scene:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([scenes, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def line(self):
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def quiet(browser, url, name):
    origin = re.match(r"https?://[^/]+", url)[0]
    strange = [request for request in browser.requests() if not request.startswith((origin, "blob:" + origin, "data:,", "about:"))]
    check(f"{name}: no request to another origin", strange, [])
    check(f"{name}: no error in the console", browser.faults(), [])
    browser.events = []


def rows(browser):
    return browser.run("rows.filter((row) => row.attempt < 0).length")


def gallery():
    scene, browser = Scene("gallery"), Browser()
    browser.open(scene.url)
    browser.wait("rows.length > 0")
    check("rows arrive while the app runs", browser.run("document.querySelector('#state').textContent"), "Live")
    check("the app has made its calls", scene.line(), "ready")
    browser.wait("[...calls.values()].some((call) => call.path.includes('page=2'))")
    browser.run("document.querySelector('#scroll').scrollTop = 0")
    time.sleep(2.2)
    if pictures:
        browser.size(1280, 720, 1.5)
        for dark in [False, True]:
            browser.theme(dark)
            browser.run("select([...calls.values()].find((call) => call.attempts.length > 1), true)")
            browser.wait("detail && detail.data != null")
            browser.run("$('scroll').scrollTop = 0")
            time.sleep(0.3)
            browser.picture(os.path.join(pictures, "inspector~dark.png" if dark else "inspector.png"))
        browser.theme(False)
        browser.run("closeDetail()")
        browser.size(1440, 860)
    text = browser.run("document.querySelector('#rows').innerText")
    for part in ["200 · 4001", "3 attempts", "shared #", "cache", "revalidated", "1 redirect", "timeout", "404", "cancelled",
                 "200 open", "101 open", "Attempt 2 after a pause of 310 ms"]:
        check(f"the list shows {part!r}", part in text)
    check("failed calls have a red edge", browser.run("document.querySelectorAll('.row.bad:not([hidden])').length >= 4"))

    def filtered(text):
        browser.run(f"$('filter').value = {json.dumps(text)}; $('filter').dispatchEvent(new Event('input'))")
        return browser.run("rows.filter((row) => row.attempt < 0).map((row) => row.call.path)")

    everything = filtered("")
    check("status:4xx", filtered("status:4xx"), ["/v2/search" + next(p for p in everything if "search" in p)[10:], "/v2/missing"])
    check("status:4001", filtered("status:4001"), ["/v2/posts/311/like"])
    check("status:timeout", filtered("status:timeout"), ["/report.csv"])
    check("is:retried", filtered("is:retried"), ["/v2/notifications"])
    check("is:redirected", filtered("is:redirected"), ["/old/albums"])
    check("is:open", sorted(filtered("is:open")), ["/room/7", "/v2/events"])
    check("is:cancelled", filtered("is:cancelled"), ["/v2/export.ndjson"])
    check("kind:image -1 -2", filtered("kind:image -/1 -/2"), ["/a/0.png", "/a/3.png"])
    check("host:localhost", len(filtered("host:localhost")), 5)
    check("endpoint:notif", filtered("endpoint:notif"), ["/v2/notifications"])
    check("method:put", filtered("method:put"), ["/v2/photos/88/original"])
    check("time:>1.9s without streams", "/report.csv" in filtered("time:>1.9s"))
    check("a quoted text", filtered('"/v2/missing"'), ["/v2/missing"])
    check("words must all match", filtered("v2 missing"), ["/v2/missing"])
    filtered("is:unknown")
    check("an unknown condition marks the field", browser.run("$('filter').getAttribute('aria-invalid')"), "true")
    check("and hides nothing", rows(browser), len(everything))
    filtered("nothing-has-this")
    check("no match offers all", browser.run("$('empty').innerText").startswith("No call matches"))
    browser.run("[...$('empty').querySelectorAll('button')][0].click()")
    check("Show all", rows(browser), len(everything))
    browser.run("[...$('kinds').children].find((b) => b.textContent === 'Sockets').click()")
    check("the kind button Sockets", rows(browser), 1)
    browser.run("[...$('kinds').children][0].click()")

    browser.run("closeDetail(); $('list').focus(); selected = null")
    browser.key("Home")
    first = browser.run("selected")
    browser.key("j")
    browser.key("ArrowDown")
    check("j and the arrow move", browser.run("selected"), first + 2)
    browser.key("k")
    check("k moves back", browser.run("selected"), first + 1)
    browser.key("n")
    check("n chooses the next failed call", browser.run("calls.get(selected).failed"))
    browser.key("Enter")
    browser.wait("!$('detail').hidden && detail.data")
    browser.key("Escape")
    check("Enter opens the detail, Escape closes it", browser.run("$('detail').hidden"))
    retried = "[...calls.values()].find((call) => call.attempts.length > 1)"
    browser.run(f"select({retried})")
    browser.key("ArrowLeft")
    check("the left arrow hides the attempts", browser.run("rows.some((row) => row.attempt >= 0)"), False)
    browser.key("ArrowRight")
    check("the right arrow shows them", browser.run("rows.filter((row) => row.attempt >= 0).length"), 3)
    browser.key("/")
    check("/ focuses the filter", browser.run("document.activeElement.id"), "filter")
    browser.key("Escape")
    browser.key("p")
    check("p pauses", browser.run("paused"))
    browser.wait("held.length > 0")
    check("the state counts what arrives", browser.run("$('state').textContent").startswith("Paused · "))
    browser.key("p")
    browser.wait("!paused && held.length === 0")
    browser.key("?")
    check("? shows the help", browser.run("$('about').open"))
    browser.run("$('about').close()")

    check("a treegrid with rows and columns", browser.run(
        "document.querySelectorAll('[role=treegrid] [role=columnheader]').length === 8 &&"
        " document.querySelectorAll('[role=row][aria-rowindex] [role=gridcell]').length > 8"))
    check("the active row is named", browser.run("!!document.getElementById($('list').getAttribute('aria-activedescendant'))"))

    browser.run(f"openDetail({retried})")
    browser.wait("detail.data")
    pane = browser.run("$('pane').innerText")
    check("the sentence says where the time went", "3 attempts. Most of the time went to pauses between attempts (" in pane)
    check("three attempts with their pauses", pane.count("Attempt ") == 3 and "after a pause of 620 ms" in pane)
    browser.run("tab = 'timing'; openDetail([...calls.values()].find((call) => call.error === 'timeout'))")
    browser.wait("detail.data")
    check("an error has its reason", "timeout" in browser.run("$('pane').innerText"))
    browser.run("tab = 'response'; openDetail([...calls.values()].find((call) => call.path.startsWith('/v2/feed')))")
    browser.wait("detail.data")
    pane = browser.run("$('pane').innerText")
    check("JSON keeps every digit", "9007199254740993" in pane)
    browser.run("const field = document.querySelector('[data-name=find]'); field.value = 'porto'; field.dispatchEvent(new Event('input'))")
    check("find opens and marks", browser.run("document.querySelector('#pane mark').textContent"), "Porto")
    browser.run("openDetail([...calls.values()].find((call) => call.kind === 'image'))")
    browser.wait("document.querySelector('#pane img')?.naturalWidth === 8")
    check("an image is shown", True)
    browser.run("tab = 'messages'; openDetail([...calls.values()].find((call) => call.kind === 'socket'))")
    browser.wait("detail.data")
    check("frames are shown", 'typing: "Li"' in browser.run("$('pane').innerText"))
    browser.run("openDetail([...calls.values()].find((call) => call.kind === 'event'))")
    browser.wait("detail.data")
    count = browser.run("detail.call.messages")
    browser.wait(f"detail.call.messages > {count}")
    check("events of an open stream arrive", True)
    browser.run("closeDetail()")

    browser.send("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.run("$('list').focus(); select([...calls.values()][0])")
    browser.key("x")
    browser.wait("navigator.clipboard.readText().then((text) => text.startsWith('curl '))")
    browser.key("s")
    browser.wait("navigator.clipboard.readText().then((text) => text.startsWith('let response = try await network.fetch('))")
    check("x copies as curl, s as Swift", True)

    exported = json.loads(browser.run("fetch(base + 'har').then((r) => r.text())"))
    check("the export is HAR 1.2", (exported["log"]["version"], len(exported["log"]["entries"]) >= rows(browser)), ("1.2", True))
    for width in [1440, 800, 420]:
        browser.size(width, 860)
        time.sleep(0.2)
        check(f"{width} pixels: every column is below its head", browser.run("""(() => {
          const left = (selector) => [...document.querySelectorAll(selector)].map((cell) => Math.round(cell.getBoundingClientRect().left));
          const heads = left(".head > div"), cells = left(".row:not([hidden]) > div").slice(0, heads.length);
          return JSON.stringify(heads) === JSON.stringify(cells) || heads + " | " + cells;
        })()"""), True)
    browser.size(1440, 860)
    filter = "$('filter').value = '%s'; $('filter').dispatchEvent(new Event('input'))"
    browser.run(filter % "contains:9007199254740993")
    browser.wait("rows.length && rows.every((row) => row.call.path.startsWith('/v2/feed'))")
    check("a text of a body is found in every call", True)
    browser.run(filter % "")
    browser.run("$('align').click()")
    time.sleep(0.2)
    check("Align draws all from one start", browser.run("$('align').getAttribute('aria-pressed')"), "true")
    browser.run("$('align').click()")
    browser.run("[...document.querySelectorAll('.head button')].find((b) => b.textContent === 'Time').click()")
    check("a column sorts", browser.run("rows[0].call.time == null || rows[0].call.time >= rows[rows.length - 1].call.time"))
    browser.run("sort = null; changed()")

    for name in sorted(os.listdir(recordings)):
        if not name.endswith(".har"):
            continue
        data = base64.b64encode(open(os.path.join(recordings, name), "rb").read()).decode()
        browser.run(f"importFile(new File([Uint8Array.from(atob('{data}'), (c) => c.charCodeAt(0))], '{name}'))")
        check(f"{name} opens", browser.run("calls !== live && calls.size > 10 && $('banner').innerText.includes('Back to live')"))
        for tab in ["timing", "request", "response", "messages"]:
            browser.run(f"(async () => {{ for (const call of calls.values()) {{ tab = '{tab}'; await openDetail(call); }} }})()")
        text = browser.run("[...details.values()].map((d) => JSON.stringify(d)).join() + JSON.stringify([...calls.values()])")
        check(f"{name} shows no secret", [s for s in ["s3cr3t", "hunter2", "abc.def.ghi", "s3ss10n"] if s in text], [])
    quiet(browser, scene.url, "gallery")
    browser.run("importFile(new File(['{\"log\":'], 'cut.har'))")
    check("a cut file is refused with its reason", "cut.har can't be opened" in browser.run("$('banner').innerText"))
    browser.events = []  # the browser logs the status 422
    browser.run("$('banner').reason = null; backToLive()")
    check("back to the live calls", browser.run("calls === live && calls.size > 10"))

    for width in [1440, 800]:
        for dark in [False, True]:
            browser.size(width, 860)
            browser.theme(dark)
            browser.run(f"tab = 'timing'; openDetail({retried})")
            browser.wait("detail.data")
            time.sleep(0.2)
            check(f"{width} pixels, {'dark' if dark else 'light'}: nothing is cut", browser.run(
                "document.documentElement.scrollWidth <= innerWidth && document.querySelector('#pane').scrollWidth <= document.querySelector('#pane').clientWidth"))
            worst = browser.run(CONTRAST)
            check(f"{width} pixels, {'dark' if dark else 'light'}: text has a contrast of 4.5", worst >= 4.5)
    browser.run("fetch(base + 'clear', { method: 'POST' })")
    browser.wait("[...calls.values()].every((call) => call.state === 'open')")
    check("Clear keeps the open calls", rows(browser), 2)
    scene.end()
    browser.wait("$('banner').innerText.startsWith('Disconnected')")
    check("the calls stay when the app ends", rows(browser), 2)
    browser.close()


# The lowest contrast of visible text and what is behind it (WCAG 1.4.3).
CONTRAST = """(() => {
  const parse = (color) => { const p = color.match(/[\\d.]+/g).map(Number); return p.length < 4 ? [...p, 1] : p; };
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  let worst = 99;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest('script, style, dialog')) continue;
    let behind = element, back = null;
    while (behind && !back) { const c = parse(getComputedStyle(behind).backgroundColor); if (c[3] === 1) back = c; behind = behind.parentElement; }
    const a = light(parse(getComputedStyle(element).color)), b = light(back ?? [255, 255, 255]);
    worst = Math.min(worst, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return worst;
})()"""


def hostile():
    scene, browser = Scene("hostile", hostile_file), Browser()
    browser.send("Page.addScriptToEvaluateOnNewDocument", source="window.hits = []; window.hit = (x) => hits.push(x);")
    browser.open(scene.url)
    browser.wait("calls.size >= 200 && [...calls.values()].every((call) => call.state !== 'open')")
    count = browser.run("calls.size")
    values = json.load(open(hostile_file))["values"]
    check("every value is in calls", count >= 5 * len(values))
    for top in range(0, 200 * 26, 500):
        browser.run(f"document.querySelector('#scroll').scrollTop = {top}")
        time.sleep(0.03)
    shown = browser.run("""(async () => {
      const texts = [];
      for (const call of calls.values()) for (const name of ["timing", "request", "response", "messages"]) {
        tab = name; asText = false; await openDetail(call); texts.push($("detail").innerText);
        if (name === "response") { asText = true; showDetail(); texts.push($("detail").innerText); }
      }
      return texts.join("\\n");
    })()""")
    time.sleep(0.5)
    check("no value runs", browser.run("hits"), [])
    check("the document is the page", browser.run("document.title + document.querySelectorAll('script').length + document.querySelectorAll('iframe, object, embed, form, base, math').length"), "Inspector10")
    for value in values:
        text = value.get("text")
        if text and len(text) < 200 and value["id"] not in ("crlf-header",) and not re.search(r"[^\x20-\x7e]", text):
            check(f"{value['id']} is shown as it is", text in shown)
    invisible = re.findall("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", shown)
    check("nothing invisible is shown", invisible, [])
    check("it is shown in visible form", all(form in shown for form in ["\\u{202E}", "\\u{200B}", "\\u{1B}", "\\u{2028}"]))
    listed = browser.run("""(async () => {
      let text = "";
      for (let top = 0; top < rows.length * 26; top += 500) {
        $("scroll").scrollTop = top;
        await new Promise((done) => setTimeout(done, 40));
        text += $("rows").innerText;
      }
      return text;
    })()""")
    check("nor in the list", re.findall("[\u0001-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", listed), [])
    # The browser reports an image that is not one by an event only.
    quiet(browser, scene.url, "hostile")
    scene.end()
    browser.close()


def many():
    scene, browser = Scene("many"), Browser()
    start = time.monotonic()
    browser.open(scene.url)
    browser.wait("calls.size === 10000", 30)
    print(f"      10,000 calls loaded after {time.monotonic() - start:.2f} s")
    check("10,000 calls need at most 1,000 elements", browser.run("document.querySelectorAll('*').length") <= 1000)
    for speed, name in [(78, "3 rows"), (2400, "92 rows")]:
        browser.run("$('scroll').scrollTop = 0")
        time.sleep(0.3)
        before = browser.metrics()
        frames = browser.run(f"""new Promise((done) => {{
          let frames = 0;
          (function step() {{
            $("scroll").scrollTop += {speed};
            if (++frames < 120) requestAnimationFrame(step); else done(frames);
          }})();
        }})""")
        after = browser.metrics()
        # The durations include the time in which other processes had the processor.
        share = (after["ThreadTime"] - before["ThreadTime"]) / max(1e-9, after["TaskDuration"] - before["TaskDuration"])
        durations = sum(after[key] - before[key] for key in ["ScriptDuration", "RecalcStyleDuration", "LayoutDuration"])
        spent = durations * min(1, share) / frames * 1000
        print(f"      {spent:.1f} ms of processor time for script, style and layout of each frame at {name}")
        timely(f"at most 16 ms for each frame at {name}", spent <= 16)
    check("the filter finds in 10,000", browser.run("$('filter').value = 'status:5xx is:error'; $('filter').dispatchEvent(new Event('input')); rows.length"), len([n for n in range(10000) if n % 37 == 5]))
    print(f"      {browser.metrics()['JSHeapUsedSize'] / 1e6:.1f} MB of heap")
    quiet(browser, scene.url, "many")
    scene.end()
    browser.close()


def rate():
    scene, browser = Scene("rate"), Browser()
    browser.open(scene.url)
    browser.wait("connected")
    scene.process.stdin.write("go\n")
    scene.process.stdin.flush()
    slowest, seen = 0, 0
    end = time.monotonic() + 9
    while time.monotonic() < end:
        start = time.monotonic()
        seen = max(seen, browser.run("new Promise((done) => requestAnimationFrame(() => done(Math.max(0, ...calls.keys()))))"))
        slowest = max(slowest, time.monotonic() - start)
        time.sleep(0.05)
    print(f"      the slowest frame during 1,000 calls a second took {slowest * 1000:.0f} ms")
    timely("the page stays responsive during 1,000 calls a second", slowest < 1)
    print(f"      {seen} calls were seen meanwhile")
    timely("calls arrive meanwhile", seen > 2000)
    words = scene.line().split()
    facts = dict(zip(words[::2], map(float, words[1::2])))
    print("      " + " ".join(words))
    check("the recorder keeps its limit", facts["calls"], 500.0)
    check("it counts what it has dropped", facts["dropped"], 9500.0)
    browser.wait("calls.size === 500 && dropped === 9500")
    check("the page drops them, too", True)
    memory = int(open(f"/proc/{scene.process.pid}/statm").read().split()[1]) * 4096 / 1e6
    print(f"      {memory:.0f} MB of memory of the app")
    timely("the app uses at most 150 MB", memory < 150)
    quiet(browser, scene.url, "rate")
    scene.end()
    browser.close()


for scene in [gallery, hostile, many, rate]:
    scene()
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
