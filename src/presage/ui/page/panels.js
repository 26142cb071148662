// Below the diagram: the history of the clients, and everything that every node holds.

const NODES_MAX = 60; // nodes that are shown
const CELL_MAX = 160; // characters of a value
const OPERATION = 130, TIMELINE = 26; // pixels: one operation at least, and one client

// -- all nodes now ------------------------------------------------------------------------------

function fieldRow(path, value, mark) {
  const text = valueText(path, value), cell = h("td", {}, cut(text, CELL_MAX));
  if (text.length > CELL_MAX) {
    const more = h("button", {class: "link"}, `all ${text.length}`);
    more.onclick = () => { cell.textContent = clean(text); };
    cell.append(" ", more);
  }
  return h("tr", {class: mark ? `field ${mark}` : "field", "data-path": JSON.stringify(path)},
    h("td", {class: "mark"}, mark), h("td", {class: "name"}, path[path.length - 1]), cell);
}

// Which fields the step changed: by node and field, how.
function touched(step) {
  const found = new Map();
  for (const [mark, path] of main.steps[step].changes) {
    const key = JSON.stringify(path.slice(0, 2));
    found.set(key, path.length <= 2 && !found.has(key) ? mark : "M");
  }
  return found;
}

function* messageRows(path, messages, marks) {
  const names = Object.keys(messages).filter(name => name !== "");
  for (const name of names) {
    const count = messages[name], text = count === 1 ? name : `${name}  ×${count}`;
    yield h("tr", {class: "field", "data-path": JSON.stringify([...path, name])},
      h("td", {class: "mark"}, marks.get(name) ?? ""), h("td", {colspan: 2}, cut(text, 2 * CELL_MAX)));
  }
  if (!names.length) yield h("tr", {}, h("td", {}), h("td", {class: "dim", colspan: 2}, "no message in flight"));
}

function nodeCard(name, part, marks, step) {
  const isObject = part !== null && typeof part === "object" && !Array.isArray(part);
  const fields = isObject ? Object.keys(part).filter(field => field !== "") : [];
  const arrived = new Map(main.steps[step].changes
    .filter(([, path]) => path[0] === name && path[1] === "messages" && path.length === 3)
    .map(([mark, path]) => [path[2], mark]));
  const rows = fields.flatMap(field => field === "messages" && name === main.between
    ? [...messageRows([name, field], part[field], arrived)]
    : [fieldRow([name, field], part[field], marks.get(JSON.stringify([name, field])) ?? "")]);
  const head = h("h3", {}, name === main.between ? `between nodes` : name);
  head.style.color = colour(main, name);
  return h("section", {class: "card", "aria-label": clean(name)}, head,
    h("table", {class: "mono"}, h("tbody", {}, ...(isObject ? rows : [fieldRow([name], part, "")]))));
}

function allNodes(step) {
  const state = stateAt(main, step), marks = touched(step);
  const names = [...main.nodes, ...Object.keys(state)]
    .filter((name, at, all) => name in state && all.indexOf(name) === at);
  if (view.pinned !== null && names.includes(view.pinned)) {
    names.splice(names.indexOf(view.pinned), 1);
    names.unshift(view.pinned);
  }
  const more = names.length - NODES_MAX;
  return h("div", {id: "nodes"}, h("h2", {}, `all nodes now: after step ${step}`),
    h("div", {class: "cards"}, ...names.slice(0, NODES_MAX).map(name => nodeCard(name, state[name], marks, step))),
    more > 0 ? h("p", {class: "dim"}, `${more} more nodes are not shown`) : null);
}

// -- the history of the clients -----------------------------------------------------------------

// Time runs to the right. Only the order of the calls and answers counts, so each has one column.
function historyOf({name, clients}, step) {
  const moments = [...new Set(clients.flatMap(client => client.ops.flatMap(op => [op.from, op.to ?? Infinity])))]
    .sort((a, b) => a - b);
  const longest = Math.max(0, ...clients.map(client => widthOf(clean(client.name))));
  const left = Math.min(160, longest + 20), column = moment => moments.indexOf(moment);
  const gap = clients.flatMap(client => client.ops).reduce((most, op) => Math.max(most,
    Math.min(320, Math.max(60, widthOf(opText(op)) + 16)) / (column(op.to ?? Infinity) - column(op.from))), 40);
  const width = left + gap * Math.max(1, moments.length - 1) + 24, height = TIMELINE * clients.length + 24;
  const svg = el("svg", {width, height, role: "group", "aria-label": `history ${clean(name)}`});
  const x = moment => left + gap * column(moment);
  for (const moment of moments) {
    if (moment === Infinity) continue;
    svg.append(el("text", {x: x(moment), y: height - 6, "text-anchor": "middle",
      class: moment === step ? "bad" : "dim"}, `${moment}`),
    el("line", {x1: x(moment), x2: x(moment), y1: 2, y2: height - 18, stroke: "var(--line)"}));
  }
  clients.forEach((client, at) => {
    const y = TIMELINE * (at + .5) + 4;
    svg.append(el("text", {x: left - 12, y: y + 4, "text-anchor": "end"}, short(clean(client.name), left - 16)));
    for (const op of client.ops) svg.append(interval(op, x, y, step));
  });
  return h("div", {class: "history"}, h("h2", {}, `history of the clients: ${name}`), svg);
}

const opText = op => clean(op.result === null ? op.op : `${op.op} → ${op.result}`);

function interval(op, x, y, step) {
  const [from, to] = [x(op.from), x(op.to ?? Infinity)], open = op.to === null;
  const now = op.from <= step && (open || step <= op.to), room = to - from - 8;
  const fits = [...opText(op)];
  while (fits.length > 1 && widthOf(fits.join("")) > room) fits.pop();
  const text = fits.length < [...opText(op)].length ? `${fits.slice(0, -1).join("")}…` : fits.join("");
  const told = `${opText(op)}: called at step ${op.from}, ${open ? "not answered" : `answered at step ${op.to}`}`;
  const chosen = () => select(op.to ?? op.from);
  return el("g", {class: `operation${op.from > step ? " away" : ""}`, role: "button", tabindex: 0,
    "aria-label": told, "data-from": op.from, "data-to": op.to, onclick: chosen,
    onkeydown: key => { if (key.key === "Enter") { key.stopPropagation(); chosen(); } }},
  el("rect", {x: from, y: y - 10, width: to - from, height: 20, rx: 3, class: now ? "now" : "",
    "stroke-dasharray": open ? "4 3" : null}),
  el("text", {x: from + 4, y: y + 4}, text), el("title", {}, told));
}

function panels(step) {
  const below = byId("below"), kept = below.scrollTop;
  const shown = [
    ...(view.history ? (main.histories ?? []).map(each => historyOf(each, step)) : []),
    view.nodes ? allNodes(step) : null,
  ].filter(Boolean);
  below.hidden = !shown.length;
  below.replaceChildren(...shown);
  below.scrollTop = kept;
}
