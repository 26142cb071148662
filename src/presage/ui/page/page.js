// One `view` object says what is looked at; every function of this page is a function of `data` and
// `view`. This file is what one can do: select, fold, pin, compare.

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
  view.said = null;
  view.blamed = view.blamed?.step === view.step ? view.blamed : null;
  decorate();
  remember();
  inspect();
  if (!keep) reveal();
}

function reveal() {
  const chart = byId("chart"), {head} = layout[0], y = layout[0].y(view.step) + head;
  const top = chart.scrollTop + head + ROW, bottom = chart.scrollTop + chart.clientHeight - ROW;
  // By whole rows: the heads cut none in two.
  if (y < top) chart.scrollTop = ROW * Math.floor((y - head - ROW * 3) / ROW);
  else if (y > bottom) chart.scrollTop = ROW * Math.ceil((y - chart.clientHeight + ROW * 1.5) / ROW);
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
function turn(name) { view[name] = !view[name]; tools(); panels(view.step); draw(); reveal(); }
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
  [["a"], "all nodes now", () => turn("nodes")],
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
  ["- - ○", "a message that is still in flight where the trace ends"],
  ["strips", "properties: wide where one fails"],
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
    button("all nodes now", () => turn("nodes"), view.nodes),
    ...(main.histories.length ? [button("history", () => turn("history"), view.history)] : []),
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
  byId("fact").append(clean(`${data.title}: `), h("b", {class: data.kind === "live" ? null : "bad"}, name), clean(rest.join(data.property)));
  byId("numbers").textContent = clean(data.numbers);
  byId("command").textContent = clean(data.command);
  byId("why").append(...lines([data.why, data.evidence].filter(Boolean).join(" · "))
    .map(part => part instanceof Node ? part : clean(part)));
  if (main.steps.length > FOLD_FROM) for (const fold of all()) view.closed.add(fold);
  tools();
  drawKeys();
  follow();
  byId("step-").focus({preventScroll: true});
  byId("chart").onscroll = () => requestAnimationFrame(() => draw(true));
  window.onhashchange = follow;
  window.onresize = () => draw();
}

performance.mark("begin");
begin();
performance.mark("drawn");
window.presage = {drawMs: performance.measure("draw", "begin", "drawn").duration, stateAt, view, data};
