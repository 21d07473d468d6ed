/** What a server hands to a client between two rounds and gets back: readable by anyone, made by no one else. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { codes, ProtocolError } from "../../src/protocol/message.ts";

export interface SealedState {
  /** A state for this purpose alone. */
  seal(purpose: string, state: unknown): string;
  /** Throws for what was not sealed here, or for another purpose. */
  open(purpose: string, sealed: string): unknown;
}

export function createSealedState(): SealedState {
  const key = randomBytes(32);
  const sign = (purpose: string, spelled: string) =>
    createHmac("sha256", key)
      .update(JSON.stringify([purpose, spelled]))
      .digest("base64url");

  return {
    seal(purpose, state) {
      const spelled = Buffer.from(JSON.stringify(state)).toString("base64url");
      return `${spelled}.${sign(purpose, spelled)}`;
    },
    open(purpose, sealed) {
      const dot = sealed.indexOf(".");
      const spelled = sealed.slice(0, Math.max(0, dot));
      const expected = Buffer.from(sign(purpose, spelled));
      const given = Buffer.from(sealed.slice(dot + 1));
      if (given.length !== expected.length || !timingSafeEqual(given, expected))
        throw new ProtocolError(codes.params, '"requestState" was not made here; ask again without it');
      return JSON.parse(Buffer.from(spelled, "base64url").toString());
    },
  };
}
