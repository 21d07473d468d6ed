/** One page of a store, checked against the request: a faulty store must not return other keys or loop. */
import { compareCodePoints } from "../../lib/address-order.ts";
import { lastingFailure, unavailable } from "../../errors.ts";
import type { ObjectListRequest, ObjectPage, ObjectStore } from "./object-store.ts";

/** Only keys with the prefix, behind `after`. Only the last page may be empty. */
export async function listPage(
  store: ObjectStore,
  request: ObjectListRequest,
  signal: AbortSignal,
): Promise<ObjectPage> {
  const { prefix, after } = request;
  const { more, ...page } = await store.list(request, signal);
  const isMeant = (key: string) =>
    key !== "" && key.startsWith(prefix) && (after === undefined || compareCodePoints(key, after) > 0);
  const objects = page.objects.filter(({ key }) => isMeant(key));
  const prefixes = page.prefixes.filter(isMeant);
  if (more && objects.length + prefixes.length === 0)
    throw lastingFailure("the store announces more, but returns the same page again");
  return { objects, prefixes, more };
}

/** A page of a store, with its own token for the rest. */
export interface StorePage extends ObjectPage {
  readonly token: string | undefined;
}

const maxEmpty = 100;

/** Requests further pages while a store returns empty pages and announces more. */
export async function skipEmpty(request: (token: string | undefined) => Promise<StorePage>): Promise<ObjectPage> {
  let token: string | undefined;
  for (let requested = 0; requested < maxEmpty; requested += 1) {
    const page = await request(token);
    if (page.objects.length + page.prefixes.length > 0 || page.token === undefined) return page;
    ({ token } = page);
  }
  throw unavailable("the store announces more, but returns only empty pages");
}
