import { describe, expect, it } from "vitest";
import { isSecretName, isServed } from "./serving.ts";

describe("isServed", () => {
  it.each([
    "",
    "a.txt",
    "a/b/c.md",
    "id_rsa.pub",
    "日本語/メモ.txt",
    "a b/ü%20.txt",
    "key",
    "environment",
    "pem/notes.md",
  ])("serves %j", (path) => expect(isServed(path)).toBe(true));

  it.each([
    [".hidden"],
    ["a/.git/config"],
    ["node_modules/x/index.js"],
    ["a/Node_Modules/x.js"],
    [".env"],
    [".ENV.local"],
    ["．env"],
    ["a/id_rsa"],
    ["ID_ED25519"],
    ["server.PEM"],
    ["server.ｋｅｙ"],
    ["a.p12"],
    ["_netrc"],
  ])("does not serve %j", (path) => expect(isServed(path)).toBe(false));

  it.each([["/a"], ["a/"], ["a//b"], ["."], [".."], ["a/../b"], ["a\0b"], ["a/./b"]])(
    "takes %j for no path at all",
    (path) => expect(isServed(path)).toBe(false),
  );
});

describe("isSecretName", () => {
  it.each([
    [".env.production", ""],
    [".netrc", ""],
    [".npmrc", ""],
    [".PYPIRC", ""],
    [".git-credentials", ""],
    ["credentials", ".aws"],
    ["credentials", ".AWS"],
  ])("knows %j in %j, hidden or not", (name, folder) => expect(isSecretName(name, folder)).toBe(true));

  it("leaves a harmless name of another folder alone", () => {
    expect(isSecretName("credentials", "docs")).toBe(false);
  });
});
