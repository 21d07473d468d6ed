/** The picker of a server with a token, in a real browser. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { onStage } from "./on-stage.ts";

const token = "0123456789abcdef0123456789abcdef";

onStage("the picker behind a token", { "README.md": "# Welcome\n" }, { env: { PRESSMARK_TOKEN: token } }, (stage) => {
  it("opens by the printed address, which leaves no code behind, and works from then on", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await page.getByRole("treeitem").filter({ hasText: "README.md" }).click();
    await page.getByRole("heading", { name: "Welcome" }).waitFor();
    expect(page.url()).toBe(stage.url);
    expect(await page.evaluate("document.cookie")).toBe("");
    stage.write("README.md", "# Welcome back\n");
    await page.getByRole("heading", { name: "Welcome back" }).waitFor();
    await page.reload();
    await page.getByRole("treeitem").filter({ hasText: "README.md" }).waitFor();
    await page.getByRole("button", { name: "State" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("tells a browser without a way in what to do, and one whose way in has ended", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await page.getByRole("treeitem").first().waitFor();
    await page.context().clearCookies();
    await page.reload();
    await page.getByText("Open the address that pressmark serve printed").waitFor();
    await page.goto(stage.server.invite());
    await page.getByRole("treeitem").first().waitFor();
  });

  it("lets a person in who types a token, and nobody with a wrong one", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await page.getByRole("treeitem").first().waitFor();
    await page.context().clearCookies();
    await page.reload();
    await page.getByLabel("Or sign in with your token").fill("a wrong token of some length");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("This token is not valid").waitFor();
    await page.getByLabel("Or sign in with your token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("treeitem").first().waitFor();
    expect(page.url()).toBe(stage.url);
  });

  it("gives nothing to a page of another origin, whatever it sends along", async () => {
    const other = createServer((_request, response) =>
      response.setHeader("Content-Type", "text/html").end("<p>other</p>"),
    );
    await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
    try {
      await using visit = await stage.open();
      const { page } = visit;
      await page.getByRole("treeitem").first().waitFor();
      await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
      const stolen = await page.evaluate(
        `Promise.all(["GET", "POST"].map((method) => fetch(${JSON.stringify(stage.server.url)}, { method, credentials: "include", mode: "no-cors", ...(method === "POST" && { body: "{}" }) }).then((answer) => answer.type + answer.status, (error) => error.name)))`,
      );
      expect(stolen).toEqual(["TypeError", "TypeError"]);
      const read = await page.evaluate(
        `fetch(${JSON.stringify(stage.url)}, { credentials: "include" }).then((answer) => answer.text(), (error) => error.name)`,
      );
      expect(read).toBe("TypeError");
    } finally {
      other.close();
      other.closeAllConnections();
    }
  });
});
