/** A watch under test, and the changes that it must report. */
import { formatChange, collectChanges } from "../listen.ts";
import type { ReportedChange } from "../source-setup.ts";
import type { SourceChange, SourceWatch } from "../../source.ts";
import type { ContractContext } from "./contract-context.ts";

export interface Watched {
  readonly watch: SourceWatch;
  readonly changes: readonly SourceChange[];
  /** Ignores everything reported before. */
  mark(): void;
  /** Resolves when the change is reported; `lost` is enough only for the kinds that the setup names. */
  until(kind: ReportedChange["kind"], path: string): Promise<void>;
  untilEnd(why: string): Promise<void>;
}

/** Starts watches and makes changes. */
export function createWatching(context: ContractContext) {
  const { aFile, aWritten, call, inside, method, settled, setup, waitMs } = context;
  let writes = 0;

  const startWatch = (signal: AbortSignal = context.signal()): Promise<SourceWatch> =>
    settled(method("watch")({ ...call(), signal }), "watch");

  function listen(watch: SourceWatch): Watched {
    const { heard, until, untilEnd } = collectChanges(watch, waitMs);
    let marked = 0;
    return {
      watch,
      changes: heard,
      untilEnd,
      mark() {
        marked = heard.length;
      },
      until: (kind, path) =>
        until(
          (change, index) =>
            index >= marked &&
            (change.kind === "lost"
              ? (setup.reportedAsLost ?? []).includes(kind) && (kind === "changed" || !change.isUnlisted)
              : change.kind === kind && change.path === path),
          `the change \`${formatChange({ kind, path })}\``,
        ),
    };
  }

  /** Changes the backend; returns what every watch must report. */
  async function makeChange(): Promise<ReportedChange[]> {
    if (setup.change) return settled(setup.change(), "the setup's change");
    writes += 1;
    await context.write(aWritten, `another text, ${writes}`);
    const fresh = await context.write(`${inside}watched-${writes}.txt`, `new, ${writes}`);
    return [
      { kind: "changed", path: aFile },
      { kind: "appeared", path: fresh },
    ];
  }

  return {
    startWatch,
    listen,
    makeChange,
    begin: async (signal?: AbortSignal): Promise<Watched> => listen(await startWatch(signal)),
    /** Checks that each watch reports a change made now. */
    async expectReported(...watches: readonly Watched[]): Promise<void> {
      for (const each of watches) each.mark();
      const reported = await makeChange();
      await Promise.all(watches.flatMap((each) => reported.map(({ kind, path }) => each.until(kind, path))));
    },
    /** Defines a test during which the path of the setup is followed. */
    test: (name: string, body: () => Promise<void>, skip?: string) =>
      context.test(
        name,
        async () => {
          if (!setup.write && !setup.change)
            throw new Error("a source that watches needs `write` or `change` in its setup");
          await context.follow(setup.followed === undefined ? aFile : context.addressOf(setup.followed));
          await body();
        },
        skip,
      ),
  };
}
