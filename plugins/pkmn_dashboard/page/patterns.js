// Actions that paid off, by situation, from the analyzer of decisions.

import { byId, number, replace, row } from "./elements.js";
import { count, figure, percent, SOURCE_WORDS } from "./format.js";
import { get } from "./server.js";

export class Patterns {
  constructor(onError) {
    byId("find-patterns").addEventListener("click", () => this.refresh().catch(onError));
  }

  async refresh() {
    const least = Math.max(1, Math.min(1e6, Math.round(Number(byId("min-frequency").value)) || 20));
    const { horizon, patterns } = await get(`patterns?min_frequency=${least}`);
    byId("pattern-text").textContent = patterns.length
      ? `A success is an action after which ${horizon} decisions earned more than 0. The surest come first.`
      : `No action was taken ${count(least)} times in one situation yet.`;
    replace(byId("pattern-rows"), patterns.map((one) => {
      const { map_name: map, phase_name: phase, battle_name: battle } = one.context;
      const [who] = Object.entries(one.sources).sort((one, other) => other[1] - one[1])[0] ?? [];
      return row([
        [map, phase, battle && battle !== "none" ? `${battle} battle` : ""].filter(Boolean).join(", "), one.action_name, number(count(one.frequency)), number(percent(one.success_rate)),
        number(one.interval ? one.interval.map(percent).join(" to ") : "–"), number(figure(one.lift)), number(figure(one.mean_return)), SOURCE_WORDS[who] ?? "–",
      ], { heading: true });
    }));
  }
}
