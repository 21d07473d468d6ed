import { describe, expect, it } from "vitest";
import { isTextType, mimeOfName } from "./mime.ts";

describe("mimeOfName", () => {
  it.each([
    ["index.ts", "text/typescript"],
    ["App.tsx", "text/tsx"],
    ["main.rs", "text/x-rust"],
    ["main.py", "text/x-python"],
    ["main.go", "text/x-go"],
    ["App.vue", "text/x-vue"],
    ["events.jsonl", "application/jsonl"],
    ["api.proto", "text/x-protobuf"],
    ["package.json", "application/json"],
    ["README.md", "text/markdown"],
    ["README", "text/plain"],
    ["table.csv", "text/csv"],
    ["compose.yml", "application/yaml"],
    ["Cargo.toml", "application/toml"],
    ["Cargo.lock", "application/toml"],
    ["logo.svg", "image/svg+xml"],
    ["Makefile", "text/x-makefile"],
    ["Dockerfile", "text/x-dockerfile"],
    ["README.ja", "text/plain"],
    ["Dockerfile.dev", "text/x-dockerfile"],
    ["CMakeLists.txt", "text/x-cmake"],
    ["PHOTO.JPG", "image/jpeg"],
    ["archive.tar.gz", "application/gzip"],
    [".gitignore", "text/x-ini"],
    ["data.parquet", "application/vnd.apache.parquet"],
  ])("maps %s to %s", (name, type) => {
    expect(mimeOfName(name)).toBe(type);
  });

  it("returns undefined for an unknown name", () => {
    expect(mimeOfName("mystery")).toBeUndefined();
    expect(mimeOfName("mystery.xyzzy")).toBeUndefined();
    expect(mimeOfName("")).toBeUndefined();
    expect(mimeOfName("mp3")).toBeUndefined();
    expect(mimeOfName("ends.")).toBeUndefined();
    expect(mimeOfName("__proto__")).toBeUndefined();
    expect(mimeOfName("a.constructor")).toBeUndefined();
  });
});

describe("isTextType", () => {
  it.each([
    "text/plain",
    "text/html; charset=utf-8",
    "application/json",
    "image/svg+xml",
    "application/ld+json",
    "TEXT/CSV",
  ])("takes %s for text", (type) => expect(isTextType(type)).toBe(true));

  it.each(["image/png", "application/octet-stream", "application/pdf", "video/mp4", ""])(
    "does not take %s for text",
    (type) => expect(isTextType(type)).toBe(false),
  );
});
