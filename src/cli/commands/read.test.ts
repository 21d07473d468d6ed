import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
const read = (words: readonly string[], options?: Parameters<Stand["run"]>[1]) =>
  stand.run(["read", ...words], options);
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255]);
/** Lines of sixteen bytes; together more than the limit of one response. */
const long = Array.from({ length: 400_000 }, (_, index) => `line ${String(index + 1).padStart(10)}\n`).join("");

beforeAll(() => {
  stand = createStand();
  stand.write("README.md", "# Read me\n\nこんにちは\n");
  stand.write("docs/a b%.txt", "with a space");
  stand.write("last.txt", "red \u001b[31malert\u001b[0m");
  stand.write("ten.txt", Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join(""));
  stand.write("dot.png", png);
  stand.write("long.txt", long);
  stand.write("wide.txt", "x".repeat(6_000_000));
});

afterAll(() => stand.remove());

describe("read", () => {
  it("prints a text as it is", async () => {
    for (const where of ["README.md", `${stand.base}README.md`, join(stand.folder, "README.md")])
      expect(await read([where])).toMatchObject({ code: 0, out: "# Read me\n\nこんにちは\n", err: "" });
    expect(await read(["docs/a b%.txt"])).toMatchObject({ out: "with a space" });
    expect(await read(["a b%.txt", "--folder", "docs"])).toMatchObject({ out: "with a space" });
  });

  it("finds a name in its other form: composed as typed, or decomposed as macOS stores it", async () => {
    stand.write(`${"が".normalize("NFD")}/${"ポ.txt".normalize("NFD")}`, "decomposed");
    stand.write("グ.txt".normalize("NFC"), "composed");
    expect(await read(["が/ポ.txt".normalize("NFC")])).toMatchObject({ code: 0, out: "decomposed" });
    expect(await read(["グ.txt".normalize("NFD")])).toMatchObject({ code: 0, out: "composed" });
    const { err } = await read(["グ.tx".normalize("NFC")]);
    expect(err).toContain('nearest: "グ.txt"'.normalize("NFC"));
  });

  it("writes bytes to a pipe, and to a terminal only with --raw", async () => {
    expect((await read(["dot.png"])).bytes).toEqual(png);
    expect((await read(["dot.png", "--raw"], { terminal: true })).bytes).toEqual(png);
    expect(await read(["dot.png"], { terminal: true })).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining(
        "is image/png (10 bytes), which a terminal cannot show; redirect it to a file with >, or add --raw",
      ),
    });
  });

  it("keeps a text from steering the terminal", async () => {
    expect((await read(["last.txt"], { terminal: true })).out).toBe(String.raw`red \x1b[31malert\x1b[0m` + "\n");
    expect((await read(["last.txt"])).out).toBe("red \u001b[31malert\u001b[0m");
    expect((await read(["last.txt", "--raw"], { terminal: true })).out).toBe("red \u001b[31malert\u001b[0m");
  });

  it("gives the contents as JSON, one a line", async () => {
    expect(JSON.parse((await read(["dot.png", "--json"])).out)).toMatchObject({
      uri: `${stand.base}dot.png`,
      mimeType: "image/png",
      base64: png.toString("base64"),
    });
    expect(JSON.parse((await read(["ten.txt", "--lines", "2", "--json"])).out)).toMatchObject({
      uri: `${stand.base}ten.txt?lines=2-2`,
      text: "line 2\n",
    });
  });

  it("fails for what is not there", async () => {
    expect(await read(["nothing"])).toMatchObject({
      code: 3,
      out: "",
      err: 'pressmark: no resource at "nothing"; "pressmark ls" lists what is here\n',
    });
    expect(await read(["../etc/passwd"])).toMatchObject({ code: 3, out: "" });
    expect(await read(["other://x"])).toMatchObject({ code: 3, out: "", err: expect.stringContaining("other://x") });
    expect(await read(["nothing", "--lines", "1-2"])).toMatchObject({ code: 3, out: "" });
  });

  it.each([
    ["REDME.md", "README.md"],
    ["./readme.md", "./README.md"],
    ["docs/a c%.txt", "docs/a b%.txt"],
    ["dcos", "docs"],
  ])("names the nearest resource for %j", async (where, near) => {
    const err = `pressmark: no resource at ${JSON.stringify(where)}; nearest: ${JSON.stringify(near)}\n`;
    for (const command of ["read", "stat", "ls", "tree"])
      expect(await stand.run([command, where])).toMatchObject({ code: 3, out: "", err });
  });

  it("names the nearest URI for a URI, and nothing for a hidden file or a pattern", async () => {
    stand.write(".secret.md", "x");
    stand.write("設計/決済.md", "x");
    const { err } = await stand.run(["stat", `${stand.base}設計/決済.md:12`]);
    expect(err).toContain(`nearest: "${stand.base}設計/決済.md"`);
    expect(await read([`${stand.base}REDME.md`])).toMatchObject({
      code: 3,
      err: `pressmark: no resource at "${stand.base}REDME.md"; nearest: "${stand.base}README.md"\n`,
    });
    expect(await read([".secre.md"])).toMatchObject({
      code: 3,
      err: 'pressmark: no resource at ".secre.md"; "pressmark ls" lists what is here\n',
    });
    expect(await read([".secret.md"])).toMatchObject({
      code: 3,
      err: 'pressmark: no resource at ".secret.md"; "pressmark ls" lists what is here\n',
    });
    expect((await stand.run(["ls", "REDME.m?"])).err).not.toContain("nearest");
  });
});

describe("a part", () => {
  it("is named as search prints it, unless a resource has that name", async () => {
    for (const where of ["ten.txt", `${stand.base}ten.txt`]) {
      expect(await read([`${where}:9`])).toMatchObject({ code: 0, out: "line 9\nline 10\n", err: "" });
      expect(await read([`${where}:2-3`, "-n"])).toMatchObject({ out: "     2  line 2\n     3  line 3\n" });
      for (const wrong of [":0", ":3-2", ":2:1", ":"])
        expect(await read([where + wrong])).toMatchObject({ code: 3, out: "" });
      expect(await read([`${where}:9`, "--lines", "1"])).toMatchObject({ code: 3, out: "" });
    }
    expect(await read(["tin.txt:9"])).toMatchObject({
      code: 3,
      err: 'pressmark: no resource at "tin.txt:9"; nearest: "ten.txt"\n',
    });
    stand.write("設計/ten.txt", "whole\n");
    stand.write("設計/ten.txt:9", "named\n");
    expect(await read(["設計/ten.txt:9"])).toMatchObject({ code: 0, out: "named\n" });
    expect(await read(["設計/ten.txt:1"])).toMatchObject({ code: 0, out: "whole\n" });
  });

  it.each([
    [["--lines", "2-3"], "line 2\nline 3\n"],
    [["--lines", "9-"], "line 9\nline 10\n"],
    [["--lines", "-2"], "line 1\nline 2\n"],
    [["--lines", "4"], "line 4\n"],
    [["--bytes", "0-5"], "line 1"],
    [["--bytes", "63-"], "line 10\n"],
    [["--lines", "9-20", "--number"], "     9  line 9\n    10  line 10\n"],
  ])("is given for %j", async (flags, text) => {
    expect(await read(["ten.txt", ...flags])).toMatchObject({ code: 0, out: text, err: "" });
  });

  it.each([
    [["--lines", "0-3"], '--lines takes two numbers of at least 1, the smaller first, as in 10-40, not "0-3"'],
    [["--lines", "3-2"], 'not "3-2"'],
    [["--lines", "-"], 'not "-"'],
    [["--bytes", "a-b"], "--bytes takes two numbers of at least 0, the smaller first, as in 0-1023"],
    [["--lines", "1-2", "--bytes", "1-2"], "choose --lines or --bytes"],
    [["--bytes", "1-2", "--number"], "only whole lines can be numbered"],
    [["--as", "music"], '--as takes text, not "music"'],
    [["--lines", "11-12"], "has 10 lines"],
  ])("cannot be asked for as %j", async (flags, sentence) => {
    expect(await read(["ten.txt", ...flags])).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(sentence),
    });
  });

  it("that is more than is answered at once is put together", async () => {
    expect(await read(["long.txt"])).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("(here with --lines or --bytes)"),
    });
    expect((await read(["long.txt", "--lines", "1-"])).out === long).toBe(true);
    expect((await read(["long.txt", "--bytes", "16-"])).out === long.slice(16)).toBe(true);
    expect((await read(["long.txt", "--lines", "2-390000"])).out === long.slice(16, 390_000 * 16)).toBe(true);
  });

  it("is never cut off in silence", async () => {
    const { code, out, err } = await read(["wide.txt", "--lines", "1-"]);
    expect([code, out.length < 6_000_000]).toEqual([1, true]);
    expect(err).toContain(`continue with --bytes ${out.length}-`);
    expect((await read(["wide.txt", "--bytes", `${out.length}-`])).out).toHaveLength(6_000_000 - out.length);
  });
});

describe("numbers", () => {
  it("stand before each line", async () => {
    expect((await read(["README.md", "-n"])).out).toBe("     1  # Read me\n     2  \n     3  こんにちは\n");
    expect(await read(["dot.png", "-n"])).toMatchObject({ code: 1, err: expect.stringContaining("has no lines") });
  });
});
