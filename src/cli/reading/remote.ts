/** Connects the reading commands to another server. */
import type { Writable } from "node:stream";
import { notFound, ResourceError, toResourceError } from "../../errors.ts";
import { encodeReadableUri } from "../../lib/readable-uri.ts";
import type { Call, Page, Resource, Resources, Template } from "../../resources.ts";
import { spellingsOf, withoutSlash } from "../../server/locate.ts";
import { UsageError, type CommandContext } from "../command.ts";
import { readHeaders } from "./headers.ts";
import type { ResourceAccess, ReachRoot } from "./resource-access.ts";
import { splitCommand } from "./split-command.ts";
import { explainUnreachable } from "./unreachable.ts";
import { urisOfPath } from "./uris-of-path.ts";

/** Time limit for connecting and the first lists. */
const openingMs = 60_000;

/** `server` is a URL, or a command that starts a server. */
export async function openRemote(
  server: string,
  header: readonly string[],
  world: RemoteWorld,
): Promise<ResourceAccess> {
  const pressmark = await connectTo(server, header, world);
  const roots = await findRoots(pressmark).catch(async (cause: unknown) => {
    await pressmark.close();
    throw explainUnreachable(cause, server);
  });
  return {
    resources: pressmark,
    roots,
    locate: (where, call) => locate(where, roots, pressmark, call),
    close: () => pressmark.close(),
  };
}

interface RemoteWorld extends Pick<CommandContext, "folder" | "env" | "version"> {
  readonly err: Pick<Writable, "write">;
}

async function connectTo(server: string, header: readonly string[], { folder, env, version, err }: RemoteWorld) {
  const options = {
    client: { name: "pressmark", version },
    watchLost(failure: ResourceError) {
      // A token that was revoked does not become valid again.
      if (failure.kind === "denied") return true;
      const { message } = toResourceError(explainUnreachable(failure, server));
      err.write(`pressmark: changes are not reported at present, trying again: ${message}\n`);
      return false;
    },
  };
  const isAddress = /^https?:/i.test(server);
  if (!isAddress && header.length > 0)
    throw new UsageError("--header works only with a URL; a program reads its settings from the environment");
  const headers = await readHeaders(header, { env, folder });
  try {
    if (isAddress) return await (await import("../../client/connect.ts")).connect(server, { ...options, headers });
    const [command, ...args] = splitCommand(server);
    const { connectProgram } = await import("../../client/program.ts");
    // The program gets the user's environment.
    const seen = Object.fromEntries(
      Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined),
    );
    return await connectProgram({ command, args, cwd: folder, env: seen }, options);
  } catch (cause) {
    if (cause instanceof ResourceError && cause.kind === "denied" && header.length === 0)
      throw new ResourceError(
        "denied",
        `the server requires authentication; pass a token with --header 'Authorization: Bearer \${env:TOKEN}'`,
        { cause },
      );
    throw explainUnreachable(cause, server);
  }
}

/** Common URI prefixes, as far as the first pages show. Paths mean files, if there are any. */
async function findRoots(pressmark: Resources): Promise<readonly ReachRoot[]> {
  const call: Call = { caller: { id: "local" }, signal: AbortSignal.timeout(openingMs) };
  const { items, next } = await pressmark.list({}, call).catch(orNothing<Resource>);
  const { items: templates } = await pressmark.templates({}, call).catch(orNothing<Template>);
  const starts = templates.map(({ uriTemplate }) => startOf(uriTemplate));
  const places = new Map<string, string>();
  for (const { uri } of items) {
    const place = /^[^:]+:\/\/[^/?#]*\//.exec(uri)?.[0];
    if (place === undefined) continue;
    const known = places.get(place) ?? uri.slice(0, uri.lastIndexOf("/") + 1);
    places.set(place, inCommon(known, uri));
  }
  const hasFiles = [...places.keys()].some(isOfFiles);
  return [...places].map(([place, common]) => {
    const matching = starts.filter((start) => start.startsWith(place) && common.startsWith(start));
    // URIs on later pages may be anywhere below `place`.
    const base =
      matching.toSorted((one, other) => one.length - other.length)[0] ?? (next === undefined ? common : place);
    return { base, uri: base.replace(/(?<=[^:/])\/$/, ""), acceptsPaths: isOfFiles(place) || !hasFiles };
  });
}

function isOfFiles(uri: string): boolean {
  return uri.startsWith("file:");
}

function orNothing<T>(cause: unknown): Page<T> {
  if (cause instanceof ResourceError && cause.kind === "unsupported") return { items: [] };
  throw cause;
}

/** The directory that contains every expansion of a template. */
function startOf(template: string): string {
  const literal = template.slice(0, (template + "{").indexOf("{"));
  return literal.slice(0, literal.lastIndexOf("/") + 1);
}

function inCommon(directory: string, uri: string): string {
  let end = 0;
  for (let at = 0; at < directory.length && directory[at] === uri[at]; at += 1) if (uri[at] === "/") end = at + 1;
  return directory.slice(0, end);
}

/** Resolves a URI, or a path below one of the roots, to a URI. Paths are looked for in all roots, last in those that accept none. */
async function locate(where: string, roots: readonly ReachRoot[], pressmark: Resources, call: Call): Promise<string> {
  if (/^[a-z][a-z0-9+.-]*:/i.test(where)) {
    const encoded = encodeReadableUri(where);
    // A server may also have URIs with letters beyond ASCII.
    const uri = encoded === where || (await isThere(where, pressmark, call)) ? where : encoded;
    return withoutSlash(uri, (each) => isThere(each, pressmark, call));
  }
  const preferred = roots.toSorted((one, other) => Number(other.acceptsPaths) - Number(one.acceptsPaths));
  for (const spelling of spellingsOf(where)) {
    const path = spelling.split("/").filter((name) => name !== "" && name !== ".");
    for (const { base, uri: root } of preferred)
      for (const uri of path.length === 0 ? [root] : urisOfPath(base, path.join("/")))
        if (await isThere(uri, pressmark, call)) return uri;
  }
  throw notFound(where);
}

async function isThere(uri: string, pressmark: Resources, call: Call): Promise<boolean> {
  for (const look of [() => pressmark.stat(uri, call), () => pressmark.children(uri, {}, call)])
    try {
      await look();
      return true;
    } catch (cause) {
      if (!(cause instanceof ResourceError) || (cause.kind !== "not-found" && cause.kind !== "invalid")) throw cause;
    }
  return false;
}
