/** Counts running work, and waits until none is left. */

export interface InFlight {
  begin(): void;
  end(): void;
  readonly count: number;
  /** Resolves as soon as nothing is running. */
  idle(): Promise<void>;
}

export function createInFlight(): InFlight {
  let count = 0;
  let waiting: PromiseWithResolvers<void> | undefined;

  return {
    begin() {
      count++;
    },
    end() {
      if (--count > 0) return;
      waiting?.resolve();
      waiting = undefined;
    },
    get count() {
      return count;
    },
    idle() {
      if (count === 0) return Promise.resolve();
      waiting ??= Promise.withResolvers();
      return waiting.promise;
    },
  };
}
