/** Requests that come before the answers to earlier ones have left their connection: each waits until it is its turn. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** From here on, a connection is not read until all that wait have had their turn. */
const maxWaiting = 16;

const waiting = new WeakMap<Socket, number>();

/** Whether answers to earlier requests of the same connection have yet to leave. */
export function isEarly(response: ServerResponse): boolean {
  return response.socket === null;
}

/**
 * Begins an early request once everything before it has been answered and taken: what is posted may depend on what was posted
 * before, and one connection can make no more than one answer wait in memory.
 * https://www.rfc-editor.org/rfc/rfc9112#section-9.3.2
 */
export function sendInOrder(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
  const { socket } = request;
  const count = (waiting.get(socket) ?? 0) + 1;
  waiting.set(socket, count);
  if (count === maxWaiting) socket.off("resume", holdBack).on("resume", holdBack).pause();

  response.once("socket", () => {
    const left = (waiting.get(socket) ?? 1) - 1;
    if (left > 0) waiting.set(socket, left);
    else {
      waiting.delete(socket);
      socket.off("resume", holdBack).resume();
    }
    begin();
  });
}

/** The end of each request that has come whole sets its socket going again. */
function holdBack(this: Socket): void {
  this.pause();
}
