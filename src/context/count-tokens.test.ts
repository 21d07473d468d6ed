import { describe, expect, it } from "vitest";
import { bestCounter } from "./count-tokens.ts";

/** Texts, and their number of o200k tokens. */
const known: readonly (readonly [text: string, tokens: number])[] = [
  ["The kettle boils at a hundred degrees, and everyone in the house knows what that means.", 18],
  [
    "export function retry(attempts: number, { firstDelayMs = 100 }: RetryOptions = {}): Layer {\n  return (inner) => wrapSource(inner, around);\n}\n",
    37,
  ],
  ["検索の並び順は関連度で決まり、同じ点数のものは新しい順に並べる。", 27],
  ['{"name": "pressmark", "version": "0.1.0", "files": ["bin", "dist"], "count": 123456}', 33],
  [
    "static void\ngdbus_connection_flush (GDBusConnection *connection,\n                        GCancellable    *cancellable)\n{\n  g_return_if_fail (G_IS_DBUS_CONNECTION (connection));\n}\n",
    40,
  ],
  ["Rufen Sie die Einstellungen auf und wählen Sie die gewünschte Bildschirmauflösung aus.", 17],
  ["👩‍💻 🍵 🎉 done", 10],
  ["11, 13, 17, 19, 23, 29, 37, 41, 47, 59, 67, 83, 97, 127, 139", 43],
  ["d41d8cd98f00b204e9800998ecf8427e", 19],
];

describe("the best counter", () => {
  it("counts as o200k does", async () => {
    const { name, count } = await bestCounter();
    expect(name).toBe("o200k_base");
    expect(known.map(([text]) => count(text))).toEqual(known.map(([, tokens]) => tokens));
  });

  it("counts special tokens in a text as text", async () => {
    const { count } = await bestCounter();
    expect(count("<|endofprompt|> and <|endoftext|>")).toBeGreaterThan(5);
    expect(count("")).toBe(0);
  });
});
