// The recorded decisions, newest first, of all sources or of one, page by page.

import { byId, number, replace, row } from "./elements.js";
import { actionName, count, figure, mapName, percent, SOURCES } from "./format.js";
import { before, get } from "./server.js";

const PAGE = 30;

export class Decisions {
  constructor(run, onError) {
    this.run = run;
    this.before = null;
    const turn = (row) => { this.before = row; this.refresh().catch(onError); };
    byId("source").addEventListener("change", () => turn(null));
    byId("older-decisions").addEventListener("click", () => turn(this.last));
    byId("newest-decisions").addEventListener("click", () => turn(null));
  }

  async refresh() {
    const source = byId("source").value;
    const query = new URLSearchParams({ limit: PAGE });
    if (source !== "") query.set("source", source);
    if (this.before != null) before(query, this.before);
    const asked = (this.asked = query);
    const found = await get(`decisions?${query}`);
    if (asked !== this.asked) return; // other rows were asked for meanwhile
    this.last = found.at(-1) ?? this.before;
    byId("older-decisions").disabled = found.length < PAGE;
    byId("newest-decisions").disabled = this.before == null;
    const rows = found.map((one) => row([
      number(count(one.global_step)), String(one.environment), `${mapName(this.run, one.map_id)} (${one.x}, ${one.y}), ${this.run.phases[one.phase] ?? one.phase}`,
      actionName(this.run, one.action), SOURCES[one.source] ?? one.source, ["reason", one.reason], number(percent(one.confidence)), number(figure(one.reward)),
    ]));
    replace(byId("decision-rows"), rows.length ? rows : [row(["", "", "none recorded", "", "", "", "", ""], { name: "missing" })]);
  }
}
