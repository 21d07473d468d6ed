import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";

const secret = "a-secret-that-nobody-would-guess";
let stand: Stand;

beforeAll(() => {
  stand = createStand();
  stand.write("README.md", "# Read me\n");
  stand.write(
    "other.yaml",
    "mounts:\n  docs:\n    source: file\n    root: .\n  notes:\n    source: memory\n    resources:\n      a.txt: ${env:NOTE_SECRET}\n",
  );
  stand.write("old.log", `${"an older line\n".repeat(300)}the last line names ${secret}\n`);
});

afterAll(() => stand.remove());

describe("report", () => {
  it("has versions, the config without its secrets, and what doctor finds; the home folder is ~", async () => {
    const words = ["report", "--config", "other.yaml", "--log", "old.log", "--server", "http://127.0.0.1:9/mcp"];
    const { code, out, err } = await stand.run(words, { env: { NOTE_SECRET: secret } });
    expect(code).toBe(0);
    expect(out).toContain('"pressmark": "1.2.3"');
    expect(out).toContain('"vitest": "');
    expect(out).toContain('"source": "file"');
    expect(out).toMatch(/^ok {6}mount docs: /m);
    expect(out).toContain("http://127.0.0.1:9/mcp: the server at http://127.0.0.1:9/mcp cannot be reached");
    expect(out.match(/^an older line$/gm)).toHaveLength(199);
    expect(out).toContain("the last line names ");
    expect(out).not.toContain(secret);
    expect(out).toContain("~/files/other.yaml");
    expect(out).not.toContain(stand.folder);
    expect(err).toBe("pressmark: names of mounts, files and callers are in it; read it before you share it\n");
  });

  it("shows no secret of a URL, in the config or in a log", async () => {
    stand.write(
      "urls.yaml",
      `mounts: { docs: { source: file, root: . } }\nserver: { state: "postgres://u@127.0.0.1:9/db?password=${secret}", bus: "nats://${secret}@127.0.0.1:9" }\n`,
    );
    const log = `asked https://h/?token=${secret} and nats://${secret}@h\n`;
    const words = ["report", "--config", "urls.yaml", "--log", "-", "--server", "http://127.0.0.1:9/mcp"];
    const { code, out, err } = await stand.run(words, { input: log });
    expect(code).toBe(0);
    expect(out).toContain("postgres://u@127.0.0.1:9/db?password=••••");
    expect(out).toContain("asked https://h/?token=•••• and nats://••••@h");
    expect(out + err).not.toContain(secret);
  });

  it("has the state and the log of a running server", async () => {
    stand.write("broken.yaml", "mounts:\n  docs: { source: file, root: . }\n  gone: { source: file, root: nowhere }\n");
    const stop = new AbortController();
    let heard = "";
    let reported: ReturnType<Stand["run"]> | undefined;
    const served = stand.run(["serve", "--quiet", "--port", "0", "--config", "broken.yaml"], {
      signal: stop.signal,
      heard(text) {
        heard += text;
        const url = /^http:\S+$/m.exec(heard)?.[0];
        if (url === undefined || reported) return;
        reported = stand.run(["report", "--json", "--server", url]).finally(() => stop.abort());
      },
    });
    expect((await served).code).toBe(0);
    const report = JSON.parse((await reported!).out);
    expect(report.server).toMatchObject({
      version: "1.2.3",
      mounts: expect.arrayContaining([expect.objectContaining({ name: "docs" })]),
      log: expect.any(Array),
    });
    expect(report.config).toEqual({ problem: "no config in this folder or above" });
  });

  it("reads a log from standard input, also one with fences", async () => {
    const log = "a line\n````\nanother\n";
    const { out } = await stand.run(["report", "--log", "-", "--server", "http://127.0.0.1:9/mcp"], { input: log });
    expect(out).toContain("`````\na line\n````\nanother\n`````\n");
  });

  it("keeps its paths where the home folder is the whole disk", async () => {
    const words = ["report", "--json", "--config", "other.yaml", "--server", "http://127.0.0.1:9/mcp"];
    const { out } = await stand.run(words, { env: { HOME: "/", NOTE_SECRET: secret } });
    expect(JSON.parse(out).config.file).toBe(`${stand.folder}/other.yaml`);
  });

  it("says that a log is missing", async () => {
    const { code, err } = await stand.run(["report", "--log", "nowhere.log", "--server", "http://127.0.0.1:9/mcp"]);
    expect(code).not.toBe(0);
    expect(err).toMatch(/nowhere\.log/);
  });
});
