// Results of the learner alone, with pilot and random play, and the situations in which it decides.

import { byId, number, replace, rewrite, row } from "./elements.js";
import { count, figure, percent } from "./format.js";

const PLAYERS = { learner_alone: "learner alone", pilot: "pilot", random: "random play" };
export const SITUATIONS = ["walking", "words", "menu", "battle", "other", "all"];
const EVIDENCE = ["share", "agreement", "confidence"];

/** Metrics of this part, besides those of charts. */
export const LEARNER_METRICS = [
  "alone/goal_share", "alone/reward", "alone/steps", "alone/episodes", "alone/after_steps", "share/learner_lately",
  ...SITUATIONS.flatMap((name) => EVIDENCE.map((what) => `hand_over/${name}/${what}`)),
];

const latest = (series) => series?.values.at(-1);

/** Shows the part. `metrics` are series by name; `goal` is the milestone that ends an episode, or null. */
export function showLearner(summary, metrics, goal, ended) {
  const lately = latest(metrics["share/learner_lately"]) ?? summary.recent_learner_share;
  rewrite(byId("learner-share"), "textContent", percent(lately));
  rewrite(byId("reaches"), "textContent", goal ? `To ${goal}` : "To the goal");
  const verdict = summary.verdict ?? measured(metrics, goal);
  byId("verdict").hidden = !verdict;
  rewrite(byId("verdict"), "textContent", verdict ?? "");
  const players = Object.entries(PLAYERS).filter(([key]) => summary[key]);
  replace(byId("alone-rows"), players.length ? players.map(([key, name]) => result(name, summary[key])) : inTraining(metrics));
  rewrite(byId("alone-missing"), "textContent", ended ? "Not measured at the end of the training. In a terminal: pkmn eval" : "Measured every ten episodes of the training, and at its end, with pilot and random play.");
  byId("alone-missing").hidden = players.length > 0;
  const known = SITUATIONS.filter((name) => metrics[`hand_over/${name}/share`]?.values.length);
  byId("taken-over").hidden = !known.length;
  replace(byId("taken-over-rows"), known.map((name) => row([name, ...EVIDENCE.map((what) => number(percent(latest(metrics[`hand_over/${name}/${what}`]))))], { heading: true })));
}

function result(name, { reached, episodes, goal, goal_low, goal_high, goal_steps, avg_reward }) {
  const share = goal == null ? ["–", "–"] : [`${reached} of ${episodes}`, `${percent(goal_low)} to ${percent(goal_high)}`];
  return row([name, ...share.map(number), number(count(goal_steps)), number(figure(avg_reward))], { heading: true });
}

/** The latest measurements during the training, newest first. */
function inTraining(metrics) {
  const { steps = [], values = [] } = metrics["alone/reward"] ?? {};
  const at = (name, step) => metrics[name]?.values[metrics[name].steps.indexOf(step)]; // not each has all of them
  return steps.map((step, index) => {
    const episodes = at("alone/episodes", step);
    const share = at("alone/goal_share", step);
    const reached = share == null || episodes == null ? "–" : `${Math.round(share * episodes)} of ${count(episodes)}`;
    return row([`learner alone ${when(at("alone/after_steps", step) ?? step)}`, number(reached), number("–"), number("–"), number(figure(values[index]))], { heading: true });
  }).reverse().slice(0, 5);
}

/** Steps of the training before a measurement; it is recorded with the step that follows. */
const when = (steps) => (steps ? `after ${count(steps)} steps` : "before the training");

function measured(metrics, goal) {
  const share = latest(metrics["alone/goal_share"]);
  const episodes = latest(metrics["alone/episodes"]);
  if (episodes == null) return null;
  const at = when(latest(metrics["alone/after_steps"]) ?? metrics["alone/episodes"].steps.at(-1));
  if (!goal || share == null) return `The learner alone earned ${figure(latest(metrics["alone/reward"]))} ${at}.`;
  return `The learner alone reached ${goal} in ${Math.round(share * episodes)} of ${count(episodes)} starts ${at}.`;
}
