/** A TCP proxy on a loopback port whose connections a test can cut or silence. */
import { connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  readonly port: number;
  /** Ends all connections; new ones are accepted. */
  cut(): void;
  /** Connections that are open now stay open and carry nothing more, in no direction; new ones work. */
  silence(): void;
  /** As `silence`, but only what the server sends is held back. */
  silenceReplies(): void;
  /** While true, connections are refused. */
  setClosed(isClosed: boolean): void;
  close(): Promise<void>;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isClosed = false;
  const server = createServer((inner) => {
    if (isClosed) return inner.destroy();
    const outer = connect(targetPort, "127.0.0.1");
    const pair = [inner, outer] as const;
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      inner.destroy();
      outer.destroy();
    };
    for (const socket of pair) socket.on("error", end).on("close", end);
    inner.pipe(outer);
    outer.pipe(inner);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const [inner, outer] of pairs) {
      inner.destroy();
      outer.destroy();
    }
  };
  return {
    port: (server.address() as { readonly port: number }).port,
    cut,
    silence() {
      for (const [inner, outer] of pairs) {
        inner.unpipe(outer).pause();
        outer.unpipe(inner).pause();
      }
    },
    silenceReplies() {
      for (const [inner, outer] of pairs) outer.unpipe(inner).pause();
    },
    setClosed(closed) {
      isClosed = closed;
      if (closed) cut();
    },
    async close() {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
