/** The resources that the conformance suite asks for. */
import { createMemory, type Memory } from "../../src/sources/memory.ts";
import { png } from "./fixture-media.ts";

/** All of them stand below `test://`. */
export function createFixtureMemory(): Memory {
  return createMemory(
    {
      "static-text": { text: "This is the content of the static text resource.", mimeType: "text/plain" },
      "static-binary": { bytes: png, mimeType: "image/png" },
      "watched-resource": { text: "Watch me.", mimeType: "text/plain" },
      "embedded-resource": { text: "This is an embedded resource content.", mimeType: "text/plain" },
      "example-resource": { text: "Embedded resource content for testing.", mimeType: "text/plain" },
      "mixed-content-resource": { text: '{"test":"data","value":123}', mimeType: "application/json" },
    },
    {
      templates: [
        {
          template: "template/{id}/data",
          name: "data",
          description: "The data of an id",
          mimeType: "application/json",
          read: ({ id = "" }) => [
            {
              body: { text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) },
              mimeType: "application/json",
            },
          ],
          complete: (_variable, value) => ["123", "124", "200"].filter((id) => id.startsWith(value)),
        },
      ],
    },
  );
}
