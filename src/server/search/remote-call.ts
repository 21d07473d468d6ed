/** Calls from one thread to another. Each gets an answer or an error, and can be cancelled. */
import { type ErrorKind, ResourceError, toResourceError } from "../../errors.ts";

export type RemoteCall<Question> = { readonly call: number; readonly question: Question } | { readonly cancel: number };

export type RemoteReply<Answer> =
  | { readonly reply: number; readonly answer: Answer }
  | { readonly reply: number; readonly failure: ClonedError };

/** The part of an error that can be cloned. */
interface ClonedError {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly passing: boolean;
}

/** The side that calls. */
export function createRemoteCaller<Question, Answer>(post: (message: RemoteCall<Question>) => void) {
  const pending = new Map<number, PromiseWithResolvers<Answer>>();
  let count = 0;
  return {
    async call(question: Question, signal: AbortSignal): Promise<Answer> {
      const cancelled = new ResourceError("cancelled", "cancelled");
      if (signal.aborted) throw cancelled;
      const call = (count += 1);
      const answer = Promise.withResolvers<Answer>();
      const cancel = (): void => {
        post({ cancel: call });
        answer.reject(cancelled);
      };
      pending.set(call, answer);
      signal.addEventListener("abort", cancel, { once: true });
      try {
        post({ call, question });
        return await answer.promise;
      } finally {
        pending.delete(call);
        signal.removeEventListener("abort", cancel);
      }
    },

    hear(message: RemoteReply<Answer>): void {
      const answer = pending.get(message.reply);
      if ("answer" in message) return answer?.resolve(message.answer);
      const { kind, message: says, passing } = message.failure;
      answer?.reject(new ResourceError(kind, says, { passing }));
    },

    /** Rejects all calls, because the other thread has ended. */
    failAll(cause: ResourceError): void {
      for (const answer of pending.values()) answer.reject(cause);
    },
  };
}

/** The side that answers. */
export function createRemoteAnswerer<Question, Answer>(
  post: (message: RemoteReply<Answer>) => void,
  answer: (question: Question, signal: AbortSignal) => Promise<Answer>,
) {
  const running = new Map<number, AbortController>();
  return {
    async hear(message: RemoteCall<Question>): Promise<void> {
      if ("cancel" in message) return running.get(message.cancel)?.abort();
      const { call: reply, question } = message;
      const stop = new AbortController();
      running.set(reply, stop);
      try {
        post({ reply, answer: await answer(question, stop.signal) });
      } catch (cause) {
        const { kind, message: says, passing } = toResourceError(cause);
        post({ reply, failure: { kind, message: says, passing } });
      } finally {
        running.delete(reply);
      }
    },

    cancelAll(): void {
      for (const stop of running.values()) stop.abort();
    },
  };
}
