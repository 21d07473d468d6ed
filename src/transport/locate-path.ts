/** Finds the path of a request below the path where a handler is mounted. */
import { invalid, quote } from "../errors.ts";

export interface LocatedPath {
  readonly path: string;
  /** What precedes it in URLs of clients; "" at the root. */
  readonly basePath: string;
  /** False if a base path is configured and neither URL begins with it: a framework may have removed it, or it never was there. */
  readonly isBelowBase: boolean;
}

interface PathOptions {
  /** Path of the MCP endpoint. A base path is this endpoint, too. */
  readonly endpoint: string;
  /** Default: what the framework has removed from the URL. */
  readonly basePath?: string;
}

/**
 * Returns a function that splits a path. Routers remove the path of a mount from `url` and keep the whole one as `originalUrl`; a
 * configured base path may still be in `url`, or have been removed.
 */
export function createPathLocator({ endpoint, basePath: configured }: PathOptions) {
  const base = configured === undefined ? "" : withoutSlash(configured);

  function below(basePath: string, path: string, isBelowBase = true): LocatedPath {
    return { basePath, path: basePath !== "" && (path === "/" || path === "") ? endpoint : path, isBelowBase };
  }

  return (url: string, originalUrl: string = url): LocatedPath => {
    const path = url === endpoint ? url : pathOf(url);
    if (base !== "") {
      if (isBelow(base, path)) return below(base, path.slice(base.length));
      return below(base, path, originalUrl !== url && isBelow(base, pathOf(originalUrl)));
    }
    if (originalUrl === url) return { basePath: "", path, isBelowBase: true };
    const whole = pathOf(originalUrl);
    if (path !== "" && whole.endsWith(path)) return below(ofThisSite(whole.slice(0, -path.length)), path);
    // The mount itself: "/mcp" becomes "/". Any other URL was rewritten, and nobody knows how.
    return path === "/" ? below(ofThisSite(whole), path) : { basePath: "", path, isBelowBase: true };
  };
}

function isBelow(base: string, path: string): boolean {
  return path.startsWith(base) && (path.length === base.length || path[base.length] === "/");
}

export function pathOf(url: string): string {
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
}

function withoutSlash(basePath: string): string {
  if (!basePath.startsWith("/")) throw invalid(`the base path ${quote(basePath)} must begin with "/"`);
  return basePath.endsWith("/") ? basePath.slice(0, -1) : basePath;
}

/** Two slashes would begin the name of another host, and URLs treat a backslash as a slash. */
function ofThisSite(basePath: string): string {
  let at = 0;
  while (basePath[at] === "/" || basePath[at] === "\\") at++;
  return at > 1 ? `/${basePath.slice(at)}` : basePath;
}
