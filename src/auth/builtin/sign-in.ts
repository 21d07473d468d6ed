/** Finds out who a person is, from what they type on the sign-in page. */
import { createHash } from "node:crypto";
import { createSlots } from "../../lib/create-slots.ts";
import { createAttempts } from "./attempts.ts";
import type { OAuthStore } from "./oauth-store.ts";
import { isPassword } from "./password.ts";

interface SignInOptions {
  readonly store: Pick<OAuthStore, "read" | "load">;
  /** Whether a caller of this name may sign in. */
  isAccount(name: string): boolean;
  /** The caller whom an access token or a one-time code admits. */
  admit(secret: string): Promise<SignedIn | undefined>;
  readonly monotonicMs: () => number;
}

interface SignInRequest {
  /** Empty with a token or a code. */
  readonly name: string;
  /** A password, an access token or a one-time code. */
  readonly secret: string;
  /** The machine that it comes from. */
  readonly address: string;
}

export interface SignedIn {
  readonly account: string;
  /** SHA-256 of the access token: what the caller allows ends with it. */
  readonly token?: string;
}

/** Undefined if it is wrong; "limited" if it was not looked at, because of too many wrong attempts. */
export type SignIn = (request: SignInRequest) => Promise<SignedIn | "limited" | undefined>;

export const waitMinutes = 15;
const maxWrongPerAccount = 5;
/** Higher, because people behind a proxy share an address. */
const maxWrongPerAddress = 50;
/** A hash takes 32 MiB. */
const maxHashesAtOnce = 2;
const maxWaiting = 50;

export function createSignIn({ store, isAccount, admit, monotonicMs }: SignInOptions): SignIn {
  const windowMs = waitMinutes * 60_000;
  const byAccount = createAttempts({ max: maxWrongPerAccount, windowMs, monotonicMs });
  const byAddress = createAttempts({ max: maxWrongPerAddress, windowMs, monotonicMs });
  const takeSlot = createSlots(maxHashesAtOnce);
  let waiting = 0;

  async function hasPassword(name: string, password: string): Promise<boolean> {
    await store.load();
    const { passwords } = store.read();
    const stored = isAccount(name) && Object.hasOwn(passwords, name) ? passwords[name] : undefined;
    waiting += 1;
    const free = await takeSlot(new AbortController().signal);
    try {
      return await isPassword(password, stored);
    } finally {
      waiting -= 1;
      free();
    }
  }

  return async ({ name, secret, address }) => {
    if (byAddress.isUsedUp(address)) return "limited";
    const admitted = secret === "" ? undefined : await admit(secret.trim());
    if (admitted) return admitted;
    // Other attempts may have been counted meanwhile.
    if (byAddress.isUsedUp(address)) return "limited";
    // Counted before the answer is known: attempts at the same time must not escape the limit. A hash: the name may be long.
    byAddress.add(address);
    const key = createHash("sha256").update(name).digest("base64url");
    if (name !== "") {
      if (byAccount.isUsedUp(key) || waiting >= maxWaiting) return "limited";
      byAccount.add(key);
      if (await hasPassword(name, secret)) {
        byAccount.clear(key);
        return { account: name };
      }
    }
    return undefined;
  };
}
