/** Receives change notifications from Drive: a small HTTP endpoint, and a channel for each log, renewed before it expires. */
import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { unavailable } from "../../errors.ts";
import { constantTimeEqual } from "../../lib/constant-time-equal.ts";
import type { Runtime } from "../../source.ts";
import type { DriveApi, OpenChannel } from "./drive-api.ts";
import type { Ledger } from "./ledger.ts";

interface PushOptions {
  /** Public https address of the endpoint, known to Google. */
  readonly url: string;
  /** Local address of the endpoint. */
  readonly host: string;
  readonly port: number;
  readonly api: DriveApi;
  readonly ledger: Ledger;
  readonly runtime: Runtime;
}

/** Drive closes a channel after a week at most. */
const channelMs = 6 * 86_400_000;
/** A channel is renewed this long before it expires; this is also how often it is checked. */
const marginMs = 3_600_000;
const lookMs = 60_000;
const closeMs = 5000;

/** Runs until the signal ends. Without a channel it logs a warning and tries again; changes are polled in the meantime. */
export async function push(options: PushOptions, call: () => void, signal: AbortSignal): Promise<void> {
  const { api, ledger, runtime } = options;
  const token = randomBytes(32).toString("base64url");
  const channels = new Map<string, OpenChannel & { readonly dueMs: number }>();
  let endpoint: Server | undefined;
  let isSaid = false;

  /** Checks both clocks: one may have been set back, the other stops while the machine sleeps. */
  function isDue({ dueMs, expiresMs }: { readonly dueMs: number; readonly expiresMs: number }): boolean {
    return runtime.monotonicMs() >= dueMs || expiresMs - runtime.now() <= marginMs;
  }

  /** If one log gets no channel, the others still get theirs. */
  async function openChannels(): Promise<void> {
    let failure: { readonly cause: unknown } | undefined;
    for (const { name, token: from, isListed } of ledger.logs) {
      const before = channels.get(name);
      if (!isListed || (before && !isDue(before))) continue;
      const channel = { id: randomUUID(), token, address: options.url, expiresMs: runtime.now() + channelMs };
      try {
        const opened = await api.openChannel(name, from, channel, signal);
        const leftMs = opened.expiresMs - runtime.now();
        channels.set(name, { ...opened, dueMs: runtime.monotonicMs() + leftMs - marginMs });
        if (before) await api.closeChannel(before, signal).catch(() => undefined);
      } catch (cause) {
        failure ??= { cause };
      }
    }
    if (failure) throw failure.cause;
  }

  try {
    while (!signal.aborted) {
      try {
        endpoint ??= await openEndpoint(options, token, call);
        await openChannels();
        isSaid = false;
      } catch (cause) {
        if (signal.aborted) return;
        if (!isSaid)
          runtime.log("warn", "Drive does not accept a notification channel; changes are polled instead", { cause });
        isSaid = true;
      }
      await runtime.wait(lookMs, signal).catch(() => undefined);
    }
  } finally {
    endpoint?.close();
    endpoint?.closeAllConnections();
    const late = AbortSignal.timeout(closeMs);
    await Promise.allSettled([...channels.values()].map((channel) => api.closeChannel(channel, late)));
  }
}

/** The body of a notification is ignored. It is acknowledged immediately, and the changes are requested afterwards. */
async function openEndpoint(
  { host, port, url, runtime }: PushOptions,
  token: string,
  call: () => void,
): Promise<Server> {
  const { pathname } = new URL(url);
  const server = createServer(
    { maxHeaderSize: 8192, requestTimeout: 10_000 },
    ({ method, url: requested = "", headers }, response) => {
      const [path] = requested.split("?", 1);
      if (method !== "POST" || path !== pathname || !constantTimeEqual(headers["x-goog-channel-token"], token))
        return void response.writeHead(404, { Connection: "close" }).end();
      response.writeHead(204).end();
      // The first notification of a channel only confirms that it is open.
      if (headers["x-goog-resource-state"] !== "sync") call();
    },
  );
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) =>
      reject(unavailable(`cannot listen for notifications of Google Drive (${cause.code})`, cause)),
    );
    server.listen(port, host, resolve);
  });
  runtime.log("info", "receiving notifications of Google Drive", {
    host,
    port: (server.address() as AddressInfo).port,
  });
  return server.unref();
}
