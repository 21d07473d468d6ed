/** `search` and `gather` find what is on the disk when they start, alone and beside others that use the same index. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createStage, type Stage, until } from "./stage.ts";

let stage: Stage;

beforeAll(() => {
  stage = createStage();
  for (let at = 0; at < 20; at += 1) stage.write(`${at}.md`, `# Number ${at}\n\ngreen tea and 緑茶\n`);
});

afterAll(() => stage.close());

const search = async (word: string): Promise<string> => (await stage.run(["search", word])).out;

it("find what was just written, and show nothing that was removed", async () => {
  // By its name: many texts are as similar, and only the first ten are printed.
  expect(await search("1.md")).toMatch(/^1\.md/m);
  stage.write("新しい.md", "やかんが沸く oolong\n");
  rmSync(join(stage.folder, "1.md"));
  const [words, packed] = [await search("やかん"), await stage.run(["gather", "oolong and Number 1"])];
  expect(decodeURI(words)).toContain("新しい.md");
  expect(packed.out).toContain("oolong");
  expect(packed.out).not.toContain("/1.md");
});

it("find what was just written while several of them run at once", async () => {
  stage.write("rooibos.md", "rooibos\n");
  for (const out of await Promise.all(["rooibos", "rooibos", "rooibos"].map(search)))
    expect(out).toContain("rooibos.md");
});

it("answer beside a server, and after it was killed", async () => {
  const server = await stage.serve();
  await until("the index of the server", async () => {
    const { state } = await server.indexStatus();
    return { holds: state === "complete", seen: state };
  });
  expect(await search("rooibos")).toContain("rooibos.md");
  stage.write("sencha.md", "sencha\n");
  await until("what was written beside the server", async () => {
    const seen = await search("sencha");
    return { holds: seen.includes("sencha.md"), seen };
  });
  await server.end("SIGKILL");
  stage.write("matcha.md", "matcha\n");
  expect(await search("matcha")).toContain("matcha.md");
});

it("answer beside a host's server on stdio, and after it was killed", async () => {
  const program = join(import.meta.dirname, "../../bin/pressmark.js");
  const env = {
    ...process.env,
    HOME: stage.root,
    XDG_CACHE_HOME: stage.cache,
    XDG_STATE_HOME: join(stage.root, "state"),
  };
  const server = spawn(process.execPath, [program, "stdio", stage.folder], {
    env,
    stdio: ["pipe", "ignore", "ignore"],
  });
  expect(await search("rooibos")).toContain("rooibos.md");
  const exited = once(server, "exit");
  server.kill("SIGKILL");
  await exited;
  stage.write("hojicha.md", "hojicha\n");
  expect(await search("hojicha")).toContain("hojicha.md");
});
