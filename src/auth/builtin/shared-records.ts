/** Records of `oidc-provider` that live for minutes, in the store that all instances share: sign-ins under way, sessions of browsers, codes. */
import { unavailable } from "../../errors.ts";
import type { Adapter } from "oidc-provider";
import type { RecordValue, Store } from "../../state/store.ts";
import { hashSecret } from "./oauth-store.ts";

type Payload = Record<string, unknown>;

interface SharedRecordsOptions {
  readonly store: Store;
  /** Of the provider. */
  readonly kind: string;
  /** Wall clock: expiry times are stored. */
  readonly now: () => number;
  /** Whether a record is still valid, by what is known of callers and grants. */
  isValid(payload: Payload): Promise<boolean>;
  revoke(grantId: string): Promise<void>;
  /** The error for a record that is used a second time. */
  used(): Error;
}

interface Entry {
  readonly payload: Payload;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

const hourMs = 3_600_000;
/** New records of a kind by one instance: everybody can begin a sign-in. */
const maxPerHour = 10_000;
const defaultSeconds = 14 * 86_400;

export function createSharedAdapter(options: SharedRecordsOptions): Adapter {
  const { store, now, isValid, revoke, used } = options;
  const kind = `oauth:${options.kind.toLowerCase()}`;
  const uidKind = `${kind}:uid`;
  let count = 0;
  let countedSince = now();

  function countNew(): void {
    if (now() - countedSince >= hourMs || now() < countedSince) {
      countedSince = now();
      count = 0;
    }
    if (++count > maxPerHour) throw unavailable("too many sign-ins have begun; try again later");
  }

  async function findByKey(key: string, id?: string): Promise<Payload | undefined> {
    const found = await store.get(kind, key);
    if (!found) return undefined;
    const { payload } = toEntry(found.value);
    if (!(await isValid(payload))) return undefined;
    return id === undefined ? payload : { ...payload, jti: id };
  }

  return {
    async upsert(id, { jti: _id, ...payload }, seconds = defaultSeconds) {
      const key = hashSecret(id);
      const expiresInMs = seconds * 1000;
      const value: Entry & RecordValue = { payload, expires: now() + expiresInMs };
      if (!(await store.get(kind, key))) countNew();
      await store.put(kind, key, value, { expiresInMs });
      // The id is stored for those that are found by another one, because the provider needs it then.
      if (typeof payload["uid"] === "string")
        await store.put(uidKind, hashSecret(payload["uid"]), { id }, { expiresInMs });
    },

    find: (id) => findByKey(hashSecret(id), id),

    async findByUid(uid) {
      const id = (await store.get(uidKind, hashSecret(uid)))?.value["id"];
      return typeof id === "string" ? findByKey(hashSecret(id), id) : undefined;
    },

    findByUserCode: async () => undefined,

    async consume(id) {
      const key = hashSecret(id);
      const found = await store.get(kind, key);
      const { payload, expires } = found ? toEntry(found.value) : { payload: {}, expires: 0 };
      if (found && payload["consumed"] === undefined && (await isValid(payload))) {
        const consumed = { payload: { ...payload, consumed: Math.floor(now() / 1000) }, expires };
        const expiresInMs = Math.max(1, expires - now());
        if (await store.put(kind, key, consumed, { ifVersion: found.version, expiresInMs })) return;
      }
      // Used a second time, perhaps at another instance at the same moment: this reveals a theft.
      if (typeof payload["grantId"] === "string") await revoke(payload["grantId"]);
      throw used();
    },

    async destroy(id) {
      await store.remove(kind, hashSecret(id));
    },

    revokeByGrantId: revoke,
  };
}

function toEntry(value: RecordValue): Entry {
  return value as unknown as Entry;
}
