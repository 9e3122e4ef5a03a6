// Starts the page: describes the run, listens to the training, and keeps what can be seen up to date.

import { AdviceList } from "./advice.js";
import { Charts } from "./charts.js";
import { Controls, say } from "./controls.js";
import { Decisions } from "./decisions.js";
import { byId, rewrite } from "./elements.js";
import { advised, count, duration, figure, journeyWords, percent, words } from "./format.js";
import { refreshEvaluations } from "./evaluations.js";
import { showLearner } from "./learner.js";
import { VisitMap } from "./map.js";
import { refreshMilestones } from "./milestones.js";
import { Patterns } from "./patterns.js";
import { Runs } from "./runs.js";
import { journeyOf, Screens } from "./screens.js";
import { get, Live } from "./server.js";

const SECONDS_BETWEEN_REFRESHES = 5; // a training writes its tables about as often
const SELDOM = new Set(["patterns", "map", "runs"]); // these read every decision, or every run
const SELDOM_S = 30;
const ALWAYS = ["charts", "evaluations"]; // the head tells what charts read; evaluations are hidden until there is one

const complain = (error) => say(`Something could not be read: ${error.message}.`);

function describe(run) {
  document.title = `${run.name} – pkmn dashboard`;
  byId("run-name").textContent = run.name;
  const { rl, llm, mode, envs } = run.settings;
  byId("advice").hidden = byId("advice-link").hidden = !advised(run);
  byId("learner").hidden = byId("learner-link").hidden = rl === "none";
  byId("run-setup").textContent = `${run.game}, ${rl === "none" ? "no learner" : rl}${advised(run) ? ` with advice of ${llm}` : ""}, ${mode}, ${envs} environment${envs > 1 ? "s" : ""}`;
}

/** Progress of the furthest running episode, or of the run from its summary. */
function showJourney(run, state, summary) {
  const furthest = state.environments.reduce((best, one) => (best && best.milestones >= one.milestones ? best : one), null);
  const kept = summary.journey;
  const told = furthest ? journeyOf(run, furthest) : kept && { milestones: kept.milestones.length, total: kept.total_milestones, latest: kept.latest_milestone, progress: kept.progress, step: kept.steps, played_s: kept.frames / run.frames_per_second, since: kept.steps_since_progress };
  const line = byId("journey");
  const says = told && (told.total || Object.keys(told.progress ?? {}).length); // else only steps, which stand above
  line.hidden = !says;
  rewrite(line, "textContent", says ? `Furthest: ${journeyWords(told)}` : "");
}

/** Seconds until the budget is used, at the present pace; null if that is not known. */
function timeLeft({ steps, fraction_done: done, steps_per_second: pace }) {
  return done > 0 && pace ? (steps / done - steps) / pace : null;
}

function showState(run, state, summary) {
  const live = state.steps != null;
  const badge = byId("state");
  badge.textContent = state.run;
  badge.dataset.run = state.run;
  const budget = run.settings.steps;
  byId("steps").textContent = count(live ? state.steps : Math.max(run.steps ?? 0, Number(summary.total_steps) || 0) || null) + (live && budget ? ` of ${count(budget)}` : "");
  byId("episodes").textContent = count(live ? state.episodes : summary.total_episodes);
  byId("speed").textContent = state.run === "paused" ? "paused" : figure(live ? state.steps_per_second : summary.steps_per_second);
  byId("elapsed").textContent = duration(live ? state.elapsed_s : summary.elapsed_s);
  byId("doing").hidden = !state.doing;
  rewrite(byId("doing"), "textContent", state.doing ? `Now: ${state.doing}. All else is of the latest step.` : "");
  byId("progress").hidden = !live;
  document.querySelectorAll(".running").forEach((one) => { one.hidden = !live; });
  if (!live) return;
  byId("progress").value = state.fraction_done;
  byId("done").textContent = percent(state.fraction_done);
  byId("left").textContent = duration(timeLeft(state));
}

function showSummary(run, summary, metrics, ended) {
  const share = metrics["strategy/llm_share"]?.values.at(-1);
  const stage = metrics["curriculum/stage"]?.values.at(-1);
  showLearner(summary, metrics, run.goal, ended);
  byId("strategy-figure").hidden = !summary.strategy && share == null;
  byId("strategy").textContent = summary.strategy ? words(summary.strategy.current_strategy) : share == null ? "–" : `${Math.round(share * 100)} % model`;
  byId("stage").textContent = stage == null ? figure(summary.curriculum_stage_reached) : figure(Math.round(stage));
}

async function start() {
  const run = await get("run");
  let summary = await get("summary");
  let state = "";
  describe(run);
  const screens = new Screens(run);
  const controls = new Controls();
  const charts = new Charts(run);
  const map = new VisitMap(run);
  const decisions = new Decisions(run, complain);
  const advice = new AdviceList(complain);
  const patterns = new Patterns(complain);
  const runs = new Runs(run, complain);
  runs.refresh().catch(complain); // hidden where there is no other run
  const parts = {
    runs: () => runs.refresh(),
    charts: async () => {
      const ended = state === "ended";
      showSummary(run, summary, await charts.refresh(ended), ended);
    },
    evaluations: () => refreshEvaluations(run.goal),
    milestones: refreshMilestones,
    map: () => map.refresh(),
    decisions: () => (decisions.before == null ? decisions.refresh() : null),
    advice: () => (advice.before == null ? advice.refresh() : null),
    patterns: () => patterns.refresh(),
  };

  const visible = new Set();
  const refreshed = {};
  async function refresh(id) {
    if (document.hidden || (SELDOM.has(id) && Date.now() - (refreshed[id] ?? 0) < SELDOM_S * 1000)) return;
    refreshed[id] = Date.now();
    await Promise.resolve(parts[id]()).catch(complain);
  }
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) visible.delete(target.id);
      else if (!visible.has(target.id)) { visible.add(target.id); refresh(target.id); }
    }
  }, { rootMargin: "200px" });
  for (const id of Object.keys(parts)) watch.observe(byId(id));
  ALWAYS.forEach(refresh);

  async function refreshAll() {
    if (document.hidden) return;
    summary = await get("summary").catch(() => summary);
    await Promise.all([...new Set([...visible, ...ALWAYS])].map(refresh));
  }
  const timer = setInterval(() => {
    if (state === "ended") refresh("evaluations"); // a run that is over can be evaluated
    else refreshAll();
  }, SECONDS_BETWEEN_REFRESHES * 1000);

  const live = new Live({
    onLive: (event) => {
      const before = state;
      state = event.state.run;
      if (!before && state === "ended") refresh("charts"); // its words differ where nothing more will come
      if (before && before !== state) {
        if (before === "ended") get("run").then((found) => Object.assign(run, found)).catch(complain);
        if (state === "ended") say("The training has ended.");
        setTimeout(refreshAll, 500);
      }
      showState(run, event.state, summary);
      showJourney(run, event.state, summary);
      controls.show(event.state);
      screens.show(event);
      map.follow(event.state.environments);
    },
    onLost: () => say("The server does not answer; trying again…"),
    onEnd: () => {
      clearInterval(timer);
      state = "ended";
      byId("doing").hidden = true;
      controls.show({ run: "ended", environments: [] });
      byId("state").textContent = byId("state").dataset.run = "ended";
      say(`The training has ended, and this page with it. To look at it again: pkmn dashboard ${run.name}`);
    },
  });
  byId("rate").addEventListener("change", () => live.connect(Number(byId("rate").value)));
  live.connect();
}

start().catch(complain);
