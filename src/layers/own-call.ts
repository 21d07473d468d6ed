/** Helpers for layers that treat every operation alike. */
import type { OperationMethod } from "../layer.ts";
import type { Call } from "../resources.ts";

/** Every operation takes the call last. */
export function callOf(args: readonly unknown[]): Call {
  return args[args.length - 1] as Call;
}

/** Calls the method; a synchronous throw or result becomes a promise. */
export function attempt(method: OperationMethod, args: readonly unknown[], call?: Call): Promise<unknown> {
  try {
    const all = call === undefined ? args : [...args.slice(0, -1), call];
    return Promise.resolve(method(...(all as never[])));
  } catch (cause) {
    return Promise.reject(cause);
  }
}

/** A call with its own signal. */
export interface OwnCall extends Call {
  /** Aborts the own signal. */
  abort(reason: unknown): void;
  /** The call is finished: removes the listener from the caller's signal; the own signal is not aborted any more. */
  release(): void;
}

/**
 * When the caller's signal is aborted, `whenCallerLeaves` decides; without it, the own signal is aborted too. The signal is created
 * on first access: most calls never need it, and a controller with its listener costs more than a whole layer.
 */
export function ownCall(caller: Call, whenCallerLeaves?: (reason: unknown) => void): OwnCall {
  return new LazyCall(caller, whenCallerLeaves);
}

/** A class, because creating an object literal with a getter takes a microsecond. */
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
