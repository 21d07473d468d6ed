/** Imported before tests of the Node handler, it runs them over the fetch handler. */
import { underTest } from "./test-server.ts";

underTest.isFetch = true;
