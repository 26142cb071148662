// Where everything is: which row each step is in, which column each lane has, how wide texts may be.

let ROW = 24; // pixels; more where texts have two lines
const NARROW = 600, MEASURED_MIN = 440; // pixels: below, texts have two lines, and shares no bars
const BESIDE_MIN = 340; // pixels of each of two diagrams; where there are fewer, one scrolls
const ROW_NARROW = 36, NUMBER = 44, GUTTER = 44, STRIP = 12;
const HEAD = 30, HEAD_MAX = 140; // of the heads: pixels
const LANES = {usual: [24, 118], causal: [150, 1200]}; // pixels of one lane, at least and at most
const BESIDE = 36, NUMBERED = 34, AFTER = 8; // of a lane of causal rows: left of its line, from there to texts, behind them
const TEXTS = [150, 420]; // pixels for what stands behind the lanes
const ROOM_MAX = 1200; // of them, even if no form of a text is that short
const BOLD = 1.1; // how much wider a text is in bold
const FOLD_FROM = 60; // steps; a shorter trace is shown whole
const PLAIN = new Set(["start", "deliver", "receive", "timer", "action", "call", "silent"]);

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

const hasStrips = () => !view.causal && view.beside === null;

// The numbers of the properties that have a strip: all, or where there is little room, those that fail.
function stripsOf(story, narrow) {
  const fails = number => story.steps.some(step => story.says[step.verdicts[number]][0] === false);
  return hasStrips() ? [...story.props.keys()].filter(number => !narrow || isBroken(story, number) && fails(number)) : [];
}

// The heads are as high as the names of the properties are long.
const propName = (story, number) => short(clean(story.props[number]), HEAD_MAX - 12);
function headOf(story, props, steep) {
  const names = [...props.map(number => propName(story, number)), ...steep];
  return Math.round(Math.max(HEAD, 16 + BOLD * names.reduce((most, name) => Math.max(most, widthOf(name)), 0)));
}

// The room that all texts of a story need: their shortest forms, or those in full; in one line or two.
function neededBy(story, twice, form = 0) {
  return story.steps.reduce((most, step) => {
    const text = clean(lead(story, step) + story.texts[step.text].at(form));
    const widest = twice ? Math.max(...halves(text).map(widthOf)) : widthOf(text);
    return Math.max(most, widest * (isMarked(story, step) ? BOLD : 1));
  }, 0);
}

// Whether texts of causal rows have two lines: unless all of them fit into one, in full.
const isTight = story => view.causal
  && Math.floor((byId("chart").clientWidth - 30) / story.nodes.length) < neededBy(story, false, -1) + BESIDE + NUMBERED + AFTER;

const isNarrow = () => !view.causal && byId("chart").clientWidth < (view.beside === null ? NARROW : 2 * MEASURED_MIN);

function layoutOf(story) {
  const rows = rowsOf(story), lanes = story.nodes.slice(), wide = byId("chart").clientWidth;
  if (view.pinned !== null && lanes.includes(view.pinned)) {
    lanes.splice(lanes.indexOf(view.pinned), 1);
    lanes.unshift(view.pinned);
  }
  const twice = view.beside !== null, whole = twice ? Math.max(BESIDE_MIN, wide / 2 - 8) : wide - 4;
  const narrow = isNarrow();
  const measured = !view.causal && whole >= MEASURED_MIN && story.steps.some(step => step.recover !== null);
  const strips = NUMBER + (measured ? GUTTER + 10 : 0);
  const props = stripsOf(story, narrow);
  const left = view.causal ? 10 : strips + STRIP * props.length + 10;
  const tight = isTight(story), needed = neededBy(story, tight);
  const texts = view.causal ? 0 : Math.max(TEXTS[0], Math.min(TEXTS[1], Math.max(narrow ? 0 : needed + 8, whole * .4)));
  // Of causal rows each lane holds texts, at least the shortest form of each.
  const [least, most] = view.causal ? [Math.min(LANES.causal[1], Math.max(LANES.causal[0], needed + BESIDE + NUMBERED + AFTER)), LANES.causal[1]] : LANES.usual;
  let lane = Math.floor(Math.max(least, Math.min(most, (whole - left - texts - 16) / lanes.length)));
  let label = left + lane * lanes.length + 8, room = Math.max(texts, whole - label - 8);
  const below = narrow && whole - label - 8 < texts - 10; // texts stand below the signs
  if (below) [lane, label, room] = [Math.max(least, Math.floor((whole - left - 10) / lanes.length)), left, whole - left - 8];
  // Names of nodes that do not fit above their lanes stand upright.
  const steep = !view.causal && lanes.some(name => BOLD * widthOf(clean(name)) > lane - 4)
    ? lanes.map(name => short(clean(name), HEAD_MAX - 12)) : [];
  return {
    story, ...rows, steep, lanes, narrow, twice: narrow && !below || tight, below, props, measured, strips, left, lane, label, room, head: headOf(story, props, steep),
    width: Math.max(left + lane * lanes.length, view.causal ? 0 : label + Math.min(Math.max(room, narrow && !below ? 0 : needed), ROOM_MAX), view.causal ? 0 : whole),
    height: (rows.count + 1) * ROW,
    x: name => left + lane * Math.max(0, lanes.indexOf(name)) + (view.causal ? BESIDE : lane / 2),
    y: step => ROW * (rows.row[step] + .5),
  };
}

const isMarked = (story, step) => step.i === story.critical || step.i === story.bad || step.failure !== null;

// What stands before the text of an event.
function lead(story, step) {
  const plain = PLAIN.has(step.kind) || step.label.includes(step.kind);
  const critical = step.i === story.critical && !isNarrow();
  return (critical ? "critical: " : "") + (step.i === story.loop ? "↻ " : "")
    + (step.failure ? "raises in " : "") + (plain ? "" : `${step.kind} `);
}

// A text in one line, or two where rows are high; null if it does not fit.
function inLines(text, room, narrow) {
  if (widthOf(text) <= room) return [text];
  if (!narrow) return null;
  const words = text.split(" ");
  let first = breakOf(words);
  while (first > 0 && widthOf(words.slice(0, first).join(" ")) > room) first--;
  const two = [words.slice(0, first).join(" "), words.slice(first).join(" ")];
  return first > 0 && widthOf(two[1]) <= room ? two : null;
}

// Where a text is broken at best: who sent it to whom stays together.
function breakOf(words) {
  const ends = words.lastIndexOf("->");
  return ends > 1 ? ends - 1 : words.length - 1;
}

function halves(text) {
  const words = text.split(" "), first = breakOf(words);
  return [words.slice(0, first).join(" "), words.slice(first).join(" ")];
}

// What a row says of its step: as much of the event as there is room for.
function rowLabel(at, step) {
  const ladder = at.story.texts[step.text], before = lead(at.story, step);
  const room = (view.causal ? at.lane - BESIDE - NUMBERED - AFTER : at.room) / (isMarked(at.story, step) ? BOLD : 1);
  let best = null;
  for (const text of ladder) best = inLines(clean(before + text), room, at.twice) ?? best;
  return best ?? [clean(before + ladder[0])]; // one can scroll to its end
}
