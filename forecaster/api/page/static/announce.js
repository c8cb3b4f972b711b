// Announcing a flood: said, looked at, then sent. Only what was previewed can be sent, and sending
// it twice is sending it once.

import { byId, confirmed, element, setOptions, show, write } from "./dom.js";
import { freshKey, send } from "./service.js";
import { chosenZone, clusterZone, fieldOf, instantOf, isoOf, nowSeconds, span, when } from "./times.js";
import { NOT_KNOWN, amount, gpus, nodes } from "./words.js";

const LEVEL = "0.9";
const HOUR = 3600;
const AMOUNTS = { extra: "GPUs more", absolute: "GPUs in all", factor: "Times the usual" };
const TIMES_SHOWN = 3;

let previewed = null; // {body, key}: what was looked at last, and may be sent
let fieldZone = chosenZone();

export function offerPools(pools) {
  setOptions(byId("say-pool"), [["", "every pool"], ...pools.map((pool) => [pool, pool])]);
}

/** What is announced, with a way to call off what people announced. */
export function showStanding(announced, readAnew) {
  const said = announced.value?.announcements ?? [];
  if (!said.length) {
    show(byId("standing"), element("p", { class: "muted" }, announced.problem ? `Not known: ${announced.problem}` : "Nothing."));
    return;
  }
  const more = announced.value.cursor === null ? null : element("p", { class: "muted small" }, "Older ones are left out; tidecast announce list has all.");
  show(byId("standing"), element("ul", { class: "said" }, ...said.map((one) => standing(one, readAnew))), more);
}

function standing(one, readAnew) {
  const again = one.recurrence ? `, again by ${one.recurrence.rule}` : "";
  const who = [one.reason, one.owner, one.source === "person" ? "" : `from ${one.source}`].filter(Boolean).join(", ");
  const cancel = element("button", { type: "button", class: "plain", "data-key": `cancel ${one.identifier}`, "aria-label": `Call off: ${amount(one)} for ${one.pool ?? "every pool"}, ${span(one.start_seconds, one.end_seconds)}`, onclick: () => callOff(one, readAnew) }, "Call off");
  return element(
    "li",
    {},
    element("span", { class: "number" }, `${one.pool ?? "Every pool"}: ${amount(one)}`),
    element("span", {}, `${span(one.start_seconds, one.end_seconds)}${again}`),
    element("span", { class: "muted small" }, who),
    one.source === "person" ? cancel : null,
  );
}

async function callOff(one, readAnew) {
  const text = `${amount(one)} for ${one.pool ?? "every pool"}, ${span(one.start_seconds, one.end_seconds)}. It stays on record.`;
  if (!(await confirmed("Call this announcement off?", text, "Call it off"))) return;
  try {
    await send("DELETE", `/announcements/${encodeURIComponent(one.identifier)}`, undefined, { "If-Match": `"${one.version}"` });
    write(byId("announce-state"), "It is called off.");
  } catch (error) {
    write(byId("announce-problem"), `It was not called off: ${error.message}.`);
  }
  await readAnew();
  byId("standing-title").setAttribute("tabindex", "-1");
  byId("standing-title").focus({ preventScroll: true });
}

export function listenForAnnouncements(readAnew) {
  const form = byId("announce-form");
  propose();
  form.addEventListener("input", () => {
    write(byId("say-amount-label"), AMOUNTS[form.elements.kind.value]);
    forgetPreview();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    preview(form);
  });
  byId("send").addEventListener("click", () => announce(form, readAnew));
}

/** Shows the fields' times in the zone that was chosen, as the same instants. */
export function moveFields() {
  const zone = chosenZone();
  for (const field of [byId("say-start"), byId("say-end")]) {
    const instant = instantOf(field.value, fieldZone);
    if (instant !== null) field.value = fieldOf(instant, zone);
  }
  fieldZone = zone;
  write(byId("say-zone"), `In the time of ${zone}.`);
}

/** The next full hour, for two hours. */
function propose() {
  const start = Math.ceil((nowSeconds() + 600) / HOUR) * HOUR;
  byId("say-start").value = fieldOf(start);
  byId("say-end").value = fieldOf(start + 2 * HOUR);
  write(byId("say-zone"), `In the time of ${chosenZone()}.`);
}

function forgetPreview() {
  previewed = null;
  byId("effect").hidden = true;
  byId("send-row").hidden = true;
  write(byId("announce-problem"), "");
  write(byId("announce-state"), "");
}

function bodyOf(form) {
  const said = Object.fromEntries(new FormData(form));
  const start = instantOf(said.start);
  const end = instantOf(said.end);
  if (start === null || end === null) throw new Error("say from when to when");
  if (end <= start) throw new Error("it ends before it begins; give an end after the start");
  const body = { start: isoOf(start), end: isoOf(end), kind: said.kind, amount: Number(said.amount), reason: said.reason.trim(), certainty: Number(said.certainty) / 100 };
  if (said.pool) body.pool = said.pool;
  if (said.owner.trim()) body.owner = said.owner.trim();
  if (said.rule.trim()) body.recurrence = { rule: said.rule.trim(), time_zone: clusterZone };
  return body;
}

async function preview(form) {
  forgetPreview();
  try {
    const body = bodyOf(form);
    const effect = await send("POST", "/announcements/preview", body);
    previewed = { body, key: freshKey() };
    show(byId("effect"), ...effectOf(effect));
    byId("effect").hidden = false;
    byId("send-row").hidden = false;
    byId("effect").focus({ preventScroll: true });
    byId("send-row").scrollIntoView({ block: "nearest" });
  } catch (error) {
    write(byId("announce-problem"), `${error.message}.`);
  }
}

async function announce(form, readAnew) {
  if (!previewed) return;
  const button = byId("send");
  button.disabled = true;
  try {
    await send("POST", "/announcements", previewed.body, { "Idempotency-Key": previewed.key });
    form.reset();
    forgetPreview();
    propose();
    write(byId("say-amount-label"), AMOUNTS.extra);
    write(byId("announce-state"), "It is announced. The next forecast and plan count with it.");
    byId("say-pool").focus({ preventScroll: true });
    await readAnew();
  } catch (error) {
    write(byId("announce-problem"), `It is not certain that it was kept: ${error.message}. Sending it again is safe.`);
  }
  button.disabled = false;
}

function effectOf(effect) {
  const shown = effect.times.slice(0, TIMES_SHOWN).map((time) => span(time.start_seconds, time.end_seconds));
  const rest = effect.times.length - shown.length;
  const times = shown.length ? `It comes ${shown.join("; ")}${rest > 0 ? `, and ${rest} times more` : ""}.` : "It does not come within a year.";
  return [element("p", {}, times), ...effect.pools.map(onPool), effect.pools.length ? null : element("p", {}, "No pool is known that it would change.")];
}

function onPool(one) {
  const rows = [
    ["Demand it speaks of", gpus(one.announced_gpus)],
    ["Peak ahead, 9 of 10", one.peak_gpus ? beforeAndAfter(gpus(one.peak_gpus[LEVEL]), gpus(one.peak_gpus_with?.[LEVEL])) : NOT_KNOWN],
    ["Nodes it takes", one.announced_nodes === null ? "not known: no policy has the pool" : `${nodes(one.announced_nodes)} (now ${one.desired_nodes ?? NOT_KNOWN}, at most ${one.ceiling_nodes ?? NOT_KNOWN})`],
    ["Asked for", one.asked_for_seconds === null ? NOT_KNOWN : one.asked_for_seconds <= nowSeconds() ? "at once" : `at ${when(one.asked_for_seconds)}`],
  ];
  const body = rows.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)));
  return element("table", {}, element("caption", { class: "number" }, one.pool), element("tbody", {}, ...body));
}

const beforeAndAfter = (before, after) => (before === after ? `${before}, as without it` : `${before} → ${after}`);
