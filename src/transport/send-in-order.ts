/** Delays pipelined requests until the responses to earlier ones have been sent. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** With this many waiting requests, the connection is not read until all have been handled. */
const maxWaiting = 16;

const waiting = new WeakMap<Socket, number>();

/** Whether responses to earlier requests of the same connection are still pending. */
export function isEarly(response: ServerResponse): boolean {
  return response.socket === null;
}

/**
 * Begins a pipelined request after all responses before it have been sent: requests may depend on earlier ones, and one connection
 * can keep at most one response in memory.
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

/** The end of each complete request resumes its socket. */
function holdBack(this: Socket): void {
  this.pause();
}
