// Numbers and names as people read them. What is not known says so, and is never 0.

export const NOT_KNOWN = "not known";

const isKnown = (value) => typeof value === "number" && Number.isFinite(value);

export function number(value) {
  if (!isKnown(value)) return NOT_KNOWN;
  const rounded = Math.abs(value) < 10 ? Math.round(value * 10) / 10 : Math.round(value);
  return (rounded === 0 ? 0 : rounded).toLocaleString("en-GB");
}

export const gpus = (value) => (isKnown(value) ? `${number(value)} GPU${number(value) === "1" ? "" : "s"}` : NOT_KNOWN);
export const nodes = (value) => (isKnown(value) ? `${value} node${value === 1 ? "" : "s"}` : NOT_KNOWN);
export const percent = (share) => (isKnown(share) ? `${Math.round(share * 100)} %` : NOT_KNOWN);
export const signed = (value) => (isKnown(value) && value > 0 ? `+${number(value)}` : number(value));
export const change = (from, to) => (from === to ? nodes(from) : `${number(from)} → ${nodes(to)}`);

export const MODES = {
  "forecast-only": ["Forecast only", "It plans and says so, and asks for nothing."],
  act: ["Act", "It asks for nodes, within the policy."],
  paused: ["Paused", "It holds what there is."],
};

export const STANDINGS = {
  trust: ["good", "trusted"],
  caution: ["warn", "in caution"],
  demote: ["bad", "demoted"],
};

export const LED_TO_IT = {
  predictive: "by forecast",
  reactive: "by queue",
  announced: "as announced",
  held: "held",
};

export const PARTS = {
  now: "Demand now",
  seasonal: "The time of day and week",
  slope: "What has been happening",
  calendar: "Holidays and marked days",
  events: "What was announced or scheduled",
};

/** What an announcement says, without when. */
export function amount(said) {
  const kinds = {
    extra: `${number(said.amount)} GPUs more`,
    absolute: `at least ${gpus(said.amount)}`,
    factor: `${number(said.amount)} times the usual`,
  };
  const sure = said.certainty < 1 ? `, ${percent(said.certainty)} sure` : "";
  return `${kinds[said.kind]}${sure}`;
}
