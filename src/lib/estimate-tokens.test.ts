import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { get_encoding as openEncoding } from "tiktoken";
import { afterAll, describe, expect, it } from "vitest";
import { orchardFiles } from "../../test/picker/orchard.ts";
import { estimateTokens, estimateTokensOf, estimateTokensOfBytes } from "./estimate-tokens.ts";
import { mimeOfName } from "./mime.ts";

const encoding = openEncoding("o200k_base");
afterAll(() => encoding.free());
const truth = (text: string) => encoding.encode_ordinary(text).length;

/** A few files of the repository. */
function files(folder: string, names: RegExp): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => names.test(name))
    .toSorted()
    .filter((_, at) => at % 5 === 0)
    .map((name) => join(folder, name));
}

const english = `
A kettle is not a complicated thing, and yet most houses own one that whistles too late. When the water begins to move,
small bubbles gather at the bottom; they rise, burst before they reach the surface, and make the sound that people call
singing. A little later the whole of the water is as hot as it will become, and from there on every minute is steam. Whoever
wants to save energy therefore listens instead of looking: the song stops a few seconds before the water boils. The village
school taught this in the winter of 1962, when coal was short, and three of the children who sat there still turn the gas off
by ear. "You could hear it through two walls," one of them says, "and my grandmother, who was nearly deaf, felt it in the
table." Nothing in the instructions of a modern kettle mentions it, although its switch waits for exactly the same moment.`;

const japanese = `
やかんは単純な道具だが、たいていの家では鳴るのが遅すぎる。水が動きはじめると、小さな泡が底に集まり、上へのぼり、
水面に届く前に消える。そのときの音を、人は「歌う」と呼ぶ。しばらくすると水全体が同じ温度になり、そこから先の一分は
すべて蒸気になる。だから燃料を節約したい人は、見るのではなく耳をすます。歌がやむのは、沸騰する数秒前である。
石炭が足りなかった一九六二年の冬、村の学校ではこれを教えていた。教室にいた子どものうち三人は、今でも音だけを聞いて
ガスを止める。検索の設定画面では「並び順」を関連度または更新日時から選び、「保存」ボタンを押してください。`;

const code = `
export function createDesk(resources: Resources, task: Task, call: Call): Desk {
  const papers = new Map<string, Paper>();
  const leftOut: LeftOut[] = [];
  async function readOne({ resource, isPinned }: Candidate): Promise<Paper | string | undefined> {
    const { audience = [] } = resource.annotations ?? {};
    if (audience.length > 0 && !audience.includes("assistant")) return "is not meant for the assistant";
    try {
      const { contents } = await resources.read(resource.uri, call);
      return contents.find((content) => "text" in content.body)?.body;
    } catch (cause) {
      if (call.signal.aborted) throw cause;
      return toResourceError(cause).kind === "not-found" && !isPinned ? undefined : "could not be read just now";
    }
  }
  for (let at = 0; at < 0x1f; at += 1) if ((mask >>> at) & 1) papers.delete(\`memory://shelf/\${at}\`);
  return { leftOut, get seen() { return papers.size; }, leaveOut: (uri, why) => leftOut.push({ uri, why }) };
}`;

const pieces: readonly string[] = [
  "The kettle boils at a hundred degrees, and everyone in the house knows what that means.",
  "export function retry(attempts: number, { firstDelayMs = 100 }: RetryOptions = {}): Layer {\n  return (inner) => wrapSource(inner, around);\n}\n",
  "検索の並び順は関連度で決まり、同じ点数のものは新しい順に並べる。",
  '{"name": "pressmark", "version": "0.1.0", "files": ["bin", "dist"], "count": 123456}',
  "static void\ngdbus_connection_flush (GDBusConnection *connection,\n                        GCancellable    *cancellable)\n{\n  g_return_if_fail (G_IS_DBUS_CONNECTION (connection));\n}\n",
  "Rufen Sie die Einstellungen auf und wählen Sie die gewünschte Bildschirmauflösung aus.",
  "👩‍💻 🍵 🎉 done",
  "11, 13, 17, 19, 23, 29, 37, 41, 47, 59, 67, 83, 97, 127, 139",
  "d41d8cd98f00b204e9800998ecf8427e",
];

describe("the estimate of tokens", () => {
  it("is zero for the empty text", () => {
    expect([estimateTokens(""), estimateTokensOfBytes(0)]).toEqual([0, 0]);
  });

  it.each([
    ["English", english, [1, 1.15]],
    ["Japanese", japanese, [1, 1.4]],
    ["code", code, [1, 1.25]],
  ] as const)("is no less than o200k and not far above it: %s", (_kind, text, [least, most]) => {
    const ratio = estimateTokens(text) / truth(text);
    expect(ratio).toBeGreaterThanOrEqual(least);
    expect(ratio).toBeLessThanOrEqual(most);
  });

  it.each(pieces)("is not less than the truth for a piece, and not much more: %j", (text) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(truth(text));
    expect(estimateTokens(text)).toBeLessThanOrEqual(Math.ceil(truth(text) * 1.7) + 2);
  });

  it("counts unknown character sequences higher than words of the same length", () => {
    const random = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz7Qk2";
    expect(estimateTokens(random)).toBeGreaterThan(random.length / 2);
  });

  it.each([
    ["code", files("src", /(?<!test)\.ts$/), 0.1],
    // Generated tables are padded with spaces, which cost little.
    ["Markdown", files("docs", /\.md$/), 0.15],
    ["JSON", ["package.json", "tsconfig.json"], 0.2],
    ["locks", ["package-lock.json"], 0.2],
    ["styles", files("src/picker", /\.css$/), 0.15],
  ] as const)("estimates files by their size and type: %s", (_kind, paths, mostError) => {
    let [estimated, counted] = [0, 0];
    for (const path of paths) {
      const text = readFileSync(path);
      const tokens = estimateTokensOf({ size: text.length, mimeType: mimeOfName(path), name: basename(path) });
      estimated += Number(tokens);
      counted += truth(text.toString());
    }
    expect(paths.length).toBeGreaterThan(0);
    expect(Math.abs(estimated / counted - 1)).toBeLessThan(mostError);
  });

  it.each([
    ["Japanese", "読み方.md", japanese, 0.15],
    ["a table", "latency.csv", orchardFiles["project/data/latency.csv"] ?? "", 0.3],
  ] as const)("estimates texts by their size and name: %s", (_kind, name, text, mostError) => {
    const size = Buffer.byteLength(text);
    const tokens = estimateTokensOf({ size, mimeType: mimeOfName(name), name });
    expect(Math.abs(Number(tokens) / truth(text) - 1)).toBeLessThan(mostError);
  });

  it.each(["a.7z", "a.wasm", "a.sqlite", "a.parquet", "a.jar", "a.png", "a.mp4", "a.zip", "a.woff2"])(
    "has no tokens for a type without text: %s",
    (name) => {
      expect(mimeOfName(name)).toBeDefined();
      expect(estimateTokensOf({ size: 9000, mimeType: mimeOfName(name), name })).toBe("none");
    },
  );

  it("claims nothing about content whose size says nothing about its text", () => {
    expect(estimateTokensOf({ size: 9000, mimeType: "image/png" })).toBe("none");
    expect(estimateTokensOf({ size: 9000, mimeType: "application/pdf" })).toBeUndefined();
    expect(estimateTokensOf({ mimeType: "text/plain" })).toBeUndefined();
    expect(estimateTokensOf({ mimeType: "inode/directory" })).toBeUndefined();
  });

  it("estimates a size as English, within a third", () => {
    const ratio = estimateTokensOfBytes(english.length) / truth(english);
    expect(Math.abs(ratio - 1)).toBeLessThan(1 / 3);
  });
});
