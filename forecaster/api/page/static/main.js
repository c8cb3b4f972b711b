// The page: reads everything every 30 seconds and shows what changed. Each part stands for itself;
// one that cannot be read says so, and the others are there all the same.

import { listenForAnnouncements, moveFields, offerPools as offerToAnnounce, showStanding } from "./announce.js";
import { forgetDecisions, listenForFilters, offerPools as offerToFilter, readDecisions } from "./decisions.js";
import { byId, write } from "./dom.js";
import { showNothingLearned, showScore, showTide } from "./learned.js";
import { showLight, showUnreachable } from "./light.js";
import { listenForModes, showMode } from "./modes.js";
import { gathered, showPlot, showPool, showPools } from "./pools.js";
import { Unreachable, forgetToken, keepToken, poolPath, read } from "./service.js";
import { chooseZone, chosenZone, clock, clusterZone, isoOf, nowSeconds, viewerZone } from "./times.js";

const EVERY_MS = 30_000;
const HOUR = 3600;
const TIDE_SECONDS = 28 * 24 * HOUR;
const TIDE_FRESH_SECONDS = 900;
const PARTS = { pools: "Pools", forecasts: "Forecasts", plan: "Plan", scores: "Scores", jobs: "Jobs", announced: "Announcements", modes: "Modes" };

let known = null;
let knownSeconds = null;
let chosen = null;
let tide = null; // {pool, readSeconds, part}
let reading = Promise.resolve();
let isReading = false;

/** An answer, or why there is none; only what the whole page lacks is an error. */
async function part(name, answer) {
  try {
    return { name, value: await answer, problem: null };
  } catch (error) {
    if (error instanceof Unreachable || error.status === 401) throw error;
    return { name, value: null, problem: error.message };
  }
}

/** The newest plan; null before the first, for which no error needs to be met. */
async function readPlan() {
  const later = await read("/scheduled-actions");
  return later.made_seconds === null ? null : read("/plan");
}

async function readAll() {
  const answers = {
    pools: read("/pools"),
    forecasts: read("/forecasts"),
    plan: readPlan(),
    scores: read("/scores"),
    jobs: read("/jobs"),
    announced: read("/announcements", { active: true, limit: 100 }),
    modes: read("/modes"),
  };
  const parts = await Promise.all(Object.entries(answers).map(async ([key, answer]) => [key, await part(PARTS[key], answer)]));
  return Object.fromEntries(parts);
}

/** Reads and shows everything, after what is being read already: that may be older than what was done. */
function readAnew() {
  reading = reading.then(readAndShow);
  return reading;
}

async function readAndShow() {
  isReading = true;
  try {
    known = await readAll();
    knownSeconds = nowSeconds();
    byId("token-form").hidden = true;
    byId("content").hidden = false;
    showAll();
    await Promise.all([showChosen(), readDecisions()]);
  } catch (error) {
    failed(error);
  }
  isReading = false;
}

function showAll() {
  const names = (known.pools.value?.pools ?? []).map((pool) => pool.pool);
  if (!names.includes(chosen)) chosen = names.includes(fromAddress()) ? fromAddress() : firstOf(names);
  showLight(known);
  showPools(known, chosen, choose);
  showStanding(known.announced, readAnew);
  offerToFilter(names);
  offerToAnnounce(names);
  write(byId("fresh"), `as of ${clock(knownSeconds)}`);
  write(byId("footer-zone"), `Times in ${chosenZone()}; explanations of decisions in ${clusterZone}.`);
}

/** Shows the chosen pool, and reads what only it needs. */
async function showChosen() {
  if (chosen === null) {
    byId("pool").hidden = true;
    showNothingLearned();
    return;
  }
  const pool = chosen;
  const one = gathered(known, pool);
  showPool(one);
  showMode(pool, known.modes.value?.modes.find((mode) => mode.pool === pool) ?? null);
  const [history, scores, week] = await Promise.all([
    part("History", read(`/history/${poolPath(pool)}`)),
    part("Scores", read(`/scores/${poolPath(pool)}`)),
    readTide(pool),
  ]);
  if (pool !== chosen) return; // another was chosen meanwhile
  showTide(week);
  await Promise.all([showPlot(one, history), showScore(one, scores.value)]).catch((error) => write(byId("pool-caption"), error.message));
}

async function readTide(pool) {
  if (tide?.pool !== pool || nowSeconds() - tide.readSeconds > TIDE_FRESH_SECONDS) {
    const query = { since: isoOf(nowSeconds() - TIDE_SECONDS), step_seconds: HOUR, limit: 1000 };
    tide = { pool, readSeconds: nowSeconds(), part: await part("History", read(`/history/${poolPath(pool)}`, query)) };
  }
  return tide.part;
}

/** The pool to begin with: the plan's first, which is the one that nodes are asked for. */
const firstOf = (names) => known.plan.value?.pools.map((pool) => pool.pool).find((pool) => names.includes(pool)) ?? names[0] ?? null;

const fromAddress = () => new URLSearchParams(location.search).get("pool");

function choose(pool) {
  chosen = pool;
  const address = new URL(location.href);
  address.searchParams.set("pool", pool);
  history.replaceState(null, "", address);
  showPools(known, chosen, choose);
  showChosen().catch(failed);
}

function askForToken() {
  const isRefused = sessionStorage.length > 0 && byId("token").value !== "";
  byId("content").hidden = true;
  byId("token-form").hidden = false;
  write(byId("token-problem"), isRefused ? "This token does not count. Is it whole, and still valid?" : "");
  forgetToken();
  byId("token").focus();
}

function failed(error) {
  if (error instanceof Unreachable) showUnreachable(knownSeconds);
  else if (error.status === 401) askForToken();
  else console.error(error);
}

function listenForToken() {
  byId("token-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    keepToken(byId("token").value.trim());
    await readAnew();
    if (!byId("content").hidden) byId("token").value = "";
  });
}

function listenForZone() {
  const same = viewerZone === clusterZone;
  byId("zones").hidden = same;
  byId("zone-viewer").title = viewerZone;
  byId("zone-cluster").title = clusterZone;
  const [viewer, cluster] = document.getElementsByName("zone");
  cluster.checked = !same && chosenZone() === clusterZone;
  viewer.checked = !cluster.checked;
  byId("zones").addEventListener("change", (event) => {
    chooseZone(event.target.value);
    moveFields();
    forgetDecisions();
    if (known) {
      showAll();
      showChosen().catch(failed);
      readDecisions();
    }
  });
}

function listenForTheWorld() {
  const redraw = () => known && showChosen().catch(failed);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const look = () => document.hidden || isReading || readAnew();
  setInterval(look, EVERY_MS);
  document.addEventListener("visibilitychange", look);
}

listenForToken();
listenForZone();
listenForModes(readAnew);
listenForFilters();
listenForAnnouncements(readAnew);
listenForTheWorld();
await readAnew();
