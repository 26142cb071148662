// The diagram: lanes downward, a row a step, an arrow a message.

const WINDOW_FROM = 2000, AROUND = 200; // rows: more than that, and only those in view are drawn
const FAILURES = new Set(["crash", "reset", "silent"]);
const HEARD = new Set(["deliver", "receive", "broken", "refused", "keepalive"]);
let layout = null; // of the diagram that is on the screen
let drawn = null; // the rows that are

// A name in little room keeps its end: names are told apart by it.
function short(text, room) {
  if (widthOf(text) <= room) return text;
  const letters = [...text];
  for (let kept = letters.length - 1; kept > 2; kept--) {
    const front = Math.ceil(kept / 2);
    const shown = letters.slice(0, front).join("") + "…" + letters.slice(letters.length - (kept - front)).join("");
    if (widthOf(shown) <= room) return shown;
  }
  return letters.slice(-2).join("");
}

function drawHeads(at) {
  const {story, x, head} = at, y = head - 11;
  const svg = el("svg", {width: at.width, height: head, role: "group", "aria-label": "nodes"});
  if (!view.causal) svg.append(el("text", {x: NUMBER - 8, y, "text-anchor": "end", class: "dim"}, "step"));
  if (at.measured) svg.append(el("text", {x: NUMBER, y, class: "dim"}, "recovers"));
  at.props.forEach((number, nth) => {
    const prop = story.props[number], [px, py] = [at.strips + STRIP * (nth + .5) + 3, head - 6];
    svg.append(el("text", {x: px, y: py, transform: `rotate(-90 ${px} ${py})`,
      class: prop === data.property ? "prop bad" : "prop dim"},
    propName(story, number), el("title", {}, `property ${number + 1}: ${prop}`)));
  });
  const busy = new Set(story.steps.map(step => step.node));
  for (const arrow of story.arrows) busy.add(arrow.from);
  for (const [nth, name] of at.lanes.entries()) {
    const idle = !busy.has(name), pinned = name === view.pinned, upright = at.steep.length > 0;
    const text = at.steep[nth] ?? short(clean(name), at.lane - (view.causal ? BESIDE : 4));
    const [px, py] = upright ? [x(name) + 4, head - 6] : [x(name) - (view.causal ? 8 : 0), y];
    svg.append(el("text", {
      x: px, y: py, transform: upright ? `rotate(-90 ${px} ${py})` : null,
      "text-anchor": view.causal || upright ? "start" : "middle", class: idle ? "lane dim" : "lane", tabindex: 0,
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

function drawRow(at, step, position, count) {
  const {story} = at, y = at.y(step.i), critical = step.i === story.critical;
  const bad = isMarked(story, step);
  const noted = story.notes.some(([index]) => index === step.i);
  const left = view.causal ? at.x(step.node || at.lanes[0]) - BESIDE : 0;
  const width = view.causal ? at.lane : at.width;
  const g = el("g", {
    class: `row${critical ? " critical" : ""}`, role: "option", id: at.id + step.i,
    "aria-label": `step ${step.i}: ${clean(nameOf(step, story))}${critical ? ", critical transition" : ""}`
      + (step.i === story.loop ? ", repeats from here" : "") + (noted ? ", has a note" : ""),
    "aria-selected": step.i === view.step, "aria-posinset": position, "aria-setsize": count,
    "data-step": step.i, onclick: () => select(step.i, true),
  }, el("rect", {class: "hit", x: left + .5, y: y - ROW / 2, width: width - 1, height: ROW}));
  const here = el("g", {});
  if (critical) here.append(el("rect", {x: left, y: y - ROW / 2, width: 4, height: ROW, fill: "var(--bad)"}));
  // In causal rows the number is where no arrow comes from.
  const from = view.causal && step.recv !== null && at.x(story.arrows[step.recv].from) < at.x(step.node);
  const [number, anchor] = !view.causal ? [NUMBER - 8, "end"] : from ? [left + BESIDE + 9, "start"] : [left + BESIDE - 9, "end"];
  here.append(el("text", {x: number, y: y + 4, "text-anchor": anchor, class: "dim"}, `${noted ? "✎" : ""}${step.i}`));
  if (step.recover !== null && at.measured) here.append(...bar(step, y));
  const told = rowLabel(at, step), where = !view.causal ? at.label : left + BESIDE + (from ? NUMBERED : 12);
  const top = at.below ? y + 16 : y + 4 - 6 * (told.length - 1);
  here.append(el("text", {x: where, y: top, class: bad ? "bad" : null},
    ...told.map((line, nth) => el("tspan", {x: where, y: top + 13 * nth}, line)),
    el("title", {}, inFull(story, step))));
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

// Whether it is news that a property fails: it always has to hold, or the page is about it.
const isBroken = (story, number) =>
  story.props[number] === data.property || !["eventually", "sometimes"].includes(story.kinds[number]);

// Per property, one bar for each stretch of steps in which it says the same: wide where it fails.
function drawStrips(at) {
  const g = el("g", {}), {story} = at;
  at.props.forEach((number, nth) => {
    const prop = story.props[number], x = at.strips + STRIP * (nth + .5);
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

// A message that is still in flight is a stub that ends before the next lane.
function drawStub(at, arrow, nth) {
  const x = at.x(arrow.from), y = at.y(arrow.sent), side = Math.sign(at.x(arrow.to) - x) || 1;
  const to = [x + side * Math.max(8, Math.min(18, at.lane / 2 - 5)), y + 7 + 6 * Math.min(nth, 3)];
  const c = colour(at.story, arrow.from);
  return el("g", {class: "arrow", "data-from": arrow.sent, "data-fate": arrow.fate},
    el("path", {d: `M${x} ${y}L${to[0]} ${to[1]}`, fill: "none", stroke: c, "stroke-width": 1.4, "stroke-dasharray": "3 2"}),
    el("circle", {cx: to[0], cy: to[1], r: 2.5, fill: "var(--bg)", stroke: c, "stroke-width": 1.4}));
}

function drawArrow(at, arrow, nth) {
  if (arrow.step === null) return drawStub(at, arrow, nth);
  const {story} = at, from = [at.x(arrow.from), at.y(arrow.sent)], kept = arrow.fate === "delivered";
  let to = [at.x(arrow.to), at.y(arrow.step)];
  if (!kept) to = [from[0] + (to[0] - from[0]) * .62, to[1]];
  const own = arrow.from === arrow.to, sideways = own ? 16 : 0;
  const size = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1, pull = kept && !own ? 7 : 0;
  const tip = [to[0] - (to[0] - from[0]) * pull / size, to[1] - (to[1] - from[1]) * pull / size];
  const c = kept ? colour(story, arrow.from) : "var(--bad)";
  const d = own ? `M${from[0]} ${from[1]}C${from[0] + sideways} ${from[1]} ${to[0] + sideways} ${to[1]} ${to[0] + 6} ${to[1]}`
    : `M${from[0]} ${from[1]}L${tip[0]} ${tip[1]}`;
  const g = el("g", {class: "arrow", "data-from": arrow.sent, "data-to": arrow.step, "data-fate": arrow.fate},
    el("path", {d, fill: "none", stroke: c, "stroke-width": 1.4, "stroke-dasharray": kept ? null : "4 3",
      "marker-end": kept ? "url(#tip)" : null}));
  if (!kept) {
    g.append(el("path", {d: `M${to[0] - 4} ${to[1] - 4}l8 8m0 -8l-8 8`, stroke: "var(--bad)", "stroke-width": 2.2}));
  }
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
    const marks = [drawRift(at, step), sign(at, step)].filter(Boolean);
    if (marks.length) signs.append(el("g", {class: "sign", "data-step": step.i}, ...marks));
  });
  for (const [fold, row] of at.folds) if (inside(row)) rows.append(drawFold(at, fold, row));
  const stubs = new Map(); // how many stubs a step has on one side
  for (const arrow of story.arrows) {
    const from = at.row[arrow.sent], to = arrow.step === null ? from + 1 : at.row[arrow.step];
    if (from > last || to < first || from === to && !view.causal) continue;
    const side = `${arrow.sent} ${at.x(arrow.to) < at.x(arrow.from)}`, nth = stubs.get(side) ?? 0;
    if (arrow.step === null) {
      if (story === main && isHidden(arrow.sent)) continue;
      stubs.set(side, nth + 1);
    }
    arrows.append(drawArrow(at, arrow, nth));
  }
  if (view.beside !== null) {
    const y = ROW * (data.others[view.beside].from);
    signs.append(el("line", {x1: 0, x2: at.width, y1: y, y2: y, stroke: "var(--warn)", "stroke-width": 2,
      "stroke-dasharray": "6 4", class: "parting"}));
  }
  // Texts that stand among the arrows stand above them.
  const over = view.causal || at.below, lower = [drawStrips(at), drawLanes(at), arrows];
  svg.append(...(over ? [...lower, rows] : [rows, ...lower]), signs);
  svg.classList.toggle("over", over);
  return svg;
}

// Draw the rows in view, and enough around them; all of them if there are not too many.
function draw(moved) {
  const chart = byId("chart");
  const stories = view.beside === null ? [main] : [main, data.others[view.beside].story];
  if (!moved) {
    view.width = window.innerWidth;
    ROW = isNarrow() || isTight(main) ? ROW_NARROW : 24;
    layout = stories.map(layoutOf);
  }
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
  const head = Math.max(...layout.map(at => at.head));
  for (const at of layout) at.head = head;
  const heads = h("div", {class: "heads"}, ...layout.map(drawHeads));
  const bodies = h("div", {class: "bodies"}, ...layout.map(at => drawBody(at, first, last, label(at))));
  chart.replaceChildren(heads, bodies);
  if (focused) byId("step-").focus({preventScroll: true});
  decorate();
}

// What changes with the selection alone: no need to draw anew. What fades, fades whole: the text of
// a row, its sign, its arrows.
function decorate() {
  const past = view.past ? pastOf(view.step) : null;
  const isAway = step => {
    const told = main.steps[step];
    return step !== view.step && Boolean(past !== null && step !== 0 && !past.has(step)
      || view.pinned !== null && told && told.node !== view.pinned && told.at !== view.pinned);
  };
  for (const row of document.querySelectorAll(".row[data-step]")) {
    const step = +row.dataset.step;
    row.setAttribute("aria-selected", step === view.step);
    row.classList.toggle("past", past !== null && past.has(step) || view.blamed?.step === step);
    row.lastChild.classList.toggle("away", isAway(step));
  }
  for (const sign of document.querySelectorAll(".sign")) sign.classList.toggle("away", isAway(+sign.dataset.step));
  for (const drawing of document.querySelectorAll(".arrow")) {
    const {from, to} = drawing.dataset, ends = [+from, ...(to ? [+to] : [])];
    // The past holds an arrow with both its ends; a node has those that begin or end there.
    const away = past !== null ? ends.some(isAway) || ends.every(step => step === 0) : ends.every(isAway);
    drawing.classList.toggle("away", away);
  }
  for (const row of document.querySelectorAll(".row.fold")) {
    const {first, last} = main.folds[+row.dataset.fold];
    let away = past !== null || view.pinned !== null;
    for (let step = first; away && step <= last; step++) away = isAway(step);
    row.classList.toggle("away", away);
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
