/** Parts in the tray: passages, folders, their cost, and what has changed since. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Visit } from "./browser.ts";
import { chosen, clipboard, focused, locales, mayCopy, openToCheck, row, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const plain = (about: string) =>
  Array.from({ length: 800 }, (_, line) => `export const ${about}${line} = "${about} number ${line}";\n`).join("");
const files = {
  "設計/決済の再試行.md": `# 決済\n\n${"支払いの画面は青い。\n\n".repeat(400)}## 再試行\n\nchargeCard は三回まで再試行する。\n\n${"在庫は倉庫にある。\n\n".repeat(400)}`,
  "src/charge.ts": `${plain("colour")}export function chargeCard(attempts: number): void {\n  retryPayment(attempts);\n}\n${plain("fruit")}`,
  "src/pay/retry.ts": "export function retryPayment(attempts: number): void {}\n",
  "src/pay/読み方.md": "# 読み方\n",
  "src/pay/logo.bin": new Uint8Array([0, 1, 2, 255]),
  ...Object.fromEntries(Array.from({ length: 520 }, (_, at) => [`たくさん/${at}.txt`, `number ${at}\n`])),
};
const task = "chargeCard は retryPayment を再試行する attempts";

async function gather({ page }: Visit): Promise<number> {
  await page.getByRole("spinbutton", { name: "Budget" }).fill("1000");
  await page.getByRole("tab", { name: "Gather" }).click();
  await page.getByRole("textbox", { name: "What do you want to do?" }).fill(task);
  await page.keyboard.press("Control+Enter");
  await page.getByRole("heading", { name: "Included" }).waitFor();
  const summary = await page.locator(".pane .count").textContent();
  return numberIn(/, ([\d,]+) of/.exec(summary ?? "")?.[1]);
}

function numberIn(text: string | null | undefined): number {
  return Number(text?.replaceAll(/[^\d]/g, "") || NaN);
}

function inTray({ page }: Visit, name: string): Promise<string | null> {
  return page.locator(".chosen li").filter({ hasText: name }).locator(".fact").textContent();
}

async function expectChecked(visit: Visit, name: string, checked: string): Promise<void> {
  await expect.poll(() => row(visit, name).getAttribute("aria-checked"), soon).toBe(checked);
}

/** The sum in the tray, once all is counted. */
async function traySum({ page }: Visit): Promise<number> {
  const sum = page.locator(".tray-top [role=status]").first();
  await expect.poll(() => sum.textContent(), soon).not.toContain("counting");
  return numberIn((await sum.textContent())?.split(" of ")[0]);
}

onStage("parts in the tray", files, { isSearched: true }, (stage) => {
  it("a gathered pack is chosen as its passages, which cost about the same", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    const tokens = await gather(visit);
    await page.getByRole("button", { name: "Choose all" }).click();
    const rows = page.locator(".chosen li");
    const charge = rows.filter({ hasText: "charge.ts" });
    await expect.poll(() => charge.locator(".lines").first().textContent(), soon).toMatch(/^lines \d+–\d+$/);
    expect(await rows.filter({ hasText: "決済の再試行.md" }).locator(".path").first().textContent()).toBe("設計/");
    const sum = await traySum(visit);
    expect(sum).toBeGreaterThan(tokens / 2);
    expect(sum).toBeLessThan(tokens * 1.5);
    expect(visit.troubles).toEqual([]);
  });

  it("a line of the receipt is ticked by itself, and opens its lines", async () => {
    await using visit = await stage.open({ hasTouch: true });
    const { page } = visit;
    await gather(visit);
    const box = page.getByRole("checkbox", { name: /^Choose retry\.ts/ });
    await box.tap();
    await expect.poll(() => chosen(visit), soon).toEqual(["retry.ts"]);
    await box.focus();
    await page.keyboard.press("Space");
    await expect.poll(() => chosen(visit), soon).toEqual([]);
    await page.locator(".receipt .line").filter({ hasText: "retry.ts" }).first().click();
    await page.locator(".content").getByText("retryPayment").first().waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("a passage becomes its whole file, and back, by mouse and by keyboard", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await gather(visit);
    await page
      .getByRole("checkbox", { name: /^Choose charge\.ts/ })
      .first()
      .click();
    const charge = page.locator(".chosen li").filter({ hasText: "charge.ts" });
    const lines = await charge.locator(".lines").textContent();
    const before = await traySum(visit);
    await charge.getByRole("button", { name: "Whole file" }).click();
    await charge.getByRole("button", { name: "Only these lines" }).waitFor();
    expect(await traySum(visit)).toBeGreaterThan(before * 5);
    await charge.locator(".link").focus();
    await page.keyboard.press("w");
    await expect.poll(() => charge.locator(".lines").textContent(), soon).toBe(lines);
    await page.keyboard.press("w");
    await charge.getByRole("button", { name: "Only these lines" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("a folder is chosen with its files, and without one of them, by mouse", async () => {
    await using visit = await stage.open(mayCopy);
    const { page } = visit;
    await row(visit, "src").locator(".tick").click();
    await expect.poll(() => chosen(visit), soon).toEqual(["src/"]);
    await expect.poll(() => inTray(visit, "src/"), soon).toMatch(/^4 files · ≈ [\d.]+K tokens$/);
    await row(visit, "src").click();
    await row(visit, "pay").click();
    for (const name of ["src", "pay", "charge.ts", "読み方.md"]) await expectChecked(visit, name, "true");
    await row(visit, "読み方.md").locator(".tick").click();
    await expectChecked(visit, "読み方.md", "false");
    for (const name of ["src", "pay"]) await expectChecked(visit, name, "mixed");
    await expect.poll(() => inTray(visit, "src/"), soon).toMatch(/^3 files · ≈ [\d.]+K tokens · without 読み方\.md$/);
    await page.getByRole("button", { name: "Use in…" }).click();
    await page.getByRole("menuitem", { name: /^URIs/ }).click();
    const uris = ["src/charge.ts", "src/pay/logo.bin", "src/pay/retry.ts"].map((path) => `${stage.uriOf(path)}\n`);
    await expect.poll(() => clipboard(visit), soon).toBe(uris.join(""));
    await page.getByRole("button", { name: "Use in…" }).click();
    await page.getByRole("menuitem", { name: /^Contents as Markdown/ }).click();
    await page.getByText("1 without text left out").waitFor();
    await row(visit, "src").locator(".tick").click();
    await expectChecked(visit, "読み方.md", "true");
    await row(visit, "src").locator(".tick").click();
    await expect.poll(() => chosen(visit), soon).toEqual([]);
    expect(visit.troubles).toEqual([]);
  });

  it("a folder is chosen by keyboard and by touch, and what is too much for a set or for gathering is said before", async () => {
    await using visit = await stage.open({ hasTouch: true });
    const { page } = visit;
    await row(visit, "たくさん").click();
    await page.getByRole("tree").focus();
    await page.keyboard.press("Space");
    await expectChecked(visit, "たくさん", "true");
    await expect.poll(() => inTray(visit, "たくさん/"), soon).toMatch(/^520 files · ≈ [\d.]+K tokens$/);
    await page.keyboard.press("Space");
    await expect.poll(() => chosen(visit), soon).toEqual([]);
    await row(visit, "たくさん").locator(".tick").tap();
    await expect.poll(() => inTray(visit, "たくさん/"), soon).toMatch(/^520 files/);
    await page.getByRole("button", { name: "Sets", exact: true }).tap();
    await page.getByText("A set may hold 500 resources; 520 are chosen. Remove some").waitFor();
    await page.getByRole("tab", { name: "Gather" }).click();
    await page.getByRole("checkbox", { name: "Start with the first 50 of the 520 chosen resources" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("says which of them has changed since, until it was seen, and which is gone", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    stage.write("メモ.txt", "one\n");
    stage.write("passing.txt", "one\n");
    for (const name of ["メモ.txt", "passing.txt"]) await row(visit, name).locator(".tick").click();
    const memo = page.locator(".chosen li").filter({ hasText: "メモ.txt" });
    await expect.poll(() => memo.locator(".fact").textContent(), soon).toMatch(/^≈? ?\d+ tokens$/);
    expect(await memo.locator(".change").count()).toBe(0);
    // Changes are noticed once the page watches it.
    let edits = 0;
    const change = memo.getByText("changed since you chose it");
    const edited = async (): Promise<number> => {
      stage.write("メモ.txt", `edit ${(edits += 1)}\n`);
      return change.count();
    };
    await expect.poll(edited, { ...soon, interval: 500 }).toBe(1);
    const seen = async (): Promise<number> => {
      if ((await change.count()) > 0) await memo.getByRole("button", { name: "Seen" }).click({ timeout: 1000 });
      return change.count();
    };
    await expect.poll(seen, soon).toBe(0);
    expect(await focused(visit)).toBe("メモ.txt");
    stage.write("メモ.txt", "one, two, three, four\n");
    await memo.getByText("changed since you chose it").waitFor();
    await page.keyboard.press("Enter");
    await memo.locator(".change").waitFor({ state: "detached" });
    await page.locator(".content").getByText("four").waitFor();
    rmSync(join(stage.root, "passing.txt"));
    await page.locator(".chosen li").filter({ hasText: "passing.txt" }).getByText("no longer exists").waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it.each(locales)("breaks no rule of axe, light and dark, wide and narrow, %s", async (locale) => {
    await using visit = await openToCheck(stage, locale);
    const { page } = visit;
    await row(visit, "設計").click();
    await row(visit, "src").locator(".tick").click();
    await row(visit, "決済の再試行.md").locator(".tick").click();
    await page.locator("#tab-gather").click();
    await page.locator("textarea").fill(task);
    await page.keyboard.press("Control+Enter");
    await page.locator(".receipt input").first().click();
    await page.locator(".chosen li").first().waitFor();
    expect(await visit.violations()).toEqual([]);
  });
});
