// Connection to the server: reads its JSON, sends requests to the training, and listens to its events.

/** Address of the API: relative to this page, also behind a proxy. */
const API = new URL("../api/", import.meta.url);

export async function get(path) {
  const answer = await fetch(new URL(path, API), { headers: { accept: "application/json" } });
  if (!answer.ok) throw new Error(await reason(answer));
  return answer.json();
}

/** Makes a query ask for rows before a row: rows of several environments may share a step. */
export function before(query, row) {
  query.set("before", row.global_step);
  query.set("before_environment", row.environment);
}

export async function post(path) {
  const answer = await fetch(new URL(path, API), { method: "POST", headers: { "x-pkmn-action": "1" } });
  if (!answer.ok) throw new Error(await reason(answer));
  return answer.json();
}

async function reason(answer) {
  try {
    const { detail } = await answer.clone().json();
    return typeof detail === "string" ? detail : `the server answered ${answer.status}`;
  } catch {
    return (await answer.text()) || `the server answered ${answer.status}`;
  }
}

/** Listens to the live events at a rate; stops while the page is hidden. */
export class Live {
  constructor({ onLive, onLost, onEnd }) {
    this.handlers = { onLive, onLost, onEnd };
    this.rate = 5;
    this.ended = false;
    document.addEventListener("visibilitychange", () => this.connect());
  }

  connect(rate = this.rate) {
    this.rate = rate;
    this.source?.close();
    if (document.hidden || this.ended) return;
    this.source = new EventSource(new URL(`events?rate=${rate}&screens=${rate > 0}`, API));
    this.source.addEventListener("live", (event) => this.handlers.onLive(JSON.parse(event.data)));
    this.source.addEventListener("end", () => {
      this.ended = true;
      this.source.close();
      this.handlers.onEnd();
    });
    this.source.addEventListener("error", () => this.handlers.onLost());
  }
}
