/** Checks whether mounts can be listed, read and watched, and whether the server's address is free. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { readFileSync } from "node:fs";
import { type ResourceError, toResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import { directoryType } from "../resources.ts";
import type { Source } from "../source.ts";
import type { ServedMount } from "./locate.ts";
import { reachableHost } from "./server-url.ts";
import { challenge } from "./token-gate.ts";

export interface CheckResult {
  readonly about: string;
  /** "hint": works, but could be improved. */
  readonly state: "ok" | "hint" | "broken";
  readonly says: string;
  /** What to do. */
  readonly advice?: string;
}

/** Time limit for a response of what may be another program. */
const patienceMs = 3000;
/** Number of problems listed per mount. */
const mostProblems = 50;
/** Number of empty pages after which a mount counts as empty. */
const mostEmptyPages = 1000;
/** Default limits of some systems are lower, and a project easily has more folders. */
const fewWatches = 65_536;

export async function examineMount(
  mount: Pick<ServedMount, "name" | "source" | "isOptional">,
  call: Call,
): Promise<CheckResult> {
  const about = `mount ${mount.name}`;
  const broken = (failure: string, cause: unknown): CheckResult => {
    const error = toResourceError(cause);
    const { kind, message } = error;
    const advice = adviceFor(error);
    const state = kind === "unavailable" && mount.isOptional ? "hint" : "broken";
    return { about, state, says: `${failure}: ${message}`, advice };
  };
  let listed: Awaited<ReturnType<Source["list"]>>;
  try {
    listed = await firstPage(mount.source, call);
  } catch (cause) {
    return broken("cannot be listed", cause);
  }
  const entries = listed.items.filter(({ mimeType }) => mimeType !== directoryType);
  if (entries.length === 0)
    return {
      about,
      state: "hint",
      says: "is empty",
      advice: "check that it points to the right location",
    };

  const read = await readOne(mount.source, entries.slice(0, 10), call);
  if (read) return broken("lists a resource that it cannot read", read);
  const count = `${entries.length}${listed.next === undefined ? "" : " or more"}`;
  const watched = await arm(mount.source, call);
  if (watched && toResourceError(watched).kind === "unsupported")
    return {
      about,
      state: "hint",
      says: `${count} resources, listed and read; it cannot be watched: ${toResourceError(watched).message}`,
      advice: "until changes are reported, subscriptions are refused, and the search index is compared every 5 minutes",
    };
  if (watched) return broken("cannot be watched", watched);
  const heard = mount.source.watch
    ? "listed, read and watched"
    : "listed and read; it cannot be watched: its source does not report changes";
  return { about, state: "ok", says: `${count} resources, ${heard}` };
}

/** The first page with entries: a list without order may begin with empty pages. */
async function firstPage(source: Source, call: Call): ReturnType<Source["list"]> {
  let page = await source.list({ limit: 100 }, call);
  for (let pages = 1; page.items.length === 0 && page.next !== undefined && pages < mostEmptyPages; pages += 1)
    page = await source.list({ limit: 100, cursor: page.next }, call);
  return page;
}

/** Problems that a mount reports itself; it works in spite of them. */
export async function examineProblems(
  { name, source }: { readonly name: string; readonly source: Source },
  call: Call,
): Promise<CheckResult[]> {
  try {
    const problems = (await source.problems?.(call)) ?? [];
    const findings = problems.slice(0, mostProblems).map(({ path, line, says, advice }): CheckResult => ({
      about: `mount ${name}`,
      state: "hint",
      says: `${path === "" ? "it" : path}${line === undefined ? "" : `:${line}`} ${says}`,
      advice,
    }));
    const more = problems.length - findings.length;
    if (more > 0) findings.push({ about: `mount ${name}`, state: "hint", says: `${more} more of this kind` });
    return findings;
  } catch {
    // Other checks show why it fails.
    return [];
  }
}

/** Undefined once an entry was read. Entries that are too large count as readable. */
async function readOne(
  source: Source,
  entries: readonly Parameters<Source["read"]>[0][],
  call: Call,
): Promise<unknown> {
  let failure: unknown;
  for (const at of entries)
    try {
      await source.read(at, call);
      return undefined;
    } catch (cause) {
      if (toResourceError(cause).kind === "too-large") return undefined;
      failure ??= cause;
    }
  return failure;
}

async function arm(source: Source, call: Call): Promise<unknown> {
  const stop = new AbortController();
  try {
    await source.watch?.({ caller: call.caller, signal: stop.signal });
    return undefined;
  } catch (cause) {
    return cause;
  } finally {
    stop.abort();
  }
}

/** The message of a lasting failure says itself what to change. */
function adviceFor({ kind, passing }: ResourceError): string | undefined {
  if (kind === "unavailable" && passing) return "check that its backend is running and reachable";
  return kind === "unexpected" ? "set PRESSMARK_LOG=info for details" : undefined;
}

/** Whether this Node version fits the package's `engines` (`>=22.18`). */
export function examineNode(running: string, needed: string): CheckResult {
  const [major = 0, minor = 0] = running.split(".").map(Number);
  const [least = 0, leastMinor = 0] = needed.replace(">=", "").split(".").map(Number);
  const isEnough = major > least || (major === least && minor >= leastMinor);
  if (isEnough) return { about: "node", state: "ok", says: running };
  return {
    about: "node",
    state: "broken",
    says: `${running} is too old`,
    advice: `get Node ${needed.replace(">=", "")} or newer`,
  };
}

/** The system's limit of watched folders, if it reports one. */
export function examineWatches(limitFile = "/proc/sys/fs/inotify/max_user_watches"): CheckResult | undefined {
  let limit: number;
  try {
    limit = Number(readFileSync(limitFile, "utf8"));
  } catch {
    return undefined;
  }
  const about = "watches";
  if (limit >= fewWatches) return { about, state: "ok", says: `the system watches up to ${limit} folders` };
  return {
    about,
    state: "hint",
    says: `the system watches at most ${limit} folders; further folders are polled`,
    advice: "sudo sysctl fs.inotify.max_user_watches=524288",
  };
}

/** Whether the address is free, or Pressmark already listens there. */
export async function examineAddress(
  host: string,
  port: number,
  url: string,
  signal: AbortSignal,
): Promise<CheckResult> {
  const about = "address";
  const problem = port === 0 ? undefined : await tryListen(host, port);
  if (problem === undefined) return { about, state: "ok", says: `${url} is free for pressmark serve` };
  if (problem !== "EADDRINUSE")
    return {
      about,
      state: "broken",
      says: `nothing can listen at ${url} (${problem})`,
      advice: "choose another host or port",
    };
  const who = await whoAnswers(host, port, url, signal);
  if (who === "pressmark") return { about, state: "ok", says: `Pressmark answers at ${url}` };
  if (who === "guarded") return { about, state: "ok", says: `a Pressmark that requires a token answers at ${url}` };
  return {
    about,
    state: "broken",
    says: `port ${port} is in use by another program`,
    advice: "choose another port with server.port in the config, or with --port",
  };
}

function tryListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (cause: NodeJS.ErrnoException) => resolve(cause.code ?? cause.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

/** Sends no token: the other program may be a stranger. For the same reason any certificate will do. */
async function whoAnswers(
  host: string,
  port: number,
  url: string,
  signal: AbortSignal,
): Promise<"pressmark" | "guarded" | "another"> {
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "pressmark doctor", version: "1" } },
  };
  const giveUp = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const { request } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  async function send(method: string, more: Readonly<Record<string, string>>, body = ""): Promise<IncomingMessage> {
    const headers = { Host: new URL(url).host, ...more };
    const address = { host: reachableHost(host), port, path: new URL(url).pathname, rejectUnauthorized: false };
    const sending = request({ ...address, method, headers, signal: giveUp, agent: false });
    sending.end(body);
    const [response] = (await once(sending, "response")) as [IncomingMessage];
    return response;
  }
  try {
    const types = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
    const response = await send("POST", types, JSON.stringify(initialize));
    const answer = await text(response);
    const session = response.headers["mcp-session-id"];
    if (session !== undefined) (await send("DELETE", { "Mcp-Session-Id": String(session) })).resume();
    if (response.statusCode === 401 && response.headers["www-authenticate"]?.startsWith(challenge)) return "guarded";
    return answer.includes('"serverInfo":{"name":"pressmark"') ? "pressmark" : "another";
  } catch {
    return "another";
  }
}
