/** What clients did and saw during a run, in the monotonic time of the machine, which all processes share. */

/** Something that an instance acknowledged and must remember. */
export type RememberedKind = "set" | "token" | "session";

/** Times in milliseconds of `nowMs`. An operation that failed is recorded only where a rule needs it. */
export type HistoryEvent =
  /** The file has this counter as its content from some moment between the two on. */
  | {
      readonly is: "write";
      readonly file: string;
      readonly counter: number;
      readonly startMs: number;
      readonly endMs: number;
    }
  | {
      readonly is: "read";
      readonly by: string;
      readonly file: string;
      readonly counter: number;
      /** How long the response may be used, by its own claim. */
      readonly ttlMs: number;
      readonly startMs: number;
      readonly endMs: number;
    }
  | { readonly is: "opened"; readonly listener: string; readonly files: readonly string[]; readonly atMs: number }
  | { readonly is: "closed"; readonly listener: string; readonly atMs: number }
  /** Without a file: everything must be read again. */
  | { readonly is: "notice"; readonly listener: string; readonly file?: string; readonly atMs: number }
  | { readonly is: "acknowledged"; readonly what: RememberedKind; readonly id: string; readonly atMs: number }
  /** From this moment on it may be gone. */
  | { readonly is: "given up"; readonly what: RememberedKind; readonly id: string; readonly atMs: number }
  | {
      readonly is: "observed";
      readonly what: RememberedKind;
      readonly id: string;
      readonly by: string;
      readonly isThere: boolean;
      readonly startMs: number;
      readonly endMs: number;
    }
  | { readonly is: "revoked"; readonly token: string; readonly atMs: number }
  | {
      readonly is: "tried";
      readonly token: string;
      readonly by: string;
      readonly isAccepted: boolean;
      readonly startMs: number;
    }
  /** The config has these rules from this moment on. */
  | { readonly is: "rule"; readonly allows: boolean; readonly atMs: number }
  | {
      readonly is: "asked";
      readonly by: string;
      readonly isAllowed: boolean;
      readonly startMs: number;
      readonly endMs: number;
    }
  /** An instance held the lease with this fence at this moment. */
  | {
      readonly is: "lease";
      readonly name: string;
      readonly holder: string;
      readonly fence: number;
      readonly atMs: number;
    }
  /** A write that the engine accepted from the holder of a lease, in the order of the engine. */
  | { readonly is: "fenced"; readonly name: string; readonly fence: number; readonly order: number }
  /** A computation that must run once per key. */
  | { readonly is: "computed"; readonly key: string; readonly by: string; readonly atMs: number }
  | { readonly is: "fault"; readonly fault: string; readonly atMs: number }
  /** Every part runs and every link is up again. */
  | { readonly is: "healed"; readonly atMs: number }
  /** The instance is ready and has answered correctly. */
  | { readonly is: "recovered"; readonly instance: string; readonly atMs: number }
  /** A request that a client could not get an answer for, after it tried again. */
  | {
      readonly is: "failed";
      readonly by: string;
      readonly operation: string;
      readonly reason: string;
      readonly startMs: number;
      readonly endMs: number;
    };

export type EventOf<Is extends HistoryEvent["is"]> = Extract<HistoryEvent, { readonly is: Is }>;

export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export function eventsOf<Is extends HistoryEvent["is"]>(
  history: readonly HistoryEvent[],
  is: Is,
): readonly EventOf<Is>[] {
  return history.filter((event): event is EventOf<Is> => event.is === is);
}
