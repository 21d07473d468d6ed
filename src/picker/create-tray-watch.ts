/** Marks chosen resources that have changed since they were chosen, or no longer exist. */
import { wholeUri } from "../lib/passage-uri.ts";
import { ResourceError } from "../errors.ts";
import type { Resource } from "../resources.ts";
import type { PagePart } from "./create-picker.ts";
import { isPassing } from "./is-passing.ts";
import type { Chosen, TokenCount, Tray } from "./tray.ts";
import { isFolder } from "./tree.ts";

type Counts = ReadonlyMap<string, TokenCount | "none">;

const maxWatched = 100;

export function createTrayWatch(part: PagePart, count: (resources: readonly Resource[]) => Promise<Counts>) {
  /** In the order in which they were requested. */
  const watches = new Set<AbortController>();
  /** Empty if the last watch failed. */
  let watchedKey = "";
  let isMissed = false;
  /** By URI: the version that was chosen, or marked last. Undefined if the server tells none. */
  const versions = new Map<string, Promise<string | undefined>>();

  function change(uri: string, next: (chosen: Chosen) => Chosen): void {
    part.change({ tray: part.state.tray.map((chosen) => (isOf(uri)(chosen) ? next(chosen) : chosen)) });
  }

  function unmark(uri: string): void {
    change(uri, (chosen) => ({ ...chosen, change: undefined }));
  }

  /** The new watch is armed before the old ones end, so that no change is missed between them. They stay if it fails. */
  async function watch(uris: readonly string[], own: AbortController): Promise<void> {
    watches.add(own);
    try {
      const changes = await part.pressmark().watch({ uris }, part.call(own.signal));
      endBefore(own);
      const known = uris.filter((uri) => versions.has(uri));
      for (const uri of uris) if (!versions.has(uri)) versions.set(uri, firstVersion(uri));
      if (isMissed) for (const uri of known) void check(uri);
      isMissed = false;
      for await (const each of changes) if (each.kind === "updated") void check(wholeUri(each.uri));
    } catch {
      // Until a watch succeeds, nothing is marked.
    }
    watches.delete(own);
    if (!own.signal.aborted) retryLater();
  }

  function retryLater(): void {
    watchedKey = "";
    isMissed = true;
  }

  function endBefore(own?: AbortController): void {
    for (const each of watches) {
      if (each === own) return;
      watches.delete(each);
      each.abort();
    }
  }

  async function firstVersion(uri: string): Promise<string | undefined> {
    try {
      return await versionOf(uri);
    } catch (cause) {
      if (isPassing(cause)) {
        versions.delete(uri);
        retryLater();
      }
      return undefined;
    }
  }

  /** Without the signal of a watch: the next watch does not report the same change again. */
  async function versionOf(uri: string): Promise<string | undefined> {
    const { size, annotations } = await part.pressmark().stat(uri, part.call());
    const { lastModified } = annotations ?? {};
    return size === undefined && lastModified === undefined ? undefined : `${size} ${lastModified}`;
  }

  /** Servers report more changes than there are: compares the versions, or else the tokens. */
  async function check(uri: string): Promise<void> {
    const before = await versions.get(uri);
    let after: string | undefined;
    try {
      after = await versionOf(uri);
    } catch (cause) {
      if (isPassing(cause)) return retryLater();
      if (cause instanceof ResourceError && cause.kind === "not-found")
        return change(uri, (chosen) => ({ ...chosen, change: "gone" }));
    }
    if (!versions.has(uri)) return;
    versions.set(uri, Promise.resolve(after));
    const isVersioned = before !== undefined && after !== undefined;
    // One change may be reported twice: only a resource that was gone is unmarked.
    if (isVersioned && before === after)
      return change(uri, (chosen) => (chosen.change === "gone" ? { ...chosen, change: undefined } : chosen));
    const counts = await count(part.state.tray.filter(isOf(uri)).map(({ resource }) => resource));
    const { preview } = part.state;
    const isShown = preview !== undefined && wholeUri(preview.resource.uri) === uri;
    change(uri, (chosen) => {
      const tokens = counts.get(chosen.resource.uri) ?? chosen.tokens;
      const isChanged = isVersioned || JSON.stringify(tokens) !== JSON.stringify(chosen.tokens);
      return { ...chosen, ...(tokens && { tokens }), change: isChanged && !isShown ? "updated" : undefined };
    });
  }

  return {
    /** Watches the first of these. */
    watchTray(tray: Tray): void {
      const files = tray.filter(({ resource }) => !isFolder(resource)).map(({ resource }) => wholeUri(resource.uri));
      const uris = [...new Set(files)].slice(0, maxWatched);
      const known = new Set(uris);
      for (const uri of versions.keys()) if (!known.has(uri)) versions.delete(uri);
      const key = uris.join("\n");
      if (key === watchedKey) return;
      watchedKey = key;
      if (uris.length === 0) endBefore();
      else void watch(uris, new AbortController());
    },
    /** True if changes may have been missed since a watch or a version failed. */
    isMissing: () => isMissed,
    /** The person has looked at it. */
    seen(uri: string): void {
      if (part.state.tray.some((chosen) => chosen.change === "updated" && isOf(uri)(chosen))) unmark(uri);
    },
  };
}

function isOf(uri: string): (chosen: Chosen) => boolean {
  return ({ resource }) => !isFolder(resource) && wholeUri(resource.uri) === wholeUri(uri);
}
