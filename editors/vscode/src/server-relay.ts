/** Runs the server for a panel, and passes its messages on: the page itself can start nothing and reach no network. */
import type { Transport } from "@modelcontextprotocol/client";
import type { FromPage, ToPage } from "./panel-messages.ts";

interface RelayOptions {
  /** A server that is not started yet. */
  readonly create: () => Transport;
  readonly post: (message: ToPage) => void;
  readonly failed: (reason: string) => void;
}

interface ServerRelay {
  receive(message: Exclude<FromPage, { readonly kind: "choose" }>): Promise<void>;
  close(): Promise<void>;
}

export function createServerRelay({ create, post, failed }: RelayOptions): ServerRelay {
  let current: { readonly connection: number; readonly server: Transport } | undefined;

  async function close(): Promise<void> {
    const { server } = current ?? {};
    current = undefined;
    await server?.close();
  }

  async function open(connection: number): Promise<void> {
    await close();
    const server = create();
    current = { connection, server };
    Object.assign(server, {
      onmessage: (message) => post({ kind: "message", connection, message }),
      onclose() {
        if (current?.server === server) current = undefined;
        post({ kind: "closed", connection });
      },
    } satisfies Partial<Transport>);
    try {
      await server.start();
      post({ kind: "opened", connection });
    } catch (cause) {
      current = undefined;
      const reason = cause instanceof Error ? cause.message : String(cause);
      post({ kind: "closed", connection, reason });
      failed(reason);
    }
  }

  return {
    close,
    async receive(message) {
      if (message.kind === "open") return open(message.connection);
      // Of a server that has ended since.
      if (message.connection !== current?.connection) return;
      if (message.kind === "close") return close();
      const { connection, server } = current;
      await server.send(message.message).catch(() => post({ kind: "closed", connection }));
    },
  };
}
