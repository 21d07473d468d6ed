/** Keeps the ledger true to Drive: a look at all files of a log, then every change of it, each batch with the token behind it. */
import { ResourceError } from "../../errors.ts";
import type { Runtime } from "../../source.ts";
import { pause, type RetryState, until } from "./backoff.ts";
import { type DriveFile, type DrivePermission, folderType, type SharedDrive } from "./drive-objects.ts";
import type { DriveApi } from "./drive-api.ts";
import { createHolder } from "./holder.ts";
import type { Ledger } from "./ledger.ts";
import { isGone } from "./refusal.ts";

export interface SyncOptions {
  readonly api: DriveApi;
  readonly ledger: Ledger;
  readonly runtime: Runtime;
  readonly myDrive: boolean;
  /** Ids, or all that there are. */
  readonly drives: "all" | readonly string[];
  /** Whether it must be known of every file who may read it. */
  readonly withPermissions: boolean;
  /** Of the api, where it tells. */
  readonly trouble?: RetryState | undefined;
  /** Who looks. */
  readonly holder?: string;
}

export interface Sync {
  /** Resolves when all that was so before this was asked is in the ledger. Asked by many at once, it is done once for all of them. */
  now(signal: AbortSignal): Promise<void>;
  /** As `now`, unless that was done less than this ago. Rejects while Drive is away, and goes on trying by itself. */
  within(maxAgeMs: number, signal: AbortSignal): Promise<void>;
  /** Stops what is under way. */
  close(): Promise<void>;
}

const pageSize = 1000;
/** Where each of them is asked for: someone who waits for us hears of every page. */
const askedPageSize = 100;
const atOnce = 8;
const logsAtOnce = 4;
const lookWaitMs = 500;
const maxTargets = 1000;
const linkedMs = 900_000;
/** So often a token may be no longer good. */
const maxDisturbed = 5;
/** Of a thousand files each: more than any account has. */
const maxPages = 100_000;
const maxMeetings = 3;
const everything = "trashed = false";
/** Together they are everything, and neither is all of it. */
const narrower = ["trashed = false and 'me' in owners", "trashed = false and not 'me' in owners"];

export function createSync(options: SyncOptions): Sync {
  const { api, ledger, runtime, myDrive, drives, withPermissions, trouble } = options;
  const { holder = createHolder() } = options;
  const closing = new AbortController();
  const { signal } = closing;
  let running: Promise<void> | undefined;
  let following: Promise<void> | undefined;
  let areDrivesKnown = false;
  let account: string | undefined;

  /** What is kept of another account is no good for this one, and another process may have been here for another. */
  async function meetAccount(): Promise<void> {
    account ??= (await api.account(signal)).id;
    if (ledger.note("account") !== account && ledger.belongTo(account)) areDrivesKnown = false;
  }

  /** The shared drives that are served, and a folder for each of them. */
  async function meetDrives(): Promise<void> {
    if (areDrivesKnown) return;
    const wanted = drives === "all" || drives.length > 0 ? await api.drives(signal) : [];
    const served = wanted.filter(({ id }) => drives === "all" || drives.includes(id));
    const names = new Set(served.map(({ id }) => id));
    for (const { name } of ledger.logs) if (name !== "" && !names.has(name)) ledger.forgetLog(name);
    if (!myDrive && ledger.logs.some(({ name }) => name === "")) ledger.forgetLog("");
    ledger.setNote("drives", JSON.stringify(served));
    for (const { id, name } of served) {
      const log = ledger.logs.find((each) => each.name === id);
      if (log?.isListed && ledger.row(id)?.name !== name)
        ledger.advance({ log: id, files: await topOf(id) }, log.token, log.token);
    }
    areDrivesKnown = true;
  }

  const servedDrives = (): readonly SharedDrive[] =>
    JSON.parse(ledger.note("drives") ?? "[]") as readonly SharedDrive[];

  async function run(again = 0): Promise<void> {
    await meetAccount();
    await meetDrives();
    const names = [...(myDrive ? [""] : []), ...servedDrives().map(({ id }) => id)];
    await inParallel(names, logsAtOnce, (name) => bringUp(name));
    await followTargets();
    // A shared drive that came is looked at in the same go.
    if (!areDrivesKnown && again < maxMeetings) await run(again + 1);
    ledger.setNote("synced", String(runtime.now()));
  }

  /** Whether this was noted less than so long ago, by any process. A time that is yet to come is of a clock that was set back. */
  function wasWithin(maxAgeMs: number, note: "synced" | "linked"): boolean {
    const ageMs = runtime.now() - Number(ledger.note(note) ?? Number.NaN);
    return ageMs >= 0 && ageMs < maxAgeMs;
  }

  async function bringUp(name: string): Promise<void> {
    for (let disturbed = 0; disturbed < maxDisturbed;) {
      const log = ledger.logs.find((each) => each.name === name);
      try {
        if (log?.isListed !== true) await lookAround(name, log?.token);
        else if (await follow(name, log.token)) return;
      } catch (cause) {
        if (name !== "" && isGone(cause)) return lose(name);
        if (!(cause instanceof ResourceError) || cause.kind !== "invalid") throw cause;
        ledger.restartLog(name);
        disturbed += 1;
      }
    }
    throw new ResourceError("unavailable", "Drive does not take its own tokens; try again later");
  }

  /** A shared drive is no longer ours to see. */
  function lose(name: string): void {
    ledger.forgetLog(name);
    ledger.setNote("drives", JSON.stringify(servedDrives().filter(({ id }) => id !== name)));
    areDrivesKnown = false;
  }

  /** The token is had first: what changes during the look is followed afterwards. */
  async function lookAround(name: string, token: string | undefined): Promise<void> {
    const from = token ?? (await api.startToken(name, signal));
    const look = ledger.beginLook(name, from, holder, Math.floor(runtime.monotonicMs()));
    // Someone else is at it, in this house or another.
    if (look === undefined) return pause(lookWaitMs, runtime, signal);
    try {
      const top = await topOf(name);
      if (!ledger.look(look, { log: name, files: top }, holder, Math.floor(runtime.monotonicMs()))) return;
      if (!(await lookFor(name, look, everything)))
        for (const q of narrower)
          if (!(await lookFor(name, look, q)))
            throw new ResourceError("unavailable", "Drive has not looked everywhere; what it found would not be all");
      ledger.endLook(look, name);
    } catch (cause) {
      ledger.leaveLook(name, holder);
      throw cause;
    }
  }

  /** False where Drive says that it has not looked everywhere. */
  async function lookFor(name: string, look: number, q: string): Promise<boolean> {
    let next: string | undefined;
    let pages = 0;
    do {
      if ((pages += 1) > maxPages) throw endless();
      const page = await api.files(
        { log: name, q, limit: withPermissions ? askedPageSize : pageSize, ...(next !== undefined && { token: next }) },
        signal,
      );
      if (page.isIncomplete) return false;
      const files = await withReaders(page.files.flatMap((file) => servedIn(name, file) ?? []));
      if (!ledger.look(look, { log: name, files }, holder, Math.floor(runtime.monotonicMs()))) return true;
      next = page.next;
    } while (next !== undefined);
    return true;
  }

  /** The folder that all others of a log are in is in no list. */
  async function topOf(name: string): Promise<readonly DriveFile[]> {
    const plain = { mimeType: folderType, version: 0, isTrashed: false, canDownload: true };
    if (name === "") {
      const root = await unlessGone(api.file({ id: "root" }, signal));
      return root ? withReaders([{ ...plain, id: root.id, name: root.name }]) : [];
    }
    const drive = servedDrives().find(({ id }) => id === name);
    return withReaders([{ ...plain, id: name, name: drive?.name ?? name }]);
  }

  /** False when someone else was quicker with the same. */
  async function follow(name: string, from: string): Promise<boolean> {
    let token = from;
    for (let pages = 0; pages < maxPages; pages += 1) {
      const page = await api.changes(name, token, signal);
      const found = page.changes.flatMap((change) => (change.kind === "file" ? [change.file] : []));
      if (page.changes.some(({ kind }) => kind === "drive")) areDrivesKnown = false;
      const files = await withReaders(found.flatMap((file) => servedIn(name, file) ?? []));
      const removed = [
        ...page.changes.flatMap((change) => (change.kind === "removed" ? [change.id] : [])),
        ...found.filter((file) => !servedIn(name, file)).map(({ id }) => id),
      ];
      if (page.token !== token || files.length + removed.length > 0)
        if (!ledger.advance({ log: name, files, removed }, token, page.token)) return false;
      if (page.isLast) return true;
      ({ token } = page);
    }
    throw endless();
  }

  /** A file as a log tells of it. What the account's own log says of a shared drive that is not served is not for us. */
  function servedIn(log: string, file: DriveFile): DriveFile | undefined {
    const { driveId, ...own } = file;
    if (driveId === undefined || (log === "" ? isDriveServed(driveId) : driveId === log)) return file;
    // Shared with the account out of a drive that it is not in: no other log tells of it.
    return log === "" && drives === "all" ? own : undefined;
  }

  const isDriveServed = (driveId: string): boolean => servedDrives().some(({ id }) => id === driveId);

  /** Whoever may write where we look can lay a shortcut to anything that the account sees: it leads no further than what is served. */
  function isWithin({ driveId }: DriveFile): boolean {
    return driveId !== undefined && drives !== "all" ? isDriveServed(driveId) : myDrive;
  }

  /** Of what is in a shared drive, who may read it must be asked for file by file. */
  async function withReaders(files: readonly DriveFile[]): Promise<readonly DriveFile[]> {
    if (!withPermissions) return files;
    return inParallel(files, atOnce, async (file) =>
      file.permissions && file.permissions.length > 0
        ? file
        : { ...file, permissions: await readersOf(api, file.id, signal) },
    );
  }

  /** Where shortcuts lead, when no log tells of it: what is not known yet and, now and then, what is. */
  async function followTargets(): Promise<void> {
    const isDue = !wasWithin(linkedMs, "linked");
    const targets = [...ledger.unknownTargets(maxTargets), ...(isDue ? ledger.linkedTargets(maxTargets) : [])];
    const found = await inParallel(targets, atOnce, async (target): Promise<DriveFile> => {
      const file = await unlessGone(api.file(target, signal));
      const nothing = { mimeType: folderType, version: 0, isTrashed: true, canDownload: false };
      return file && isWithin(file) ? file : { ...nothing, id: target.id, name: target.id };
    });
    if (found.length > 0) ledger.learn(await withReaders(found));
    if (isDue) ledger.setNote("linked", String(runtime.now()));
  }

  function start(): Promise<void> {
    const started = run().finally(() => {
      if (running === started) running = undefined;
    });
    // Whoever waits for it hears of it; if no one does any more, it is tried again anyway.
    started.catch(() => undefined);
    return (running = started);
  }

  /** What is under way may have passed by already what is asked for. */
  function afresh(): Promise<void> {
    if (signal.aborted) return Promise.reject(new ResourceError("cancelled", "the house is closing"));
    if (following) return following;
    if (!running) return start();
    const next = running
      .catch(() => undefined)
      .then(() => {
        following = undefined;
        return signal.aborted ? undefined : start();
      });
    next.catch(() => undefined);
    return (following = next);
  }

  return {
    now: (asking) => until(afresh(), asking),
    async within(maxAgeMs, asking) {
      const isOurs = account !== undefined && ledger.note("account") === account;
      if (isOurs && wasWithin(maxAgeMs, "synced")) return;
      const work = running ?? afresh();
      await until(trouble ? trouble.unless(work) : work, asking);
    },
    async close() {
      closing.abort();
      await Promise.allSettled([running, following]);
    },
  };
}

/** Where we may not know who may read it, no one may. */
export async function readersOf(api: DriveApi, id: string, signal: AbortSignal): Promise<readonly DrivePermission[]> {
  return (await unlessGone(api.permissions(id, signal))) ?? [];
}

/** Undefined for what is not there, or not for us to see. */
async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (cause) {
    if (isGone(cause)) return undefined;
    throw cause;
  }
}

function endless(): ResourceError {
  return new ResourceError("unavailable", "Drive gives pages without end", { passing: false });
}

/** In their order, so many at a time. When one fails no other is begun, and nothing goes on when this is over. */
async function inParallel<T, R>(items: readonly T[], most: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  let next = 0;
  let failure: { readonly cause: unknown } | undefined;
  const worker = async (): Promise<void> => {
    while (next < items.length && !failure) {
      const at = next++;
      try {
        done[at] = await work(items[at] as T);
      } catch (cause) {
        failure ??= { cause };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  if (failure) throw failure.cause;
  return done;
}
