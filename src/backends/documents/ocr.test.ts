/** Recognition with a stand-in for tesseract, for what the real one cannot be made to do. test/live/ocr.test.ts has the real one. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serverCaller } from "../../resources.ts";
import { openFolder } from "../disk/open-folder.ts";

let root: string;
let served: string;
let log: string[];
const call = { caller: { id: "me" }, signal: new AbortController().signal };
const png = Buffer.from(`\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x09\0\0\0\x09`, "latin1");

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-ocr-")));
  served = join(root, "served");
  log = [];
  mkdirSync(served);
  mkdirSync(join(root, "bin"));
  writeFileSync(join(served, "a.png"), png);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A program that lists two languages, and runs this for a picture. */
function install(script: string, folder = join(root, "bin")): void {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "tesseract");
  const languages = `if [ "$1" = --list-langs ]; then printf 'List of languages:\\neng\\njpn\\nosd\\n'; exit; fi`;
  writeFileSync(file, `#!/bin/sh\n${languages}\n${script}\n`);
  chmodSync(file, 0o755);
}

async function read(
  { ocr = true, path = "a.png", textTimeoutMs = 20_000, PATH = join(root, "bin"), asked = call } = {} as {
    ocr?: boolean | string[];
    path?: string;
    textTimeoutMs?: number;
    PATH?: string;
    asked?: typeof call;
  },
): Promise<string> {
  const source = openFolder(
    { root: served, maxBytes: 1e6, ocr, textTimeoutMs },
    { env: { PATH, SECRET: "hunter2" }, log: (_level, message) => void log.push(message) },
  );
  try {
    const [part] = await source.read({ path, query: { as: "text" } }, asked);
    return part && "text" in part.body ? part.body.text : "";
  } catch (cause) {
    return (cause as Error).message;
  } finally {
    await source.close();
  }
}

describe("the text of a picture", () => {
  it("is recognized in the installed ones of Japanese and English, without gaps between Japanese characters", async () => {
    install(
      `/bin/cat > ${root}/input; echo "$*"; /usr/bin/env; printf '予備 の  発電機 を 、 確認\\nBackup of A\\n\\n\\n\\nend\\n\\f'`,
    );
    const text = await read();
    expect(text).toMatch(/^stdin stdout -l jpn\+eng --psm 6\n/);
    expect(text).toMatch(/\n予備の発電機を、確認\nBackup of A\n\nend\n$/);
    expect(text).not.toContain("hunter2");
    expect(readFileSync(join(root, "input"))).toEqual(png);
    expect(await read({ ocr: ["eng"] })).toMatch(/^stdin stdout -l eng --psm 6\n/);
    expect(await read({ ocr: ["kor"] })).toContain("tesseract has no data for the language kor");
  });

  it("is not recognized unless that is switched on, and the error says how", async () => {
    install("echo text");
    expect(await read({ ocr: false })).toBe(
      'cannot extract text from "a.png", which is image/png; read it without "as", or set "ocr" of its mount to recognize text',
    );
  });

  it("needs a program that the served folder and packages did not bring", async () => {
    install("echo text", join(served, "bin"));
    install("echo text", join(root, "node_modules/.bin"));
    const PATH = [join(served, "bin"), join(root, "node_modules/.bin"), "bin", "", join(root, "bin")].join(delimiter);
    expect(await read({ PATH })).toMatch(/needs the program tesseract; install tesseract-ocr and tesseract-ocr-jpn/);
    expect(log).toEqual([expect.stringContaining("the text of pictures is not recognized")]);
  });

  it("is nothing that the program may take for names of other files", async () => {
    install(`touch ${root}/started; echo text`);
    writeFileSync(join(served, "b.png"), "/etc/secret.png\n\0");
    expect(await read({ path: "b.png" })).toContain("cannot extract text");
    expect(existsSync(join(root, "started"))).toBe(false);
  });

  it("has limits: of time, of output, and its absence is reported", async () => {
    install("exec sleep 60");
    expect(await read({ textTimeoutMs: 300 })).toBe(
      'extracting the text of "a.png" took more than 300 ms; read it without "as"',
    );
    install("exec cat /dev/zero");
    expect(await read()).toBe('the text of "a.png" could not be extracted');
    install("exit 0");
    expect(await read()).toBe('cannot extract text from "a.png": no text was recognized in it');
    install("exit 1");
    expect(await read()).toBe('cannot extract text from "a.png": tesseract cannot read it');
  });

  // In CI a missing program is a failure, not a skip.
  it.skipIf(!("CI" in process.env) && !existsSync("/usr/bin/prlimit"))(
    "has a limit of memory, with prlimit of util-linux",
    async () => {
      install("ulimit -v");
      expect(await read({ PATH: [join(root, "bin"), "/usr/bin"].join(delimiter) })).toBe(`${1024 * 1024}\n`);
    },
  );

  it("ends with its caller", async () => {
    install(`echo $$ > ${root}/pid.new; mv ${root}/pid.new ${root}/pid; exec sleep 60`);
    const stop = new AbortController();
    const reading = read({ asked: { ...call, signal: stop.signal } });
    await expect.poll(() => existsSync(join(root, "pid")), { timeout: 20_000 }).toBe(true);
    stop.abort();
    expect(await reading).toBe('reading "a.png" was cancelled');
    const pid = Number(readFileSync(join(root, "pid"), "utf8"));
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
  });

  it("is recognized for search up to a number of pictures", async () => {
    install("echo text");
    const source = openFolder(
      { root: served, maxBytes: 1e6, ocr: true },
      { env: { PATH: join(root, "bin") }, log: (_level, message) => void log.push(message) },
    );
    const ask = () => source.read({ path: "none.png", query: { as: "text" } }, { ...call, caller: serverCaller });
    for (let count = 0; count < 1000; count += 1) await expect(ask()).rejects.toMatchObject({ kind: "not-found" });
    await expect(ask()).rejects.toMatchObject({ kind: "too-large" });
    await expect(ask()).rejects.toMatchObject({ kind: "too-large" });
    expect(log).toEqual([expect.stringContaining("the text of 1000 pictures was recognized for search")]);
    expect(await source.read({ path: "a.png", query: { as: "text" } }, call)).toMatchObject([
      { body: { text: "text\n" } },
    ]);
    await source.close();
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
