/** A mount that masks secrets: what an operation reports besides its result. */
import { describe, expect, it } from "vitest";
import { cutPart } from "../backends/ranges/cut-part.ts";
import { ResourceError } from "../errors.ts";
import { plantedSecrets } from "../lib/test-secrets.ts";
import type { Call } from "../resources.ts";
import type { Source, SourceBlock, SourceRelayed } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { asking } from "../testing/pages.ts";
import { ownCall } from "./own-call.ts";
import { redact } from "./redact.ts";

const token = plantedSecrets(11, 1).find(({ kind }) => kind === "GitHub personal")!.secret;
const call = (): Call => ({ caller: { id: "test" }, signal: new AbortController().signal });
const mask = (source: Source) => redact({ cut: cutPart })(source, { name: "test" });

async function failing(...args: readonly unknown[]): Promise<never> {
  const { progress } = args.at(-1) as Call;
  progress?.(1, 2, `uses ${token}`);
  progress?.(2, 2, token.repeat(10_000));
  throw new ResourceError("busy", `refused ${token}`, { passing: true, details: { reason: "x", says: [token] } });
}

describe("what an operation reports besides its result", () => {
  const { source: plain } = createMemory({ "a.txt": "x" });
  const relayed: SourceRelayed = {
    tools: failing,
    callTool: failing,
    prompts: failing,
    getPrompt: failing,
    completePrompt: failing,
    watch: failing,
  };
  const abilities = ["list", "read", "stat", "children", "complete", "search", "skills", "skill", "problems", "watch"];
  const inner = {
    ...plain,
    ...Object.fromEntries(abilities.map((name) => [name, failing])),
    actions: { go: { run: failing } },
    relayed,
  } as unknown as Source;
  const masked = mask(inner);
  const operations: Readonly<Record<string, unknown>> = {
    ...Object.fromEntries(abilities.map((name) => [name, masked[name as keyof Source]])),
    ...masked.relayed,
    act: masked.actions!["go"]!.run,
  };

  it("leaves the signal of a call that another layer made", async () => {
    const signals: unknown[] = [];
    const source = mask({ ...plain, read: async (_, { signal }) => (signals.push(signal), []) });
    const own = ownCall({ ...call(), progress: () => undefined });
    await source.read({ path: "a.txt" }, own);
    expect(signals).toEqual([own.signal]);
  });

  it.each(Object.keys(operations))("is masked: progress and failure of %s", async (name) => {
    const reports: unknown[] = [];
    const asked = { ...call(), progress: (...report: readonly unknown[]) => void reports.push(report) };
    const args = { children: [{ path: "" }, asking(1)], problems: [], tools: [], prompts: [] }[name];
    const operation = operations[name] as (...all: readonly unknown[]) => Promise<unknown>;
    const failure = await operation(...(args ?? [{ path: "a.txt" }]), asked).catch((cause: unknown) => cause);
    expect(failure).toMatchObject({
      kind: "busy",
      passing: true,
      message: "refused [masked]",
      details: { reason: "x", says: ["[masked]"] },
    });
    expect(reports).toEqual([
      [1, 2, "uses [masked]"],
      [2, 2, undefined],
    ]);
  });

  it("is the same error if it holds no secret", async () => {
    const error = new ResourceError("invalid", "wrong", { details: { reason: "x" } });
    const read = () => Promise.reject(error);
    await expect(mask({ ...plain, read }).read({ path: "a.txt" }, call())).rejects.toBe(error);
  });

  it("is masked in the metadata of blocks and in icons", async () => {
    const meta = { note: token };
    const bytes = new Uint8Array([1]);
    const content: readonly SourceBlock[] = [
      { type: "text", text: token, meta },
      { type: "image", bytes, mimeType: "image/png", meta },
      { type: "audio", bytes, mimeType: "audio/wav", meta },
      { type: "embedded", part: { at: { path: "a.txt" }, body: { text: token }, meta }, meta },
      { type: "link", entry: { path: "a.txt", meta, icons: [{ src: `https://a.example/?token=${token}` }] } },
    ];
    const offered = { ...relayed, callTool: async () => ({ content }) };
    const result = await mask({ ...plain, relayed: offered }).relayed!.callTool(
      "act",
      {},
      { clientCapabilities: {} },
      call(),
    );
    expect(JSON.stringify(result)).not.toContain(token);
    expect(result).toMatchObject({
      content: [{ text: "[masked]" }, { bytes }, { bytes }, { meta: { note: "[masked]" } }, { type: "link" }],
    });
  });
});
