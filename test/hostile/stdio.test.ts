/** The command over standard input and output, with a host that writes anything, reads nothing, or goes away. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { expectDiscreet, modernBody, type Rpc } from "./attacker.ts";
import { build, open } from "./test-server.ts";
import { megabyte } from "./process.ts";

const command = join(import.meta.dirname, "..", "e2e", "child.ts");

interface Host {
  readonly child: ChildProcessWithoutNullStreams;
  write(bytes: string | Uint8Array): void;
  ask(message: object): void;
  /** The next line, parsed. */
  next(): Promise<Rpc>;
  /** Everything up to the end. */
  rest(): Promise<Rpc[]>;
  readonly said: string;
  readonly exit: Promise<[code: number | null, signal: string | null]>;
}

describe("the command over standard input and output", () => {
  let folder: string;
  let above: string;
  let state: string;
  const hosts: Host[] = [];
  beforeAll(async () => {
    ({ folder, above } = await build());
    state = mkdtempSync(join(tmpdir(), "pressmark-state-"));
    writeFileSync(join(folder, "page.txt"), "p".repeat(4000));
  });
  afterEach(async () => {
    for (const { child, exit } of hosts.splice(0)) {
      child.stdin.destroy();
      child.stdout.resume();
      await exit;
    }
  });
  afterAll(() => {
    for (const path of [above, state]) rmSync(path, { recursive: true, force: true });
  });

  function start(): Host {
    const child = spawn(process.execPath, [command, "stdio", folder], {
      env: { ...process.env, XDG_STATE_HOME: state, XDG_CACHE_HOME: state },
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    child.stdin.on("error", () => {});
    const exit = once(child, "exit") as Host["exit"];
    const lines = linesOf(child);
    const host: Host = {
      child,
      exit,
      write: (bytes) => void child.stdin.write(bytes),
      ask: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
      async next() {
        const { value, done } = await lines.next();
        if (done) throw new Error(`the command ended: ${said}`);
        return JSON.parse(value) as Rpc;
      },
      async rest() {
        const all: Rpc[] = [];
        for await (const line of lines) all.push(JSON.parse(line) as Rpc);
        return all;
      },
      get said() {
        return said;
      },
    };
    hosts.push(host);
    return host;
  }

  const read = (id: unknown, name: string = open.name) =>
    modernBody("resources/read", { uri: `file://${folder}/${name}` }, id);

  async function expectAnswers(host: Host): Promise<void> {
    host.ask(read("still there"));
    expect(await host.next()).toMatchObject({ id: "still there", result: { contents: [{ text: open.text }] } });
    expect(host.said).toBe("");
  }

  it("answers what is no message with one error each, and goes on", async () => {
    const host = start();
    const wrong: (string | Uint8Array)[] = [
      "{",
      "[]",
      "null",
      "7",
      '"x"',
      "{}",
      "NaN",
      "\ufeff{}",
      "// x",
      "{'a':1}",
      '{"jsonrpc":"2.0","id":1}',
      "\0",
      "\0\0\0",
      "[".repeat(100_000),
      '{"a":'.repeat(50_000),
      Buffer.of(0xff, 0xfe),
      Buffer.of(0xc0, 0x80),
      Buffer.of(0xed, 0xa0, 0x80),
      Buffer.from('{"jsonrpc":"2.0"}', "utf16le").subarray(0, 20),
      "\u2028",
      "Content-Length: 5",
    ];
    for (const bytes of wrong) {
      host.write(bytes);
      host.write("\n");
      const answer = await host.next();
      expect([String(bytes).slice(0, 20), answer.id]).toEqual([String(bytes).slice(0, 20), answer.id === 1 ? 1 : null]);
      expect([-32700, -32600]).toContain(answer.error?.code);
      expectDiscreet(JSON.stringify(answer), { folder });
    }
    host.write("\n\r\n  \n\t\r\n");
    await expectAnswers(host);
  });

  it("answers binary garbage line by line", async () => {
    const host = start();
    // Deterministic noise: a linear congruence.
    const noise = Buffer.alloc(64 * 1024);
    for (let at = 0, value = 7; at < noise.length; at++)
      noise[at] = (value = (value * 1_103_515_245 + 12_345) % 2_147_483_648) >> 16;
    host.write(Buffer.concat([noise, Buffer.from("\n")]));
    const lines = noise
      .toString("latin1")
      .split("\n")
      .filter((line) => !/^[ \r\t]*$/.test(line));
    for (const _ of lines) expect((await host.next()).error?.code).toBe(-32700);
    await expectAnswers(host);
  });

  it("skips a line that is longer than it may be, and says so once", async () => {
    const host = start();
    for (const length of [4 * megabyte + 1, 9 * megabyte]) {
      host.write(Buffer.alloc(length, "x"));
      host.write("\n");
      expect(await host.next()).toMatchObject({ id: null, error: { code: -32600 } });
      await expectAnswers(host);
    }
    const fits = JSON.stringify(read("just fits"));
    host.write(`${fits}${" ".repeat(4 * megabyte - fits.length)}\n`);
    expect(await host.next()).toMatchObject({ id: "just fits", result: {} });
  });

  it("answers a last line without an end, says what was wrong with half of one, and ends well", async () => {
    const whole = start();
    whole.child.stdin.end(JSON.stringify(read("last")));
    expect(await whole.rest()).toMatchObject([{ id: "last", result: {} }]);
    expect(await whole.exit).toEqual([0, null]);
    const half = start();
    half.child.stdin.end(JSON.stringify(read("last")).slice(0, 40));
    expect(await half.rest()).toMatchObject([{ id: null, error: { code: -32700 } }]);
    expect(await half.exit).toEqual([0, null]);
    const none = start();
    none.child.stdin.end();
    expect(await none.rest()).toEqual([]);
    expect(await none.exit).toEqual([0, null]);
    expect([whole.said, half.said, none.said]).toEqual(["", "", ""]);
  });

  it("answers 100,000 tiny lines", async () => {
    const host = start();
    host.write("{}\n".repeat(100_000));
    for (let left = 100_000; left > 0; left--) {
      const { error } = await host.next();
      if (error?.code !== -32600) throw new Error("another answer than the others");
    }
    await expectAnswers(host);
  });

  it("reads no more than it can answer to a host that does not read, and answers all of it later", async () => {
    const host = start();
    await expectAnswers(host);
    host.child.stdout.pause();
    const before = peakOf(host);
    // Together about 100 megabytes of answers.
    const count = 25_000;
    const asked = Array.from({ length: count }, (_, id) => `${JSON.stringify(read(id, "page.txt"))}\n`).join("");
    const taken = Promise.withResolvers<boolean>();
    host.child.stdin.write(asked, () => taken.resolve(true));
    expect(await Promise.race([taken.promise, idle(host)])).toBe(false);
    expect(peakOf(host) - before).toBeLessThan(64 * megabyte);
    host.child.stdout.resume();
    let sum = 0;
    for (let left = count; left > 0; left--) sum += Number((await host.next()).id);
    expect(sum).toBe((count * (count - 1)) / 2);
    expect(host.said).toBe("");
  });

  it("ends when no one reads any more", async () => {
    const host = start();
    await expectAnswers(host);
    host.child.stdout.destroy();
    host.write(`${JSON.stringify(read(1))}\n`.repeat(1000));
    const [code, signal] = await host.exit;
    expect([code, signal]).toEqual([0, null]);
    expect(host.said).toBe("");
  });

  it("ends with a listen under way when its host goes away", async () => {
    const host = start();
    const notifications = { resourcesListChanged: true, resourceSubscriptions: [`file://${folder}/${open.name}`] };
    host.ask(modernBody("subscriptions/listen", { notifications }, "listen"));
    expect(await host.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    host.child.stdin.end();
    await host.rest();
    expect(await host.exit).toEqual([0, null]);
  });
});

/** Its largest size so far. */
function peakOf({ child }: Host): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) * 1024;
}

/** Resolves to false once the process has used no time of the processor while twenty times looked at. */
async function idle({ child }: Host): Promise<false> {
  const used = (): string | undefined =>
    readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ").slice(11, 13).join(" ");
  for (let same = 0, before = used(); same < 20;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const now = used();
    same = now === before ? same + 1 : 0;
    before = now;
  }
  return false;
}

async function* linesOf({ stdout }: ChildProcessWithoutNullStreams): AsyncGenerator<string, undefined> {
  let rest: Buffer[] = [];
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString("utf8");
      rest = [];
      from = end + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
  return undefined;
}
