import { expect, it } from "vitest";
import { createClock } from "../../testing/clock.ts";
import { createSiteRules } from "./site-rules.ts";

it("a robots.txt that cannot be read is requested once a minute, however many pages ask for it", async () => {
  const { runtime, advance } = createClock();
  const requested: string[] = [];
  let status = 503;
  const rules = createSiteRules(runtime, async (url) => {
    requested.push(url.href);
    return { url, status, headers: {}, bytes: Buffer.from("User-agent: *\nDisallow: /private") };
  });
  const ask = (at: number) => rules(new URL(`https://a.example/${at}`));
  for (let at = 0; at < 200; at += 1) await expect(ask(at)).rejects.toMatchObject({ kind: "unavailable" });
  await advance(59_999);
  await expect(ask(0)).rejects.toMatchObject({ kind: "unavailable" });
  expect(requested).toEqual(["https://a.example/robots.txt"]);
  // Another site is not affected.
  status = 200;
  expect((await rules(new URL("https://b.example/"))).allows("/private")).toBe(false);
  await advance(1);
  expect((await ask(0)).allows("/private")).toBe(false);
  await advance(3_599_999);
  await ask(0);
  expect(requested).toHaveLength(3);
});
