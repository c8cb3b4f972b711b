// Is everything all right? One level and one sentence from all that is known; the worst finding
// speaks. It decides on values alone, and takes nothing unknown for good.

import { element, show, write, byId } from "./dom.js";
import { away, lasting, nowSeconds, when } from "./times.js";

const STALE_SECONDS = 900;
const LATE_SECONDS = 300;
const RANKS = ["bad", "unknown", "warn", "note"];
const GUARDS_OF_SCALE_DOWN = new Set(["cooldown", "quiet", "idle-nodes", "hysteresis", "floor"]);
const NO_HISTORY = { level: "unknown", sentence: "There is no history yet.", remedy: "tidecast doctor says whether Prometheus has any, and tidecast history pull brings it." };
const NO_PLAN = { level: "note", sentence: "No plan has been made yet.", remedy: "tidecast policy apply puts a policy into force; forecasts are made without one." };
const BROKEN = { failed: "failed", "timed-out": "took too long", interrupted: "was interrupted" };

/** What is wrong, worst first: `{level, sentence, remedy}` each. */
export function findings(known, now = nowSeconds()) {
  const pools = known.pools.value?.pools ?? null;
  const isEmpty = pools !== null && !pools.length;
  const found = [...unread(known), ...ofJobs(known.jobs.value, isEmpty ? "note" : "bad")];
  if (isEmpty) found.push(NO_HISTORY);
  else if (pools) found.push(...ofPools(pools, known.plan.value, now));
  found.push(...ofForecasts(known.forecasts.value, now));
  if (known.plan.value) found.push(...ofPlan(known.plan.value, now));
  else if (!known.plan.problem) found.push(NO_PLAN);
  return found.sort((one, other) => RANKS.indexOf(one.level) - RANKS.indexOf(other.level));
}

function unread(known) {
  return Object.values(known)
    .filter((part) => part.problem)
    .map((part) => ({ level: "unknown", sentence: `${part.name}: not known.`, remedy: part.problem }));
}

/** Jobs that failed; without any history most of them must, and that is said once. */
function ofJobs(answer, worst) {
  const failed = (answer?.jobs ?? []).filter((job) => job.last && BROKEN[job.last.standing]);
  return failed.map(({ job, last, next_due_seconds }) => ({
    level: last.standing === "interrupted" && worst === "bad" ? "warn" : worst,
    sentence: `The job ‘${job}’ ${BROKEN[last.standing]} at ${when(last.begun_seconds)}.`,
    remedy: `${closed(last.detail)} It is due again ${away(next_due_seconds)}; tidecast job run ${job} tries it at once.`.trim(),
  }));
}

const closed = (text) => (text && !/[.!?]$/.test(text) ? `${text}.` : text);

function ofForecasts(answer, now) {
  return (answer?.forecasts ?? [])
    .filter((one) => one.available && now - one.origin_seconds > STALE_SECONDS)
    .map((one) => ({ level: "bad", sentence: `The newest forecast of ${one.pool} is of ${when(one.origin_seconds)}.`, remedy: "The pool is sized by its queue meanwhile. The log of the job ‘forecast’ says why there is no newer one." }));
}

function ofPools(pools, plan, now) {
  const planned = new Set((plan?.pools ?? []).map((one) => one.pool));
  const isLive = (pool) => planned.has(pool.pool) || pool.has_forecast || pool.observed_seconds !== null;
  if (!pools.some(isLive)) {
    return [{ level: "bad", sentence: "No pool has fresh data, and none has a forecast.", remedy: "tidecast doctor says what is missing." }];
  }
  return pools.flatMap((pool) => [
    ...(isLive(pool) ? ofData(pool, now) : [{ level: "note", sentence: `${pool.pool} has not been heard of for an hour or more.`, remedy: "Nothing to do if its nodes are gone." }]),
    ...ofTrust(pool),
  ]);
}

function ofData(pool, now) {
  const remedy = "Without data it is sized by its queue or held. tidecast doctor says what Prometheus lacks.";
  if (pool.observed_seconds === null) {
    return [{ level: "bad", sentence: `${pool.pool} has no data of the last ${lasting(STALE_SECONDS)}.`, remedy }];
  }
  if (now - pool.observed_seconds > STALE_SECONDS) {
    return [{ level: "bad", sentence: `The data of ${pool.pool} ends at ${when(pool.observed_seconds)}.`, remedy }];
  }
  if (!pool.has_forecast) {
    return [{ level: "warn", sentence: `${pool.pool} has no forecast.`, remedy: "It is sized by its queue until there is one; its part below says why." }];
  }
  return [];
}

function ofTrust(pool) {
  if (pool.trust === "demote") {
    return [{ level: "warn", sentence: `The forecast of ${pool.pool} is demoted: it has lately been wrong too often.`, remedy: "The pool is sized by its queue until the score is good again; nothing needs to be done." }];
  }
  if (pool.trust === "caution") {
    return [{ level: "warn", sentence: `The forecast of ${pool.pool} is in caution.`, remedy: "It may add nodes and take none away until its score is better." }];
  }
  return [];
}

function ofPlan(plan, now) {
  const found = [];
  if (now - plan.made_seconds > LATE_SECONDS) {
    found.push({ level: "bad", sentence: `The last plan is of ${when(plan.made_seconds)}.`, remedy: "The cycle does not run; its job’s log says why." });
  }
  for (const warning of plan.warnings) {
    found.push({ level: "bad", sentence: "The cluster is not wholly in view.", remedy: warning });
  }
  for (const pool of plan.pools) {
    const doubt = pool.reasons.find((reason) => reason.code === "unknown-state");
    if (doubt) {
      found.push({ level: "bad", sentence: `${pool.pool} is not wholly in view.`, remedy: doubt.text });
    } else if (pool.held_back || pool.mode === "held") {
      const level = GUARDS_OF_SCALE_DOWN.has(pool.bound_by) ? "note" : "warn";
      const why = pool.reasons.find((reason) => reason.code === pool.bound_by) ?? pool.reasons.at(-1);
      found.push({ level, sentence: `A guard holds ${pool.pool} at ${pool.desired_nodes} nodes.`, remedy: why?.text ?? "" });
    }
    found.push(...pool.advice.map((line) => ({ level: "note", sentence: `${pool.pool}: ${line}`, remedy: "" })));
  }
  return found;
}

/** The sentence of a day on which nothing is wrong. */
function allIsWell(known) {
  const pools = known.pools.value.pools;
  const acting = pools.filter((pool) => pool.mode === "act").length;
  const some = pools.length === 1 ? "one pool" : `${pools.length} pools`;
  const doing = acting ? `Tidecast acts for ${acting} of ${some}.` : `Forecasts only for ${some}: nothing is touched.`;
  return `All is well. ${doing}`;
}

export function showLight(known) {
  const found = findings(known);
  const worst = found.find((one) => one.level !== "note");
  byId("light").dataset.level = worst?.level ?? "good";
  write(byId("light-sentence"), worst?.sentence ?? allIsWell(known));
  write(byId("light-remedy"), worst?.remedy ?? "");
  const rest = found.filter((one) => one !== worst);
  const items = rest.map((one) =>
    element("li", { "data-level": one.level === "note" ? "unknown" : one.level }, one.sentence, one.remedy ? element("p", { class: "muted small" }, one.remedy) : null),
  );
  const more = element("details", { "data-key": "findings" }, element("summary", { "data-key": "findings-summary" }, `${rest.length} more to know`), element("ul", { class: "findings" }, ...items));
  show(byId("light-more"), rest.length ? more : null);
}

/** The light of a service that does not answer: what stands on the page is old, and says so. */
export function showUnreachable(sinceSeconds) {
  byId("light").dataset.level = "bad";
  write(byId("light-sentence"), "The service does not answer.");
  const old = sinceSeconds === null ? "Nothing is known yet." : `What you see is from ${when(sinceSeconds)}.`;
  write(byId("light-remedy"), `${old} It is asked again every 30 seconds. Is tidecast serve running, and the network there?`);
  show(byId("light-more"));
}
