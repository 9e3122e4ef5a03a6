// Charts of the run's metrics over its steps. Each has its latest figures and a table in words beside it.

import uPlot from "./vendor/uPlot.js";

import { byId, element, number, replace, rewrite, row } from "./elements.js";
import { advised, count, figure, percent } from "./format.js";
import { LEARNER_METRICS, SITUATIONS } from "./learner.js";
import { get } from "./server.js";

const bySituation = (what) => Object.fromEntries(SITUATIONS.map((name) => [`hand_over/${name}/${what}`, name]));

/** Title, metrics with their names, and how a value is written where not as a plain number. */
const CHARTS = [
  ["Learner alone: share of starts to the goal", { "alone/goal_share": "measured in training", "evaluation/goal_share": "evaluation" }, percent],
  ["Learner alone: reward", { "alone/reward": "measured in training", "evaluation/avg_reward": "evaluation" }],
  ["Steps that the learner decides, by situation", bySituation("share"), percent],
  ["Reward in training, all sides", { "episode/reward": "each episode", "episode/average_reward": "last 10" }],
  ["Length of an episode, steps", { "episode/length": "steps" }],
  ["Who decided, share of all steps", { "share/rl": "learner", "share/explore": "exploring", "share/rule": "rules", "share/llm": "language model" }, percent],
  ["Share of the language model", { "episode/llm_share": "of an episode's steps", "strategy/llm_share": "wanted by the strategy" }, percent],
  ["Losses", { "learner/loss": "loss", "learner/td_error": "error of estimates", "learner/demonstration_loss": "demonstrations", "learner/policy_loss": "policy", "learner/value_loss": "value" }],
  ["Steps a second", { "time/steps_per_second": "all environments" }],
  ["Stage of the curriculum", { "curriculum/stage": "stage" }],
  ["Trust in the rules", { "curriculum/trust": "trust" }],
  ["Cost of the language model, dollars", { "llm/cost_usd": "so far" }],
];
const OF_THE_MODEL = /^llm\/|llm_share$|\/llm$/; // always 0 without a language model
const OWN = "environment/"; // prefix of the environment's own metrics
const TABLE_ROWS = 12;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A metric's name in words, and how its values are written. */
export function wordsOf(metric) {
  const [title, names, written = figure] = CHARTS.find(([, series]) => metric in series) ?? [metric, {}];
  return [title + (names[metric] ? `, ${names[metric]}` : ""), written];
}

export class Chart {
  constructor(withModel, title, names, written = figure) {
    this.withModel = withModel;
    this.names = names;
    this.written = written;
    this.place = element("div", { class: "plot", "aria-hidden": "true" });
    this.legend = element("ul");
    this.head = element("tr");
    this.rows = element("tbody");
    const table = element("table", {}, element("thead", {}, this.head), this.rows);
    const details = element("details", {}, element("summary", {}, "As a table"), element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${title}, as a table` }, table));
    this.figure = element("figure", { "data-chart": title }, element("figcaption", {}, element("h3", {}, title)), this.place, this.legend, details);
    new ResizeObserver(() => this.plot?.setSize(this.size())).observe(this.place);
  }

  size() {
    return { width: Math.max(this.place.clientWidth, 200), height: this.place.clientHeight || 208 };
  }

  show(found) {
    const present = Object.keys(this.names).filter((name) => found[name]?.steps.length && (this.withModel || !OF_THE_MODEL.test(name)));
    this.figure.hidden = !present.length;
    if (!present.length) return;
    this.data = uPlot.join(present.map((name) => [found[name].steps, found[name].values]));
    this.place.hidden = present.every((name) => new Set(found[name].values).size === 1); // words say all of it
    if (this.place.hidden) {
      this.plot?.destroy();
      this.plot = this.present = null;
    } else if (String(present) !== this.present) {
      this.present = String(present);
      this.series = present;
      this.build(present);
    } else {
      this.plot.setData(this.data);
    }
    this.tell(present, found);
  }

  build(present) {
    this.plot?.destroy();
    const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "12px system-ui, sans-serif" };
    const series = present.map((name, index) => ({ label: this.names[name], stroke: colour(`--series-${index + 1}`), width: 2, spanGaps: true, points: { show: (plot) => plot.data[0].length < 40, size: 5 } }));
    this.plot = new uPlot({
      ...this.size(), legend: { show: false }, cursor: { drag: { x: false, y: false } }, scales: { x: { time: false }, y: this.written === percent ? { range: [0, 1] } : {} },
      axes: [{ ...axis, values: (_, ticks) => tickTexts(ticks, compact) }, { ...axis, size: (_, texts) => axisSize(texts ?? []), values: (_, ticks) => tickTexts(ticks, this.written) }],
      series: [{}, ...series],
    }, this.data, this.place);
  }

  tell(present, found) {
    replace(this.legend, present.map((name, index) => {
      const { values } = found[name];
      const [low, high] = [this.written(least(values)), this.written(most(values))];
      const text = `${this.names[name]}: ${this.written(values.at(-1))}${low === high ? "" : ` (lowest ${low}, highest ${high})`}`;
      return element("li", { class: `series-${index + 1}` }, text);
    }));
    replace(this.head, [element("th", { scope: "col", class: "number" }, "Step"), ...present.map((name) => element("th", { scope: "col", class: "number" }, this.names[name]))]);
    const [steps, ...columns] = this.data;
    const every = Math.max(1, Math.ceil(steps.length / TABLE_ROWS));
    const picked = steps.map((_, index) => index).filter((index) => (steps.length - 1 - index) % every === 0);
    replace(this.rows, picked.map((index) => row([number(count(steps[index])), ...columns.map((column) => number(this.written(column[index])))])));
  }
}

/** Return the texts of an axis, with as many digits as its ticks need to differ. */
export function tickTexts(ticks, written) {
  const texts = ticks.map((tick) => written(tick));
  if (new Set(texts).size === texts.length) return texts;
  const digits = Number((ticks[1] - ticks[0]).toPrecision(3)).toFixed(12).replace(/0+$/, "").split(".")[1].length;
  return ticks.map((tick) => tick.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
}

/** Return the pixels that an axis with these texts takes beside the chart. */
export const axisSize = (texts) => Math.max(58, ...texts.map((text) => 16 + 8 * text.length));

const least = (values) => values.reduce((low, value) => Math.min(low, value));
const most = (values) => values.reduce((high, value) => Math.max(high, value));
const compact = (value) => new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 }).format(value);

export class Charts {
  constructor(run) {
    this.withModel = advised(run);
    this.charts = CHARTS.map((one) => new Chart(this.withModel, ...one));
    byId("chart-list").replaceChildren(...this.charts.map((chart) => chart.figure));
    this.charts.forEach((chart) => { chart.figure.hidden = true; });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
  }

  addOwn(name) {
    if (this.charts.some((chart) => name in chart.names)) return;
    const chart = new Chart(this.withModel, name.slice(OWN.length), { [name]: "each episode" });
    chart.figure.hidden = true;
    byId("chart-list").append(chart.figure);
    this.charts.push(chart);
  }

  /** Draws what was measured. `ended` is true for a run that does not train. */
  async refresh(ended) {
    const own = (await get("metric-names")).map((one) => one.name).filter((name) => name.startsWith(OWN));
    own.forEach((name) => this.addOwn(name));
    const names = new Set([...CHARTS.flatMap(([, series]) => Object.keys(series)), ...LEARNER_METRICS, ...own]);
    const found = await get(`metrics?${[...names].map((name) => `name=${encodeURIComponent(name)}`).join("&")}`);
    this.charts.forEach((chart) => chart.show(found));
    rewrite(byId("no-charts"), "textContent", `Nothing was measured${ended ? "" : " yet"}: the first figures come after 1,000 steps, or with the first episode.`);
    byId("no-charts").hidden = this.charts.some((chart) => !chart.figure.hidden);
    return found;
  }

  repaint() {
    this.charts.filter((chart) => chart.plot).forEach((chart) => chart.build(chart.series));
  }
}
