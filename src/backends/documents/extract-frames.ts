/** Wire format between server and extraction process: the length of a header, the header as JSON, and as many bytes as the header says. */
import type { DocumentFault } from "./document-error.ts";

export interface Request {
  readonly mimeType: string;
  /** Length of the document that follows. */
  readonly byteLength: number;
}

export interface Response {
  readonly result: { readonly mimeType: string } | { readonly fault: DocumentFault; readonly message: string };
  /** Current memory of the process. */
  readonly rssBytes: number;
  /** Length of the text that follows. */
  readonly byteLength: number;
}

const lengthBytes = 4;

export function encodeHeader(header: Request | Response): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json]);
}

/** Accepts chunks of any size, and calls `take` with each header and its bytes, which have a buffer of their own. */
export function createFrameReader<Header extends { readonly byteLength: number }>(
  take: (header: Header, bytes: Buffer) => void,
): (piece: Buffer) => void {
  let header: Header | undefined;
  let isLength = true;
  /** Filled up to `end`. */
  let into = Buffer.allocUnsafeSlow(lengthBytes);
  let end = 0;

  function expect(byteLength: number): void {
    into = Buffer.allocUnsafeSlow(byteLength);
    end = 0;
  }

  function full(): void {
    if (isLength) {
      isLength = false;
      return expect(into.readUInt32LE());
    }
    if (!header) {
      header = JSON.parse(into.toString("utf8")) as Header;
      return expect(header.byteLength);
    }
    const [found, bytes] = [header, into];
    header = undefined;
    isLength = true;
    expect(lengthBytes);
    take(found, bytes);
  }

  return (piece) => {
    let at = 0;
    do {
      const count = piece.copy(into, end, at);
      at += count;
      end += count;
      while (end === into.length) full();
    } while (at < piece.length);
  };
}
