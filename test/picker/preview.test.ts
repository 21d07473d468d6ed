/** Texts of all kinds in the preview: code, Markdown, diffs, documents; and what every preview has. */
import { expect, it } from "vitest";
import { docx, pdf } from "../../src/backends/documents/test-documents.ts";
import { chooseTab, openToCheck, row, show, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const code = `/** Adds\n * over two lines. */\nexport function add(by = 1): number {\n  return by; // <b>not bold</b>\n}\n`;
const longCode = Array.from(
  { length: 90_000 },
  (_, index) => `export const value${index + 1} = "${"x".repeat(40)}";\n`,
).join("");
const diff =
  "diff --git a/src/a.ts b/src/a.ts\nindex 123..456 100644\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -10,3 +10,4 @@ f() {\n   const a = 1;\n-  const b = 2;\n+  const b = 3;\n+  const c = 4;\n   return a;\n";
const files: Readonly<Record<string, string | Uint8Array>> = {
  "add.ts": code,
  "long.ts": longCode,
  "minified.js": `const a=${"1+".repeat(10_000)}1;`,
  "strange.nim": "echo 1\n",
  "linked.md": "[paper](paper.pdf) [numbers](parts.bin)\n",
  "notes.md": "# Notes\n\n```python\ndef f():\n    return 1\n```\n\n```\nplain\n```\n",
  "change.diff": diff,
  "paper.pdf": pdf([["見積書", "合計 ¥1,200"]]),
  "minutes.docx": docx(
    `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>議事録</w:t></w:r></w:p><w:p><w:r><w:t>以上</w:t></w:r></w:p>`,
  ),
  "sales.ipynb": JSON.stringify({ cells: [{ cell_type: "markdown", source: ["# 売上\n", "\n", "四半期ごと"] }] }),
  "broken.pdf": "%PDF-1.4 and nothing else",
  "page.html": "<h1>Title</h1><p>Body <b>bold</b></p><script>window.ran = true</script>",
  "empty.txt": "",
  "empty.csv": "",
  "parts.bin": new Uint8Array([0, 1, 2, 255, 254, 0, 3]),
  "dot.png": Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
};

// With text of pictures, which must not take their place.
const config = "mounts: { shelf: { source: file, root: ., ocr: true } }\n";

onStage("the preview", files, { config }, (stage) => {
  it("colours code, numbers its lines, and leaves every letter of it as it is", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "add.ts");
    await page.locator(".code-keyword", { hasText: "function" }).waitFor();
    expect(await page.locator(".code-comment").allTextContents()).toEqual([
      "/** Adds\n",
      " * over two lines. */",
      "// <b>not bold</b>",
    ]);
    expect(await page.locator(".code pre").allTextContents()).toEqual([code]);
    expect(await page.locator(".line").count()).toBe(5);
    expect(await page.locator(".line").nth(3).getAttribute("data-line")).toBe("4");
    await page.evaluate(`getSelection().selectAllChildren(document.querySelector(".code"))`);
    expect(await page.evaluate("String(getSelection()).trim()")).toBe(code.trim());
    expect(visit.troubles).toEqual([]);
  });

  it("colours the beginning of a large file, and reads on as one scrolls", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "long.ts");
    await page.getByText("read in parts").waitFor();
    await page.locator(".code-keyword", { hasText: "export" }).first().waitFor();
    // Only lines near the visible ones are drawn.
    const last = page.locator(".line").last();
    const lastNumber = async () => {
      await page.evaluate(`document.querySelector(".content").scrollTo(0, 1e9)`);
      return Number(await last.getAttribute("data-line"));
    };
    await expect.poll(lastNumber, soon).toBeGreaterThan(3000);
    expect(await last.textContent()).toMatch(/^export const value\d+ = "x{40}";\n$/);
    expect(visit.troubles).toEqual([]);
  });

  it("shows code that is not worth colouring, or in a language that it does not know, as it is", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "strange.nim");
    await page.locator(".line", { hasText: "echo 1" }).waitFor();
    await show(visit, "minified.js");
    await page.locator(".line", { hasText: "const a=1+1" }).waitFor();
    expect(await page.locator("[class^=code-]").count()).toBe(0);
    expect(visit.troubles).toEqual([]);
  });

  it("colours the fences of Markdown that name a language", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "notes.md");
    await page.locator(".markdown .code-keyword", { hasText: "def" }).waitFor();
    expect(await page.locator(".markdown pre").allTextContents()).toEqual(["def f():\n    return 1", "plain"]);
    expect(visit.troubles).toEqual([]);
  });

  it("tells what a diff adds and removes by signs and words, not by colour alone", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "change.diff");
    await page.getByRole("heading", { name: "src/a.ts +2 −1" }).waitFor();
    expect(await page.locator("ins .diff-text").allTextContents()).toEqual(["  const b = 3;\n", "  const c = 4;\n"]);
    expect(await page.locator("del .diff-text").allTextContents()).toEqual(["  const b = 2;\n"]);
    expect(await page.locator("ins .diff-sign").allTextContents()).toEqual(["+", "+"]);
    expect(await page.locator("ins .unseen").textContent()).toBe("added: ");
    expect(await page.locator("del .unseen").textContent()).toBe("removed: ");
    const numbers = await page.evaluate(
      `[...document.querySelectorAll("ins .diff-number")].map((number) => number.dataset.line)`,
    );
    expect(numbers).toEqual(["", "11", "", "12"]);
    expect(visit.troubles).toEqual([]);
  });

  it("shows the text of PDF and office documents, and says what it was taken out of", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "paper.pdf");
    await page.getByText("Extracted text of a document (application/pdf)").waitFor();
    await page.locator(".pages pre", { hasText: "合計 ¥1,200" }).waitFor();
    await show(visit, "minutes.docx");
    await page.locator(".markdown p", { hasText: "以上" }).waitFor();
    await show(visit, "sales.ipynb");
    await page.locator(".markdown p", { hasText: "四半期ごと" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("shows the text of a document that is reached by a link, too", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "linked.md");
    await page.getByRole("button", { name: "paper" }).click();
    await page.locator(".pages pre", { hasText: "合計 ¥1,200" }).waitFor();
    await show(visit, "linked.md");
    await page.getByRole("button", { name: "numbers" }).click();
    await page.getByText("Binary content (application/octet-stream, 7 B)").waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("says why a document has no text", async () => {
    await using visit = await stage.open();
    await show(visit, "broken.pdf");
    await visit.page.getByText("The text could not be extracted:").waitFor();
    await visit.page.getByText("Binary content (application/pdf, 25 B)").waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("shows a web page as text, and how it is written beside it; nothing of it runs", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "page.html");
    await page.locator(".markdown").getByRole("heading", { name: "Title" }).waitFor();
    expect(await page.locator(".face").textContent()).not.toContain("window.ran");
    await chooseTab(visit, "Raw");
    await page.locator(".text pre", { hasText: "<script>window.ran = true</script>" }).waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(visit.troubles).toEqual([]);
  });

  it("has a raw view and one of what is said of the resource, reached by mouse and by arrow keys", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "notes.md");
    await page.getByRole("heading", { name: "Notes", exact: true }).waitFor();
    await chooseTab(visit, "Raw");
    expect(await page.locator(".text pre").textContent()).toBe(files["notes.md"]);
    await page.keyboard.press("ArrowRight");
    await page.locator("dt", { hasText: "MIME type" }).first().waitFor();
    expect(await page.getByRole("tab", { selected: true }).last().textContent()).toBe("About");
    expect(await page.locator("dl").first().textContent()).toContain("text/markdown");
    await page.locator("dd", { hasText: /characters in 10 lines/ }).waitFor();
    await page.keyboard.press("Home");
    await page.getByRole("heading", { name: "Notes", exact: true }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await show(visit, "paper.pdf");
    await page.locator(".json", { hasText: "pressmark/as" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("says of binary content what it is, and shows images as such", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "parts.bin");
    await page.getByText("Binary content (application/octet-stream, 7 B)").waitFor();
    await show(visit, "dot.png");
    await page.getByRole("img", { name: "dot.png" }).waitFor();
    expect(await page.getByText("cannot extract text").count()).toBe(0);
    await chooseTab(visit, "Raw");
    await page.getByText(/Binary content \(image\/png, \d+ B\)/).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("says that an empty resource is empty", async () => {
    await using visit = await stage.open();
    for (const name of ["empty.txt", "empty.csv"]) {
      await show(visit, name);
      await visit.page.getByText("This resource is empty").waitFor();
    }
    expect(visit.troubles).toEqual([]);
  });

  it("says what is not there, what may not be read and what cannot be reached, and tries again", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    const answers = [
      ["This resource does not exist", { status: 200, code: -32002 }],
      ["You do not have permission to read this", { status: 403, code: 0 }],
      ["cannot be reached at present", { status: 503, code: 0 }],
    ] as const;
    await row(visit, "add.ts").waitFor();
    for (const [said, { status, code: number }] of answers) {
      await page.route("**/mcp", (route) => {
        const asked = route.request().postDataJSON() as { id?: number; method?: string } | null;
        if (asked?.method !== "resources/read") return route.fallback();
        const error = { jsonrpc: "2.0", id: asked.id, error: { code: number, message: "refused" } };
        return route.fulfill({ status, json: error });
      });
      await row(visit, "add.ts").click();
      await page.locator(".preview").getByRole("alert").getByText(said).waitFor();
      await page.unroute("**/mcp");
      await page.locator(".preview").getByRole("button", { name: "Try again" }).click();
      await page.locator(".line", { hasText: "export function" }).waitFor();
    }
  });

  it("shows as it is written what its own view could not be loaded for", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "empty.txt");
    await page.route("**/picker/view-*", (route) => route.abort());
    await show(visit, "add.ts");
    await page.getByText("The view failed").waitFor();
    await page.locator(".text pre", { hasText: "export function add" }).waitFor();
  });

  it("speaks Japanese to those who do, and breaks no rule of axe in it, dark and wide, light and narrow", async () => {
    await using visit = await openToCheck(stage, "ja-JP");
    const { page } = visit;
    await row(visit, "empty.txt").click();
    await page.getByText("このリソースは空です").waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("ja");
    await page.getByRole("tab", { name: "情報" }).click();
    await page.locator("dt", { hasText: "MIMEタイプ" }).first().waitFor();
    expect(await visit.violations()).toEqual([]);
    expect(visit.troubles).toEqual([]);
  });

  it("breaks no rule of axe, light and wide, dark and narrow", async () => {
    await using visit = await openToCheck(stage, "en-US");
    const { page } = visit;
    const shown = {
      "add.ts": ".code-keyword",
      "notes.md": ".markdown .code-keyword",
      "change.diff": "ins",
      "paper.pdf": ".pages",
      "broken.pdf": ".state",
      "dot.png": "img",
      "empty.txt": ".state",
    };
    for (const [name, sign] of Object.entries(shown)) {
      await show(visit, name);
      await page.locator(`.face ${sign}`).first().waitFor();
      expect(await visit.violations(), name).toEqual([]);
    }
    await page.locator("#tab-about").click();
    await page.locator("dt").first().waitFor();
    expect(await visit.violations(), "About").toEqual([]);
  });
});
