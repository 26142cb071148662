"use strict";
// The nodes on a ring, and their connections as chords: a place never moves while a system runs.

const RADIUS = 17, EDGE = 40;

function placed(names, width, height) {
  const across = Math.max(60, width / 2 - EDGE), down = Math.max(60, height / 2 - EDGE);
  return new Map(names.map((name, at) => {
    const angle = 2 * Math.PI * at / names.length - Math.PI / 2;
    return [name, [width / 2 + across * Math.cos(angle), height / 2 + down * Math.sin(angle)]];
  }));
}

// A chord that bends towards the middle, so that neighbours on the ring are told apart.
function chord([x1, y1], [x2, y2], width, height) {
  const bend = 0.25, x = (x1 + x2) / 2, y = (y1 + y2) / 2;
  return `M${x1},${y1}Q${x + (width / 2 - x) * bend},${y + (height / 2 - y) * bend} ${x2},${y2}`;
}

function linkLine(link, places, width, height) {
  const [a, b] = link.nodes, waiting = link.waiting[0] + link.waiting[1];
  if (!places.has(a) || !places.has(b)) return null;
  const kinds = ["link", link.state === "half open" ? "half" : link.state === "broken" ? "broken" : "",
    waiting ? "busy" : ""];
  const title = `${a} and ${b}: ${link.state}, ${waiting} on the way`;
  return el("path", {class: kinds.filter(Boolean).join(" "), d: chord(places.get(a), places.get(b), width, height)},
    el("title", {}, title));
}

function nodeMark(node, [x, y], state) {
  const {selected, changed, pick} = state;
  const mark = el("g", {
    class: `node ${node.status}${changed.has(node.name) ? " changed" : ""}`, role: "button", tabindex: 0,
    "aria-pressed": String(selected === node.name), "aria-label": `${clean(node.name)}, ${node.status}`,
    "data-node": clean(node.name), transform: `translate(${x},${y})`, onclick: () => pick(node.name),
  }, el("circle", {r: RADIUS}), el("text", {}, cut(node.name, 6)), el("title", {}, `${node.name}: ${node.status}`));
  mark.onkeydown = event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pick(node.name);
  };
  return mark;
}

function topology(board, state, width, height) {
  const places = placed(board.nodes.map(node => node.name), width, height);
  return el("svg", {viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "nodes"},
    ...board.links.map(link => linkLine(link, places, width, height)),
    ...board.nodes.map(node => nodeMark(node, places.get(node.name), state)));
}
