// The way to the service: `/v1`, with the token where one is kept. Its refusals become errors that
// say what and why; a service that does not answer becomes another kind.

const TOKEN = "tidecast-token";
const PATIENCE_MS = 20_000;

export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export class Unreachable extends Error {}

export const keepToken = (token) => sessionStorage.setItem(TOKEN, token);
export const forgetToken = () => sessionStorage.removeItem(TOKEN);
export const poolPath = (pool) => encodeURIComponent(pool);

/** Reads something; `query` leaves out what is empty. */
export async function read(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const search = new URLSearchParams(given).toString();
  return (await request("GET", search ? `${path}?${search}` : path)).content;
}

export const send = async (method, path, body, headers = {}) => (await request(method, path, body, headers)).content;

/** Reads something with the ETag that a change of it needs. */
export const readWithTag = (path) => request("GET", path);

/** A key that says which sendings are the same one, made again. */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID is not there without TLS
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function request(method, path, body, headers = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const sent = { Accept: "application/json", ...headers };
  if (token) sent.Authorization = `Bearer ${token}`;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let response, content;
  try {
    response = await fetch(`/v1${path}`, {
      method,
      headers: sent,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    content = await response.json().catch(() => null);
  } catch (error) {
    throw new Unreachable("the service does not answer", { cause: error });
  }
  if (!response.ok) throw new Refused(response.status, refusal(response, content));
  return { content, etag: response.headers.get("ETag") };
}

function refusal(response, content) {
  const lines = content?.errors?.length ? content.errors : [content?.detail ?? `status ${response.status}`];
  return lines.join("; ");
}
