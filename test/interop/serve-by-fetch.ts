/** Imported before tests with fixtures, it serves them by the fetch handler. */
import { servedBy } from "./fixture.ts";

servedBy.fetch = true;
