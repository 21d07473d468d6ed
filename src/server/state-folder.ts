/** Re-exports the system folders for the server; sources use the same functions. */
export { cacheFolder, homeFolder, stateFolder, type SystemPaths } from "../lib/system-paths.ts";
