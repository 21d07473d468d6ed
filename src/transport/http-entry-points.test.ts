import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { whenStreams } from "./test-session.ts";
import { resultOf, type Script } from "./test-protocol.ts";
import { itOnNode, serveFake, underTest } from "./test-server.ts";
import { code, modern, question, rawQuestion } from "./test-question.ts";
import { modernHeaders } from "./test-client.ts";

describe("a body", () => {
  it("that is too large is refused, whether it announces its length or not", async () => {
    const { ask } = await serveFake({}, { maxBodyBytes: 1000 });
    const large = JSON.stringify("x".repeat(1500));
    for (const headers of [{ "Content-Length": large.length }, { "Transfer-Encoding": "chunked" }]) {
      const answer = await ask({ headers, body: large });
      expect([answer.status, code(answer)]).toEqual([413, -32600]);
      if (!underTest.isFetch) expect(answer.headers.connection).toBe("close");
    }
  });

  it("that never ends is cut off", async () => {
    const { raw } = await serveFake({}, { maxBodyBytes: 1000 });
    const socket = await raw(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    const chunk = `1000\r\n${"x".repeat(4096)}\r\n`;
    const send = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("drain", send).resume();
    send();
    await closed;
  });

  it("may come in many small chunks", async () => {
    const { raw } = await serveFake();
    const socket = await raw(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
    );
    for (const byte of JSON.stringify(question)) socket.write(`1\r\n${byte}\r\n`);
    socket.write("0\r\n\r\n");
    const text = Buffer.concat(await socket.toArray()).toString();
    expect(text).toContain('{"jsonrpc":"2.0","id":7,"result":{"echo":"resources/list"}}');
  });

  it("that holds most is refused when too much is arriving, and not one that comes after it", async () => {
    const { raw, ask, listening } = await serveFake({}, { maxArrivingBytes: 300_000 });
    const requested = once(listening.server, "request");
    const slow = await raw(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n",
    );
    const [request] = (await requested) as [IncomingMessage];
    const arrived = new Promise<void>((resolve) => {
      let length = 0;
      request.on("data", (chunk: Buffer) => (length += chunk.length) === 250_000 && resolve());
    });
    slow.write(" ".repeat(250_000));
    await arrived;

    const refused = once(slow, "data");
    const large = { headers: modernHeaders, body: { ...question, pad: "x".repeat(120_000) } };
    expect((await ask(large)).status).toBe(200);
    const [said] = (await refused) as [Buffer];
    expect(said.toString()).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n/i);
    slow.destroy();
  });

  itOnNode("is counted from its first part on", async () => {
    const { raw, ask, listening } = await serveFake({}, { maxArrivingBytes: 100_000 });
    const sockets: Socket[] = [];
    let held = 0;
    const enough = new Promise<void>((resolve) => {
      listening.server.on("request", (request) => {
        request.once("data", (chunk: Buffer) => (held += chunk.length) > 90_000 && resolve());
      });
    });
    // Ten thousand bytes each, in one chunk, and nothing more.
    for (let count = 0; count < 10; count++)
      sockets.push(
        await raw(
          `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n${" ".repeat(10_000)}`,
        ),
      );
    await enough;
    const chunked = { ...modernHeaders, "Transfer-Encoding": "chunked" };
    expect((await ask({ headers: chunked, body: { ...question, pad: "x".repeat(50_000) } })).status).toBe(503);
    // Complete bodies are not affected.
    expect((await ask(modern)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it("that is not JSON, not UTF-8, or nested too deep is a parse error with a null id", async () => {
    const { ask } = await serveFake();
    for (const body of ["{", "", Buffer.from([0x22, 0xff, 0x22]), "[".repeat(100_000)]) {
      const answer = await ask({ body });
      expect(answer.status).toBe(400);
      expect(answer.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
    }
  });

  it("must say that it is JSON, plainly encoded", async () => {
    const { ask } = await serveFake();
    expect((await ask({ headers: { "Content-Type": "text/plain" }, body: "{}" })).status).toBe(415);
    expect((await ask({ headers: { "Content-Type": "" }, body: "{}" })).status).toBe(415);
    expect((await ask({ headers: { "Content-Encoding": "gzip" }, body: "{}" })).status).toBe(415);
    expect(
      (await ask({ headers: { ...modernHeaders, "Content-Type": "application/json; charset=utf-8" }, body: question }))
        .status,
    ).toBe(200);
  });

  it("is refused when its sender accepts neither JSON nor events", async () => {
    const { ask } = await serveFake();
    expect((await ask({ headers: { Accept: "text/html" }, body: question })).status).toBe(406);
  });
});

/** Status, permissions to read, and `Vary`. */
async function askFrom(allowedOrigins: readonly string[], origin: string, method: string) {
  const { ask } = await serveFake({}, { allowedOrigins });
  const body = method === "OPTIONS" ? undefined : question;
  const { status, headers } = await ask({ method, headers: { ...modernHeaders, Origin: origin }, body });
  return [status, Object.keys(headers).filter((name) => name.startsWith("access-control-")), headers.vary];
}

describe("the doors", () => {
  it("are closed to foreign hosts and origins, on every path and method (LEG-42, MOD-55)", async () => {
    const { ask } = await serveFake();
    for (const headers of [{ Host: "evil.example" }, { Origin: "https://evil.example" }, { Origin: "null" }])
      for (const method of ["POST", "GET", "DELETE", "OPTIONS", "PUT"])
        for (const path of ["/mcp", "/sse", "/messages", "/else"]) {
          const answer = await ask({
            method,
            path,
            headers: { ...modernHeaders, ...headers },
            body: method === "POST" ? question : undefined,
          });
          expect([answer.status, code(answer), answer.headers["access-control-allow-origin"]]).toEqual([
            403,
            -32600,
            undefined,
          ]);
        }
  });

  itOnNode("are closed to requests without a host", async () => {
    const { raw } = await serveFake();
    const socket = await raw("GET /mcp HTTP/1.0\r\n\r\n");
    expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/^HTTP\/1\.1 403 /);
  });

  itOnNode("refuse requests with two Host headers, in any order and case", async () => {
    for (const allowedHosts of [[], ["*"]]) {
      const { raw } = await serveFake({}, { allowedHosts });
      for (const hosts of ["Host: localhost\r\nhOST: evil.example", "Host: localhost\r\nHost: localhost"]) {
        const socket = await raw(rawQuestion.replace("Host: localhost", hosts));
        expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/^HTTP\/1\.1 400 [^]*send one Host header/);
      }
    }
  });

  it("are open to names and origins that were allowed", async () => {
    const { ask } = await serveFake({}, { allowedHosts: ["mcp.example"], allowedOrigins: ["https://app.example"] });
    const answer = await ask({
      ...modern,
      headers: { ...modernHeaders, Host: "mcp.example", Origin: "https://app.example" },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ "access-control-allow-origin": "https://app.example", vary: "Origin" });
    expect(answer.headers["access-control-expose-headers"]).toContain("Mcp-Session-Id");
  });

  it("give no page of another origin a permission to read, unless it was allowed", async () => {
    // Pages of this machine may send what needs no permission.
    expect(await askFrom([], "http://localhost:5173", "OPTIONS")).toEqual([204, [], undefined]);
    expect(await askFrom([], "http://localhost:5173", "POST")).toEqual([200, [], undefined]);
    expect(await askFrom(["https://app.example"], "http://localhost:5173", "OPTIONS")).toEqual([204, [], "Origin"]);
    expect(await askFrom(["https://app.example"], "https://app.example.evil.example", "POST")).toEqual([
      403,
      [],
      undefined,
    ]);
    for (const origin of ["*", "null"])
      for (const method of ["OPTIONS", "POST"])
        expect(await askFrom(["*", "null"], origin, method)).toEqual([403, [], undefined]);
  });

  it("differ by origin once origins are allowed, also for requests without one", async () => {
    const { ask } = await serveFake({}, { allowedOrigins: ["https://app.example"] });
    const { headers } = await ask({ ...modern, headers: modernHeaders });
    expect([headers.vary, headers["access-control-allow-origin"]]).toEqual(["Origin", undefined]);
  });

  it("tell a browser beforehand what it may send", async () => {
    const { ask } = await serveFake({}, { allowedOrigins: ["http://localhost:5173"] });
    const answer = await ask({
      method: "OPTIONS",
      headers: { Origin: "http://localhost:5173", "Access-Control-Request-Method": "POST" },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers["access-control-allow-origin"]).toBe("http://localhost:5173");
    expect(answer.headers["access-control-allow-methods"]).toBe("GET, POST, DELETE, OPTIONS");
    for (const name of [
      "Mcp-Session-Id",
      "MCP-Protocol-Version",
      "Mcp-Method",
      "Mcp-Name",
      "Last-Event-ID",
      "Authorization",
      "Content-Type",
    ])
      expect(answer.headers["access-control-allow-headers"]).toContain(name);
  });

  it("have an address", async () => {
    const { ask } = await serveFake();
    const lost = await ask({ path: "/nowhere?x=1", body: question });
    expect(lost.status).toBe(404);
    expect(lost.text).toContain("/mcp");
    expect((await ask({ ...modern, path: "/mcp?x=1" })).status).toBe(200);
    expect((await ask({ ...modern, path: `/mcp?${"x".repeat(3000)}` })).status).toBe(414);
    const put = await ask({ method: "PUT" });
    expect([put.status, put.headers.allow]).toEqual([405, "GET, POST, DELETE, OPTIONS"]);
  });

  itOnNode("can have others beside them, behind the same guards", async () => {
    const { ask } = await serveFake(
      {},
      {
        elsewhere(_request, response, path) {
          if (path === "/health") response.end("well");
          return path === "/health";
        },
      },
    );
    expect((await ask({ method: "GET", path: "/health?x" })).text).toBe("well");
    expect((await ask({ method: "GET", path: "/health", headers: { Host: "evil.example" } })).status).toBe(403);
    expect((await ask({ method: "GET", path: "/other" })).status).toBe(404);
  });

  it("answer GET and DELETE of a revision without sessions with 405 (MOD-65)", async () => {
    const { ask } = await serveFake();
    for (const method of ["GET", "DELETE"]) {
      const answer = await ask({ method, headers: modernHeaders });
      expect([answer.status, answer.headers.allow]).toEqual([405, "POST, OPTIONS"]);
    }
  });
});

describe("the caller", () => {
  it("is whom `identify` names, at once or later", async () => {
    for (const later of [false, true]) {
      const { ask } = await serveFake(
        { exchange: (message, reply, { caller }) => reply.end(resultOf(message, caller)) },
        {
          identify(request) {
            const caller = { id: String(request.headers.authorization) };
            return later ? Promise.resolve(caller) : caller;
          },
        },
      );
      const answer = await ask({ ...modern, headers: { ...modernHeaders, Authorization: "ann" } });
      expect(answer.json()).toMatchObject({ result: { id: "ann" } });
    }
  });

  it("is anonymous by default", async () => {
    const { ask } = await serveFake({ exchange: (message, reply, { caller }) => reply.end(resultOf(message, caller)) });
    expect((await ask(modern)).json()).toMatchObject({ result: { id: "anonymous" } });
  });

  it("without identity gets 401 on every path, with a challenge (LEG-66)", async () => {
    for (const identify of [() => undefined, () => Promise.resolve(undefined)]) {
      const { ask, edge } = await serveFake({}, { identify, challenge: 'Bearer realm="house"' });
      for (const [method, path] of [
        ["POST", "/mcp"],
        ["GET", "/mcp"],
        ["DELETE", "/mcp"],
        ["GET", "/sse"],
        ["POST", "/messages"],
      ] as const) {
        const answer = await ask({ method, path, body: method === "POST" ? question : undefined });
        expect([answer.status, answer.headers["www-authenticate"]]).toEqual([401, 'Bearer realm="house"']);
      }
      expect(edge.sessions).toEqual([]);
    }
  });

  it("is not let in when `identify` fails", async () => {
    for (const identify of [
      () => Promise.reject(new Error("a secret")),
      () => {
        throw new Error("a secret");
      },
    ]) {
      const { ask } = await serveFake({}, { identify });
      const answer = await ask(modern);
      expect(answer.status).toBe(500);
      expect(answer.text).not.toContain("secret");
    }
  });
});

const listenOrAnswer: Script["exchange"] = (message, reply) => {
  if (message.method === "subscriptions/listen") void reply.notify(resultOf(message));
  else reply.end(resultOf(message));
};

describe("streams that are held open", () => {
  it("leave connections for requests: beyond their number 503, whichever kind they are", async () => {
    const served = await serveFake({ exchange: listenOrAnswer }, { maxConnections: 10, maxStreams: 2 });
    const session = { "Mcp-Session-Id": await served.initialize() };
    const kinds = [
      { headers: modernHeaders, body: { ...question, method: "subscriptions/listen" } },
      { method: "GET", headers: session },
      { method: "GET", path: "/sse" },
    ];
    for (const kind of kinds) {
      const open = [await served.listen(kind), await served.listen(kind)];
      expect(open.map(({ status }) => status)).toEqual([200, 200]);
      for (const other of kinds) {
        const refused = await served.ask(other);
        expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "30"]);
      }
      expect((await served.ask(modern)).status).toBe(200);
      for (const each of open) each.hangUp();
      await whenStreams(served, 0);
    }
  });
});
