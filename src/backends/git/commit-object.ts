/** Reads commits and annotated tags from their objects: for many of them, without a run of git for each. */
import { decodeContent } from "./decode-content.ts";
import type { CommitFacts } from "./commits.ts";
import type { Objects } from "./objects.ts";

type CommitObject = Pick<CommitFacts, "author" | "committer" | "text">;

interface TagObject {
  /** Absent in tags of old versions of git. */
  readonly tagger: CommitFacts["author"] | undefined;
  readonly text: string;
}

interface ParsedObject {
  readonly text: string;
  person(role: "author" | "committer" | "tagger"): CommitFacts["author"] | undefined;
}

/** The rest of a longer object is left out: many are read at once. */
const maxObjectBytes = 256 * 1024;
const maxPersonBytes = 1000;
const nobody = { name: "", email: "", date: new Date(0).toISOString() };

/** Undefined if the repository lacks it, or it is no commit. A very long message is cut. */
export async function readCommitObject(hash: string, contents: Objects): Promise<CommitObject | undefined> {
  const found = await readObject(hash, "commit", contents);
  return (
    found && {
      author: found.person("author") ?? nobody,
      committer: found.person("committer") ?? nobody,
      text: found.text,
    }
  );
}

/** Without the signature. A very long message is cut. */
export async function readTagObject(hash: string, contents: Objects): Promise<TagObject | undefined> {
  const found = await readObject(hash, "tag", contents);
  const [text = ""] = found?.text.split(/^-----BEGIN (?:PGP|SSH|SIGNED) /m, 1) ?? [];
  return found && { tagger: found.person("tagger"), text };
}

async function readObject(hash: string, type: string, contents: Objects): Promise<ParsedObject | undefined> {
  const found = await contents.findStart(hash, maxObjectBytes);
  if (found?.type !== type || !found.bytes) return undefined;
  const { bytes } = found;
  const end = bytes.indexOf("\n\n");
  const header = bytes.toString("latin1", 0, end < 0 ? bytes.length : end);
  const decode = decoderFor(/^encoding (.+)$/m.exec(header)?.[1]);
  return {
    text: end < 0 ? "" : decode(bytes.subarray(end + 2)),
    person(role) {
      const line = new RegExp(`^${role} (.*)$`, "m").exec(header)?.[1];
      if (line === undefined) return undefined;
      const [open, close] = [line.indexOf("<"), line.lastIndexOf(">")];
      const part = (from: number, to: number) =>
        decode(Buffer.from(line.slice(from, Math.max(from, to)).slice(0, maxPersonBytes), "latin1"));
      const seconds = Number(/^ (\d{1,12})(?= |$)/.exec(line.slice(close + 1))?.[1] ?? 0);
      return {
        name: part(0, open).trim(),
        email: part(open + 1, close).trim(),
        date: new Date(seconds * 1000).toISOString(),
      };
    },
  };
}

/** Names that git accepts, but that are no labels of the web: https://encoding.spec.whatwg.org/#names-and-labels */
const aliases: readonly (readonly [name: RegExp, label: string])[] = [
  [/^(?:cp|ibm)-?(?:932|943c?)$|^(?:sjis|shift_jis)[-_]/i, "shift_jis"],
  [/^euc_?jp|^euc-jp-|^cp51932$/i, "euc-jp"],
  [/^iso-?2022-?jp/i, "iso-2022-jp"],
  [/^cp936$/i, "gbk"],
  [/^cp949$/i, "euc-kr"],
  [/^cp950$/i, "big5"],
];

/** UTF-8 unless the object names another encoding; with an unknown name, what the bytes show. */
function decoderFor(encoding: string | undefined): (bytes: Buffer) => string {
  if (encoding === undefined) return (bytes) => bytes.toString("utf8");
  const label = aliases.find(([name]) => name.test(encoding))?.[1] ?? encoding;
  try {
    const decoder = new TextDecoder(label);
    return (bytes) => decoder.decode(bytes);
  } catch {
    return decodeContent;
  }
}
