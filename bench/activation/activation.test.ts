import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpointOf } from "./endpoint.ts";
import { evaluate } from "./evaluate.ts";
import { formNames } from "./forms.ts";
import { project } from "./project.ts";
import { summarize, table } from "./report.ts";
import { startStandIn } from "./stand-in.ts";
import { tasks } from "./tasks.ts";
import { openShop, type Shop } from "./visit.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop[Symbol.asyncDispose]());

describe("the tasks", () => {
  it("are at least twelve, in two languages, and each is answered where it says and nowhere else", () => {
    expect(tasks.length).toBeGreaterThanOrEqual(12);
    expect(new Set(tasks.map(({ name }) => name)).size).toBe(tasks.length);
    expect(new Set(tasks.map(({ language }) => language))).toEqual(new Set(["en", "ja"]));
    for (const { name, right, answer, question } of tasks) {
      const holding = Object.keys(project).filter((path) => answer.test(project[path]!));
      expect(holding, name).toEqual(right);
      expect(question, name).not.toMatch(answer);
    }
  });
});

describe.for(["openai", "anthropic"] as const)("the evaluation, with a script that speaks %s", (dialect) => {
  it("shows what each form makes possible, through the real server", async () => {
    await using standIn = await startStandIn({ key: "k" });
    expect(shop.isSearchable).toBe(true);
    const endpoint = { dialect, url: standIn.urls[dialect], model: "script", key: "k" };
    const some = tasks.filter(({ name }) => name === "idempotency" || name === "yosan");
    const trials = await evaluate({ endpoint, shop, forms: formNames, tasks: some, repeat: 1, turns: 6 });
    const summary = summarize(trials);
    expect(trials.filter(({ failure }) => failure !== undefined)).toEqual([]);
    expect(summary.map(({ form }) => form)).toEqual([...formNames]);
    const right = Object.fromEntries(summary.map((each) => [each.form, each.right]));
    expect(right).toMatchObject({ bare: 0, instructions: 1, both: 1 });
    expect(trials.find(({ form, task }) => form === "tools" && task === "idempotency")).toMatchObject({
      reads: ["docs/adr/0007-idempotency.md"],
      calls: ["search_resources", "read_resource"],
      isRight: true,
      isFirst: true,
      isAnswered: true,
    });
    expect(table(summary).split("\n")).toHaveLength(5);

    // What the model was really shown.
    const systems = standIn.asked.map(({ body }) => JSON.stringify(body));
    expect(systems.some((each) => each.includes("Instructions of the MCP server pressmark"))).toBe(true);
    expect(systems.some((each) => each.includes("Search before you answer questions about"))).toBe(true);
    expect(systems.some((each) => each.includes("Its resources:") && each.includes("refunds.md"))).toBe(true);
  });
});

describe("what goes wrong", () => {
  it("with a model is written down, and the others go on", async () => {
    await using standIn = await startStandIn({ key: "k" });
    const endpoint = { dialect: "openai" as const, url: standIn.urls.openai, model: "script", key: "wrong" };
    const trials = await evaluate({ endpoint, shop, forms: ["bare"], tasks: tasks.slice(0, 2), repeat: 1, turns: 2 });
    expect(trials.map(({ failure }) => failure)).toEqual(Array(2).fill(expect.stringContaining("401")));
    const short = await evaluate({
      endpoint: { ...endpoint, key: "k" },
      shop,
      forms: ["tools"],
      tasks: tasks.slice(0, 1),
      repeat: 1,
      turns: 1,
    });
    expect(short).toMatchObject([{ failure: "no answer after 1 turns", isRight: false }]);
  });

  it("with the environment is said before anything is started", async () => {
    expect(endpointOf({})).toBeUndefined();
    expect(() => endpointOf({ ACTIVATION_KEY: "k" })).toThrow("in part only");
    expect(
      endpointOf({ ACTIVATION_DIALECT: "openai", ACTIVATION_URL: "u", ACTIVATION_MODEL: "m", ACTIVATION_KEY: "k" }),
    ).toEqual({ dialect: "openai", url: "u", model: "m", key: "k" });
    const run = promisify(execFile)(process.execPath, [join(import.meta.dirname, "run.ts")], { env: {} });
    await expect(run).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("ACTIVATION_MODEL") });
  });
});
