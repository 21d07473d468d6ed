/** A transport of the official client that reaches the server through the extension. */
import type { Transport } from "@modelcontextprotocol/client";
import type { FromPage, ToPage } from "../panel-messages.ts";

interface PageTransportOptions {
  readonly post: (message: FromPage) => void;
  /** Calls `heard` with everything that the extension sends; returns how to stop that. */
  readonly listen: (heard: (message: ToPage) => void) => () => void;
}

/** Returns a function that creates a transport for each connection. */
export function createPageTransports({ post, listen }: PageTransportOptions): () => Transport {
  let last = 0;
  return () => {
    const connection = ++last;
    const started = Promise.withResolvers<void>();
    let isEnded = false;
    const end = (): void => {
      if (isEnded) return;
      isEnded = true;
      stop();
      transport.onclose?.();
    };
    const stop = listen((message) => {
      if (message.connection !== connection) return;
      if (message.kind === "message") return transport.onmessage?.(message.message);
      if (message.kind === "opened") return started.resolve();
      started.reject(new Error(message.reason ?? "the server has ended"));
      end();
    });
    const transport: Transport = {
      start() {
        post({ kind: "open", connection });
        return started.promise;
      },
      async send(message) {
        if (isEnded) throw new Error("the server has ended");
        post({ kind: "send", connection, message });
      },
      async close() {
        if (!isEnded) post({ kind: "close", connection });
        end();
      },
    };
    // A connection that is closed before it has started.
    started.promise.catch(() => {});
    return transport;
  };
}
