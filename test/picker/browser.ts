/** A real browser on a real server: what the page's tests stand on. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { buildPicker } from "../../scripts/build-picker.ts";
import { type HttpServer, startHttp } from "../../src/server/start-http.ts";

/** Debian's headless build opens a page in a third of the time. */
export const chromiumPath =
  ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path)) ?? "/usr/bin/chromium";
/** Where CI is set, it must be there. */
export const hasBrowser = existsSync(chromiumPath) || process.env["CI"] !== undefined;

export interface Stage {
  /** Where the served files are. */
  readonly root: string;
  readonly url: string;
  readonly server: HttpServer;
  uriOf(path: string): string;
  write(path: string, content: string | Uint8Array): void;
  /** A page of its own that has the tree on it. What it should not do is collected. */
  open(options?: BrowserContextOptions): Promise<Visit>;
  close(): Promise<void>;
}

export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** Violations of the page's policy, errors, dialogs, and requests to anyone but the server. */
  readonly troubles: string[];
}

export interface StageOptions {
  /** A config instead of the folder itself; paths in it are below the folder. */
  readonly config?: string;
  /** Called before anything is served. */
  readonly prepare?: (root: string) => void;
  readonly env?: Readonly<Record<string, string>>;
  readonly allowedHosts?: readonly string[];
}

export async function openStage(
  files: Readonly<Record<string, string | Uint8Array>>,
  { config, prepare, env, allowedHosts = [] }: StageOptions = {},
): Promise<Stage> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-picker-")));
  const root = join(scratch, "shelf");
  const write = (path: string, content: string | Uint8Array): void => placeFile(root, path, content);
  mkdirSync(root);
  for (const [path, content] of Object.entries(files)) write(path, content);
  prepare?.(root);
  const configFile = join(root, "pressmark.config.yaml");
  if (config !== undefined) writeFileSync(configFile, config);
  const pickerFolder = join(scratch, "picker");
  await buildPicker(pickerFolder);
  const server = await startHttp({
    ...(config === undefined ? { folders: [root] } : { folders: [], config: configFile }),
    from: root,
    port: 0,
    env: { XDG_STATE_HOME: join(scratch, "state"), XDG_CACHE_HOME: join(scratch, "cache"), HOME: scratch, ...env },
    err: { write: () => true },
    allowedHosts,
    version: "1",
    pickerFolder,
  });
  const browser: Browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  return {
    root,
    url: server.picker,
    server,
    uriOf: (path) => `file://${root}/${path.split("/").map(encodeURIComponent).join("/")}`,
    write,
    async open(options = {}) {
      const context = await browser.newContext({ locale: "en-US", ...options });
      const page = await context.newPage();
      const troubles: string[] = [];
      await page.exposeFunction("tellTrouble", (said: string) => troubles.push(said));
      await page.addInitScript(
        `addEventListener("securitypolicyviolation", (event) => tellTrouble("policy: " + event.violatedDirective + " " + event.blockedURI));`,
      );
      page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
      page.on("console", (message) => message.type() === "error" && troubles.push(`console: ${message.text()}`));
      page.on("dialog", (dialog) => {
        troubles.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      context.on("request", (request) => {
        const address = request.url();
        if (!address.startsWith(server.picker) && !address.startsWith("blob:")) troubles.push(`request: ${address}`);
      });
      context.on("page", (other) => other !== page && troubles.push(`window: ${other.url()}`));
      await page.goto(server.invite());
      return { page, troubles, [Symbol.asyncDispose]: () => context.close() };
    },
    async close() {
      await browser.close();
      await server.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** With the folders above it. */
export function placeFile(root: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}
