// A predicted path as a small event graph: a line per node, a dot per step, an arrow per message.

const LANE = 22, STEP = 26, NAME = 60;

function small(events) {
  const lanes = [...new Set(events.map(event => event.node))];
  const x = step => NAME + STEP * (step + 0.5), y = name => LANE * (lanes.indexOf(name) + 0.6);
  const width = x(events.length), height = LANE * lanes.length + 6, last = events.length - 1;
  return el("svg", {viewBox: `0 0 ${width} ${height}`, width, "aria-hidden": "true"},
    ...lanes.map(name => el("line", {class: "lane", x1: NAME, x2: width, y1: y(name), y2: y(name)})),
    ...lanes.map(name => el("text", {x: 0, y: y(name) + 4}, cut(name, 8))),
    ...events.map((event, step) => event.cause === null ? null : el("path", {
      class: "arrow", d: `M${x(event.cause)},${y(events[event.cause].node)}L${x(step)},${y(event.node)}`})),
    ...events.map((event, step) => el("circle", {
      class: step === last ? "last" : null, cx: x(step), cy: y(event.node), r: 4},
      el("title", {}, `${step + 1}. ${event.node}: ${event.text}`))));
}

function pathCard(prediction, ago) {
  const {key, node, prop, events, answer} = prediction;
  return h("article", {class: "path", "data-key": key},
    h("h3", {}, `${prop}: ${events.length} ${events.length === 1 ? "step" : "steps"} ahead, seen by ${node}`),
    small(events),
    h("div", {}, `${answer}, ${ago} ago · `,
      h("a", {href: `prediction-${key}`, target: "_blank", rel: "noopener"}, "open the path")));
}
