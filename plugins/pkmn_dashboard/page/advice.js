// Questions to the language model, its answers, their use, and the totals.

import { byId, element } from "./elements.js";
import { count, figure } from "./format.js";
import { before, get } from "./server.js";

const PAGE = 10;

export class AdviceList {
  constructor(onError) {
    this.before = null;
    const turn = (row) => { this.before = row; this.refresh().catch(onError); };
    byId("older-advice").addEventListener("click", () => turn(this.last));
    byId("newest-advice").addEventListener("click", () => turn(null));
  }

  async refresh() {
    const query = new URLSearchParams({ limit: PAGE });
    if (this.before != null) before(query, this.before);
    const asked = (this.asked = query);
    const found = await get(`advice?${query}`);
    if (asked !== this.asked) return; // other rows were asked for meanwhile
    this.last = found.latest.at(-1) ?? this.before;
    byId("older-advice").disabled = found.latest.length < PAGE;
    byId("newest-advice").disabled = this.before == null;
    if (!found.answers) {
      byId("advice-totals").textContent = "No answer of the language model is recorded.";
      return;
    }
    const cost = found.cost_usd == null ? "at a price that is not known" : `for $${found.cost_usd.toFixed(4)}`;
    byId("advice-totals").textContent = `${count(found.answers)} answers, ${count(found.prompt_tokens)} tokens asked and ${count(found.completion_tokens)} answered, ${cost}.`;
    const list = byId("advice-list");
    const keys = found.latest.map(key);
    if (String(keys) === this.shown || list.contains(document.activeElement)) return;
    const open = new Set([...list.querySelectorAll("details[open]")].map((one) => one.dataset.key));
    list.replaceChildren(...found.latest.map((one) => item(one, open)));
    this.shown = String(keys);
  }
}

const key = (one) => `${one.global_step}/${one.environment}`;

function item(one, open) {
  const goal = one.advice?.goal ?? "no advice";
  const fate = one.problem || (one.followed ? "followed" : "set aside: the rules had their share");
  const used = `${count(one.prompt_tokens)} + ${count(one.completion_tokens)} tokens, ${figure(one.latency_s)} s${one.cached ? ", from the cache" : ""}`;
  const prompt = element("details", { "data-key": key(one), open: open.has(key(one)) }, element("summary", {}, "What was asked"), element("pre", { tabindex: 0, role: "region", "aria-label": "What was asked" }, one.prompt));
  return element("li", {},
    element("h3", {}, `Step ${count(one.global_step)}, environment ${one.environment}: ${goal}`),
    element("p", { class: "quiet" }, `${one.model || "no model answered"}, asked for ${one.event} at step ${count(one.asked_at)}; ${used}; ${fate}`),
    element("pre", { tabindex: 0, role: "region", "aria-label": "What was answered" }, one.reply || "(nothing)"), prompt);
}
