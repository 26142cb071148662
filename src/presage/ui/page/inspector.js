// What is beside the diagram: the selected step, its properties, what it changed, the log.

const WIDE = 26; // characters of a name that leave no room for its value beside it
const LOG_MAX = 200, LEAVES_MAX = 1500, TEXT_MAX = 400;

const link = step => h("button", {class: "link", onclick: () => select(step)}, `step ${step}`);

const valueOf = (path, value) => inPart(valueText(path, value));

// The beginning of a long text, and the way to all of it.
function inPart(text) {
  if (text.length <= TEXT_MAX) return [text];
  const more = h("button", {class: "link"}, `all ${text.length} characters`);
  const part = h("span", {}, cut(text, TEXT_MAX));
  more.onclick = event => { event.stopPropagation(); part.textContent = clean(text); more.remove(); };
  return [part, " ", more];
}

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
  const told = mark === "" ? valueOf(path, after) : [h(was, {}, ...(mark === "A" ? ["—"] : valueOf(path, before))),
    live ? " ≠ " : " → ", h(now, {}, ...(mark === "D" ? ["—"] : valueOf(path, after)))];
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
  return [h("div", {}, ...pills), told ? h("p", {id: "said"}, `${main.props[asked]}: `, ...lines(text)) : null,
    told && main.claims[asked] ? h("div", {class: "mono dim"}, main.claims[asked]) : null,
    told ? code(main.claims[asked], "claim") : null];
}

function messages(step) {
  const told = [];
  if (step.recv !== null) {
    const arrow = main.arrows[step.recv];
    told.push(h("p", {}, `message sent by ${arrow.from} at `, arrow.sent ? link(arrow.sent) : "the start"));
  }
  for (const number of step.sends.slice(0, 30)) {
    const {to, text, fate, step: end} = main.arrows[number];
    told.push(h("p", {}, "sends ", h("span", {class: "mono"}, ...inPart(text)), ` to ${to}, `,
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

// The handler that ran, with its code, and what it raised.
function handler(step) {
  return [
    data.explore && step.i > 0 ? h("h2", {}, "this step") : null,
    step.source ? h("div", {class: "mono dim", id: "source"}, step.source) : null,
    code(step.source),
    step.failure ? h("p", {class: "raised"}, "raises ", ...lines(step.failure)) : null,
  ];
}

// The code around a line, with its own numbers.
function code(place, what = "code") {
  const found = data.sources?.[place];
  if (!found) return null;
  const body = h("pre", {class: "code", tabindex: 0, "aria-label": `the code at ${clean(place)}`});
  found.lines.forEach((text, at) => {
    const number = found.first + at;
    body.append(h("span", {class: number === found.line ? "line here" : "line"},
      h("span", {class: "dim"}, `${String(number).padStart(4)} `), text || " "));
  });
  // Not `ontoggle`, which comes later: another step may be shown by then.
  const kept = {onclick: () => { view[what] = !whole.open; }};
  const whole = h("details", {class: "source"}, h("summary", kept, "its code"), body);
  whole.open = view[what];
  return whole;
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
    h("div", {class: "mono", id: "event"}, nameOf(step)),
    ...exploration(step),
    ...handler(step),
    share ? h("p", {class: "dim"}, share) : null,
    ...notes.map(([, text]) => h("p", {class: "note"}, ...lines(text))),
    ...messages(step),
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
  panels(step.i);
}
