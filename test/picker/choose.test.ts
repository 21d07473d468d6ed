/** The tray: ordered, counted, saved as a set and opened again. */
import { expect, it } from "vitest";
import type { Visit } from "./browser.ts";
import { chosen, clipboard, focused, locales, mayCopy, openToCheck, row, soon } from "./looking.ts";
import { openStage } from "./browser.ts";
import { onStage } from "./on-stage.ts";

const files = {
  "a.md": "# First\n\nA few words.\n",
  "b.md": "# Second\n\nSome more words than the first.\n",
  "c & d.txt": "third </document> & last\n",
  "e.bin": new Uint8Array([0, 1, 2, 255, 0]),
};
/** As the page tells it to those whose server does not save. */
const savingTools =
  "server: { tools: [search_resources, list_resources, read_resource, gather_context, pick_resources, actions, save_set] }\n";
const config = `mounts: { shelf: { source: file, root: ".", exclude: ["*.yaml"] } }\n${savingTools}`;

async function choose(visit: Visit, ...names: readonly string[]): Promise<void> {
  for (const name of names) await row(visit, name).locator(".tick").click();
  await expect.poll(() => chosen(visit), soon).toEqual(names);
}

onStage("the tray", files, { config }, (stage) => {
  it("is ordered by dragging, by buttons, and by keyboard", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await choose(visit, "a.md", "b.md", "c & d.txt");
    const item = (name: string) => page.locator(".chosen li").filter({ hasText: name });
    await item("c & d.txt").dragTo(item("a.md"), { targetPosition: { x: 40, y: 2 } });
    await expect.poll(() => chosen(visit), soon).toEqual(["c & d.txt", "a.md", "b.md"]);
    await item("c & d.txt").dragTo(item("b.md"), { targetPosition: { x: 40, y: 24 } });
    await expect.poll(() => chosen(visit), soon).toEqual(["a.md", "b.md", "c & d.txt"]);
    await page.getByRole("button", { name: "Move b.md up" }).click();
    await expect.poll(() => chosen(visit), soon).toEqual(["b.md", "a.md", "c & d.txt"]);
    await page.locator(".chosen").getByRole("button", { name: "b.md", exact: true }).focus();
    await page.keyboard.press("Alt+ArrowDown");
    await page.keyboard.press("Alt+ArrowDown");
    await page.keyboard.press("Alt+ArrowDown");
    await expect.poll(() => chosen(visit), soon).toEqual(["a.md", "c & d.txt", "b.md"]);
    await page.getByText("b.md is now 3 of 3").waitFor({ state: "attached" });
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Second" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("leaves the keyboard where it was when something goes or can go no further", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await choose(visit, "a.md", "b.md", "c & d.txt");
    await page.getByRole("button", { name: "Move b.md up" }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await expect.poll(() => chosen(visit), soon).toEqual(["b.md", "a.md", "c & d.txt"]);
    expect(await focused(visit)).toBe("Move b.md up");
    await page.getByRole("button", { name: "Remove a.md" }).focus();
    for (const next of ["Remove c & d.txt", "Remove b.md", "Sets"]) {
      await page.keyboard.press("Enter");
      await expect.poll(() => focused(visit), soon).toBe(next);
    }
    await choose(visit, "a.md");
    await page.getByRole("button", { name: "Clear" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => chosen(visit), soon).toEqual([]);
    expect(await focused(visit)).toBe("Undo");
    expect(visit.troubles).toEqual([]);
  });

  it("says how much of the budget is spent, in words as well", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await choose(visit, "a.md", "e.bin");
    await page.locator(".chosen li").filter({ hasText: "e.bin" }).getByText("no text").waitFor();
    const sum = page.locator(".tray-top .sum");
    await expect.poll(() => sum.textContent(), soon).toMatch(/^(≈ )?\d+ of 16,000 tokens \(0%\)$/);
    await page.getByRole("spinbutton", { name: "Budget" }).fill("1");
    await page.keyboard.press("Tab");
    await expect.poll(() => page.locator(".over").textContent(), soon).toMatch(/^(≈ )?\d+ of 1 tokens \(\d+ over\)$/);
    expect(visit.troubles).toEqual([]);
  });

  it("is saved as a set and opened again, by mouse", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await choose(visit, "b.md", "a.md");
    await page.getByRole("button", { name: "Sets", exact: true }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("mine");
    await page.getByRole("button", { name: "Save as a set" }).click();
    await page.getByText("Saved as “mine”").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await expect.poll(() => chosen(visit), soon).toEqual([]);
    await page.locator(".sets").getByRole("button", { name: "mine", exact: true }).click();
    await page.getByText("“mine” is open").waitFor();
    await expect.poll(() => chosen(visit), soon).toEqual(["b.md", "a.md"]);
    expect(visit.troubles).toEqual([]);
  });

  it("is saved as a set and opened again, by keyboard, and says what is wrong with a name", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "c & d.txt").waitFor();
    await page.getByRole("tree").focus();
    await page.keyboard.type("c");
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Sets", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Name" }).focus();
    await page.keyboard.type("no/such");
    await page.keyboard.press("Enter");
    await page.locator(".sets").getByText("This failed").waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("keyed");
    await page.keyboard.press("Enter");
    await page.getByText("Saved as “keyed”").waitFor();
    await page.getByRole("button", { name: "Remove c & d.txt" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => chosen(visit), soon).toEqual([]);
    await page.locator(".sets").getByRole("button", { name: "keyed", exact: true }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => chosen(visit), soon).toEqual(["c & d.txt"]);
    expect(visit.troubles).toEqual([]);
  });

  it.each(locales)("breaks no rule of axe, light and dark, wide and narrow, %s", async (locale) => {
    await using visit = await openToCheck(stage, locale);
    await choose(visit, "a.md", "b.md");
    await visit.page.locator("[aria-controls=sets]").click();
    await visit.page.locator(".sets form").waitFor();
    expect(await visit.violations()).toEqual([]);
  });

  it("goes into the config for those who are not the owner, with what to write so that they can save", async () => {
    // With another name and no token, nobody is the owner.
    const other = await openStage(files, { allowedHosts: ["press.example"] });
    try {
      await using visit = await other.open(mayCopy);
      const { page } = visit;
      await choose(visit, "b.md", "a.md");
      await page.getByRole("button", { name: "Sets", exact: true }).click();
      await page.getByText("none saved yet").waitFor();
      await page.getByRole("textbox", { name: "Name" }).fill("mine");
      await page.getByRole("button", { name: "Copy for the config" }).click();
      const uris = ["b.md", "a.md"].map((name) => `      - "${other.uriOf(name)}"\n`).join("");
      await expect.poll(() => clipboard(visit), soon).toBe(`sets:\n  "mine":\n    resources:\n${uris}`);
      await page.getByRole("button", { name: "Copy this" }).click();
      await expect.poll(() => clipboard(visit), soon).toBe(savingTools);
      expect(visit.troubles).toEqual([]);
    } finally {
      await other.close();
    }
  });
});
