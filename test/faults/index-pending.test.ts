/** While anything is known that is not indexed, no answer says that all was searched. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStage, type Stage, until } from "./stage.ts";

let stage: Stage;

beforeEach(() => {
  stage = createStage();
  stage.write("a.md", "green tea");
});

afterEach(() => stage.close());

/** A folder beside the one that is served. */
function prepare(count: number, words: string): string {
  const folder = join(stage.root, "prepared");
  for (let at = 0; at < count; at += 1) {
    if (at % 100 === 0) mkdirSync(join(folder, String(at / 100)), { recursive: true });
    writeFileSync(join(folder, String(Math.floor(at / 100)), `${at}.md`), `# Number ${at}\n\nblack tea, ${words}`);
  }
  return folder;
}

describe("thousands of files that are moved in at once", () => {
  it("are pending until the last of them is found", async () => {
    const count = 10_000;
    const prepared = prepare(count, "some words of no importance ".repeat(10));
    const server = await stage.serve();
    await stage.untilTrue(server, "tea");
    renameSync(prepared, join(stage.folder, "in"));
    const samples: { documents: number; isComplete: boolean; pending: number; searched: number }[] = [];
    await until("all files in the index", async () => {
      const { searched } = await server.search("black").then(({ ready }) => ({ searched: ready }));
      const { state, mounts } = await server.indexStatus();
      const { documents, pending, ready } = mounts[0]!;
      const seen = { documents, isComplete: state === "complete" || ready === 1, pending, searched };
      samples.push(seen);
      return { holds: documents === count + 1 && seen.isComplete, seen };
    });
    const known = samples.slice(
      samples.findIndex(({ isComplete }) => !isComplete),
      -1,
    );
    expect(known.length).toBeGreaterThan(2);
    for (const { documents, isComplete, pending } of known) {
      expect({ documents, isComplete, isPending: pending > 0 }).toEqual({
        documents,
        isComplete: false,
        isPending: true,
      });
    }
    // A search is asked before the status, and may still have been right.
    for (const { searched } of known.slice(1)) expect(searched).toBeLessThan(1);
    await stage.untilTrue(server, "tea");
  }, 120_000);

  it("do not keep the server from ending", async () => {
    const prepared = prepare(10_000, "a good many more words of little importance ".repeat(60));
    const server = await stage.serve();
    await stage.untilTrue(server, "tea");
    renameSync(prepared, join(stage.folder, "in"));
    await until("thousands of changes that wait", async () => {
      const [mount] = (await server.indexStatus()).mounts;
      return { holds: mount!.pending > 5000 && mount!.documents > 1, seen: mount };
    });
    const { code, signal } = await server.end("SIGTERM");
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(server.log).not.toContain("by force");
  }, 120_000);
});
