/** The command as a process: output, signals and exit code. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const entry = pathToFileURL(join(import.meta.dirname, "run.ts")).href;
let root: string;
let folder: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "pressmark-run-"));
  folder = join(root, "files");
  mkdirSync(folder);
  writeFileSync(
    join(root, "start.mjs"),
    `import { runProcess } from ${JSON.stringify(entry)};\nawait runProcess({ version: "1.2.3" });`,
  );
  for (let count = 0; count < 3000; count++)
    writeFileSync(join(folder, `a-file-with-a-rather-long-name-${count}.txt`), "");
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

function start(...words: string[]): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [join(root, "start.mjs"), ...words], {
    cwd: folder,
    env: {
      ...process.env,
      XDG_STATE_HOME: join(root, "state"),
      XDG_CACHE_HOME: join(root, "cache"),
      PRESSMARK_LOG: "warn",
    },
  });
}

/** All output up to this text. */
async function until(child: ChildProcessWithoutNullStreams, said: string): Promise<string> {
  let heard = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    heard += String(chunk);
    if (heard.includes(said)) break;
  }
  return heard;
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<unknown> {
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  return code ?? signal;
}

describe("serve", () => {
  it("prints its address and the settings for hosts, responds, and stops on a signal", async () => {
    const child = start("serve", "--port", "0");
    const complaints = text(child.stderr);
    const said = await until(child, "Inspector");
    const url = /serves at (http:\/\/127\.0\.0\.1:\d+\/mcp)/.exec(said)?.[1];
    const picker = new URL("/", url).href;
    expect(said).toContain(`in a browser: ${picker}\n`);
    expect(said).toContain(`claude mcp add --transport http pressmark ${url}`);
    expect(said).toContain(`{"servers":{"pressmark":{"type":"http","url":"${url}"}}}`);

    const response = await fetch(url!, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      }),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"serverInfo":{"name":"pressmark"');

    const page = await fetch(picker);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await page.text()).toContain('<main id="picker">');

    const sse = await fetch(url!.replace("/mcp", "/sse"));
    expect(sse.headers.get("content-type")).toContain("text/event-stream");

    const end = ended(child);
    child.kill("SIGTERM");
    expect(await end).toBe(0);
    expect(await complaints).toBe("");
    await sse.body?.cancel().catch(() => {});
  });

  it("names the flag to use when the port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const child = start("serve", "--port", String(port));
    const complaints = text(child.stderr);
    expect(await ended(child)).toBe(1);
    expect(await complaints).toBe(
      `pressmark: port ${port} is in use by another program, perhaps another pressmark; choose a port with --port, or a free one with --port 0\n`,
    );
    other.close();
  });

  it("warns when others can reach it", async () => {
    const child = start("serve", "--port", "0", "--host", "0.0.0.0");
    const warned = once(child.stderr, "data");
    const said = await until(child, "Inspector");
    expect(said).toMatch(/serves at http:\/\/127\.0\.0\.1:\d+\/mcp/);
    expect(String(await warned)).toBe(
      "pressmark: anyone who can reach this machine can read everything that is served; leave out --host to serve only this machine, or require a token with --token-file\n",
    );
    const end = ended(child);
    child.kill("SIGINT");
    expect(await end).toBe(0);
  });
});

describe("stdio", () => {
  it("writes only the protocol to standard output, and ends with its input", async () => {
    const child = start("stdio");
    const [out, err] = [text(child.stdout), text(child.stderr)];
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } } })}\n`,
    );
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    child.stdin.end(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "resources/list" })}\n`);
    expect(await ended(child)).toBe(0);
    const messages = (await out)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: number; result: object });
    expect(messages.map(({ id }) => id)).toEqual([1, 2]);
    expect(messages[0]!.result).toMatchObject({
      protocolVersion: "2025-06-18",
      serverInfo: { name: "pressmark", version: "1.2.3" },
    });
    expect(await err).toBe("");
  });

  it("stops on a signal", async () => {
    const child = start("stdio");
    const answered = until(child, '"id":1');
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
    await answered;
    const end = ended(child);
    child.kill("SIGTERM");
    expect(await end).toBe(0);
  });
});

describe("a pipe", () => {
  it("that is closed early ends the command quietly", async () => {
    const child = start("ls", "--json");
    const complaints = text(child.stderr);
    await once(child.stdout, "data");
    child.stdout.destroy();
    expect(await ended(child)).toBe(0);
    expect(await complaints).toBe("");
  });

  it("is given everything, however slowly it is read", async () => {
    const child = start("ls");
    const lines = (await text(child.stdout)).trimEnd().split("\n");
    expect(lines).toHaveLength(3000);
  });
});
