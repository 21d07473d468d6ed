/** A long-running git process that looks up objects by name: requests are pipelined, and answered in order. */
import type { ChildProcess } from "node:child_process";
import { type CostAccount, costAccount } from "../../lib/cost-account.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { invalid, quote, ResourceError, shuttingDown, unavailable } from "../../errors.ts";
import { isMissing, missingGit } from "./program.ts";

interface GitObject {
  readonly hash: string;
  readonly type: string;
  readonly size: number;
  /** Absent if longer than the limit, or if no content was requested. Not overwritten later. */
  readonly bytes?: Buffer;
}

export interface Objects {
  /** Undefined if the object does not exist. The name is one line: a hash, or a name that was checked to be harmless. */
  find(name: string, maxBytes?: number): Promise<GitObject | undefined>;
  /** The same, but of an object that is longer than the limit the bytes are its beginning. Absent only above 64 MiB. */
  findStart(name: string, maxBytes: number): Promise<GitObject | undefined>;
  /** Later requests go to a new process. */
  renew(): void;
  /** Afterwards nothing runs. */
  close(): Promise<void>;
}

interface ObjectsOptions {
  /** Starts a new process, `cat-file --batch` or `--batch-check`. */
  start(): Promise<ChildProcess>;
  /** Whether the process returns contents in addition to metadata. */
  readonly givesContents: boolean;
  /** An idle process ends after this time; one that does not respond within it is killed. */
  readonly idleMs?: number;
}

interface ObjectRequest {
  readonly name: string;
  readonly maxBytes: number;
  /** Whether the beginning of a longer object is wanted. */
  readonly isStart: boolean;
  /** Charged for the time from the answer before it, or since it was sent. */
  readonly account: CostAccount | undefined;
  sentMs: number;
  /** Whether it is a retry after a process ended. */
  isAgain: boolean;
  resolve(found: GitObject | undefined): void;
  reject(cause: unknown): void;
}

/** One run of the process. */
interface Run {
  readonly child: ChildProcess;
  /** Sent requests without a response, oldest first. */
  owed: ObjectRequest[];
  /** Number of requests in `owed` that have a response. */
  done: number;
  /** Time of the last response. */
  answeredMs: number;
  toWrite: string;
  /** The beginning of an incomplete line. */
  line: Buffer | undefined;
  body: Body | undefined;
  readonly timer: NodeJS.Timeout;
  isOver: boolean;
}

interface Body {
  readonly found: GitObject;
  /** Number of bytes that are kept; undefined if no content is wanted. */
  readonly kept: number | undefined;
  /** Buffer for a content that arrives in chunks. */
  into: Buffer | undefined;
  /** Remaining bytes, including the line feed after the content. */
  left: number;
}

const maxLine = 8192;
/** Unneeded content shorter than this is skipped; for a longer one the process is killed. */
const maxPassed = 64 * 1024 * 1024;

export function createObjects({ start, givesContents, idleMs = 20_000 }: ObjectsOptions): Objects {
  let current: Run | undefined;
  let starting: Promise<Run> | undefined;
  const alive = new Set<Promise<void>>();
  let closed = false;

  async function begin(): Promise<Run> {
    const child = await start();
    const { promise: gone, resolve: isGone } = Promise.withResolvers<void>();
    const timer = setTimeout(() => end(run), idleMs);
    timer.unref();
    const run: Run = {
      child,
      owed: [],
      done: 0,
      answeredMs: 0,
      toWrite: "",
      line: undefined,
      body: undefined,
      timer,
      isOver: false,
    };
    const over = (cause: unknown): void => {
      run.isOver = true;
      alive.delete(gone);
      isGone();
      clearTimeout(timer);
      if (current === run) current = undefined;
      for (const request of run.owed.splice(0).slice(run.done)) hand(request, cause);
    };
    child.stdin?.on("error", () => undefined);
    child.stdout?.on("data", (piece: Buffer) => {
      timer.refresh();
      take(run, piece);
    });
    child.once("error", over);
    child.once("close", () => over(undefined));
    alive.add(gone);
    if (closed) end(run);
    return (current = run);
  }

  /** Pending requests of a process that ended are sent to another one, once. */
  function hand(request: ObjectRequest, cause?: unknown): void {
    if (cause !== undefined && isMissing(cause)) request.reject(missingGit(cause));
    else if (request.isAgain || closed) request.reject(unavailable("git ended without a response; try again", cause));
    else {
      request.isAgain = true;
      put(request);
    }
  }

  function end(run: Run): void {
    if (current === run) current = undefined;
    clearTimeout(run.timer);
    run.child.kill("SIGKILL");
  }

  function put(request: ObjectRequest): void {
    if (current) send(current, request);
    else {
      starting ??= begin().finally(() => {
        starting = undefined;
      });
      starting.then((run) => send(run, request), request.reject);
    }
  }

  function send(run: Run, request: ObjectRequest): void {
    if (run.isOver) return hand(request);
    run.owed.push(request);
    request.sentMs = monotonicMs();
    // Written after all settled promises have run, so that their requests are batched.
    if (run.toWrite === "")
      process.nextTick(() => {
        const text = run.toWrite;
        run.toWrite = "";
        run.timer.refresh();
        run.child.stdin?.write(text);
      });
    run.toWrite += `${request.name}\n`;
  }

  function take(run: Run, piece: Buffer): void {
    let at = 0;
    while (at < piece.length && !run.child.killed) {
      if (run.body) {
        at = takeBody(run, run.body, piece, at);
        continue;
      }
      const feed = piece.indexOf(0x0a, at);
      const part = piece.subarray(at, feed < 0 ? piece.length : feed);
      const line: Buffer = run.line ? Buffer.concat([run.line, part]) : part;
      run.line = feed < 0 ? line : undefined;
      if (line.length > maxLine) return end(run);
      if (feed < 0) return;
      at = feed + 1;
      takeLine(run, line.toString("utf8"));
    }
  }

  function takeBody(run: Run, body: Body, piece: Buffer, at: number): number {
    const { found, kept } = body;
    const to = Math.min(piece.length, at + body.left);
    const from = found.size + 1 - body.left;
    let bytes: Buffer | undefined;
    if (kept !== undefined && from === 0 && to - at === body.left)
      bytes = piece.subarray(at, Math.min(to - 1, at + kept));
    else if (kept !== undefined) {
      bytes = body.into ??= Buffer.allocUnsafeSlow(kept);
      if (from < kept) piece.copy(bytes, from, at, Math.min(to, at + kept - from));
    }
    body.left -= to - at;
    if (body.left > 0) return to;
    run.body = undefined;
    answer(run, bytes ? { ...found, bytes } : found);
    return to;
  }

  function takeLine(run: Run, line: string): void {
    const request = run.owed[run.done];
    const parts = line.split(" ");
    const [hash = "", type = "", size = ""] = parts;
    if (!request) return end(run);
    if (parts.length === 2) {
      if (type === "ambiguous") fail(run, ambiguous(request.name));
      else answer(run, undefined);
      return;
    }
    if (parts.length !== 3 || !/^[0-9a-f]{40,64}$/.test(hash) || !/^\d{1,15}$/.test(size)) return end(run);
    const found: GitObject = { hash, type, size: Number(size) };
    if (!givesContents) return answer(run, found);
    const isWhole = found.size <= request.maxBytes;
    const kept = isWhole ? found.size : request.isStart ? request.maxBytes : undefined;
    run.body = { found, kept, into: undefined, left: found.size + 1 };
    if (isWhole || found.size <= maxPassed) return;
    answer(run, found);
    end(run);
  }

  function answer(run: Run, found: GitObject | undefined): void {
    next(run)?.resolve(found);
  }

  function fail(run: Run, cause: unknown): void {
    next(run)?.reject(cause);
  }

  function next(run: Run): ObjectRequest | undefined {
    const request = run.owed[run.done];
    const nowMs = monotonicMs();
    if (request) request.account?.charge("processMs", nowMs - Math.max(request.sentMs, run.answeredMs));
    run.answeredMs = nowMs;
    run.done += 1;
    if (run.done >= run.owed.length || run.done > 4096) {
      run.owed = run.owed.slice(run.done);
      run.done = 0;
    }
    return request;
  }

  function ask(name: string, maxBytes: number, isStart: boolean): Promise<GitObject | undefined> {
    return new Promise((resolve, reject) => {
      if (closed) return reject(shuttingDown());
      put({ name, maxBytes, isStart, account: costAccount(), sentMs: 0, isAgain: false, resolve, reject });
    });
  }

  return {
    find: (name, maxBytes = 0) => ask(name, maxBytes, false),
    findStart: (name, maxBytes) => ask(name, maxBytes, true),

    renew() {
      // It answers pending requests, and ends at the end of its input.
      current?.child.stdin?.end();
      current = undefined;
    },

    async close() {
      closed = true;
      await starting?.catch(() => undefined);
      if (current) end(current);
      await Promise.all(alive);
    },
  };
}

function ambiguous(name: string): ResourceError {
  const prefix = name.replace(/\^\{\w+\}$/, "");
  return invalid(`${quote(prefix)} matches several hashes; give more characters`);
}
