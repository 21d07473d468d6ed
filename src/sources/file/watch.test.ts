import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SourceChange } from "../../source.ts";
import { listen } from "../../testing/listen.ts";
import { useFolder } from "./test-folder.ts";

const folder = useFolder();
const { at, call, link, open, write } = folder;

const kindIs = (kind: SourceChange["kind"], path: string) => (change: SourceChange) =>
  change.kind === kind && "path" in change && change.path === path;

async function hear() {
  const source = await open();
  const { until, heard, ended } = listen(await source.watch(call()));
  return {
    heard,
    ended,
    until: (kind: SourceChange["kind"], path: string) => until(kindIs(kind, path), `${kind} ${path}`),
    untilThere: (path: string) =>
      until((change) => change.kind !== "gone" && "path" in change && change.path === path, `that ${path} is there`),
    untilLost: (times: number) =>
      until(() => heard.filter(({ kind }) => kind === "lost").length >= times, `"lost" for the ${times}. time`),
    /** Resolves when all that was done before has been heard. */
    async settle() {
      write("~settled", "");
      await until(kindIs("appeared", "~settled"), "settled");
    },
  };
}

describe("watch", () => {
  it("tells of what is made, changed, renamed and removed", async () => {
    write("a.txt", "");
    const { until } = await hear();
    write("b.txt", "");
    await until("appeared", "b.txt");
    fs.appendFileSync(at("a.txt"), "more");
    await until("changed", "a.txt");
    fs.renameSync(at("a.txt"), at("c.txt"));
    await until("gone", "a.txt");
    await until("appeared", "c.txt");
    fs.rmSync(at("b.txt"));
    await until("gone", "b.txt");
  });

  it("tells of a file saved by renaming that it changed, and of nothing else", async () => {
    write("a.txt", "one");
    const { heard, settle } = await hear();
    write(".a.txt.swp", "two");
    fs.renameSync(at(".a.txt.swp"), at("a.txt"));
    await settle();
    expect(heard.filter((change) => "path" in change && change.path !== "~settled")).toEqual([
      { kind: "changed", path: "a.txt" },
    ]);
  });

  it("never tells of what is not served", async () => {
    const { heard, settle } = await hear();
    write(".env", "SECRET=1");
    write("node_modules/x/index.js", "");
    write("id_rsa", "");
    write(".git/refs/heads/main", "");
    link(".env", "notes.txt");
    link("../", "up");
    execFileSync("mkfifo", [at("pipe")]);
    fs.writeFileSync(Buffer.from(`${folder.root}/broken-\xff.txt`, "latin1"), "x");
    fs.rmSync(at(".env"));
    await settle();
    expect(heard.filter((change) => !("path" in change) || change.path !== "~settled")).toEqual([]);
  });

  it("hears each of a thousand files made at once in new folders, and what is done to them later", async () => {
    const { until } = await hear();
    const paths: string[] = [];
    for (let index = 0; index < 1000; index += 1) paths.push(`new/${index % 10}/${index % 100}/${index}.txt`);
    for (const path of paths) write(path, "");
    for (const path of paths) await until("appeared", path);
    await until("appeared", "new/3/13");
    for (const path of paths) fs.appendFileSync(at(path), "x");
    for (const path of paths) await until("changed", path);
    fs.rmSync(at("new"), { recursive: true });
    for (const path of paths) await until("gone", path);
    await until("gone", "new");
  }, 30_000);

  it("tells of all in a folder that is moved in, within or out", async () => {
    fs.mkdirSync(join(folder.above, "outside/deep"), { recursive: true });
    fs.writeFileSync(join(folder.above, "outside/deep/a.txt"), "");
    const { until } = await hear();
    fs.renameSync(join(folder.above, "outside"), at("in"));
    await until("appeared", "in/deep/a.txt");
    fs.appendFileSync(at("in/deep/a.txt"), "x");
    await until("changed", "in/deep/a.txt");
    fs.renameSync(at("in"), at("within"));
    await until("gone", "in/deep/a.txt");
    await until("gone", "in");
    await until("appeared", "within/deep/a.txt");
    write("within/deep/b.txt", "");
    await until("appeared", "within/deep/b.txt");
    fs.renameSync(at("within"), join(folder.above, "outside"));
    await until("gone", "within/deep/a.txt");
    await until("gone", "within/deep");
  });

  it("hears of a file that is removed and made again, and of a folder that is", async () => {
    write("a.txt", "one");
    write("folder/b.txt", "one");
    const { until, untilThere } = await hear();
    fs.rmSync(at("a.txt"));
    write("a.txt", "two");
    await untilThere("a.txt");
    fs.rmSync(at("folder"), { recursive: true });
    write("folder/c.txt", "two");
    await until("appeared", "folder/c.txt");
    write("folder/d.txt", "");
    await until("appeared", "folder/d.txt");
  });

  it("says that it lost sight when the folder itself is replaced, and sees the new one", async () => {
    write("a.txt", "");
    const { until, untilLost } = await hear();
    fs.renameSync(folder.root, join(folder.above, "moved"));
    await untilLost(1);
    fs.mkdirSync(folder.root);
    await untilLost(2);
    write("b.txt", "");
    await until("appeared", "b.txt");
  }, 20_000);

  it("leaves nothing running when its signal ends", async () => {
    const { ended } = await hear();
    folder.stop();
    await ended;
    expect(process.getActiveResourcesInfo().filter((name) => /Worker|MessagePort|FSEvent/.test(name))).toEqual([]);
  });
});
