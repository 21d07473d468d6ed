/** A page of somebody else's that the picker is put into, beside a real server: what the app and the element stand on. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { rolldown } from "rolldown";
import { type HttpServer, type HttpServerOptions, startHttp } from "../../src/server/start-http.ts";
import { chromiumPath, placeFile } from "./browser.ts";

export interface OtherPage {
  readonly server: HttpServer;
  uriOf(path: string): string;
  write(path: string, text: string): void;
  /** A page of its own that knows the server and is told this. */
  open(told?: object): Promise<OtherVisit>;
  close(): Promise<void>;
}

export interface OtherVisit extends AsyncDisposable {
  readonly page: Page;
  /** Errors, whoever made them. */
  readonly troubles: string[];
  /** What frames within the page asked for. */
  readonly requests: string[];
}

interface Answer {
  readonly type: string;
  readonly text: string | Buffer;
}

interface OtherPageOptions {
  readonly files: Readonly<Record<string, string>>;
  /** The page's own script, beside this file; served as `/page.js`. */
  readonly script: string;
  readonly external?: readonly string[];
  /** Builds what is under test into the scratch folder; what the server is to know of it. */
  prepare(scratch: string): Promise<Partial<HttpServerOptions>>;
  /** What else the page's own server has to say. */
  answer(url: string, scratch: string): Answer;
  readonly policy?: string;
}

export async function openOtherPage(options: OtherPageOptions): Promise<OtherPage> {
  const { files, script, external = [], prepare, answer, policy } = options;
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-other-")));
  const shelf = join(scratch, "shelf");
  for (const [path, text] of Object.entries(files)) placeFile(shelf, path, text);
  const [pageScript, extra] = await Promise.all([bundle(script, external), prepare(scratch)]);
  const pages = createServer(({ url = "/" }, response) => {
    const isScript = url === "/page.js";
    const { type, text } = isScript ? { type: "text/javascript", text: pageScript } : answer(url, scratch);
    if (policy !== undefined) response.setHeader("Content-Security-Policy", policy);
    response.setHeader("Content-Type", type).end(text);
  });
  await new Promise<void>((listening) => pages.listen(0, "127.0.0.1", listening));
  const address = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
  const server = await startHttp({
    folders: [shelf],
    from: scratch,
    port: 0,
    env: { XDG_STATE_HOME: join(scratch, "state"), XDG_CACHE_HOME: join(scratch, "cache"), HOME: scratch },
    err: { write: () => true },
    allowedHosts: [],
    allowedOrigins: [new URL(address).origin],
    version: "1",
    ...extra,
  });
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  return {
    server,
    uriOf: (path) => `file://${shelf}/${path}`,
    write: (path, text) => placeFile(shelf, path, text),
    async open(told = {}) {
      const context = await browser.newContext({ locale: "en-US" });
      const page = await context.newPage();
      const troubles: string[] = [];
      const requests: string[] = [];
      page.on("request", (request) => request.frame() !== page.mainFrame() && requests.push(request.url()));
      page.on("pageerror", (error) => troubles.push(error.message));
      page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
      await page.goto(`${address}#${encodeURIComponent(JSON.stringify({ server: server.url, ...told }))}`);
      return { page, troubles, requests, [Symbol.asyncDispose]: () => context.close() };
    },
    async close() {
      await browser.close();
      pages.close().closeAllConnections();
      await server.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

async function bundle(script: string, external: readonly string[]): Promise<string> {
  const built = await rolldown({
    platform: "browser",
    input: join(import.meta.dirname, script),
    external: [...external],
    onLog: () => {},
  });
  const { output } = await built.generate({ format: "esm", codeSplitting: false });
  await built.close();
  return output[0].code;
}
