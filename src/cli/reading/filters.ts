/** Flags that filter resources by type, time of change, priority and audience. */
import { quote } from "../../errors.ts";
import { createGlob } from "../../lib/glob.ts";
import type { Resource } from "../../resources.ts";
import { oneOf, UsageError, valueFlag, type Flag, type FlagValues } from "../command.ts";

type MimeTest = (mimeType: string) => boolean;

const mimeFlag: Flag<readonly MimeTest[]> = {
  summary: "Only this type, such as text/markdown or text/*; may be repeated",
  value: "TYPE",
  initial: [],
  take: (text, before) => [...before, toMimeTest(text)],
};

export const filterFlags = {
  mime: mimeFlag,
  "changed-since": valueFlag("TIME", "Only resources changed since then: 2h, 3d, today, 2026-11-01", {
    parse: (text) => toMoment(text, Date.now()),
  }),
  priority: valueFlag("NUMBER", "Only resources with at least this priority, from 0 to 1", { parse: toPriority }),
  audience: valueFlag("WHO", "Only resources for this audience", {
    offer: ["user", "assistant"],
    parse: oneOf(["user", "assistant"]),
  }),
};

export type FilterFlags = FlagValues<typeof filterFlags>;

/** Leaves out resources without a time of change or priority when filtering by that; no audience means all audiences. */
export function createFilter(flags: FilterFlags): (resource: Resource) => boolean {
  const { mime, "changed-since": since, priority, audience } = flags;
  const tests: ((resource: Resource) => boolean)[] = [];
  if (mime.length > 0) tests.push(({ mimeType = "" }) => mime.some((test) => test(mimeType)));
  if (since !== undefined) tests.push(({ annotations }) => Date.parse(annotations?.lastModified ?? "") >= since);
  if (priority !== undefined) tests.push(({ annotations }) => (annotations?.priority ?? -1) >= priority);
  if (audience !== undefined) tests.push(({ annotations }) => annotations?.audience?.includes(audience) ?? true);
  return (resource) => tests.every((test) => test(resource));
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** A relative or local date or time, in milliseconds since the epoch. */
export function toMoment(text: string, now: number): number {
  const relative = /^(\d{1,9})([smhdw])$/.exec(text);
  if (relative) return now - Number(relative[1]) * unitMs[relative[2]!]!;
  if (text === "today" || text === "yesterday") {
    const day = new Date(now);
    day.setHours(0, 0, 0, 0);
    if (text === "yesterday") day.setDate(day.getDate() - 1);
    return day.getTime();
  }
  const moment = /^\d{4}-\d{2}-\d{2}$/.test(text)
    ? Date.parse(`${text}T00:00:00`)
    : /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?$/.test(text)
      ? Date.parse(text.replace(" ", "T"))
      : Number.NaN;
  if (Number.isNaN(moment))
    throw new UsageError(
      `takes how long ago (30s, 15m, 2h, 3d, 1w), today, yesterday, a date (2026-11-01) or a time (2026-11-01T14:30), not ${quote(text, 40)}`,
    );
  return moment;
}

function toMimeTest(text: string): MimeTest {
  const pattern = text.toLowerCase();
  if (!/^[^/\s]+(?:\/[^/\s]+)?$/.test(pattern))
    throw new UsageError(`takes a type such as text/markdown or image/*, not ${quote(text, 40)}`);
  const { matches } = createGlob(pattern.includes("/") ? pattern : `${pattern}/*`);
  return (mimeType) => matches(mimeType.split(";", 1)[0]!.trim().toLowerCase());
}

function toPriority(text: string): number {
  const priority = Number(text);
  if (text.trim() === "" || !(priority >= 0 && priority <= 1))
    throw new UsageError(`takes a number from 0 to 1, not ${quote(text, 40)}`);
  return priority;
}
