// The visited tiles of a map, stronger with more steps, and the places of the environments.

import { byId, element, number, replace, row } from "./elements.js";
import { count, mapName } from "./format.js";
import { get } from "./server.js";

const TABLE_ROWS = 12;
const MARK_PIXELS = 16; // of the mark of an environment, so that its number can be read

export class VisitMap {
  constructor(run) {
    this.run = run;
    this.choice = byId("map-choice");
    this.canvas = byId("map-canvas");
    this.tiles = [];
    this.players = [];
    this.grounds = {};
    this.choice.addEventListener("change", () => this.load());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  async refresh() {
    const maps = await get("maps");
    const chosen = this.choice.value;
    const options = maps.map(({ map_id: id, tiles }) => element("option", { value: id }, `${mapName(this.run, id)} (${count(tiles)} tiles)`));
    if (document.activeElement !== this.choice) {
      replace(this.choice, options);
      const known = maps.some(({ map_id: id }) => String(id) === chosen);
      if (maps.length) this.choice.value = known ? chosen : maps[0].map_id;
    }
    if (maps.length) await this.load();
    else byId("map-text").textContent = "No visited tile is recorded.";
  }

  async load() {
    const chosen = this.choice.value;
    const [tiles, picture] = await Promise.all([get(`maps/${chosen}/visits`), this.ground(chosen)]);
    if (chosen !== this.choice.value) return; // another map was chosen meanwhile
    this.tiles = tiles;
    this.picture = picture;
    this.draw();
    const total = this.tiles.reduce((sum, tile) => sum + tile.steps, 0);
    const [busiest] = this.tiles;
    byId("map-text").textContent = `${mapName(this.run, this.choice.value)}: ${count(this.tiles.length)} tiles visited in ${count(total)} steps; the busiest is (${busiest.x}, ${busiest.y}) with ${count(busiest.steps)}.`;
    replace(byId("map-rows"), this.tiles.slice(0, TABLE_ROWS).map(({ x, y, steps }) => row([number(x), number(y), number(count(steps))])));
    byId("map-details").hidden = false;
  }

  /** The map from the game's image, one pixel for each tile; null where there is none. */
  async ground(chosen) {
    if (!(chosen in this.grounds)) {
      const { png } = await get(`maps/${chosen}/picture`);
      const image = png && new Image();
      if (png) {
        image.src = `data:image/png;base64,${png}`;
        await image.decode();
      }
      this.grounds[chosen] = image;
    }
    return this.grounds[chosen];
  }

  /** Places of the environments, from the live events. */
  follow(environments) {
    const players = environments.map(({ map_id: id, x, y }, index) => [id, x, y, index]).filter(([id]) => String(id) === this.choice.value);
    if (String(players) === String(this.players)) return;
    this.players = players;
    this.draw();
  }

  draw() {
    if (!this.tiles.length) return;
    const whole = this.picture ? [{ x: 0, y: 0 }, { x: this.picture.width - 1, y: this.picture.height - 1 }] : [];
    const places = [...this.tiles, ...whole];
    const left = Math.min(...places.map(({ x }) => x));
    const top = Math.min(...places.map(({ y }) => y));
    const columns = Math.max(...places.map(({ x }) => x)) - left + 1;
    const rows = Math.max(...places.map(({ y }) => y)) - top + 1;
    const size = Math.max(4, Math.min(20, Math.floor(720 / columns), Math.floor(480 / rows)));
    Object.assign(this.canvas, { width: columns * size, height: rows * size });
    this.canvas.hidden = byId("map-legend").hidden = false;
    byId("map-most").textContent = count(this.tiles[0].steps);
    byId("map-players").hidden = !this.players.length;
    const paint = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    if (this.picture) {
      Object.assign(paint, { imageSmoothingEnabled: false, globalAlpha: Number(style.getPropertyValue("--ground-alpha")) });
      paint.drawImage(this.picture, -left * size, -top * size, this.picture.width * size, this.picture.height * size);
      paint.globalAlpha = 1;
    }
    byId("map-ground").hidden = !this.picture;
    const inset = this.picture ? Math.floor(size / 6) : 0; // the ground is seen around each square
    const [low, high] = ["--heat-low", "--heat-high"].map((name) => parse(style.getPropertyValue(name)));
    const most = Math.log1p(this.tiles[0].steps);
    for (const { x, y, steps } of this.tiles) {
      const heat = Math.log1p(steps) / most;
      paint.fillStyle = `rgb(${low.map((from, channel) => Math.round(from + (high[channel] - from) * heat)).join(" ")})`;
      paint.fillRect((x - left) * size + inset, (y - top) * size + inset, size - 1 - 2 * inset, size - 1 - 2 * inset);
    }
    const radius = Math.max(size / 2, MARK_PIXELS / 2);
    paint.font = `bold ${Math.round(radius * 1.3)}px system-ui, sans-serif`;
    Object.assign(paint, { textAlign: "center", textBaseline: "middle", lineWidth: 2 });
    for (const [, x, y, index] of this.players) {
      const within = (at, length) => Math.min(Math.max((at + 0.5) * size, radius + 1), Math.max(length - radius - 1, radius + 1));
      const place = [within(x - left, this.canvas.width), within(y - top, this.canvas.height)];
      paint.beginPath();
      paint.arc(...place, radius, 0, 2 * Math.PI);
      paint.fillStyle = style.getPropertyValue("--player");
      paint.strokeStyle = style.getPropertyValue("--player-text");
      paint.fill();
      paint.stroke();
      paint.fillStyle = paint.strokeStyle;
      paint.fillText(String(index), ...place);
    }
  }
}

const parse = (hex) => hex.trim().slice(1).match(/../g).map((two) => parseInt(two, 16));
