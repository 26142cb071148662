// Texts: everything from the data is set as text, never as markup; values in Python's spelling.

const NS = "http://www.w3.org/2000/svg";
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

// A text of several lines: a line break where the text has one.
const lines = text => String(text).split("\n")
  .flatMap((line, at) => at ? [document.createElement("br"), line] : [line]);

// How wide a text is in the diagram, in pixels.
const pen = document.createElement("canvas").getContext("2d");
pen.font = '11px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif';
const widths = new Map();
function widthOf(text) {
  if (!widths.has(text)) widths.set(text, pen.measureText(text).width);
  return widths.get(text);
}

// A tuple comes as an object, and is a list that knows what it is.
function revived(key, value) {
  if (value === null || typeof value !== "object" || value[""] !== "tuple") return value;
  const items = value.items;
  items.tuple = true;
  return items;
}

function quoted(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  return quote + text.replace(/[\\\n\r\t]/g, c => ({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})[c])
    .replaceAll(quote, `\\${quote}`) + quote;
}

const OWN = new Set(["timers", "streams", "messages", "mailboxes", "posted"]); // presage's own, no value of Python's
const MAPPINGS = new Set(["Counter", "OrderedDict", "defaultdict"]);
const pairs = (value, names) => `{${names.map(name => `${name}: ${spelled(value[name])}`).join(", ")}}`;

// A value as Python writes it.
function spelled(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) {
    const items = value.map(spelled).join(", ");
    return value.tuple ? `(${items}${value.length === 1 ? "," : ""})` : `[${items}]`;
  }
  if (typeof value !== "object") return `${value}`;
  const kind = value[""], names = Object.keys(value).filter(name => name !== "");
  if (kind === undefined) return pairs(value, names);
  if (OWN.has(kind)) return names.map(name => value[name] === "armed" ? name : `${name}: ${value[name]}`).join(", ") || "none";
  if (kind === "set") return names.length ? `{${names.sort().join(", ")}}` : "set()";
  if (kind === "deque") return `deque(${spelled(value.items)})`;
  if (MAPPINGS.has(kind)) return names.length ? `${kind}(${pairs(value, names)})` : `${kind}()`;
  return names.length ? `${kind}(${names.map(name => `${name}=${spelled(value[name])}`).join(", ")})` : `${kind}`;
}
