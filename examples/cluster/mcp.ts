/** Requests of the revision 2026-07-28, as small as possible: only what a test of a cluster needs to see of each response. */

const revision = "2026-07-28";

export interface McpTarget {
  readonly url: string;
  readonly token: string;
}

export interface McpAnswer {
  /** Of HTTP. */
  readonly status: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

let lastId = 0;

function send({ url, token }: McpTarget, method: string, params: object, signal?: AbortSignal): Promise<Response> {
  const { uri, name = uri } = params as { readonly uri?: string; readonly name?: string };
  return fetch(url, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": revision,
      "Mcp-Method": method,
      ...(name !== undefined && { "Mcp-Name": name }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: ++lastId,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": revision,
          "io.modelcontextprotocol/clientInfo": { name: "cluster", version: "1.0.0" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
    ...(signal && { signal }),
  });
}

/** Rejects if there is no response within the time. */
export async function ask(target: McpTarget, method: string, params: object, timeoutMs = 20_000): Promise<McpAnswer> {
  const response = await send(target, method, params, AbortSignal.timeout(timeoutMs));
  const text = await response.text();
  const message = text.startsWith("{") ? text : (text.split("\n").findLast((line) => line.startsWith("data: {")) ?? "");
  if (message === "") return { status: response.status };
  return { status: response.status, ...(JSON.parse(message.replace(/^data: /, "")) as object) };
}

/** The result. Throws if the response is an error. */
export async function askFor(target: McpTarget, method: string, params: object): Promise<Record<string, unknown>> {
  const { status, result, error } = await ask(target, method, params);
  if (!result) throw new Error(`${method} at ${target.url}: ${status} ${error?.message ?? ""}`);
  return result;
}

export interface Notice {
  readonly method: string;
  readonly params?: { readonly uri?: string };
}

/** Resolves when the listen is acknowledged. `ended` is called once, however it ends. */
export async function listen(
  target: McpTarget,
  notifications: object,
  handlers: { notice(notice: Notice): void; ended(): void },
  signal: AbortSignal,
): Promise<void> {
  const response = await send(target, "subscriptions/listen", { notifications }, signal);
  if (!response.ok || !response.body) throw new Error(`a listen was refused: ${response.status}`);
  const acknowledged = Promise.withResolvers<void>();
  void eachEvent(response.body, (message) => {
    const notice = message as Notice;
    if (notice.method === "notifications/subscriptions/acknowledged") acknowledged.resolve();
    else if (notice.method !== undefined) handlers.notice(notice);
  }).finally(() => {
    acknowledged.reject(new Error("the listen ended before it was acknowledged"));
    handlers.ended();
  });
  await acknowledged.promise;
}

/** Calls for each message of an event stream. Resolves when the stream ends, also by an error. */
export async function eachEvent(body: ReadableStream<Uint8Array>, handle: (message: unknown) => void): Promise<void> {
  let rest = "";
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) if (line.startsWith("data: {")) handle(JSON.parse(line.slice("data: ".length)));
    }
  } catch {
    // A connection that breaks ends the stream, as closing it does.
  }
}
