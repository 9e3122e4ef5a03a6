// Draws the environments' screens, each with its last decision, source and reason.

import { byId, element, rewrite } from "./elements.js";
import { figure, journeyWords, mapName, percent, SOURCE_WORDS } from "./format.js";

const FEW = 3; // so many share the whole width

/** Source of a running episode's journey. */
export function journeyOf(run, decision) {
  const { milestones, latest_milestone: latest, progress, step, played_s, steps_since_progress: since } = decision;
  return { milestones, total: run.milestones.length, latest, progress, step, played_s, since };
}

export class Screens {
  constructor(run) {
    this.run = run;
    this.list = byId("screen-list");
    this.note = byId("no-screens");
    this.shown = [];
  }

  show({ state, screens }) {
    const environments = state.environments;
    if (environments.length !== this.shown.length) this.build(environments.length);
    environments.forEach((decision, index) => this.tell(this.shown[index], index, decision));
    for (const [index, text] of Object.entries(screens)) {
      if (this.shown[index]) this.shown[index].picture.src = `data:image/png;base64,${text}`;
    }
    const reason = this.whyNothing(state);
    this.note.hidden = !reason;
    rewrite(this.note, "textContent", reason);
  }

  whyNothing(state) {
    if (state.run === "ended") return "This run is not training, so there is nothing to watch. Its records are below.";
    if (!this.run.screen_shape) return "This training draws no screens.";
    if (!state.environments.length) return "The first picture comes with the next step.";
    if (state.run === "running" && state.age_s > 3) return `The latest step was ${Math.round(state.age_s)} s ago: it evaluates, saves, or waits for an answer.`;
    return "";
  }

  build(total) {
    this.shown = Array.from({ length: total }, (_, index) => {
      const picture = element("img", { width: 160, height: 144, alt: `Screen of environment ${index}` });
      picture.hidden = !this.run.screen_shape;
      const parts = { title: element("p", { class: "who" }), place: element("p"), journey: element("p"), decided: element("p"), reason: element("p", { class: "reason" }) };
      const caption = element("figcaption", {}, parts.title, parts.place, parts.journey, parts.decided, parts.reason);
      return { picture, parts, figure: element("figure", { "data-environment": index }, picture, caption) };
    });
    this.list.classList.toggle("few", total <= FEW);
    this.list.replaceChildren(...this.shown.map((one) => one.figure));
  }

  tell({ picture, parts }, index, decision) {
    const place = `${mapName(this.run, decision.map_id)} (${decision.x}, ${decision.y}), ${this.run.phases[decision.phase] ?? decision.phase}`;
    rewrite(parts.title, "textContent", `Environment ${index}, episode ${decision.episode}, step ${decision.step}`);
    rewrite(parts.place, "textContent", place);
    rewrite(parts.journey, "textContent", journeyWords(journeyOf(this.run, decision)));
    rewrite(parts.decided, "textContent", `${decision.action} by the ${SOURCE_WORDS[decision.source]}, ${percent(decision.confidence)} sure, reward ${figure(decision.reward)}`);
    rewrite(parts.reason, "textContent", decision.reason ? `Reason: ${decision.reason}` : "");
    rewrite(picture, "alt", `Screen of environment ${index}: ${place}`);
  }
}
