/** Limits on what one caller may use, as the protocol and the transports apply them. */
import { QuotaError } from "../errors.ts";
import { byteLength } from "../lib/byte-length.ts";
import type { Caller } from "../resources.ts";
import type { Id } from "./message.ts";
import { quotaResponse, type Responder, watchMethods } from "./respond.ts";

/** A request that was admitted. */
export interface MeteredRequest {
  /** Charges the request for what `work` and everything that follows from it costs. */
  run<T>(work: () => T): T;
  end(): void;
}

export interface CallerQuotas {
  /** Why this caller may send no request now. Undefined if it may. */
  refusal(caller: Caller): QuotaError | undefined;
  /**
   * Charges one request, which runs until its `end`. A request that begins to watch does not count as running, and its work is not charged:
   * others may share the watch. Throws a QuotaError if the caller may send none now. Undefined if nothing limits the caller.
   */
  begin(caller: Caller, isWatch?: boolean): MeteredRequest | undefined;
  /** Holds so many listens until the returned function is called. Throws a QuotaError if the caller may not. Undefined if nothing limits them. */
  listen(caller: Caller, count: number): (() => void) | undefined;
  /** Charges what the caller received. */
  charge(caller: Caller, unit: "bytes" | "entries", amount: number): void;
}

/** Runs `work` with a reply that charges the caller, or refuses the request. */
export function withinQuotas<T>(
  quotas: CallerQuotas | undefined,
  caller: Caller,
  { id, method }: { readonly id: Id; readonly method: string },
  reply: Responder,
  work: (reply: Responder) => T,
  refusedStatus = 429,
): T | undefined {
  let metered: MeteredRequest | undefined;
  try {
    metered = quotas?.begin(caller, watchMethods.has(method));
  } catch (cause) {
    if (!(cause instanceof QuotaError)) throw cause;
    reply.end({ ...quotaResponse(id, cause), status: refusedStatus });
    return undefined;
  }
  if (!quotas || !metered) return work(reply);
  const { takesNotice, lost } = reply;
  const charged: Responder = {
    takesNotice,
    lost,
    notify(wire) {
      quotas.charge(caller, "bytes", byteLength(wire));
      return reply.notify(wire);
    },
    end(response) {
      metered.end();
      if (response) quotas.charge(caller, "bytes", byteLength(response.wire));
      reply.end(response);
    },
  };
  return metered.run(() => work(charged));
}
