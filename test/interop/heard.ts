/** What a client was told without asking, in order. */

export interface Heard {
  hear(what: string): void;
  /** Resolves when this is heard, now or from now on. All that was heard until then is forgotten. */
  next(what: string): Promise<void>;
  forget(): void;
}

export function createHeard(): Heard {
  let kept: string[] = [];
  const waiting = new Map<string, PromiseWithResolvers<void>>();

  return {
    hear(what) {
      const waiter = waiting.get(what);
      if (!waiter) return void kept.push(what);
      waiting.delete(what);
      kept = [];
      waiter.resolve();
    },
    async next(what) {
      const at = kept.indexOf(what);
      if (at >= 0) return void kept.splice(0, at + 1);
      const waiter = waiting.get(what) ?? Promise.withResolvers<void>();
      waiting.set(what, waiter);
      await waiter.promise;
    },
    forget() {
      kept = [];
    },
  };
}
