/** Responses of the fake: files, changes, exports and channels, each as one account sees them. */
import { createHash, randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { project } from "./fields.ts";
import { parseDriveQuery } from "./query.ts";
import type { FakeStore, StoredFile } from "./stored.ts";
import type { FakeWebhooks } from "./webhooks.ts";

/** A status, a reason with its status, no response, or an invalid one. */
export type FakeRefusal = number | readonly [status: number, reason: string] | "hang" | "garbage";

interface FakeRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The account of the request. */
  readonly user: string;
}

interface Surroundings {
  readonly store: FakeStore;
  readonly webhooks: FakeWebhooks;
  readonly rootId: string;
  readonly origin: () => string;
  readonly exportLimit: () => number;
}

const folderType = "application/vnd.google-apps.folder";
const usualFields = "kind,id,name,mimeType";

export function refuse(response: ServerResponse, how: FakeRefusal): void {
  if (how === "hang") return;
  if (how === "garbage") return void response.end("<html>It works!</html>");
  const [status, reason] = typeof how === "number" ? [how, reasonFor(how)] : how;
  say(response, status, {
    error: {
      code: status,
      message: `said by the fake: ${reason}`,
      errors: [{ domain: "global", reason, message: "" }],
    },
  });
}

export function createAnswers({ store, webhooks, rootId, origin, exportLimit }: Surroundings) {
  /** Tokens are opaque to clients. */
  const tokens = new Map<string, object>();
  const downloads = new Map<string, { readonly bytes: Buffer; looks: number }>();
  let incompleteLeft = 0;

  function seal(intended: object): string {
    const token = randomUUID();
    tokens.set(token, intended);
    return token;
  }

  const open = <T extends object>(token: string | null, kind: string): T | undefined => {
    const intended = tokens.get(token ?? "");
    return intended && "kind" in intended && intended.kind === kind ? (intended as T) : undefined;
  };

  function describe(file: StoredFile, user: string): object {
    const isShared = file.driveId !== undefined;
    const body = bytesOf(file.content);
    return {
      kind: "drive#file",
      id: file.id,
      name: file.name,
      mimeType: file.mimeType,
      description: file.description,
      parents: file.parent === undefined ? undefined : [file.parent],
      driveId: file.driveId,
      version: String(file.version),
      modifiedTime: file.modifiedTime,
      trashed: file.isTrashed,
      ...(body && { size: String(body.length), md5Checksum: createHash("md5").update(body).digest("hex") }),
      ...(file.target !== undefined && { shortcutDetails: { targetId: file.target } }),
      capabilities: { canDownload: file.canDownload !== false },
      // Not returned for files in a shared drive, nor to those who may not share the file.
      ...(!isShared && file.owner === user && { permissions: permissionsOf(file) }),
    };
  }

  function permissionsOf(file: StoredFile): object[] {
    const members = file.driveId === undefined ? [file.owner] : (store.drives.get(file.driveId)?.members ?? []);
    return [...members.map((emailAddress) => ({ type: "user", emailAddress })), ...(file.permissions ?? [])];
  }

  function find(id: string, { user, url }: FakeRequest): StoredFile | undefined {
    if (id === "root" || id === rootId)
      return {
        id: rootId,
        name: "My Drive",
        mimeType: folderType,
        owner: user,
        version: 1,
        modifiedTime: new Date(0).toISOString(),
        isTrashed: false,
      };
    const file = store.files.get(id);
    const isReached = file?.driveId === undefined || url.searchParams.get("supportsAllDrives") === "true";
    return file && store.maySee(user, file) && isReached ? file : undefined;
  }

  function listFiles(request: FakeRequest, response: ServerResponse): void {
    const { url, user } = request;
    const query = url.searchParams;
    const isEverywhere = query.get("includeItemsFromAllDrives") === "true" && query.get("supportsAllDrives") === "true";
    const corpora = query.get("corpora") ?? "user";
    const driveId = query.get("driveId") ?? undefined;
    const test = parseDriveQuery(query.get("q") ?? "trashed = false or trashed = true", user);
    const size = Number(query.get("pageSize") ?? 100);
    const token = query.get("pageToken");
    const from = token === null ? undefined : open<{ after: string }>(token, "list");
    const isDrive = corpora !== "drive" || (driveId !== undefined && isMember(driveId, user));
    if (!isDrive) return refuse(response, 404);
    if (!test || !(size >= 1 && size <= 1000) || (token !== null && !from)) return refuse(response, 400);
    const found = [...store.files.values()]
      .filter((file) => {
        if (!store.maySee(user, file) || (!isEverywhere && file.driveId !== undefined)) return false;
        if (corpora === "drive" && file.driveId !== driveId) return false;
        // A file in a shared drive belongs to the user's corpus if it was shared with the user but the drive was not.
        if (corpora === "user" && file.driveId !== undefined && isMember(file.driveId, user)) return false;
        return test(questioned(file));
      })
      .sort((one, other) => (one.id < other.id ? 1 : -1))
      .filter(({ id }) => from === undefined || id < from.after);
    const files = found.slice(0, size);
    const isIncomplete = incompleteLeft > 0;
    if (isIncomplete) incompleteLeft -= 1;
    const last = files.at(-1);
    const isMore = found.length > size && last;
    answerWith(response, request, "files(kind,id,name,mimeType),nextPageToken,incompleteSearch", {
      kind: "drive#fileList",
      incompleteSearch: isIncomplete,
      files: (isIncomplete ? files.slice(0, 1) : files).map((file) => describe(file, user)),
      ...(isMore && { nextPageToken: seal({ kind: "list", after: last.id }) }),
    });
  }

  const isMember = (driveId: string, user: string) => store.drives.get(driveId)?.members.includes(user) === true;

  /** Each file once, however often it changed, in its current state. */
  function listChanges(request: FakeRequest, response: ServerResponse): void {
    const { url, user } = request;
    const query = url.searchParams;
    const log = query.get("driveId") ?? "";
    if (log !== "" && !isMember(log, user)) return refuse(response, 404);
    const from = open<{ seq: number; log: string }>(query.get("pageToken"), "changes");
    if (!from || from.log !== log) return refuse(response, 400);
    const size = Number(query.get("pageSize") ?? 100);
    const latest = new Map<string, (typeof store.log)[number]>();
    for (const change of store.log) {
      const isForeign = log === "" && change.fileId !== undefined && !isMember(change.log, user);
      if (change.seq <= from.seq || (change.log !== log && !isForeign)) continue;
      const key = change.fileId ?? `drive ${change.driveId}`;
      latest.delete(key);
      latest.set(key, change);
    }
    const all = [...latest.values()];
    const shown = all.slice(0, size);
    const last = shown.at(-1);
    const changes = shown.map(({ fileId, driveId }): object => {
      if (fileId === undefined) return { kind: "drive#change", changeType: "drive", driveId, removed: false };
      const file = store.files.get(fileId);
      const isHere = file && (file.driveId ?? "") === log;
      const isTold = file && store.maySee(user, file) && (isHere || query.get("includeCorpusRemovals") === "true");
      const reported = isTold ? { file: describe(file, user) } : {};
      return { kind: "drive#change", changeType: "file", fileId, removed: !isTold, ...reported };
    });
    const isMore = all.length > size && last;
    answerWith(response, request, "changes(changeType,fileId,removed),nextPageToken,newStartPageToken", {
      kind: "drive#changeList",
      changes,
      ...(isMore
        ? { nextPageToken: seal({ kind: "changes", seq: last.seq, log }) }
        : {
            newStartPageToken:
              all.length === 0 ? query.get("pageToken") : seal({ kind: "changes", seq: store.seq, log }),
          }),
    });
  }

  function openChannel(request: FakeRequest, response: ServerResponse): void {
    const log = request.url.searchParams.get("driveId") ?? "";
    const given = JSON.parse(request.body) as Record<string, string>;
    const { id = "", token = "", address = "", expiration = "" } = given;
    const weekMs = 7 * 86_400_000;
    const until = Math.min(Number(expiration) || Date.now() + 3_600_000, Date.now() + weekMs);
    if (given["type"] !== "web_hook" || id === "" || !open(request.url.searchParams.get("pageToken"), "changes"))
      return refuse(response, 400);
    const channel = { id, token, address, log, resourceId: randomUUID(), expiration: String(until) };
    webhooks.open(channel);
    say(response, 200, { kind: "api#channel", id, resourceId: channel.resourceId, expiration: channel.expiration });
  }

  function exportFile(file: StoredFile, request: FakeRequest, response: ServerResponse): void {
    const bytes = bytesOf(file.exports?.[request.url.searchParams.get("mimeType") ?? ""]);
    if (!bytes) return refuse(response, [400, "badRequest"]);
    if (file.canDownload === false) return refuse(response, [403, "cannotExportFile"]);
    if (request.method === "POST") {
      const name = randomUUID();
      downloads.set(name, { bytes, looks: 0 });
      return say(response, 200, { name, done: false });
    }
    if (bytes.length > exportLimit()) return refuse(response, [403, "exportSizeLimitExceeded"]);
    response.writeHead(200, { "Content-Type": "application/octet-stream" }).end(bytes);
  }

  function answerFile(id: string, kind: string | undefined, request: FakeRequest, response: ServerResponse): void {
    // Exports include files in shared drives without a parameter.
    if (kind === "export" || kind === "download") request.url.searchParams.set("supportsAllDrives", "true");
    const file = find(id, request);
    if (!file) return refuse(response, [404, "notFound"]);
    if (kind === "export" || kind === "download") return exportFile(file, request, response);
    if (kind === "permissions") {
      const mayKnow =
        file.owner === request.user || (file.driveId !== undefined && isMember(file.driveId, request.user));
      if (!mayKnow) return refuse(response, [403, "insufficientFilePermissions"]);
      return answerWith(response, request, "permissions", { permissions: permissionsOf(file) });
    }
    if (request.url.searchParams.get("alt") !== "media")
      return answerWith(response, request, usualFields, describe(file, request.user));
    const body = bytesOf(file.content);
    if (!body) return refuse(response, [403, "fileNotDownloadable"]);
    if (file.canDownload === false) return refuse(response, [403, "cannotDownloadFile"]);
    sendBytes(body, request.headers.range, response);
  }

  function answer(request: FakeRequest, response: ServerResponse): void {
    const { method, url, user } = request;
    const [, first, , what, id, kind] = url.pathname.split("/").map(decodeURIComponent);
    if (first === "downloads") {
      const found = downloads.get(url.pathname.slice("/downloads/".length));
      return found ? void response.writeHead(200).end(found.bytes) : refuse(response, 404);
    }
    switch (`${method} ${what}`) {
      case "GET about":
        return answerWith(response, request, "user", { user: { permissionId: `id-of-${user}`, emailAddress: user } });
      case "GET drives": {
        const drives = [...store.drives.values()].filter(({ members }) => members.includes(user));
        return answerWith(response, request, "drives", {
          drives: drives.map(({ id: own, name }) => ({ id: own, name })),
        });
      }
      case "GET changes": {
        if (id !== "startPageToken") return listChanges(request, response);
        const log = url.searchParams.get("driveId") ?? "";
        if (log !== "" && !isMember(log, user)) return refuse(response, 404);
        return say(response, 200, { startPageToken: seal({ kind: "changes", seq: store.seq, log }) });
      }
      case "POST changes":
        return openChannel(request, response);
      case "POST channels": {
        const { id: channel = "" } = JSON.parse(request.body) as { id?: string };
        return webhooks.stop(channel) ? void response.writeHead(204).end() : refuse(response, 404);
      }
      case "GET operations": {
        const found = downloads.get(id ?? "");
        if (!found) return refuse(response, 404);
        found.looks += 1;
        const isDone = found.looks > 1;
        return say(response, 200, {
          name: id,
          done: isDone,
          ...(isDone && { response: { downloadUri: new URL(`/downloads/${id}`, origin()).href } }),
        });
      }
      case "GET files":
      case "POST files":
        return id === undefined ? listFiles(request, response) : answerFile(id, kind, request, response);
      default:
        return refuse(response, 404);
    }
  }

  return {
    answer,
    incomplete: (times: number) => void (incompleteLeft = times),
    expireLists() {
      for (const [token, intended] of tokens) if ("kind" in intended && intended.kind === "list") tokens.delete(token);
    },
  };
}

function answerWith(response: ServerResponse, { url }: FakeRequest, usual: string, value: object): void {
  const shown = project(value, url.searchParams.get("fields") ?? usual);
  if (shown === undefined) return refuse(response, [400, "invalidParameter"]);
  say(response, 200, shown);
}

function say(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json; charset=UTF-8" }).end(JSON.stringify(value));
}

function sendBytes(body: Buffer, requested: string | undefined, response: ServerResponse): void {
  const range = /^bytes=(\d+)-(\d*)$/.exec(requested ?? "");
  if (!range) return void response.writeHead(200).end(body);
  const first = Number(range[1]);
  const last = Math.min(range[2] ? Number(range[2]) : Infinity, body.length - 1);
  if (first >= body.length) return void response.writeHead(416).end();
  response.writeHead(206, { "Content-Range": `bytes ${first}-${last}/${body.length}` });
  response.end(body.subarray(first, last + 1));
}

function questioned(file: StoredFile) {
  const texts = [file.content, ...Object.values(file.exports ?? {})].filter((each) => typeof each === "string");
  return {
    name: file.name,
    mimeType: file.mimeType,
    text: texts.join("\n"),
    trashed: file.isTrashed,
    modifiedTime: file.modifiedTime,
    parents: file.parent === undefined ? [] : [file.parent],
    owners: file.driveId === undefined ? [file.owner] : [],
  };
}

function bytesOf(content: string | Uint8Array | undefined): Buffer | undefined {
  return content === undefined ? undefined : Buffer.from(content as string);
}

function reasonFor(status: number): string {
  if (status === 401) return "authError";
  if (status === 404) return "notFound";
  if (status === 429) return "rateLimitExceeded";
  return status >= 500 ? "backendError" : "badRequest";
}
