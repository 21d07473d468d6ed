import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeExactly, encodeText, type Encoding, findEncoding } from "./text-encoding.ts";

const bytesOf = (text: string, encoding: Encoding): Uint8Array => {
  const bytes = encodeText(text, encoding);
  if (!bytes) throw new Error(`${encoding} cannot spell ${text}`);
  return bytes;
};

/** How a file with these bytes is read. */
function read(bytes: Uint8Array): { encoding: string; text: string } | "bytes" {
  const found = findEncoding(bytes);
  const text = found && decodeExactly(bytes.subarray(found.markBytes), found.encoding);
  return found && text !== undefined ? { encoding: found.encoding, text } : "bytes";
}

const japanese = [
  "設定ファイルを読み込みます。",
  "東京都",
  "エラー: 接続できませんでした",
  "予算",
  "あ",
  "はい\r\nいいえ\r\n",
  "株式会社サンプル　第１四半期の売上は前年比で増加した。",
  "① 準備 ② 実行 ㈱髙﨑商店",
  "ﾊﾝｶｸｶﾀｶﾅ",
  "ﾃﾞｰﾀﾍﾞｰｽ接続ｴﾗｰ",
  "// 変数を初期化する\nint count = 0;\nfor (int i = 0; i < n; i++) { /* 合計を求める */ count += a[i]; }\n",
  "氏名,住所,電話番号\n山田太郎,大阪府大阪市北区,06-1234-5678\n鈴木花子,北海道札幌市,011-000-0000\n",
  '<html><head><title>お知らせ</title></head><body class="x"><p>本日は晴天なり。</p></body></html>',
  "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた。",
  "※注意事項\n・火気厳禁\n・土足禁止\n",
  "斎藤 橋本 髙橋 﨑山",
  "★重要★　本メールは自動送信です。",
  "key=値\nname=名前\n",
];

const western = [
  "café",
  "naïve",
  "Müller, Straße",
  "El niño está aquí. ¿Qué pasa? ¡Hola!",
  "L’été, c’est l’œuvre – dit-il.",
  "“quoted” text — dash…",
  "Größe: 10 µm, 20 °C, ± 5 %",
  "Köln,Düsseldorf,München\n",
  "© 2024 Société Générale",
  "// Größe berechnen\nint größe = 0;\n",
  "São Paulo, Brasil: coração",
  "Ærø Øster Åse",
  "prix: 10 €",
  "ÜBER UNS",
  "Crème brûlée à la carte",
];

/** Short, long, and with ASCII code or prose before it. */
const variantsOf = (text: string): string[] =>
  ["", "abc ", "line one\nline two\n", "# title\n\n"].flatMap((before) =>
    [1, 3, 40].map((times) => `${before}${text}\n`.repeat(times)),
  );

describe("the encoding of a text", () => {
  // Without a mark, four bytes are too few.
  const longer = japanese.filter((text) => text.length > 5);
  const cases: [Encoding, string[]][] = [
    ["utf-8", [...japanese, ...western]],
    ["shift_jis", japanese],
    ["euc-jp", japanese],
    ["iso-2022-jp", japanese],
    ["utf-16le", longer],
    ["utf-16be", longer],
    ["windows-1252", western],
  ];

  it.each(cases)("%s is detected, with its text", (encoding, texts) => {
    for (const text of texts.flatMap(variantsOf))
      expect(read(bytesOf(text, encoding)), text.slice(0, 60)).toEqual({ encoding, text });
  });

  it.each(["shift_jis", "euc-jp", "iso-2022-jp", "windows-1252"] as const)(
    "%s is detected without a line end, too",
    (encoding) => {
      for (const text of encoding === "windows-1252" ? western : japanese)
        expect(read(bytesOf(text, encoding)), text).toEqual({ encoding, text });
    },
  );

  it.each([
    ["utf-8", [0xef, 0xbb, 0xbf]],
    ["utf-16le", [0xff, 0xfe]],
    ["utf-16be", [0xfe, 0xff]],
  ] as const)("%s is detected by its mark, whatever the text", (encoding, mark) => {
    for (const text of ["", "あ", "x", "🦊", "Привет"]) {
      const bytes = Uint8Array.from([...mark, ...bytesOf(text, encoding)]);
      expect(findEncoding(bytes)).toEqual({ encoding, markBytes: mark.length });
      expect(read(bytes)).toEqual({ encoding, text });
    }
  });

  it("is detected from a beginning that ends inside a character", () => {
    const text = "設定ファイルを読み込みます。予算は未定です。";
    for (const encoding of ["utf-8", "shift_jis", "euc-jp", "iso-2022-jp"] as const) {
      const bytes = bytesOf(text, encoding);
      for (let length = 20; length < bytes.length; length += 1)
        expect(findEncoding(bytes.subarray(0, length), true)?.encoding, `${encoding} to ${length}`).toBe(encoding);
    }
  });

  it("is detected if most of a text is ASCII, and the rest far from the beginning", () => {
    const text = `${"a plain line\n".repeat(20_000)}// 合計を求める処理です\n${"b\n".repeat(100_000)}`;
    for (const encoding of ["shift_jis", "euc-jp"] as const)
      expect(read(bytesOf(text, encoding))).toEqual({ encoding, text });
  });

  it("of terminal colours is not ISO-2022-JP", () => {
    const text = "\u001b[31mred\u001b[0m (B) $B\n";
    expect(read(bytesOf(text, "utf-8"))).toEqual({ encoding: "utf-8", text });
  });
});

describe("content returned as bytes", () => {
  const foreign: [string, string[]][] = [
    ["gbk", ["你好", "配置文件已加载，请重新启动服务器。", "中华人民共和国公民有言论自由。这是一个测试文件。"]],
    ["euc-kr", ["설정 파일을 읽을 수 없습니다. 다시 시도하십시오.", "대한민국의 주권은 국민에게 있고"]],
    ["big5", ["設定檔已載入，請重新啟動伺服器。", "中華民國憲法保障人民有言論自由。"]],
    ["windows-1251", ["Привет, мир! Файл не найден.", "Все люди рождаются свободными"]],
    ["koi8-r", ["Привет, мир! Файл не найден.", "Все люди рождаются свободными"]],
    ["iso-8859-7", ["Το αρχείο δεν βρέθηκε."]],
    ["iso-8859-2", ["Zażółć gęślą jaźń"]],
  ];

  it.each(foreign)("is text in an unsupported encoding: %s", (encoding, texts) => {
    const encode = encoderOf(encoding);
    for (const text of texts)
      for (const times of [1, 20]) expect(read(encode(`${text}\n`.repeat(times))), text).toBe("bytes");
  });

  it("is binary: random bytes, with and without control characters and NUL", () => {
    const random = createRandom();
    for (const [least, most] of [
      [0x00, 0xff],
      [0x20, 0xff],
      [0x80, 0xff],
      [0x40, 0xfe],
    ] as const)
      for (let turn = 0; turn < 200; turn += 1) {
        const length = 40 + Math.floor(random() * 400);
        const bytes = Uint8Array.from({ length }, () => least + Math.floor(random() * (most - least + 1)));
        expect(read(bytes), Buffer.from(bytes).toString("hex")).toBe("bytes");
      }
  });

  it("is a sequence of 16-bit or 32-bit numbers", () => {
    const rows = [
      Uint16Array.from({ length: 200 }, (_, at) => at),
      Uint32Array.from({ length: 200 }, (_, at) => 65 + at),
    ];
    const waves = Int16Array.from({ length: 2000 }, (_, at) => Math.round(12_000 * Math.sin(at / 9)));
    for (const { buffer } of [...rows, waves]) expect(read(new Uint8Array(buffer))).toBe("bytes");
  });

  it("is text with NUL, and half a character", () => {
    for (const bytes of [
      bytesOf("a\0b", "utf-8"),
      Uint8Array.from([0xff, 0xfe, 0x41, 0x00, 0x00, 0x00]),
      Uint8Array.from([0xff, 0xfe, 0x41]),
      Uint8Array.from([0xff, 0xfe, 0x00, 0xd8]),
      Uint8Array.from([...bytesOf("設定を読み込みます", "shift_jis"), 0x82]),
      Uint8Array.from([...bytesOf("設定を読み込みます", "euc-jp"), 0xa4]),
    ])
      expect(read(bytes)).toBe("bytes");
  });

  it("is Japanese that would be encoded differently: a character that Shift_JIS has twice, an unnecessary escape", () => {
    const before = bytesOf("設定を読み込みます", "shift_jis");
    // ∵ in NEC's row, and 髙 in NEC's selection of IBM extensions.
    for (const pair of [
      [0x87, 0x9a],
      [0xee, 0xe0],
    ]) {
      const bytes = Uint8Array.from([...before, ...pair]);
      expect(findEncoding(bytes)?.encoding).toBe("shift_jis");
      expect(read(bytes)).toBe("bytes");
    }
    const shifted = Buffer.from("\u001b$B@_Dj\u001b(B\u001b$B$r\u001b(B", "latin1");
    expect(findEncoding(shifted)?.encoding).toBe("iso-2022-jp");
    expect(read(shifted)).toBe("bytes");
  });
});

describe("a decoded text", () => {
  it("encodes to the same bytes, in every encoding and whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        for (const encoding of ["utf-8", "utf-16le", "shift_jis", "euc-jp", "iso-2022-jp", "windows-1252"] as const) {
          const text = decodeExactly(bytes, encoding);
          if (text !== undefined) expect(encodeText(text, encoding), encoding).toEqual(bytes);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("can contain every character of its encoding", () => {
    for (const encoding of ["shift_jis", "euc-jp"] as const) {
      let count = 0;
      for (let code = 0xa0; code < 0xffff; code += 1) {
        const bytes = encodeText(String.fromCharCode(code), encoding);
        if (!bytes || (code >= 0xd800 && code <= 0xdfff)) continue;
        count += 1;
        expect(decodeExactly(bytes, encoding)).toBe(String.fromCharCode(code));
      }
      expect(count).toBeGreaterThan(7000);
    }
  });

  it("cannot be written in an encoding that lacks a character", () => {
    expect(encodeText("🦊", "shift_jis")).toBeUndefined();
    expect(encodeText("設定", "windows-1252")).toBeUndefined();
    expect(encodeText("丂", "iso-2022-jp")).toBeUndefined();
    expect(encodeText("\ud800", "utf-8")).toBeUndefined();
  });
});

/** The same numbers each time. */
function createRandom(): () => number {
  let state = 1;
  return () => (state = (state * 48_271) % 0x7fffffff) / 0x7fffffff;
}

/** An encoder for an encoding that the platform can only decode. */
function encoderOf(encoding: string): (text: string) => Uint8Array {
  const decoder = new TextDecoder(encoding);
  const bytes = new Map<string, number[]>();
  const learn = (...sequence: number[]): void => {
    const character = decoder.decode(Uint8Array.from(sequence));
    if (character.length === 1 && character !== "\ufffd" && !bytes.has(character)) bytes.set(character, sequence);
  };
  for (let first = 0; first < 0x100; first += 1) learn(first);
  for (let first = 0x81; first < 0xff; first += 1)
    for (let second = 0x40; second < 0xff; second += 1) learn(first, second);
  return (text) => Uint8Array.from(Array.from(text).flatMap((character) => bytes.get(character) ?? [0x3f]));
}
