import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpServer, startHttp } from "./start-http.ts";

let root: string;
let pickerFolder: string;
let server: HttpServer;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-page-")));
  pickerFolder = join(root, "not-yet");
  const env = { XDG_STATE_HOME: join(root, "state"), HOME: root };
  const err = { write: () => true };
  server = await startHttp({
    folders: [],
    from: root,
    env,
    err,
    allowedHosts: [],
    version: "1",
    port: 0,
    pickerFolder,
  });
});

afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.picker);
    request({ hostname, port, path, method, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces) }),
      );
    })
      .on("error", reject)
      .end();
  });
}

describe("the picker's page", () => {
  it("is missing until it is built, and there as soon as it is", async () => {
    expect(existsSync(pickerFolder)).toBe(false);
    expect((await ask("/")).status).toBe(404);
    mkdirSync(pickerFolder);
    const files = {
      "index.html": "<p>page</p>",
      "picker-0123456789ab.js": "run()",
      "notes.txt": "not a file of the page",
    };
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(pickerFolder, name), text);
      writeFileSync(join(pickerFolder, `${name}.gz`), gzipSync(text));
    }
    expect(String((await ask("/")).body)).toBe("<p>page</p>");
  });

  it("lets nothing in but its own files, and nobody put it in a frame", async () => {
    const { headers } = await ask("/");
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
  });

  it("is refused to other names and to pages of others, as the protocol is", async () => {
    expect((await ask("/", { Host: "evil.example" })).status).toBe(403);
    expect((await ask("/picker/picker-0123456789ab.js", { Origin: "https://evil.example" })).status).toBe(403);
  });

  it("is revalidated each time, and its parts never", async () => {
    const page = await ask("/");
    expect(page.headers["cache-control"]).toBe("no-cache");
    const again = await ask("/", { "If-None-Match": String(page.headers["etag"]) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    const script = await ask("/picker/picker-0123456789ab.js");
    expect(script.headers["cache-control"]).toBe("private, max-age=31536000, immutable");
  });

  it("is compressed for those who take it so", async () => {
    const squeezed = await ask("/", { "Accept-Encoding": "br, gzip" });
    expect(squeezed.headers["content-encoding"]).toBe("gzip");
    expect(String(gunzipSync(squeezed.body))).toBe("<p>page</p>");
    for (const header of ["br", "gzip;q=0", "gzip; q=0.0, br"])
      expect((await ask("/", { "Accept-Encoding": header })).headers["content-encoding"], header).toBeUndefined();
  });

  it("is only read", async () => {
    expect((await ask("/", {}, "HEAD")).body.length).toBe(0);
    expect((await ask("/", {}, "POST")).status).toBe(405);
  });

  it("has no other files than the page's", async () => {
    for (const path of [
      "/picker/notes.txt",
      "/picker/../not-yet/index.html",
      "/picker/%2e%2e/state",
      "/picker/",
      "/index.html",
    ])
      expect((await ask(path)).status, path).toBe(404);
  });
});
