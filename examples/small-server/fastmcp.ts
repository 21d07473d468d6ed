/** The same server with FastMCP, to compare. */
import { FastMCP } from "fastmcp";
import { z } from "zod";

const skies = new Map([
  ["kobe", "rain"],
  ["kyoto", "sun"],
]);
const complete = async (typed: string) => ({ values: [...skies.keys()].filter((city) => city.startsWith(typed)) });

const server = new FastMCP({ name: "weather", version: "1.0.0" });

server.addResource({
  uri: "weather://about.md",
  name: "about.md",
  mimeType: "text/markdown",
  load: async () => ({ text: "# Weather\n\nForecasts for cities in Japan" }),
});

server.addResource({
  uri: "weather://cities.json",
  name: "cities.json",
  mimeType: "application/json",
  load: async () => ({ text: JSON.stringify([...skies.keys()], undefined, 2) }),
});

server.addResourceTemplate({
  uriTemplate: "weather://forecast/{city}{?days}",
  name: "forecast",
  description: "The weather in a city on the next days",
  mimeType: "text/markdown",
  arguments: [{ name: "city", required: true, complete }, { name: "days" }],
  load: async ({ city, days = "1" }) => {
    const sky = skies.get(city);
    if (!sky) throw new Error(`no city ${city}`);
    return { text: `# ${city}\n\n${sky}, days: ${days}` };
  },
});

server.addTool({
  name: "find_weather",
  description: "Find the cities with this weather.",
  parameters: z.object({ sky: z.enum(["rain", "sun"]) }),
  annotations: { readOnlyHint: true },
  execute: async ({ sky }) => ({
    content: [...skies]
      .filter(([, each]) => each === sky)
      .map(([city]) => ({
        type: "resource_link" as const,
        uri: `weather://forecast/${encodeURIComponent(city)}`,
        name: city,
        title: city,
        mimeType: "text/markdown",
      })),
  }),
});

server.addPrompt({
  name: "pack",
  description: "What to pack for a journey",
  arguments: [
    { name: "city", description: "Where to", required: true, complete },
    { name: "days", description: "How long" },
  ],
  load: async ({ city = "", days }) => {
    const query = days === undefined ? "" : `?days=${encodeURIComponent(days)}`;
    const {
      uri,
      mimeType,
      text = "",
    } = await server.embedded(`weather://forecast/${encodeURIComponent(city)}${query}`);
    return {
      messages: [
        { role: "user", content: { type: "text", text: `What do I pack for ${city}?` } },
        { role: "user", content: { type: "resource", resource: { uri, mimeType, text } } },
      ],
    };
  },
});

await server.start({ transportType: "stdio" });
