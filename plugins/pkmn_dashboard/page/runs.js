// The runs in the folder of this one, and one metric of the chosen runs in a common chart.

import { Chart, wordsOf } from "./charts.js";
import { byId, element, replace } from "./elements.js";
import { advised, count, figure, percent } from "./format.js";
import { get } from "./server.js";

const MOST = 5; // as many as there are colours
const FIRST = ["alone/goal_share", "alone/reward", "episode/reward"]; // the first that was measured is shown

export class Runs {
  constructor(run, onError) {
    this.run = run;
    this.chosen = [run.name];
    this.metric = byId("runs-metric");
    const refresh = () => this.draw().catch(onError);
    this.metric.addEventListener("change", refresh);
    byId("runs-rows").addEventListener("change", ({ target }) => {
      const { value, checked } = target;
      this.chosen = checked ? [...this.chosen, value] : this.chosen.filter((name) => name !== value);
      this.limit();
      refresh();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.chart?.plot && this.chart.build(this.chart.series));
  }

  async refresh() {
    const found = await get("runs");
    byId("runs").hidden = byId("runs-link").hidden = found.length < 2;
    if (found.length < 2) return;
    if (!byId("runs-rows").contains(document.activeElement)) byId("runs-rows").replaceChildren(...found.map((one) => this.row(one)));
    this.limit();
    const names = (await get("metric-names")).map((one) => one.name);
    if (document.activeElement !== this.metric) {
      const chosen = names.includes(this.metric.value) ? this.metric.value : FIRST.find((name) => names.includes(name)) ?? names[0];
      replace(this.metric, names.map((name) => element("option", { value: name }, wordsOf(name)[0])));
      if (chosen) this.metric.value = chosen;
    }
    if (names.length) await this.draw();
  }

  row({ name, shown, training, game, settings, steps, goal_share: share, reward }) {
    const box = element("input", { type: "checkbox", value: name });
    box.checked = this.chosen.includes(name);
    const state = [shown ? "this run" : "", training ? "training" : ""].filter(Boolean).join(", ");
    const label = element("label", {}, box, ` ${name}${state ? ` (${state})` : ""}`);
    const setup = [game, settings.rl, settings.mode, advised({ settings }) ? settings.llm : ""].filter(Boolean).join(", ");
    const figures = [count(steps), percent(share), figure(reward)].map((text) => element("td", { class: "number" }, text));
    return element("tr", {}, element("th", { scope: "row" }, label), element("td", {}, setup), ...figures);
  }

  /** No more can be chosen than there are colours. */
  limit() {
    for (const box of byId("runs-rows").querySelectorAll("input")) box.disabled = !box.checked && this.chosen.length >= MOST;
    byId("runs-text").textContent = `Choose up to ${MOST} runs for the chart. To open another run: pkmn dashboard NAME`;
  }

  async draw() {
    const asked = (this.asked = {});
    const metric = this.metric.value;
    const query = new URLSearchParams({ name: metric });
    this.chosen.forEach((name) => query.append("run", name));
    const found = this.chosen.length ? await get(`runs/metric?${query}`) : {};
    if (asked !== this.asked) return; // something else was chosen meanwhile
    if (this.drawn !== String(query)) {
      const [title, written] = wordsOf(metric);
      this.chart = new Chart(true, title, Object.fromEntries(this.chosen.map((name) => [name, name])), written);
      byId("runs-chart").replaceChildren(this.chart.figure);
      this.drawn = String(query);
    }
    this.chart.show(found);
  }
}
