/** The web source on a site of Debian's documentation packages, served by a real nginx and read by the built program. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasNginx, type Nginx, nginxPackage, startNginx } from "./nginx.ts";
import { freePort } from "./processes.ts";

/** Pages with a main element, made by Sphinx, and without, made by DocBook. */
const sphinx = "/usr/share/developers-reference/ja";
const docBook = "/usr/share/debian-reference";
const packages = `${nginxPackage}, developers-reference-ja and debian-reference-ja`;
const isThere = "CI" in process.env || (hasNginx() && existsSync(sphinx) && existsSync(docBook));
const program = resolve("bin/pressmark.js");

let folder: string;
let nginx: Nginx;
let host: string;
let config: string;
let log: string;

async function pressmark(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, XDG_CACHE_HOME: join(folder, "cache"), XDG_STATE_HOME: join(folder, "state") };
  const child = spawn(process.execPath, [program, ...args, "--config", config], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  return text(child.stdout);
}

/** Paths of the requests since the last call. */
function requested(): string[] {
  const lines = readFileSync(log, "utf8").split("\n").filter(Boolean);
  writeFileSync(log, "");
  return lines;
}

describe.skipIf(!isThere)(`a site of Debian's documentation (needs ${packages})`, () => {
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-live-web-")));
    const port = await freePort();
    host = `127.0.0.1:${port}`;
    log = join(folder, "access.log");
    const names = [
      ...readdirSync(sphinx)
        .filter((name) => name.endsWith(".html"))
        .slice(0, 8)
        .map((name) => `sphinx/${name}`),
      ...["ch01.ja.html", "ch11.ja.html"].map((name) => `docbook/${name}`),
    ];
    const urls = names.map((name) => `<url><loc>http://${host}/${name}</loc></url>`);
    writeFileSync(join(folder, "sitemap.xml"), `<urlset>${urls.join("")}</urlset>`);
    nginx = await startNginx(
      join(folder, "nginx"),
      `log_format path "$uri $status";
       server { listen ${host}; access_log ${log} path; root ${folder}; default_type text/html;
         location = /sitemap.xml {} location /sphinx/ { alias ${sphinx}/; } location /docbook/ { alias ${docBook}/; }
         location / { return 404; } }`,
    );
    config = join(folder, "pressmark.config.yaml");
    writeFileSync(
      config,
      `mounts: { docs: { source: web, sites: ["http://${host}/sitemap.xml"], allowAddresses: ["127.0.0.1"] } }\n`,
    );
  });
  afterAll(async () => {
    await nginx.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("is searched in Japanese, listed with its titles, and not requested again", async () => {
    expect(await pressmark("search", "シェルプロンプト")).toContain("/docbook/ch01.ja.html");
    expect(requested().filter((line) => line.endsWith(".html 200")).length).toBeGreaterThanOrEqual(10);
    const listed = (await pressmark("ls", "--all", "--json")).trim().split("\n");
    const titles = listed.map((line) => (JSON.parse(line) as { readonly title: string }).title);
    expect(titles).toContain("第1章 GNU/Linux チュートリアル");
    expect(titles).toHaveLength(10);
    expect(requested().filter((line) => line.includes(".html"))).toEqual([]);
    // Only the page of the hit is read, for its line.
    await pressmark("search", "シェルプロンプト", "--limit", "1");
    expect(requested().filter((line) => line.includes(".html")).length).toBeLessThanOrEqual(1);
  });

  it.each([
    ["sphinx/best-pkging-practices.html", "debian/rules", 20],
    ["docbook/ch01.ja.html", "コンソールの基礎", 10],
  ])("gives the content of %s", async (path, part, codeBlocks) => {
    const markdown = await pressmark("read", `web://${encodeURIComponent(host)}/${path}`);
    expect(markdown).toMatch(/^# \S/);
    expect(markdown.replaceAll(/^```[^]*?^```/gm, "").match(/^# /gm)).toHaveLength(1);
    expect(markdown).toContain(part);
    expect(markdown.match(/^```/gm)?.length).toBeGreaterThanOrEqual(2 * codeBlocks);
    expect(markdown).not.toMatch(/¶|ナビゲーション|前のページ/);
    const targets = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
    expect(targets.length).toBeGreaterThan(10);
    expect(targets.filter((target) => !/^(?:https?|mailto|ftp|news):/.test(target ?? ""))).toEqual([]);
  });
});
