/** Where the house keeps what must outlive it. Sources that keep something of their own ask the same functions. */
export { cacheFolder, homeFolder, stateFolder, type SystemPaths } from "../lib/system-paths.ts";
