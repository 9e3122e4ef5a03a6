// Numbers and names in readable form.

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

export const SOURCES = ["learner", "learner, exploring", "rules", "language model"];
export const SOURCE_WORDS = { rl: SOURCES[0], explore: SOURCES[1], rule: SOURCES[2], llm: SOURCES[3] };

export const count = (value) => (value == null ? "–" : whole.format(Math.round(value)));
export const figure = (value) => (value == null ? "–" : short.format(value));
export const percent = (value) => (value == null ? "–" : `${Math.round(value * 100)} %`);

/** Seconds as 42 s, 3:05 or 1:02:03. */
export function duration(seconds) {
  if (seconds == null) return "–";
  const total = Math.round(seconds);
  if (total < 60) return `${total} s`;
  const two = (value) => String(value).padStart(2, "0");
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor(total / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(total % 60)}` : `${minutes}:${two(total % 60)}`;
}

/** True if a language model advises in the run. */
export const advised = ({ settings }) => Boolean(settings.llm) && settings.llm !== "none";

/** The name of an action, by its number. */
export const actionName = (run, number) => run.actions[number] ?? `action_${number}`;

/** The name of a map; its group and number if it has none. */
export function mapName(run, id) {
  return run.maps[id] ?? (id < 256 ? String(id) : `${Math.floor(id / 256)}.${id % 256}`);
}

/** The progress of an episode in a line. */
export function journeyWords({ milestones, total, latest, progress, step, played_s, since }) {
  const parts = [];
  if (total) parts.push(`${milestones} of ${total} milestones${latest ? `, latest ${latest}` : ""}`);
  for (const [name, value] of Object.entries(progress ?? {})) parts.push(`${words(name)} ${figure(value)}`);
  parts.push(`step ${count(step)}`, `${duration(played_s)} played`);
  if (since) parts.push(`nothing new for ${count(since)} steps (${duration((since * played_s) / Math.max(step, 1))})`);
  return parts.join(", ");
}

export const words = (name) => name.replaceAll("_", " ");
