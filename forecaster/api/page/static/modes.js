// What Tidecast may do for the chosen pool: shown, and changed after a question.

import { byId, confirmed, element, show, write } from "./dom.js";
import { poolPath, readWithTag, send } from "./service.js";
import { when } from "./times.js";
import { MODES } from "./words.js";

const WARNINGS = {
  act: "From the next cycle on it asks for nodes and gives nodes back, within the policy and its guards.",
  "forecast-only": "From the next cycle on it asks for nothing. Nodes that are on their way still come.",
  paused: "From the next cycle on it holds what there is, whatever is forecast or announced.",
};

let shownFor = null;
let touched = false;

/** Shows the mode; a choice that is not sent yet stays. */
export function showMode(pool, mode) {
  if (pool !== shownFor) touched = false;
  shownFor = pool;
  if (touched) return;
  const said = mode?.said_by ? `Set by ${mode.said_by} at ${when(mode.made_seconds)}${mode.reason ? `: ${mode.reason}` : ""}.` : "As the policy has it; nobody has set another.";
  const choices = Object.entries(MODES).map(([name, [title, text]]) => {
    const input = element("input", { type: "radio", name: "mode", value: name, "data-key": `mode ${name}` });
    return element("label", {}, input, element("span", {}, title), element("small", {}, text));
  });
  show(
    byId("pool-mode"),
    element("fieldset", { class: "modes" }, element("legend", { class: "unseen" }, "Mode"), ...choices),
    element("p", { class: "muted small" }, mode ? said : "Not known."),
    element("div", { class: "row" }, element("button", { "data-key": "mode change", disabled: !mode }, "Change")),
    element("p", { class: "problem", id: "mode-problem", role: "alert" }),
  );
  for (const input of byId("mode-form").elements.mode) input.checked = input.value === mode?.mode;
}

export function listenForModes(readAnew) {
  const form = byId("mode-form");
  form.addEventListener("change", () => (touched = true));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wanted = new FormData(form).get("mode");
    if (!wanted) return;
    const pool = shownFor;
    const yes = await confirmed(`${MODES[wanted][0]}: ${pool}?`, WARNINGS[wanted], MODES[wanted][0]);
    const problem = yes ? await changed(pool, wanted) : "";
    touched = false;
    await readAnew();
    write(byId("mode-problem"), problem);
  });
}

/** Sets the mode as it was last read; gives what went wrong, if anything. */
async function changed(pool, mode) {
  try {
    const path = `/modes/${poolPath(pool)}`;
    const { etag } = await readWithTag(path);
    await send("PUT", path, { mode, reason: "set on the page" }, { "If-Match": etag });
    return "";
  } catch (error) {
    return `It was not changed: ${error.message}.`;
  }
}
