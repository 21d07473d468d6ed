import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { textOf, visit } from "../visit.ts";

const client = await visit(fileURLToPath(new URL("server.ts", import.meta.url)));
const { resourceTemplates } = await client.listResourceTemplates();
const [{ uriTemplate: uri } = { uriTemplate: "" }] = resourceTemplates;
assert.equal(uri, "travel://activities/{city}/{category}");

async function suggestions(name: string, value: string, given: Record<string, string> = {}) {
  const { completion } = await client.complete({
    ref: { type: "ref/resource", uri },
    argument: { name, value },
    context: { arguments: given },
  });
  return completion.values;
}
assert.deepEqual(await suggestions("city", "bar"), ["barcelona"]);
assert.deepEqual(await suggestions("category", "", { city: "barcelona" }), ["museums", "beaches"]);
assert.deepEqual(await suggestions("category", "", { city: "京都" }), ["寺", "市場"]);
assert.deepEqual(await suggestions("category", "m", { city: "sapporo" }), ["markets"]);

assert.match(await textOf(client, "travel://activities/barcelona/museums"), /Picasso Museum/);
assert.match(
  await textOf(client, `travel://activities/${encodeURIComponent("京都")}/${encodeURIComponent("寺")}`),
  /清水寺/,
);
await assert.rejects(textOf(client, "travel://activities/barcelona/skiing"), /not found/i);
await assert.rejects(textOf(client, "travel://activities/constructor/name"), /not found/i);

await client.close();
console.log("travel: all is as it should be");
