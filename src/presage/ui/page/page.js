"use strict";
// Draws what Python has worked out. One `view` object says what is looked at; every function below
// is a function of `data` and `view`. All text from the data is set as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const main = data.main;
const NS = "http://www.w3.org/2000/svg";
const ROW = 24, HEAD = 30, NUMBER = 44, GUTTER = 44, STRIP = 8, LABEL_CHARACTERS = 70;
const WINDOW_FROM = 2000, AROUND = 200; // rows: more than that, and only those in view are drawn
const WIDE = 26; // characters of a name that leave no room for its value beside it
const LOG_MAX = 200, LEAVES_MAX = 1500, TEXT_MAX = 400;
const FOLD_FROM = 60; // steps; a shorter trace is shown whole
const FAILURES = new Set(["crash", "reset", "silent"]);
const PLAIN = new Set(["start", "deliver", "receive", "timer", "action", "call", "silent"]);
const HEARD = new Set(["deliver", "receive", "broken", "refused", "keepalive"]);

const view = {
  step: data.opens, pinned: null, against: data.others.length ? 0 : "previous", unchanged: false,
  filter: "", closed: new Set(), causal: false, beside: null, past: false, said: null, blamed: null,
};
let layout = null; // of the diagram that is on the screen
let drawn = null; // the rows that are

// -- small helpers ------------------------------------------------------------------------------

const byId = id => document.getElementById(id);
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const clean = text => String(text).replace(CONTROLS, c => {
  const code = c.codePointAt(0);
  return code < 32 ? String.fromCodePoint(0x2400 + code)
    : `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
});
const cut = (text, most) => text.length > most ? [...text].slice(0, most - 1).join("") + "…" : text;

function make(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element[name] = value;
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  for (const child of children) {
    if (child === null || child === "" || child === undefined) continue;
    element.append(child instanceof Node ? child : document.createTextNode(clean(child)));
  }
  return element;
}
const el = (name, attributes, ...children) =>
  make(document.createElementNS(NS, name), attributes, children);
const h = (name, attributes, ...children) =>
  make(document.createElement(name), attributes, children);

const colour = (story, lane) => {
  const at = story.nodes.indexOf(lane);
  return at < 0 || lane === story.between ? "var(--dim)" : `var(--n${at % 8})`;
};
const nameOf = step => step.i === 0 ? step.label
  : `${step.node} ${step.kind}${step.label === step.kind ? "" : ` ${step.label}`}`;

// -- states -------------------------------------------------------------------------------------

const order = ([mark, path]) => {
  const last = path.length ? path[path.length - 1] : 0;
  const at = typeof last === "number" ? last : 0;
  return mark === "D" ? [path.length, 0, -at] : [path.length, mark === "A" ? 1 : 2, at];
};

function apply(state, changes) {
  const sorted = changes.map(change => [order(change), change])
    .sort(([a], [b]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  for (const [, [mark, path, , after]] of sorted) {
    if (!path.length) { state = structuredClone(after); continue; }
    let inside = state;
    for (const name of path.slice(0, -1)) inside = inside[name];
    const last = path[path.length - 1];
    if (Array.isArray(inside)) {
      if (mark === "D") inside.splice(last, 1);
      else if (mark === "A") inside.splice(last, 0, structuredClone(after));
      else inside[last] = structuredClone(after);
    } else if (mark === "D") delete inside[last];
    else inside[last] = structuredClone(after);
  }
  return state;
}

function stateAt(story, step) {
  let key = step;
  while (!(key in story.keys)) key--;
  let state = structuredClone(story.keys[key]);
  for (let at = key + 1; at <= step; at++) state = apply(state, story.steps[at].changes);
  return state;
}

function shown(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (typeof value !== "object") return typeof value === "string" ? JSON.stringify(value) : `${value}`;
  const kind = value[""], names = Object.keys(value).filter(name => name !== "");
  if (kind === "set") return names.length ? `{${names.join(", ")}}` : "set()";
  const each = names.map(name => `${name}${kind === undefined ? ": " : "="}${shown(value[name])}`);
  if (kind === undefined) return `{${each.join(", ")}}`;
  return names.length ? `${kind}(${each.join(", ")})` : `${kind}`;
}

function* leaves(value, path = []) {
  if (value !== null && typeof value === "object") {
    const names = Array.isArray(value) ? value.keys() : Object.keys(value).filter(n => n !== "");
    let any = false;
    for (const name of names) { any = true; yield* leaves(value[name], [...path, name]); }
    if (any) return;
  }
  yield [path, value];
}

// -- where everything is ------------------------------------------------------------------------

const foldAt = new Int32Array(main.steps.length).fill(-1);
main.folds.forEach((fold, number) => foldAt.fill(number, fold.first, fold.last + 1));
const foldOf = step => foldAt[step];
const isOpen = fold => fold < 0 || !view.closed.has(fold);
const isHidden = step => !view.causal && view.beside === null && !isOpen(foldOf(step));

// Which row each step is in: one each, or all of a closed fold in one, or as high up as causes let.
function rowsOf(story) {
  const row = new Array(story.steps.length), folds = [];
  if (view.causal) {
    for (const step of story.steps) row[step.i] = step.row;
    return {row, folds, count: 1 + row.reduce((most, each) => Math.max(most, each), 0)};
  }
  const folded = story === main && view.beside === null;
  let count = 0, fold = 0;
  for (let at = 0; at < story.steps.length; at++) {
    while (folded && fold < main.folds.length && main.folds[fold].last < at) fold++;
    const inside = folded && fold < main.folds.length && main.folds[fold].first <= at;
    if (inside && view.closed.has(fold)) {
      if (main.folds[fold].first === at) folds.push([fold, count++]);
      row[at] = count - 1;
    } else row[at] = count++;
  }
  return {row, folds, count};
}

function layoutOf(story) {
  const rows = rowsOf(story), lanes = story.nodes.slice();
  if (view.pinned !== null && lanes.includes(view.pinned)) {
    lanes.splice(lanes.indexOf(view.pinned), 1);
    lanes.unshift(view.pinned);
  }
  const twice = view.beside !== null;
  const measured = !view.causal && story.steps.some(step => step.recover !== null);
  const strips = NUMBER + (measured ? GUTTER + 10 : 0);
  const left = view.causal ? 10 : strips + (twice ? 0 : STRIP * story.props.length) + 10;
  const texts = view.causal ? 0 : twice ? 190 : 420;
  const room = twice ? byId("chart").clientWidth / 2 - left - texts : 640;
  const [least, most] = view.causal ? [150, 190] : [44, 118];
  const lane = Math.round(Math.max(least, Math.min(most, room / lanes.length)));
  const label = left + lane * lanes.length + 8;
  return {
    story, ...rows, lanes, measured, strips, left, lane, label,
    width: Math.max(label + texts, twice || view.causal ? 0 : byId("chart").clientWidth - 16),
    height: (rows.count + 1) * ROW,
    x: name => left + lane * (Math.max(0, lanes.indexOf(name)) + .5),
    y: step => ROW * (rows.row[step] + .5),
  };
}

// -- the diagram --------------------------------------------------------------------------------

function drawHeads(at) {
  const {story, x} = at;
  const svg = el("svg", {width: at.width, height: HEAD, role: "group", "aria-label": "nodes"});
  if (!view.causal) {
    svg.append(el("text", {x: NUMBER - 8, y: 19, "text-anchor": "end", class: "dim"}, "step"));
  }
  if (at.measured) svg.append(el("text", {x: NUMBER, y: 19, class: "dim"}, "recovers"));
  if (hasStrips()) story.props.forEach((prop, number) => svg.append(
    el("text", {x: at.strips + STRIP * (number + .5), y: 19, "text-anchor": "middle", class: "dim"},
      `${(number + 1) % 10}`, el("title", {}, `property ${number + 1}: ${prop}`))));
  const busy = new Set(story.steps.map(step => step.node));
  for (const arrow of story.arrows) busy.add(arrow.from);
  for (const name of at.lanes) {
    const idle = !busy.has(name), pinned = name === view.pinned;
    const text = cut(clean(name), Math.floor(at.lane / 7));
    svg.append(el("text", {
      x: x(name), y: 19, "text-anchor": "middle", class: idle ? "lane dim" : "lane", tabindex: 0,
      role: "button", "aria-pressed": pinned, "aria-label": `pin ${clean(name)}`,
      fill: idle ? null : colour(story, name), onclick: () => pin(name),
      onkeydown: event => { if (event.key === "Enter") pin(name); },
    }, pinned ? `▸${text}` : text, el("title", {}, idle ? `${name}, idle` : name)));
    if (!idle) svg.lastChild.style.fill = colour(story, name);
  }
  return svg;
}

function sign(at, step) {
  const x = at.x(step.node), y = at.y(step.i), c = colour(at.story, step.node);
  const cross = size => `M${x - size} ${y - size}l${2 * size} ${2 * size}m0 ${-2 * size}l${-2 * size} ${2 * size}`;
  if (step.i === 0) return null;
  if (FAILURES.has(step.kind)) {
    return el("path", {d: cross(6), stroke: "var(--bad)", "stroke-width": 3, "stroke-linecap": "round"});
  }
  if (step.kind === "drop") return null; // its arrow ends in a cross
  if (step.kind === "timer") {
    return el("path", {d: `M${x} ${y - 6}l6 6l-6 6l-6 -6z`, fill: "var(--bg)", stroke: c, "stroke-width": 2});
  }
  if (HEARD.has(step.kind)) return el("circle", {cx: x, cy: y, r: 5, fill: c});
  const hollow = ["restart", "slow", "wake", "write"].includes(step.kind);
  const box = {x: x - 5, y: y - 5, width: 10, height: 10, fill: hollow ? "var(--bg)" : c};
  return el("rect", {...box, stroke: c, "stroke-width": hollow ? 2 : 0});
}

function rowLabel(at, step) {
  const critical = step.i === at.story.critical;
  if (view.causal) { // a little room beside the sign
    const name = step.recv === null ? step.label : at.story.arrows[step.recv].name;
    return cut(clean(name), Math.floor(at.lane / 14));
  }
  const plain = PLAIN.has(step.kind) || step.label.includes(step.kind);
  const text = (critical ? "critical: " : "") + (step.i === at.story.loop ? "↻ " : "") + (step.failure ? "raises in " : "")
    + (plain ? step.label : `${step.kind} ${step.label}`);
  return cut(clean(text), view.beside === null ? LABEL_CHARACTERS : 30);
}

function drawRow(at, step, position, count) {
  const {story} = at, y = at.y(step.i), critical = step.i === story.critical;
  const bad = critical || step.i === story.bad || step.failure;
  const noted = story.notes.some(([index]) => index === step.i);
  const left = view.causal ? at.x(step.node || at.lanes[0]) - at.lane / 2 : 0;
  const width = view.causal ? at.lane : at.width;
  const g = el("g", {
    class: `row${critical ? " critical" : ""}`, role: "option", id: at.id + step.i,
    "aria-label": `step ${step.i}: ${clean(nameOf(step))}${critical ? ", critical transition" : ""}`
      + (step.i === story.loop ? ", repeats from here" : "") + (noted ? ", has a note" : ""),
    "aria-selected": step.i === view.step, "aria-posinset": position, "aria-setsize": count,
    "data-step": step.i, onclick: () => select(step.i, true),
  }, el("rect", {class: "hit", x: left + .5, y: y - ROW / 2, width: width - 1, height: ROW}));
  const here = el("g", {});
  if (critical) here.append(el("rect", {x: left, y: y - ROW / 2, width: 4, height: ROW, fill: "var(--bad)"}));
  const number = view.causal ? left + at.lane / 2 - 9 : NUMBER - 8;
  here.append(el("text", {x: number, y: y + 4, "text-anchor": "end", class: "dim"}, `${noted ? "✎" : ""}${step.i}`));
  if (step.recover !== null && !view.causal) here.append(...bar(step, y));
  const text = rowLabel(at, step), where = view.causal ? at.x(step.node || at.lanes[0]) + 9 : at.label;
  here.append(el("text", {x: where, y: y + 4, class: bad ? "bad" : null},
    text, el("title", {}, step.detail || step.label)));
  g.append(here);
  return g;
}

function bar(step, y) {
  const [share, measured] = step.recover, told = measured ? "measured" : "between two measured places";
  const none = share === 0, fill = none ? "var(--bad)" : "var(--good)";
  return [
    el("rect", {x: NUMBER, y: y - 5, width: GUTTER, height: 10, rx: 2, fill: "var(--line)", opacity: .6},
      el("title", {}, `${Math.round(share * 100)}% of walks recover, ${told}`)),
    el("rect", {x: NUMBER, y: y - 5, width: Math.max(3, GUTTER * share), height: 10, rx: 2, fill,
      opacity: measured || none ? .9 : .5, "pointer-events": "none"}),
  ];
}

function drawFold(at, fold, row) {
  const {text, first, last} = main.folds[fold], y = ROW * (row + .5);
  const sign = main.folds[fold].kind === "lasso" ? "↻" : "⋯";
  const label = `${sign} ${text}`;
  return el("g", {class: "row fold", role: "option", "aria-selected": false, "data-fold": fold,
    "aria-label": `steps ${first} to ${last} folded: ${text}`, onclick: () => openFold(fold)},
  el("rect", {class: "hit", x: .5, y: y - ROW / 2, width: at.width - 1, height: ROW}),
  el("line", {x1: at.left, x2: at.label - 12, y1: y, y2: y, stroke: "var(--dim)",
    "stroke-width": 6, "stroke-dasharray": "2 6", opacity: .5}),
  el("text", {x: NUMBER - 8, y: y + 4, "text-anchor": "end", class: "dim"}, "▸"),
  el("text", {x: at.label, y: y + 4, class: "dim"}, label));
}

function drawLanes(at) {
  const g = el("g", {"pointer-events": "none"}), {story} = at;
  const busy = new Set(story.steps.map(step => step.node));
  for (const name of at.lanes) {
    const x = at.x(name), line = (from, to, off) => g.append(el("line", {
      x1: x, x2: x, y1: from, y2: to, class: off ? "off" : null,
      stroke: off ? "var(--bad)" : colour(story, name), "stroke-width": off ? 1.5 : 2,
      "stroke-dasharray": off ? "2 4" : null, opacity: off ? .9 : busy.has(name) ? .45 : .18,
    }));
    let since = 0;
    for (const [node, from, to] of story.down) {
      if (node !== name) continue;
      line(since, at.y(from));
      line(at.y(from), to === null ? at.height : at.y(to), true);
      since = to === null ? at.height : at.y(to);
    }
    if (since < at.height) line(since, at.height);
  }
  return g;
}

const hasStrips = () => !view.causal && view.beside === null;

// Whether it is news that a property fails: it always has to hold, or the page is about it.
const isBroken = (story, number) =>
  story.props[number] === data.property || !["eventually", "sometimes"].includes(story.kinds[number]);

// Per property, one bar for each stretch of steps in which it says the same: wide where it fails.
function drawStrips(at) {
  const g = el("g", {}), {story} = at;
  if (!hasStrips()) return g;
  story.props.forEach((prop, number) => {
    const x = at.strips + STRIP * (number + .5);
    let since = 0;
    for (let step = 1; step <= story.steps.length; step++) {
      const [holds] = story.says[story.steps[since].verdicts[number]];
      if (step < story.steps.length && story.says[story.steps[step].verdicts[number]][0] === holds) continue;
      const from = at.y(since) - ROW / 2, to = at.y(step - 1) + ROW / 2;
      const width = holds === false ? 5 : 1.5, steps = `steps ${since} to ${step - 1}`;
      const fill = holds ? "var(--good)" : isBroken(story, number) ? "var(--bad)" : "var(--dim)";
      if (holds !== null && to > from) g.append(el("rect", {x: x - width / 2, y: from, width,
        height: to - from, fill, opacity: isBroken(story, number) ? .8 : .35},
      el("title", {}, `${prop} ${holds ? "holds" : "fails"}, ${steps}`)));
      since = step;
    }
  });
  return g;
}

function drawArrow(at, arrow) {
  const {story} = at, from = [at.x(arrow.from), at.y(arrow.sent)];
  const ended = arrow.step !== null, kept = arrow.fate === "delivered";
  let to = [at.x(arrow.to), ended ? at.y(arrow.step) : from[1] + ROW * .9];
  if (!kept) to = [from[0] + (to[0] - from[0]) * (ended ? .62 : .4), to[1]];
  const own = arrow.from === arrow.to, sideways = own ? 16 : 0;
  const size = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1, pull = kept && !own ? 7 : 0;
  const tip = [to[0] - (to[0] - from[0]) * pull / size, to[1] - (to[1] - from[1]) * pull / size];
  const c = kept || !ended ? colour(story, arrow.from) : "var(--bad)";
  const d = own ? `M${from[0]} ${from[1]}C${from[0] + sideways} ${from[1]} ${to[0] + sideways} ${to[1]} ${to[0] + 6} ${to[1]}`
    : `M${from[0]} ${from[1]}L${tip[0]} ${tip[1]}`;
  const g = el("g", {class: "arrow", "data-from": arrow.sent, "data-to": ended ? arrow.step : null, "data-fate": arrow.fate},
    el("path", {d, fill: "none", stroke: c, "stroke-width": 1.4, "stroke-dasharray": kept ? null : "4 3",
      opacity: ended ? null : .6, "marker-end": kept ? "url(#tip)" : null}));
  if (!kept && ended) {
    g.append(el("path", {d: `M${to[0] - 4} ${to[1] - 4}l8 8m0 -8l-8 8`, stroke: "var(--bad)", "stroke-width": 2.2}));
  } else if (!ended) g.append(el("text", {x: to[0] + 4, y: to[1] + 4, class: "dim"}, "in flight"));
  return g;
}

function drawRift(at, step) {
  const y = at.y(step.i);
  if (step.kind === "cut" || step.kind === "idle") {
    const [a, b] = [at.x(step.at), at.x(step.detail)], half = (a + b) / 2;
    return el("path", {d: `M${a} ${y}H${half - 6}l4 -5l4 10l4 -5H${b}`, fill: "none",
      stroke: step.kind === "cut" ? "var(--bad)" : "var(--dim)", "stroke-width": 1.6});
  }
  if (step.kind !== "partition" && step.kind !== "heal") return null;
  return el("line", {x1: at.left, x2: at.label - 12, y1: y, y2: y, "stroke-width": 2,
    stroke: step.kind === "partition" ? "var(--bad)" : "var(--good)", "stroke-dasharray": "8 4"});
}

function drawBody(at, first, last, label) {
  const {story} = at, inside = row => first <= row && row <= last;
  const visible = story.steps.filter(step => !at.folds.length || isOpen(foldOf(step.i)) || story !== main);
  const svg = el("svg", {width: at.width, height: at.height, role: "listbox", tabindex: 0,
    "aria-label": label, id: at.id});
  svg.append(el("defs", {}, el("marker", {id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4,
    markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse"},
  el("path", {d: "M0 0L8 4L0 8z", fill: "context-stroke"}))));
  const rows = el("g", {role: "presentation"}), signs = el("g", {"pointer-events": "none", "aria-hidden": true});
  const arrows = el("g", {"pointer-events": "none", "aria-hidden": true});
  visible.forEach((step, position) => {
    if (!inside(at.row[step.i])) return;
    rows.append(drawRow(at, step, position + 1, visible.length));
    for (const drawing of [drawRift(at, step), sign(at, step)]) if (drawing) signs.append(drawing);
  });
  for (const [fold, row] of at.folds) if (inside(row)) rows.append(drawFold(at, fold, row));
  for (const arrow of story.arrows) {
    const from = at.row[arrow.sent], to = arrow.step === null ? from + 1 : at.row[arrow.step];
    if (from <= last && to >= first && (from !== to || view.causal)) arrows.append(drawArrow(at, arrow));
  }
  if (view.beside !== null) {
    const y = ROW * (data.others[view.beside].from);
    signs.append(el("line", {x1: 0, x2: at.width, y1: y, y2: y, stroke: "var(--warn)", "stroke-width": 2,
      "stroke-dasharray": "6 4", class: "parting"}));
  }
  svg.append(rows, drawStrips(at), drawLanes(at), arrows, signs);
  return svg;
}

// Draw the rows in view, and enough around them; all of them if there are not too many.
function draw(moved) {
  const chart = byId("chart");
  const stories = view.beside === null ? [main] : [main, data.others[view.beside].story];
  if (!moved) layout = stories.map(layoutOf);
  layout[0].id = "step-";
  if (layout[1]) layout[1].id = "other-";
  const most = Math.max(...layout.map(at => at.count));
  const windowed = most > WINDOW_FROM;
  const top = Math.floor(chart.scrollTop / ROW), shows = Math.ceil(chart.clientHeight / ROW);
  const first = windowed ? Math.max(0, top - AROUND) : 0;
  const last = windowed ? top + shows + AROUND : most;
  if (moved && drawn && drawn.first <= Math.max(0, top - AROUND / 2)
    && drawn.last >= Math.min(most, top + shows + AROUND / 2)) return;
  drawn = {first, last};
  const focused = document.activeElement?.getAttribute("role") === "listbox";
  const label = at => at.story === main ? "space-time diagram" : data.others[view.beside].label;
  const heads = h("div", {class: "heads"}, ...layout.map(drawHeads));
  const bodies = h("div", {class: "bodies"}, ...layout.map(at => drawBody(at, first, last, label(at))));
  chart.replaceChildren(heads, bodies);
  if (focused) byId("step-").focus({preventScroll: true});
  decorate();
}

// What changes with the selection alone: no need to draw anew.
function decorate() {
  const past = view.past ? pastOf(view.step) : null;
  for (const row of document.querySelectorAll(".row[data-step]")) {
    const step = +row.dataset.step, told = main.steps[step];
    row.setAttribute("aria-selected", step === view.step);
    row.classList.toggle("past", past !== null && past.has(step) || view.blamed?.step === step);
    const away = past !== null && !past.has(step)
      || view.pinned !== null && told && told.node !== view.pinned && told.at !== view.pinned;
    row.lastChild.classList.toggle("away", Boolean(away) && step !== view.step);
  }
  byId("step-")?.setAttribute("aria-activedescendant", `step-${view.step}`);
}

function pastOf(step) {
  const found = new Set([step]), left = [step];
  while (left.length) for (const cause of main.steps[left.pop()].causes) {
    if (!found.has(cause)) { found.add(cause); left.push(cause); }
  }
  return found;
}

// -- the inspector ------------------------------------------------------------------------------

const link = step => h("button", {class: "link", onclick: () => select(step)}, `step ${step}`);

function valueOf(value) {
  const text = shown(value);
  if (text.length <= TEXT_MAX) return [text];
  const more = h("button", {class: "link"}, `all ${text.length} characters`);
  const part = h("span", {}, cut(text, TEXT_MAX));
  more.onclick = event => { event.stopPropagation(); part.textContent = clean(text); more.remove(); };
  return [part, " ", more];
}

const partText = (name, first) => typeof name === "number" ? `[${name}]`
  : first ? name : /^[\w ]+$/.test(name) ? `.${name}` : `[${name}]`;
const pathText = path => path.map((name, at) => partText(name, at === 0)).join("");

// Rows of a table for parts of the state: what several have in common is told once, above them.
function* partRows(parts, live, depth = 0, indent = 0) {
  for (let at = 0; at < parts.length;) {
    let end = at + 1;
    while (end < parts.length && parts[end].path.length > depth + 1
      && parts[at].path.length > depth + 1 && parts[end].path[depth] === parts[at].path[depth]) end++;
    if (end === at + 1) yield leafRow(parts[at], live, depth, indent);
    else {
      const group = parts.slice(at, end), {path} = group[0];
      let common = depth + 1;
      while (group.every(each => each.path.length > common + 1 && each.path[common] === path[common])) common++;
      yield h("tr", {class: "part"}, h("td", {class: "mark"}),
        indented(indent, pathText(path.slice(depth, common)), 2));
      yield* partRows(group, live, common, indent + 1);
    }
    at = end;
  }
}

function leafRow({mark, path, before, after}, live, depth, indent) {
  const [was, now] = live ? ["ins", "del"] : ["del", "ins"], name = pathText(path.slice(depth));
  const told = mark === "" ? valueOf(after) : [h(was, {}, ...(mark === "A" ? ["—"] : valueOf(before))),
    live ? " ≠ " : " → ", h(now, {}, ...(mark === "D" ? ["—"] : valueOf(after)))];
  const ask = () => blame(path), wide = name.length + indent > WIDE;
  return h("tr", {class: `leaf ${mark || "same"}`, tabindex: 0, "data-path": JSON.stringify(path),
    "aria-label": `${mark} ${clean(pathText(path))}: who wrote it?`, onclick: ask,
    onkeydown: event => { if (event.key === "Enter") { event.stopPropagation(); ask(); } }},
  h("td", {class: "mark"}, mark), indented(indent, name, wide ? 2 : 1, ...(wide ? ["  ", ...told] : [])),
  wide ? null : h("td", {}, ...told));
}

function indented(depth, text, columns, ...more) {
  const cell = h("td", {class: "name", colspan: columns}, text, ...more);
  cell.style.paddingLeft = `${depth * 10}px`;
  return cell;
}

function compared(step) {
  if (view.against === "previous") return {changes: main.steps[step].changes, live: false};
  const other = data.others[view.against], diffs = other.diffs[step];
  if (diffs) return {changes: diffs, live: true, other};
  return {changes: [], live: true, other, same: step < other.from};
}

function stateTable(step) {
  const {changes, live, other, same} = compared(step);
  const first = path => view.pinned !== null && path[0] === view.pinned ? 0 : 1;
  const parts = changes.map(([mark, path, before, after]) => ({mark, path, before, after}));
  const state = stateAt(main, step), all = [...leaves(state)];
  const touched = new Set(parts.map(part => JSON.stringify(part.path)));
  const rest = all.filter(([path]) => !touched.has(JSON.stringify(path)));
  const listed = view.unchanged
    ? [...parts, ...rest.slice(0, LEAVES_MAX).map(([path, after]) => ({mark: "", path, after}))] : parts;
  const grouped = listed.map((part, at) => [part, at]).sort(([a, i], [b, j]) =>
    first(a.path) - first(b.path) || laneOrder(a.path[0]) - laneOrder(b.path[0])
    || (view.unchanged ? pathText(a.path).localeCompare(pathText(b.path)) : 0) || i - j);
  const none = live ? (same ? "the two paths are still the same here" : other && step > other.compared
    ? `not compared: more than ${other.compared - other.from} steps after the paths part`
    : "no difference in state") : step === 0 ? "the initial state" : "this step changed no state";
  const label = view.unchanged ? "hide unchanged fields" : `show ${rest.length} unchanged fields`;
  return [
    live ? h("p", {class: "dim"}, `Left: ${other.label}, after its step`
      + ` ${Math.min(step, other.story.steps.length - 1)}. Right: this trace. They part at step ${other.from}.`) : null,
    changes.length ? null : h("p", {class: "dim"}, none),
    h("table", {class: "mono", id: "state"}, h("colgroup", {}, h("col", {class: "mark"}),
      h("col", {class: "name"}), h("col", {})), h("tbody", {}, ...partRows(grouped.map(([part]) => part), live))),
    view.unchanged && rest.length > LEAVES_MAX ? h("p", {class: "dim"}, `${rest.length - LEAVES_MAX} more are not shown`) : null,
    h("button", {id: "unchanged", onclick: () => { view.unchanged = !view.unchanged; inspect(); }}, label),
  ];
}

const laneOrder = name => { const at = main.nodes.indexOf(name); return at < 0 || name === main.between ? 1e6 : at; };

function tabs() {
  const tab = (id, text) => h("button", {"aria-pressed": view.against === id, onclick: () => {
    view.against = id; inspect();
  }}, text);
  return h("div", {role: "group", "aria-label": "compare with"}, tab("previous", "vs previous step"),
    ...data.others.flatMap((other, at) => [" ", tab(at, `vs ${other.label}`)]));
}

function properties(step) {
  const pills = main.props.map((prop, number) => {
    const [holds] = main.says[step.verdicts[number]];
    const [kind, mark, told] = holds === null ? ["unsaid", "·", "says nothing"]
      : holds ? ["yes", "✓", "holds"] : [isBroken(main, number) ? "no" : "yet", "✗", "fails"];
    return h("button", {class: `pill ${kind}`, "aria-label": `${clean(prop)} ${told}`, onclick: () => {
      view.said = view.said === number ? null : number; inspect();
    }}, `${mark} ${prop}`);
  });
  const asked = view.said ?? main.props.indexOf(data.property);
  const [holds, why] = asked < 0 ? [null, ""] : main.says[step.verdicts[asked]];
  const text = why || (holds ? "holds" : "says nothing here");
  const told = view.said !== null || (asked >= 0 && holds === false);
  return [h("div", {}, ...pills), told ? h("p", {id: "said"}, `${main.props[asked]}: ${text}`) : null];
}

function messages(step) {
  const told = [];
  if (step.recv !== null) {
    const arrow = main.arrows[step.recv];
    told.push(h("p", {}, `message sent by ${arrow.from} at `, arrow.sent ? link(arrow.sent) : "the start"));
  }
  for (const number of step.sends.slice(0, 30)) {
    const {to, text, fate, step: end} = main.arrows[number];
    told.push(h("p", {}, "sends ", h("span", {class: "mono"}, cut(text, TEXT_MAX)), ` to ${to}, `,
      fate, end === null ? "" : " at ", end === null ? "" : link(end)));
  }
  if (step.sends.length > 30) told.push(h("p", {class: "dim"}, `and ${step.sends.length - 30} more messages`));
  if (step.causes.length) told.push(h("p", {}, "follows ", ...step.causes.flatMap(each => [link(each), " "])));
  return told;
}

// How many lines of log there are before each step.
const logged = new Int32Array(main.steps.length + 1);
main.steps.forEach((step, at) => { logged[at + 1] = logged[at] + step.log.length; });

function logLines(last) {
  let expression = null, wrong = false;
  try { if (view.filter) expression = new RegExp(view.filter, "i"); } catch { wrong = true; }
  const lines = [];
  let left = 0;
  for (let at = last; at >= 0; at--) {
    if (!expression && lines.length >= LOG_MAX) { left += logged[at + 1]; break; }
    for (const line of main.steps[at].log.slice().reverse()) {
      if (expression && !expression.test(line)) continue;
      if (lines.length < LOG_MAX) lines.push(`${String(at).padStart(4)}  ${clean(line)}`);
      else left++;
    }
  }
  return {lines: lines.reverse(), left, wrong};
}

function log() {
  const {lines, left, wrong} = logLines(view.step), out = byId("log");
  out.textContent = lines.length ? (left ? `… ${left} lines before\n` : "") + lines.join("\n")
    : view.filter ? "no line matches" : "nothing was logged";
  byId("filter").setAttribute("aria-invalid", wrong);
  byId("wrong").textContent = wrong ? "not a regular expression: nothing is filtered" : "";
}

// Of `presage explore`: what can happen next; what is picked is posted, and the page comes again.
const act = (what, number, text, idle) => h("form", {method: "post", action: what},
  h("input", {type: "hidden", name: "n", value: number}),
  h("button", {class: idle ? "idle" : null}, idle ? `${text} (changes nothing)` : text));

function exploration(step) {
  if (!data.explore) return [];
  const {options, path, branches} = data.explore, last = main.steps.length - 1;
  return [
    h("h2", {}, step.i === last ? "what can happen next" : "this is the past"),
    ...(step.i === last ? options.map(([text, idle], number) => act("take", number, text, idle))
      : [act("go", path[step.i], "go back here")]),
    step.i === last && !options.length ? h("p", {}, "nothing can happen any more") : null,
    branches.length ? h("h2", {}, "other ways") : null,
    ...branches.map(([number, text]) => act("go", number, text)),
  ];
}

function inspect() {
  const step = main.steps[view.step], notes = main.notes.filter(([at]) => at === step.i);
  const box = h("input", {id: "filter", placeholder: "filter log (regex)", "aria-label": "filter log",
    oninput: () => { view.filter = box.value; log(); }});
  box.value = view.filter;
  const share = step.recover && `${Math.round(step.recover[0] * 100)}% of walks recover from here`
    + (step.recover[1] ? "" : " (estimated)");
  byId("side").replaceChildren(...[
    h("h2", {"aria-live": "polite"}, `step ${step.i} of ${main.steps.length - 1}`
      + (step.i === main.critical ? ", the critical transition" : "")),
    h("div", {class: "mono"}, nameOf(step)),
    step.detail && step.detail !== step.label ? h("div", {class: "mono dim"}, cut(step.detail, TEXT_MAX)) : null,
    step.source ? h("div", {class: "mono dim"}, step.source) : null,
    step.failure ? h("p", {class: "raised"}, `raises ${step.failure}`) : null,
    share ? h("p", {class: "dim"}, share) : null,
    ...notes.map(([, text]) => h("p", {class: "note"}, text)),
    ...messages(step),
    ...exploration(step),
    h("h2", {}, "properties here"), ...properties(step),
    h("h2", {}, "state"), tabs(),
    view.blamed ? h("p", {id: "blame"}, h("span", {class: "mono"}, pathText(view.blamed.path)),
      view.blamed.step ? " was last written at " : " is as it began",
      view.blamed.step ? link(view.blamed.step) : "",
      view.blamed.step ? `: ${nameOf(main.steps[view.blamed.step])}` : "") : null,
    ...stateTable(step.i),
    h("h2", {}, "log up to here"), box, h("p", {id: "wrong", class: "dim"}), h("pre", {id: "log"}),
  ].filter(each => each !== null));
  log();
}

// -- what one can do ----------------------------------------------------------------------------

function blame(path) {
  const list = path.findIndex(name => typeof name === "number");
  const asked = list < 0 ? path : path.slice(0, list); // elements of a list have no lasting place
  const touches = ([, changed]) => changed.slice(0, asked.length).every((name, at) => name === asked[at]);
  let step = view.step;
  while (step > 0 && !main.steps[step].changes.some(touches)) step--;
  view.blamed = {path: asked, step};
  decorate();
  inspect();
}

function select(step, keep) {
  view.step = Math.max(0, Math.min(main.steps.length - 1, step));
  const fold = foldOf(view.step);
  if (isHidden(view.step)) { view.closed.delete(fold); draw(); }
  if (!keep) reveal();
  view.said = null;
  view.blamed = view.blamed?.step === view.step ? view.blamed : null;
  decorate();
  remember();
  inspect();
}

function reveal() {
  const chart = byId("chart"), y = layout[0].y(view.step) + HEAD;
  const top = chart.scrollTop + HEAD + ROW, bottom = chart.scrollTop + chart.clientHeight - ROW;
  if (y < top) chart.scrollTop = y - HEAD - ROW * 3;
  else if (y > bottom) chart.scrollTop = y - chart.clientHeight + ROW * 3;
  draw(true);
}

function remember() {
  const node = view.pinned === null ? "" : `&node=${encodeURIComponent(view.pinned)}`;
  history.replaceState(null, "", `#step=${view.step}${node}`);
}

function follow() {
  const asked = new URLSearchParams(location.hash.slice(1)), step = Number(asked.get("step"));
  const node = asked.get("node");
  view.pinned = main.nodes.includes(node) ? node : null;
  draw();
  select(asked.has("step") && Number.isInteger(step) ? step : data.opens);
}

function pin(name) {
  view.pinned = view.pinned === name ? null : name;
  draw();
  remember();
  inspect();
}

function openFold(fold) { view.closed.delete(fold); draw(); select(main.folds[fold].first); }

function closeFolds(which) {
  for (const fold of which) view.closed.add(fold);
  const fold = foldOf(view.step);
  draw();
  if (!isOpen(fold)) {
    let step = main.folds[fold].first - 1;
    while (step > 0 && isHidden(step)) step--;
    select(step);
  } else reveal();
}

function nearestFold() {
  const closed = [...view.closed].sort((a, b) =>
    Math.abs(main.folds[a].first - view.step) - Math.abs(main.folds[b].first - view.step));
  return closed.length ? closed[0] : null;
}

function move(by) {
  let step = view.step + by;
  while (step > 0 && step < main.steps.length && isHidden(step)) step += by;
  if (step >= 0 && step < main.steps.length && !isHidden(step)) select(step);
}

function moveAtNode(by) {
  const node = view.pinned ?? main.steps[view.step].node;
  let step = view.step + by;
  while (step > 0 && step < main.steps.length && main.steps[step].node !== node) step += by;
  if (step > 0 && step < main.steps.length) select(step);
}

const all = () => main.folds.map((_, fold) => fold);
const critical = () => main.critical ?? main.bad ?? data.opens;
function toggle(name) { view[name] = !view[name]; draw(); tools(); reveal(); }
function beside(at) { view.beside = view.beside === at ? null : at; draw(); tools(); reveal(); }

const KEYS = [
  [["j", "ArrowDown"], "next step", () => move(1)],
  [["k", "ArrowUp"], "previous step", () => move(-1)],
  [["."], "next step at the same node", () => moveAtNode(1)],
  [[","], "previous step at the same node", () => moveAtNode(-1)],
  [["c"], "the critical step, or the bad one", () => select(critical())],
  [["["], "fold around this step, or else everything", () => {
    const fold = foldOf(view.step);
    closeFolds(fold >= 0 && isOpen(fold) ? [fold] : all());
  }],
  [["]"], "open the nearest fold", () => {
    const fold = nearestFold();
    if (fold !== null) { view.closed.delete(fold); draw(); reveal(); }
  }],
  [["/"], "filter the log", () => byId("filter").focus()],
  [["p"], "pin the node of this step, or let it go", () => {
    const node = main.steps[view.step].node;
    if (view.pinned !== null || node) pin(view.pinned ?? node);
  }],
  [["v"], "compare with the next thing there is", () => {
    const ways = ["previous", ...data.others.keys()];
    view.against = ways[(ways.indexOf(view.against) + 1) % ways.length];
    inspect();
  }],
  [["h"], "show the causal past of the step", () => toggle("past")],
  [["Home"], "first step", () => select(0)],
  [["End"], "last step", () => select(main.steps.length - 1)],
  [["PageDown"], "twenty steps on", () => { for (let at = 0; at < 20; at++) view.step = ahead(1); select(view.step); }],
  [["PageUp"], "twenty steps back", () => { for (let at = 0; at < 20; at++) view.step = ahead(-1); select(view.step); }],
  [["?"], "this list", () => byId("keys").showModal()],
];

function ahead(by) {
  let step = view.step + by;
  while (step > 0 && step < main.steps.length && isHidden(step)) step += by;
  return step < 0 || step >= main.steps.length || isHidden(step) ? view.step : step;
}

const SIGNS = [
  ["●", "a message, or word of a broken connection, is handled"], ["◆", "a timer fires"],
  ["■", "a call or an action"], ["□", "a restart, a write, a slow node"],
  ["✕", "a crash or a reset; until its restart the lane is dashed"],
  ["↻", "from here on the steps repeat for ever"],
  ["- - ✕", "a message that is dropped, or lost with its connection"],
  ["bars", "share of walks that recover from there; pale: estimated"],
  ["1 2 …", "properties, in the order of the inspector: wide where one fails"],
];

function drawKeys() {
  const row = ([left, right]) => h("tr", {}, h("td", {class: "key"}, left), h("td", {}, right));
  byId("keys").replaceChildren(h("table", {}, h("tbody", {},
    ...KEYS.map(([keys, told]) => row([keys.join(" "), told])), ...SIGNS.map(row))),
  h("button", {onclick: () => byId("keys").close()}, "close"));
}

function tools() {
  const button = (text, act, pressed, off) => h("button", {onclick: act, "aria-pressed": pressed,
    disabled: off ? "" : null}, text);
  byId("tools").replaceChildren(...[
    button("fold all", () => closeFolds(all()), null, !main.folds.length),
    button("unfold all", () => { view.closed.clear(); draw(); reveal(); }, null, !main.folds.length),
    button("causal rows", () => { view.beside = null; toggle("causal"); }, view.causal),
    button("causal past", () => toggle("past"), view.past),
    ...data.others.map((other, at) => button(`side by side: ${other.label}`,
      () => { view.causal = false; beside(at); }, view.beside === at)),
    button("keys ?", () => byId("keys").showModal()),
  ]);
}

document.onkeydown = event => {
  if (event.ctrlKey || event.altKey || event.metaKey || byId("keys").open) return;
  if (event.target.tagName === "INPUT") {
    if (event.key === "Escape") byId("step-").focus();
    return;
  }
  const found = KEYS.find(([keys]) => keys.includes(event.key));
  if (!found) return;
  event.preventDefault();
  found[2]();
};

function begin() {
  const [name, ...rest] = [data.property, ...data.fact.split(data.property).slice(1)];
  byId("fact").append(clean(`${data.title}: `), h("b", {}, name), clean(rest.join(data.property)));
  byId("numbers").textContent = clean(data.numbers);
  byId("command").textContent = clean(data.command);
  byId("why").textContent = clean([data.why, data.evidence].filter(Boolean).join(" · "));
  if (main.steps.length > FOLD_FROM) for (const fold of all()) view.closed.add(fold);
  tools();
  drawKeys();
  follow();
  byId("step-").focus({preventScroll: true});
  byId("chart").onscroll = () => requestAnimationFrame(() => draw(true));
  window.onhashchange = follow;
  window.onresize = () => draw(true);
}

performance.mark("begin");
begin();
performance.mark("drawn");
window.presage = {drawMs: performance.measure("draw", "begin", "drawn").duration, stateAt, view, data};
