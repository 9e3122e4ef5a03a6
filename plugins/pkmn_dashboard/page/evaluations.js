// Evaluations that the run keeps: when, who played after how many steps, and how well.

import { byId, number, replace, row } from "./elements.js";
import { count, figure, percent } from "./format.js";
import { get } from "./server.js";

const PLAYED_BY = { "rl-only": "learner alone", adaptive: "learner and pilot", "llm-only": "pilot alone", random: "random play", command: "trained agent" };

/** Shows them; `goal` is the milestone that ends an episode of the training, or null. */
export async function refreshEvaluations(goal) {
  const found = await get("evaluations");
  byId("evaluations").hidden = byId("evaluations-link").hidden = !found.length;
  replace(byId("evaluation-rows"), found.map((one) => {
    const player = PLAYED_BY[one.mode] ?? one.mode;
    const [, steps] = /^step-(\d+)$/.exec(one.checkpoint) ?? [];
    const other = one.goal == null || one.goal === (goal ?? "success") ? "" : ` to ${one.goal}`;
    const reached = one.reached == null ? "–" : `${one.reached} of ${one.episodes}${other}${between(one.goal_low, one.goal_high, percent)}`;
    const cells = [steps ? count(steps) : one.checkpoint, count(one.episodes), reached, figure(one.reward) + between(one.reward_low, one.reward_high, figure)];
    return row([one.time, one.stochastic ? `${player}, sampling` : player, ...cells.map(number)], { heading: true });
  }));
}

const between = (low, high, format) => (low == null || high == null ? "" : ` (${format(low)} to ${format(high)})`);
