/** Encoders for Shift_JIS, EUC-JP and ISO-2022-JP, which the platform can only decode. The tables come from its decoder. */

type DoubleByte = "shift_jis" | "euc-jp";

/** UTF-16 code unit → bytes as one number, 0 for none. 256 KiB each, built on first use. */
const tables: Partial<Record<DoubleByte, Uint32Array>> = {};

function tableOf(encoding: DoubleByte): Uint32Array {
  return (tables[encoding] ??= buildTable(encoding));
}

function buildTable(encoding: DoubleByte): Uint32Array {
  const sequences = encoding === "shift_jis" ? shiftJisSequences() : eucJpSequences();
  const table = new Uint32Array(0x10000);
  for (let code = 0; code < 0x80; code += 1) table[code] = code;
  // One per line: a line feed is never the second byte of a character.
  const decoder = new TextDecoder(encoding);
  const lines = decoder.decode(Uint8Array.from(sequences.flatMap((sequence) => [...sequence, 0x0a]))).split("\n");
  for (const [index, sequence] of sequences.entries()) {
    const line = lines[index] ?? "";
    const code = line.charCodeAt(0);
    // If two sequences decode to one character, the first is used for encoding.
    if (line.length !== 1 || code === 0xfffd || code < 0xa0 || table[code] !== 0) continue;
    table[code] = sequence.reduce((joined, byte) => joined * 0x100 + byte, 0);
  }
  return table;
}

/** NEC's selection of IBM extensions comes last: these characters are encoded in IBM's own rows. */
function shiftJisSequences(): number[][] {
  const leads = [...range(0x81, 0x9f), ...range(0xe0, 0xec), ...range(0xef, 0xfc), 0xed, 0xee];
  const trails = [...range(0x40, 0x7e), ...range(0x80, 0xfc)];
  return [...range(0xa1, 0xdf).map((byte) => [byte]), ...pairs(leads, trails)];
}

function eucJpSequences(): number[][] {
  const high = range(0xa1, 0xfe);
  return [
    ...range(0xa1, 0xdf).map((byte) => [0x8e, byte]),
    ...pairs(high, high),
    ...pairs(high, high).map((pair) => [0x8f, ...pair]),
  ];
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

function pairs(leads: readonly number[], trails: readonly number[]): number[][] {
  return leads.flatMap((lead) => trails.map((trail) => [lead, trail]));
}

/** Undefined if the encoding lacks a character. */
export function encodeDoubleByte(text: string, encoding: DoubleByte): Uint8Array | undefined {
  const table = tableOf(encoding);
  const bytes = new Uint8Array(3 * text.length);
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const written = table[code] as number;
    if (written === 0 && code !== 0) return undefined;
    if (written > 0xffff) bytes[end++] = written >>> 16;
    if (written > 0xff) bytes[end++] = (written >>> 8) & 0xff;
    bytes[end++] = written & 0xff;
  }
  return bytes.subarray(0, end);
}

/** The JIS X 0208 row of a character, counted from 1; undefined if it has none. */
export function jisRow(code: number): number | undefined {
  const written = tableOf("euc-jp")[code] as number;
  return written > 0xff && written <= 0xffff && written >>> 8 !== 0x8e ? (written >>> 8) - 0xa0 : undefined;
}

const escape = 0x1b;
type Shift = "ascii" | "kanji" | "kana";
const shifts: Readonly<Record<Shift, readonly number[]>> = {
  ascii: [escape, 0x28, 0x42],
  kanji: [escape, 0x24, 0x42],
  kana: [escape, 0x28, 0x49],
};

function shiftAt(bytes: Uint8Array, at: number): Shift | undefined {
  if (bytes[at] !== escape) return undefined;
  if (bytes[at + 1] === 0x28) return bytes[at + 2] === 0x42 ? "ascii" : bytes[at + 2] === 0x49 ? "kana" : undefined;
  return bytes[at + 1] === 0x24 && bytes[at + 2] === 0x42 ? "kanji" : undefined;
}

/**
 * The same characters with high bits set and without escapes. Undefined if malformed: eight-bit bytes, an unknown escape, a line that ends
 * outside ASCII, half a character. With `mayGoOn` the input may end anywhere.
 */
export function iso2022JpToEucJp(bytes: Uint8Array, mayGoOn: boolean): Uint8Array | undefined {
  const euc = new Uint8Array(2 * bytes.length);
  let end = 0;
  let shift: Shift = "ascii";
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    const next = shiftAt(bytes, at);
    if (next) {
      shift = next;
      at += 2;
    } else if (shift === "ascii") {
      if (byte >= 0x80) return undefined;
      euc[end++] = byte;
    } else if (byte === escape) {
      return mayGoOn && at + 2 >= bytes.length ? euc.subarray(0, end) : undefined;
    } else if (shift === "kana") {
      if (byte < 0x21 || byte > 0x5f) return undefined;
      euc[end++] = 0x8e;
      euc[end++] = byte | 0x80;
    } else {
      const second = bytes[at + 1];
      if (second === undefined && mayGoOn) break;
      if (byte < 0x21 || byte > 0x7e || second === undefined || second < 0x21 || second > 0x7e) return undefined;
      euc[end++] = byte | 0x80;
      euc[end++] = second | 0x80;
      at += 1;
    }
  }
  return shift === "ascii" || mayGoOn ? euc.subarray(0, end) : undefined;
}

/** Switches as late as possible, and ends in ASCII. */
export function encodeIso2022Jp(text: string): Uint8Array | undefined {
  const table = tableOf("euc-jp");
  const bytes: number[] = [];
  let shift: Shift = "ascii";
  const to = (next: Shift): void => {
    if (next !== shift) bytes.push(...shifts[next]);
    shift = next;
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const written = table[code] as number;
    if (code < 0x80) {
      to("ascii");
      bytes.push(code);
    } else if (written >>> 8 === 0x8e) {
      to("kana");
      bytes.push(written & 0x7f);
    } else if (written > 0xff && written <= 0xffff) {
      to("kanji");
      bytes.push((written >>> 8) & 0x7f, written & 0x7f);
    } else return undefined;
  }
  to("ascii");
  return Uint8Array.from(bytes);
}
