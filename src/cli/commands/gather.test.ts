import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
const gather = (words: readonly string[]) => stand.run(["gather", ...words]);

beforeAll(() => {
  stand = createStand();
  stand.write("docs/kettle.md", "# Kettle\n\nThe kettle boils at a hundred degrees.\n");
  stand.write("docs/会議.md", "# 会議\n\n予算の会議は月曜日です。\n");
  stand.write("src/kettle.ts", "/** Boils water. */\nexport function boilKettle(): void {}\n");
  stand.write("src/kettle.test.ts", "it('works');\n");
});

afterAll(() => stand.remove());

describe("gather", () => {
  it("prints the pack, and the receipt beside it", async () => {
    const { code, out, err } = await gather(["why does the kettle boil", "--budget", "1000"]);
    expect(code).toBe(0);
    expect(out).toContain(`\nPaths are relative to: ${stand.base}\n`);
    expect(out).toContain("## docs/kettle.md\n\nLines 1-3:\n\n```md\n# Kettle\n");
    expect(err).toContain("pressmark: docs/kettle.md:1-3 (");
    expect(err).toMatch(/pressmark: \d+ of 1,000 tokens \(estimate\); nothing else is relevant enough\n$/);
  });

  it("counts with the tokenizer only on request: it takes longer to load than the rest", async () => {
    const { err } = await gather(["kettle", "--exact"]);
    expect(err).toMatch(/ of 16,000 tokens \(o200k_base\); nothing else is relevant enough\n$/);
  });

  it("prints XML, or JSON with the receipt", async () => {
    expect((await gather(["--xml", "kettle"])).out).toMatch(
      /^<gathered note="[^"]+" base="[^"]+">\n<resource path="[^"]+">\n<passage lines="1-\d"/,
    );
    const { passages, receipt } = JSON.parse((await gather(["--json", "予算の会議"])).out) as {
      passages: { uri: string; text: string }[];
      receipt: { included: { uri: string; why: string[] }[]; tokens: number; budget: number };
    };
    expect(passages[0]!.text).toContain("月曜日");
    expect(receipt.included[0]!.uri).toBe(passages[0]!.uri);
    expect(receipt.tokens).toBeLessThanOrEqual(receipt.budget);
  });

  it("shows decoded paths, and URIs only in JSON", async () => {
    const { out, err } = await gather(["予算の会議"]);
    expect(out).toContain("## docs/会議.md\n");
    expect(err).toContain("pressmark: docs/会議.md:1-3 (");
    expect(out + err).not.toContain("%E4");
    expect((await gather(["予算の会議", "--json"])).out).toContain(`"uri":"${stand.base}docs/%E4%BC%9A%E8%AD%B0.md"`);
  });

  it("puts in what is named by its path, and stays in a directory", async () => {
    const { out } = await gather(["kettle", "--include", "docs/会議.md", "--within", "src"]);
    expect(out.indexOf("月曜日")).toBeGreaterThan(0);
    expect(out.indexOf("boilKettle")).toBeGreaterThan(out.indexOf("月曜日"));
    expect(out).not.toContain("hundred degrees");
  });

  it("reports when nothing is found, and invalid usage", async () => {
    expect(await gather(["zzzzzz"])).toMatchObject({ code: 3, out: "" });
    expect(await gather([])).toMatchObject({
      code: 2,
      err: expect.stringContaining("name the task") as string,
    });
    expect(await gather(["x", "--xml", "--json"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("not both") as string,
    });
    expect(await gather(["x", "--budget", "0"])).toMatchObject({ code: 2 });
    expect(await gather(["x", "--include", "nowhere.md"])).toMatchObject({ code: 3 });
  });
});
