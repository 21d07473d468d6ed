/** The part of the Drive API that reading needs. */
import { parseJson } from "../../lib/parse-json.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { cancelled, lastingFailure, ResourceError, unavailable } from "../../errors.ts";
import type { Runtime } from "../../source.ts";
import { originOf, send, takeBody, takeSome } from "../../backends/objects/request.ts";
import { withRetries, type RetryBudget, pause } from "./backoff.ts";
import {
  type DriveChange,
  type DriveFile,
  type DrivePermission,
  fileFields,
  isDriveId,
  isDriveObject,
  listIn,
  permissionListFields,
  type SharedDrive,
  textIn,
  toChange,
  toDriveFile,
  toPermissions,
} from "./drive-objects.ts";
import type { DriveIdentity } from "./identity.ts";
import { isUnauthenticated, refusalOf } from "./refusal.ts";
import type { Opened } from "./rows.ts";

/** A log of changes: the id of a shared drive, or "" for the account's own. */
type LogName = string;

interface FilePage {
  readonly files: readonly DriveFile[];
  readonly next?: string;
  /** Drive did not search everything. */
  readonly isIncomplete: boolean;
}

interface ChangePage {
  readonly changes: readonly DriveChange[];
  /** Where to continue: the next page, or future changes. */
  readonly token: string;
  readonly isLast: boolean;
}

interface Channel {
  readonly id: string;
  readonly token: string;
  readonly address: string;
  readonly expiresMs: number;
}

export interface OpenChannel extends Channel {
  readonly resourceId: string;
}

/** Every method sends a request to Drive, and retries temporary failures. */
export interface DriveApi {
  /** The account of the credentials. */
  account(signal: AbortSignal): Promise<{ readonly id: string; readonly email?: string }>;
  drives(signal: AbortSignal): Promise<readonly SharedDrive[]>;
  startToken(log: LogName, signal: AbortSignal): Promise<string>;
  files(
    request: { readonly log: LogName | "all"; readonly q: string; readonly limit: number; readonly token?: string },
    signal: AbortSignal,
  ): Promise<FilePage>;
  changes(log: LogName, token: string, signal: AbortSignal): Promise<ChangePage>;
  file(opened: Opened, signal: AbortSignal): Promise<DriveFile>;
  permissions(id: string, signal: AbortSignal): Promise<readonly DrivePermission[]>;
  /** Undefined if it is larger than `most`. */
  media(opened: Opened, most: number, signal: AbortSignal): Promise<Buffer | undefined>;
  slice(opened: Opened, first: number, last: number, signal: AbortSignal): Promise<Buffer>;
  exported(opened: Opened, mimeType: string, most: number, signal: AbortSignal): Promise<Buffer | undefined>;
  /** The slow path for files too large to export. */
  downloaded(opened: Opened, mimeType: string, most: number, signal: AbortSignal): Promise<Buffer | undefined>;
  openChannel(log: LogName, token: string, channel: Channel, signal: AbortSignal): Promise<OpenChannel>;
  closeChannel(channel: OpenChannel, signal: AbortSignal): Promise<void>;
}

export interface DriveApiOptions extends RetryBudget {
  readonly rootUrl: string;
  /** Undefined for requests without credentials. */
  readonly identity: DriveIdentity | undefined;
  readonly withPermissions: boolean;
  readonly timeoutMs: number;
  readonly runtime: Runtime;
}

const maxJsonBytes = 32 * 1024 * 1024;
const maxPages = 1000;
const maxLooks = 120;
const longestLookMs = 10_000;

export function createDriveApi(options: DriveApiOptions): DriveApi {
  const { identity, timeoutMs, runtime, withPermissions } = options;
  const origin = originOf(options.rootUrl);
  const fields = fileFields(withPermissions);

  function url(way: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): URL {
    const path = way.map((step) => `/${encodeURIComponent(step)}`).join("");
    const full = new URL(`/drive/v3${path}`, origin);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) full.searchParams.set(name, value);
    return full;
  }

  /** The token service may be slow, too. */
  async function proof(signal: AbortSignal): Promise<Headers | undefined> {
    if (!identity) return undefined;
    const late = AbortSignal.timeout(timeoutMs);
    try {
      return await unlessAborted(identity.headers(), AbortSignal.any([signal, late]), cancelled);
    } catch (cause) {
      if (signal.aborted || !late.aborted) throw cause;
      throw unavailable(`no credentials within ${timeoutMs} ms`);
    }
  }

  async function once(where: URL, init: RequestInit, signal: AbortSignal): Promise<Response> {
    const headers = new Headers(init.headers);
    for (const [name, value] of (await proof(signal)) ?? []) headers.set(name, value);
    const response = await send(
      new Request(where, { ...init, headers }),
      { backend: "Google Drive", timeoutMs },
      signal,
    );
    if (response.ok) return response;
    const text = (await takeSome(response, maxJsonBytes, signal).catch(() => undefined))?.toString("utf8") ?? "";
    const refusal = refusalOf(response.status, parseJson(text));
    const seconds = Number(response.headers.get("Retry-After") ?? 0);
    if (!refusal.passing || !(seconds > 0)) throw refusal;
    const details = { retryAfterMs: Math.min(seconds, 3600) * 1000 };
    throw new ResourceError(refusal.kind, refusal.message, { passing: true, details });
  }

  /** A token that was revoked early is renewed once. */
  function request(where: URL, signal: AbortSignal, init: RequestInit = {}): Promise<Response> {
    const attempt = async (): Promise<Response> => {
      try {
        return await once(where, init, signal);
      } catch (cause) {
        if (!isUnauthenticated(cause) || !identity) throw cause;
        identity.renew();
        return once(where, init, signal);
      }
    };
    return withRetries(attempt, options, runtime, signal);
  }

  async function json(where: URL, signal: AbortSignal, init?: RequestInit): Promise<Readonly<Record<string, unknown>>> {
    const value = parseJson(
      (await takeBody(await request(where, signal, init), maxJsonBytes, signal)).toString("utf8"),
    );
    if (!isDriveObject(value)) throw unavailable("Google Drive returned an invalid description");
    return value;
  }

  const everywhere = { supportsAllDrives: "true", includeItemsFromAllDrives: "true" } as const;

  async function operation(name: string, signal: AbortSignal) {
    // It may have several path segments.
    const steps = name.split("/").filter((step) => step !== "" && step !== "." && step !== "..");
    const way = steps[0] === "operations" ? steps : ["operations", ...steps];
    return json(url(way), signal);
  }

  return {
    async account(signal) {
      const { user } = await json(url(["about"], { fields: "user(permissionId,emailAddress)" }), signal);
      const given = isDriveObject(user) ? user : {};
      const email = textIn(given, "emailAddress")?.toLowerCase();
      return { id: textIn(given, "permissionId") ?? email ?? "", email };
    },

    async drives(signal) {
      const found: SharedDrive[] = [];
      let token: string | undefined;
      for (let pages = 0; pages < maxPages; pages += 1) {
        const query = { pageSize: "100", pageToken: token, fields: "drives(id,name),nextPageToken" };
        const page = await json(url(["drives"], query), signal);
        for (const each of listIn(page, "drives")) {
          const id = textIn(each, "id");
          if (id !== undefined && isDriveId(id)) found.push({ id, name: textIn(each, "name") ?? id });
        }
        token = textIn(page, "nextPageToken");
        if (token === undefined) return found;
      }
      throw endless();
    },

    async startToken(log, signal) {
      const query = { supportsAllDrives: "true", driveId: log || undefined, fields: "startPageToken" };
      const token = textIn(await json(url(["changes", "startPageToken"], query), signal), "startPageToken");
      if (token === undefined) throw unavailable("Google Drive returned no token for its changes");
      return token;
    },

    async files({ log, q, limit, token }, signal) {
      const query = {
        ...everywhere,
        ...corpus(log),
        q,
        pageSize: String(limit),
        pageToken: token,
        fields: `files(${fields}),nextPageToken,incompleteSearch`,
      };
      const page = await json(url(["files"], query), signal);
      const next = textIn(page, "nextPageToken");
      return {
        files: listIn(page, "files").flatMap((each) => toDriveFile(each) ?? []),
        isIncomplete: page["incompleteSearch"] === true,
        next,
      };
    },

    async changes(log, pageToken, signal) {
      const query = {
        ...everywhere,
        driveId: log || undefined,
        includeCorpusRemovals: log === "" ? "true" : undefined,
        includeRemoved: "true",
        pageSize: "1000",
        pageToken,
        fields: `changes(changeType,removed,fileId,driveId,file(${fields})),nextPageToken,newStartPageToken`,
      };
      const page = await json(url(["changes"], query), signal);
      const next = textIn(page, "nextPageToken");
      const token = next ?? textIn(page, "newStartPageToken");
      if (token === undefined) throw unavailable("Google Drive returned no token to continue");
      return {
        changes: listIn(page, "changes").flatMap((each) => toChange(each) ?? []),
        token,
        isLast: next === undefined,
      };
    },

    async file({ id, resourceKey }, signal) {
      const file = toDriveFile(
        await json(url(["files", id], { supportsAllDrives: "true", fields }), signal, opening(id, resourceKey)),
      );
      if (!file) throw unavailable("Google Drive returned an invalid description");
      return file;
    },

    async permissions(id, signal) {
      const found: DrivePermission[] = [];
      let token: string | undefined;
      for (let pages = 0; pages < maxPages; pages += 1) {
        const query = { supportsAllDrives: "true", pageSize: "100", pageToken: token, fields: permissionListFields };
        const page = await json(url(["files", id, "permissions"], query), signal);
        found.push(...toPermissions(page));
        token = textIn(page, "nextPageToken");
        if (token === undefined) return found;
      }
      throw endless();
    },

    async media({ id, resourceKey }, most, signal) {
      const where = url(["files", id], { alt: "media", supportsAllDrives: "true" });
      return takeSome(await request(where, signal, opening(id, resourceKey)), most, signal);
    },

    async slice({ id, resourceKey }, first, last, signal) {
      const where = url(["files", id], { alt: "media", supportsAllDrives: "true" });
      const { headers } = opening(id, resourceKey);
      const response = await request(where, signal, { headers: { ...headers, Range: `bytes=${first}-${last}` } });
      return takeBody(response, last - first + 1, signal);
    },

    async exported({ id, resourceKey }, mimeType, most, signal) {
      const where = url(["files", id, "export"], { mimeType });
      return takeSome(await request(where, signal, opening(id, resourceKey)), most, signal);
    },

    async downloaded({ id, resourceKey }, mimeType, most, signal) {
      const init = { ...opening(id, resourceKey), method: "POST" };
      let given = await json(url(["files", id, "download"], { mimeType }), signal, init);
      for (let looks = 0; given["done"] !== true; looks += 1) {
        const name = textIn(given, "name");
        if (looks >= maxLooks || name === undefined) throw unavailable("the download does not end; try again later");
        await pause(Math.min(1000 * 2 ** looks, longestLookMs), runtime, signal);
        given = await operation(name, signal);
      }
      const result = isDriveObject(given["response"]) ? given["response"] : {};
      const where = URL.parse(textIn(result, "downloadUri") ?? "");
      if (!where || !isOfDrive(where, origin)) throw lastingFailure("Google Drive could not prepare the download");
      return takeSome(await request(where, signal, opening(id, resourceKey)), most, signal);
    },

    async openChannel(log, pageToken, channel, signal) {
      const query = { ...everywhere, driveId: log || undefined, includeRemoved: "true", pageToken };
      const { id, token, address, expiresMs } = channel;
      const body = JSON.stringify({ id, token, address, type: "web_hook", expiration: String(expiresMs) });
      const init = { method: "POST", body, headers: { "Content-Type": "application/json" } };
      const given = await json(url(["changes", "watch"], query), signal, init);
      const resourceId = textIn(given, "resourceId");
      if (resourceId === undefined) throw unavailable("Google Drive opened no notification channel");
      const endsMs = Number(given["expiration"]);
      return { ...channel, resourceId, expiresMs: Number.isSafeInteger(endsMs) && endsMs > 0 ? endsMs : expiresMs };
    },

    async closeChannel({ id, resourceId }, signal) {
      const init = {
        method: "POST",
        body: JSON.stringify({ id, resourceId }),
        headers: { "Content-Type": "application/json" },
      };
      await (await request(url(["channels", "stop"]), signal, init)).body?.cancel();
    },
  };
}

function corpus(log: LogName | "all"): Readonly<Record<string, string>> {
  if (log === "all") return { corpora: "allDrives" };
  return log === "" ? { corpora: "user" } : { corpora: "drive", driveId: log };
}

/** A file shared by a link opens only with the resource key of the link. */
function opening(id: string, resourceKey: string | undefined): { readonly headers: Record<string, string> } {
  const isKey = resourceKey !== undefined && /^[\w-]+$/.test(resourceKey);
  return { headers: isKey ? { "X-Goog-Drive-Resource-Keys": `${id}/${resourceKey}` } : {} };
}

/**
 * Where our token may be sent: the configured origin, and Google alone. Names below googleusercontent.com also belong to customers'
 * machines.
 */
export function isOfDrive({ protocol, hostname, origin: own }: URL, origin: URL): boolean {
  if (own === origin.origin) return true;
  return (
    protocol === "https:" && /(?:^|\.)(?:googleapis|google)\.com$|[.-]docs\.googleusercontent\.com$/.test(hostname)
  );
}

function endless(): ResourceError {
  return lastingFailure("Google Drive returns pages without end");
}
