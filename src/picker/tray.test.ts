import { describe, expect, it } from "vitest";
import { estimateTokens } from "../lib/estimate-tokens.ts";
import { asMarkdown } from "../lib/format-resources.ts";
import { directoryType } from "../resources.ts";
import {
  choiceOf,
  passageOf,
  trayCounts,
  has,
  movedTo,
  toggled,
  type TokenCount,
  trayTotal,
  type Tray,
  withAll,
} from "./tray.ts";

const [a, b] = [
  { uri: "x:///a", name: "a" },
  { uri: "x:///b", name: "b", mimeType: "text/markdown" },
];
const both: Tray = toggled(toggled([], a), b);
const uris = (tray: Tray): unknown => tray.map(({ resource: { uri }, except }) => (except ? [uri, except] : uri));
const names = (tray: Tray): string[] => tray.map(({ resource }) => resource.name);

describe("the tray", () => {
  it("holds each resource once, in the person's order", () => {
    expect(names(both)).toEqual(["a", "b"]);
    expect(has(toggled(both, a), a.uri)).toBe(false);
    expect(names(movedTo(both, b.uri, 0))).toEqual(["b", "a"]);
    expect(names(movedTo(both, a.uri, 9))).toEqual(["b", "a"]);
    expect(movedTo(both, "x:///c", 0)).toEqual(both);
    expect(names(withAll(both, [b, { uri: "x:///c", name: "c" }, b]))).toEqual(["a", "b", "c"]);
  });

  it("sums up what is counted, estimates the rest, and adds what is pasted around each text", () => {
    const exact = { count: 40, isExact: true };
    const frame = estimateTokens("## a\n\n<x:///a>\n\n```\n\n```\n");
    const counts = new Map<string, TokenCount | "none">([
      [a.uri, exact],
      [b.uri, "none"],
    ]);
    const counted = trayCounts(both, counts);
    expect(trayTotal(counted)).toEqual({ count: 40 + frame, isExact: false });
    expect(trayTotal(trayCounts([{ resource: b }], counts))).toEqual({ count: 0, isExact: true });
    const c = { uri: "x:///c", name: "c", mimeType: "text/typescript", size: 390 };
    expect(trayTotal(withAll(counted, [c]))).toEqual({ count: 140 + 2 * frame, isExact: false });
    const resource = { uri: "x:///d", name: "d", mimeType: directoryType };
    const folder = { files: 3, tokens: 100, unsized: 0, failed: 0, isMore: false, isCounting: false };
    expect(trayTotal([{ resource, folder }])).toEqual({ count: 100 + 3 * frame, isExact: false });
  });

  it("has a sum that is close to the count of what is pasted", () => {
    const text = "export const total = items.reduce((sum, each) => sum + each, 0);\n".repeat(5);
    const all = Array.from({ length: 50 }, (_, at) => ({
      uri: `file:///home/someone/projects/shop/src/orders/part-${at}.ts?lines=${at * 10 + 1}-${at * 10 + 5}`,
      name: `part-${at}.ts`,
    }));
    const counts = new Map(all.map(({ uri }) => [uri, { count: estimateTokens(text), isExact: true }]));
    const pasted = estimateTokens(asMarkdown(all.map((resource) => ({ resource, text }))));
    const { count } = trayTotal(trayCounts(withAll([], all), counts));
    expect(Math.abs(count / pasted - 1)).toBeLessThan(0.05);
  });

  it("tells whether all of something is chosen, or a part", () => {
    const folder = { uri: "x:///d", name: "d", mimeType: directoryType };
    const tray = [a, folder, passageOf(b, [10, 20])].map((resource) => ({ resource }));
    const choices = {
      "x:///a": "all",
      "x:///a?lines=3-4": "all",
      "x:///d": "all",
      "x:///d/e/f": "all",
      "x:///de": "none",
      "x:///b": "some",
      "x:///b?lines=10-20": "all",
      "x:///b?lines=12-13": "all",
      "x:///b?lines=20-21": "some",
      "x:///b?lines=21-22": "none",
      "x://": "some",
    };
    for (const [uri, choice] of Object.entries(choices)) expect([uri, choiceOf(tray, uri)]).toEqual([uri, choice]);
  });

  it("removes lines of a whole file, and of a file in a folder", () => {
    const sized = { ...a, size: 9 };
    const cut = toggled(toggled([], sized), passageOf(sized, [3, 4]));
    expect(uris(cut)).toEqual(["x:///a?lines=1-2", "x:///a?lines=5-"]);
    expect(cut.map(({ resource }) => resource.size)).toEqual([undefined, undefined]);
    expect(uris(toggled(cut, passageOf(a, [3, 4])))).toEqual(["x:///a"]);
    const pdf = { uri: "x:///d/p", name: "p", mimeType: "application/pdf", meta: { "pressmark/as": ["text"] } };
    const folder = { uri: "x:///d", name: "d", mimeType: directoryType };
    const inFolder = toggled(toggled([], folder), passageOf(pdf, [1, 2]));
    expect(uris(inFolder)).toEqual([["x:///d", ["x:///d/p"]], "x:///d/p?as=text&lines=3-"]);
    expect(names(inFolder)).toEqual(["d", "p"]);
    expect(uris(toggled(inFolder, passageOf(pdf, [1, 2])))).toEqual([["x:///d", []]]);
  });

  it("takes lines of a document from its text", () => {
    const pdf = { uri: "x:///p", name: "p", mimeType: "application/pdf", meta: { "pressmark/as": ["text"] } };
    expect(passageOf(pdf, [1, 2]).uri).toBe("x:///p?as=text&lines=1-2");
    expect(choiceOf([{ resource: passageOf(pdf, [1, 2]) }], pdf.uri)).toBe("some");
  });
});
