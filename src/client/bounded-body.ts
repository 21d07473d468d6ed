/** Limits the size of a server's responses, which may be endless. */
import { ResourceError } from "../errors.ts";

/** Maximum number of bytes of a whole response, or of one event of a stream. */
const maxBytes = 32 * 1024 * 1024;
const feed = 0x0a;
const carriage = 0x0d;

/** A longer body fails with "too-large", and the connection is closed. */
export function withBoundedBody(response: Response): Response {
  if (!response.body) return response;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const measure = isStream ? createEventMeasure() : createMeasure();
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (measure(chunk) > maxBytes)
        throw new ResourceError("too-large", `the server's response has more than ${maxBytes} bytes`);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounded), { status, statusText, headers });
}

function createMeasure(): (chunk: Uint8Array) => number {
  let sum = 0;
  return (chunk) => (sum += chunk.length);
}

/** Counts the bytes since the last empty line, which ends an event. */
function createEventMeasure(): (chunk: Uint8Array) => number {
  let sum = 0;
  let isLineEmpty = true;
  return (chunk) => {
    for (const byte of chunk) {
      sum += 1;
      if (byte === feed) {
        if (isLineEmpty) sum = 0;
        isLineEmpty = true;
      } else if (byte !== carriage) isLineEmpty = false;
    }
    return sum;
  };
}
