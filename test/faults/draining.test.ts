/** A server that is told to stop serves on for `drainMs`: a load balancer notices before a request fails. */
import { Agent, request } from "node:http";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { modernBody } from "../hostile/attacker.ts";
import { createScratch, startServe } from "./pressmark-process.ts";

const scratch = createScratch();
const files = join(scratch.folder, "files");
const uri = pathToFileURL(join(files, "a.txt")).href;
const clients = 8;

beforeAll(() => {
  mkdirSync(files);
  writeFileSync(join(files, "a.txt"), "a few words\n");
  writeFileSync(
    join(files, "pressmark.config.json"),
    JSON.stringify({ mounts: { files: { source: "file", root: "." } }, server: { drainMs: 1500 } }),
  );
});
afterAll(() => scratch.remove());

interface Answer {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly text: string;
}

it("answers every request while it drains, tells clients to connect elsewhere, and then refuses connections", async () => {
  const server = await startServe(["--config", join(files, "pressmark.config.json")], { cwd: files, env: scratch.env });
  const agent = new Agent({ keepAlive: true });
  try {
    const answers: Answer[] = [];
    const failures: string[] = [];
    let notReady = false;
    let sinceNotReady = 0;
    const first = Promise.withResolvers<void>();

    /** Asks again and again, until no connection is accepted. */
    async function load(): Promise<void> {
      for (;;)
        try {
          answers.push(await read(server.port, agent));
          if (notReady) sinceNotReady += 1;
          if (answers.length >= clients * 4) first.resolve();
        } catch (cause) {
          failures.push(await reasonOf(cause, server.port));
          return;
        }
    }

    const loads = Array.from({ length: clients }, load);
    await first.promise;
    const listen = listening(server.port);
    await listen.began;
    server.child.kill("SIGTERM");
    while ((await readiness(server.port)) === 200);
    notReady = true;
    await Promise.all(loads);
    expect(sinceNotReady).toBeGreaterThan(clients);
    expect(failures).toEqual(Array.from({ length: clients }, () => "refused"));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers.every(({ text }) => text.includes("a few words"))).toBe(true);
    expect(answers[0]?.connection).toBe("keep-alive");
    expect(answers.at(-1)?.connection).toBe("close");
    expect(await listen.text).toMatch(/"resultType":"complete"/);
    expect(await server.exited).toBe(0);
    expect(server.errors).toBe("");
  } finally {
    agent.destroy();
    server.child.kill("SIGKILL");
  }
});

it("ends at once when told again while it drains", async () => {
  const config = join(files, "long.config.json");
  writeFileSync(config, JSON.stringify({ server: { drainMs: 300_000 } }));
  const server = await startServe(["--config", config], { cwd: files, env: scratch.env });
  server.child.kill("SIGTERM");
  while ((await readiness(server.port)) === 200);
  // A signal that follows at once may be the same, passed on by npm: it is sent until it counts as another.
  const again = setInterval(() => server.child.kill("SIGTERM"), 20);
  expect(["SIGTERM", 143]).toContain(await server.exited);
  clearInterval(again);
});

/** The system resets a connection that the server had not accepted when it closed its port; nothing was received of it. */
async function reasonOf(cause: unknown, port: number): Promise<string> {
  const { code, isNewConnection } = cause as NodeJS.ErrnoException & { readonly isNewConnection?: boolean };
  const isRefused = code === "ECONNREFUSED" || (code === "ECONNRESET" && isNewConnection && !(await isOpen(port)));
  return isRefused ? "refused" : String(cause);
}

function isOpen(port: number): Promise<boolean> {
  const probe = connect({ port, host: "127.0.0.1" });
  return new Promise<boolean>((resolve) =>
    probe.on("connect", () => resolve(true)).on("error", () => resolve(false)),
  ).finally(() => probe.destroy());
}

function post(port: number, method: string, params: object, agent?: Agent) {
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": method,
    ...("uri" in params && { "Mcp-Name": String(params.uri) }),
  };
  const asking = request({ port, host: "127.0.0.1", path: "/mcp", method: "POST", headers, ...(agent && { agent }) });
  asking.end(JSON.stringify(modernBody(method, params)));
  return asking;
}

function read(port: number, agent: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let hasBegun = false;
    const asking = post(port, "resources/read", { uri }, agent);
    asking
      .on("error", (cause) => reject(Object.assign(cause, { isNewConnection: !asking.reusedSocket && !hasBegun })))
      .on("response", (response) => {
        hasBegun = true;
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({ status: response.statusCode, connection: response.headers.connection, text }),
        );
      });
  });
}

/** A listen that lasts until the server ends it. */
function listening(port: number): { readonly began: Promise<void>; readonly text: Promise<string> } {
  const began = Promise.withResolvers<void>();
  const text = new Promise<string>((resolve, reject) => {
    post(port, "subscriptions/listen", { notifications: { resourcesListChanged: true } })
      .on("error", reject)
      .on("response", (response) => {
        let all = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          all += chunk;
          began.resolve();
        });
        response.on("error", reject);
        response.on("end", () => resolve(all));
      });
  });
  return { began: began.promise, text };
}

async function readiness(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/health/ready`, { headers: { Connection: "close" } });
  await response.text();
  return response.status;
}
