import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { textOf, visit } from "../visit.ts";

const uriTemplate = "weather://forecast/{city}{?days}";

// Both servers give the same answers; they differ in length, and in what a caller is told of a missing city.
for (const [program, missing] of [
  ["server.mts", /not found/i],
  ["fastmcp.ts", /no city atlantis/],
] as const) {
  const client = await visit(fileURLToPath(new URL(program, import.meta.url)));

  const { resources } = await client.listResources();
  assert.deepEqual(
    resources.map(({ uri, mimeType }) => [uri, mimeType]),
    [
      ["weather://about.md", "text/markdown"],
      ["weather://cities.json", "application/json"],
    ],
  );
  assert.deepEqual(JSON.parse(await textOf(client, "weather://cities.json")), ["kobe", "kyoto"]);

  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(
    resourceTemplates.map((template) => template.uriTemplate),
    [uriTemplate],
  );
  assert.equal(await textOf(client, "weather://forecast/kyoto"), "# kyoto\n\nsun, days: 1");
  assert.equal(await textOf(client, "weather://forecast/kobe?days=3"), "# kobe\n\nrain, days: 3");
  await assert.rejects(textOf(client, "weather://forecast/atlantis"), missing);

  for (const ref of [
    { type: "ref/resource", uri: uriTemplate },
    { type: "ref/prompt", name: "pack" },
  ] as const) {
    const { completion } = await client.complete({ ref, argument: { name: "city", value: "ky" } });
    assert.deepEqual(completion.values, ["kyoto"]);
  }

  const { content } = await client.callTool({ name: "find_weather", arguments: { sky: "sun" } });
  assert.deepEqual(
    content.map((block) => block.type === "resource_link" && block.uri),
    ["weather://forecast/kyoto"],
  );

  const { messages } = await client.getPrompt({ name: "pack", arguments: { city: "kobe", days: "2" } });
  assert.deepEqual(
    messages.map(({ content: block }) => (block.type === "resource" ? block.resource : block)),
    [
      { type: "text", text: "What do I pack for kobe?" },
      { uri: "weather://forecast/kobe?days=2", mimeType: "text/markdown", text: "# kobe\n\nrain, days: 2" },
    ],
  );
  await client.close();
}
console.log("small-server: all is as it should be");
