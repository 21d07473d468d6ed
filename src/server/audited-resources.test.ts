import { expect, it } from "vitest";
import { cancelled } from "../errors.ts";
import type { Call, Relayed, Resources } from "../resources.ts";
import type { AuditEvent } from "./audit-log.ts";
import { createAuditedResources } from "./audited-resources.ts";

const call: Call = { caller: { id: "ann" }, signal: new AbortController().signal };
const stop = () => Promise.reject(cancelled());

it("records calls that were cancelled, because they may have run, but not cancelled reads", async () => {
  const relayed = { callTool: stop, getPrompt: stop } as unknown as Relayed;
  const inner = { read: stop, search: stop, act: stop, relayed } as unknown as Resources;
  const events: AuditEvent[] = [];
  const audited = createAuditedResources(inner, { write: (event) => void events.push(event) }, () => undefined);
  const what = { mount: "notes", name: "add" };
  const input = { clientCapabilities: {} };
  for (const running of [
    audited.read("note://a", call),
    audited.search({ text: "x", limit: 1 }, call),
    audited.act!(what, {}, call),
    audited.relayed!.callTool(what, {}, input, call),
    audited.relayed!.getPrompt(what, {}, input, call),
  ])
    await expect(running).rejects.toMatchObject({ kind: "cancelled" });
  expect(events).toMatchObject([
    { what: "act", caller: "ann", detail: "notes/add", outcome: "failed" },
    { what: "act", caller: "ann", detail: "notes/add", outcome: "failed" },
    { what: "act", caller: "ann", detail: "notes/add (prompt)", outcome: "failed" },
  ]);
});
