/** The part of a line that all transports share: ids, the two eras, and the check of every message. */
import { checkMessage } from "../../wire/check-message.ts";
import { isRecord, type JsonRecord } from "../../wire/json.ts";
import type { Revision } from "../../wire/schemas.ts";
import { createInbox, patienceMs, type Inbox } from "./inbox.ts";
import { clientInfo, modernMeta, type Asked, type Ear, type Heard, type Line, type LineTransport } from "./line.ts";

/** What every session declares. */
const capabilities: JsonRecord = { elicitation: {}, sampling: {}, roots: {} };

/** What a transport does for a line. */
export interface Carrier {
  /** Sends a request; everything that belongs to it comes back through `hear`, and anything else too. */
  request(message: JsonRecord, hear: (message: unknown) => void): Promise<{ hangUp?: () => void }>;
  send(message: unknown, hear: (message: unknown) => void): Promise<void>;
  /** Called once a session has been agreed on. */
  initialized?(hear: (message: unknown) => void): Promise<void>;
  close(): Promise<void>;
}

interface Pending {
  readonly method: string;
  readonly said: Inbox;
  readonly token: unknown;
  settle(message: JsonRecord): void;
  fail(cause: unknown): void;
}

export async function createLine(transport: LineTransport, revision: Revision, carrier: Carrier): Promise<Line> {
  const modern = revision === "2026-07-28";
  const unasked = createInbox(`the ${transport} line of ${revision}`);
  const pending = new Map<string | number, Pending>();
  const faults: unknown[] = [];
  const ears = new Set<(message: JsonRecord) => boolean>();
  let lastId = 0;
  let inUse = modern ? revision : ("2025-11-25" as Revision);

  /** A message that is wrong must fail the test even if no one waits for it: the next thing the test does throws. */
  function hear(message: unknown): void {
    try {
      take(message);
    } catch (cause) {
      faults.push(cause);
      unasked.end(String(cause));
      for (const { said, fail } of pending.values()) {
        said.end(String(cause));
        fail(cause);
      }
    }
  }

  function take(message: unknown): void {
    if (Array.isArray(message)) {
      if (revision !== "2025-03-26") throw new Error(`${revision} has no batches: ${JSON.stringify(message)}`);
      for (const each of message) take(each);
      return;
    }
    if (!isRecord(message)) throw new Error(`no message: ${JSON.stringify(message)}`);
    if ("method" in message) {
      checkMessage(inUse, message);
      route(message);
      return;
    }
    const id = message["id"];
    const asked = typeof id === "string" || typeof id === "number" ? pending.get(id) : undefined;
    if (asked || "error" in message) checkMessage(inUse, message, asked?.method);
    if (!asked) {
      unasked.put(message);
      return;
    }
    pending.delete(id as string | number);
    asked.settle(message);
  }

  function route(message: JsonRecord): void {
    const params = isRecord(message["params"]) ? message["params"] : {};
    const meta = isRecord(params["_meta"]) ? params["_meta"] : {};
    const subscription = meta["io.modelcontextprotocol/subscriptionId"];
    const byId = typeof subscription === "string" || typeof subscription === "number" ? subscription : undefined;
    const listening = byId === undefined ? undefined : pending.get(byId);
    if (listening) {
      listening.said.put(message);
      return;
    }
    const token = params["progressToken"];
    const running = [...pending.values()].find((each) => token !== undefined && each.token === token);
    if (running) running.said.put(message);
    else if (![...ears].some((ear) => ear(message))) unasked.put(message);
  }

  function assertSound(): void {
    if (faults.length > 0) throw faults[0];
  }

  const line: Line = {
    transport,
    revision,
    modern,
    opened: {},
    unasked,

    async start(method, params = {}, { id = ++lastId, meta = {} } = {}) {
      assertSound();
      const allMeta = { ...(modern && modernMeta(revision)), ...meta };
      const message: JsonRecord = {
        jsonrpc: "2.0",
        id,
        method,
        ...((Object.keys(params).length > 0 || Object.keys(allMeta).length > 0) && {
          params: { ...params, ...(Object.keys(allMeta).length > 0 && { _meta: allMeta }) },
        }),
      };
      const said = createInbox(`${method} (${String(id)}) over ${transport} in ${revision}`);
      const { promise, resolve, reject } = Promise.withResolvers<JsonRecord>();
      promise.catch(() => {});
      pending.set(id, { method, said, token: meta["progressToken"], settle: resolve, fail: reject });
      const { hangUp } = await carrier.request(message, hear).catch((cause: unknown) => {
        reject(cause);
        return {} as { hangUp?: () => void };
      });
      return {
        id,
        answer: promise,
        said,
        async cancel() {
          if (hangUp && modern) hangUp();
          else await line.notify("notifications/cancelled", { requestId: id });
        },
      };
    },

    async result(method, params) {
      const message = await settled(await line.start(method, params));
      const { result } = message;
      if (!isRecord(result)) throw new Error(`${method} failed: ${JSON.stringify(message)}`);
      return result;
    },

    async error(method, params) {
      const message = await settled(await line.start(method, params));
      const { error } = message;
      if (!isRecord(error)) throw new Error(`${method} did not fail: ${JSON.stringify(message)}`);
      return { ...error, code: Number(error["code"]), message: String(error["message"]) };
    },

    async notify(method, params) {
      assertSound();
      const own = modern ? { ...params, _meta: modernMeta(revision) } : params;
      await carrier.send({ jsonrpc: "2.0", method, ...(own && { params: own }) }, hear);
    },

    async send(message) {
      assertSound();
      await carrier.send(message, hear);
    },

    hear: async ({ uris = [], list = false }) =>
      modern ? listen(line, uris, list) : subscribe(line, uris, list, ears),

    async close() {
      await carrier.close();
      assertSound();
    },
  };

  const opened = modern
    ? await line.result("server/discover")
    : await line.result("initialize", { protocolVersion: revision, capabilities, clientInfo });
  if (!modern) {
    if (opened["protocolVersion"] !== revision)
      throw new Error(`asked for ${revision} and got ${String(opened["protocolVersion"])}`);
    inUse = revision;
    checkMessage(revision, { jsonrpc: "2.0", id: 0, result: opened }, "initialize");
    await line.notify("notifications/initialized");
    await carrier.initialized?.(hear);
  }
  return { ...line, opened };
}

/** The answer, or a failure that says what did not come. */
export async function settled({ id, answer }: Asked): Promise<JsonRecord> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`question ${String(id)} was not answered`)), patienceMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function listen(line: Line, uris: readonly string[], list: boolean): Promise<Ear> {
  const asked = await line.start("subscriptions/listen", {
    notifications: {
      ...(list && { resourcesListChanged: true }),
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
    },
  });
  const first = await asked.said.next();
  if (first["method"] !== "notifications/subscriptions/acknowledged")
    throw new Error(`a subscription began with ${JSON.stringify(first)}`);
  const params = first["params"];
  const honoured = isRecord(params) && isRecord(params["notifications"]) ? params["notifications"] : {};
  const agreed = honoured["resourceSubscriptions"];
  return {
    uris: Array.isArray(agreed) ? agreed.map(String) : [],
    next: async () => heardIn(await asked.said.next()),
    get size() {
      return asked.said.size;
    },
    close: () => asked.cancel(),
  };
}

async function subscribe(
  line: Line,
  uris: readonly string[],
  list: boolean,
  ears: Set<(message: JsonRecord) => boolean>,
): Promise<Ear> {
  const inbox = createInbox(`an ear of ${line.transport} in ${line.revision}`);
  const agreed: string[] = [];
  const ear = (message: JsonRecord): boolean => {
    const heard = heardIn(message);
    const wanted = heard === "list-changed" ? list : agreed.includes(heard.updated);
    if (wanted) inbox.put(message);
    return wanted;
  };
  ears.add(ear);
  // A client that has the list is notified of every later change.
  if (list) await line.result("resources/list");
  for (const uri of uris) {
    // Before the answer, which the first announcement may overtake.
    agreed.push(uri);
    const response = await settled(await line.start("resources/subscribe", { uri }));
    if ("error" in response) agreed.pop();
  }
  return {
    uris: [...agreed],
    next: async () => heardIn(await inbox.next()),
    get size() {
      return inbox.size;
    },
    async close() {
      for (const uri of agreed) await line.result("resources/unsubscribe", { uri });
      ears.delete(ear);
    },
  };
}

function heardIn(message: JsonRecord): Heard {
  const params = message["params"];
  if (message["method"] === "notifications/resources/list_changed") return "list-changed";
  if (message["method"] === "notifications/resources/updated" && isRecord(params))
    return { updated: String(params["uri"]) };
  throw new Error(`no announcement: ${JSON.stringify(message)}`);
}
