// Of `presage explore`: what can happen next. A pick is posted, and the page comes again.

const act = (what, number, text, idle) => h("form", {method: "post", action: what},
  h("input", {type: "hidden", name: "n", value: number}),
  h("button", {class: idle ? "idle" : null}, idle ? `${text} (changes nothing)` : text));

function exploration(step) {
  if (!data.explore) return [];
  const {options, path, branches, flying, saves} = data.explore, last = main.steps.length - 1;
  const undo = path.length > 1 ? act("go", path[path.length - 2], "undo the last step") : null;
  if (undo) undo.id = "undo";
  return [
    h("h2", {}, step.i === last ? "what can happen next" : "this is the past"),
    ...(step.i === last ? options.map(([text, idle], number) => act("take", number, text, idle))
      : [act("go", path[step.i], "go back here")]),
    step.i === last && !options.length ? h("p", {}, "nothing can happen any more") : null,
    undo,
    h("h2", {}, "messages in flight"),
    flying.length ? h("ul", {id: "flying", class: "mono"}, ...flying.map(text => h("li", {}, text)))
      : h("p", {class: "dim", id: "flying"}, "none"),
    h("h2", {}, "keep this path"),
    h("p", {id: "saves"}, ...saves.flatMap(([address, text], at) =>
      [at ? " · " : "", h("a", {href: address, download: ""}, text)])),
    branches.length ? h("h2", {}, "other ways") : null,
    ...branches.map(([number, text]) => act("go", number, text)),
  ];
}
