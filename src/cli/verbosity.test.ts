import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStand, type Stand } from "./test-command.ts";

let stand: Stand;

beforeAll(() => {
  stand = createStand();
  stand.write("README.md", "# Read me\n");
  stand.write("pressmark.config.yaml", "mounts:\n  docs: { source: file, root: . }\n  bad: { source: file }\n");
});

afterAll(() => stand.remove());

describe("--quiet and --verbose", () => {
  it("are flags of every command, and exclude each other", async () => {
    for (const words of [["ls"], ["doctor"], ["serve"]])
      expect(await stand.run([...words, "-q", "--verbose"])).toMatchObject({
        code: 2,
        err: "pressmark: use --quiet or --verbose, not both\n",
      });
    expect((await stand.run(["help", "ls"])).out).toMatch(/-q, --quiet +Print only results and errors/);
    expect((await stand.run(["help"])).out).toMatch(/-v, --verbose +Log more/);
  });

  it("log less and more than without them", async () => {
    const [normal, quiet, verbose] = await Promise.all(
      [[], ["--quiet"], ["--verbose"]].map((flags) => stand.run(["ls", "--all", ...flags])),
    );
    expect(quiet!.out).toBe(normal!.out);
    expect(verbose!.out).toBe(normal!.out);
    expect(normal!.err).toContain("pressmark warn");
    expect(quiet!.err).not.toContain("pressmark warn");
    expect(verbose!.err.split("\n").length).toBeGreaterThanOrEqual(normal!.err.split("\n").length);
  });

  it("win over the variables", async () => {
    const { err } = await stand.run(["ls", "--all", "-q"], { env: { PRESSMARK_LOG: "info" } });
    expect(err).not.toContain("pressmark warn");
  });

  it("show the place of an error, or not", async () => {
    const place = /^ +at .+\.ts:\d+/m;
    expect((await stand.run(["read", "nowhere.md", "--verbose"])).err).toMatch(place);
    expect((await stand.run(["read", "nowhere.md"])).err).not.toMatch(place);
  });

  it("make serve print the address alone", async () => {
    const stop = new AbortController();
    const { out } = await stand.run(["serve", "--port", "0", "--quiet"], {
      signal: stop.signal,
      heard: (text) => text.startsWith("http") && stop.abort(),
    });
    expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp\n$/);
  });
});
