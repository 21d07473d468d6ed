/** Sessions of the older revisions, as instances store them for each other. */
import type { SavedSession, SessionChange } from "../protocol/protocol.ts";

/** What another instance did with a session. */
export type SessionNews =
  /** Its subscriptions may differ. */
  | { readonly kind: "changed"; readonly id: string }
  | { readonly kind: "ended"; readonly id: string }
  /** It received a response or cancellation that may belong to a request here. */
  | { readonly kind: "received"; readonly id: string; readonly body: unknown }
  /** Any news of any session may have been missed. */
  | { readonly kind: "missed" };

/** Every method rejects with a ResourceError if the store cannot be reached. A record that is not used for a while does not exist any more. */
export interface SessionRecords {
  /** Stores a new session. When it resolves, every instance finds it. */
  create(id: string, owner: string, session: SavedSession): Promise<void>;
  /** Undefined if there is none, or it belongs to another owner. */
  find(id: string, owner: string): Promise<SavedSession | undefined>;
  /** Adds or removes a subscription, and tells the other instances. Returns false if the session does not exist. */
  update(id: string, change: Exclude<SessionChange, { readonly kind: "opened" }>): Promise<boolean>;
  /** Lets it exist for longer. Returns false if it does not exist. */
  extend(id: string): Promise<boolean>;
  /** Ends it on every instance; may be repeated if it rejects. Returns false if there is none, or it belongs to another owner. */
  remove(id: string, owner: string): Promise<boolean>;
  /** Passes a response or cancellation to the other instances, within limits for each owner. */
  forward(id: string, owner: string, body: object): Promise<void>;
  /** Hears of other instances until the signal is aborted. */
  follow(hear: (news: SessionNews) => void, signal: AbortSignal): void;
}
