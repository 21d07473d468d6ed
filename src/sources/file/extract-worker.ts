/** The thread that takes text out of documents. It has its own memory, and can be ended at any moment. */
import { parentPort } from "node:worker_threads";
import { DocumentError } from "../../lib/documents/document-error.ts";
import { documentText } from "../../lib/documents/document-text.ts";
import type { FromWorker, ToWorker } from "./extract-thread.ts";

parentPort?.on("message", ({ bytes, mimeType }: ToWorker) => {
  documentText(bytes, mimeType).then(
    (found) => {
      const text = new TextEncoder().encode(found.text);
      post({ mimeType: found.mimeType, text }, [text.buffer]);
    },
    (cause: unknown) => {
      const fault = cause instanceof DocumentError ? cause.fault : "malformed";
      post({
        fault,
        message: cause instanceof DocumentError ? cause.message : "it is broken in a way that no one foresaw",
      });
    },
  );
});

function post(message: FromWorker, handOver: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, handOver);
}
