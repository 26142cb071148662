// Draws the newest board. What was drawn before is thrown away, so nothing grows while one looks on.

const state = {
  board: JSON.parse(byId("data").textContent), before: new Map(), changed: new Set(), selected: null,
  said: "", method: null, args: "", pressed: false,
};
const FRESH = 1200; // milliseconds for which a change is marked
const MARKED = new Map(); // node -> until when
const seconds = value => value >= 120 ? `${Math.round(value / 60)} min` : value >= 10 ? `${Math.round(value)} s` : `${value.toFixed(1)} s`;
const nodeOf = name => state.board.nodes.find(node => node.name === name);

function take(board) {
  const now = Date.now();
  for (const node of board.nodes) {
    const old = nodeOf(node.name);
    if (old && (old.status !== node.status || JSON.stringify(old.fields) !== JSON.stringify(node.fields))) {
      MARKED.set(node.name, now + FRESH);
      state.before.set(node.name, old.fields);
    }
  }
  state.board = board;
  if (!state.pressed) draw();
}

state.pick = name => {
  Object.assign(state, {selected: state.selected === name ? null : name, method: null, args: "", said: ""});
  draw();
};

// -- one node -----------------------------------------------------------------------------------

async function press(what, form) {
  try {
    const answer = await fetch(what, {method: "POST", body: new URLSearchParams(form)});
    state.said = await answer.text();
  } catch (error) {
    state.said = "the system does not answer";
  }
  byId("said").textContent = clean(state.said.trim());
}

const button = (text, what, form) => h("button", {onclick: () => press(what, form)}, text);

function buttons(node) {
  const peers = state.board.links.filter(link => link.nodes.includes(node.name) && link.state === "open")
    .map(link => link.nodes.find(name => name !== node.name));
  return h("div", {class: "buttons"},
    node.status === "up" || node.status === "silent" ? button("kill", "kill", {node: node.name}) : button("start", "start", {node: node.name}),
    ...(node.status === "up" ? peers.slice(0, 12).map(peer => button(`cut ${peer}`, "cut", {node: node.name, peer})) : []));
}

function calling(node) {
  if (node.status !== "up" || !node.methods.length) return [];
  const method = h("select", {id: "method", "aria-label": "method"},
    ...node.methods.map(name => h("option", {value: name, selected: name === state.method ? "" : null}, name)));
  const args = h("input", {id: "args", "aria-label": "arguments", placeholder: 'arguments as JSON: 1, "a"', value: state.args});
  method.onchange = () => { state.method = method.value; };
  args.oninput = () => { state.args = args.value; };
  return [h("h2", {}, "call"), method, args, h("div", {class: "buttons"}, h("button", {
    onclick: () => press("call", {node: node.name, method: method.value, args: args.value})}, "call"))];
}

function nodePanel(node) {
  const before = state.before.get(node.name) ?? {}, fresh = MARKED.has(node.name);
  const row = ([name, value]) => h("tr", {class: fresh && before[name] !== value ? "field new" : "field"},
    h("td", {}, name), h("td", {}, cut(value, 400)));
  return [
    h("h2", {}, node.name),
    h("p", {id: "status"}, node.status, node.failure ? `: ${node.failure}` : "",
      node.pid ? ` · process ${node.pid}` : "", ` · life ${node.life} · ${node.steps} steps · checkpoint ${node.number}`),
    buttons(node),
    h("p", {id: "said", role: "status"}, state.said.trim()),
    h("table", {class: "mono", id: "fields"}, h("tbody", {}, ...Object.entries(node.fields).map(row))),
    h("p", {class: "dim"}, node.timers.length ? `timers: ${node.timers.join(", ")}` : "no timer is armed"),
    ...calling(node),
  ];
}

function side() {
  const node = state.selected === null ? undefined : nodeOf(state.selected);
  if (node === undefined) return [h("p", {class: "dim"}, "Pick a node to see what it holds.")];
  return nodePanel(node);
}

// -- what is ahead ------------------------------------------------------------------------------

function rows(id, title, list, text) {
  if (!list.length) return [];
  return [h("h2", {}, `${title} (${list.length})`),
    h("ul", {id}, ...list.slice(0, 30).map(each => h("li", {}, text(each))))];
}

function ahead(board) {
  const {predictions, filters, refusals, progress, at} = board;
  return [
    ...rows("filters", "kept out now", filters, each => `${each.node}: ${each.text}, for ${seconds(each.left)}`),
    predictions.length ? h("h2", {}, `violations seen ahead (${predictions.length})`) : null,
    h("div", {class: "paths"}, ...predictions.slice(0, 12).map(each => pathCard(each, seconds(at - each.at)))),
    ...rows("refusals", "refused steps", refusals, each => `${each.node}: ${each.text}: ${each.why}, ${seconds(at - each.at)} ago`),
    ...rows("progress", "progress", progress,
      each => `${each.prop}: ${each.ago === null ? "not yet" : `${seconds(each.ago)} ago`}`),
    predictions.length || refusals.length ? null : h("p", {class: "dim"}, "No violation has been seen ahead."),
  ];
}

// -- all ----------------------------------------------------------------------------------------

function heads(board) {
  const up = board.nodes.filter(node => node.status === "up").length;
  const more = Object.entries(board.counters).map(([name, count]) => `${name} ${count}`);
  byId("fact").textContent = clean(`${board.system}, live`);
  byId("numbers").textContent = clean([`${up} of ${board.nodes.length} nodes up`, `for ${seconds(board.at)}`, ...more].join(" · "));
  byId("broken").hidden = !board.violations.length;
  byId("broken").textContent = clean(`broken: ${board.violations.join(", ")}`);
}

// What one is typing into stays; all else of the side is new.
function drawSide() {
  const typing = byId("side").contains(document.activeElement) && ["INPUT", "SELECT"].includes(document.activeElement.tagName);
  if (!typing) byId("side").replaceChildren(...side().filter(Boolean));
}

function draw() {
  const now = Date.now(), {board} = state, chart = byId("chart");
  for (const [name, until] of MARKED) if (until < now) MARKED.delete(name);
  state.changed = new Set(MARKED.keys());
  heads(board);
  chart.replaceChildren(topology(board, state, Math.max(320, chart.clientWidth), Math.max(300, chart.clientHeight)));
  byId("below").replaceChildren(...ahead(board).filter(Boolean));
  drawSide();
}

function listen() {
  const source = new EventSource("events"), contact = byId("contact");
  source.onmessage = event => { contact.textContent = ""; contact.className = ""; take(JSON.parse(event.data)); };
  source.onerror = () => { contact.textContent = "no contact with the system"; contact.className = "gone"; };
}

// What is pressed is not replaced before it is let go, or the click would be lost.
window.onpointerdown = () => { state.pressed = true; };
window.onpointerup = window.onpointercancel = () => { state.pressed = false; };
window.onresize = draw;
draw();
listen();
