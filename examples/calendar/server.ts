/** A calendar: a resource per year, any year through a template, and an event that is added while someone listens. */
import { createProtocol, createResources, createRuntime, notFound, openPolicy, serveStdio } from "pressmark";
import { createMemory } from "pressmark/sources/memory";

type Event = readonly [day: string, what: string];

const events: Record<string, Event[]> = {
  "2025": [["2025-11-25", "A revision of the protocol"]],
  "2026": [["2026-07-28", "Another revision of the protocol"]],
};
const toJson = (year: string) => JSON.stringify({ year, events: events[year] ?? [] }, undefined, 2);
const resource = (year: string) => ({ text: toJson(year), mimeType: "application/json", title: `Events of ${year}` });

const { source, set } = createMemory(
  Object.fromEntries(Object.keys(events).map((year) => [`events/${year}`, resource(year)])),
  {
    templates: [
      {
        template: "events/{year}",
        name: "Events of a year",
        mimeType: "application/json",
        read({ year = "" }) {
          if (!/^\d{4}$/.test(year)) throw notFound(`calendar://events/${year}`);
          return [{ body: { text: toJson(year) }, mimeType: "application/json" }];
        },
        complete: (_variable, value) => Object.keys(events).filter((year) => year.startsWith(value)),
      },
    ],
  },
);

// A calendar of the real world would hear of this from elsewhere.
process.once("SIGUSR2", () => {
  events["2026"]?.push(["2026-12-24", "Everybody goes home"]);
  set("events/2026", resource("2026"));
});

const resources = createResources({
  mounts: [{ name: "calendar", base: "calendar://", source }],
  policy: openPolicy,
  runtime: createRuntime(process.stderr),
  cursorKey: crypto.getRandomValues(new Uint8Array(32)),
});
await serveStdio(createProtocol({ resources, server: { name: "calendar", version: "1.0.0" } }));
await resources.close();
