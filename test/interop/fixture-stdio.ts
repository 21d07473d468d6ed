/** The fixture as a program over stdio. */
import { serveStdio } from "../../src/transport/stdio.ts";
import { openFixture } from "./fixture.ts";

await using fixture = await openFixture();
await serveStdio(fixture.edge);
