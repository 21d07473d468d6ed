import { expect, it } from "vitest";
import { maskUrls } from "./mask-urls.ts";

it.each([
  ["nats://u:planted@a,b?ca=/x", "nats://u:••••@a,b?ca=/x"],
  ["nats://planted@h", "nats://••••@h"],
  ["redis://:planted@h/0", "redis://:••••@h/0"],
  ["postgres://me@h/db?sslmode=require", "postgres://me@h/db?sslmode=require"],
  ["ssh://git@github.com/a.git", "ssh://git@github.com/a.git"],
  ["https://planted:x-oauth-basic@github.com/a.git", "https://••••@github.com/a.git"],
  [
    "https://h/mcp?user=me&api_key=planted&n=1#access_token=planted",
    "https://h/mcp?user=me&api_key=••••&n=1#access_token=••••",
  ],
  ["https://h/x?X-Amz-Signature=planted&sig=planted&design=a", "https://h/x?X-Amz-Signature=••••&sig=••••&design=a"],
  ["http://[::1]:80/@scope/a?author=b", "http://[::1]:80/@scope/a?author=b"],
  ["http://h:8080/@scope/a", "http://h:8080/@scope/a"],
  ["a http://t:planted@h/x, then b@c", "a http://••••@h/x, then b@c"],
  [
    "to http://a, http://planted@b and http://c?r=http://d&token=planted x",
    "to http://a, http://••••@b and http://c?r=http://d&token=•••• x",
  ],
  ["no URL: a@b?token=c", "no URL: a@b?token=c"],
])("%s is shown as %s", (text, shown) => expect(maskUrls(text)).toBe(shown));

it("takes a space and a quote as part of a password where the whole text is a URL", () => {
  const text = 'postgres://u@h/db?password=plan"ted planted&schema=a';
  expect(maskUrls(text, { isAddress: true })).toBe("postgres://u@h/db?password=••••&schema=a");
});
