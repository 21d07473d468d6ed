/** Limits what each caller may use: token buckets for what is used up, counters for what is held. */
import { QuotaError } from "../errors.ts";
import { type CostAccount, runCharged } from "../lib/cost-account.ts";
import type { Caller } from "../resources.ts";
import type { Runtime } from "../runtime.ts";
import { isMeant, type Subject } from "./subject.ts";

const rates = ["requests", "bytes", "entries", "indexRows", "processMs"] as const;
type Rate = (typeof rates)[number];
type Held = "listens" | "concurrentReads";
type Limit = number | "unlimited";

/** Absent limits are those of a less specific subject. */
export type QuotaLimits = { readonly [Each in Held | `${Rate}PerMinute`]?: Limit | undefined };
/** By whom they are about. A caller's own limit beats that of groups, scopes and claims, and that beats `anyone`. */
export type QuotaSettings = Readonly<Record<Subject, QuotaLimits>>;

/** Refusals of one caller by one quota. */
export interface QuotaRefusals {
  readonly caller: string;
  readonly quota: string;
  readonly count: number;
}

/** The share of a limit that one caller uses now. */
export interface QuotaUsage {
  readonly caller: string;
  readonly quota: string;
  /** From 0 to 1, and above 1 after work that cost more than was left. */
  readonly share: number;
}

/** The first four are described in `CallerQuotas` of the protocol. */
export interface Quotas {
  refusal(caller: Caller): QuotaError | undefined;
  begin(caller: Caller, isWatch?: boolean): { run<T>(work: () => T): T; end(): void } | undefined;
  listen(caller: Caller, count: number): (() => void) | undefined;
  charge(caller: Caller, unit: Rate, amount: number): void;
  /** Holds for every caller at once. What was used remains used. */
  reload(settings: QuotaSettings | undefined): void;
  /** Since the start. */
  refusals(): readonly QuotaRefusals[];
  /** Of the callers that use most of a limit, at most 200 shares above 0. */
  usage(): readonly QuotaUsage[];
  /** Calls back for a caller and a quota at most once a minute, with the refusals since the last time. */
  follow(hear: (refusals: QuotaRefusals) => void, signal?: AbortSignal): void;
}

/** Compiled limits of one caller. Infinity is no limit. */
interface Limits {
  /** Amount per minute, by index in `rates`. It is also the burst. */
  readonly perMinute: Float64Array;
  readonly listens: number;
  readonly concurrentReads: number;
}

/** The remaining amounts of one caller. */
interface Account {
  limits: Limits;
  /** By index in `rates`; below zero after work that cost more than was left. */
  readonly left: Float64Array;
  /** When it was last refilled, and last used. */
  atMs: number;
  usedMs: number;
  listens: number;
  running: number;
}

/** Refusals, and those that no listener was told of yet. */
interface Tally {
  count: number;
  untold: number;
  toldMs: number;
}

const minuteMs = 60_000;
/** Sums of fractions may miss a whole number by this much. */
const tolerance = 1e-6;
/** Retry time for what ends at an unknown time. */
const heldRetryMs = 1000;
const maxAccounts = 10_000;
/** Callers whose refusals are counted separately; others are counted together. */
const maxCounted = 200;
const others = "(other)";
const unlimited: Limits = {
  perMinute: new Float64Array(rates.length).fill(Infinity),
  listens: Infinity,
  concurrentReads: Infinity,
};

export function createQuotas({ monotonicMs }: Pick<Runtime, "monotonicMs">): Quotas {
  let settings: QuotaSettings = {};
  let limitsByCaller = new WeakMap<Caller, Limits>();
  /** By id of the caller. */
  const accounts = new Map<string, Account>();
  const tallies = new Map<string, Map<string, Tally>>();
  const hearers = new Set<(refusals: QuotaRefusals) => void>();

  function limitsOf(caller: Caller): Limits {
    let limits = limitsByCaller.get(caller);
    if (!limits) limitsByCaller.set(caller, (limits = compile(settings, caller)));
    return limits;
  }

  /** With everything that has been refilled until now. Undefined if nothing limits the caller. */
  function accountOf(caller: Caller): Account | undefined {
    const limits = limitsOf(caller);
    if (limits === unlimited) return undefined;
    const atMs = monotonicMs();
    let account = accounts.get(caller.id);
    if (!account) {
      if (accounts.size >= maxAccounts) makeRoom(atMs);
      account = { limits, left: limits.perMinute.slice(), atMs, usedMs: atMs, listens: 0, running: 0 };
      accounts.set(caller.id, account);
    }
    refill(account, limits, atMs);
    account.usedMs = atMs;
    return account;
  }

  /** A full account is like a new one; if that is not enough, those that were not used for longest are forgotten. */
  function makeRoom(atMs: number): void {
    for (const [id, account] of accounts) {
      refill(account, account.limits, atMs);
      if (isFull(account)) accounts.delete(id);
    }
    if (accounts.size < maxAccounts) return;
    const idle = [...accounts].filter(([, { listens, running }]) => listens + running === 0);
    idle.sort(([, one], [, other]) => one.usedMs - other.usedMs);
    for (const [id] of idle.slice(0, maxAccounts / 10)) accounts.delete(id);
  }

  function charge(caller: Caller, unit: Rate, amount: number): void {
    const account = accountOf(caller);
    if (account) account.left[rates.indexOf(unit)]! -= amount;
  }

  function refuse(caller: Caller, error: QuotaError): QuotaError {
    const id = tallies.has(caller.id) || tallies.size < maxCounted ? caller.id : others;
    let own = tallies.get(id);
    if (!own) tallies.set(id, (own = new Map()));
    let tally = own.get(error.quota);
    if (!tally) own.set(error.quota, (tally = { count: 0, untold: 0, toldMs: -Infinity }));
    tally.count += 1;
    tally.untold += 1;
    const nowMs = monotonicMs();
    if (nowMs - tally.toldMs < minuteMs) return error;
    const told = { caller: id, quota: error.quota, count: tally.untold };
    tally.toldMs = nowMs;
    tally.untold = 0;
    for (const hear of hearers) hear(told);
    return error;
  }

  return {
    refusal(caller) {
      const account = accountOf(caller);
      const error = account && problemOf(account);
      return error && refuse(caller, error);
    },

    begin(caller, isWatch = false) {
      const account = accountOf(caller);
      if (!account) return undefined;
      const error = problemOf(account) ?? (isWatch ? undefined : tooManyRunning(account));
      if (error) throw refuse(caller, error);
      account.left[0]! -= 1;
      if (!isWatch) account.running += 1;
      return new RunningRequest(account, isWatch, (unit, amount) => charge(caller, unit, amount));
    },

    listen(caller, count) {
      const account = accountOf(caller);
      if (!account) return undefined;
      const { listens } = account.limits;
      if (account.listens + count > listens)
        throw refuse(
          caller,
          createRefusal("listens", `at most ${listens} listens may be open; end others first`, heldRetryMs),
        );
      account.listens += count;
      let isHeld = true;
      return () => {
        if (isHeld) account.listens -= count;
        isHeld = false;
      };
    },

    charge,

    reload(next = {}) {
      settings = next;
      limitsByCaller = new WeakMap();
    },

    refusals: () =>
      [...tallies].flatMap(([caller, own]) => [...own].map(([quota, { count }]) => ({ caller, quota, count }))),

    usage() {
      const atMs = monotonicMs();
      const all = [...accounts].flatMap(([caller, account]) => {
        refill(account, account.limits, atMs);
        return sharesOf(account).map(([quota, share]): QuotaUsage => ({ caller, quota, share }));
      });
      return all.sort((one, other) => other.share - one.share).slice(0, maxCounted);
    },

    follow(hear, signal) {
      if (signal?.aborted) return;
      hearers.add(hear);
      signal?.addEventListener("abort", () => hearers.delete(hear), { once: true });
    },
  };
}

/** A class, because creating an object literal with a getter takes a microsecond. */
class RunningRequest implements CostAccount {
  readonly charge: CostAccount["charge"];
  isOpen = true;
  readonly #account: Account;
  readonly #isWatch: boolean;

  constructor(account: Account, isWatch: boolean, charge: CostAccount["charge"]) {
    this.#account = account;
    this.#isWatch = isWatch;
    this.charge = charge;
  }

  run<T>(work: () => T): T {
    const isCharged = !this.#isWatch && hasWorkLimits(this.#account.limits);
    return runCharged(isCharged ? this : undefined, work);
  }

  end(): void {
    if (this.isOpen && !this.#isWatch) this.#account.running -= 1;
    this.isOpen = false;
  }
}

/** The owner is limited only by name. Of several groups, scopes and claims, the most generous counts. */
function compile(settings: QuotaSettings, caller: Caller): Limits {
  const meant = Object.entries(settings).filter(([subject]) => isMeant(subject, caller));
  const named = meant.filter(([subject]) => subject.startsWith("caller:"));
  const ranks = caller.owner
    ? [named]
    : [
        named,
        meant.filter(([subject]) => subject !== "anyone" && !subject.startsWith("caller:")),
        meant.filter(([subject]) => subject === "anyone"),
      ];
  const limitOf = (name: keyof QuotaLimits): number => {
    for (const rank of ranks) {
      const limits = rank.flatMap(([, { [name]: limit = [] }]) => limit);
      if (limits.length > 0) return Math.max(...limits.map((limit) => (limit === "unlimited" ? Infinity : limit)));
    }
    return Infinity;
  };
  const limits: Limits = {
    perMinute: Float64Array.from(rates, (unit) => limitOf(`${unit}PerMinute`)),
    listens: limitOf("listens"),
    concurrentReads: limitOf("concurrentReads"),
  };
  const all = [...limits.perMinute, limits.listens, limits.concurrentReads];
  return all.every((limit) => limit === Infinity) ? unlimited : limits;
}

function refill(account: Account, limits: Limits, atMs: number): void {
  const passedMs = atMs - account.atMs;
  account.limits = limits;
  account.atMs = atMs;
  const { left } = account;
  for (let at = 0; at < left.length; at += 1) {
    const most = limits.perMinute[at]!;
    left[at] = most === Infinity ? most : Math.min(most, left[at]! + (most / minuteMs) * passedMs);
  }
}

/** Those above 0. */
function sharesOf({ left, listens, running, limits }: Account): (readonly [quota: keyof QuotaLimits, share: number])[] {
  const rated = rates.map((unit, at) => [`${unit}PerMinute`, 1 - left[at]! / limits.perMinute[at]!] as const);
  const held = [
    ["listens", limits.listens === 0 ? 0 : listens / limits.listens],
    ["concurrentReads", running / limits.concurrentReads],
  ] as const;
  // Without a limit, both are Infinity, and their ratio is not a number.
  return [...rated, ...held].filter(([, share]) => share > 0);
}

function isFull({ left, limits, listens, running }: Account): boolean {
  return listens + running === 0 && left.every((each, at) => each === limits.perMinute[at]);
}

/** The quota that takes longest to recover. Each must have one unit left. */
function problemOf({ left, limits: { perMinute } }: Account): QuotaError | undefined {
  let longestMs = 0;
  let worst = 0;
  for (let at = 0; at < left.length; at += 1) {
    if (left[at]! >= 1 - tolerance) continue;
    const waitMs = Math.ceil(((1 - left[at]!) / perMinute[at]!) * minuteMs);
    if (waitMs <= longestMs) continue;
    longestMs = waitMs;
    worst = at;
  }
  if (longestMs === 0) return undefined;
  const unit = rates[worst]!;
  return createRefusal(
    `${unit}PerMinute`,
    `the quota of ${perMinute[worst]} ${units[unit]} per minute is used up; try again in ${Math.ceil(longestMs / 1000)} s`,
    longestMs,
  );
}

const units: Readonly<Record<Rate, string>> = {
  requests: "requests",
  bytes: "bytes",
  entries: "entries",
  indexRows: "rows of the search index",
  processMs: "milliseconds of child processes",
};

function tooManyRunning({ running, limits: { concurrentReads } }: Account): QuotaError | undefined {
  if (running < concurrentReads) return undefined;
  return createRefusal(
    "concurrentReads",
    `at most ${concurrentReads} requests may run at the same time; try again when one has ended`,
    heldRetryMs,
  );
}

function hasWorkLimits({ perMinute }: Limits): boolean {
  return perMinute[rates.indexOf("indexRows")] !== Infinity || perMinute[rates.indexOf("processMs")] !== Infinity;
}

/** Without a stack, which takes longer than everything else of a refusal. */
function createRefusal(quota: keyof QuotaLimits, message: string, retryAfterMs: number): QuotaError {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new QuotaError(quota, message, retryAfterMs);
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}
