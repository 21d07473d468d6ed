/** What the layers know of a question without knowing which it is. */
import { ResourceError } from "../errors.ts";
import type { OperationMethod } from "../layer.ts";
import type { Call } from "../resources.ts";

/** Every operation takes the call last. */
export function callOf(asked: readonly unknown[]): Call {
  return asked[asked.length - 1] as Call;
}

/** Asks in such a way that a source which throws, or answers, at once is like any other. */
export function attempt(ask: OperationMethod, asked: readonly unknown[], call?: Call): Promise<unknown> {
  try {
    const all = call === undefined ? asked : [...asked.slice(0, -1), call];
    return Promise.resolve(ask(...(all as never[])));
  } catch (cause) {
    return Promise.reject(cause);
  }
}

export function cancelledCall(signal: AbortSignal): ResourceError {
  return new ResourceError("cancelled", "the question was withdrawn", { cause: signal.reason });
}

/** A call with a signal of its own, which ends when its owner says so. */
export interface OwnCall extends Call {
  /** Ends the signal. */
  abort(reason: unknown): void;
  /** The question is answered: nothing of the caller's signal is held any longer, and the own signal does not end any more. */
  release(): void;
}

/**
 * When the caller's signal ends, `whenCallerLeaves` decides; without it, the own signal ends too. The signal is made when it is
 * first looked at: most questions are answered without that, and a controller with its listener costs more than a whole layer.
 */
export function ownCall(caller: Call, whenCallerLeaves?: (reason: unknown) => void): OwnCall {
  return new LazyCall(caller, whenCallerLeaves);
}

/** A class, because an object literal with a getter takes a microsecond to make. */
class LazyCall implements OwnCall {
  readonly caller: Call["caller"];
  declare readonly client?: object;
  declare readonly progress?: NonNullable<Call["progress"]>;
  readonly #outer: Call;
  readonly #whenCallerLeaves: ((reason: unknown) => void) | undefined;
  #controller: AbortController | undefined;
  #leave: (() => void) | undefined;
  #ended: { readonly reason: unknown } | undefined;
  #released = false;

  constructor(outer: Call, whenCallerLeaves?: (reason: unknown) => void) {
    this.caller = outer.caller;
    if (outer.client) this.client = outer.client;
    if (outer.progress) this.progress = outer.progress;
    this.#outer = outer;
    this.#whenCallerLeaves = whenCallerLeaves;
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal;
    this.#controller = new AbortController();
    const { signal } = this.#outer;
    const leave = (): void => {
      if (this.#whenCallerLeaves) this.#whenCallerLeaves(signal.reason);
      else this.abort(signal.reason);
    };
    if (this.#ended) this.#controller.abort(this.#ended.reason);
    else if (signal.aborted) leave();
    else if (!this.#released) signal.addEventListener("abort", (this.#leave = leave), { once: true });
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.#released || this.#ended) return;
    this.#ended = { reason };
    this.#controller?.abort(reason);
  }

  release(): void {
    this.#released = true;
    if (this.#leave) this.#outer.signal.removeEventListener("abort", this.#leave);
  }
}
