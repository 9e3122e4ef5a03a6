// The game's milestones with their splits: the soonest episode's step and game time, and what the latest one took.

import { byId, number, replace, row } from "./elements.js";
import { count, duration, words } from "./format.js";
import { get } from "./server.js";

export async function refreshMilestones() {
  const found = await get("milestones");
  const missing = found.filter((one) => !one.episodes).map((one) => words(one.name));
  byId("milestones-missing").textContent = missing.length ? `Not reached yet: ${missing.join(", ")}.` : "";
  let before = 0;
  replace(byId("milestone-rows"), found.filter((one) => one.episodes).map((one) => {
    const after = one.best_step - before;
    before = one.best_step;
    return row([words(one.name), number(count(one.episodes)), number(count(one.best_step)), number(duration(one.best_s)), number(after < 0 ? "–" : `+${count(after)}`), number(count(one.latest_step))], { heading: true });
  }));
}
