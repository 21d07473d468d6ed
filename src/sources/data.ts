/** What a `data:` URI holds in itself (RFC 2397): read, never listed. */
import { intOption } from "../lib/int-option.ts";
import { invalid, notFound, ResourceError } from "../errors.ts";
import { isTextType } from "../lib/mime.ts";
import { defineSource } from "../source.ts";

export interface DataOptions {
  readonly maxBytes: number;
}

export default defineSource<DataOptions>({
  name: "data",
  summary: "What data: URIs hold in themselves",
  scheme: "data",
  verbatim: true,
  searchable: false,
  options: (z) =>
    z.object({
      maxBytes: intOption(z, 1, 65_536, 65_536).describe("more bytes than this in one URI are refused"),
    }),
  base: () => "data:",

  async open({ maxBytes }) {
    function open(path: string): Held {
      const comma = path.indexOf(",");
      if (comma < 0) throw notFound(`data:${path}`);
      const held = hold(path.slice(0, comma), path.slice(comma + 1));
      const size = held.bytes.length;
      if (size > maxBytes)
        throw new ResourceError("too-large", `the URI holds ${size} bytes, and ${maxBytes} are allowed`, {
          details: { reason: "too-large", size, maxBytes },
        });
      return held;
    }

    return {
      list: async () => ({ items: [] }),
      async read({ path }) {
        const { mimeType, charset, bytes } = open(path);
        const decoded = isTextType(mimeType) ? text(bytes, charset) : undefined;
        return [{ mimeType, body: decoded === undefined ? { bytes } : { text: decoded } }];
      },
      async stat({ path }) {
        const { mimeType, bytes } = open(path);
        return { path, name: mimeType, mimeType, size: bytes.length };
      },
    };
  },
});

interface Held {
  readonly mimeType: string;
  readonly charset: string | undefined;
  readonly bytes: Uint8Array;
}

const base64Mark = /;\s*base64\s*$/i;
const typePattern = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;

function hold(head: string, rest: string): Held {
  const inBase64 = base64Mark.test(head);
  const described = text(decode(inBase64 ? head.replace(base64Mark, "") : head)) ?? "";
  const [named = "", ...parameters] = described.split(";").map((piece) => piece.trim());
  if (named !== "" && !typePattern.test(named)) throw invalid("the media type of a data URI is spelled type/subtype");
  const charset = parameters.find((each) => /^charset=/i.test(each))?.slice("charset=".length);
  const mimeType = named === "" ? "text/plain" : named.toLowerCase();
  const bytes = inBase64 ? fromBase64(text(decode(rest)) ?? "") : decode(rest);
  return { mimeType, charset, bytes };
}

/** The bytes that a text with escapes stands for. Characters that are not escaped stand for themselves, in UTF-8. */
function decode(escaped: string): Uint8Array {
  if (!escaped.includes("%")) return Buffer.from(escaped);
  const pieces = escaped.split(/((?:%[0-9a-f]{2})+)/i);
  return Buffer.concat(
    pieces.map((piece, index) => {
      if (index % 2 === 1) return Buffer.from(piece.replaceAll("%", ""), "hex");
      if (piece.includes("%")) throw invalid('a "%" in a data URI is followed by two hexadecimal digits');
      return Buffer.from(piece);
    }),
  );
}

function fromBase64(given: string): Uint8Array {
  const plain = given.replaceAll(/[\t\n\f\r ]/g, "").replace(/={1,2}$/, "");
  if (!/^[a-z0-9+/]*$/i.test(plain) || plain.length % 4 === 1)
    throw invalid("a data URI that says base64 must hold base64");
  return Buffer.from(plain, "base64");
}

/** Undefined for what is no text in this encoding, or in none that is known. */
function text(bytes: Uint8Array, encoding = "utf-8"): string | undefined {
  try {
    return new TextDecoder(encoding.replaceAll('"', ""), { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
