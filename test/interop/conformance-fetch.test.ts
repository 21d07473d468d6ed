/** The official conformance suite over the fetch handler. */
import "./serve-by-fetch.ts";
import "./conformance.test.ts";
