/** Messages in the order they came, for a test that waits for one of them. */
import type { JsonRecord } from "../../wire/json.ts";

export interface Inbox {
  put(message: JsonRecord): void;
  /** The first message not read yet, whatever it is. */
  next(): Promise<JsonRecord>;
  /** Reads on until a message fits; those before it are read too. */
  until(fits: (message: JsonRecord) => boolean, what: string): Promise<JsonRecord>;
  /** Nothing more will come: whoever waits is told why. */
  end(reason: string): void;
  /** How many wait to be read. */
  readonly size: number;
}

/** Far longer than anything takes; a test that gets here has failed. */
export const patienceMs = 15_000;

export function createInbox(whose: string): Inbox {
  const unread: JsonRecord[] = [];
  let waiting: { readonly take: (message: JsonRecord) => void; readonly fail: (cause: Error) => void } | undefined;
  let ended: string | undefined;

  function next(what: string): Promise<JsonRecord> {
    const first = unread.shift();
    if (first) return Promise.resolve(first);
    if (ended !== undefined) return Promise.reject(new Error(`${whose} ended (${ended}) while waiting for ${what}`));
    if (waiting) return Promise.reject(new Error(`two wait for ${whose} at once`));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting = undefined;
        reject(new Error(`${whose}: ${what} did not come`));
      }, patienceMs);
      waiting = {
        take(message) {
          clearTimeout(timer);
          waiting = undefined;
          resolve(message);
        },
        fail(cause) {
          clearTimeout(timer);
          waiting = undefined;
          reject(cause);
        },
      };
    });
  }

  return {
    put(message) {
      if (waiting) waiting.take(message);
      else unread.push(message);
    },
    next: () => next("a message"),
    async until(fits, what) {
      for (;;) {
        const message = await next(what);
        if (fits(message)) return message;
      }
    },
    end(reason) {
      ended ??= reason;
      waiting?.fail(new Error(`${whose} ended: ${reason}`));
    },
    get size() {
      return unread.length;
    },
  };
}
