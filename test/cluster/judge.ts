/** Judges a history: each promise of a cluster is a rule, and each violation a sentence. */
import { eventsOf, type HistoryEvent } from "./history.ts";

export interface Bounds {
  /** From an answer, or from the end of the faults, until every instance knows what it acknowledged. */
  readonly rememberMs: number;
  /** From a write, or from the end of the faults, to the notice. */
  readonly noticeMs: number;
  /** From an acknowledged revocation to the last acceptance. */
  readonly revocationMs: number;
  /** From a change of the rules, or from the end of the faults, to the last answer by the old ones. */
  readonly ruleMs: number;
  /** From the end of the faults until every instance answers correctly. */
  readonly recoveryMs: number;
  /** Names of the instances that must recover. */
  readonly instances: readonly string[];
}

export interface Violation {
  readonly rule: string;
  readonly text: string;
}

type Rule = (history: readonly HistoryEvent[], bounds: Bounds) => readonly string[];

/** What was acknowledged is there for every later observation, until it is given up; and it was observed after the faults. */
const remembers: Rule = (history, { rememberMs, instances }) => {
  const gone = new Map(eventsOf(history, "given up").map((event) => [`${event.what} ${event.id}`, event.atMs]));
  const observations = Map.groupBy(eventsOf(history, "observed"), ({ what, id }) => `${what} ${id}`);
  const healedMs = eventsOf(history, "healed").at(-1)?.atMs;
  const troubles = troubleTimes(history);
  return eventsOf(history, "acknowledged").flatMap(({ what, id, atMs }) => {
    const name = `${what} ${id}`;
    const untilMs = gone.get(name) ?? Infinity;
    const valid = (observations.get(name) ?? []).filter(({ startMs, endMs }) => startMs > atMs && endMs < untilMs);
    const lost = valid.filter(({ isThere, by, startMs }) => {
      if (isThere) return false;
      // An instance that cannot ask whether a token was revoked refuses it: that is promised, too.
      if (what === "token" && isWithin(startMs, troubles)) return false;
      // Behind the proxy it may have been another instance.
      const isOne = instances.includes(by);
      const hadIt = isOne && valid.some((other) => other.by === by && other.isThere && other.endMs < startMs);
      return hadIt || startMs > deadlineAfter(atMs, rememberMs, troubles);
    });
    if (lost.length > 0)
      return [`${name}, acknowledged at ${ms(atMs)}, was missing for ${lost[0]!.by} at ${ms(lost[0]!.startMs)}`];
    const wasChecked = untilMs < Infinity || healedMs === undefined || valid.some(({ startMs }) => startMs >= healedMs);
    return wasChecked ? [] : [`${name}, acknowledged at ${ms(atMs)}, was not observed after the faults`];
  });
};

/** After each write, every listener to the file is told, unless its connection ends first. */
const announces: Rule = (history, { noticeMs }) => {
  const endMs = Math.max(...history.map(timeOf));
  const notices = Map.groupBy(eventsOf(history, "notice"), ({ listener }) => listener);
  const closed = new Map(eventsOf(history, "closed").map(({ listener, atMs }) => [listener, atMs]));
  const writes = Map.groupBy(eventsOf(history, "write"), ({ file }) => file);
  const troubles = troubleTimes(history);
  return eventsOf(history, "opened").flatMap(({ listener, files, atMs: openedMs }) => {
    const heard = notices.get(listener) ?? [];
    const closedMs = closed.get(listener) ?? Infinity;
    return files.flatMap((file) =>
      (writes.get(file) ?? []).flatMap((write) => {
        if (write.startMs < openedMs) return [];
        const deadlineMs = deadlineAfter(write.endMs, noticeMs, troubles);
        // A listener that ended, or a history that ends, before the deadline says nothing.
        if (closedMs <= deadlineMs || endMs < deadlineMs) return [];
        const isTold = heard.some(
          (notice) =>
            (notice.file === undefined || notice.file === file) &&
            notice.atMs >= write.startMs &&
            notice.atMs <= deadlineMs,
        );
        if (isTold) return [];
        return [
          `${listener} was not told of ${file} = ${write.counter}, written at ${ms(write.endMs)}, by ${ms(deadlineMs)}`,
        ];
      }),
    );
  });
};

/** A read that begins more than the time to live after a write returns it, or a newer one. */
const isFresh: Rule = (history) => {
  const writes = Map.groupBy(eventsOf(history, "write"), ({ file }) => file);
  return eventsOf(history, "read").flatMap(({ by, file, counter, ttlMs, startMs }) => {
    const finished = (writes.get(file) ?? []).filter(({ endMs }) => endMs + ttlMs < startMs);
    const newest = Math.max(-1, ...finished.map((write) => write.counter));
    return counter >= newest ? [] : [`${by} read ${file} = ${counter} at ${ms(startMs)} after ${newest} was written`];
  });
};

const revokes: Rule = (history, { revocationMs }) => {
  const endMs = Math.max(...history.map(timeOf));
  const tries = Map.groupBy(eventsOf(history, "tried"), ({ token }) => token);
  return eventsOf(history, "revoked").flatMap(({ token, atMs }) => {
    const later = (tries.get(token) ?? []).filter(({ startMs }) => startMs > atMs + revocationMs);
    if (endMs <= atMs + revocationMs) return [];
    if (later.length === 0) return [`the revoked token ${token} was not tried after ${ms(atMs + revocationMs)}`];
    return later
      .filter(({ isAccepted }) => isAccepted)
      .map(({ by, startMs }) => `${by} accepted the token ${token} at ${ms(startMs)}, revoked at ${ms(atMs)}`);
  });
};

/** An answer follows the rules of the moment, after the time that a change may take. */
const follows: Rule = (history, { ruleMs }) => {
  const rules = eventsOf(history, "rule");
  const troubles = troubleTimes(history);
  const asked = eventsOf(history, "asked");
  const wrong = asked.flatMap(({ by, isAllowed, startMs, endMs }) => {
    const current = rules.findLast(({ atMs }) => atMs <= startMs);
    if (!current || startMs <= deadlineAfter(current.atMs, ruleMs, troubles)) return [];
    // A change that came while it was answered decides as well.
    if (rules.some(({ atMs }) => atMs > startMs && atMs < endMs)) return [];
    if (current.allows === isAllowed) return [];
    const answer = isAllowed ? "allowed" : "refused";
    return [`${by} ${answer} a read at ${ms(startMs)} against the rules of ${ms(current.atMs)}`];
  });
  const last = rules.at(-1);
  const isChecked = !last || asked.some(({ startMs }) => startMs > deadlineAfter(last.atMs, ruleMs, troubles));
  return isChecked ? wrong : [...wrong, `the rules of ${ms(last.atMs)} were not tried`];
};

/** A fence belongs to one holder, grows from holder to holder, and no write with an older one is accepted after a newer. */
const fences: Rule = (history) => {
  const texts: string[] = [];
  for (const [name, seen] of Map.groupBy(eventsOf(history, "lease"), (event) => event.name)) {
    const holders = new Map<number, string>();
    let highest = -Infinity;
    for (const { holder, fence, atMs } of seen.toSorted((a, b) => a.atMs - b.atMs)) {
      const known = holders.get(fence);
      if (known !== undefined && known !== holder)
        texts.push(`${name} with fence ${fence} was held by ${known} and by ${holder} at ${ms(atMs)}`);
      if (fence < highest) texts.push(`${name} was held with fence ${fence} at ${ms(atMs)} after ${highest}`);
      holders.set(fence, holder);
      highest = Math.max(highest, fence);
    }
  }
  for (const [name, writes] of Map.groupBy(eventsOf(history, "fenced"), (event) => event.name)) {
    let highest = -Infinity;
    for (const { fence, order } of writes.toSorted((a, b) => a.order - b.order)) {
      if (fence < highest) texts.push(`${name} accepted write ${order} with fence ${fence} after fence ${highest}`);
      highest = Math.max(highest, fence);
    }
  }
  return texts;
};

const computesOnce: Rule = (history) =>
  [...Map.groupBy(eventsOf(history, "computed"), ({ key }) => key)].flatMap(([key, runs]) =>
    runs.length > 1 ? [`${key} was computed ${runs.length} times, by ${runs.map(({ by }) => by).join(" and ")}`] : [],
  );

const recovers: Rule = (history, { recoveryMs, instances }) =>
  eventsOf(history, "healed").flatMap(({ atMs }) => {
    const recovered = eventsOf(history, "recovered").filter((event) => event.atMs >= atMs);
    return instances.flatMap((instance) => {
      const first = recovered.find((event) => event.instance === instance);
      if (first && first.atMs <= atMs + recoveryMs) return [];
      const seen = first ? `only at ${ms(first.atMs)}` : "never";
      return [`${instance} answered correctly ${seen} after everything was healed at ${ms(atMs)}`];
    });
  });

/** Without a fault, every request is answered. */
const answers: Rule = (history) => {
  const troubles = troubleTimes(history);
  return eventsOf(history, "failed")
    .filter(({ startMs, endMs }) => !troubles.some(({ fromMs, toMs }) => endMs >= fromMs && startMs <= toMs))
    .map(({ by, operation, reason, endMs }) => `${operation} at ${by} failed at ${ms(endMs)}: ${reason}`);
};

const rules: Readonly<Record<string, Rule>> = {
  remembers,
  announces,
  "is fresh": isFresh,
  revokes,
  "follows rules": follows,
  fences,
  "computes once": computesOnce,
  recovers,
  answers,
};

export const ruleNames: readonly string[] = Object.keys(rules);

export function judge(history: readonly HistoryEvent[], bounds: Bounds): readonly Violation[] {
  return Object.entries(rules).flatMap(([rule, check]) => check(history, bounds).map((text) => ({ rule, text })));
}

interface Trouble {
  readonly fromMs: number;
  /** Until everything has recovered. */
  readonly toMs: number;
}

/** From each first fault to the end of the recovery from it. */
function troubleTimes(history: readonly HistoryEvent[]): readonly Trouble[] {
  const troubles: { fromMs: number; toMs: number }[] = [];
  let isOpen = false;
  for (const event of history.toSorted((a, b) => timeOf(a) - timeOf(b))) {
    if (event.is === "fault" && !isOpen) {
      troubles.push({ fromMs: event.atMs, toMs: Infinity });
      isOpen = true;
    } else if (event.is === "healed" && isOpen) {
      troubles.at(-1)!.toMs = event.atMs;
      isOpen = false;
    } else if (event.is === "recovered" && troubles.length > 0 && !isOpen) {
      troubles.at(-1)!.toMs = event.atMs;
    }
  }
  return troubles;
}

/** This long after the moment, or after the last faults that began before that. */
function deadlineAfter(atMs: number, boundMs: number, troubles: readonly Trouble[]): number {
  let deadlineMs = atMs + boundMs;
  for (const { fromMs, toMs } of troubles)
    if (toMs >= atMs && fromMs <= deadlineMs) deadlineMs = Math.max(deadlineMs, toMs + boundMs);
  return deadlineMs;
}

function isWithin(atMs: number, troubles: readonly Trouble[]): boolean {
  return troubles.some(({ fromMs, toMs }) => atMs >= fromMs && atMs <= toMs);
}

function timeOf(event: HistoryEvent): number {
  if ("endMs" in event) return event.endMs;
  if ("startMs" in event) return event.startMs;
  return "atMs" in event ? event.atMs : -Infinity;
}

function ms(time: number): string {
  return `${Math.round(time)} ms`;
}
