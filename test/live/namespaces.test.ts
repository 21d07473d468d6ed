import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { createNetwork, missingForNamespaces, type Network } from "../cluster/namespaces.ts";

const run = promisify(execFile);
const missing = missingForNamespaces();

describe.skipIf(missing !== undefined && !("CI" in process.env))(`a network of namespaces ${missing ?? ""}`, () => {
  let network: Network | undefined;
  afterEach(() => network?.close());

  /** Resolves with what a server in one namespace answers to a request of another. */
  async function request(from: string, to: string): Promise<string> {
    const [program, ...words] = network!.host(to).enter;
    const serve =
      "require('http').createServer((q,s)=>s.end('hello')).listen(8000,'0.0.0.0',()=>console.log('listening'))";
    const server = spawn(program!, [...words, process.execPath, "-e", serve]);
    try {
      await once(server.stdout, "data");
      const [enter, ...rest] = network!.host(from).enter;
      const script = `fetch('http://${network!.host(to).address}:8000',{signal:AbortSignal.timeout(1500)}).then(r=>r.text()).then(console.log,()=>console.log('nothing')).finally(()=>process.exit())`;
      return (await run(enter!, [...rest, process.execPath, "-e", script])).stdout.trim();
    } finally {
      const ended = once(server, "exit");
      server.kill("SIGKILL");
      await ended;
    }
  }

  it("carries requests until a link is cut, and again once it is mended", async () => {
    network = createNetwork(["a", "b", "c"]);
    expect(await request("a", "b")).toBe("hello");
    network.cut("b");
    expect(await request("a", "b")).toBe("nothing");
    network.mend("b");
    expect(await request("a", "b")).toBe("hello");
  });

  it("separates two hosts from each other and from no other", async () => {
    network = createNetwork(["a", "b", "c"]);
    network.separate("a", "b");
    expect(await request("a", "b")).toBe("nothing");
    expect(await request("c", "b")).toBe("hello");
    network.mendAll();
    expect(await request("a", "b")).toBe("hello");
  });

  it("has no way out", () => {
    network = createNetwork(["a"]);
    const [program, ...words] = network.host("a").enter;
    const routes = execFileSync(program!, [...words, "ip", "route"], { encoding: "utf8" });
    expect(routes.trim().split("\n")).toEqual([expect.stringMatching(/^10\.213\.0\.0\/24 dev eth0 /)]);
  });

  it("removes the namespaces and the processes of a run that crashed", async () => {
    const gone = spawn(process.execPath, ["--version"]);
    await once(gone, "exit");
    const name = `pressmark-test-${gone.pid}-left`;
    execFileSync("ip", ["netns", "add", name]);
    const left = spawn("ip", ["netns", "exec", name, "sleep", "1000"]);
    const ended = once(left, "exit");
    await once(left, "spawn");
    while (spawnSync("ip", ["netns", "pids", name], { encoding: "utf8" }).stdout.trim() === "");
    network = createNetwork(["a"]);
    expect(execFileSync("ip", ["netns", "list"], { encoding: "utf8" })).not.toContain(name);
    expect((await ended)[1]).toBe("SIGKILL");
  });
});
