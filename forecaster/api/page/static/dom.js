// Elements from plain values. Text only ever becomes text: nothing here reads markup.

export const byId = (id) => document.getElementById(id);

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const list = (tag, attributes, texts) =>
  element(tag, attributes, ...texts.map((text) => element("li", {}, text)));

/** Writes text where it differs, so that a live region speaks only of what is new. */
export function write(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

/** Makes these the children of a place; those that look the same stay, with focus and open state. */
export function show(place, ...wanted) {
  const nodes = wanted.filter((node) => node !== null && node !== undefined);
  for (const details of nodes.flatMap(allDetails)) {
    details.open = Boolean(keyed(place, details.dataset.key)?.open);
  }
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  nodes.forEach((node, index) => {
    const held = place.childNodes[index];
    if (!held) place.append(node);
    else if (!held.isEqualNode(node)) held.replaceWith(node);
  });
  while (place.childNodes.length > nodes.length) place.lastChild.remove();
  if (focused && !place.contains(document.activeElement)) {
    keyed(place, focused)?.focus({ preventScroll: true });
  }
}

const allDetails = (node) =>
  node instanceof Element
    ? [...(node.matches("details[data-key]") ? [node] : []), ...node.querySelectorAll("details[data-key]")]
    : [];

const keyed = (place, key) => (key ? place.querySelector(`[data-key="${CSS.escape(key)}"]`) : null);

/** Sets the options of a select, and leaves what was chosen. */
export function setOptions(select, rows) {
  const wanted = rows.map(([value, text]) => element("option", { value }, text));
  const held = [...select.options];
  if (held.length === wanted.length && held.every((one, at) => one.value === wanted[at].value)) return;
  const chosen = select.value;
  select.replaceChildren(...wanted);
  if (rows.some(([value]) => value === chosen)) select.value = chosen;
}

/** Asks before something is done; gives whether the answer was yes. */
export function confirmed(title, text, yes) {
  const dialog = byId("confirm");
  write(byId("confirm-title"), title);
  write(byId("confirm-text"), text);
  write(byId("confirm-yes"), yes);
  dialog.returnValue = "no";
  dialog.showModal();
  byId("confirm-no").focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
