/** Synchronises the ledger with Drive: lists all files of a log once, then applies its changes, each batch with its next token. */
import { inParallel } from "../../lib/in-parallel.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { cancelled, lastingFailure, ResourceError, shuttingDown, unavailable } from "../../errors.ts";
import type { Runtime } from "../../source.ts";
import { pause, type RetryState } from "./backoff.ts";
import { type DriveFile, type DrivePermission, folderType, type SharedDrive } from "./drive-objects.ts";
import type { DriveApi } from "./drive-api.ts";
import { createHolder } from "./holder.ts";
import type { Ledger } from "./ledger.ts";
import { isGone } from "./refusal.ts";
import type { SharedListing, SharedListings } from "./shared-listings.ts";

export interface SyncOptions {
  readonly api: DriveApi;
  readonly ledger: Ledger;
  /** Absent if no other instance lists the same files. */
  readonly listings?: SharedListings | undefined;
  readonly runtime: Runtime;
  readonly myDrive: boolean;
  /** Ids, or all drives. */
  readonly drives: "all" | readonly string[];
  /** Whether the readers of each file must be known. */
  readonly withPermissions: boolean;
  /** The retry state of the API, if it reports one. */
  readonly retryState?: RetryState;
  /** Name of the process that holds the ledger. */
  readonly holder?: string;
}

export interface Sync {
  /** Resolves when everything that was true before the call is in the ledger. Concurrent calls share one run. */
  now(signal: AbortSignal): Promise<void>;
  /** Like `now`, unless that was done less than this long ago. Rejects while Drive is unavailable, and keeps trying in the background. */
  within(maxAgeMs: number, signal: AbortSignal): Promise<void>;
  /** Whether `within` would resolve without work. */
  isFresh(maxAgeMs: number): boolean;
  /** From now on, `within` and `isFresh` count only work that began after this call. */
  expire(): void;
  /** False while the ledger contains a listing that another instance stored, but not all changes since: permissions may be revoked. */
  readonly hasCaughtUp: boolean;
  /** Stops running work. */
  close(): Promise<void>;
}

const pageSize = 1000;
/** With permissions for each file, pages are small, so that waiting callers see progress. */
const permissionsPageSize = 100;
const atOnce = 8;
const logsAtOnce = 4;
const lookWaitMs = 500;
const maxTargets = 1000;
const linkedMs = 900_000;
/** How often a token may expire during one run. */
const maxDisturbed = 5;
/** Of a thousand files each: more than any account has. */
const maxPages = 100_000;
const maxMeetings = 3;
/** The note "synced" while changes since a stored listing are missing. */
const notCaughtUp = "never";
/** Who had to apply more changes than this share of a stored listing stores a new one: the next instance need not request them again. */
const maxChangedShare = 0.1;
const everything = "trashed = false";
/** Together they match every file; each matches only some. */
const narrower = ["trashed = false and 'me' in owners", "trashed = false and not 'me' in owners"];

export function createSync(options: SyncOptions): Sync {
  const { api, ledger, listings, runtime, myDrive, drives, withPermissions, retryState } = options;
  const { holder = createHolder() } = options;
  const closing = new AbortController();
  const { signal } = closing;
  let running: Promise<void> | undefined;
  let following: Promise<void> | undefined;
  /** How often the state has expired: in all, before the last work that succeeded began, and before the work that runs. */
  let expiries = 0;
  let doneExpiries = 0;
  let runningExpiries = 0;
  let areDrivesKnown = false;
  let account: string | undefined;
  /** Stored listings from which a log continues, until it is followed. */
  const taken = new Map<string, SharedListing>();

  /** The ledger of another account is dropped: another process may have used it for another account. */
  async function checkAccount(): Promise<void> {
    account ??= (await api.account(signal)).id;
    if (ledger.note("account") !== account && ledger.belongTo(account)) areDrivesKnown = false;
  }

  /** Adds the served shared drives, and a folder for each of them. */
  async function syncDrives(): Promise<void> {
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
    await checkAccount();
    await syncDrives();
    const names = [...(myDrive ? [""] : []), ...servedDrives().map(({ id }) => id)];
    await inParallel(names, logsAtOnce, (name) => bringUp(name));
    await followTargets();
    // A new shared drive is listed in the same run.
    if (!areDrivesKnown && again < maxMeetings) await run(again + 1);
    ledger.setNote("synced", String(runtime.now()));
  }

  /** Whether any process noted this less than so long ago. A time in the future comes from a clock that was set back. */
  function wasWithin(maxAgeMs: number, note: "synced" | "linked"): boolean {
    const ageMs = runtime.now() - Number(ledger.note(note) ?? Number.NaN);
    return ageMs >= 0 && ageMs < maxAgeMs;
  }

  async function bringUp(name: string): Promise<void> {
    for (let disturbed = 0; disturbed < maxDisturbed;) {
      const log = ledger.logs.find((each) => each.name === name);
      try {
        if (log?.isListed !== true)
          await (listings ? listShared(listings, name, log?.token) : listAll(name, log?.token));
        else if (await follow(name, log.token)) return;
      } catch (cause) {
        if (name !== "" && isGone(cause)) return lose(name);
        if (!(cause instanceof ResourceError) || cause.kind !== "invalid") throw cause;
        ledger.restartLog(name);
        disturbed += 1;
      }
    }
    throw unavailable("Drive rejects its own tokens; try again later");
  }

  /** A shared drive is no longer visible to us. */
  function lose(name: string): void {
    ledger.forgetLog(name);
    ledger.setNote("drives", JSON.stringify(servedDrives().filter(({ id }) => id !== name)));
    areDrivesKnown = false;
  }

  /** One instance lists a log and stores the result; the others wait for it, and take over if that instance ends. */
  async function listShared(shared: SharedListings, name: string, token: string | undefined): Promise<void> {
    if (await takeListing(shared, name)) return;
    const lease = await shared.tryAcquire(account!, name);
    if (!lease) return pause(lookWaitMs, runtime, signal);
    try {
      // Another instance may have stored it before the lease was free.
      if (await takeListing(shared, name)) return;
      await listAll(name, token);
      await storeListing(shared, name);
    } finally {
      await lease.release();
    }
  }

  /** False if there is no stored listing that this ledger could use. */
  async function takeListing(shared: SharedListings, name: string): Promise<boolean> {
    const listing = await shared.find(account!, name);
    // It was taken before and the log had to be restarted: its token was rejected, or a part of it could not be read.
    if (!listing || ledger.note(`listing ${name}`) === listing.id) return false;
    let isDamaged = false;
    const isTaken = await scan(name, listing.token, async (look) => {
      ledger.setNote("synced", notCaughtUp);
      for (let chunk = 0; chunk < listing.chunks; chunk += 1) {
        const files = await shared.filesOf(listing, chunk);
        if (!files) {
          isDamaged = true;
          return ledger.restartLog(name);
        }
        if (!ledger.look(look, { log: name, files }, holder, Math.floor(runtime.monotonicMs()))) return;
      }
    });
    if (isTaken || isDamaged) ledger.setNote(`listing ${name}`, listing.id);
    if (isTaken) taken.set(name, listing);
    return true;
  }

  /** Stores what the ledger knows of a log. The token is read first: newer files do no harm. */
  async function storeListing(shared: SharedListings, name: string, replaced?: SharedListing): Promise<void> {
    const log = ledger.logs.find((each) => each.name === name);
    if (log?.isListed !== true) return;
    const pageAfter = (after: string) => ledger.listing(name, after, pageSize);
    const id = await shared.store(account!, { log: name, token: log.token, pageAfter, replaced }, signal);
    if (id !== undefined) ledger.setNote(`listing ${name}`, id);
  }

  /** The token is requested first: changes during the listing are applied afterwards. */
  async function listAll(name: string, token: string | undefined): Promise<void> {
    const from = token ?? (await api.startToken(name, signal));
    await scan(name, from, async (look) => {
      if (!(await lookFor(name, look, everything)))
        for (const q of narrower)
          if (!(await lookFor(name, look, q)))
            throw unavailable("Drive did not search everything, so the listing would be incomplete");
    });
  }

  /** Lists a log and its root folder into the ledger. False if another process does, or has restarted it. */
  async function scan(name: string, token: string, list: (look: number) => Promise<void>): Promise<boolean> {
    const look = ledger.beginLook(name, token, holder, Math.floor(runtime.monotonicMs()));
    if (look === undefined) {
      await pause(lookWaitMs, runtime, signal);
      return false;
    }
    try {
      await list(look);
      const top = { log: name, files: await topOf(name) };
      return ledger.look(look, top, holder, Math.floor(runtime.monotonicMs())) && ledger.endLook(look, name);
    } catch (cause) {
      ledger.leaveLook(name, holder);
      throw cause;
    }
  }

  /** False if Drive reports an incomplete search. */
  async function lookFor(name: string, look: number, q: string): Promise<boolean> {
    let next: string | undefined;
    let pages = 0;
    do {
      if ((pages += 1) > maxPages) throw endless();
      const page = await api.files(
        {
          log: name,
          q,
          limit: withPermissions ? permissionsPageSize : pageSize,
          token: next,
        },
        signal,
      );
      if (page.isIncomplete) return false;
      const files = await withReaders(page.files.flatMap((file) => servedIn(name, file) ?? []));
      if (!ledger.look(look, { log: name, files }, holder, Math.floor(runtime.monotonicMs()))) return true;
      next = page.next;
    } while (next !== undefined);
    return true;
  }

  /** The root folder of a log appears in no listing. */
  async function topOf(name: string): Promise<readonly DriveFile[]> {
    const plain = { mimeType: folderType, version: 0, isTrashed: false, canDownload: true };
    if (name === "") {
      const root = await undefinedIfGone(api.file({ id: "root" }, signal));
      return root ? withReaders([{ ...plain, id: root.id, name: root.name }]) : [];
    }
    const drive = servedDrives().find(({ id }) => id === name);
    return withReaders([{ ...plain, id: name, name: drive?.name ?? name }]);
  }

  /** False if another process applied the same changes first. */
  async function follow(name: string, from: string): Promise<boolean> {
    let token = from;
    let changes = 0;
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
      changes += files.length + removed.length;
      if (page.isLast) {
        await refreshListing(name, changes);
        return true;
      }
      ({ token } = page);
    }
    throw endless();
  }

  async function refreshListing(name: string, changes: number): Promise<void> {
    const listing = taken.get(name);
    taken.delete(name);
    if (listings && listing && changes > listing.files * maxChangedShare) await storeListing(listings, name, listing);
  }

  /** A file as a log reports it. Undefined if it is in a shared drive that is not served. */
  function servedIn(log: string, file: DriveFile): DriveFile | undefined {
    const { driveId, ...own } = file;
    if (driveId === undefined || (log === "" ? isDriveServed(driveId) : driveId === log)) return file;
    // Shared with the account from a drive that it is not a member of: no other log reports it.
    return log === "" && drives === "all" ? own : undefined;
  }

  const isDriveServed = (driveId: string): boolean => servedDrives().some(({ id }) => id === driveId);

  /** Anyone who can write to a served folder can add a shortcut to anything that the account sees: it is followed only to served files. */
  function isWithin({ driveId }: DriveFile): boolean {
    return driveId !== undefined && drives !== "all" ? isDriveServed(driveId) : myDrive;
  }

  /** Readers of files in a shared drive must be requested file by file. */
  async function withReaders(files: readonly DriveFile[]): Promise<readonly DriveFile[]> {
    if (!withPermissions) return files;
    return inParallel(files, atOnce, async (file) =>
      file.permissions && file.permissions.length > 0
        ? file
        : { ...file, permissions: await readersOf(api, file.id, signal) },
    );
  }

  /** Targets of shortcuts that no log reports: unknown ones and, periodically, known ones. */
  async function followTargets(): Promise<void> {
    const isDue = !wasWithin(linkedMs, "linked");
    const targets = [...ledger.unknownTargets(maxTargets), ...(isDue ? ledger.linkedTargets(maxTargets) : [])];
    const found = await inParallel(targets, atOnce, async (target): Promise<DriveFile> => {
      const file = await undefinedIfGone(api.file(target, signal));
      const nothing = { mimeType: folderType, version: 0, isTrashed: true, canDownload: false };
      return file && isWithin(file) ? file : { ...nothing, id: target.id, name: target.id };
    });
    if (found.length > 0) ledger.learn(await withReaders(found));
    if (isDue) ledger.setNote("linked", String(runtime.now()));
  }

  function start(): Promise<void> {
    const before = (runningExpiries = expiries);
    const started = run()
      .then(() => {
        doneExpiries = before;
      })
      .finally(() => {
        if (running === started) running = undefined;
      });
    // Waiting callers receive the error; without any, the work is retried anyway.
    started.catch(() => undefined);
    return (running = started);
  }

  /** A run in progress may already have passed the change that this caller needs. */
  function afresh(): Promise<void> {
    if (signal.aborted) return Promise.reject(shuttingDown());
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

  function isFresh(maxAgeMs: number): boolean {
    const isOurs = account !== undefined && ledger.note("account") === account;
    return isOurs && doneExpiries === expiries && wasWithin(maxAgeMs, "synced");
  }

  return {
    now: (asking) => unlessAborted(afresh(), asking, cancelled),
    async within(maxAgeMs, asking) {
      if (isFresh(maxAgeMs)) return;
      const work = running && runningExpiries === expiries ? running : afresh();
      await unlessAborted(retryState ? retryState.unless(work) : work, asking, cancelled);
    },
    isFresh,
    expire() {
      expiries += 1;
    },
    get hasCaughtUp() {
      return ledger.note("synced") !== notCaughtUp;
    },
    async close() {
      closing.abort();
      await Promise.allSettled([running, following]);
    },
  };
}

/** If we may not know the readers, there are none. */
export async function readersOf(api: DriveApi, id: string, signal: AbortSignal): Promise<readonly DrivePermission[]> {
  return (await undefinedIfGone(api.permissions(id, signal))) ?? [];
}

/** Undefined if it does not exist or is not visible to us. */
async function undefinedIfGone<T>(requested: Promise<T>): Promise<T | undefined> {
  try {
    return await requested;
  } catch (cause) {
    if (isGone(cause)) return undefined;
    throw cause;
  }
}

function endless(): ResourceError {
  return lastingFailure("Drive returns pages without end");
}
