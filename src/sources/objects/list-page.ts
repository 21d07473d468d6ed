/** One page of a store, held to what was asked for: a store that errs must neither lead outside nor round in circles. */
import { ResourceError } from "../../errors.ts";
import type { ObjectListAsk, ObjectPage, ObjectStore } from "./object-store.ts";

/** Only what begins with the prefix and comes behind `after`. A page that is not the last is not empty. */
export async function listPage(store: ObjectStore, ask: ObjectListAsk, signal: AbortSignal): Promise<ObjectPage> {
  const { prefix, after } = ask;
  const { more, ...page } = await store.list(ask, signal);
  const isMeant = (key: string) =>
    key !== "" && key.startsWith(prefix) && (after === undefined || compareKeys(key, after) > 0);
  const objects = page.objects.filter(({ key }) => isMeant(key));
  const prefixes = page.prefixes.filter(isMeant);
  if (more && objects.length + prefixes.length === 0)
    throw new ResourceError("unavailable", "the store says that there is more, and gives the same again", {
      passing: false,
    });
  return { objects, prefixes, more };
}

/** What a store says at a time, and how it wants to be asked for the rest. */
export interface StorePage extends ObjectPage {
  readonly token: string | undefined;
}

const maxEmpty = 100;

/** A store may say nothing yet and that there is more: then it is asked on, as it wants to be. */
export async function skipEmpty(ask: (token: string | undefined) => Promise<StorePage>): Promise<ObjectPage> {
  let token: string | undefined;
  for (let asked = 0; asked < maxEmpty; asked += 1) {
    const page = await ask(token);
    if (page.objects.length + page.prefixes.length > 0 || page.token === undefined) return page;
    ({ token } = page);
  }
  throw new ResourceError("unavailable", "the store says again and again that there is more, and gives nothing");
}

/** As stores order their keys: by UTF-8 bytes, which is by code points. */
export function compareKeys(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    // Halves of a pair stand above all else; as code units they stand below what is private and wide.
    const [high, low] = [isHalf(a), isHalf(b)];
    return high === low ? a - b : high ? 1 : -1;
  }
  return left.length - right.length;
}

function isHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}
