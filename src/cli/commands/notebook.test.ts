/** A notebook through the commands: read, listed with a title, and found by its cells instead of its JSON. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;

const notebook = JSON.stringify({
  nbformat: 4,
  nbformat_minor: 5,
  metadata: { kernelspec: { language: "python" } },
  cells: [
    { cell_type: "markdown", source: ["# 売上の分析\n", "\n", "四半期ごとに集計する。"] },
    {
      cell_type: "code",
      source: "quarterly_totals(orders)",
      outputs: [
        { output_type: "stream", name: "stdout", text: "合計金額は千円\n" },
        { output_type: "display_data", data: { "image/png": "iVBORw0KGgo".repeat(2000) } },
      ],
    },
  ],
});

beforeAll(() => {
  stand = createStand();
  stand.write("analysis/sales.ipynb", notebook);
});

afterAll(() => stand.remove());

describe("a notebook", () => {
  it("is read as it is, or as its cells", async () => {
    expect((await stand.run(["read", "analysis/sales.ipynb"])).out.trim()).toBe(notebook);
    const { code, out } = await stand.run(["read", `${stand.base}analysis/sales.ipynb?as=text&lines=5-7`]);
    expect([code, out]).toEqual([0, "```python\nquarterly_totals(orders)\n```\n"]);
  });

  it("is found by its text, code and outputs, at the lines of its cells", async () => {
    const at = "analysis/sales.ipynb";
    expect((await stand.run(["search", "四半期"])).out).toContain(`${at}:3: 四半期ごとに集計する。`);
    expect((await stand.run(["search", "合計金額", "quarterly", "totals"])).out).toContain(`${at}:6: quarterly_totals`);
    expect((await stand.run(["search", "iVBORw0KGgo"])).out).toBe("");
  });

  it("has the language of its text and the title of its first heading among documents, however long it is", async () => {
    const source = ["# 季節の分析\n", "季節ごとに傾向を調べる。"];
    const cells = [
      { cell_type: "markdown", metadata: {}, source },
      { cell_type: "raw", source: "a".repeat(100_000) },
    ];
    stand.write("analysis/season.ipynb", JSON.stringify({ cells, nbformat: 4 }, undefined, 1));
    stand.write("pressmark.config.yaml", "mounts: { docs: { source: docs, root: analysis } }\n");
    const stat = async (name: string) => (await stand.run(["stat", "--json", `docs://docs/ja/${name}`])).out;
    expect(await stat("season.ipynb")).toContain('"title":"季節の分析"');
    expect(await stat("sales.ipynb")).toContain('"title":"売上の分析"');
  });
});
