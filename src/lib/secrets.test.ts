import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findSecrets, mask, maskSecrets } from "./secrets.ts";

/** Invented here, and joined from parts, so that no scanner reports this file. */
const p = (...parts: string[]) => parts.join("");
const letters = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzAc";

const secrets: readonly (readonly [text: string, secret: string])[] = [
  [`aws_access_key_id = ${p("AK", "IA", "QX7RZ2JW5NVKT3UD")}`, p("AK", "IA", "QX7RZ2JW5NVKT3UD")],
  [`token: ${p("gh", "p_", letters, "7Z")}`, p("gh", "p_", letters, "7Z")],
  [`curl -H "Authorization: Bearer ${p("q8Zr", "T5vN2kLw9Xy4Bc7Df0Gh")}"`, p("q8Zr", "T5vN2kLw9Xy4Bc7Df0Gh")],
  [`SLACK=${p("xo", "xb-", "2488192103-K3jD82mQpXz7")}`, p("xo", "xb-", "2488192103-K3jD82mQpXz7")],
  [
    `key = "${p("AI", "za", "SyD3k9Zq7Wm2Xv5Nb8Rt1Yc4Hj6Lp0Fs_gE")}"`,
    p("AI", "za", "SyD3k9Zq7Wm2Xv5Nb8Rt1Yc4Hj6Lp0Fs_gE"),
  ],
  [`STRIPE_KEY=${p("sk", "_live_", "4eC39HqLyjWDarjtT1zdp7dc")}`, p("sk", "_live_", "4eC39HqLyjWDarjtT1zdp7dc")],
  [`export OPENAI=${p("sk", "-proj-", letters, "Q2w")}`, p("sk", "-proj-", letters, "Q2w")],
  [`//registry/:_authToken=${p("np", "m_", letters, "9")}`, p("np", "m_", letters, "9")],
  [`DATABASE_URL=postgres://app:${p("t4Kx", "9Qz!2m")}@db.internal:5432/app`, p("t4Kx", "9Qz!2m")],
  [`git clone https://ci:${p("f8d2", "71bc93ae")}@git.internal/x.git`, p("f8d2", "71bc93ae")],
  [`password: "${p("vK7#", "pQ2x!zR9")}"`, p("vK7#", "pQ2x!zR9")],
  [`Authorization: Bearer ${p("aB3dE5", ".gH7jK9mN2pQ4rS6t")}`, p("aB3dE5", ".gH7jK9mN2pQ4rS6t")],
  [`DB_PASSWORD=${p("kR4v", "Tz9pQ")}`, p("kR4v", "Tz9pQ")],
  [`CLIENT_SECRET='${p("8f14e45f", "ceea167a5a36dedd4bea2543")}'`, p("8f14e45f", "ceea167a5a36dedd4bea2543")],
  [`{"api_key": "${p("Zx81", "Kq0Lm27VbN5c")}"}`, p("Zx81", "Kq0Lm27VbN5c")],
  [`const token = "${p("d41d8cd9", "8f00b204e9800998ecf8427e")}";`, p("d41d8cd9", "8f00b204e9800998ecf8427e")],
  [
    p("ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N"),
    p("ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N"),
  ],
  [
    `secret_access_key = ${p("wJalr", "XUtnFEMI/K7MDENG/bPxRfiCY3k9Zq7Wm2")}`,
    p("wJalr", "XUtnFEMI/K7MDENG/bPxRfiCY3k9Zq7Wm2"),
  ],
];

const harmless: readonly string[] = [
  "const token = tokens[index];",
  'password: z.string().min(8).describe("the password to log in with")',
  "export PASSWORD=$DB_PASSWORD",
  "password = process.env.DB_PASSWORD",
  "api_key: <your-api-key>",
  'apiKey: "YOUR_API_KEY_HERE"',
  "AKIAXXXXXXXXXXXXXXXX",
  "AKIAIOSFODNN7EXAMPLE",
  "postgres://user:password@localhost:5432/app",
  "https://user:${TOKEN}@host/path",
  "token: string;",
  "private readonly accessToken: AccessTokenProvider;",
  "const token = await getAccessTokenSilently({ audience });",
  "secret: kubernetes.io/service-account-token",
  "see the token: documentation/authentication/tokens",
  '"integrity": "sha512-oJ2q8Zr5vN2kLw9Xy4Bc7Df0GhQ2wE5rT8yU1iO4pA7sD0fG3hJ6kL9zX2cV5bN8mQ=="',
  "commit d41d8cd98f00b204e9800998ecf8427e12345678",
  "-----BEGIN PRIVATE KEY----- is the first line of a key",
  "if (password !== confirmation) throw new PasswordMismatchError();",
  "tokenizer: ./vendor/tokenizer-v2.json",
  "csrf_token = generate_csrf_token()",
  "passwordResetTokenLifetimeInSeconds: 3600",
  "PASSWORD_MIN_LENGTH=12",
  "パスワード：ここに入力してください",
  "token=refresh_token_from_previous_call",
  "max_tokens: 4096, completion_tokens: 128",
];

describe("secrets", () => {
  it.each(secrets)("are found: %s", (text, secret) => {
    expect(findSecrets(text).map(({ from, to }) => text.slice(from, to))).toEqual([secret]);
    expect(maskSecrets(text).text).toBe(text.replace(secret, () => mask));
  });

  it.each(harmless)("are not reported in %s", (text) => {
    expect(findSecrets(text)).toEqual([]);
  });

  it("in private keys are masked line by line, complete or truncated", () => {
    const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    const block = [
      "before",
      p("-----BEGIN RSA ", "PRIVATE KEY-----"),
      line,
      line,
      p("-----END RSA ", "PRIVATE KEY-----"),
      "after",
    ];
    const { text, masked } = maskSecrets(block.join("\n"));
    expect(text.split("\n")).toEqual(["before", block[1], mask, mask, block[4], "after"]);
    expect(masked).toMatchObject([{ kind: "a private key" }]);
    const cut = maskSecrets([...block.slice(0, 4), "", "and then a sentence."].join("\n"));
    expect(cut.text.split("\n")).toEqual(["before", block[1], mask, mask, "", "and then a sentence."]);
  });

  it("are reported once if two rules match", () => {
    const token = p("gh", "p_", letters, "7Z");
    const text = `github_token = "${token}" # password: "${p("vK7#", "pQ2x!zR9")}"`;
    expect(findSecrets(text)).toHaveLength(2);
  });

  it("are masked in place, and nothing else is changed", () => {
    const [text, secret] = secrets[8]!;
    const all = `${"line\n".repeat(3)}${text}\r\n${"more\n".repeat(3)}`;
    expect(maskSecrets(all).text).toBe(all.replace(secret, () => mask));
    expect(maskSecrets("nothing here").text).toBe("nothing here");
  });

  it("are hardly ever reported in the program's own source", () => {
    const root = join(import.meta.dirname, "..");
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
      (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
    );
    expect(files.length).toBeGreaterThan(100);
    const alarms = files.flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      return findSecrets(text).map(({ from, to }) => `${file}: ${text.slice(from, to)}`);
    });
    expect(alarms).toEqual([]);
  });

  it("take no longer to find in hostile text", () => {
    for (const piece of [
      ..."password=|eyJ|a://b:|sk-|Bearer |:AA|.atlasv1.|AccountKey=|a:///:@|-us|パスワード：|mysql x -px |-u a:".split(
        "|",
      ),
      ...'password"|password" { default|password: >-|tokentokentoken=|cGFzc3dvcmQ9|"kty" "d":"|a:11:a:a:|aaa8Q~'.split(
        "|",
      ),
      "-----BEGIN PRIVATE KEY-----\n",
      "-----END PRIVATE KEY-----\n",
      "-----BEGIN PRIVATE KEY-----\nabcdefgh\n",
      "abcdefgh\n-----END PRIVATE KEY-----\n",
      "-----BEGIN PRIVATE KEY-----",
      "kind: Secret\ndata:\n  a: aaaaaaaaaa\n---\n",
      "\n",
    ]) {
      const text = piece.repeat(Math.ceil(200_000 / piece.length));
      expect(maskSecrets(text).text.length).toBeGreaterThan(0);
    }
  });

  it("are found inside a rejected match", () => {
    const secret = p("Zx81", "Kq0Lm27VbN5c");
    expect(maskSecrets(`callback_token: /auth/user?password=${secret}`).text).not.toContain(secret);
  });
});
