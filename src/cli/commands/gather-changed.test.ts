/** `gather --changed` on a real checkout. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testRepository, type TestRepository } from "../../sources/git/test-repository.ts";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
let repository: TestRepository;
const gather = (...words: readonly string[]) => stand.run(["gather", ...words]);

const boil = (degrees: number) =>
  `/** Boils water in a kettle. */\nexport function boilKettle(): number {\n  return ${degrees};\n}\n`;

beforeAll(() => {
  stand = createStand();
  repository = testRepository([], stand.folder);
  const long = Array.from({ length: 12 }, (_, at) => `A line about cups, number ${at}.\n`).join("");
  repository.commit("begin", {
    "src/kettle.ts": boil(100),
    "src/kettle.test.ts": 'import { boilKettle } from "./kettle.ts";\nit("boils", () => boilKettle());\n',
    "src/tea.ts":
      'import { boilKettle } from "./kettle.ts";\n\nexport function makeTea(): void {\n  boilKettle();\n}\n',
    "src/cups.md": long,
    "src/gone.ts": "export const formerlyHere = 1;\n",
    "設計/決済.md": "# 決済\n\n再試行は二回まで。\n",
  });
  repository.commit("something else", { "src/unrelated.ts": "export const spoon = 1;\n" });
  repository.git("checkout", "--quiet", "-b", "feature");
  repository.commit("boil less", { "src/kettle.ts": boil(95) });
  repository.git("mv", "src/cups.md", "src/mugs.md");
  repository.git("rm", "--quiet", "src/gone.ts");
  repository.write("設計/決済.md", "# 決済\n\n再試行は三回まで。\n");
  repository.write("設計/返金.md", "# 返金\n\n返金は手動で行う。\n");
});

afterAll(() => stand.remove());

describe("gather --changed", () => {
  it("packs a summary, the patches, new files, and what the changes touch", async () => {
    const { code, out, err } = await gather("--changed");
    expect(code).toBe(0);
    const headings = Array.from(out.matchAll(/^## (.*)$/gm), (match) => match[1]);
    expect(headings[0]).toBe("git://files/changes?base=main&as=text");
    expect(out).toMatch(/^\| src\/kettle\.ts +\| modified \| \+1 +\| -1 +\|$/m);
    expect(out).toMatch(/^\| src\/gone\.ts +\| deleted /m);
    expect(out).toContain("```diff\ndiff --git a/src/kettle.ts b/src/kettle.ts\n");
    expect(out).toContain("\n-  return 100;\n+  return 95;\n");
    expect(out).toContain("\n+再試行は三回まで。\n");
    expect(out).toContain("rename from src/cups.md\nrename to src/mugs.md\n");
    expect(out).not.toContain("formerlyHere");
    expect(headings).toEqual(
      expect.arrayContaining(["設計/返金.md", "src/kettle.ts", "src/kettle.test.ts", "src/tea.ts"]),
    );
    expect(headings).not.toContain("src/unrelated.ts");
    expect(err).toMatch(/src\/tea\.ts:1-5 .*contains "boilKettle"/);
    expect(err).toContain("pressmark: 5 files changed since main\n");
    expect(err).toMatch(
      /changes\?base=main&path=src\/kettle\.ts:1-\d+ \(\d+ tokens\): is the patch of a file that was modified: \+1 -1/,
    );
    expect(err).toMatch(/設計\/返金\.md:1-3 \(\d+ tokens\): is new/);
    expect(err).toContain("path=src/gone.ts was deleted; only its name is included");
  });

  it("takes the base as a value or as the only word, and other words as the task", async () => {
    for (const words of [["--changed=HEAD"], ["--changed", "HEAD"]]) {
      const { out, err } = await gather(...words);
      expect(err).toContain("4 files changed since HEAD\n");
      expect(out).not.toContain("return 95;\n+");
    }
    const { err } = await gather("--changed", "where is the spoon");
    expect(err).toContain("5 files changed since main\n");
    expect(err).toMatch(/src\/unrelated\.ts:1-1 .*contains "spoon"/);
  });

  it("gives JSON with URIs, and says what does not fit", async () => {
    const { receipt } = JSON.parse((await gather("--changed", "--json", "--budget", "300")).out) as {
      receipt: { task?: string; changed: object; included: { uri: string }[]; leftOut: { uri: string; why: string }[] };
    };
    expect(receipt).toMatchObject({ changed: { base: "main", files: 5 } });
    expect(receipt.task).toBeUndefined();
    expect(receipt.included[0]!.uri).toBe("git://files/changes?base=main&as=text");
    expect(receipt.leftOut.map(({ why }) => why)).toContain("does not fit into the budget");
  });

  it("says if nothing changed, if the base is unknown, and if there is no history", async () => {
    expect(await gather("--changed=mian")).toMatchObject({
      code: 3,
      err: expect.stringContaining('no branch, tag or commit "mian"; nearest: "main"') as string,
    });
    const other = createStand();
    try {
      const fresh = testRepository([], other.folder);
      fresh.commit("all", { "a.txt": "a\n" });
      expect(await other.run(["gather", "--changed"])).toMatchObject({
        code: 3,
        out: "",
        err: expect.stringContaining("nothing changed since main") as string,
      });
      expect(await other.run(["gather", "--changed", "--folder", `${other.folder}/..`])).toMatchObject({
        code: 1,
        err: expect.stringContaining("no history of a checkout is mounted") as string,
      });
    } finally {
      other.remove();
    }
  });
});
