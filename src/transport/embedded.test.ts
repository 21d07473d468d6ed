/** The Node handler inside an app: mount paths, body parsers, and callers whom the app has authenticated. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Caller } from "../resources.ts";
import { createNodeHandler, type NodeHandler, type NodeHandlerOptions, type NextHandler } from "./node-handler.ts";
import { createWireClient, modernHeaders } from "./test-client.ts";
import { createFakeProtocol, resultOf, type Script } from "./test-protocol.ts";
import { code, modern, question, rawBody, rawQuestion } from "./test-question.ts";

type Middleware = (request: IncomingMessage & { user?: Caller }, response: ServerResponse, next: NextHandler) => void;

/** The part of Express that these tests use: it has no types of its own. */
interface ExpressApp extends RequestListener {
  use(path: string | Middleware, ...middleware: Middleware[]): void;
}
type BodyParser = (options?: object) => Middleware;
interface Express {
  (): ExpressApp;
  readonly json: BodyParser;
  readonly text: BodyParser;
  readonly raw: BodyParser;
}
const { default: express } = (await import("express" as string)) as { readonly default: Express };

interface Embedding {
  readonly script?: Script;
  readonly options?: NodeHandlerOptions;
  readonly build: (app: ExpressApp, http: NodeHandler) => void;
}

async function embed({ script, options, build }: Embedding) {
  const edge = createFakeProtocol(script);
  const http = createNodeHandler(edge, { log: () => {}, ...options });
  const app = express();
  build(app, http);
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = createWireClient((server.address() as AddressInfo).port);
  onTestFinished(async () => {
    client.close();
    await http.close(0);
    server.closeAllConnections();
    server.close();
  });
  return { ...client, edge, http, server };
}

const echoed = { jsonrpc: "2.0", id: 7, result: { echo: "resources/list" } };
const tellCaller: Script = {
  exchange: (message, reply, { caller }) => reply.end(resultOf(message, { id: caller.id })),
};

describe("a handler below a mount path", () => {
  it.each(["/mcp", "/api/v1/context"])("serves %s as its endpoint", async (path) => {
    const { ask } = await embed({ build: (app, http) => app.use(path, http.handle) });
    for (const each of [path, `${path}/`, `${path}?x=1`, `${path}/mcp`])
      expect((await ask({ ...modern, path: each })).json()).toEqual(echoed);
  });

  it("names its post path of 2024-11-05 below the prefix, where it can be used", async () => {
    const { ask, listen } = await embed({ build: (app, http) => app.use("/api", http.handle) });
    const stream = await listen({ method: "GET", path: "/api/sse" });
    const endpoint = (await stream.next())?.data ?? "";
    expect(endpoint).toMatch(/^\/api\/messages\?sessionId=/);
    expect((await ask({ path: endpoint, body: { ...question, method: "ping" } })).status).toBe(202);
    expect((await stream.next())?.data).toContain('"echo":"ping"');
    stream.hangUp();
  });

  it("never names another host, whatever the path begins with", async () => {
    const { listen } = await embed({
      build: (app, http) =>
        app.use((request, response) => {
          // As a router with a pattern for the mount would do it.
          Object.assign(request, { originalUrl: request.url, url: "/sse" });
          http.handle(request, response);
        }),
    });
    for (const path of ["//evil.example/sse", "/\\evil.example/sse"]) {
      const stream = await listen({ method: "GET", path });
      expect((await stream.next())?.data).toMatch(/^\/evil\.example\/messages\?/);
      stream.hangUp();
    }
  });

  it("is where `basePath` says, for frameworks that do not remove it", async () => {
    const { ask, listen } = await embed({
      options: { basePath: "/inner/" },
      build: (app, http) => app.use((request, response) => http.handle(request, response)),
    });
    for (const path of ["/inner", "/inner/", "/inner/mcp"])
      expect((await ask({ ...modern, path })).json()).toEqual(echoed);
    expect((await ask({ ...modern, path: "/innermost" })).status).toBe(404);
    const stream = await listen({ method: "GET", path: "/inner/sse" });
    expect((await stream.next())?.data).toMatch(/^\/inner\/messages\?/);
    stream.hangUp();
    expect(() => createNodeHandler(createFakeProtocol(), { basePath: "inner" })).toThrow('"inner" must begin with "/"');
  });

  it("leaves paths that are not below `basePath` to the app", async () => {
    const { ask } = await embed({
      options: { basePath: "/inner" },
      build(app, http) {
        app.use(http.handle);
        app.use("/inner", http.handle);
        app.use((_request, response) => void response.end("the app"));
      },
    });
    for (const path of ["/messages", "/sse", "/mcp", "/", "/innermost"])
      expect((await ask({ method: "GET", path })).text).toBe("the app");
    expect((await ask({ ...modern, path: "/inner" })).json()).toEqual(echoed);
    // A router has removed the prefix, and says so.
    const below = await embed({
      options: { basePath: "/inner" },
      build: (app, http) => app.use("/inner", http.handle),
    });
    for (const path of ["/inner", "/inner/", "/inner/mcp"])
      expect((await below.ask({ ...modern, path })).json()).toEqual(echoed);
  });

  it("names the path that was requested if there is nothing", async () => {
    const { ask } = await embed({
      options: { basePath: "/inner" },
      build: (app, http) => app.use((request, response) => http.handle(request, response)),
    });
    for (const path of ["/other", "/inner/other"])
      expect((await ask({ path, body: question })).text).toContain(
        `there is nothing at \\"${path}\\"; MCP is served at \\"/inner\\"`,
      );
  });

  it("leaves other paths to the app, unchecked, and says 404 where the app has no say", async () => {
    const served = await embed({
      build(app, http) {
        app.use(http.handle);
        app.use((_request, response) => void response.end("the app"));
      },
    });
    const other = await served.ask({ method: "GET", path: "/about", headers: { Host: "app.example" } });
    expect([other.status, other.text, other.headers["content-security-policy"]]).toEqual([200, "the app", undefined]);
    expect((await served.ask({ ...modern, headers: { ...modernHeaders, Host: "app.example" } })).status).toBe(403);
    const known = await embed({
      script: tellCaller,
      build: (app, http) => app.use((q, s, next) => http.handle(q, s, { caller: { id: "ann" }, next })),
    });
    expect((await known.ask(modern)).json()).toMatchObject({ result: { id: "ann" } });
    expect((await known.ask({ method: "GET", path: "/about" })).text).toContain("Cannot GET /about");
    const { ask } = await embed({
      build: (app, http) => app.use("/mcp", (request, response) => http.handle(request, response)),
    });
    const lost = await ask({ path: "/mcp/nowhere", body: question });
    expect([lost.status, lost.text]).toEqual([404, expect.stringContaining('MCP is served at \\"/mcp\\"')]);
  });
});

describe("a body that the app has read", () => {
  it("is used, whether it is parsed, a text or bytes", async () => {
    const json = "application/json";
    for (const parser of [express.json(), express.text({ type: json }), express.raw({ type: json })]) {
      const { ask } = await embed({
        build(app, http) {
          app.use(parser);
          app.use("/mcp", http.handle);
        },
      });
      expect((await ask(modern)).json()).toEqual(echoed);
      // Sessions, too.
      expect((await ask({ body: { ...question, method: "initialize" } })).status).toBe(200);
    }
  });

  it("is used, too, if it was compressed and the parser has inflated it", async () => {
    const { ask } = await embed({
      build(app, http) {
        app.use(express.json());
        app.use("/mcp", http.handle);
      },
    });
    const headers = { ...modernHeaders, "Content-Encoding": "gzip" };
    expect((await ask({ headers, body: gzipSync(rawBody) })).json()).toEqual(echoed);
  });

  it("may be passed by a framework that keeps it elsewhere", async () => {
    for (const body of [question, rawBody, Buffer.from(rawBody), new TextEncoder().encode(rawBody)]) {
      const { ask } = await embed({
        build: (app, http) =>
          app.use("/mcp", (request, response) => {
            request.resume().once("end", () => http.handle(request, response, { body }));
          }),
      });
      expect((await ask({ headers: modernHeaders, body: "{}" })).json()).toEqual(echoed);
    }
  });

  it("is subject to the same limits", async () => {
    const deep = JSON.parse(`${"[".repeat(600)}${"]".repeat(600)}`) as unknown;
    const { ask } = await embed({
      options: { maxBodyBytes: 2000 },
      build(app, http) {
        app.use(express.json());
        app.use("/mcp", http.handle);
      },
    });
    const chunked = { ...modernHeaders, "Transfer-Encoding": "chunked" };
    for (const headers of [modernHeaders, chunked]) {
      const large = await ask({ headers, body: { ...question, pad: "é".repeat(1500) } });
      expect([large.status, code(large)]).toEqual([413, -32600]);
    }
    const nested = await ask({ headers: modernHeaders, body: deep });
    expect([nested.status, code(nested), nested.text]).toEqual([400, -32700, expect.stringContaining("512 levels")]);
    expect((await ask({ headers: { ...modernHeaders, "Content-Type": "text/plain" }, body: "{}" })).status).toBe(415);
  });

  it("and not kept gets an error that the log explains, and no silence", async () => {
    const logged: unknown[] = [];
    const { ask } = await embed({
      options: { log: (_level, _message, details) => logged.push(String(details?.["cause"])) },
      build: (app, http) =>
        app.use("/mcp", (request, response) => {
          request.resume().once("end", () => http.handle(request, response));
        }),
    });
    const answer = await ask(modern);
    expect([answer.status, code(answer)]).toEqual([500, -32603]);
    expect(logged).toEqual([expect.stringContaining("the body was read before the MCP handler")]);
  });

  it("is read after all if something has only paused it, set an encoding, or left an empty result", async () => {
    const { ask } = await embed({
      build: (app, http) =>
        app.use("/mcp", (request, response) => {
          Object.assign(request, { body: {} }).setEncoding("utf8").pause();
          setImmediate(() => http.handle(request, response));
        }),
    });
    const pad = "é".repeat(100_000);
    expect((await ask({ headers: modernHeaders, body: { ...question, pad } })).json()).toEqual(echoed);
  });
});

function byHeader(app: ExpressApp, http: NodeHandler): void {
  app.use("/mcp", (request, response) => {
    const { authorization } = request.headers;
    http.handle(request, response, { caller: authorization === undefined ? undefined : { id: authorization } });
  });
}

describe("a caller whom the app has authenticated", () => {
  it("is the caller, and neither the gate nor `identify` is consulted", async () => {
    const { ask } = await embed({
      script: tellCaller,
      options: { gate: () => "refused", identify: () => undefined },
      build: byHeader,
    });
    const answer = await ask({ ...modern, headers: { ...modernHeaders, Authorization: "ann" } });
    expect(answer.json()).toMatchObject({ result: { id: "ann" } });
  });

  it("is a stranger if there is none, and is not let in without an id", async () => {
    const { ask, edge } = await embed({ options: { challenge: 'Bearer realm="app"' }, build: byHeader });
    const stranger = await ask(modern);
    expect([stranger.status, stranger.headers["www-authenticate"]]).toEqual([401, 'Bearer realm="app"']);
    expect((await ask({ ...modern, headers: { ...modernHeaders, Authorization: "" } })).status).toBe(500);
    expect(edge.sessions).toEqual([]);
  });

  it("whose admission has ended is a stranger", async () => {
    const caller: Caller = { id: "ann", ended: AbortSignal.abort() };
    const { ask } = await embed({ build: (app, http) => app.use("/mcp", (q, s) => http.handle(q, s, { caller })) });
    expect((await ask(modern)).status).toBe(401);
  });

  it("cannot use the sessions of others, even if the app reuses one object for all", async () => {
    const shared: { id: string; groups?: string[] } = { id: "" };
    const { ask, listen, initialize } = await embed({
      build: (app, http) =>
        app.use("/mcp", (request, response) => {
          const [id = "", ...groups] = (request.headers.authorization ?? "").split(";");
          Object.assign(shared, { id, groups: groups.length > 0 ? groups : undefined });
          http.handle(request, response, { caller: shared });
        }),
    });
    const id = await initialize("2025-11-25", { Authorization: "ann" });
    const sse = await listen({ method: "GET", path: "/mcp/sse", headers: { Authorization: "ann" } });
    const post = (await sse.next())?.data ?? "";
    const session = { "Mcp-Session-Id": id };
    const body = { ...question, method: "ping" };
    for (const other of ["bob", "ann;staff", '["ann",["staff"],null,null,null]']) {
      const headers = { ...session, Authorization: other };
      expect((await ask({ headers, body })).status).toBe(404);
      expect((await ask({ method: "GET", headers })).status).toBe(404);
      expect((await ask({ method: "DELETE", headers })).status).toBe(404);
      expect((await ask({ path: post, headers, body })).status).toBe(404);
    }
    const staff = await initialize("2025-11-25", { Authorization: "ann;staff" });
    const lookalike = { "Mcp-Session-Id": staff, Authorization: '["ann",["staff"],null,null,null]' };
    expect((await ask({ headers: lookalike, body })).status).toBe(404);
    const headers = { ...session, Authorization: "ann" };
    expect((await ask({ headers, body })).status).toBe(200);
    expect((await ask({ path: post, headers, body })).status).toBe(202);
    sse.hangUp();
  });
});

/** A caller as a class of an app: accessors on the prototype, private state. */
class Account implements Caller {
  readonly #name: string;
  constructor(name: string) {
    this.#name = name;
  }
  get id() {
    return this.#name;
  }
  get groups() {
    return [`of ${this.#name}`];
  }
  subjectToken() {
    return `token of ${this.#name}`;
  }
}

const kinds: readonly [string, (name: string) => Caller][] = [
  ["an object of a class with private fields", (name) => new Account(name)],
  ["a frozen object", (name) => Object.freeze({ id: name, groups: Object.freeze([`of ${name}`]) })],
  ["a proxy that lists no members", (name) => new Proxy({ id: name, groups: [`of ${name}`] }, { ownKeys: () => [] })],
  ["an object that inherits everything", (name) => Object.create({ id: name, groups: [`of ${name}`] }) as Caller],
];

function nameIn({ headers }: IncomingMessage): string {
  return headers.authorization ?? "";
}

describe.each(["passes", "identifies"] as const)("a caller whom an app %s", (way) => {
  const embedCallers = (callerFor: (name: string) => unknown, more: Partial<Embedding> = {}) =>
    embed({
      ...more,
      options: { ...more.options, identify: (request) => callerFor(nameIn(request)) as Caller },
      build: (app, http) =>
        app.use("/mcp", (request, response) => {
          if (way === "identifies") http.handle(request, response);
          else http.handle(request, response, { caller: callerFor(nameIn(request)) as Caller });
        }),
    });

  it.each(kinds)("may be %s, and keeps the sessions apart", async (_kind, toCaller) => {
    const { ask, initialize } = await embedCallers(toCaller, {
      script: {
        exchange: (message, reply, { caller }) =>
          reply.end(resultOf(message, [caller.id, caller.groups, caller.subjectToken?.("issuer")])),
      },
    });
    const answer = await ask({ ...modern, headers: { ...modernHeaders, Authorization: "ann" } });
    const token = toCaller("ann").subjectToken && "token of ann";
    expect(answer.json()).toMatchObject({ result: ["ann", ["of ann"], token ?? null] });
    const session = { "Mcp-Session-Id": await initialize("2025-11-25", { Authorization: "ann" }) };
    const body = { ...question, method: "ping" };
    expect((await ask({ headers: { ...session, Authorization: "bob" }, body })).status).toBe(404);
    expect((await ask({ headers: { ...session, Authorization: "ann" }, body })).status).toBe(200);
  });

  it("may be one object that changes", async () => {
    const shared = { id: "", groups: [""] };
    const { ask, initialize } = await embedCallers((name) => {
      shared.groups[0] = `of ${name}`;
      return Object.assign(shared, { id: "everyone" });
    });
    const session = { "Mcp-Session-Id": await initialize("2025-11-25", { Authorization: "ann" }) };
    const body = { ...question, method: "ping" };
    expect((await ask({ headers: { ...session, Authorization: "bob" }, body })).status).toBe(404);
    expect((await ask({ headers: { ...session, Authorization: "ann" }, body })).status).toBe(200);
  });

  it("is a stranger if it is null or undefined", async () => {
    for (const nobody of [null, undefined]) {
      const { ask } = await embedCallers(() => nobody);
      expect((await ask(modern)).status).toBe(401);
    }
  });

  it("without an id is not let in, whatever it sends, and the log says why", async () => {
    const wrong: unknown[] = [{}, { id: undefined }, { id: "" }, { id: 7 }, "ann", 7, true, []];
    for (const caller of wrong) {
      const logged: string[] = [];
      const log: NodeHandlerOptions["log"] = (_level, _message, facts) => logged.push(String(facts?.["cause"]));
      const { ask, edge } = await embedCallers(() => caller, { options: { log } });
      expect((await ask(modern)).status).toBe(500);
      expect((await ask({ body: { ...question, method: "initialize" } })).status).toBe(500);
      expect(logged).toEqual([expect.stringContaining("has no id"), expect.stringContaining("has no id")]);
      expect(edge.sessions).toEqual([]);
    }
  });

  it("keeps the session if groups and claims come in another order, or as empty lists", async () => {
    const callers: Record<string, Caller> = {
      one: { id: "ann", groups: ["a", "b"], claims: { team: ["x", "y"], unit: "z" } },
      other: { id: "ann", groups: ["b", "a"], claims: { unit: "z", team: ["y", "x"] }, owner: false },
    };
    const { ask, initialize } = await embedCallers((name) => callers[name]);
    const headers = { "Mcp-Session-Id": await initialize("2025-11-25", { Authorization: "one" }) };
    const body = { ...question, method: "ping" };
    expect((await ask({ headers: { ...headers, Authorization: "other" }, body })).status).toBe(200);
  });
});

describe("the log of a handler", () => {
  it("is that of the app that it serves", async () => {
    const logged: string[] = [];
    const app = {
      protocol: createFakeProtocol(),
      runtime: {
        lines: logged,
        log(_level: string, message: string) {
          this.lines.push(message);
        },
      },
    };
    const http = createNodeHandler(app, { identify: () => Promise.reject(new Error("no")) });
    const server = createServer(http.handle).listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = createWireClient((server.address() as AddressInfo).port);
    onTestFinished(async () => {
      client.close();
      await http.close(0);
      server.close();
    });
    expect((await client.ask(modern)).status).toBe(500);
    expect(logged).toEqual(["a request over HTTP failed"]);
  });

  it("is needed: what is neither an app nor a protocol is refused at once", () => {
    for (const wrong of [undefined, null, {}, "app", { handle() {} }])
      expect(() => createNodeHandler(wrong as never)).toThrow("pass one of them as the first argument");
  });

  it("names a refused host once, and what to do", async () => {
    const logged: string[] = [];
    const { ask } = await embed({
      options: { log: (level, message) => logged.push(`${level}: ${message}`) },
      build: (app, http) => app.use("/mcp", http.handle),
    });
    for (const host of ["notes.example", "notes.example", "NOTES.example"])
      expect((await ask({ ...modern, headers: { ...modernHeaders, Host: host } })).status).toBe(403);
    expect(logged).toEqual([expect.stringMatching(/^warn: .*"notes\.example".*add it to allowedHosts$/)]);
    for (let count = 0; count < 50; count++)
      await ask({ ...modern, headers: { ...modernHeaders, Host: `${count}.example` } });
    expect(logged).toHaveLength(20);
  });
});

describe("sessions of callers whom the app has authenticated", () => {
  it("are not evicted for another caller of the same connection", async () => {
    const { initialize, ask } = await embed({ options: { maxSessions: 2 }, build: byHeader });
    const id = await initialize("2025-11-25", { Authorization: "ann" });
    await initialize("2025-11-25", { Authorization: "bob" });
    const body = { ...question, method: "initialize", params: { protocolVersion: "2025-11-25" } };
    expect((await ask({ headers: { Authorization: "eve" }, body })).status).toBe(503);
    const headers = { Authorization: "ann", "Mcp-Session-Id": id };
    expect((await ask({ headers, body: { ...question, method: "ping" } })).status).toBe(200);
  });
});

describe("a request that the app hands over late", () => {
  it("is not remembered when its client has left", async () => {
    const reached = Promise.withResolvers<[IncomingMessage, ServerResponse]>();
    const { raw, http } = await embed({
      build: (app) => app.use("/mcp", (request, response) => reached.resolve([request, response])),
    });
    const socket = await raw(rawQuestion);
    const [request, response] = await reached.promise;
    const closed = once(response, "close");
    socket.resetAndDestroy();
    await closed;
    http.handle(request, response);
    // It would wait for the response.
    await http.close(600_000);
  });

  it("gets nothing more if the app has responded", async () => {
    const { ask } = await embed({
      build: (app, http) =>
        app.use("/mcp", (request, response) => {
          response.end("no");
          http.handle(request, response);
        }),
    });
    expect((await ask(modern)).text).toBe("no");
  });

  it("keeps its listeners and headers when it becomes a stream", async () => {
    const seen = Promise.withResolvers<unknown>();
    const { listen } = await embed({
      script: { exchange: (message, reply) => void reply.notify(resultOf(message)) },
      build: (app, http) =>
        app.use("/mcp", (request, response) => {
          request.on("close", () => seen.resolve(request.headers.host));
          http.handle(request, response);
        }),
    });
    const stream = await listen(modern);
    await stream.next();
    stream.hangUp();
    expect(await seen.promise).toMatch(/^127\.0\.0\.1:/);
  });

  it("adds to what the app says about caches", async () => {
    const { ask } = await embed({
      options: { allowedOrigins: ["https://app.example"] },
      build(app, http) {
        app.use((_request, response, next) => {
          response.setHeader("Vary", "Accept-Encoding");
          next();
        });
        app.use("/mcp", http.handle);
      },
    });
    expect((await ask(modern)).headers.vary).toBe("Accept-Encoding, Origin");
  });
});
