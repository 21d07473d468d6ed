/** Holds listens open from a process of its own, because one process may not have descriptors enough for all. */
import { openListens } from "./listens.ts";

const [port, path = "", uri = "", count] = process.argv.slice(2);
const listens = await openListens(Number(port), path, uri, Number(count));
process.once("disconnect", () => listens.close());
process.send?.("ready");
