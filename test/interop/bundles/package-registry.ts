/** A package registry that has the packed package as if it were published, and passes requests for other packages on. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { packedFile } from "../../package/project.ts";

export interface PackageRegistry extends AsyncDisposable {
  readonly url: string;
}

export async function startPackageRegistry(): Promise<PackageRegistry> {
  const packed = readFileSync(packedFile());
  const manifest = JSON.parse(
    execFileSync("tar", ["-xzOf", packedFile(), "package/package.json"], { encoding: "utf8" }),
  ) as { readonly name: string; readonly version: string };
  const { name, version } = manifest;
  const next = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const { get } = next.startsWith("https:") ? await import("node:https") : await import("node:http");
  // The registry of this machine may have a certificate of its own.
  const authorities = execFileSync("npm", ["config", "get", "cafile"], { encoding: "utf8" }).trim();
  const ca = existsSync(authorities) ? readFileSync(authorities) : undefined;
  const integrity = `sha512-${createHash("sha512").update(packed).digest("base64")}`;
  const tarball = `/${name}/-/${name}-${version}.tgz`;
  const server = createServer(({ url: path = "/", headers }, response) => {
    if (path === tarball) return response.end(packed);
    if (path === `/${name}`) {
      const versions = { [version]: { ...manifest, dist: { tarball: `${url}${tarball}`, integrity } } };
      return response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
    }
    const passed = get(new URL(path, next), { ca, headers: { accept: headers.accept ?? "*/*" } }, (answer) =>
      answer.pipe(response.writeHead(answer.statusCode ?? 502)),
    );
    passed.on("error", () => response.headersSent || response.writeHead(502).end());
    return undefined;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
