/** Whatever a token says, it is refused with a reason, or it is valid. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { CompactSign, type CryptoKey, exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createClock } from "../testing/clock.ts";
import { createIssuersVerifier } from "./issuers-verifier.ts";
import { TokenRefusal, type TokenVerifier } from "./token-verifier.ts";

const resource = "https://mcp.example.com/mcp";
let keys: string;
let privateKey: CryptoKey;
let verifier: TokenVerifier;
let issuer: string;
const server = createServer((_request, response) => {
  response.setHeader("Content-Type", "application/json").end(keys);
});
const { runtime } = createClock(Date.now());

beforeAll(async () => {
  const pair = await generateKeyPair("ES256");
  ({ privateKey } = pair);
  keys = JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: "k" }] });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = { issuer, jwksUri: `${issuer}/keys`, tokenType: "jwt" } as const;
  verifier = createIssuersVerifier([settings], { resource, runtime });
});

afterAll(async () => {
  await verifier.close();
  server.close();
});

const encoder = new TextEncoder();
const outcomeOf = (token: string) =>
  verifier.verify(token, new AbortController().signal).catch((cause: unknown) => cause);
const nowSeconds = () => Math.floor(runtime.now() / 1000);

/** Mostly as it should be, sometimes anything. */
function often<T>(usual: () => T): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 8, arbitrary: fc.constant(0).map(usual) }, { weight: 1, arbitrary: fc.jsonValue() });
}

const token = fc.record(
  {
    typ: often(() => "JWT"),
    kid: often(() => "k"),
    claims: fc.record(
      {
        iss: fc.constant(0).map(() => issuer),
        aud: often(() => resource),
        exp: often(() => nowSeconds() + 60),
        nbf: often(() => nowSeconds()),
        sub: often(() => "ann"),
        groups: fc.jsonValue(),
        scope: fc.jsonValue(),
        cnf: fc.constant({ jkt: "x" }),
      },
      { requiredKeys: ["iss", "aud", "exp", "sub"] },
    ),
  },
  { requiredKeys: ["claims"] },
);

it("a signed token of any content is refused with a reason, or says whose it is", async () => {
  let valid = 0;
  await fc.assert(
    fc.asyncProperty(token, async ({ typ, kid, claims }) => {
      const header = { alg: "ES256", ...(typ !== undefined && { typ }), ...(kid !== undefined && { kid }) } as {
        alg: string;
      };
      const signed = await new CompactSign(encoder.encode(JSON.stringify(claims)))
        .setProtectedHeader(header)
        .sign(privateKey);
      const outcome = await outcomeOf(signed);
      if (outcome instanceof TokenRefusal) return;
      valid += 1;
      expect(outcome).toMatchObject({ issuer, subject: claims.sub });
      expect([claims.aud].flat()).toContain(resource);
      expect(claims.exp).toBeGreaterThan(nowSeconds() - 31);
      expect(claims.cnf).toBeUndefined();
    }),
    // One token that is certainly valid, besides those that happen to be.
    { numRuns: 300, examples: [[{ claims: { iss: issuer, aud: resource, exp: nowSeconds() + 60, sub: "ann" } }]] },
  );
  expect(valid).toBeGreaterThan(0);
});

it("a text of any form is refused with a reason", async () => {
  const part = fc.oneof(
    fc.base64String(),
    fc.json().map((text) => Buffer.from(text).toString("base64url")),
    fc.constantFrom("", "eyJhbGciOiJub25lIn0", "eyJhbGciOiJSUzI1NiJ9"),
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(part, { maxLength: 6 }).map((parts) => parts.join(".")),
  );
  await fc.assert(
    fc.asyncProperty(text, async (given) => {
      expect(await outcomeOf(given)).toBeInstanceOf(TokenRefusal);
    }),
    { numRuns: 300 },
  );
});
