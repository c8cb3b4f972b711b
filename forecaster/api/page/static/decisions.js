// The decisions on record: newest first, filtered by the service, each opening into its explanation.

import { byId, element, list, setOptions, show, write } from "./dom.js";
import { read } from "./service.js";
import { instantOf, isoOf, when } from "./times.js";
import { LED_TO_IT, change } from "./words.js";

const PER_PAGE = 10;
const DAY = 86_400;
const STORIES = [["decided", "Decided"], ["seen", "What was seen"], ["policy", "Policy"], ["why", "Why"], ["happened", "What became of it"]];
const STANDINGS = { open: "not yet known what became of it", abandoned: "never known what became of it" };

let cursor = null;
let isWhole = true; // whether the list is only the newest page, which is read anew by itself

export function offerPools(pools) {
  setOptions(byId("filter-pool"), [["", "all"], ...pools.map((pool) => [pool, pool])]);
}

/** Reads the newest page anew; what is open stays open, and older pages that were asked for stay. */
export async function readDecisions() {
  const asked = query();
  try {
    const page = await read("/audit", { ...asked, limit: PER_PAGE });
    if (JSON.stringify(asked) !== JSON.stringify(query())) return; // the filter changed meanwhile
    const known = new Set(page.decisions.map((one) => one.identifier));
    const older = isWhole ? [] : [...byId("decision-list").children].filter((row) => !known.has(row.dataset.key));
    place(page.decisions, older);
    if (isWhole) follow(page.cursor);
    write(byId("decisions-state"), page.decisions.length ? "" : none(asked));
  } catch (error) {
    write(byId("decisions-state"), `Not known: ${error.message}`);
  }
}

function none(asked) {
  const isFiltered = Object.values(asked).some((value) => value !== "");
  return `${isFiltered ? "No decision fits." : "No decision yet."} Only those that asked for something, or were held back from it, are put on record.`;
}

export function listenForFilters() {
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("change", () => {
    isWhole = true;
    byId("decision-list").replaceChildren();
    readDecisions();
  });
  byId("older").addEventListener("click", readOlder);
}

/** Writes the times anew, in another zone; explanations stay in the cluster's. */
export function forgetDecisions() {
  isWhole = true;
  byId("decision-list").replaceChildren();
}

async function readOlder() {
  const button = byId("older");
  button.disabled = true;
  try {
    const page = await read("/audit", { ...query(), cursor, limit: PER_PAGE });
    isWhole = false;
    const rows = page.decisions.map(row);
    byId("decision-list").append(...rows);
    rows[0]?.querySelector("summary").focus();
    follow(page.cursor);
  } catch (error) {
    write(byId("decisions-state"), `Older ones are not known: ${error.message}`);
  }
  button.disabled = false;
}

function follow(next) {
  cursor = next;
  byId("older").hidden = next === null;
}

function query() {
  const { since, until, ...rest } = Object.fromEntries(new FormData(byId("filters")));
  const begin = instantOf(`${since}T00:00`);
  const end = instantOf(`${until}T00:00`);
  return { ...rest, since: begin === null ? "" : isoOf(begin), until: end === null ? "" : isoOf(end + DAY) };
}

/** Puts decisions in their order; a row that is there already is only written anew. */
function place(decisions, older) {
  const held = new Map([...byId("decision-list").children].map((row) => [row.dataset.key, row]));
  const rows = decisions.map((one) => {
    const there = held.get(one.identifier);
    if (!there) return row(one);
    show(there.querySelector("summary"), ...summary(one));
    return there;
  });
  const wanted = [...rows, ...older];
  wanted.forEach((node, index) => {
    const there = byId("decision-list").children[index];
    if (there !== node) byId("decision-list").insertBefore(node, there ?? null);
  });
  while (byId("decision-list").children.length > wanted.length) byId("decision-list").lastChild.remove();
}

function row(one) {
  const story = element("div", { class: "story" }, element("p", { class: "muted" }, "Reading …"));
  const details = element("details", {}, element("summary", {}, ...summary(one)), story);
  details.addEventListener("toggle", () => details.open && explain(one.identifier, story));
  return element("li", { "data-key": one.identifier }, details);
}

function summary(one) {
  const tags = [LED_TO_IT[one.mode] ?? one.mode];
  if (one.held_back) tags.push("held back");
  if (one.is_shadow) tags.push("only tried");
  if (STANDINGS[one.standing]) tags.push(STANDINGS[one.standing]);
  return [
    element("span", { class: "muted" }, when(one.made_seconds)),
    element("span", {}, one.pool),
    element("span", { class: "number" }, change(one.current_nodes, one.desired_nodes)),
    element("span", { class: "tags" }, ...tags.map((tag) => element("span", { class: "tag" }, tag))),
  ];
}

async function explain(identifier, story) {
  try {
    const told = await read(`/audit/${encodeURIComponent(identifier)}/explanation`);
    const parts = STORIES.map(([key, title]) => {
      const lines = [told[key]].flat();
      return element("div", {}, element("h3", { class: "small muted" }, title), lines.length === 1 ? element("p", {}, lines[0]) : list("ul", {}, lines));
    });
    show(story, ...parts);
  } catch (error) {
    show(story, element("p", { class: "problem" }, `Not known: ${error.message}`));
  }
}
