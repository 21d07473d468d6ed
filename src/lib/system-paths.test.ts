import { expect, it } from "vitest";
import { cacheFolder, stateFolder } from "./system-paths.ts";

it.each([
  ["linux", {}, "/home/me/.local/state/pressmark"],
  ["linux", { XDG_STATE_HOME: "/state" }, "/state/pressmark"],
  ["linux", { XDG_STATE_HOME: "state" }, "/home/me/.local/state/pressmark"],
  ["darwin", { XDG_STATE_HOME: "/state" }, "/home/me/Library/Application Support/pressmark"],
  ["win32", { LOCALAPPDATA: "/local" }, "/local/pressmark"],
  ["win32", {}, "/home/me/AppData/Local/pressmark"],
] as const)("state on %s with %j is kept in %s", (platform, env, folder) => {
  expect(stateFolder({ platform, home: "/home/me", env })).toBe(folder);
});

it.each([
  ["linux", {}, "/home/me/.cache/pressmark"],
  ["linux", { XDG_CACHE_HOME: "/cache" }, "/cache/pressmark"],
  ["linux", { XDG_CACHE_HOME: "cache" }, "/home/me/.cache/pressmark"],
  ["darwin", { XDG_CACHE_HOME: "/cache" }, "/home/me/Library/Caches/pressmark"],
  ["win32", { LOCALAPPDATA: "/local" }, "/local/pressmark/Cache"],
  ["win32", {}, "/home/me/AppData/Local/pressmark/Cache"],
] as const)("what can be made again on %s with %j is kept in %s", (platform, env, folder) => {
  expect(cacheFolder({ platform, home: "/home/me", env })).toBe(folder);
});
