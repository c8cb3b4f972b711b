// What it has learned: its score against ‘the same as now’, and the week’s tide.

import { byId, element, list, show, write } from "./dom.js";
import { drawScore } from "./plots.js";
import { chosenZone, hourOfWeek, lasting, nowSeconds } from "./times.js";
import { STANDINGS, gpus, number, percent } from "./words.js";

const LEVEL = "0.9";
const SPANS = { "1 h": "Last hour", "1 d": "Last day", "7 d": "Last week" };
const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const SHADES = 10;
const LEAST = 3; // scores that make a line

const nothing = (text) => element("p", { class: "muted" }, text);

/** What stands there before there is any pool. */
export function showNothingLearned() {
  write(byId("learned-of"), "");
  byId("score-plot").hidden = true;
  show(byId("score"), nothing("Nothing yet: there is no history."));
  show(byId("tide"), nothing("Nothing yet: there is no history."));
}

export async function showScore(one, scores) {
  write(byId("learned-of"), `About ${one.pool}.`);
  const { score } = one;
  if (!score) {
    byId("score-plot").hidden = true;
    show(byId("score"), nothing("Not known yet: a forecast is scored once its window has closed."));
    return;
  }
  const [level, standing] = STANDINGS[score.standing];
  show(
    byId("score"),
    element("p", { class: "number" }, verdict(score.spans["7 d"])),
    element("p", {}, element("span", { class: "tag", "data-level": level }, standing), ` for ${lasting(nowSeconds() - score.standing_since_seconds)}.`),
    list("ul", { class: "why" }, score.reasons),
    table(score.spans),
  );
  const over = scores?.scores ?? [];
  const known = over.filter((each) => typeof each.spans["7 d"]?.pinball_ratio[LEVEL] === "number");
  byId("score-plot").hidden = known.length < LEAST;
  if (known.length < LEAST) return;
  byId("score-plot").setAttribute("aria-label", `Loss over that of ‘the same as now’ through the last week, from ${known[0].spans["7 d"].pinball_ratio[LEVEL].toFixed(2)} to ${known.at(-1).spans["7 d"].pinball_ratio[LEVEL].toFixed(2)}; below 1 is better.`);
  await drawScore(byId("score-plot"), known, LEVEL);
}

function verdict(week) {
  const ratio = week?.pinball_ratio[LEVEL];
  if (typeof ratio !== "number") return "Whether it beats ‘the same as now’ is not known yet.";
  const off = Math.round(Math.abs(1 - ratio) * 100);
  const noise = week.ratio_error[LEVEL];
  const unsure = typeof noise === "number" && Math.abs(1 - ratio) < 2 * noise ? ", which may be chance" : "";
  if (!off) return "Over the last week it was as good as ‘the same as now’.";
  return `Over the last week it lost ${off} % ${ratio < 1 ? "less" : "more"} than ‘the same as now’${unsure}.`;
}

function table(spans) {
  const rows = Object.entries(SPANS).filter(([name]) => spans[name]).map(([name, title]) => {
    const span = spans[name];
    const ratio = span.pinball_ratio[LEVEL];
    const look = typeof ratio !== "number" || Math.abs(1 - ratio) < 0.02 ? "" : ratio < 1 ? "better" : "worse";
    return element("tr", {}, element("th", { scope: "row" }, title), element("td", { class: look }, typeof ratio === "number" ? ratio.toFixed(2) : "not known"), element("td", {}, percent(span.coverage[LEVEL])), element("td", {}, `${span.scored} of ${span.due}`));
  });
  const head = ["Span", "Loss", "Kept", "Scored"].map((text) => element("th", { scope: "col" }, text));
  const caption = "Peaks at the 0.9 quantile. Loss: that of ‘the same as now’ is 1, less is better. Kept: peaks at or below it; 90 % is right.";
  return element("div", { class: "scroll" }, element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
}

/** The usual demand of each hour of the week; an hour that was never observed is left empty. */
export function showTide(history) {
  const usual = byHourOfWeek(history.value?.steps ?? []);
  const known = [...usual.values()];
  if (!known.length) {
    show(byId("tide"), nothing(history.problem ? `Not known: ${history.problem}` : "Not known yet: there is no history."));
    return;
  }
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const shade = (value) => Math.min(SHADES - 1, Math.floor(((value - low) / (high - low || 1)) * SHADES));
  const now = hourOfWeek(nowSeconds());
  const hours = [...Array(24).keys()];
  const cell = (day, hour) => {
    const value = usual.get(day * 24 + hour);
    const said = `${DAYS[day]} ${String(hour).padStart(2, "0")}:00: ${value === undefined ? "not observed" : gpus(value)}`;
    const isNow = day === now.day && hour === now.hour;
    return element("td", { "data-share": value === undefined ? null : shade(value), class: isNow ? "now" : null, title: said }, element("span", { class: "unseen" }, value === undefined ? "not observed" : number(value)));
  };
  const head = hours.map((hour) => element("th", { scope: "col" }, element("span", { class: "unseen" }, `${hour}:00`), hour % 6 === 0 ? element("span", { "aria-hidden": "true" }, String(hour)) : null));
  const rows = DAYS.map((name, day) => element("tr", {}, element("th", { scope: "row" }, name), ...hours.map((hour) => cell(day, hour))));
  show(
    byId("tide"),
    element("p", {}, inWords(usual)),
    element("table", { class: "tide" }, element("caption", { class: "unseen" }, "Usual demand in GPUs by hour of the week"), element("thead", {}, element("tr", {}, element("td", {}), ...head)), element("tbody", {}, ...rows)),
    element("div", { class: "scale muted small", "aria-hidden": "true" }, number(low), element("span", { class: "ramp" }), gpus(high)),
    element("p", { class: "muted small" }, `Median of the last four weeks, in the time of ${chosenZone()}. This hour is framed.`),
  );
}

function byHourOfWeek(steps) {
  const seen = new Map();
  for (const step of steps) {
    if (step.demand_gpus === null) continue;
    const { day, hour } = hourOfWeek(step.time_seconds);
    const key = day * 24 + hour;
    if (!seen.has(key)) seen.set(key, []);
    seen.get(key).push(step.demand_gpus);
  }
  return new Map([...seen].map(([key, values]) => [key, median(values)]));
}

function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

function inWords(usual) {
  const sorted = [...usual].sort(([, one], [, other]) => one - other);
  const name = ([key, value]) => `${DAYS[Math.floor(key / 24)]} at ${String(key % 24).padStart(2, "0")}:00 (${gpus(value)})`;
  return `Highest on ${name(sorted.at(-1))}, lowest on ${name(sorted[0])}.`;
}
