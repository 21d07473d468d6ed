/** Answers of a server that may never come to an end: what is taken of one has a bound. */
import { ResourceError } from "../errors.ts";

/** A whole answer, or one event of a stream, has no more bytes than this. */
const maxBytes = 32 * 1024 * 1024;
const feed = 0x0a;
const carriage = 0x0d;

/** The body of the answer fails with "too-large" where it would be longer, and the server is hung up on. */
export function withBoundedBody(response: Response): Response {
  if (!response.body) return response;
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const measure = isStream ? createEventMeasure() : createMeasure();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await reader.read();
      if (done) return controller.close();
      if (measure(value) <= maxBytes) return controller.enqueue(value);
      controller.error(new ResourceError("too-large", `the server's answer has more than ${maxBytes} bytes`));
      await reader.cancel().catch(() => undefined);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

function createMeasure(): (chunk: Uint8Array) => number {
  let sum = 0;
  return (chunk) => (sum += chunk.length);
}

/** Since the last empty line: with it an event ends. */
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
