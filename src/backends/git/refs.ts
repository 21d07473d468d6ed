/** Lists branches, tags and other refs, and resolves them to commits. */
import { isUtf8 } from "node:buffer";
import { notFound } from "../../errors.ts";
import type { Mirror } from "./mirror.ts";
import type { Objects } from "./objects.ts";
import type { GitProgram } from "./program.ts";
import { isHash, isRefName, parseRef, type ParsedRef } from "./ref-name.ts";

export interface Commit {
  readonly hash: string;
  /** Whether it was named by its full hash, so that the content never changes. */
  readonly isPinned: boolean;
  /** The commit that was named by its hash or a prefix of it, before any steps back. Absent if it was named by a ref. */
  readonly byHash?: string;
  /** The commit that a ref really points to, if the caller may not see that one. Its history is still walked. */
  readonly tip?: string;
}

export interface Ref {
  /** In full: `refs/heads/main`. */
  readonly name: string;
  readonly hash: string;
}

export interface Refs {
  /** Throws "not-found" if it does not name a commit. */
  resolve(ref: string): Promise<Commit>;
  /** Sorted by name. Symbolic refs are left out. */
  all(signal: AbortSignal): Promise<Ref[]>;
  /** Calls `hear` with every resolved name and its commit. */
  onResolved(onResolve: (ref: string, hash: string) => void): void;
}

/** How long a resolved name may be assumed unchanged. */
const trustMs = 5;
const maxPinned = 1000;
const maxListBytes = 64 * 1024 * 1024;

export function createRefs(mirror: Mirror, program: GitProgram, headers: Objects): Refs {
  const pending = new Map<string, Promise<Commit>>();
  /** Commits that were resolved by their full hash. */
  const pinned = new Map<string, Promise<Commit>>();
  /** The most recently resolved name. */
  let last: { readonly ref: string; readonly commit: Promise<Commit>; readonly untilMs: number } | undefined;
  let onResolve: ((ref: string, hash: string) => void) | undefined;

  async function resolveNow(ref: string): Promise<Commit> {
    const parsed = parseRef(ref);
    if (!parsed) throw notFound(ref);
    await mirror.ready();
    if (parsed.name === "HEAD") mirror.head();
    const isPinned = isHash(ref, mirror.hashLength);
    const found = await headers.find(`${parsed.name}${parsed.steps}^{commit}`);
    if (!found || found.type !== "commit") throw notFound(ref);
    const byHash = await calledByHash(parsed, found.hash);
    const commit = {
      hash: found.hash,
      isPinned: isPinned && found.hash === ref,
      byHash,
    };
    if (!isPinned) onResolve?.(ref, found.hash);
    if (pinned.size >= maxPinned) pinned.clear();
    if (commit.isPinned) pinned.set(ref, Promise.resolve(commit));
    return commit;
  }

  /** Git also accepts the output of `git describe` as a hash. A branch may have a name that looks like one. */
  async function calledByHash({ name, steps }: ParsedRef, found: string): Promise<string | undefined> {
    const digits = /^(?:.*-g)?([0-9a-f]{4,64})$/i.exec(name)?.[1]?.toLowerCase();
    if (digits === undefined) return undefined;
    const hash = steps === "" ? found : (await headers.find(`${name}^{commit}`))?.hash;
    return hash?.startsWith(digits) ? hash : undefined;
  }

  return {
    resolve(ref) {
      const known = pinned.get(ref);
      if (known) return known;
      // Concurrent calls share one lookup.
      const under = pending.get(ref);
      if (under) return under;
      if (last?.ref === ref && performance.now() < last.untilMs) return last.commit;
      const commit = resolveNow(ref).finally(() => {
        pending.delete(ref);
        last = { ref, commit, untilMs: performance.now() + trustMs };
      });
      pending.set(ref, commit);
      return commit;
    },

    async all(signal) {
      const gitDir = await mirror.ready();
      const format = "--format=%(refname)%00%(objectname)%00%(symref)";
      const { bytes } = await program.run(["for-each-ref", format], { gitDir, signal, maxBytes: maxListBytes });
      return outputLines(bytes).flatMap((line) => {
        const [name = "", hash = "", target = ""] = line.split("\0");
        return target === "" && isRefName(name) ? [{ name, hash }] : [];
      });
    },

    onResolved(listener) {
      onResolve = listener;
    },
  };
}

/** Lines of valid UTF-8; other names cannot be part of a URI. */
export function outputLines(bytes: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const feed = bytes.indexOf(0x0a, at);
    const line = bytes.subarray(at, feed < 0 ? bytes.length : feed);
    if (isUtf8(line)) lines.push(line.toString("utf8"));
    at = feed < 0 ? bytes.length : feed + 1;
  }
  return lines;
}

const shortened = ["refs/heads/", "refs/tags/", "refs/remotes/"];

/** The names under which branches and tags are listed: short if that is unambiguous, else in full. */
export function listedNames(refs: readonly Ref[]): string[] {
  const taken = new Map<string, number>();
  const shorts = refs.map(({ name }) => {
    const prefix = shortened.find((each) => name.startsWith(each));
    const short = prefix === undefined ? undefined : name.slice(prefix.length);
    if (short !== undefined) taken.set(short, (taken.get(short) ?? 0) + 1);
    return short;
  });
  return refs.flatMap(({ name }, index) => {
    const short = shorts[index];
    if (short === undefined) return [];
    const isClear = taken.get(short) === 1 && short !== "HEAD" && isRefName(short) && !/^[0-9a-f]{4,}$/.test(short);
    return [isClear ? short : name];
  });
}
