// The pools: a list to choose from, and the chosen one closer.

import { byId, element, list, show, write } from "./dom.js";
import { drawPool } from "./plots.js";
import { away, clock, nowSeconds, span, when } from "./times.js";
import { LED_TO_IT, MODES, NOT_KNOWN, PARTS, STANDINGS, amount, change, gpus, nodes, number, signed } from "./words.js";

const SIZING = "0.9";
const of = (answer, key, pool) => answer?.[key].find((one) => one.pool === pool) ?? null;

/** What is known of one pool, from every answer. */
export function gathered(known, pool) {
  const said = of(known.forecasts.value, "forecasts", pool);
  return {
    pool,
    now: of(known.pools.value, "pools", pool),
    forecast: said?.available ? said : null,
    whyNone: said && !said.available ? said.reason : (known.forecasts.problem ?? "none has been made yet"),
    plan: of(known.plan.value, "pools", pool),
    score: of(known.scores.value, "scores", pool),
    announced: (known.announced.value?.announcements ?? []).filter((one) => isAbout(one, pool)),
  };
}

const isAbout = (said, pool) => said.pool === null || said.pool === pool || pool.startsWith(`${said.pool}/`);

export function showPools(known, chosen, choose) {
  const rows = (known.pools.value?.pools ?? []).map((pool) => row(gathered(known, pool.pool), chosen, choose));
  if (!rows.length) rows.push(element("li", { class: "muted" }, known.pools.problem ?? "There is no pool yet: the history is empty."));
  show(byId("pool-list"), ...rows);
}

function row(one, chosen, choose) {
  const { now, plan } = one;
  const peak = one.forecast ? gpus(one.forecast.peak_gpus[SIZING]) : NOT_KNOWN;
  const [level, trust] = STANDINGS[now.trust] ?? ["unknown", "not scored yet"];
  const tags = element("span", { class: "tags" }, element("span", { class: "tag" }, MODES[now.mode][0]), element("span", { class: "tag", "data-level": level }, trust));
  const press = { type: "button", "aria-pressed": String(one.pool === chosen), "data-key": `pool ${one.pool}`, onclick: () => choose(one.pool) };
  const lines = [
    `Demand ${number(now.demand_gpus)} of ${gpus(now.capacity_gpus)}`,
    `Peak ahead ${peak}`,
    plan ? change(plan.current_nodes, plan.desired_nodes) : "No plan",
  ];
  const [first, ...rest] = lines.map((line) => element("span", { class: "small" }, line));
  return element("li", {}, element("button", press, element("strong", {}, one.pool), first, bar(now.demand_gpus, now.capacity_gpus), ...rest, tags));
}

/** A bar as long as the share; none where that is not known. */
function bar(part, whole, look = "") {
  if (typeof part !== "number" || typeof whole !== "number" || whole <= 0) return null;
  const filled = element("span", { class: look });
  filled.style.width = `${Math.round(Math.min(1, Math.max(0, part / whole)) * 100)}%`;
  return element("span", { class: "use", "aria-hidden": "true" }, filled);
}

export function showPool(one) {
  byId("pool").hidden = false;
  write(byId("pool-name"), one.pool);
  write(byId("pool-sentence"), one.forecast ? one.forecast.sentence : `There is no forecast: ${one.whyNone}`);
  show(byId("pool-plan"), ...planned(one.plan));
  show(byId("pool-parts"), ...parts(one));
  show(byId("pool-announced"), announcedList(one.announced));
}

function planned(plan) {
  if (!plan) return [element("p", { class: "muted" }, "No plan has this pool. A policy that names it changes that.")];
  const figures = [
    ["Nodes", change(plan.current_nodes, plan.desired_nodes)],
    ["Sized", LED_TO_IT[plan.mode] ?? plan.mode],
    ["Needed", plan.needed_by_seconds === null ? "nothing asked for" : `by ${when(plan.needed_by_seconds)}`],
  ];
  if (plan.scheduled) figures.push(["Later", `${nodes(plan.scheduled.desired_nodes)} ${away(plan.scheduled.at_seconds)}`]);
  return [
    element("dl", { class: "figures" }, ...figures.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)))),
    plan.operating_mode === "act" ? null : element("p", { class: "muted" }, "It is only said, not done: Tidecast may not act for this pool."),
    plan.reasons.length ? list("ol", { class: "why" }, plan.reasons.map((reason) => reason.text)) : null,
    ...plan.advice.map((line) => element("p", {}, line)),
  ];
}

function parts({ forecast, whyNone }) {
  if (!forecast) return [element("p", { class: "muted" }, `Not known: ${whyNone}`)];
  const minutes = forecast.peak_window_seconds / 60;
  const said = Object.entries(forecast.explanation_gpus);
  const largest = Math.max(...said.map(([, value]) => Math.abs(value)), 1);
  const rows = said.map(([name, value]) =>
    element("div", { class: "part" }, element("dt", {}, PARTS[name] ?? name), element("dd", { class: "number" }, name === "now" ? number(value) : signed(value)), bar(Math.abs(value), largest, value < 0 ? "less" : "")),
  );
  const total = (name, level) => element("div", { class: "part total" }, element("dt", {}, name), element("dd", {}, gpus(forecast.peak_gpus[level])));
  return [
    element("dl", { class: "parts" }, ...rows, total(`Median peak of the next ${minutes} min`, "0.5"), total("Stays below in 9 of 10 cases", SIZING)),
    element("p", { class: "muted small" }, `By ${forecast.model_name} ${forecast.model_version}, from data up to ${when(forecast.origin_seconds)}.`),
    ...forecast.notes.map((note) => element("p", { class: "muted small" }, note)),
  ];
}

function announcedList(announced) {
  if (!announced.length) return element("p", { class: "muted" }, "Nothing is announced.");
  return element("ul", { class: "said" }, ...announced.map((said) =>
    element("li", {}, element("span", { class: "number" }, amount(said)), element("span", {}, `${span(said.start_seconds, said.end_seconds)}${said.recurrence ? `, again by ${said.recurrence.rule}` : ""}`), element("span", { class: "muted small" }, [said.reason, said.owner].filter(Boolean).join(", "))),
  ));
}

/** The plot of the chosen pool, and the same in words. */
export async function showPlot(one, history) {
  const steps = history.value?.steps ?? [];
  const now = one.forecast?.origin_seconds ?? nowSeconds();
  const action = one.plan?.scheduled ?? null;
  const capacity = plannedCapacity(one.plan, now);
  const floods = one.announced.filter((said) => !said.recurrence);
  const keys = [["", "demand"], ["capacity", "capacity"]];
  if (one.forecast) keys.push(["median", "median ahead"], ["narrow-band", "0.25 to 0.75"], ["wide-band", "0.1 to 0.9"]);
  if (capacity) keys.push(["planned", "capacity as planned"]);
  if (action) keys.push(["action", `${nodes(action.desired_nodes)} asked for at ${clock(action.at_seconds)}`]);
  if (floods.length) keys.push(["flood", "announced"]);
  show(byId("pool-legend"), ...keys.map(([look, text]) => element("span", { class: `key ${look}` }, text)));
  write(byId("pool-caption"), history.problem ? `The history is not known: ${history.problem}` : inWords(one, steps));
  byId("pool-plot").setAttribute("aria-label", `The last 24 hours and the next 60 minutes. ${byId("pool-caption").textContent}`);
  await drawPool(byId("pool-plot"), { steps, stepSeconds: history.value?.step_seconds ?? 300, forecast: one.forecast, planned: capacity, action, floods, now });
}

/** Capacity ahead if the plan is followed; null where the plan does not say, or changes nothing. */
function plannedCapacity(plan, now) {
  const { capacity_gpus: held, capacity_nodes: count } = plan?.seen ?? {};
  if (!(held > 0) || !(count > 0)) return null;
  const steps = [[plan.needed_by_seconds, plan.desired_nodes], [plan.scheduled?.needed_by_seconds, plan.scheduled?.desired_nodes]];
  const known = steps.filter(([at]) => typeof at === "number");
  if (!known.length) return null;
  const gpusThen = known.map(([, wanted]) => (wanted * held) / count);
  return { x: [now, ...known.map(([at]) => at), now + 3600], y: [held, ...gpusThen, gpusThen.at(-1)] };
}

function inWords(one, steps) {
  const demand = steps.map((step) => step.demand_gpus).filter((value) => value !== null);
  if (!demand.length) return "No demand was observed in the last 24 hours.";
  const was = `In the last 24 hours demand was between ${number(Math.min(...demand))} and ${gpus(Math.max(...demand))}`;
  const lost = steps.length - demand.length;
  const gaps = lost ? `; ${lost} of ${steps.length} steps were not observed` : "";
  if (!one.forecast) return `${was}${gaps}. What comes is not known.`;
  const last = one.forecast.path.at(-1).demand_gpus;
  return `${was}${gaps}. In an hour it is likely between ${number(last["0.1"])} and ${gpus(last["0.9"])}.`;
}
