import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dots, redactor, resolveReferences } from "./references.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-references-"));
  writeFileSync(join(folder, "token"), "from a file\n");
  writeFileSync(join(folder, "lines"), "one\ntwo\r\n");
  writeFileSync(join(folder, "bytes"), Buffer.from([0xff, 0xfe, 0x00]));
  writeFileSync(join(folder, "large"), "x".repeat(70_000));
  mkdirSync(join(folder, "folder"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { NAME: "value", EMPTY: "", ODD: "${env:NAME}" };

function resolved(value: unknown, mayResolve = () => true) {
  return resolveReferences(value, { env, folder, mayResolve });
}

function complaint(text: string): string | undefined {
  return resolved({ key: text }).problems[0]?.message;
}

describe("a reference", () => {
  it.each([
    ["${env:NAME}", "value"],
    ["a-${env:NAME}-${env:NAME}", "a-value-value"],
    ["${env:EMPTY}", ""],
    ["${env:ABSENT:-instead}", "instead"],
    ["${env:EMPTY:-instead}", "instead"],
    ["${env:ABSENT:-}", ""],
    ["${file:token}", "from a file"],
    ["${file:lines}", "one\ntwo"],
    ["${file:absent:-instead}", "instead"],
    ["$${env:NAME}", "${env:NAME}"],
    ["$$${env:NAME}", "$${env:NAME}"],
    ["costs 5$ {x}", "costs 5$ {x}"],
    ["plain", "plain"],
  ])("%j stands for %j", (text, meant) => {
    expect(resolved({ deep: [text] }).value).toEqual({ deep: [meant] });
    expect(resolved({ deep: [text] }).problems).toEqual([]);
  });

  it("is looked up once: what it stands for is no reference", () => {
    expect(resolved("${env:ODD}").value).toBe("${env:NAME}");
  });

  it("leaves what is no text as it is", () => {
    const value = { number: 1, yes: true, nothing: null, list: [2] };
    expect(resolved(value).value).toEqual(value);
  });

  it("marks its key and its value, but not what stands in the config itself", () => {
    const { secrets, secretPaths } = resolved({
      a: { b: ["x", "${env:NAME}"] },
      c: "${env:ABSENT:-written}",
      d: "plain",
    });
    expect(secrets).toEqual(["value"]);
    expect([...secretPaths]).toEqual(["a.b[1]", "c"]);
  });

  it.each([
    [
      "${env:ABSENT}",
      'the environment variable "ABSENT" is not set; set it, or write ${env:ABSENT:-value} with a default',
    ],
    ["${file:absent}", 'no file "absent"; create it, or write ${file:absent:-value} with a default'],
    ["${file:folder}", '"folder" is not a file'],
    ["${file:bytes}", '"bytes" is not UTF-8 text'],
    ["${file:large}", '"large" is larger than 65536 bytes'],
    ["${NAME}", 'a reference is written as ${env:NAME}; write "$${" for a literal "${"'],
    ["${vault:x}", 'a reference is written as ${env:NAME} or ${file:path}; write "$${" for a literal "${"'],
    ["${env:}", 'a reference is written as ${env:NAME} or ${file:path}; write "$${" for a literal "${"'],
    ["${env:NAME", 'a reference is not closed with "}"; write "$${" for a literal "${"'],
  ])("that leads nowhere, %j, is said with its key", (text, sentence) => {
    expect(resolved({ a: { b: text } }).problems).toMatchObject([{ path: ["a", "b"], message: sentence }]);
    expect(complaint(text)).toBe(sentence);
  });

  it("that may not be resolved is left empty, and neither the environment nor a file is looked at", () => {
    const read: unknown[] = [];
    const watched = new Proxy(env, {
      get(target, name) {
        read.push(name);
        return Reflect.get(target, name) as unknown;
      },
    });
    const value = { a: "x ${file:token}", b: { c: "${env:NAME}" }, d: "${env:NAME}", e: "${file:absent}", f: "plain" };
    const {
      value: given,
      unresolved,
      references,
      problems,
      secrets,
    } = resolveReferences(value, {
      env: watched,
      folder,
      mayResolve: ([key]) => key === "d",
    });
    expect(given).toEqual({ a: "", b: { c: "" }, d: "value", e: "", f: "plain" });
    expect(unresolved).toEqual([["a"], ["b", "c"], ["e"]]);
    expect(references.map(({ kind, name }) => `${kind}:${name}`)).toEqual([
      "file:token",
      "env:NAME",
      "env:NAME",
      "file:absent",
    ]);
    expect([problems, secrets, read]).toEqual([[], ["value"], ["NAME"]]);
  });

  it("is no name that every object inherits", () => {
    expect(complaint("${env:constructor}")).toMatch(/the environment variable "constructor" is not set/);
  });
});

describe("a secret", () => {
  const redact = redactor(["hunter2", 'with "quotes"\n', "a-secret-that-is-rather-long-and-is-cut", "ab"]);

  it("is never shown, however often it is there", () => {
    expect(redact("hunter2 and hunter2!")).toBe(`${dots} and ${dots}!`);
  });

  it("is known when it is quoted, and when it is cut", () => {
    expect(redact(`the folder ${JSON.stringify('with "quotes"\n')} is gone`)).toBe(`the folder "${dots}" is gone`);
    expect(redact('"a-secret-that-is-rath…"')).toBe(`"${dots}…"`);
    expect(redact("a-secret-that-is-rather-long-and-is-cut")).toBe(dots);
  });

  it("of two characters is none: it would blot out everything", () => {
    expect(redact("about")).toBe("about");
  });
});
