/** What a caller may not see answers, to the letter, like what does not exist: through every entry point. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../wire/json.ts";
import { listAll, textAt, urisIn } from "./answers.ts";
import { crowd, sampleContents } from "./fixtures.ts";
import { base, legs, modernLegs, openTestServer } from "./harness.ts";
import { settled } from "./line/create-line.ts";
import type { Line } from "./line/line.ts";

/** The whole response, with one name put in place of the other, so that nothing but the name may differ. */
async function answerFor(
  line: Line,
  method: string,
  params: JsonRecord,
  hidden: string,
  absent: string,
): Promise<string> {
  const response = await settled(await line.start(method, params, { id: "same" }));
  return JSON.stringify(response).replaceAll(hidden, absent);
}

describe.for(legs)("what may not be seen over $transport in $revision", (leg) => {
  it("reads exactly like what is not there, however it is spelled (S3-11, S3-12, LEG-8, LEG-10, MOD-27)", async () => {
    await using pressmark = await openTestServer({ sampleContents, folder: true });
    await mkdir(join(pressmark.folder, "secrets"));
    await writeFile(join(pressmark.folder, "secrets", "key.txt"), "hidden\n");
    const line = await pressmark.line(leg);
    const spellings = ["secrets/key.txt", "%73ecrets/key.txt", "secret%73/key%2Etxt", "secrets"];
    for (const start of [base, pressmark.folderBase])
      for (const hidden of spellings) {
        const absent = hidden.replace("ecre", "ocre");
        const method = "resources/read";
        expect(await answerFor(line, method, { uri: start + hidden }, hidden, absent)).toBe(
          await answerFor(line, method, { uri: start + absent }, hidden, absent),
        );
      }
    const owner = await pressmark.line(leg, "owner");
    expect(await textAt(owner, `${base}secrets/key.txt`)).toBe("hidden from readers\n");
    expect(await textAt(owner, `${pressmark.folderBase}secrets/key.txt`)).toBe("hidden\n");
  });

  it("is in no list and leaves no gap in any page (S3-11, LEG-8, MOD-20, MOD-41)", async () => {
    const { "secrets/key.txt": _hidden, ...open } = sampleContents;
    await using pressmark = await openTestServer({ sampleContents, pageSize: 2 });
    await using without = await openTestServer({ sampleContents: open, pageSize: 2 });
    const line = await pressmark.line(leg);
    expect(await listAll(line)).toEqual(await listAll(await without.line(leg)));
    expect(await listAll(await pressmark.line(leg, "owner"))).toContain(`${base}secrets/key.txt`);
  });

  it("is watched exactly like what is not there, and nothing is heard of it (S3-11, LEG-10, MOD-33)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const uris = ["secrets/key.txt", "nothing.txt", "notes.txt", "other.txt"].map((path) => base + path);
    const ear = await line.hear({ uris, list: true });
    expect(ear.uris).toEqual(uris.slice(2));
    pressmark.memory.set("secrets/key.txt", "changed\n");
    pressmark.memory.set("secrets/new.txt", "created\n");
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    expect(await ear.next()).toEqual({ updated: `${base}notes.txt` });
    // Word of the hidden ones, had there been any, would come before word of what happens only now.
    pressmark.memory.set("other.txt", "later\n");
    expect(await ear.next()).toEqual({ updated: `${base}other.txt` });
    expect([ear.size, line.unasked.size]).toEqual([0, 0]);
    if (line.modern) return;
    const method = "resources/subscribe";
    expect(await answerFor(line, method, { uri: `${base}secrets/key.txt` }, "secrets/key", "nothing/key")).toBe(
      await answerFor(line, method, { uri: `${base}nothing/key.txt` }, "secrets/key", "nothing/key"),
    );
  });

  it("is suggested by no completion (LEG-26)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [crowd] });
    const line = await pressmark.line(leg);
    // The early draft has no completion.
    if (leg.revision === "2024-10-07") return;
    const { completion } = await line.result("completion/complete", {
      ref: { type: "ref/resource", uri: `${base}crowd/{member}` },
      argument: { name: "member", value: "key" },
    });
    expect(completion).toMatchObject({ values: ["keyless"], total: 1 });
  });

  it("is not reached with the cursor of one who may see it (LEG-62, MOD-74)", async () => {
    await using pressmark = await openTestServer({ sampleContents, pageSize: 1 });
    const owner = await pressmark.line(leg, "owner");
    const reader = await pressmark.line(leg);
    let cursor: unknown;
    // The owner's cursor that stands just before the hidden one.
    for (;;) {
      const page = await owner.result("resources/list", typeof cursor === "string" ? { cursor } : {});
      const [uri] = urisIn(page);
      cursor = page["nextCursor"];
      if (uri === `${base}rich.json`) break;
    }
    const response = await settled(await reader.start("resources/list", { cursor: String(cursor) }));
    expect(JSON.stringify(response)).not.toContain("secrets");
  });
});

describe.for(modernLegs)("a directory that may not be seen over $transport", (leg) => {
  it("answers exactly like one that is not there (MOD-41)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const method = "resources/directory/read";
    expect(await answerFor(line, method, { uri: `${base}secrets` }, "secrets", "nothing")).toBe(
      await answerFor(line, method, { uri: `${base}nothing` }, "secrets", "nothing"),
    );
    expect(urisIn(await line.result(method, { uri: "memory://house" }))).not.toContain(`${base}secrets`);
  });

  it("is shown to the owner, whose lists are nobody else's (MOD-41)", async () => {
    await using pressmark = await openTestServer({ sampleContents, pageSize: 3 });
    const owner = await pressmark.line(leg, "owner");
    const scopes = new Set<unknown>();
    let cursor: unknown;
    do {
      const page = await owner.result("resources/list", typeof cursor === "string" ? { cursor } : {});
      scopes.add(page["cacheScope"]);
      cursor = page["nextCursor"];
    } while (cursor !== undefined);
    expect([...scopes]).toEqual(["private"]);
  });
});
