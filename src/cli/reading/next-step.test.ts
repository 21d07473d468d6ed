/** Errors name what happened, the value, and what to do next. */
import { chmodSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
let server: Server;
let port: number;

beforeAll(async () => {
  stand = createStand();
  stand.write("docs/setup.md", "1");
  stand.write("docs/setup-ja.md", "2");
  stand.write("docs/deep/only.md", "3");
  stand.write("../here.yaml", "mounts: { files: { source: file, root: files } }\n");
  stand.write("notes/.hidden/secret.md", "4");
  server = createServer(({ url, method }, response) => {
    if (url === "/page") response.writeHead(200, { "Content-Type": "text/html" }).end("<p>a page");
    else if (url === "/")
      response.writeHead(method === "GET" ? 200 : 405, { "Content-Type": "text/html" }).end("<p>a page");
    else response.writeHead(url === "/closed" ? 401 : 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
});

afterAll(() => {
  server.close();
  stand.remove();
});

async function unusedPort(): Promise<number> {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port: unused } = other.address() as AddressInfo;
  await new Promise((resolve) => other.close(resolve));
  return unused;
}

const errorOf = async (...words: readonly string[]) => (await stand.run(words)).err;

describe("what is not found", () => {
  it.each([
    ["docs/setpu.md", '"docs/setup.md"'],
    ["docs/setup-jp.md", '"docs/setup-ja.md"'],
    ["dosc/deep/onyl.md", '"docs/deep/only.md"'],
    ["only.md", '"docs/deep/only.md"'],
  ])("%s has a nearest name", async (where, near) => {
    expect(await errorOf("read", where)).toBe(`pressmark: no resource at "${where}"; nearest: ${near}\n`);
  });

  it("may have several, but never a hidden one", async () => {
    expect(await errorOf("read", "docs/setup-x.md")).toContain('nearest: "docs/setup-ja.md", "docs/setup.md"\n');
    for (const where of ["secret.md", "notes/.hidden/secrte.md", "notes/.hiden/secret.md"])
      expect(await errorOf("read", where)).toBe(
        `pressmark: no resource at "${where}"; "pressmark ls" lists what is here\n`,
      );
  });

  it.each([
    ["setpu.md", '"./setup.md"'],
    ["./deep/onyl.md", '"./deep/only.md"'],
    ["../docs/setpu-ja.md", '"../docs/setup-ja.md"'],
    ["deep/../setpu-ja.md", '"./setup-ja.md"'],
    ["docs/deep/onyl.md", '"docs/deep/only.md"'],
  ])("%s has a nearest name in a folder below the mount", async (where, near) => {
    const { err } = await stand.run(["read", where, "--config", "../../here.yaml"], {
      from: join(stand.folder, "docs"),
    });
    expect(err).toBe(`pressmark: no resource at "${where}"; nearest: ${near}\n`);
  });

  it("is in no mount, if none has such URIs", async () => {
    expect(await errorOf("read", "other://x/y")).toBe(
      `pressmark: no resource at "other://x/y"; no mount has such URIs; there are "${stand.base.slice(0, -1)}"\n`,
    );
  });
});

describe("a server that cannot be reached", () => {
  it("is named by its address without secrets, with the cause and what to do", async () => {
    const closed = await unusedPort();
    expect(await errorOf("ls", "--server", `http://127.0.0.1:${closed}/mcp?key=secret`)).toBe(
      `pressmark: the server at http://127.0.0.1:${closed}/mcp cannot be reached: nothing listens there; start the server, or check the port (ECONNREFUSED)\n`,
    );
    expect(await errorOf("ls", "--server", "http://127.0.0.1:9/mcp")).toContain("blocked; use another port (bad port)");
    const withPassword = await errorOf("ls", "--server", "http://user:secret@127.0.0.1:9/mcp");
    expect(withPassword).toContain("use http://127.0.0.1:9/mcp, and pass them with --header");
    expect(withPassword).not.toContain("secret");
    expect(await errorOf("ls", "--server", "http://no-such-host.invalid/mcp")).toMatch(
      /cannot be reached: the host name has no address; check its spelling and the network \((?:ENOTFOUND|EAI_AGAIN)\)\n$/,
    );
    expect(await errorOf("ls", "--server", `https://127.0.0.1:${port}/mcp`)).toMatch(
      /it does not speak TLS there; try http:\/\/ instead of https:\/\/ \(ERR_SSL_\w+\)\n$/,
    );
    expect(await errorOf("ls", "--server", `http://127.0.0.1:${port}/nowhere`)).toBe(
      `pressmark: the server at http://127.0.0.1:${port}/nowhere responded with status 404; check the path: Pressmark serves MCP at /mcp\n`,
    );
    for (const path of ["/", "/page"])
      expect(await errorOf("ls", "--server", `http://127.0.0.1:${port}${path}`)).toBe(
        `pressmark: something responds at http://127.0.0.1:${port}${path}, but not as an MCP server; try http://127.0.0.1:${port}/mcp\n`,
      );
    expect(await errorOf("ls", "--server", `http://127.0.0.1:${port}/closed`)).toContain(
      "the server requires authentication; pass a token with --header",
    );
  });

  it("may be that of a mount", async () => {
    const closed = await unusedPort();
    const mount = `away: { source: mcp, url: "http://127.0.0.1:${closed}/mcp" }`;
    stand.write("../away.yaml", `mounts: { ${mount}, docs: { source: file, root: files/docs } }\n`);
    const says = `the server cannot be reached at 127.0.0.1:${closed}: nothing listens there; start the server, or check the port (ECONNREFUSED)\n`;
    expect(await errorOf("ls", "mcp://away", "--config", "../away.yaml")).toContain(`pressmark: ${says}`);
    expect(await errorOf("ls", "--mounts", "--config", "../away.yaml")).toContain(`mount "away": ${says}`);
  });

  it("may be a program that is missing, or that ends", async () => {
    expect(await errorOf("ls", "--server", "no-such-program x")).toBe(
      'pressmark: the server cannot be started: there is no program "no-such-program"; check its name, and the PATH\n',
    );
    expect(await errorOf("ls", "--server", "false --x")).toBe(
      'pressmark: the server cannot be reached: "false" ended or did not respond; run the command yourself to see why: false --x\n',
    );
  });
});

describe("a folder without permission", () => {
  it("is named, and is no file", async () => {
    const closed = createStand();
    // Root can read everything, so the test runs as nobody.
    const isRoot = process.getuid?.() === 0;
    try {
      closed.write("closed/file.txt");
      for (const folder of [closed.folder, dirname(closed.folder)]) chmodSync(folder, 0o755);
      chmodSync(join(closed.folder, "closed"), 0);
      if (isRoot) process.seteuid?.("nobody");
      const refusal = 'pressmark: no permission to open "closed"; check its permissions\n';
      for (const words of [
        ["ls", "closed"],
        ["read", "closed/file.txt"],
        ["stat", "closed"],
      ]) {
        const { code, out, err } = await closed.run(words);
        expect([words, code, out, err.endsWith(refusal)]).toEqual([words, 3, "", true]);
        expect(err).not.toContain("reported to the caller");
      }
      expect(await closed.run(["ls", "--folder", "closed"])).toMatchObject({ code: 2, err: refusal });
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(join(closed.folder, "closed"), 0o700);
      closed.remove();
    }
  });
});

describe("a mount whose server refuses the token", () => {
  it("says so, and not that a folder has no permissions", async () => {
    const settings = `source: mcp, url: "http://127.0.0.1:${port}/closed", headers: { Authorization: Bearer wrong }`;
    stand.write("../closed.yaml", `mounts: { closed: { ${settings} }, docs: { source: file, root: files/docs } }\n`);
    const config = ["--config", "../closed.yaml"];
    const says = 'cannot open "mcp://closed": the server denied access; check the token\n';
    expect(await errorOf("ls", "mcp://closed", ...config)).toBe(`pressmark: ${says}`);
    expect(await errorOf("ls", ...config, "--mounts")).toBe(`pressmark: mount "closed": ${says}`);
    expect(await errorOf("read", "mcp://closed/x", ...config)).toMatch(
      /^pressmark: .*: the server denied access; check/,
    );
  });
});

describe("complete", () => {
  it("lists the templates without arguments, and names them if one is wrong", async () => {
    const { out } = await stand.run(["complete"]);
    const [template] = out.split("\n");
    expect(template).toBe(`${stand.base}{+path}{?lines,bytes,as}`);
    expect((await stand.run(["complete", template!, "path", "do"])).out).toBe("docs/\n");
    expect(await errorOf("complete", `${stand.base}{+path}`, "path")).toBe(
      `pressmark: no template "${stand.base}{+path}"; did you mean "${template}"? "pressmark complete" lists all templates\n`,
    );
    expect(await errorOf("complete", "git")).toBe(
      'pressmark: no template "git"; "pressmark complete" lists all templates\n',
    );
    expect(await errorOf("complete", template!)).toContain('it has "path", "lines", "bytes", "as"\n');
    expect(await errorOf("complete", template!, "pth")).toContain('the template has no variable "pth"; it has "path"');
  });

  it("says if nothing has a template", async () => {
    stand.write("../plain.yaml", "mounts: { notes: { source: memory, resources: { a.txt: x } } }\n");
    for (const words of [[], ["notes://{x}", "x"]])
      expect(await errorOf("complete", ...words, "--config", "../plain.yaml")).toBe(
        'pressmark: nothing that is served has a template; "pressmark ls --all" lists the resources\n',
      );
  });
});
