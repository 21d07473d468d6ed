/** Serves the picker's built files, read on the first request. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { QuotaError, quote } from "../errors.ts";
import type { MeteredRequest } from "../protocol/caller-quotas.ts";
import type { Runtime } from "../source.ts";
import { retryAfter, unkept } from "../transport/send-json.ts";

interface PickerPageOptions {
  /** Folder of the build, resolved at the first request. */
  readonly folder: () => string;
  /** Counts a request. Throws a QuotaError if its caller may send none. */
  readonly begin?: (request: IncomingMessage) => Pick<MeteredRequest, "end"> | undefined;
  readonly log?: Runtime["log"];
}

/** Handles `/` and paths below `/picker/`. Returns false for any other path. */
type PickerPage = (request: IncomingMessage, response: ServerResponse, path: string) => boolean;

interface File {
  readonly type: string;
  readonly tag: string;
  readonly plain: Buffer;
  readonly compressed: Buffer;
}

const below = "/picker/";
const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
/** Allows only its own files, its own endpoint, and images that it creates itself. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");
const guards = { ...unkept, "Content-Security-Policy": policy };

export function createPickerPage({ folder, begin, log }: PickerPageOptions): PickerPage {
  let files: Promise<ReadonlyMap<string, File>> | undefined;

  async function find(name: string): Promise<File | undefined> {
    files ??= readFiles(folder());
    try {
      return (await files).get(name);
    } catch (cause) {
      // Perhaps it is currently being built.
      files = undefined;
      log?.("error", "the picker's files cannot be read", { cause });
      return undefined;
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const file = await find(name);
    if (response.destroyed) return;
    if (!file) return say(response, 404, `there is nothing at ${quote(request.url ?? "")}`);
    const isNamedByContent = /-[0-9a-f]{12}\./.test(name);
    const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
      String(request.headers["accept-encoding"] ?? ""),
    );
    const tag = takesGzip ? `"${file.tag}-gz"` : `"${file.tag}"`;
    const headers = {
      ...guards,
      "Cache-Control": isNamedByContent ? "private, max-age=31536000, immutable" : "no-cache",
      ETag: tag,
      Vary: "Accept-Encoding, Origin",
    };
    if (request.headers["if-none-match"] === tag) {
      response.writeHead(304, headers).end();
      return;
    }
    const body = takesGzip ? file.compressed : file.plain;
    response.writeHead(200, {
      ...headers,
      "Content-Type": file.type,
      "Content-Length": body.length,
      ...(takesGzip && { "Content-Encoding": "gzip" }),
    });
    response.end(request.method === "HEAD" ? undefined : body);
  }

  return (request, response, path) => {
    if (path !== "/" && !path.startsWith(below)) return false;
    try {
      begin?.(request)?.end();
    } catch (cause) {
      if (!(cause instanceof QuotaError)) throw cause;
      say(response, 429, cause.message, retryAfter(cause.retryAfterMs));
      return true;
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD, OPTIONS");
      say(response, 405, "GET the page");
    } else
      answer(request, response, path === "/" ? "index.html" : path.slice(below.length)).catch((cause: unknown) => {
        log?.("error", "the picker could not be served", { cause });
        response.destroy();
      });
    return true;
  };
}

function say(response: ServerResponse, status: number, message: string, headers?: OutgoingHttpHeaders): void {
  response
    .writeHead(status, { ...headers, ...guards, "Content-Type": "text/plain; charset=utf-8" })
    .end(`${message}\n`);
}

async function readFiles(folder: string): Promise<ReadonlyMap<string, File>> {
  const [{ listPackageFiles, readPackageFile }, { createHash }, { join }] = await Promise.all([
    import("../lib/package-files.ts"),
    import("node:crypto"),
    import("node:path"),
  ]);
  const names = (await listPackageFiles(folder)).filter((name) => typeOf(name) !== undefined);
  const files = names.map(async (name): Promise<[string, File]> => {
    const file = join(folder, name);
    const [plain, compressed] = await Promise.all([readPackageFile(file), readPackageFile(`${file}.gz`)]);
    const tag = createHash("sha256").update(plain).digest("hex").slice(0, 16);
    return [name, { type: typeOf(name) ?? "", tag, plain, compressed }];
  });
  return new Map(await Promise.all(files));
}

function typeOf(name: string): string | undefined {
  return types[name.slice(name.lastIndexOf(".") + 1)];
}
