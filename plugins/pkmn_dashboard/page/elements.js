// Builds elements from data; text is always text, never markup.

/** An element with attributes and children; strings become text. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

/** A row of cells: a string, or [class, string]; the first one may head the row. */
export function row(cells, { heading = false, name = "" } = {}) {
  const made = element("tr", { class: name || null });
  cells.forEach((cell, index) => {
    const [kind, text] = Array.isArray(cell) ? cell : [null, cell];
    const head = heading && index === 0;
    made.append(element(head ? "th" : "td", { class: kind, scope: head ? "row" : null }, String(text)));
  });
  return made;
}

export const number = (text) => ["number", text];

/** Replaces the children of an element only where something differs, so that a reader's place is kept. */
export function replace(parent, children) {
  const made = document.createElement(parent.tagName);
  made.append(...children);
  if (made.innerHTML !== parent.innerHTML) parent.replaceChildren(...made.childNodes);
}

/** Sets an attribute or the text only if it differs, so that nothing is read out or laid out again needlessly. */
export function rewrite(node, name, value) {
  if (node[name] !== value) node[name] = value;
}

export const byId = (id) => document.getElementById(id);
