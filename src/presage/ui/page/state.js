// States: the first and every hundredth are in the data; the others are a few changes away.

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

function* leaves(value, path = []) {
  if (value !== null && typeof value === "object") {
    const names = Array.isArray(value) ? value.keys() : Object.keys(value).filter(n => n !== "");
    let any = false;
    for (const name of names) { any = true; yield* leaves(value[name], [...path, name]); }
    if (any) return;
  }
  yield [path, value];
}

const partText = (name, first) => typeof name === "number" ? `[${name}]`
  : first ? name : /^[\w ]+$/.test(name) ? `.${name}` : `[${name}]`;
const pathText = path => path.map((name, at) => partText(name, at === 0)).join("");

// Whether a part of a state is presage's own remark, and no value of the checked code.
const isRemark = path => path.some(name => typeof name === "string" && name.startsWith("("))
  || path[1] === "timers" || path[0] === main.between && ["streams", "mailboxes"].includes(path[1]);
const valueText = (path, value) => isRemark(path) && typeof value === "string" ? value : spelled(value);
