/** Things to do in a city: which kinds there are to choose from depends on the city that was chosen. */
import { createProtocol, createResources, createRuntime, notFound, openPolicy, serveStdio } from "pressmark";
import { createMemory } from "pressmark/sources/memory";

const listed = {
  barcelona: { museums: ["Picasso Museum", "Fundació Joan Miró"], beaches: ["Barceloneta"] },
  京都: { 寺: ["清水寺", "龍安寺"], 市場: ["錦市場"] },
  sapporo: { skiing: ["Teine"], markets: ["Nijo Market"] },
};
// A caller may ask for any name, and every object has more of them ("constructor") than were given to it.
const activities = new Map(Object.entries(listed).map(([city, kinds]) => [city, new Map(Object.entries(kinds))]));
const template = "activities/{city}/{category}";

const { source } = createMemory(
  {},
  {
    templates: [
      {
        template,
        name: "Activities",
        description: "What there is to do in a city, by category",
        mimeType: "application/json",
        read({ city = "", category = "" }) {
          const found = activities.get(city)?.get(category);
          if (!found) throw notFound(`travel://activities/${city}/${category}`);
          return [{ body: { text: JSON.stringify({ city, category, found }) }, mimeType: "application/json" }];
        },
        complete(variable, value, { city }) {
          const names = variable === "city" ? activities.keys() : (activities.get(city ?? "")?.keys() ?? []);
          return [...names].filter((name) => name.startsWith(value));
        },
      },
    ],
  },
);

const resources = createResources({
  mounts: [{ name: "travel", base: "travel://", source }],
  policy: openPolicy,
  runtime: createRuntime(process.stderr),
  cursorKey: crypto.getRandomValues(new Uint8Array(32)),
});
await serveStdio(createProtocol({ resources, server: { name: "travel", version: "1.0.0" } }));
await resources.close();
