// Times in the viewer's or the cluster's zone. Everything inside is Unix seconds.

const CHOICE = "tidecast-zone";

export const clusterZone = document.documentElement.dataset.clusterZone;
export const viewerZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

let zone = localStorage.getItem(CHOICE) === "cluster" ? clusterZone : viewerZone;
const formats = new Map();

export const nowSeconds = () => Math.floor(Date.now() / 1000);
export const chosenZone = () => zone;

export function chooseZone(name) {
  zone = name === "cluster" ? clusterZone : viewerZone;
  localStorage.setItem(CHOICE, name);
}

/** `14:05` today, with the day otherwise; `not known` for null. */
export function when(seconds) {
  if (seconds === null || seconds === undefined) return "not known";
  return day(seconds) === day(nowSeconds()) ? clock(seconds) : `${day(seconds)}, ${clock(seconds)}`;
}

export const clock = (seconds) => format(seconds, { hour: "2-digit", minute: "2-digit" });
export const day = (seconds) => format(seconds, { weekday: "short", day: "numeric", month: "short" });

export const dayOnly = (seconds) => format(seconds, { weekday: "short", day: "numeric" });

/** From then to then, without the same day twice. */
export function span(start, end) {
  return `${when(start)} to ${day(start) === day(end) ? clock(end) : when(end)}`;
}

/** `in 5 min`, `2 h ago`, `within a minute`. */
export function away(seconds) {
  const off = seconds - nowSeconds();
  if (Math.abs(off) < 60) return off > 0 ? "within a minute" : "just now";
  return off > 0 ? `in ${lasting(off)}` : `${lasting(-off)} ago`;
}

export function lasting(seconds) {
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** Hour of the day, 0 to 23, and day of the week, Monday 0, by a zone's clocks. */
export function hourOfWeek(seconds, inZone = zone) {
  const local = new Date((seconds + offset(seconds, inZone)) * 1000);
  return { day: (local.getUTCDay() + 6) % 7, hour: local.getUTCHours() };
}

/** What a field for date and time holds at an instant. */
export const fieldOf = (seconds, inZone = zone) =>
  new Date((seconds + offset(seconds, inZone)) * 1000).toISOString().slice(0, 16);

/** The instant that such a field means; null where it is empty. In a skipped hour, what follows. */
export function instantOf(field, inZone = zone) {
  const asUtc = Date.parse(`${field}Z`) / 1000;
  if (!Number.isFinite(asUtc)) return null;
  const first = asUtc - offset(asUtc, inZone);
  return asUtc - offset(first, inZone);
}

export const isoOf = (seconds) => new Date(seconds * 1000).toISOString().replace(".000", "");

function format(seconds, options) {
  const key = `${zone} ${Object.keys(options)}`;
  if (!formats.has(key)) {
    formats.set(key, new Intl.DateTimeFormat("en-GB", { ...options, timeZone: zone, hourCycle: "h23" }));
  }
  return formats.get(key).format(seconds * 1000);
}

/** How many seconds a zone's clocks are ahead of UTC. */
function offset(seconds, inZone) {
  const key = `parts ${inZone}`;
  if (!formats.has(key)) {
    const fields = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" };
    formats.set(key, new Intl.DateTimeFormat("en-US", { ...fields, timeZone: inZone, hourCycle: "h23" }));
  }
  const said = Object.fromEntries(formats.get(key).formatToParts(seconds * 1000).map((one) => [one.type, Number(one.value)]));
  return Date.UTC(said.year, said.month - 1, said.day, said.hour, said.minute, said.second) / 1000 - Math.floor(seconds);
}
