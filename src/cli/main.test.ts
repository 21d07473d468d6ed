import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "./main.ts";

let root: string;
let folder: string;
let base: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-cli-")));
  folder = join(root, "files");
  base = `${pathToFileURL(folder).href}/`;
  mkdirSync(join(folder, "docs/deep"), { recursive: true });
  writeFileSync(join(folder, "README.md"), "# Read me\n\nこんにちは\n");
  writeFileSync(join(folder, "docs/a b%.txt"), "with a space");
  writeFileSync(join(folder, "docs/deep/last.txt"), "red \u001b[31malert\u001b[0m");
  writeFileSync(join(folder, "dot.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255]));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly bytes: Buffer;
  readonly err: string;
}

async function pressmark(words: readonly string[], { terminal = false, env = {} } = {}): Promise<Ran> {
  const out = Object.assign(new PassThrough(), { isTTY: terminal });
  const err = new PassThrough();
  const heard = Promise.all([collect(out), collect(err)]);
  const code = await main(words, {
    version: "1.2.3",
    folder,
    env: { XDG_STATE_HOME: join(root, "state"), ...env },
    input: new PassThrough(),
    out,
    err,
    signal: new AbortController().signal,
  });
  out.end();
  err.end();
  const [bytes, complaints] = await heard;
  return { code, out: bytes.toString(), bytes, err: complaints.toString() };
}

async function collect(stream: PassThrough): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe("the command", () => {
  it("says its version", async () => {
    for (const word of ["--version", "-V"])
      expect(await pressmark([word])).toMatchObject({ code: 0, out: "pressmark 1.2.3\n", err: "" });
  });

  it("says what it can do when asked, and when asked for nothing that this is no way to ask", async () => {
    expect(await pressmark(["--help"])).toMatchObject({ code: 0, out: expect.stringContaining("Commands:"), err: "" });
    expect(await pressmark(["help"])).toMatchObject({ code: 0, out: expect.stringContaining("Commands:"), err: "" });
    expect(await pressmark([])).toMatchObject({ code: 2, out: "", err: expect.stringContaining("Commands:") });
  });

  it("says what a command takes", async () => {
    const asked = await pressmark(["help", "serve"]);
    expect(asked).toMatchObject({ code: 0, out: expect.stringContaining("--port PORT"), err: "" });
    expect((await pressmark(["serve", "--help"])).out).toBe(asked.out);
  });

  it.each([
    [["sevre"], 'there is no command "sevre"; did you mean serve? ("pressmark help" names them all)'],
    [["constructor"], 'there is no command "constructor"; "pressmark help" names them all'],
    [["help", "raed"], '"raed" is no command of help; did you mean read?'],
    [
      ["serve", "--prot", "1"],
      'serve has no flag "--prot"; did you mean --port? ("pressmark help serve" names them all)',
    ],
    [["serve", "--port", "http"], '--port takes a number from 0 to 65535, not "http"'],
    [["serve", "--port", "65536"], '--port takes a number from 0 to 65535, not "65536"'],
    [["serve", "nowhere"], 'there is no folder "nowhere"; check the spelling, or create it first'],
    [["stdio", "README.md"], '"README.md" is a file; name the folder that holds it'],
    [
      ["ls", "--folder", "docs", "--folder", "docs/deep"],
      '"docs/deep" lies within "docs" and would be served twice; name only one of them',
    ],
    [["read"], 'read needs a where: a resource: its URI, or its path within the folder; try "pressmark help read"'],
  ])("answers %j with a sentence that says what to do, and exit code 2", async (words, sentence) => {
    expect(await pressmark(words)).toMatchObject({ code: 2, out: "", err: `pressmark: ${sentence}\n` });
  });

  it("shows a stack only when asked to", async () => {
    expect((await pressmark(["read", "nothing"])).err).not.toContain("    at ");
    expect((await pressmark(["read", "nothing"], { env: { PRESSMARK_DEBUG: "1" } })).err).toContain("    at ");
  });
});

describe("ls", () => {
  it("gives a pipe every URI, one a line", async () => {
    expect(await pressmark(["ls"])).toEqual(
      expect.objectContaining({
        code: 0,
        err: "",
        out: ["README.md", "docs/a%20b%25.txt", "docs/deep/last.txt", "dot.png"]
          .map((path) => `${base}${path}\n`)
          .join(""),
      }),
    );
  });

  it("gives the children of a directory named by path or URI", async () => {
    const children = ["docs/a%20b%25.txt", "docs/deep"].map((path) => `${base}${path}\n`).join("");
    for (const where of ["docs", "./docs/", join(folder, "docs"), `${base}docs`])
      expect(await pressmark(["ls", where])).toMatchObject({ code: 0, out: children });
  });

  it("gives everything below a directory with --all", async () => {
    const below = ["docs/a%20b%25.txt", "docs/deep/last.txt"].map((path) => `${base}${path}\n`).join("");
    expect(await pressmark(["ls", "docs", "--all"])).toMatchObject({ code: 0, out: below });
  });

  it("gives JSON, an object a line", async () => {
    const { out } = await pressmark(["ls", "--json"]);
    const listed = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(listed).toHaveLength(4);
    expect(listed[0]).toMatchObject({
      uri: `${base}README.md`,
      name: "README.md",
      mimeType: "text/markdown",
      size: 27,
    });
  });

  it("shows a terminal size, type and URI", async () => {
    const { out } = await pressmark(["ls"], { terminal: true });
    expect(out.split("\n")[0]).toMatch(/^ +27 B {2}text\/markdown +file:\/\/\/.*README\.md$/);
  });

  it("looks in the folders that are named", async () => {
    expect((await pressmark(["ls", "--folder", "docs/deep"])).out).toBe(`${base}docs/deep/last.txt\n`);
  });

  it("fails for what is not there, or is no directory", async () => {
    for (const where of ["nowhere", "README.md", "..", `${base}nowhere`])
      expect(await pressmark(["ls", where])).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringMatching(/^pressmark: .+\n$/),
      });
  });
});

describe("read", () => {
  it("prints a text as it is", async () => {
    for (const where of ["README.md", `${base}README.md`, join(folder, "README.md")])
      expect(await pressmark(["read", where])).toMatchObject({ code: 0, out: "# Read me\n\nこんにちは\n", err: "" });
    expect(await pressmark(["read", "docs/a b%.txt"])).toMatchObject({ out: "with a space" });
    expect(await pressmark(["read", "a b%.txt", "--folder", "docs"])).toMatchObject({ out: "with a space" });
  });

  it("gives bytes to a pipe, and to a terminal only when asked", async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255]);
    expect((await pressmark(["read", "dot.png"])).bytes).toEqual(bytes);
    expect((await pressmark(["read", "dot.png", "--raw"], { terminal: true })).bytes).toEqual(bytes);
    expect(await pressmark(["read", "dot.png"], { terminal: true })).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining(
        "is image/png (10 bytes), which a terminal cannot show; send it to a file with >, or add --raw",
      ),
    });
  });

  it("keeps a text from steering the terminal", async () => {
    expect((await pressmark(["read", "docs/deep/last.txt"], { terminal: true })).out).toBe("red �[31malert�[0m\n");
    expect((await pressmark(["read", "docs/deep/last.txt"])).out).toBe("red \u001b[31malert\u001b[0m");
  });

  it("gives the contents as JSON", async () => {
    expect(JSON.parse((await pressmark(["read", "dot.png", "--json"])).out)).toEqual([
      { uri: `${base}dot.png`, mimeType: "image/png", base64: "iVBORw0KGgoA/w==" },
    ]);
  });

  it("fails for what is not there", async () => {
    expect(await pressmark(["read", "nothing"])).toMatchObject({
      code: 1,
      out: "",
      err: 'pressmark: no resource at "nothing"\n',
    });
    expect(await pressmark(["read", "../etc/passwd"])).toMatchObject({ code: 1, out: "" });
    expect(await pressmark(["read", "other://x"])).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("other://x"),
    });
  });
});
