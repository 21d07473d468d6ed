import { describe, expect, it } from "vitest";
import { createPickCatalogue, type PickMatches } from "./catalogue.ts";
import { draw, toPreview } from "./draw.ts";
import { fuzzyFit, foldPath } from "./fuzzy.ts";
import { createKeys, type KeyPress } from "./keys.ts";
import { beginPick, current, type PickEvent, type PickItem, type PickState, reduce, wantedFolders } from "./state.ts";
import { displayWidth } from "../../lib/display-width.ts";
import { createPaint } from "../reading/paint.ts";
import { PassThrough } from "node:stream";

const paint = createPaint("never", { out: new PassThrough(), env: {} });
const item = (path: string, isDirectory = false): PickItem => ({
  uri: `memory://m/${path}`,
  name: path.slice(path.lastIndexOf("/") + 1),
  path,
  isDirectory,
  canOpen: isDirectory,
});
const page = (folder: string, items: readonly PickItem[], next?: string): PickEvent => ({
  kind: "page",
  folder,
  items,
  next,
});
const docs = item("docs", true);
const top = [docs, item("guide.md"), item("readme.md")];

const found = (...paths: readonly string[]): PickEvent => ({
  kind: "found",
  letters: "a",
  items: paths.map((path) => item(path)),
  count: paths.length,
});

/** Matches, best first. */
const best = (letters: string, ...paths: readonly string[]) =>
  paths
    .map((path) => ({ path, score: fuzzyFit(foldPath(letters), foldPath(path))?.score }))
    .filter(({ score }) => score !== undefined)
    .sort((one, other) => other.score! - one.score!)
    .map(({ path }) => path);

function after(state: PickState, ...events: readonly (PickEvent | KeyPress)[]): PickState {
  return events.reduce<PickState>(
    (now, event) => reduce(now, typeof event === "object" && "kind" in event ? event : { kind: "key", key: event }),
    state,
  );
}

const names = ({ shown }: PickState) =>
  shown.map((row) => (row.kind === "item" ? `${"  ".repeat(row.depth)}${row.item.name}` : row.kind));
const started = after(beginPick({ columns: 100, rows: 12 }), page("", top));

describe("while picking", () => {
  it("a resource that has children is opened like a folder and chosen like a file", () => {
    const key: PickItem = { ...item("user"), canOpen: true };
    const open = after(beginPick({ columns: 100, rows: 12 }), page("", [key]), "tab");
    expect(wantedFolders(open)).toEqual([key.uri]);
    const loaded = after(open, page(key.uri, [item("user/friends")]));
    expect(names(loaded)).toEqual(["user", "  friends"]);
    expect([...after(loaded, "space").chosen.keys()]).toEqual([key.uri]);
  });

  it("the top is wanted first, and a folder when it is opened", () => {
    expect(wantedFolders(beginPick({ columns: 80, rows: 24 }))).toEqual([""]);
    expect(wantedFolders(started)).toEqual([]);
    const open = after(started, "tab");
    expect(wantedFolders(open)).toEqual([docs.uri]);
    const loaded = after(open, page(docs.uri, [item("docs/a.md"), item("docs/b.md")]));
    expect(names(loaded)).toEqual(["docs", "  a.md", "  b.md", "guide.md", "readme.md"]);
    expect(names(after(loaded, "tab"))).toEqual(["docs", "guide.md", "readme.md"]);
    expect(names(after(loaded, "down", "left", "left"))).toEqual(["docs", "guide.md", "readme.md"]);
    expect(after(loaded, "down", "down", "left").at).toBe(0);
    expect(names(after(loaded, "tab", "right"))).toEqual(names(loaded));
  });

  it("more of a folder is wanted only when it is about to be seen", () => {
    const many = Array.from({ length: 100 }, (_, index) => item(`${index}`));
    const state = after(beginPick({ columns: 80, rows: 12 }), page("", many, "next"));
    expect(wantedFolders(state)).toEqual([]);
    const low = after(state, ...Array.from({ length: 10 }, (): KeyPress => "page-down"));
    expect(wantedFolders(low)).toEqual([""]);
    const more = after(low, page("", [item("100")]));
    expect(more.shown).toHaveLength(101);
    expect(wantedFolders(after(more, "end"))).toEqual([]);
  });

  it("a folder that cannot be opened shows the reason, and is tried again when it is opened again", () => {
    const state = after(started, "tab", { kind: "failed", folder: docs.uri, message: "away" });
    expect(names(state)).toEqual(["docs", "failure", "guide.md", "readme.md"]);
    expect(draw(state, paint).lines[2]).toContain("away");
    expect(wantedFolders(state)).toEqual([]);
    expect(wantedFolders(after(state, "tab", "tab"))).toEqual([docs.uri]);
  });

  it("space chooses and goes on, and takes back", () => {
    const state = after(started, "down", "space", "space");
    expect([...state.chosen.values()].map(({ name }) => name)).toEqual(["guide.md", "readme.md"]);
    expect([...after(state, "up", "space").chosen.keys()]).toEqual(["memory://m/readme.md"]);
    expect(after(state, "enter").end).toBe("finished");
  });

  it("enter takes what the cursor is on where nothing is chosen", () => {
    const state = after(started, "end", "enter");
    expect([...state.chosen.keys()]).toEqual(["memory://m/readme.md"]);
    expect(state.end).toBe("finished");
    expect(after(beginPick({ columns: 80, rows: 24 }), "enter").end).toBeUndefined();
  });

  it("Ctrl-C leaves at any time, escape when there are no letters to take back", () => {
    expect(after(started, "interrupt").end).toBe("left");
    expect(after(started, "help", "interrupt").end).toBe("left");
    expect(after(started, { typed: "x" }, "escape").end).toBeUndefined();
    expect(after(started, { typed: "x" }, "escape", "escape").end).toBe("left");
  });

  it("letters filter, and are taken back as a person counts them", () => {
    const state = after(started, { typed: "が👨‍👩‍👧é" });
    expect(after(state, "backspace", "backspace").filter).toBe("が");
    expect(after(state, "clear").filter).toBe("");
    const guide: PickEvent = { kind: "found", letters: "gui", items: [item("guide.md")], count: 1 };
    expect(names(after(started, { typed: "gui" }, guide))).toEqual(["guide.md"]);
    // Matches of earlier letters are no longer shown.
    expect(names(after(started, { typed: "guid" }, guide))).toEqual([]);
    expect(names(after(started, { typed: "gui" }, guide, "clear"))).toEqual(["docs", "guide.md", "readme.md"]);
  });

  it("who has not moved the cursor has it on the best; who has keeps it where it is", () => {
    const state = after(started, { typed: "a" }, found("a1", "a2"));
    expect(current(after(state, found("a0", "a1", "a2")))?.name).toBe("a0");
    expect(current(after(state, "down", found("a0", "a1", "a2")))?.name).toBe("a2");
  });

  it("any key leaves the help", () => {
    const state = after(started, "help");
    expect(draw(state, paint).lines.join("\n")).toContain("Ctrl-C");
    expect(after(state, "enter").end).toBeUndefined();
    expect(after(state, "enter").isHelp).toBe(false);
  });
});

describe("what is drawn", () => {
  const hostile = [
    item("日本語/とても長い名前のファイルがここにあります.md"),
    item("\u001b[2Jevil\u202e.txt"),
    item("emoji 👨‍👩‍👧 family.txt"),
    item("deep", true),
  ];

  it.for([
    [10, 4],
    [37, 9],
    [69, 10],
    [70, 10],
    [121, 30],
  ] as const)("fits a terminal of %i columns and %i rows, and steers nothing", ([columns, rows]) => {
    const lines = toPreview("tab\there\u001b[31m red\r\nwide 日本語 ".repeat(40), 50);
    const preview: PickEvent = { kind: "preview", preview: { uri: hostile[0]!.uri, lines } };
    const open = after(beginPick({ columns, rows }), page("", hostile), preview, "space", "up");
    for (const state of [
      open,
      after(open, "help"),
      after(open, { typed: "長い" }, { kind: "found", letters: "長い", items: hostile, count: 4 }),
    ]) {
      const frame = draw(state, paint);
      expect(frame.lines).toHaveLength(rows);
      for (const line of frame.lines) {
        // Only our own inverse video may occur.
        const bare = line.replaceAll("\u001b[7m", "").replaceAll("\u001b[0m", "");
        expect(bare).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
        expect(displayWidth(bare), JSON.stringify(line)).toBeLessThanOrEqual(columns);
      }
      expect(frame.cursor.column).toBeLessThanOrEqual(columns + 1);
    }
  });

  it("shows the end of a long pasted text, in time that grows with its length", () => {
    const frame = draw(after(started, { typed: `${"設a".repeat(100_000)}end` }), paint);
    expect(frame.lines[0]).toMatch(/^> a(?:設a)+end$/);
    expect(displayWidth(frame.lines[0]!)).toBe(99);
  });

  it("shows how much is chosen", () => {
    const state = after(started, "down", "space", "space", {
      kind: "tokens",
      uri: "memory://m/guide.md",
      tokens: 1204,
    });
    expect(draw(state, paint).lines.at(-1)).toBe(
      "2 chosen, ≈ 1,204 tokens and 1 resource not counted; Ctrl-O uses them",
    );
  });
});

describe("keys", () => {
  it("are recognised in the encodings of all terminals", () => {
    const keys = createKeys();
    const press = (text: string) => keys(Buffer.from(text));
    expect(press("a設 定?\r\t\u007f\u0015\u0003")).toEqual([
      { typed: "a設" },
      "space",
      { typed: "定" },
      "help",
      "enter",
      "tab",
      "backspace",
      "clear",
      "interrupt",
    ]);
    expect(press("\u001b[A\u001bOB\u001b[5~\u001b[1;5C\u001b[200~\u001b")).toEqual(["up", "down", "page-up", "escape"]);
    expect(press("\u0001\u0000\u001f")).toEqual([]);
  });

  it("may come in pieces", () => {
    const keys = createKeys();
    const [first, ...rest] = Buffer.from("設");
    expect(keys(Uint8Array.of(first!))).toEqual([]);
    expect(keys(Uint8Array.from(rest))).toEqual([{ typed: "設" }]);
  });
});

describe("what fits", () => {
  it("has the letters in their order", () => {
    expect(best("rdm", "readme.md", "mdr.txt", "docs/rain-dome").toSorted()).toEqual(["docs/rain-dome", "readme.md"]);
    expect(fuzzyFit("xyz", "abc")).toBeUndefined();
    expect(fuzzyFit("aab", "ab")).toBeUndefined();
  });

  it("is better in the name, together, and at its beginning", () => {
    expect(best("test", "test/deep/other.ts", "src/fit.test.ts", "t/e/s/t.ts", "src/test.ts")[0]).toBe("src/test.ts");
  });

  it("folds width, case and kana", () => {
    expect(best("がいど", "docs/設定ガイド.md")).toHaveLength(1);
    expect(best("ＡＢＣ", "abc.md")).toHaveLength(1);
    expect(best("設定", "docs/日本語/設定.md")).toHaveLength(1);
  });
});

describe("a catalogue", () => {
  it("is looked through in turns, each of them short, and holds so many and no more", () => {
    const turns: (() => void)[] = [];
    let last: PickMatches | undefined;
    const catalogue = createPickCatalogue({
      found: (what) => (last = what),
      later: (run) => turns.push(run),
      most: 40_000,
    });
    for (let from = 0; from < 50_000; from += 10_000)
      catalogue.add(Array.from({ length: 10_000 }, (_, index) => item(`src/part-${from + index}.ts`)));
    expect(catalogue.isFull).toBe(true);
    catalogue.seek("part9999");
    let done = 0;
    for (let run = turns.shift(); run; run = turns.shift()) {
      run();
      done += 1;
    }
    expect(done).toBe(10);
    expect(last?.items[0]?.path).toBe("src/part-9999.ts");
    catalogue.seek("t");
    for (let run = turns.shift(); run; run = turns.shift()) run();
    expect(last).toMatchObject({ count: 40_000 });
    expect(last?.items).toHaveLength(500);
  });

  it("forgets earlier letters, and finds what comes later", () => {
    const turns: (() => void)[] = [];
    const heard: PickMatches[] = [];
    const catalogue = createPickCatalogue({ found: (what) => heard.push(what), later: (run) => turns.push(run) });
    catalogue.add([item("alpha"), item("beta")]);
    catalogue.seek("alp");
    catalogue.seek("bet");
    for (let run = turns.shift(); run; run = turns.shift()) run();
    expect(heard.at(-1)).toMatchObject({ letters: "bet", count: 1 });
    catalogue.add([item("better")]);
    for (let run = turns.shift(); run; run = turns.shift()) run();
    expect(
      heard
        .at(-1)
        ?.items.map(({ path }) => path)
        .toSorted(),
    ).toEqual(["beta", "better"]);
  });
});
