// Plots by plotly, which is loaded with the first of them. Their texts are numbers and times alone:
// plotly reads markup in labels, so no name from outside may get here.

import { clock, day, dayOnly, hourOfWeek } from "./times.js";
import { number } from "./words.js";

const HOUR = 3600;
const NARROW = 560;
let loading = null;

function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "/page/plotly.min.js";
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      loading = null;
      reject(new Error("the plots could not be loaded"));
    };
    document.head.append(script);
  });
  return loading;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Draws traces; colours are names of the page's own, so light and dark need no other plot. */
async function draw(place, traces, layout) {
  const { react } = await plotly();
  const font = { family: "inherit", size: 12, color: colour("--muted") };
  const axis = { gridcolor: colour("--line"), zeroline: false, fixedrange: true, automargin: true, tickangle: 0 };
  await react(
    place,
    traces,
    {
      paper_bgcolor: "transparent",
      plot_bgcolor: "transparent",
      showlegend: false,
      dragmode: false,
      hovermode: "x",
      hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--edge"), font: { ...font, color: colour("--ink") } },
      margin: { l: 8, r: 8, t: 8, b: 8 },
      font,
      ...layout,
      xaxis: { ...axis, showgrid: false, ...layout.xaxis },
      ...(layout.xaxis2 && { xaxis2: { ...axis, showgrid: false, ...layout.xaxis2 } }),
      yaxis: { ...axis, rangemode: "tozero", ...layout.yaxis },
    },
    { responsive: true, displayModeBar: false },
  );
}

const line = (x, y, name, look) => ({ type: "scatter", mode: "lines", x, y, line: { width: 2, color: colour(name), ...look } });

function band(x, low, high, fill) {
  return { type: "scatter", mode: "lines", x: [...x, ...[...x].reverse()], y: [...high, ...[...low].reverse()], fill: "toself", fillcolor: colour(fill), line: { width: 0 }, hoverinfo: "skip" };
}

/** Instants of full hours for an axis, as many as there is room for. */
function hourTicks(start, end, width) {
  const every = [3, 4, 6, 12, 24].find((hours) => ((end - start) / HOUR / hours) * 56 < width) ?? 24;
  const hours = [];
  for (let at = Math.ceil(start / HOUR) * HOUR; at <= end; at += HOUR) {
    if (hourOfWeek(at).hour % every === 0) hours.push(at);
  }
  return { tickvals: hours, ticktext: hours.map((at) => (hourOfWeek(at).hour === 0 ? dayOnly(at) : clock(at))) };
}

function dayTicks(start, end, width) {
  const days = [];
  for (let at = Math.ceil(start / HOUR) * HOUR; at <= end; at += HOUR) {
    if (hourOfWeek(at).hour === 0) days.push(at);
  }
  const every = Math.max(1, Math.ceil((days.length * 84) / width));
  const shown = days.filter((_, index) => index % every === 0);
  return { tickvals: shown, ticktext: shown.map(day) };
}

function quarterTicks(start, end, width) {
  const every = width > 320 ? 900 : width > 180 ? 1800 : HOUR;
  const quarters = [];
  for (let at = Math.ceil(start / every) * every; at <= end; at += every) quarters.push(at);
  return { tickvals: quarters, ticktext: quarters.map(clock) };
}

const upright = (at, look) => ({ type: "line", xref: "x2", x0: at, x1: at, yref: "paper", y0: 0, y1: 1, line: look });

/** The last day of a pool, and beside it on a wider scale the next hour. */
export async function drawPool(place, { steps, stepSeconds, forecast, planned, action, floods, now }) {
  const day = [now - 24 * HOUR, now];
  const ahead = [now - HOUR / 2, now + HOUR];
  const closes = steps.map((step) => step.time_seconds + stepSeconds);
  const at = (name) => steps.map((step) => step[name]);
  const past = [
    { ...line(closes, at("capacity_gpus"), "--capacity", { shape: "hv" }), hovertemplate: "capacity %{y:.0f}<extra></extra>" },
    { ...line(closes, at("demand_gpus"), "--ink"), text: closes.map(clock), hovertemplate: "%{text}<br>demand %{y:.0f}<extra></extra>" },
  ];
  const next = [...(forecast ? bands(forecast) : []), ...past];
  if (planned) next.push({ ...line(planned.x, planned.y, "--capacity", { shape: "hv", dash: "dot" }), hovertemplate: "capacity as planned %{y:.0f}<extra></extra>" });
  const shapes = floods.flatMap((one) => [shaded(one, day, "x"), shaded(one, ahead, "x2")]).filter(Boolean);
  shapes.push(upright(now, { width: 1, color: colour("--edge") }));
  if (action) shapes.push(upright(action.at_seconds, { width: 2, dash: "dot", color: colour("--action") }));
  const [left, right] = place.clientWidth < NARROW ? [[0, 0.45], [0.52, 1]] : [[0, 0.6], [0.64, 1]];
  const width = (domain) => (domain[1] - domain[0]) * place.clientWidth;
  await draw(place, [...past, ...next.map((trace) => ({ ...trace, xaxis: "x2" }))], {
    shapes,
    margin: { l: 8, r: 8, t: 28, b: 8 },
    annotations: [title("The last 24 hours", left), title("The next hour", right)],
    xaxis: { domain: left, range: day, ...hourTicks(...day, width(left)) },
    xaxis2: { domain: right, range: ahead, ...quarterTicks(...ahead, width(right)) },
    yaxis: { title: { text: "GPUs", standoff: 8 }, nticks: 6 },
  });
}

const title = (text, [left]) => ({ text, x: left, y: 1, xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom", showarrow: false, yshift: 6 });

/** The part of an announcement that lies within a stretch; null where none does. */
function shaded(said, [start, end], axis) {
  const [x0, x1] = [Math.max(said.start_seconds, start), Math.min(said.end_seconds, end)];
  return x0 < x1 ? { type: "rect", xref: axis, x0, x1, yref: "paper", y0: 0, y1: 1, fillcolor: colour("--flood"), line: { width: 0 }, layer: "below" } : null;
}

function bands(forecast) {
  const x = [forecast.origin_seconds, ...forecast.path.map((step) => forecast.origin_seconds + step.seconds_ahead)];
  const level = (name) => [forecast.now_gpus, ...forecast.path.map((step) => step.demand_gpus[name])];
  const [low, quarter, median, threeQuarters, high] = ["0.1", "0.25", "0.5", "0.75", "0.9"].map(level);
  const text = x.map((at, index) => `${clock(at)}<br>median ${number(median[index])}<br>0.1 to 0.9: ${number(low[index])} to ${number(high[index])}`);
  return [
    band(x, low, high, "--band-wide"),
    band(x, quarter, threeQuarters, "--band-narrow"),
    { ...line(x, median, "--tide", { dash: "dash" }), text, hovertemplate: "%{text}<extra></extra>" },
  ];
}

/** The ratio of losses over time; below 1 the forecast is better than ‘the same as now’. */
export async function drawScore(place, scores, level) {
  const x = scores.map((score) => score.scored_seconds);
  const y = scores.map((score) => score.spans["7 d"]?.pinball_ratio[level] ?? null);
  const known = y.filter((value) => value !== null);
  const [low, high] = [Math.min(...known, 0.9), Math.max(...known, 1.1)];
  await draw(place, [{ ...line(x, y, "--tide"), text: x.map((at) => `${day(at)}, ${clock(at)}`), hovertemplate: "%{text}<br>%{y:.2f} of the loss<extra></extra>" }], {
    shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: 1, y1: 1, line: { width: 1, dash: "dash", color: colour("--edge") } }],
    xaxis: { ...dayTicks(x[0], x.at(-1), place.clientWidth) },
    yaxis: { rangemode: "normal", range: [low - 0.03, high + 0.03], nticks: 4 },
  });
}
