"use strict";
// The report's page. Its data is what src/view/report.c writes: for each version a summary and, for each stream, slices as
// numbers in a row. Times are ticks until they are shown.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const KINDS = ["execute", "flight", "control", "load", "wait", "blocked", "drain", "barrier"];
  const EXECUTE = 0, FLIGHT = 1, WAIT = 4, FIELDS = 8;
  const KIND_TEXT = { execute: "executes", flight: "in flight", control: "control", load: "loads a register", wait: "waits",
    blocked: "held back", drain: "drains", barrier: "at the barrier" };
  const KIND_COLOUR = { flight: "flight", control: "control", load: "load", wait: "wait", blocked: "blocked", drain: "drain",
    barrier: "barrier" };
  const PATH_COLOUR = { datapath: "datapath", dma: "dma", semaphore: "semaphore", control: "control", barrier: "barrier" };
  // Of instructions: apart in hue and lightness, dark enough for white text.
  const PALETTE = ["#3b6fb6", "#2a9d8f", "#8a5fbf", "#c2577b", "#5b8c3e", "#b0703c", "#4f6d8f", "#97852f", "#3c8fb0", "#a3506a"];
  const AXIS = 24, LANE = 48, BAR = 22;
  const $ = (id) => document.getElementById(id);

  // ---- small things ----

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {}))
      if (key === "style") made.style.cssText = value; else made.setAttribute(key, value);
    for (const child of children) made.append(child);
    return made;
  }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  // Four digits at most, in the unit that suits `scale` (ns).
  function time(ns, scale = ns) {
    const [unit, factor] = scale >= 9999500 ? ["ms", 1e6] : scale >= 9999.5 ? ["µs", 1e3] : ["ns", 1];
    const value = ns / factor;
    return value.toFixed(value >= 1000 || Number.isInteger(value) ? 0 : value >= 100 ? 1 : 2) + " " + unit;
  }

  function percent(part, whole) {
    return whole ? (100 * part / whole).toFixed(1) + " %" : "-";
  }

  function count(number) {
    return number.toLocaleString("en-US");
  }

  const ns = (version, ticks) => ticks / version.ticks_per_ns;

  // ---- slices ----

  // By lane: arrays of start and end, which both rise from one slice to the next, and the number of the slice.
  function unpack(version) {
    for (const stream of version.streams) {
      const numbers = stream.slices, lanes = [[], [], []];
      let start = 0;
      for (let at = 0; at < numbers.length; at += FIELDS) {
        start += numbers[at + 1];
        const kind = numbers[at];
        lanes[kind === EXECUTE ? 0 : kind === FLIGHT ? 1 : 2].push({ kind, start, end: start + numbers[at + 2],
          name: numbers[at + 3], iteration: numbers[at + 4], line: numbers[at + 5], awaited: numbers[at + 6] - 1,
          waiting: numbers[at + 7] });
      }
      stream.lanes = lanes;
      stream.slices = null;
    }
  }

  // The first slice of a lane that ends after `tick`.
  function first(lane, tick) {
    let low = 0, high = lane.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane[middle].end > tick) high = middle; else low = middle + 1;
    }
    return low;
  }

  // By the number of a name: instructions that differ only in a number at the end are alike.
  function coloursOf(of) {
    const colours = [], taken = new Map();
    for (const stream of of.streams)
      for (const slice of stream.lanes[0]) {
        if (colours[slice.name]) continue;
        const base = of.texts[slice.name].replace(/\d+$/, "");
        if (!taken.has(base)) taken.set(base, PALETTE[taken.size % PALETTE.length]);
        colours[slice.name] = taken.get(base);
      }
    return colours;
  }

  // ---- state ----

  let version, from = 0, to = 1, chosenWait = null, colours = {}, nameColours = [];
  const canvas = $("slices"), overview = $("overview");
  const shown = () => version.streams.filter((stream) => stream.shown);

  // A canvas as sharp as the screen.
  function prepare(target, height) {
    const ratio = window.devicePixelRatio || 1, width = target.clientWidth;
    target.style.height = height + "px";
    target.width = Math.max(1, Math.round(width * ratio));
    target.height = Math.round(height * ratio);
    const pen = target.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    return [pen, width];
  }

  // ---- timeline ----

  function niceStep(least) {
    const power = Math.pow(10, Math.floor(Math.log10(least)));
    for (const factor of [1, 2, 5, 10]) if (factor * power >= least) return factor * power;
    return 10 * power;
  }

  function drawAxis(pen, width, height) {
    const begin = ns(version, from), end = ns(version, to), step = niceStep(Math.max((end - begin) * 90 / width, 1e-3));
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    for (let n = Math.ceil(begin / step); n * step <= end; n++) {
      const x = Math.round((n * step - begin) / (end - begin) * width) + .5;
      pen.fillStyle = colours.grid;
      pen.fillRect(x, AXIS, 1, height - AXIS);
      pen.fillStyle = colours.soft;
      pen.fillText(axisText(n * step, step, end), x + 4, AXIS / 2);
      pen.fillRect(x, AXIS - 7, 1, 7);
    }
  }

  // With the digits that the step needs.
  function axisText(value, step, scale) {
    const [unit, factor] = scale >= 9999500 ? ["ms", 1e6] : scale >= 9999.5 ? ["µs", 1e3] : ["ns", 1];
    const digits = Math.max(0, -Math.floor(Math.log10(step / factor) + 1e-9));
    return (value / factor).toFixed(Math.min(digits, 6)) + " " + unit;
  }

  function drawText(pen, text, x, y, room) {
    if (room < 14) return;
    let length = text.length;
    const width = pen.measureText(text).width;
    if (width > room) length = Math.floor(length * room / width) - 1;
    if (length >= 2 || length === text.length) pen.fillText(length < text.length ? text.slice(0, length) + "…" : text, x, y);
  }

  // Slices that are less than a pixel apart are painted as one, so that the work depends on the width of the picture.
  function drawLane(pen, lane, width, top, height, paint, labelled) {
    const scale = width / (to - from);
    let reached = -1;
    for (let i = first(lane, from); i < lane.length && lane[i].start < to; i++) {
      const slice = lane[i], left = (slice.start - from) * scale, right = (slice.end - from) * scale;
      if (right <= reached + .25) continue;
      const x = Math.max(left, -1), w = Math.max(Math.min(right, width + 1) - x, .75);
      pen.fillStyle = paint(slice);
      pen.fillRect(x, top, w > 3 ? w - .5 : w, height);
      reached = x + w;
      if (labelled && w > 24) {
        pen.fillStyle = slice.kind === EXECUTE ? "#ffffff" : colours.text;
        drawText(pen, labelOf(slice), x + 4, top + height / 2 + .5, w - 8);
      }
    }
  }

  function labelOf(slice) {
    const name = version.texts[slice.name];
    return slice.kind === WAIT ? "wait " + name : name || KINDS[slice.kind];
  }

  // Whether a slice is one of the waits that a row of the table sums up: `s >= 12` is one of `s >= %r`.
  function isOf(slice, stall) {
    if (slice.kind !== WAIT || version.texts[slice.waiting] !== stall.label) return false;
    const name = version.texts[slice.name], counter = (text) => text.split(/[ [\]]/)[0];
    return name === stall.waits_for || (!name.includes("->") && counter(name) === counter(stall.waits_for));
  }

  function drawMarks(pen, stream, width, top) {
    const scale = width / (to - from), lane = stream.lanes[2];
    pen.fillStyle = colours.semaphore;
    for (let i = first(lane, from); i < lane.length && lane[i].start < to; i++)
      if (isOf(lane[i], chosenWait))
        pen.fillRect((lane[i].start - from) * scale, top, Math.max((lane[i].end - lane[i].start) * scale, 1.5), 3);
  }

  function drawStream(pen, stream, width, top) {
    const paintName = (slice) => nameColours[slice.name], paintKind = (slice) => colours[KIND_COLOUR[KINDS[slice.kind]]];
    pen.fillStyle = colours.line;
    pen.fillRect(0, top, width, 1);
    pen.font = "11.5px system-ui, sans-serif";
    drawLane(pen, stream.lanes[1], width, top + 5 + BAR, stream.trigger ? 5 : 3, paintKind, false);
    drawLane(pen, stream.lanes[0], width, top + 5, BAR, paintName, true);
    pen.font = "10px system-ui, sans-serif";
    drawLane(pen, stream.lanes[2], width, top + 32, 12, paintKind, true);
    if (chosenWait && stream.name === chosenWait.engine) drawMarks(pen, stream, width, top + 44);
  }

  // What has not been kept is hatched.
  function drawCut(pen, width, height) {
    const x = Math.max((version.cut - from) / (to - from) * width, 0);
    if (version.cut >= version.ticks || x >= width) return;
    pen.save();
    pen.beginPath();
    pen.rect(x, AXIS, width - x, height);
    pen.clip();
    pen.fillStyle = colours.back;
    pen.fillRect(x, AXIS, width - x, height);
    pen.strokeStyle = colours.line;
    for (let at = x - height; at < width + height; at += 9) {
      pen.beginPath();
      pen.moveTo(at, height);
      pen.lineTo(at + height, 0);
      pen.stroke();
    }
    pen.restore();
  }

  function drawTimeline() {
    const height = AXIS + LANE * shown().length, [pen, width] = prepare(canvas, height);
    drawAxis(pen, width, height);
    shown().forEach((stream, row) => drawStream(pen, stream, width, AXIS + LANE * row));
    drawCut(pen, width, height);
    $("window").textContent = axisText(ns(version, from), niceStep(ns(version, to - from) / 100), ns(version, to)) + " – " +
      axisText(ns(version, to), niceStep(ns(version, to - from) / 100), ns(version, to));
  }

  // The whole run: how busy streams are, darker where more of them are.
  function drawOverview() {
    const [pen, width] = prepare(overview, 34), streams = shown(), scale = width / version.ticks;
    const height = 34 / Math.max(streams.length, 1);
    streams.forEach((stream, row) => {
      stream.overview.forEach((share, bucket) => {
        pen.globalAlpha = Math.min(1, share / 100);
        pen.fillStyle = stream.trigger ? colours.dma : colours.datapath;
        pen.fillRect(bucket * version.span * scale, row * height + .5, version.span * scale + .3, Math.max(height - 1, 1));
      });
    });
    pen.globalAlpha = 1;
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 2;
    const left = from * scale, right = to * scale;
    pen.fillStyle = "rgb(128 128 128 / 25%)";
    pen.fillRect(0, 0, left, 34);
    pen.fillRect(right, 0, width - right, 34);
    pen.strokeRect(Math.min(left + 1, width - 4), 1, Math.max(right - left - 2, 2), 32);
  }

  let isAsked = false;
  function draw() {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      drawTimeline();
      drawOverview();
    });
  }

  // ---- moving ----

  function look(begin, end) {
    const least = Math.min(8, version.ticks), length = Math.min(Math.max(end - begin, least), version.ticks);
    from = Math.min(Math.max(begin, 0), version.ticks - length);
    to = from + length;
    hideTip();
    draw();
  }

  function zoom(factor, at = .5) {
    const middle = from + (to - from) * at;
    look(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  function move(share) {
    look(from + (to - from) * share, to + (to - from) * share);
  }

  function place(event, target) {
    const box = target.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, event.clientY - box.top];
  }

  let drag = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX / 800);
    else zoom(Math.exp(Math.min(Math.max(event.deltaY, -200), 200) * .003), place(event, canvas)[0]);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: place(event, canvas)[0], from, to };
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("dragging");
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return showTip(event);
    const shift = (drag.x - place(event, canvas)[0]) * (drag.to - drag.from);
    look(drag.from + shift, drag.to + shift);
  });
  for (const name of ["pointerup", "pointercancel"])
    canvas.addEventListener(name, () => {
      drag = null;
      canvas.classList.remove("dragging");
    });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("keydown", (event) => {
    const action = { "+": () => zoom(.5), "=": () => zoom(.5), "-": () => zoom(2), "0": () => look(0, version.ticks),
      ArrowLeft: () => move(-.2), ArrowRight: () => move(.2) }[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
  $("zoom-in").addEventListener("click", () => zoom(.5));
  $("zoom-out").addEventListener("click", () => zoom(2));
  $("fit").addEventListener("click", () => look(0, version.ticks));

  // In the overview: a click moves the window, a drag chooses it.
  let choice = null;
  overview.addEventListener("pointerdown", (event) => {
    choice = place(event, overview)[0];
    overview.setPointerCapture(event.pointerId);
  });
  overview.addEventListener("pointermove", (event) => {
    const at = place(event, overview)[0];
    if (choice !== null && Math.abs(at - choice) > .004)
      look(Math.min(at, choice) * version.ticks, Math.max(at, choice) * version.ticks);
  });
  overview.addEventListener("pointerup", (event) => {
    const at = place(event, overview)[0], half = (to - from) / 2;
    if (Math.abs(at - choice) <= .004) look(at * version.ticks - half, at * version.ticks + half);
    choice = null;
  });

  // ---- telling ----

  function sliceAt(event) {
    const [x, y] = place(event, canvas), row = Math.floor((y - AXIS) / LANE), stream = shown()[row];
    if (!stream || y < AXIS) return null;
    const inside = y - AXIS - row * LANE, lane = stream.lanes[inside < 5 + BAR ? 0 : inside < 32 ? 1 : 2];
    const tick = from + x * (to - from), near = (to - from) / canvas.clientWidth;
    const slice = lane[first(lane, tick - near)];
    return slice && slice.start <= tick + near ? { stream, slice } : null;
  }

  function showTip(event) {
    const found = sliceAt(event), tip = $("tip");
    if (!found) return hideTip();
    const { stream, slice } = found;
    const lines = [stream.name + " " + KIND_TEXT[KINDS[slice.kind]] + ": " + time(ns(version, slice.end - slice.start)) + ", from " +
      axisText(ns(version, slice.start), ns(version, version.ticks) / 1e5, ns(version, version.ticks))];
    if (slice.waiting) lines.push("before " + version.texts[slice.waiting]);
    if (slice.iteration) lines.push("iteration " + version.texts[slice.iteration]);
    if (slice.awaited >= 0) lines.push("ended by " + version.streams[slice.awaited].name);
    if (slice.line) lines.push("line " + slice.line);
    tip.replaceChildren(element("b", {}, labelOf(slice)), ...lines.map((line) => element("div", {}, line)));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.min(event.clientX + 14, window.innerWidth - box.width - 8) + "px";
    tip.style.top = (event.clientY + 18 + box.height > window.innerHeight ? event.clientY - box.height - 12 : event.clientY + 18) + "px";
  }

  function hideTip() {
    $("tip").hidden = true;
  }

  // ---- tables ----

  function stack(target, parts, whole) {
    target.replaceChildren(...parts.filter(([, value]) => value > 0).map(([name, value, paint]) =>
      element("i", { style: "width:" + 100 * value / whole + "%;background:var(--" + paint + ")", title: name + " " +
        percent(value, whole) })));
    return target;
  }

  function pathParts(of) {
    return Object.entries(of.path).map(([name, value]) => [name, value, PATH_COLOUR[name]]);
  }

  // The version with barriers is what others are compared with; without one, the slowest.
  function fillComparison() {
    const slowest = Math.max(...data.versions.map((each) => ns(each, each.ticks)));
    const base = data.versions.find((each) => each.name === "barrier");
    const reference = base ? ns(base, base.ticks) : slowest;
    $("comparison").hidden = data.versions.length < 2;
    document.querySelector("#comparison .ratio").textContent = base ? "of barrier" : "of slowest";
    document.querySelector("#comparison tbody").replaceChildren(...data.versions.map((each) => {
      const latency = ns(each, each.ticks), bar = stack(element("div", { class: "stack", style: "width:" + 100 * latency / slowest +
        "%" }), pathParts(each), each.ticks);
      const row = element("tr", {}, element("td", {}, each.name), element("td", { class: "number" }, time(latency)),
        element("td", { class: "number" }, (latency / reference).toFixed(3)), element("td", { class: "wide" }, bar),
        ...["instructions", "register_operations", "wait_slots", "barriers"].map((key) =>
          element("td", { class: "number" }, count(each[key]))));
      row.addEventListener("click", () => choose(each));
      return row;
    }));
  }

  function fillPath() {
    stack(document.querySelector("#path .stack"), pathParts(version), version.ticks);
    document.querySelector("#path .legend").replaceChildren(...pathParts(version).map(([name, value, paint]) =>
      element("li", {}, element("i", { style: "background:var(--" + paint + ")" }), name + " ", element("b", {},
        percent(value, version.ticks)), " " + time(ns(version, value)))));
  }

  function fillLanes() {
    $("lanes").replaceChildren(...shown().map((stream) => element("div", { class: "lane", "data-stream": stream.name,
      style: "height:" + LANE + "px", title: stream.name }, element("b", {}, stream.name), element("span", {},
      (stream.trigger ? "via " + stream.trigger + ", " : "") + percent(stream.busy, version.ticks)))));
    const hidden = version.streams.length - shown().length;
    $("cut").textContent = (version.cut < version.ticks ? "The timeline ends at " + time(ns(version, version.cut)) +
      ": more would not fit on a page (sluice sim --range shows another part). " : "") +
      (hidden ? hidden + " streams are left out." : "");
  }

  function fillStreams() {
    document.querySelector("#streams tbody").replaceChildren(...version.streams.map((stream) => {
      const parts = [["busy", stream.busy, stream.trigger ? "dma" : "datapath"]];
      const numbers = ["busy", "stalled", "control", "barrier"].map((key) => element("td", { class: "number" },
        stream.trigger && key !== "busy" ? "" : percent(stream[key], version.ticks)));
      return element("tr", {}, element("td", {}, stream.name, stream.trigger ? element("span", { class: "soft" }, " via " +
        stream.trigger) : ""), element("td", { class: "wide" }, stack(element("div", { class: "stack" }), parts, version.ticks)),
        ...numbers, element("td", { class: "number" }, count(stream.instructions)));
    }));
  }

  function fillStalls() {
    const most = version.stalls.length ? version.stalls[0].ticks : 1;
    $("stalls").hidden = version.stalls.length === 0;
    if (version.stall_count > version.stalls.length)
      document.querySelector("#stalls .of").append(" the first " + version.stalls.length + " of " + version.stall_count);
    document.querySelector("#stalls tbody").replaceChildren(...version.stalls.map((stall) => {
      const by = stall.producer ? [stall.producer, element("span", { class: "soft" }, " on " + stall.producer_stream)] : [""];
      const row = element("tr", {}, element("td", {}, stall.engine), element("td", { class: "code" }, stall.label),
        element("td", { class: "code" }, stall.waits_for), element("td", {}, ...by), element("td", { class: "number" },
          time(ns(version, stall.ticks))), element("td", { style: "width:16%" }, element("span", { class: "bar", style: "width:" +
          100 * stall.ticks / most + "%" })), element("td", { class: "number" }, count(stall.count)),
        element("td", { class: "number" }, time(ns(version, stall.longest))));
      row.addEventListener("click", () => mark(row, stall));
      return row;
    }));
  }

  // Its waits are underlined, and the longest one comes into view.
  function mark(row, stall) {
    document.querySelectorAll("#stalls tr.chosen").forEach((other) => other.classList.remove("chosen"));
    row.classList.add("chosen");
    chosenWait = stall;
    const stream = version.streams.find((each) => each.name === stall.engine);
    const waits = stream.lanes[2].filter((slice) => isOf(slice, stall));
    if (!waits.length) return draw();
    const longest = waits.reduce((best, slice) => slice.end - slice.start > best.end - best.start ? slice : best);
    const room = (longest.end - longest.start) * 2;
    look(longest.start - room, longest.end + room);
    $("timeline").scrollIntoView({ block: "nearest" });
  }

  // ---- the page ----

  function choose(of) {
    version = of;
    if (!version.streams.every((stream) => stream.lanes)) unpack(version);
    chosenWait = null;
    nameColours = coloursOf(version);
    document.querySelectorAll("#comparison tbody tr").forEach((row, i) => row.classList.toggle("chosen", data.versions[i] === of));
    document.querySelectorAll("h2 .of").forEach((span) => { span.textContent = data.versions.length > 1 ? of.name : ""; });
    $("kernel").textContent = of.kernel;
    $("target").textContent = of.target;
    const facts = [["latency", time(ns(of, of.ticks))], ["target", of.target], ["instructions", count(of.instructions)]];
    $("facts").replaceChildren(...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
    fillPath();
    fillLanes();
    fillStreams();
    fillStalls();
    start();
  }

  // Short runs whole; of long ones a part in which single instructions can be seen, with the rest a wheel's turn away.
  function start() {
    const busiest = shown().reduce((best, stream) => stream.lanes[0].length > best.length ? stream.lanes[0] : best, []);
    const some = 48, at = Math.floor(busiest.length * .4);
    if (busiest.length <= 4 * some) look(0, version.ticks);
    else look(busiest[at].start, busiest[at + some].end);
  }

  function readColours() {
    for (const name of ["soft", "line", "grid", "text", "back", "accent", "datapath", "dma", "semaphore",
      ...Object.values(KIND_COLOUR)]) colours[name] = colour(name);
  }

  $("kinds").replaceChildren(...["wait", "blocked", "control", "load", "drain", "barrier", "flight"].map((kind) =>
    element("li", {}, element("i", { style: "background:var(--" + KIND_COLOUR[kind] + ")" }), KIND_TEXT[kind])));
  $("version").textContent = data.sluice;
  document.title = data.versions[0].kernel + " – Sluice";
  readColours();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });
  window.addEventListener("resize", draw);
  fillComparison();
  choose(data.versions[0]);
})();
