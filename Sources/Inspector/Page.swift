/// The page of the inspector.
enum Page {
  /// The document, in which `NONCE` stands for the nonce of its style and script.
  static let html = #"""
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <title>Inspector</title>
    <meta name="viewport" content="width=device-width">
    <link rel="icon" href="data:,">
    <style nonce="NONCE">
    /* Text has a contrast of at least 4.5, controls and bars of at least 3.0, on every background below (WCAG 1.4.3, 1.4.11).
       Neighboring phases differ in lightness, so that they are distinguishable without color vision. */
    :root {
      color-scheme: light dark;
      --bg: #fff; --panel: #f5f6f8; --line: #dde1e6; --hover: #f2f4f7; --sel: #e7f0fe; --bad-bg: #fdecea; --mark: #ffe08a;
      --ink: #16191d; --dim: #565e69; --accent: #0b57d0; --bad: #b3261e; --warn: #8a5300; --good: #1b6e3c; --edge: #7f8791;
      --dns: #368c7d; --connect: #a65a02; --tls: #4d157c; --send: #85850e; --wait: #29699a; --receive: #4f7ae0;
      --decode: #953366; --queue: #6b7178;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --bg: #14171a; --panel: #1b1f24; --line: #2d333b; --hover: #1f2429; --sel: #1a2f4d; --bad-bg: #3a1d1c; --mark: #6b5300;
        --ink: #e4e8ee; --dim: #9aa4b1; --accent: #8ab4ff; --bad: #ff8f87; --warn: #f0b45b; --good: #7fd6a0; --edge: #7a8591;
        --dns: #a1e6d1; --connect: #ae7216; --tls: #b28ae5; --send: #f3dc65; --wait: #85c5f8; --receive: #3e7ee0;
        --decode: #ef82b3; --queue: #7c8388;
      }
    }
    * { box-sizing: border-box; }
    html, body { height: 100%; margin: 0; }
    body { display: flex; flex-direction: column; background: var(--bg); color: var(--ink); overflow: hidden;
      font: 13px/1.4 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
    button, input { font: inherit; color: inherit; }
    button { background: none; border: 1px solid transparent; border-radius: 6px; padding: 3px 9px; cursor: pointer; }
    button:hover { background: var(--hover); }
    button[aria-pressed="true"], [role="tab"][aria-selected="true"] { background: var(--sel); border-color: var(--accent); }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
    [hidden] { display: none !important; }
    header { display: flex; flex-wrap: wrap; align-items: center; gap: 2px 4px; padding: 6px 12px; background: var(--panel);
      border-bottom: 1px solid var(--line); }
    header b { margin-right: 8px; }
    #state { color: var(--dim); min-width: 72px; margin-right: 12px; white-space: nowrap; }
    #state::before { content: ""; display: inline-block; width: 8px; height: 8px; margin-right: 6px; border-radius: 4px;
      background: var(--good); }
    #state.off::before { background: none; border: 2px solid var(--bad); }
    #state.still::before { border-radius: 0; background: var(--dim); }
    #filter { flex: 1 1 240px; max-width: 540px; padding: 4px 9px; background: var(--bg); border: 1px solid var(--edge);
      border-radius: 6px; margin-right: 6px; }
    #filter[aria-invalid="true"] { border-color: var(--bad); outline: 1px solid var(--bad); }
    .rule { width: 1px; height: 18px; margin: 0 6px; background: var(--line); }
    #banner { display: flex; gap: 12px; align-items: center; padding: 5px 12px; border-bottom: 1px solid var(--line);
      background: var(--sel); }
    #banner.bad { background: var(--bad-bg); }
    #banner button { border-color: var(--edge); }
    #strip { display: block; width: 100%; height: 34px; flex: none; border-bottom: 1px solid var(--line); cursor: crosshair;
      touch-action: none; }
    main { flex: 1; display: flex; min-height: 0; }
    #list { position: relative; flex: 1; min-width: 0; display: flex; flex-direction: column; }
    #list:focus-visible { outline: none; }
    #list:focus-visible::after { content: ""; position: absolute; inset: 0; border: 2px solid var(--accent);
      pointer-events: none; }
    .head, .row { display: grid; align-items: center;
      grid-template-columns: 64px minmax(120px, 1fr) 132px 98px 58px 70px 68px 34%; }
    .open .head, .open .row { grid-template-columns: 64px minmax(100px, 1fr) 98px 70px 38%; }
    .open .host, .open .kind, .open .size { display: none; }
    /* The head has the gutter of the rows' scroll bar, so that its columns are above theirs. */
    .head { height: 26px; flex: none; overflow: hidden; scrollbar-gutter: stable; background: var(--panel); border-bottom: 1px solid var(--line); color: var(--dim);
      font-weight: 600; }
    .head > div { overflow: clip; white-space: nowrap; }
    .head button { padding: 1px 6px; font-weight: 600; }
    .size, .time { text-align: right; padding-right: 8px; }
    .head .size, .head .time { padding-right: 2px; }
    #scroll { flex: 1; scrollbar-gutter: stable; overflow-y: scroll; overflow-x: hidden; position: relative; contain: strict; }
    #rows { position: relative; contain: layout; }
    .row { position: absolute; left: 0; right: 0; top: 0; height: 26px; border-bottom: 1px solid var(--line); contain: strict;
      cursor: default; }
    .row:hover { background: var(--hover); }
    .row.sel { background: var(--sel); }
    .row.bad { box-shadow: inset 3px 0 var(--bad); }
    .row.sel { box-shadow: inset 3px 0 var(--accent); }
    .row.sel.bad { box-shadow: inset 3px 0 var(--bad), inset 6px 0 var(--accent); }
    .row > div { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding-left: 6px; unicode-bidi: isolate; }
    .row .method { font-size: 11px; font-weight: 600; color: var(--dim); padding-left: 12px; display: flex; }
    .row .twist { width: 14px; flex: none; font-size: 10px; }
    .row .host, .row .kind, .row .size, .dim { color: var(--dim); }
    .row > .call { display: flex; align-items: center; }
    .call .path { flex: 0 1 auto; min-width: 24px; overflow: hidden; text-overflow: ellipsis; }
    .row.bad .status, .row .status.bad { color: var(--bad); font-weight: 700; }
    .row.child .call, .row.child .time { color: var(--dim); }
    .tag { flex: none; margin-left: 6px; padding: 0 5px; border: 1px solid var(--line); border-radius: 4px;
      font-size: 11px; line-height: 16px; color: var(--dim); }
    .tag.warn { color: var(--warn); border-color: currentColor; font-weight: 600; }
    .tag.live { color: var(--good); border-color: currentColor; }
    .ctl { color: var(--warn); font-family: ui-monospace, monospace; }
    .fall { position: relative; height: 26px; padding: 0 !important; overflow: hidden; }
    .fall i { position: absolute; display: block; top: 8px; height: 10px; min-width: 3px; border-radius: 1.5px; }
    .fall .q { top: 12px; height: 2px; background: var(--queue); min-width: 0; }
    .fall .p { top: 12px; height: 2px; min-width: 0;
      background: repeating-linear-gradient(90deg, var(--edge) 0 2px, transparent 2px 4px); }
    .fall .x::before { content: "✕"; position: absolute; left: -4px; top: -3px; color: var(--bad); font: 700 11px/16px sans-serif; }
    .fall .c { width: 8px; height: 8px; top: 9px; border: 1.5px solid var(--dim); transform: rotate(45deg); border-radius: 0; }
    .fall .s { top: 11px; height: 4px; border: solid var(--dim); border-width: 1px 0; border-radius: 0; }
    .fall .o { width: 3px; background: var(--ink); border-radius: 0; top: 7px; height: 12px; }
    .fall .t { width: 2px; min-width: 2px; background: var(--ink); border-radius: 0; top: 5px; height: 16px; }
    #axis { position: relative; height: 25px; font-weight: 400; font-size: 11px; overflow: clip; }
    #axis span { position: absolute; top: 4px; padding-left: 4px; border-left: 1px solid var(--line); height: 22px; }
    #axis .fold { border-left: 2px dotted var(--edge); width: 6px; padding: 0; }
    #align { position: absolute; right: 0; top: 2px; height: 21px; padding: 0 7px; font-size: 11px; background: var(--panel);
      border-color: var(--line); }
    #align[aria-pressed="true"] { background: var(--sel); border-color: var(--accent); }
    #more { position: absolute; left: 50%; bottom: 12px; transform: translateX(-50%); background: var(--sel);
      border-color: var(--accent); }
    #empty { position: absolute; inset: 60px 0 auto; text-align: center; color: var(--dim); }
    #empty pre { display: inline-block; text-align: left; padding: 12px 16px; background: var(--panel); border-radius: 8px;
      color: var(--ink); }
    #detail { flex: none; width: 46%; min-width: 0; border-left: 1px solid var(--line); display: flex; flex-direction: column; }
    #detail .top { padding: 10px 14px 0; border-bottom: 1px solid var(--line); }
    #detail .line { display: flex; gap: 10px; align-items: baseline; flex-wrap: wrap; }
    #detail .line b { font-size: 15px; }
    #detail .bad { color: var(--bad); }
    #url, .mono, pre, td { font: 12px/1.5 ui-monospace, Menlo, Consolas, monospace; }
    #url { margin: 6px 0; overflow-wrap: anywhere; max-height: 56px; overflow: auto; unicode-bidi: isolate; }
    .links button { color: var(--accent); padding: 3px 4px; margin-right: 10px; }
    [role="tablist"] { display: flex; gap: 2px; padding: 6px 0; }
    #pane { flex: 1; overflow: auto; padding: 12px 14px; }
    #pane h3 { margin: 14px 0 6px; font-size: 12px; color: var(--dim); }
    #pane h3:first-child { margin-top: 0; }
    #pane p { margin: 0 0 12px; font-size: 14px; }
    .error { padding: 8px 12px; margin-bottom: 12px; border: 1px solid var(--bad); border-radius: 8px; background: var(--bad-bg);
      overflow-wrap: anywhere; white-space: pre-wrap; }
    .error b { color: var(--bad); }
    .phase { display: grid; grid-template-columns: 190px 1fr 76px; align-items: center; height: 22px;
      white-space: nowrap; }
    .phase .track { position: relative; height: 8px; background: var(--panel); border-radius: 2px; }
    .phase .track i { position: absolute; height: 8px; min-width: 2px; border-radius: 2px; }
    .phase span:last-child { text-align: right; }
    .key { display: inline-block; width: 10px; height: 10px; margin-right: 4px; border-radius: 2px; vertical-align: -1px; }
    table { border-collapse: collapse; }
    td { padding: 2px 12px 2px 0; vertical-align: top; overflow-wrap: anywhere; unicode-bidi: isolate; }
    td:first-child { color: var(--dim); white-space: nowrap; }
    pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
    .body { padding: 8px 10px; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); }
    .body img { max-width: 100%; background: repeating-conic-gradient(var(--line) 0 25%, var(--bg) 0 50%) 0 / 16px 16px; }
    .bar { display: flex; gap: 4px; margin-bottom: 6px; }
    .bar input { flex: 1; padding: 2px 8px; border: 1px solid var(--edge); border-radius: 6px; background: var(--bg); }
    .json details > div, .json > div { margin-left: 16px; }
    .json summary { cursor: pointer; }
    .json .k { color: var(--accent); }
    .json .n { color: var(--warn); }
    .json .str { color: var(--good); unicode-bidi: isolate; }
    mark { background: var(--mark); color: inherit; }
    .msg { padding: 4px 0; border-bottom: 1px solid var(--line); }
    footer { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 4px 12px; padding: 4px 12px; color: var(--dim);
      background: var(--panel); border-top: 1px solid var(--line); font-size: 12px; }
    footer .legend span { margin-left: 10px; }
    dialog { max-width: 640px; color: var(--ink); background: var(--bg); border: 1px solid var(--line); border-radius: 10px; }
    dialog::backdrop { background: #0006; }
    kbd { padding: 0 4px; border: 1px solid var(--line); border-radius: 4px; font: 12px ui-monospace, monospace; }
    .drop::after { content: "Drop a HAR file to open it"; position: fixed; inset: 12px; display: grid; place-items: center;
      border: 2px dashed var(--accent); border-radius: 12px; background: color-mix(in srgb, var(--bg) 85%, transparent);
      font-size: 18px; pointer-events: none; }
    @media (max-width: 1099px) {
      .head, .row { grid-template-columns: 64px minmax(120px, 1fr) 98px 70px 68px 34%; }
      .host, .kind { display: none; }
      main.open { flex-direction: column; }
      main.open #list { flex: 44; }
      #detail { width: auto; flex: 56; min-height: 0; border: 0; border-top: 1px solid var(--line); }
      .open .head, .open .row { grid-template-columns: 64px minmax(120px, 1fr) 98px 70px 68px 34%; }
      .open .size { display: block; }
      footer .legend { display: none; }
    }
    @media (max-width: 599px) {
      .head, .row, .open .head, .open .row { grid-template-columns: 72px minmax(60px, 1fr) 90px 72px; }
      .size, .open .size, .fall, #axis { display: none; }
    }
    </style>
    </head>
    <body>
    <header>
      <b>Inspector</b><span id="state" role="status">Connecting</span>
      <input id="filter" type="search" aria-label="Filter" spellcheck="false" autocomplete="off"
        placeholder="Filter: text, status:5xx, host:api, is:retried, time:&gt;500, -png">
      <span id="kinds" role="group" aria-label="Kind of content"></span>
      <span class="rule"></span>
      <button id="pause" aria-pressed="false">Pause</button>
      <button id="clear">Clear</button>
      <button id="open">Open HAR…</button>
      <button id="export">Export HAR</button>
      <button id="help" aria-label="Help">?</button>
      <input id="file" type="file" accept=".har,.json" hidden>
    </header>
    <div id="banner" role="status" hidden><span></span><button></button></div>
    <canvas id="strip" role="img" aria-label="Calls over time; drag for a range"></canvas>
    <main id="main">
      <section id="list" role="treegrid" tabindex="0" aria-label="Calls" aria-readonly="true">
        <div class="head" role="row" aria-rowindex="1"></div>
        <div id="scroll" role="rowgroup"><div id="rows" role="presentation"></div></div>
        <button id="more" hidden></button>
        <div id="empty" hidden></div>
      </section>
      <section id="detail" aria-label="Call" hidden></section>
    </main>
    <footer><span id="counts" role="status"></span><span class="legend" id="legend"></span></footer>
    <dialog id="about" aria-label="Help"></dialog>
    <script nonce="NONCE">
    "use strict";
    const base = location.pathname.replace(/\/*$/, "/");
    const $ = (id) => document.getElementById(id);
    const PHASES = [
      ["queue", "Waiting for a connection"], ["dns", "Name lookup"], ["connect", "Connect"], ["tls", "TLS handshake"],
      ["send", "Send"], ["wait", "Waiting for the server"], ["receive", "Receive"], ["decode", "Decode"],
    ];
    const KINDS = [["", "All"], ["json", "JSON"], ["image", "Images"], ["event", "Events"], ["socket", "Sockets"], ["other", "Other"]];
    const COLUMNS = [
      ["method", "Method"], ["call", "Call"], ["host", "Host"], ["status", "Status"], ["kind", "Kind"], ["size", "Size"],
      ["time", "Time"],
    ];
    const ROW = 26;

    // The state. `live` has the calls of the recorder, `calls` those that are shown: of the recorder or of a file.
    let live = new Map(), calls = live, details = null, session = null, fileName = null, served = null;
    let skew = 0, dropped = 0, connected = false, paused = false, held = [], unseen = 0;
    let rows = [], selected = null, folded = new Set(), kind = "", sort = null, range = null, aligned = false, follow = true;
    let query = [], height = 0, top_ = 0, pool = [], detail = null, tab = "timing", find = "", asText = false;

    // MARK: Text

    const CONTROL = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;
    const CONTROL_BUT_LINES = new RegExp("(?![\\n\\t])(?:" + CONTROL.source + ")", "gu");

    // Texts of which no character is in `CONTROL`, which are nearly all.
    const PLAIN = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u0600\u3000-\ud7ff]*$/;

    // Puts text into an element, with the characters that are invisible or change the order of others in visible form.
    function put(element, text, { lines = false, needle = "" } = {}) {
      if (!needle && PLAIN.test(text)) { element.textContent = text; return element; }
      element.textContent = "";
      const pattern = lines ? CONTROL_BUT_LINES : CONTROL;
      let at = 0;
      pattern.lastIndex = 0;
      for (const match of text.matchAll(pattern)) {
        putFound(element, text.slice(at, match.index), needle);
        add(element, "span", "ctl", "\\u{" + match[0].codePointAt(0).toString(16).toUpperCase() + "}");
        at = match.index + match[0].length;
      }
      putFound(element, at ? text.slice(at) : text, needle);
      return element;
    }

    function putFound(element, text, needle) {
      if (!text) return;
      if (!needle) return element.append(text);
      const low = text.toLowerCase();
      let at = 0;
      for (let hit; (hit = low.indexOf(needle, at)) >= 0; at = hit + needle.length) {
        element.append(text.slice(at, hit));
        add(element, "mark", "", text.slice(hit, hit + needle.length));
      }
      element.append(text.slice(at));
    }

    function add(parent, name, className, text) {
      const element = document.createElement(name);
      if (className) element.className = className;
      if (text !== undefined) element.textContent = text;
      parent.append(element);
      return element;
    }

    function button(parent, text, action) {
      const element = add(parent, "button", "", text);
      element.addEventListener("click", action);
      return element;
    }

    const milliseconds = (t) => t == null ? "–" : t < 1 && t > 0 ? t.toFixed(2) + " ms" : t < 10 ? t.toFixed(1) + " ms" : t < 999.5 ? Math.round(t) + " ms"
      : t < 60000 ? (t / 1000).toFixed(2) + " s" : Math.floor(t / 60000) + " min " + Math.round(t % 60000 / 1000) + " s";
    const bytes = (n) => n < 1000 ? n + " B" : n < 9950 ? (n / 1000).toFixed(1) + " KB" : n < 999500 ? Math.round(n / 1000) + " KB"
      : (n / 1e6).toFixed(1) + " MB";
    const percent = (part, whole) => Math.round(100 * part / whole) + " %";

    // MARK: Calls

    // The parts of a call that the list and the filter need, computed once per change.
    function adopt(call) {
      const old = calls.get(call.id);
      call.rev = (old?.rev ?? 0) + 1;
      const scheme = call.url.indexOf("://"), from = scheme < 0 ? 0 : scheme + 3;
      const slash = call.url.slice(from).search(/[/?]/), path = slash < 0 ? call.url.length : from + slash;
      call.host = call.url.slice(from, path).replace(/^.*@/, "");
      call.path = call.url.slice(path) || "/";
      const mark = call.path.indexOf("?"), end = mark < 0 ? call.path.length : mark;
      const last = call.path.lastIndexOf("/", end - 2) + 1;
      call.parts = [call.path.slice(0, last), call.path.slice(last, end), call.path.slice(end)];
      call.failed = call.state === "failed" || (call.status >= 400 && call.state !== "cancelled");
      call.label = call.state === "cancelled" ? "cancelled"
        : call.code != null ? call.status + " · " + call.code
        : call.status ? call.status + (call.state === "open" ? " open" : "")
        : call.error ?? (call.state === "open" ? "open" : "–");
      call.text = (call.method + " " + call.url + " " + (call.endpoint ?? "") + " " + call.label + " " + call.kind).toLowerCase();
      const index = call.attempts.length;
      call.lasts = call.messages > 0 || call.kind === "event" || call.kind === "socket";
      call.end = call.time != null ? call.at + call.time : null;
      if (index && call.time == null && call.state !== "open") call.end = call.at + call.attempts[index - 1].at;
      return call;
    }

    const now = () => Date.now() + skew;
    const endOf = (call) => call.end ?? Math.max(now(), call.at);

    // MARK: Filter

    const IS = {
      error: (c) => c.failed, failed: (c) => c.failed, retried: (c) => c.attempts.length > 1, cached: (c) => !!c.cache, shared: (c) => c.shared != null,
      open: (c) => c.state === "open", slow: (c) => !c.lasts && (c.time ?? 0) >= 1000, redirected: (c) => c.redirects > 0,
      cancelled: (c) => c.state === "cancelled",
    };

    function number(text) {
      const match = /^(>=|<=|>|<|=)?([\d.]+)(ms|s|k|kb|m|mb|b)?$/.exec(text);
      if (!match || !isFinite(match[2])) return null;
      const value = match[2] * ({ s: 1000, k: 1000, kb: 1000, m: 1e6, mb: 1e6 }[match[3]] ?? 1);
      return { ">": (x) => x > value, "<": (x) => x < value, ">=": (x) => x >= value, "<=": (x) => x <= value }[match[1]]
        ?? ((x) => x === value);
    }

    // Returns the conditions of a filter; `null` in place of an unknown one.
    function parse(text) {
      const tests = [];
      found = new Map();
      for (const match of text.matchAll(/(-?)(?:(\w+):)?(?:"([^"]*)"?|(\S+))/g)) {
        const [, not, key, quoted, plain] = match, value = (quoted ?? plain).toLowerCase();
        let test = null;
        switch (key?.toLowerCase()) {
          case undefined: test = (c) => c.text.includes(value); break;
          case "is": test = Object.hasOwn(IS, value) ? IS[value] : null; break;
          case "host": case "method": case "kind": test = (c) => c[key.toLowerCase()].toLowerCase().includes(value); break;
          case "contains": test = value ? containing(value) : () => true; break;
          case "endpoint": test = (c) => (c.endpoint ?? "").toLowerCase().includes(value); break;
          case "status": {
            const compare = number(value);
            if (/^[1-5]xx$/.test(value)) test = (c) => c.status >= value[0] * 100 && c.status < value[0] * 100 + 100;
            else if (compare) test = (c) => compare(c.status) || (c.code != null && compare(c.code));
            else test = (c) => c.label.toLowerCase().includes(value) || c.error === value;
            break;
          }
          case "time": { const compare = number(value); test = compare && ((c) => c.time != null && compare(c.time)); break; }
          case "size": { const compare = number(value); test = compare && ((c) => compare(c.size)); break; }
          default: test = (c) => c.text.includes((key + ":" + value).toLowerCase());
        }
        tests.push(test && (not ? (c) => !test(c) : test));
      }
      return tests;
    }

    // The calls with a text in their fields, bodies or messages, by the texts of the filter. The server searches its calls.
    let found = new Map(), searching = 0;
    function containing(text) {
      found.set(text, new Set());
      searchSoon(200);
      return (call) => found.get(text)?.has(call.id) ?? false;
    }

    function searchSoon(delay) {
      if (found.size && !searching) searching = setTimeout(() => { searching = 0; for (const text of found.keys()) search(text); }, delay);
    }

    async function search(text) {
      const shown = calls;
      let ids = [];
      if (details) ids = [...details.values()].filter((item) => textOf(item).includes(text)).map((item) => item.id);
      else try { ids = await (await fetch(base + "search?text=" + encodeURIComponent(text), { cache: "no-store" })).json(); } catch { return; }
      if (calls !== shown || !found.has(text)) return;
      found.set(text, new Set(ids));
      rebuild(); render();
    }

    function textOf(item) {
      const parts = [...item.requestFields, ...item.responseFields].map((field) => field.join(": "));
      parts.push(item.requestBody.text, item.responseBody.text, item.error?.reason, ...item.messages.map((message) => message.data));
      for (const attempt of item.attempts) parts.push(attempt.url, ...attempt.redirects.map((redirect) => redirect.url));
      return parts.join("\n").toLowerCase();
    }

    function matches(call) {
      if (kind && call.kind !== kind) return false;
      if (range && (endOf(call) < range[0] || call.at > range[1])) return false;
      return query.every((test) => !test || test(call));
    }

    const SORTS = {
      method: (c) => c.method, call: (c) => c.path, host: (c) => c.host, status: (c) => c.label, kind: (c) => c.kind,
      size: (c) => c.size, time: (c) => c.time ?? endOf(c) - c.at,
    };

    function rebuild() {
      let shown = [];
      for (const call of calls.values()) if (matches(call)) shown.push(call);
      if (sort) {
        const key = SORTS[sort.key], sign = sort.down ? -1 : 1;
        shown.sort((a, b) => { const x = key(a), y = key(b); return (x < y ? -1 : x > y ? 1 : a.id - b.id) * sign; });
      }
      rows = [];
      for (const call of shown) {
        rows.push({ call, attempt: -1 });
        if (call.attempts.length > 1 && !folded.has(call.id))
          for (let index = 0; index < call.attempts.length; index++) rows.push({ call, attempt: index });
      }
      const totals = shown.length === calls.size ? "" : " of " + calls.size;
      let failed = 0, received = 0, first = Infinity, last = -Infinity;
      for (const call of shown) {
        failed += call.failed; received += call.size;
        first = Math.min(first, call.at); last = Math.max(last, endOf(call));
      }
      $("counts").textContent = shown.length + totals + (shown.length === 1 && !totals ? " call" : " calls") + " · " + failed
        + " failed · " + bytes(received) + " received" + (shown.length ? " · " + milliseconds(last - first) : "")
        + (dropped ? " · " + dropped + " older calls dropped" : "") + (range ? " · range selected" : "");
      $("rows").style.height = rows.length * ROW + "px";
      $("list").setAttribute("aria-rowcount", rows.length + 1);
      showEmpty();
    }

    function showEmpty() {
      const empty = $("empty");
      empty.hidden = rows.length > 0;
      if (rows.length) return;
      empty.textContent = "";
      if (calls.size) {
        add(empty, "p", "", "No call matches the filter.");
        button(empty, "Show all", showAll);
      } else {
        add(empty, "p", "", connected || calls !== live ? "No calls yet."
          : "Waiting for the app. If six pages of it are open, close one: a browser opens no more connections to a server.");
        if (calls === live) add(empty, "pre", "", "let recorder = Recorder()\nlet app = Network(Backend(baseURL: url, interceptors: [recorder]))\nlet inspector = try Inspector(recorder)");
      }
    }

    function showAll() {
      $("filter").value = ""; query = []; kind = ""; range = null;
      $("filter").removeAttribute("aria-invalid");
      showKinds(); changed();
    }

    // MARK: Axis

    // Maps times to percent. Stretches without a call are folded, and what follows the last call is squeezed at the end.
    function axisOf(visible) {
      if (aligned) {
        let longest = 1;
        for (const { call } of visible) longest = Math.max(longest, Math.min(endOf(call) - call.at, call.lasts ? 400 : Infinity));
        return { segments: [[0, longest, 0, 96]], origin: 0, end: longest, folds: [] };
      }
      const spans = visible.map(({ call }) => [call.at, call.lasts ? Math.min(endOf(call), call.at + 400) : endOf(call)]);
      if (!spans.length) return { segments: [[0, 1, 0, 100]], origin: 0, end: 1, folds: [] };
      spans.sort((a, b) => a[0] - b[0]);
      const busy = [spans[0].slice()];
      for (const span of spans.slice(1)) {
        const last = busy[busy.length - 1];
        if (span[0] <= last[1]) last[1] = Math.max(last[1], span[1]); else busy.push(span.slice());
      }
      const total = busy.reduce((sum, span) => sum + span[1] - span[0], 0) || 1;
      const limit = Math.max(300, total / 4), merged = [busy[0]];
      for (const span of busy.slice(1)) {
        const last = merged[merged.length - 1];
        if (span[0] - last[1] <= limit) last[1] = span[1]; else merged.push(span);
      }
      const length = merged.reduce((sum, span) => sum + span[1] - span[0], 0) || 1;
      const end = merged[merged.length - 1][1];
      let behind = end;
      for (const { call } of visible) if (call.lasts) behind = Math.max(behind, endOf(call));
      const fold = Math.min(2.5, 40 / merged.length), room = (behind > end ? 93 : 98) - fold * (merged.length - 1);
      const segments = [], folds = [];
      let x = 0;
      merged.forEach((span, index) => {
        if (index) {
          folds.push([x, span[0] - merged[index - 1][1]]);
          segments.push([merged[index - 1][1], span[0], x, x + fold]);
          x += fold;
        }
        const width = room * (span[1] - span[0]) / length;
        segments.push([span[0], span[1], x, x + width]);
        x += width;
      });
      if (behind > end) segments.push([end, behind, x, x + 6]);
      return { segments, origin: merged[0][0], end, folds };
    }

    function position(axis, time) {
      const { segments } = axis;
      let low = 0, high = segments.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (time <= segments[middle][1]) high = middle; else low = middle + 1;
      }
      const [from, to, x, y] = segments[low];
      return to > from ? x + Math.min(1, Math.max(0, (time - from) / (to - from))) * (y - x) : x;
    }

    let axisKey = "";
    function showAxis(axis) {
      const key = JSON.stringify([axis.segments[0], axis.segments.length, axis.end, !!detail]);
      if (key === axisKey) return;
      axisKey = key;
      const element = $("axis");
      while (element.childNodes.length > 1) element.firstChild.remove();
      const marks = [], length = axis.end - axis.origin, power = 10 ** Math.floor(Math.log10(Math.max(length, 1) / 3));
      const step = [1, 2, 5, 10].map((n) => n * power).find((n) => length / n <= 3.5) ?? power * 10;
      for (let time = 0, count = 0; time <= length && count < 12; time += step, count++) {
        const x = position(axis, axis.origin + time);
        if (marks.length && x - marks[marks.length - 1][0] < 14) continue;
        if (x < (detail ? 66 : 84)) marks.push([x, time]);
      }
      for (const [x, time] of marks) {
        const mark = document.createElement("span");
        mark.textContent = time === 0 ? "0" : milliseconds(time).replace(".00 s", " s");
        mark.style.left = x + "%";
        element.insertBefore(mark, element.lastChild);
      }
      for (const [x, time] of axis.folds) {
        const mark = document.createElement("span");
        mark.className = "fold"; mark.style.left = x + "%"; mark.title = milliseconds(time) + " without a call";
        element.insertBefore(mark, element.lastChild);
      }
    }

    // The marks of a row: class, start, end, and the phases of a bar.
    function marksOf(call, attempt, axis) {
      const marks = [], zero = aligned ? 0 : call.at, from = attempt < 0 ? 0 : attempt;
      const until = attempt < 0 ? call.attempts.length : attempt + 1, finish = aligned ? endOf(call) - call.at : endOf(call);
      const at = (time) => position(axis, time);
      if (call.shared != null) return [["s", at(zero), at(finish)]];
      if (call.cache === "hit" || call.cache === "stale") return [["c", at(zero), at(zero)]];
      for (let index = from; index < until; index++) {
        const item = call.attempts[index], begin = zero + item.at, isLast = index === call.attempts.length - 1;
        if (item.pause != null) marks.push(["p", at(begin - item.pause), at(begin)]);
        const open = item.time == null || (isLast && call.state === "open" && attempt < 0);
        let end = open || (call.lasts && isLast) ? finish : begin + item.time;
        if (isLast && attempt < 0 && !open && call.decode) end = Math.max(end, begin + item.time + call.decode);
        const phases = item.phases.slice();
        phases.push(isLast && attempt < 0 ? call.decode ?? 0 : 0);
        const start = begin + phases[0];
        if (phases[0] > 0) marks.push(["q", at(begin), at(start)]);
        const left = at(start), right = Math.max(at(end), left);
        const stops = [];
        let time = start, known = 0;
        for (let phase = 1; phase < 8; phase++) known += phases[phase];
        // What no phase explains, for example of an open stream, belongs to the body.
        const rest = end - start - known;
        if (rest > 0) phases[item.status ? 6 : 5] += rest;
        for (let phase = 1; phase < 8; phase++) {
          if (phases[phase] <= 0) continue;
          const a = right > left ? 100 * (at(time) - left) / (right - left) : 0;
          time += phases[phase];
          const b = right > left ? Math.min(100, 100 * (at(time) - left) / (right - left)) : 100;
          stops.push("var(--" + PHASES[phase][0] + ") " + a.toFixed(1) + "% " + b.toFixed(1) + "%");
        }
        if (item.time != null || !call.attempts.length || item.status || open)
          marks.push(["b", left, right, stops.length ? "linear-gradient(90deg," + stops.join() + ")" : "var(--wait)"]);
        if (item.error && !item.status) marks.push(["x", right, right]);
      }
      for (const tick of attempt < 0 ? call.ticks : []) marks.push(["t", at(zero + tick), at(zero + tick)]);
      if (call.state === "open" && attempt < 0) marks.push(["o", at(finish), at(finish)]);
      return marks;
    }

    function draw(cell, marks) {
      const nodes = cell.childNodes;
      marks.forEach(([type, left, right, background], index) => {
        const node = nodes[index] ?? add(cell, "i");
        if (node.className !== type) node.className = type;
        node.style.left = left.toFixed(2) + "%";
        node.style.width = type === "c" || type === "t" || type === "o" ? "" : Math.max(0, right - left).toFixed(2) + "%";
        const fill = background ?? "";
        if (node.fill !== fill) { node.fill = fill; node.style.background = fill; }
      });
      while (nodes.length > marks.length) cell.lastChild.remove();
    }

    // MARK: Rows

    function makeRow(index) {
      const row = document.createElement("div");
      row.className = "row"; row.setAttribute("role", "row"); row.id = "row" + index;
      row.cells = {};
      for (const [name] of [...COLUMNS, ["fall"]]) {
        const cell = add(row, "div", name);
        cell.setAttribute("role", "gridcell");
        row.cells[name] = cell;
      }
      row.twist = document.createElement("span"); row.twist.className = "twist";
      row.verb = document.createElement("span");
      row.cells.method.append(row.twist, row.verb);
      row.addEventListener("mousedown", (event) => {
        const item = rows[row.at];
        if (!item) return;
        if (event.target.classList.contains("twist") && item.attempt < 0) return toggle(item.call);
        select(item.call, true);
      });
      $("rows").append(row);
      return row;
    }

    function fillRow(row, index) {
      const { call, attempt } = rows[index], cells = row.cells, isSelected = selected === call.id && attempt < 0;
      const expandable = attempt < 0 && call.attempts.length > 1;
      row.setAttribute("aria-rowindex", index + 2);
      row.setAttribute("aria-level", attempt < 0 ? 1 : 2);
      row.setAttribute("aria-selected", isSelected);
      if (expandable) row.setAttribute("aria-expanded", !folded.has(call.id)); else row.removeAttribute("aria-expanded");
      row.className = "row" + (isSelected ? " sel" : "") + (attempt < 0 && call.failed ? " bad" : "") + (attempt < 0 ? "" : " child");
      row.twist.textContent = expandable ? (folded.has(call.id) ? "▸" : "▾") : "";
      cells.status.className = "status";
      if (attempt >= 0) {
        const item = call.attempts[attempt];
        row.verb.textContent = cells.host.textContent = cells.kind.textContent = cells.size.textContent = "";
        cells.call.textContent = "";
        add(cells.call, "span", "path").textContent = "Attempt " + (attempt + 1) + (item.pause == null ? "" : " after a pause of " + milliseconds(item.pause));
        put(cells.status, item.status ? "" + item.status : item.error ?? "–");
        if (item.status >= 400 || (!item.status && item.error)) cells.status.className = "status bad";
        cells.time.textContent = milliseconds(item.time);
        return;
      }
      put(row.verb, call.method);
      cells.call.textContent = "";
      const path = add(cells.call, "span", "path");
      put(add(path, "span", "dim"), call.parts[0]);
      put(add(path, "b"), call.parts[1]);
      put(add(path, "span", "dim"), call.parts[2]);
      cells.call.title = (call.endpoint ? call.endpoint + "\n" : "") + call.url;
      if (call.attempts.length > 1) add(cells.call, "span", "tag warn", call.attempts.length + " attempts");
      if (call.cache) add(cells.call, "span", "tag", call.cache === "hit" ? "cache" : call.cache);
      if (call.shared != null) add(cells.call, "span", "tag", "shared #" + call.shared);
      if (call.redirects) add(cells.call, "span", "tag", call.redirects + (call.redirects === 1 ? " redirect" : " redirects"));
      if (call.messages) add(cells.call, "span", "tag" + (call.state === "open" ? " live" : ""),
        (call.state === "open" ? "● " : "") + call.messages + (call.kind === "socket" ? " frame" : " event") + (call.messages === 1 ? "" : "s"));
      put(cells.host, call.host);
      put(cells.status, call.label);
      cells.kind.textContent = call.kind;
      cells.size.textContent = call.size || call.status ? bytes(call.size) : "–";
      cells.time.textContent = call.cache === "hit" ? "cache" : milliseconds(call.time ?? endOf(call) - call.at);
    }

    let scheduled = false;
    function render() { if (!scheduled) { scheduled = true; requestAnimationFrame(frame); } }

    function frame() {
      scheduled = false;
      const first = Math.max(0, Math.floor(top_ / ROW)), count = Math.ceil(height / ROW) + 1;
      const visible = rows.slice(first, first + count), axis = axisOf(visible);
      const size = count + 16;
      while (pool.length < size) pool.push(makeRow(pool.length));
      const begin = Math.max(0, Math.min(first - 8, rows.length - pool.length)), end = Math.min(rows.length, begin + pool.length);
      const key = JSON.stringify(axis.segments) + aligned;
      const used = new Set();
      for (let index = begin; index < end; index++) {
        const row = pool[index % pool.length], { call, attempt } = rows[index];
        used.add(row);
        if (row.at !== index) { row.at = index; row.style.transform = "translateY(" + index * ROW + "px)"; }
        const text = call.id + ":" + attempt + ":" + call.rev + ":" + (selected === call.id) + folded.has(call.id) + index + (calls === live);
        if (row.key !== text) { row.key = text; row.bars = ""; fillRow(row, index); }
        if (call.state === "open" && attempt < 0) row.cells.time.textContent = milliseconds(endOf(call) - call.at);
        if (row.bars !== key || call.state === "open") { row.bars = key; draw(row.cells.fall, marksOf(call, attempt, axis)); }
        if (row.hidden) row.hidden = false;
      }
      for (const row of pool) if (!used.has(row) && !row.hidden) { row.hidden = true; row.at = row.key = undefined; }
      showAxis(axis);
      const chosen = selected == null ? -1 : rows.findIndex((row) => row.call.id === selected);
      if (chosen >= begin && chosen < end) $("list").setAttribute("aria-activedescendant", pool[chosen % pool.length].id);
      else $("list").removeAttribute("aria-activedescendant");
      drawStrip();
    }

    // MARK: Strip

    const strip = $("strip");
    let stripWidth = 0, stripSpan = [0, 1], dragging = null;
    function drawStrip() {
      const scale = devicePixelRatio || 1, context = strip.getContext("2d"), style = getComputedStyle(document.documentElement);
      const width = Math.round(stripWidth * scale), tall = Math.round(34 * scale);
      if (strip.width !== width || strip.height !== tall) { strip.width = width; strip.height = tall; }
      context.setTransform(scale, 0, 0, scale, 0, 0);
      context.clearRect(0, 0, stripWidth, 34);
      if (!calls.size || !stripWidth) return;
      let from = Infinity, to = -Infinity;
      for (const call of calls.values()) {
        from = Math.min(from, call.at);
        to = Math.max(to, endOf(call));
      }
      if (to - from < 1000) to = from + 1000;
      stripSpan = [from, to];
      const bins = Math.max(1, Math.floor(stripWidth / 4)), counts = new Uint32Array(bins), bad = new Uint8Array(bins);
      const bin = (time) => Math.min(bins - 1, Math.max(0, Math.floor((time - from) / (to - from) * bins)));
      for (const call of calls.values()) {
        for (let index = bin(call.at), last = bin(endOf(call)); index <= last; index++) counts[index]++;
        if (call.failed) bad[bin(endOf(call))] = 1;
      }
      const most = Math.max(4, ...counts);
      context.fillStyle = style.getPropertyValue("--wait");
      for (let index = 0; index < bins; index++) {
        if (counts[index]) { const h = Math.max(3, counts[index] / most * 24); context.fillRect(index * 4, 33 - h, 3, h); }
      }
      context.fillStyle = style.getPropertyValue("--bad");
      for (let index = 0; index < bins; index++) if (bad[index]) context.fillRect(index * 4, 0, 3, 5);
      if (range) {
        const x = (time) => (time - from) / (to - from) * stripWidth;
        context.fillStyle = style.getPropertyValue("--accent");
        context.globalAlpha = 0.22;
        context.fillRect(x(range[0]), 0, Math.max(2, x(range[1]) - x(range[0])), 34);
        context.globalAlpha = 1;
      }
    }
    const stripTime = (event) => stripSpan[0] + event.offsetX / Math.max(1, stripWidth) * (stripSpan[1] - stripSpan[0]);
    strip.addEventListener("pointerdown", (event) => { dragging = stripTime(event); strip.setPointerCapture(event.pointerId); });
    strip.addEventListener("pointermove", (event) => {
      if (dragging == null) return;
      const time = stripTime(event);
      range = [Math.min(dragging, time), Math.max(dragging, time)];
      changed();
    });
    strip.addEventListener("pointerup", (event) => {
      if (dragging != null && (!range || Math.abs(stripTime(event) - dragging) < (stripSpan[1] - stripSpan[0]) / stripWidth * 3)) range = null;
      dragging = null;
      changed();
    });

    // MARK: Selection

    function select(call, shows) {
      selected = call?.id ?? null;
      if (shows && call) openDetail(call);
      render();
    }

    function toggle(call, open = folded.has(call.id)) {
      if (open) folded.delete(call.id); else folded.add(call.id);
      changed();
    }

    function reveal(index) {
      const scroll = $("scroll"), y = index * ROW;
      if (y < top_) scroll.scrollTop = y; else if (y + ROW > top_ + height) scroll.scrollTop = y + ROW - height;
    }

    function move(step) {
      const heads = rows.map((row, index) => row.attempt < 0 ? index : -1).filter((index) => index >= 0);
      if (!heads.length) return;
      const current = heads.findIndex((index) => rows[index].call.id === selected);
      const next = heads[Math.max(0, Math.min(heads.length - 1, current < 0 ? (step < 0 ? heads.length - 1 : 0) : current + step))];
      select(rows[next].call, detail != null);
      follow = next === heads[heads.length - 1] && follow;
      reveal(next);
    }

    function moveToFailed(step) {
      const heads = rows.filter((row) => row.attempt < 0), count = heads.length;
      const current = heads.findIndex((row) => row.call.id === selected);
      for (let offset = 1; offset <= count; offset++) {
        const index = (((current < 0 && step < 0 ? 0 : current) + step * offset) % count + count) % count;
        if (!heads[index].call.failed) continue;
        select(heads[index].call, detail != null);
        return reveal(rows.indexOf(heads[index]));
      }
    }

    // MARK: Detail

    async function openDetail(call) {
      if (detail?.call.id !== call.id || detail.calls !== calls) {
        detail = { call, data: null, calls };
        find = ""; asText = false;
        if (tab === "messages" && !call.messages) tab = "timing";
      }
      detail.call = call;
      $("main").classList.add("open");
      $("detail").hidden = false;
      showDetail();
      await loadDetail();
    }

    async function loadDetail() {
      const wanted = detail;
      if (!wanted) return;
      const revision = wanted.call.rev;
      try {
        let data = details?.get(wanted.call.id);
        if (!data) {
          const response = await fetch(base + "calls/" + wanted.call.id, { cache: "no-store" });
          if (!response.ok) throw new Error("this call is no longer recorded");
          data = await response.json();
        }
        if (detail !== wanted) return;
        wanted.data = data; wanted.revision = revision; wanted.problem = null;
      } catch (error) {
        if (detail !== wanted) return;
        wanted.problem = error.message;
      }
      showDetail();
    }

    function closeDetail() {
      detail = null;
      $("detail").hidden = true;
      $("main").classList.remove("open");
      $("list").focus();
      render();
    }

    function showDetail() {
      const element = $("detail"), { call, data } = detail;
      // The pane keeps its scroll position when the same tab is shown again, and its focus when its content is unchanged.
      const key = call.id + tab + asText + (calls === live), pane = $("pane"), scrolled = pane && pane.key === key ? pane.scrollTop : 0;
      const focused = element.contains(document.activeElement) ? document.activeElement.dataset.name : null;
      const cursor = focused === "find" ? document.activeElement.selectionStart : 0;
      element.textContent = "";
      const top = add(element, "div", "top"), line = add(top, "div", "line");
      put(add(line, "b", call.failed ? "bad" : ""), call.label);
      add(line, "span", "dim", "#" + call.id);
      put(add(line, "span"), call.method);
      add(line, "span", "dim", milliseconds(call.time ?? endOf(call) - call.at));
      if (call.endpoint) put(add(line, "span", "dim"), call.endpoint);
      const url = add(top, "div"); url.id = "url"; put(url, call.url);
      const links = add(top, "div", "links");
      if (data?.curl) button(links, "Copy as curl", () => copy(data.curl)).dataset.name = "curl";
      if (data) button(links, "Copy as Swift", () => copy(data.swift)).dataset.name = "swift";
      button(links, "Copy URL", () => copy(call.url)).dataset.name = "url";
      button(links, "Close", closeDetail).dataset.name = "close";
      const tabs = add(top, "div"); tabs.setAttribute("role", "tablist");
      const names = [["timing", "Timing"], ["request", "Request"], ["response", "Response"]];
      if (call.messages || call.kind === "event" || call.kind === "socket")
        names.push(["messages", call.kind === "socket" ? "Frames" : "Events"]);
      names.forEach(([name, text], index) => {
        const item = button(tabs, text, () => { tab = name; find = ""; asText = false; showDetail(); });
        item.setAttribute("role", "tab"); item.setAttribute("aria-selected", tab === name); item.dataset.name = "tab" + name;
        item.tabIndex = tab === name ? 0 : -1;
        item.addEventListener("keydown", (event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!step) return;
          tab = names[(index + step + names.length) % names.length][0];
          showDetail();
          element.querySelector("[data-name=tab" + tab + "]").focus();
        });
      });
      const content = add(element, "div"); content.id = "pane"; content.key = key; content.tabIndex = 0;
      content.setAttribute("role", "tabpanel");
      if (detail.problem) add(content, "p", "bad", detail.problem);
      if (tab === "timing") showTiming(content, call, data);
      else if (!data) add(content, "p", "dim", "Loading");
      else if (tab === "request") showMessage(content, data.requestFields, data.requestBody, "As the call was passed to the transport, which adds fields such as Host and Cookie.");
      else if (tab === "response") showMessage(content, data.responseFields, data.responseBody, "");
      else showMessages(content, call, data);
      content.scrollTop = scrolled;
      if (focused) {
        const item = element.querySelector("[data-name=" + focused + "]");
        item?.focus();
        if (focused === "find") item?.setSelectionRange(cursor, cursor);
      }
    }

    function sentence(call) {
      if (call.shared != null) return "Shares the response of call #" + call.shared + ". Nothing was sent.";
      if (call.cache === "hit" || call.cache === "stale") return "The cache had the response. Nothing was sent.";
      const count = call.attempts.length, start = count > 1 ? count + " attempts. " : "";
      if (call.state === "open") return start + "Open for " + milliseconds(endOf(call) - call.at) + ".";
      const names = ["waiting for a connection", "the name lookup", "connecting", "the TLS handshake", "sending the request",
        "waiting for the server", "receiving the response", "decoding", "pauses between attempts"];
      const times = new Array(9).fill(0);
      for (const attempt of call.attempts) {
        attempt.phases.forEach((time, phase) => { times[phase] += time; });
        times[8] += attempt.pause ?? 0;
      }
      times[7] = call.decode ?? 0;
      const total = Math.max(call.time ?? 0, times.reduce((sum, time) => sum + time, 0));
      if (!total) return start.trim();
      const most = times.map((time, index) => [time, names[index]]).sort((a, b) => b[0] - a[0]);
      const shown = most.filter(([time], index) => index < 2 && time / total >= (index ? 0.15 : 0.01))
        .map(([time, name]) => name + " (" + milliseconds(time) + ", " + percent(time, total) + ")");
      if (!shown.length) return start.trim();
      return start + (most[0][0] + (shown.length > 1 ? most[1][0] : 0) > total / 2 ? "Most of the time went to " : "The largest part of the time went to ")
        + shown.join(" and ") + ".";
    }

    function showTiming(parent, call, data) {
      if (data?.error) {
        const box = add(parent, "div", "error");
        const title = add(box, "b");
        put(title, data.error.kind + (data.error.code != null ? " " + data.error.code : ""));
        box.append("\n");
        put(add(box, "span"), data.error.reason, { lines: true });
      }
      const text = sentence(call);
      if (text) add(parent, "p", "", text);
      const count = call.attempts.length, nothingSent = call.shared != null || call.cache === "hit" || call.cache === "stale";
      let explained = 0;
      if (!nothingSent) call.attempts.forEach((attempt, index) => {
        const phases = attempt.phases.concat(index === count - 1 ? [call.decode ?? 0] : [0]);
        const total = phases.reduce((sum, time) => sum + time, 0);
        if (count > 1) put(add(parent, "h3"), "Attempt " + (index + 1) + " · " + (attempt.status || attempt.error || "open")
          + (attempt.pause == null ? "" : " · after a pause of " + milliseconds(attempt.pause)));
        let at = 0;
        phases.forEach((time, phase) => {
          if (time <= 0) return;
          const row = add(parent, "div", "phase"), name = add(row, "span");
          add(name, "i", "key").style.background = "var(--" + PHASES[phase][0] + ")";
          name.append(PHASES[phase][1]);
          const bar = add(add(row, "span", "track"), "i");
          bar.style.left = 100 * at / total + "%"; bar.style.width = 100 * time / total + "%";
          bar.style.background = "var(--" + PHASES[phase][0] + ")";
          add(row, "span", "", milliseconds(time));
          at += time;
        });
        const row = add(parent, "div", "phase");
        const spent = Math.max(total, attempt.time ?? 0);
        explained += spent + (attempt.pause ?? 0);
        add(row, "span", "dim", count > 1 ? "Attempt" : "Total"); add(row, "span"); add(row, "span", "", milliseconds(spent));
      });
      // The time of a call that no attempt explains.
      const rest = call.time == null ? 0 : call.time - explained;
      if (!nothingSent && rest > 0.05) for (const [text, time] of [["Interceptors, queues, delivery", rest], ["Call", call.time]]) {
        const row = add(parent, "div", "phase");
        add(row, "span", "dim", text); add(row, "span"); add(row, "span", "", milliseconds(time));
      }
      add(parent, "h3", "", "Facts");
      const last = data?.attempts[data.attempts.length - 1], date = new Date(call.at);
      const facts = [
        ["Started", date.toLocaleTimeString("en-GB") + "." + String(date.getMilliseconds()).padStart(3, "0")],
        ["Endpoint", call.endpoint], ["Protocol", last?.protocolName], ["Server", last?.address],
        ["Connection", last?.reused == null ? null : last.reused ? "reused" : "new"],
        ["Cache", call.cache], ["Shared with", call.shared == null ? null : "#" + call.shared], ["Body", bytes(call.size)],
      ];
      for (const redirect of data?.attempts.flatMap((attempt) => attempt.redirects) ?? []) facts.push(["Redirect " + redirect.status, redirect.url]);
      if (last?.redirects.length) facts.push(["Final URL", last.url]);
      table(parent, facts.filter(([, value]) => value));
    }

    function table(parent, pairs) {
      const body = add(add(parent, "table"), "tbody");
      for (const [name, value] of pairs) {
        const row = add(body, "tr");
        put(add(row, "td"), name); put(add(row, "td"), value);
      }
    }

    function showMessage(parent, fields, body, note) {
      add(parent, "h3", "", "Fields");
      if (fields.length) table(parent, fields); else add(parent, "p", "dim", "None");
      if (note) add(parent, "p", "dim", note).className = "dim";
      const size = body.size == null ? "" : " · " + bytes(body.size);
      put(add(parent, "h3"), "Body" + (body.type ? " · " + body.type : "") + size);
      if (body.note) put(add(parent, "p", "dim"), body.note);
      if (body.base64) return showBytes(parent, body);
      if (!body.text) return;
      const tree = body.text.length <= 2e6 ? parseJSON(body.text) : null, picture = /^image\/svg\+xml/i.test(body.type);
      const bar = add(parent, "div", "bar");
      if (tree || picture) {
        const named = tree ? "JSON" : "Image";
        button(bar, named, () => { asText = false; showDetail(); }).setAttribute("aria-pressed", !asText);
        button(bar, "Text", () => { asText = true; showDetail(); }).setAttribute("aria-pressed", asText);
      }
      const box = document.createElement("div");
      const input = add(bar, "input"); input.type = "search"; input.placeholder = "Find"; input.value = find;
      input.setAttribute("aria-label", "Find in the body"); input.dataset.name = "find";
      input.addEventListener("input", () => { find = input.value; fill(); });
      parent.append(box);
      function fill() {
        const needle = find.toLowerCase();
        box.textContent = ""; box.className = "body";
        if (tree && !asText) { box.classList.add("json", "mono"); showJSON(box, null, tree, 0, needle); }
        else if (picture && !asText) showImage(box, new TextEncoder().encode(body.text), "image/svg+xml");
        else {
          const part = body.text.slice(0, 300000);
          put(add(box, "pre"), part, { lines: true, needle });
          if (part.length < body.text.length) add(box, "p", "dim", "Only the first 300,000 characters are shown. Export the HAR for all.");
        }
      }
      fill();
    }

    function showBytes(parent, body) {
      const binary = atob(body.base64), data = Uint8Array.from(binary, (c) => c.charCodeAt(0)), box = add(parent, "div", "body");
      if (/^image\/(png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)/i.test(body.type)) return showImage(box, data, body.type.split(";")[0]);
      let text = "";
      for (let at = 0; at < Math.min(data.length, 4096); at += 16) {
        const part = [...data.slice(at, at + 16)];
        text += at.toString(16).padStart(4, "0") + "  " + part.map((b) => b.toString(16).padStart(2, "0")).join(" ").padEnd(48)
          + " " + part.map((b) => b >= 32 && b < 127 ? String.fromCharCode(b) : ".").join("") + "\n";
      }
      add(box, "pre", "", text);
      if (data.length > 4096) add(box, "p", "dim", "Only the first 4 KB are shown.");
    }

    function showImage(box, data, type) {
      const image = add(box, "img"), url = URL.createObjectURL(new Blob([data], { type }));
      image.alt = "The body as an image";
      image.addEventListener("load", () => URL.revokeObjectURL(url));
      image.addEventListener("error", () => { URL.revokeObjectURL(url); box.textContent = "The browser can't show this image."; });
      image.src = url;
    }

    function showMessages(parent, call, data) {
      if (call.messages > data.messages.length || data.messages.length >= 200) add(parent, "p", "dim", "The last " + data.messages.length + ".");
      for (const message of data.messages) {
        const item = add(parent, "div", "msg"), line = add(item, "div", "dim");
        put(line, (call.kind === "socket" ? (message.sent ? "↑ sent" : "↓ received") + " · " : "") + "+" + milliseconds(Math.max(0, message.at - call.at))
          + " · " + (message.name || "message") + (message.id ? " · id " + message.id : "") + (message.name === "binary" ? " · base64" : ""));
        const tree = message.name === "binary" || message.data.length > 20000 ? null : parseJSON(message.data);
        if (tree?.v.length) showJSON(add(item, "div", "body json mono"), null, tree, 0, "");
        else put(add(item, "pre"), message.data, { lines: true });
      }
    }

    // MARK: JSON

    // Parses JSON without losing digits or repeated names; `null` if it is invalid or nested deeper than 200.
    function parseJSON(text) {
      let at = 0;
      const space = /[\x20\t\n\r]*/y, scalar = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y;
      const string = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
      const skip = () => { space.lastIndex = at; space.test(text); at = space.lastIndex; };
      const take = (pattern) => {
        pattern.lastIndex = at;
        const match = pattern.exec(text);
        if (!match) throw 0;
        at = pattern.lastIndex;
        return match[0];
      };
      function value(depth) {
        if (depth > 200) throw 0;
        skip();
        const c = text[at];
        if (c === '"') return { t: "s", v: JSON.parse(take(string)) };
        if (c !== "{" && c !== "[") return { t: "n", v: take(scalar) };
        const close = c === "{" ? "}" : "]", items = [];
        at++; skip();
        if (text[at] === close) { at++; return { t: c, v: items }; }
        for (;;) {
          let name = null;
          if (c === "{") {
            skip(); name = JSON.parse(take(string)); skip();
            if (text[at++] !== ":") throw 0;
          }
          items.push([name ?? items.length, value(depth + 1)]);
          skip();
          const next = text[at++];
          if (next === close) return { t: c, v: items };
          if (next !== ",") throw 0;
        }
      }
      try {
        const tree = value(0);
        skip();
        return at === text.length && typeof tree.v !== "string" ? tree : null;
      } catch { return null; }
    }

    function contains(node, needle) {
      if (typeof node.v === "string") return node.v.toLowerCase().includes(needle);
      return node.v.some(([name, child]) => String(name).toLowerCase().includes(needle) || contains(child, needle));
    }

    // Shows a value. The children of an object or array are made when it is opened, 500 at a time.
    function showJSON(parent, name, node, depth, needle) {
      const label = (element) => {
        if (name != null) { put(add(element, "span", "k"), String(name), { needle }); element.append(": "); }
        return element;
      };
      if (typeof node.v === "string") {
        const line = label(add(parent, "div"));
        if (node.t === "n") put(add(line, "span", "n"), node.v, { needle });
        else { const s = add(line, "span", "str"); s.append('"'); const inner = add(s, "span"); put(inner, node.v, { needle }); s.append('"'); }
        return;
      }
      const box = add(parent, "details"), title = label(add(box, "summary"));
      add(title, "span", "dim", node.t === "{" ? "{" + node.v.length + "}" : "[" + node.v.length + "]");
      let built = 0;
      const build = () => {
        const children = built ? box.lastChild : add(box, "div");
        const end = Math.min(node.v.length, built + 500);
        for (; built < end; built++) showJSON(children, node.v[built][0], node.v[built][1], depth + 1, needle);
        if (built < node.v.length) {
          const more = button(children, "Show more (" + (node.v.length - built) + ")", () => { more.remove(); build(); });
        }
      };
      box.addEventListener("toggle", () => { if (box.open && !built) build(); });
      if (needle ? contains(node, needle) : depth < 4 && node.v.length <= 50) { build(); box.open = true; }
    }

    // MARK: Actions

    async function copy(text) {
      try { await navigator.clipboard.writeText(text); say("Copied"); } catch (error) { say("Copying failed: " + error.message); }
    }

    let saying = 0;
    function say(text) {
      clearTimeout(saying);
      $("state").textContent = text;
      saying = setTimeout(showState, 1600);
    }

    function showState() {
      const state = $("state");
      state.className = calls !== live || served ? "still" : connected ? (paused ? "still" : "") : "off";
      state.textContent = calls !== live || served ? "File" : !connected ? "Disconnected" : paused ? "Paused · " + held.length + " new" : "Live";
      const banner = $("banner"), [text, action] = banner.children;
      action.hidden = true;
      banner.className = "";
      if (banner.reason) {
        text.textContent = banner.reason; banner.className = "bad";
        action.hidden = false; action.textContent = "Close"; action.onclick = () => { banner.reason = null; showState(); };
      } else if (calls !== live) {
        put(text, fileName + ": these calls are of a file.");
        action.hidden = false; action.textContent = served ? "Back to " + served : "Back to live calls"; action.onclick = backToLive;
      } else if (!connected && session) {
        text.textContent = "Disconnected: the app has ended, or its inspector has stopped. The calls remain visible. The next start has a new URL.";
        banner.className = "bad";
      } else if (served) {
        put(text, served + ": these calls are of a file.");
      } else {
        banner.hidden = true;
        return;
      }
      banner.hidden = false;
    }

    function changed() { rebuild(); render(); if (follow && !sort && calls === live) toEnd(); }
    function toEnd() { $("scroll").scrollTop = 1e9; unseen = 0; $("more").hidden = true; }

    function backToLive() {
      calls = live; details = null; fileName = null; selected = null; folded = new Set(); range = null;
      searchSoon(0);
      if (detail) closeDetail();
      showState(); changed();
    }

    async function importFile(file) {
      $("banner").reason = null;
      try {
        if (file.size > 64 * 2 ** 20) throw new Error("it is larger than 64 MB");
        const response = await fetch(base + "import", { method: "POST", body: file });
        const answer = await response.json();
        if (!response.ok) throw new Error(answer.reason);
        details = new Map(answer.details.map((item) => [item.id, item]));
        calls = new Map();
        for (const call of answer.calls) calls.set(call.id, adopt(call));
        fileName = file.name; selected = null; range = null; folded = new Set();
        if (detail) closeDetail();
        $("scroll").scrollTop = 0;
        searchSoon(0);
      } catch (error) {
        $("banner").reason = file.name + " can't be opened: " + error.message;
      }
      showState(); changed();
    }

    async function exportFile() {
      const response = await fetch(base + "har", { cache: "no-store" });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await response.blob());
      link.download = "calls.har";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }

    // MARK: Live

    function receive(name, data) {
      if (paused && name !== "hello") { held.push([name, data]); return showState(); }
      apply(name, data);
    }

    function apply(name, data) {
      const shown = calls;
      calls = live;
      if (name === "hello") {
        session = data.session; skew = data.now - Date.now(); served = data.file ?? null; held = [];
        live.clear(); connected = true;
        for (const id of ["pause", "clear"]) $(id).hidden = !!served;
      } else if (name === "drop") {
        for (const id of data.ids) live.delete(id);
        dropped = data.total;
      } else {
        for (const call of data) {
          if (!live.has(call.id) && !follow) unseen++;
          live.set(call.id, adopt(call));
        }
      }
      calls = shown;
      if (calls !== live) return showState();
      if (detail && live.has(detail.call.id)) {
        const call = live.get(detail.call.id);
        if (call !== detail.call) { detail.call = call; scheduleDetail(); }
      }
      if (unseen && rows.length * ROW > height) { $("more").hidden = false; $("more").textContent = unseen + " new ↓"; }
      searchSoon(500);
      showState(); changed();
    }

    let detailTimer = 0;
    function scheduleDetail() { if (!detailTimer) detailTimer = setTimeout(() => { detailTimer = 0; loadDetail(); }, 250); }

    function connect() {
      const source = new EventSource(base + "events");
      for (const name of ["hello", "calls", "drop"])
        source.addEventListener(name, (event) => receive(name, JSON.parse(event.data)));
      // A file has no changes. A browser opens at most six connections to a server, so none is kept.
      source.addEventListener("end", () => source.close());
      source.onerror = () => { connected = false; showState(); showEmpty(); };
    }

    // MARK: Set-up

    function showKinds() {
      const group = $("kinds");
      group.textContent = "";
      for (const [value, text] of KINDS)
        button(group, text, () => { kind = value; showKinds(); changed(); }).setAttribute("aria-pressed", kind === value);
    }

    function showHead() {
      const head = document.querySelector(".head");
      for (const [name, text] of COLUMNS) {
        const cell = add(head, "div", name);
        cell.setAttribute("role", "columnheader"); cell.setAttribute("aria-sort", "none");
        button(cell, text, () => {
          sort = sort?.key !== name ? { key: name, down: name === "time" || name === "size" } : sort.down === (name === "time" || name === "size") ? { key: name, down: !sort.down } : null;
          for (const other of head.children) other.setAttribute("aria-sort", "none");
          for (const other of head.querySelectorAll("button[data-text]")) other.textContent = other.dataset.text;
          if (sort) {
            cell.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
            cell.firstChild.textContent = text + (sort.down ? " ↓" : " ↑");
          }
          changed();
        }).dataset.text = text;
      }
      const fall = add(head, "div");
      fall.id = "axis"; fall.setAttribute("role", "columnheader"); fall.setAttribute("aria-label", "Waterfall");
      const align = button(fall, "Align", () => { aligned = !aligned; align.setAttribute("aria-pressed", aligned); render(); });
      align.id = "align"; align.title = "Draw all calls from one start"; align.setAttribute("aria-pressed", false);
    }

    function showHelp() {
      const box = $("about");
      box.textContent = "";
      add(box, "h2", "", "Keys and filters");
      const keys = [["↑ ↓ j k, Page, Home, End", "choose a call"], ["→ ←", "show or hide attempts"], ["Enter, Esc", "open and close the detail"],
        ["n N", "next and previous failed call"], ["x, s", "copy as curl, as Swift"], ["p, f", "pause, follow the end"], ["/, ?", "filter, this help"]];
      const filters = [["word -word \"two words\"", "all must match; - excludes"], ["status:5xx 404 >=400 timeout", "of the response or the envelope, or the kind of error"],
        ["host: method: kind: endpoint:", "a part of the text"],
        ["contains:word", "in a field, a body or a message, of any call"], ["is:failed retried cached shared open slow redirected cancelled", "one of these"],
        ["time:>500 time:>2s size:>10k", "milliseconds, seconds, bytes"]];
      for (const list of [keys, filters]) {
        const body = add(add(box, "table"), "tbody");
        for (const [key, text] of list) { const row = add(body, "tr"); add(add(row, "td"), "kbd", "", key); add(row, "td", "", text); }
        add(box, "br");
      }
      button(box, "Close", () => box.close()).autofocus = true;
      box.showModal();
    }

    function setPaused(value) {
      paused = value;
      $("pause").setAttribute("aria-pressed", paused);
      if (!paused) { const batches = held; held = []; for (const [name, data] of batches) apply(name, data); }
      showState();
    }

    $("filter").addEventListener("input", () => {
      query = parse($("filter").value);
      if (query.includes(null)) $("filter").setAttribute("aria-invalid", true); else $("filter").removeAttribute("aria-invalid");
      changed();
    });
    $("filter").addEventListener("keydown", (event) => {
      if (event.key === "Escape") { event.target.value = ""; event.target.dispatchEvent(new Event("input")); $("list").focus(); }
      if (event.key === "Enter" || event.key === "ArrowDown") { event.preventDefault(); $("list").focus(); if (selected == null) move(1); }
    });
    $("pause").addEventListener("click", () => setPaused(!paused));
    $("clear").addEventListener("click", () => fetch(base + "clear", { method: "POST" }));
    $("open").addEventListener("click", () => $("file").click());
    $("file").addEventListener("change", (event) => { if (event.target.files[0]) importFile(event.target.files[0]); event.target.value = ""; });
    $("export").addEventListener("click", exportFile);
    $("help").addEventListener("click", showHelp);
    $("more").addEventListener("click", () => { follow = true; toEnd(); });
    $("scroll").addEventListener("scroll", () => {
      top_ = $("scroll").scrollTop;
      follow = top_ + height >= rows.length * ROW - ROW;
      if (follow) { unseen = 0; $("more").hidden = true; }
      render();
    }, { passive: true });
    new ResizeObserver((entries) => {
      for (const entry of entries) {
        if (entry.target === strip) stripWidth = entry.contentRect.width; else height = entry.contentRect.height;
      }
      render();
    }).observe($("scroll"));
    new ResizeObserver((entries) => { stripWidth = entries[0].contentRect.width; render(); }).observe(strip);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);

    $("list").addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target !== $("list")) return;
      const call = selected == null ? null : calls.get(selected), page = Math.max(1, Math.floor(height / ROW) - 1);
      const actions = {
        ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1),
        PageDown: () => move(page), PageUp: () => move(-page), Home: () => { selected = null; move(1); }, End: () => { selected = null; move(-1); },
        ArrowRight: () => call && toggle(call, true), ArrowLeft: () => call && toggle(call, false),
        Enter: () => call && openDetail(call), Escape: () => detail && closeDetail(),
        n: () => moveToFailed(1), N: () => moveToFailed(-1), p: () => setPaused(!paused),
        f: () => { follow = true; toEnd(); }, x: () => copyOf(call, "curl"), s: () => copyOf(call, "swift"),
      };
      if (!Object.hasOwn(actions, event.key)) return;
      event.preventDefault();
      actions[event.key]();
    });
    async function copyOf(call, key) {
      if (!call) return;
      try {
        const data = details?.get(call.id) ?? await (await fetch(base + "calls/" + call.id, { cache: "no-store" })).json();
        await copy(data[key] ?? call.url);
      } catch { say("This call is no longer recorded"); }
    }
    document.addEventListener("keydown", (event) => {
      const typing = event.target.matches("input, textarea") || $("about").open;
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "/") { event.preventDefault(); $("filter").focus(); }
      if (event.key === "?") { event.preventDefault(); showHelp(); }
      if (event.key === "Escape" && detail && !$("list").contains(event.target)) closeDetail();
    });
    for (const name of ["dragover", "dragleave", "drop"]) addEventListener(name, (event) => {
      event.preventDefault();
      document.body.classList.toggle("drop", name === "dragover");
      if (name === "drop" && event.dataTransfer.files[0]) importFile(event.dataTransfer.files[0]);
    });
    const slow = matchMedia("(prefers-reduced-motion: reduce)");
    let beats = 0;
    setInterval(() => {
      beats++;
      if (document.hidden || !connected || calls !== live || paused || (slow.matches && beats % 10)) return;
      for (const call of live.values()) if (call.state === "open") return render();
    }, 100);

    showKinds(); showHead(); showState(); rebuild(); connect();
    const legend = $("legend");
    for (const [name, text] of PHASES) { const item = add(legend, "span"); add(item, "i", "key").style.background = "var(--" + name + ")"; item.append(text); }
    </script>
    </body>
    </html>
    """#
}
