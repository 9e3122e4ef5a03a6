// The game's milestones with their splits: step and game time of the fastest episode, and the latest one's step.

import { byId, number, replace, row } from "./elements.js";
import { count, duration } from "./format.js";
import { get } from "./server.js";

export async function refreshMilestones() {
  const found = await get("milestones");
  byId("milestones").hidden = byId("milestones-link").hidden = !found.length; // the environment has none
  const reached = (one) => one.episodes || one.running_step != null;
  const missing = found.filter((one) => !reached(one)).map((one) => one.name);
  byId("milestones-missing").textContent = missing.length ? `Not reached yet: ${missing.join(", ")}.` : "";
  let before = 0;
  replace(byId("milestone-rows"), found.filter(reached).map((one) => {
    const step = one.best_step ?? one.running_step;
    const after = step - before;
    before = step;
    return row([one.name, number(count(one.episodes)), number(count(step)), number(duration(one.best_s ?? one.running_s)), number(after < 0 ? "–" : `+${count(after)}`), number(count(one.latest_step)), number(count(one.running_step))], { heading: true });
  }));
}
