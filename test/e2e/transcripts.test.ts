/** Plays the conversations of test/wire, word for word, over every transport. */
import { describe, expect, it } from "vitest";
import { opened as opened20241007, transcript as transcript20241007 } from "../wire/2024-10-07/transcript.ts";
import { opened as opened20241105, transcript as transcript20241105 } from "../wire/2024-11-05/transcript.ts";
import { opened as opened20250326, transcript as transcript20250326 } from "../wire/2025-03-26/transcript.ts";
import { opened as opened20250618, transcript as transcript20250618 } from "../wire/2025-06-18/transcript.ts";
import { opened as opened20251125, transcript as transcript20251125 } from "../wire/2025-11-25/transcript.ts";
import { transcript as transcript20260728 } from "../wire/2026-07-28/transcript.ts";
import { greeting, pageSize, sampleContents } from "../wire/test-server.ts";
import { isRecord, type Json, type JsonRecord } from "../wire/json.ts";
import type { Revision } from "../wire/schemas.ts";
import { cursorIn, fitted, withCursor, type Step } from "../wire/transcript.ts";
import type { MemoryTemplate, MemoryValue } from "../../src/sources/memory.ts";
import { legs, openTestServer, type TestServer } from "./harness.ts";
import { settled } from "./line/create-line.ts";
import type { Asked, Line } from "./line/line.ts";

const written: Readonly<Record<Revision, { readonly opened?: Json; readonly transcript: readonly Step[] }>> = {
  "2024-10-07": { opened: opened20241007, transcript: transcript20241007 },
  "2024-11-05": { opened: opened20241105, transcript: transcript20241105 },
  "2025-03-26": { opened: opened20250326, transcript: transcript20250326 },
  "2025-06-18": { opened: opened20250618, transcript: transcript20250618 },
  "2025-11-25": { opened: opened20251125, transcript: transcript20251125 },
  "2026-07-28": { transcript: transcript20260728 },
};

const template: MemoryTemplate = {
  template: greeting.template,
  name: greeting.name,
  title: greeting.title,
  description: greeting.description,
  mimeType: greeting.mimeType,
  read: ({ name = "" }) => [{ body: { text: greeting.read(name) }, mimeType: greeting.mimeType }],
  complete: (_variable, value) => greeting.names.filter((name) => name.startsWith(value)),
};

describe.for(legs)("the conversation over $transport in $revision", (leg) => {
  it("goes word for word as it is written", async () => {
    await using pressmark = await openTestServer({
      sampleContents: sampleContents as Readonly<Record<string, MemoryValue>>,
      templates: [template],
      pageSize,
    });
    const line = await pressmark.line(leg);
    const { opened, transcript } = written[leg.revision];
    if (opened !== undefined) expect(fitted(line.opened, opened)).toEqual(opened);
    await play(transcript, line, pressmark);
  });
});

async function play(transcript: readonly Step[], line: Line, pressmark: TestServer): Promise<void> {
  let cursor: string | undefined;
  let listening: Asked | undefined;
  for (const step of transcript) {
    if ("ask" in step) {
      const response = await settled(await begin(line, withCursor(step.ask, cursor)));
      cursor = cursorIn(response) ?? cursor;
      expect(fitted(response, step.answer), step.name).toEqual(step.answer);
      continue;
    }
    if ("begin" in step) listening = await begin(line, step.begin);
    else if ("close" in step) await pressmark.edge.close();
    else if (step.change.text === null) pressmark.memory.delete(step.change.path);
    else pressmark.memory.set(step.change.path, step.change.text);
    for (const message of step.hears) {
      const said =
        "close" in step && listening ? await settled(listening) : await (listening?.said ?? line.unasked).next();
      expect(fitted(said, message), step.name).toEqual(message);
    }
  }
}

/** Sends the question as it is written; the line adds what every question of its revision carries. */
async function begin(line: Line, { id, method, params }: JsonRecord): Promise<Asked> {
  const { _meta, ...own } = isRecord(params) ? params : {};
  if (line.modern) expect(_meta).toBeDefined();
  return line.start(String(method), own as JsonRecord, { id: id as string | number });
}
