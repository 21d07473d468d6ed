/** Instances that serve one network folder, each through a mount of its own: one of the mounts goes away. */
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { wait } from "../lib/wait.ts";
import { withMembers } from "../lib/with-members.ts";
import { serverCaller } from "../resources.ts";
import { createRuntime } from "../server/runtime.ts";
import type { Source, SourceDefinition } from "../source.ts";
import config from "../sources/config.ts";
import docs from "../sources/docs.ts";
import file from "../sources/file.ts";
import skills from "../sources/skills.ts";
import { createLocalLeases } from "../state/local-leases.ts";
import { createMemoryBus } from "../state/memory-bus.ts";
import { createClock } from "../testing/clock.ts";
import { shareWatch } from "./shared-watch.ts";

const runtime = createRuntime({ write: () => true });

interface Served {
  readonly definition: SourceDefinition;
  readonly options?: object;
  /** A file, and its address. */
  readonly at: string;
  readonly path: string;
  readonly texts: readonly [before: string, after: string];
}

const skillText = (what: string) => `---\nname: one\ndescription: ${what}\n---\n\n# One\n`;

const served: Readonly<Record<string, Served>> = {
  file: { definition: file as SourceDefinition, at: "a.txt", path: "a.txt", texts: ["one", "two, and longer"] },
  docs: {
    definition: docs as SourceDefinition,
    at: "a.md",
    path: "en/a.md",
    texts: ["# One\n", "# Two\n\nand longer\n"],
  },
  skills: {
    definition: skills as SourceDefinition,
    at: "one/SKILL.md",
    path: "one/SKILL.md",
    texts: [skillText("Before"), skillText("After, and longer")],
  },
  config: {
    definition: config as SourceDefinition,
    options: { files: ["a.json"], env: false },
    at: "a.json",
    path: "file/a.json",
    texts: ['{ "port": 1 }', '{ "port": 1000 }'],
  },
};

function createInstances({ definition, options, at, texts }: Served) {
  const clock = createClock();
  const bus = createMemoryBus(clock.runtime);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-missing-folder-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  /** The instances that have armed the watch of their source. */
  const watching = new Set<string>();
  return {
    folder,
    watching,
    said: () => clock.logged.map(({ message }) => message.split(";")[0]),
    async open(name: string): Promise<string[]> {
      const root = join(folder, name);
      write(root, at, texts[0]);
      const parsed = definition.options(z).parse({ root, pollMs: 100, ...options });
      const leases = createLocalLeases({ folder, instance: name, runtime: { wait }, pollMs: 5 });
      const own = await definition.open(parsed, runtime);
      const watch: Source["watch"] = async (call) => {
        const opened = await own.watch!(call);
        watching.add(name);
        return opened;
      };
      const shared = shareWatch(withMembers(own, { watch }), { mount: "notes", bus, leases, runtime: clock.runtime });
      const stop = new AbortController();
      onTestFinished(async () => {
        stop.abort();
        await shared.close?.();
        await leases.close();
      });
      const heard: string[] = [];
      let isArmed = false;
      void (async () => {
        const changes = await shared.watch!({ caller: serverCaller, signal: stop.signal });
        isArmed = true;
        for await (const change of changes) heard.push("path" in change ? change.path : change.kind);
      })().catch(() => undefined);
      await vi.waitFor(
        async () => {
          await clock.advance(500);
          expect(isArmed).toBe(true);
        },
        { timeout: 20_000, interval: 5 },
      );
      return heard;
    },
    /** Lets time pass until it holds. */
    until: (check: () => void) =>
      vi.waitFor(
        async () => {
          await clock.advance(500);
          check();
        },
        { timeout: 20_000, interval: 5 },
      ),
  };
}

function write(root: string, at: string, text: string): void {
  mkdirSync(join(root, at, ".."), { recursive: true });
  writeFileSync(join(root, at), text);
}

it.each(Object.entries(served))("%s: another instance watches the folder, and all are told", async (_, given) => {
  const { folder, open, said, until, watching } = createInstances(given);
  const told = [await open("leader"), await open("other")];
  const untilTold = async (what: string) => {
    await until(() => {
      for (const each of told) expect(each).toContain(what);
    });
  };
  await until(() => expect([...watching]).toEqual(["leader"]));
  write(join(folder, "leader"), given.at, given.texts[1]);
  await untilTold(given.path);

  for (const each of told) each.length = 0;
  renameSync(join(folder, "leader"), join(folder, "unmounted"));
  await until(() => expect(said()).toEqual(["this instance cannot watch the mount now", "the mount is watched again"]));
  await untilTold("lost");

  for (const each of told) each.length = 0;
  write(join(folder, "other"), given.at, given.texts[1]);
  await untilTold(given.path);
});
