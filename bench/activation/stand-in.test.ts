import { describe, expect, it } from "vitest";
import { ask, type Conversation, type Dialect } from "./dialects.ts";
import { decide, startStandIn } from "./stand-in.ts";

const search = { name: "search_resources", description: "d", schema: { type: "object" } };
const started: Conversation = { system: "s", turns: [{ who: "user", text: "where is the ink?" }], tools: [search] };

describe.for(["openai", "anthropic"] as const)("the stand-in, asked as %s", (dialect: Dialect) => {
  const endpoint = (url: string, key = "k") => ({ dialect, url, model: "m", key });

  it("uses a tool, is given its result, uses the next, and answers", async () => {
    await using standIn = await startStandIn({ key: "k" });
    const model = endpoint(standIn.urls[dialect]);
    const first = await ask(model, started);
    expect(first).toMatchObject({
      text: "",
      uses: [{ name: "search_resources", arguments: { query: "where is the ink?" } }],
    });
    const found = [{ id: first.uses[0]!.id, text: "1 result\n\n1. ink.txt\nfile:///ink.txt\nbelow" }];
    const turns = [...started.turns, { who: "model", ...first } as const, { who: "tools", results: found } as const];
    const second = await ask(model, { ...started, turns });
    expect(second.uses).toMatchObject([{ name: "read_resource", arguments: { uri: "file:///ink.txt" } }]);
    const read = [{ id: second.uses[0]!.id, text: "in the blue shelf" }];
    const all = [...turns, { who: "model", ...second } as const, { who: "tools", results: read } as const];
    expect(await ask(model, { ...started, turns: all })).toEqual({ text: "in the blue shelf", uses: [] });
  });

  it("turns a stranger away, and a wrong question", async () => {
    await using standIn = await startStandIn({ key: "k" });
    await expect(ask(endpoint(standIn.urls[dialect], "other"), started)).rejects.toThrow("the model answered 401");
    await expect(ask(endpoint(`${standIn.urls[dialect]}/else`), started)).rejects.toThrow("the model answered 404");
    const path = dialect === "openai" ? "/chat/completions" : "/v1/messages";
    const headers = { Authorization: "Bearer k", "x-api-key": "k" };
    for (const body of ["{", "{}", '{"model":"m","messages":7}']) {
      const response = await fetch(standIn.urls[dialect] + path, { method: "POST", headers, body });
      expect(response.status).toBe(400);
    }
  });

  it("is asked again when it is busy, and given up when it stays so", async () => {
    await using standIn = await startStandIn({ key: "k", busy: 2 });
    expect((await ask(endpoint(standIn.urls[dialect]), started)).uses).toHaveLength(1);
    await using always = await startStandIn({ key: "k", busy: 100 });
    await expect(ask(endpoint(always.urls[dialect]), started)).rejects.toThrow("the model answered 429");
  });
});

describe("the script", () => {
  const scene = { system: "", question: "How long is the refund window?", tools: ["read_mcp_resource"], done: [] };

  it("reads nothing of a bare list, and what fits best when it is told to look", () => {
    const list = "- refunds.md: file:///a/refunds.md\n- shipping.md: file:///a/shipping.md";
    expect(decide({ ...scene, system: list })).toEqual({ say: "I do not know." });
    expect(decide({ ...scene, system: `${list}\nLook into it before you answer questions.` })).toEqual({
      use: "read_mcp_resource",
      with: { server: "pressmark", uri: "file:///a/refunds.md" },
    });
  });

  it("looks at the list only when it is told to and a search found nothing", () => {
    const tools = ["search_resources", "list_resources", "read_resource"];
    const done = [{ tool: "search_resources", result: "Nothing found." }];
    expect(decide({ ...scene, tools, done })).toEqual({ say: "I do not know." });
    const told = { ...scene, tools, system: "Search before you answer." };
    expect(decide({ ...told, done })).toEqual({ use: "list_resources", with: {} });
    const listed = [...done, { tool: "list_resources", result: "file:///refunds.md (text/markdown, 4 bytes)" }];
    expect(decide({ ...told, done: listed })).toEqual({ use: "read_resource", with: { uri: "file:///refunds.md" } });
  });
});
