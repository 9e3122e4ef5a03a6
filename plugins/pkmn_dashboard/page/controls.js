// The buttons: requests to the training, and their results.

import { byId, element } from "./elements.js";
import { post } from "./server.js";

export class Controls {
  constructor() {
    this.paused = false;
    this.answers = null;
    const ask = (id, path, text) => byId(id).addEventListener("click", () => this.ask(path(), text));
    ask("pause", () => (this.paused ? "resume" : "pause"));
    ask("save-checkpoint", () => "save-checkpoint", "A checkpoint will be saved after this step…");
    ask("save-start", () => `save-start?environment=${byId("start-environment").value || 0}`, "The state will be saved after this step…");
    const dialog = byId("stop-dialog");
    byId("stop").addEventListener("click", () => dialog.showModal());
    dialog.addEventListener("close", () => {
      if (dialog.returnValue === "stop") this.ask("stop", "Saving, then stopping…");
      dialog.returnValue = "";
    });
  }

  async ask(path, text) {
    try {
      await post(path);
      if (text) say(text);
    } catch (error) {
      say(`Not done: ${error.message}.`);
    }
  }

  show(state) {
    const may = state.may_control && state.run !== "ended";
    byId("controls").hidden = !may;
    byId("rate-label").hidden = state.run === "ended";
    for (const id of ["pause", "save-checkpoint", "save-start", "stop"]) byId(id).disabled = !may;
    if (state.run === "paused" !== this.paused) {
      this.paused = state.run === "paused";
      byId("pause").textContent = this.paused ? "Resume" : "Pause";
      if (state.run !== "ended") say(this.paused ? "Paused: the training waits until you resume." : "Training resumed.");
    }
    const choice = byId("start-environment");
    const total = state.environments.length;
    if (choice.options.length !== total) choice.replaceChildren(...Array.from({ length: total }, (_, index) => element("option", { value: index }, String(index))));
    byId("start-environment-label").hidden = total < 2;
    if (this.answers != null && state.answers > this.answers) say(state.message);
    this.answers = state.answers ?? null;
  }
}

export function say(text) {
  byId("message").textContent = text;
}
