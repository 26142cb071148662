"use strict";
// Draws what Python has worked out. One `view` object says what is looked at; every function of this
// script is a function of `data` and `view`.

const data = JSON.parse(document.getElementById("data").textContent, revived);
const main = data.main;
const roomy = window.innerWidth >= 1000 && window.innerHeight >= 700;
const view = {
  step: data.opens, pinned: null, against: data.others.length ? 0 : "previous", unchanged: false,
  filter: "", closed: new Set(), causal: false, beside: null, past: false, said: null, blamed: null,
  nodes: roomy, history: true, code: roomy && !data.explore, claim: false,
};

const colour = (story, lane) => {
  const at = story.nodes.indexOf(lane);
  return at < 0 || lane === story.between ? "var(--dim)" : `var(--n${at % 8})`;
};
const inFull = (story, step) => story.texts[step.text].at(-1);
const nameOf = (step, story = main) => step.i === 0 ? step.label
  : `${step.node} ${step.kind}${step.label === step.kind ? "" : ` ${inFull(story, step)}`}`;
