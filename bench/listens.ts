/** Open listens on raw sockets: each is a connection of its own that hears what its server says. */
import type { Socket } from "node:net";
import { openSocket } from "./http-line.ts";
import { listen, message, requestHead } from "./questions.ts";

export interface Listens {
  /** Resolves when every listen has heard of an update since the last call of this. */
  heard(): Promise<void>;
  close(): void;
}

const acknowledged = Buffer.from("notifications/subscriptions/acknowledged");
const updated = Buffer.from("notifications/resources/updated");
const opensAtOnce = 50;

/** Resolves when all of them are acknowledged. */
export async function openListens(port: number, path: string, uri: string, count: number): Promise<Listens> {
  const question = listen(uri);
  const head = requestHead("modern", path, question);
  const sockets: Socket[] = [];
  const silent = new Set<Socket>();
  let done: (() => void) | undefined;

  async function openOne(id: number): Promise<void> {
    const socket = await openSocket(port);
    sockets.push(socket);
    const body = message("modern", id, question);
    await new Promise<void>((resolve, reject) => {
      let early = Buffer.alloc(0);
      const hearAck = (chunk: Buffer) => {
        early = Buffer.concat([early, chunk]);
        if (early.includes(acknowledged)) {
          socket.off("data", hearAck);
          resolve();
        } else if (early.includes('"error"')) {
          reject(new Error(`a listen was refused: ${early.toString().slice(-500)}`));
        }
      };
      socket.on("data", hearAck);
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("a listen was hung up on")));
      socket.write(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
    socket.on("data", (chunk) => {
      if (!chunk.includes(updated) || !silent.delete(socket)) return;
      if (silent.size === 0) done?.();
    });
  }

  let next = 0;
  await Promise.all(
    Array.from({ length: opensAtOnce }, async () => {
      while (next < count) await openOne(++next);
    }),
  );
  return {
    heard() {
      for (const socket of sockets) silent.add(socket);
      return new Promise((resolve) => {
        done = resolve;
      });
    },
    close: () => sockets.forEach((socket) => socket.destroy()),
  };
}
