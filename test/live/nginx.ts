/** A real nginx for tests: Debian's package, with a site of ours, on loopback ports and in a folder of its own. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { end, untilSaid } from "./processes.ts";

export const nginxPackage = "nginx-light";

export interface Nginx {
  close(): Promise<void>;
}

export function hasNginx(): boolean {
  return spawnSync("nginx", ["-v"], { stdio: "ignore" }).error === undefined;
}

/** Resolves once it accepts connections. */
export async function startNginx(folder: string, site: string): Promise<Nginx> {
  mkdirSync(folder, { recursive: true });
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (each) => `${each}_temp_path ${join(folder, each)};`,
  );
  const file = join(folder, "nginx.conf");
  writeFileSync(
    file,
    [
      "daemon off;",
      // Workers of another user could not reach the folder.
      process.getuid?.() === 0 ? "user root;" : "",
      `pid ${join(folder, "nginx.pid")};`,
      "error_log stderr notice;",
      "events {}",
      "http {",
      "access_log off;",
      ...temporary,
      site,
      "}",
    ].join("\n"),
  );
  const child = spawn("nginx", ["-p", folder, "-c", file, "-e", "stderr"], { stdio: ["ignore", "ignore", "pipe"] });
  try {
    await untilSaid("start worker processes", child);
  } catch (cause) {
    await end(child);
    throw cause;
  }
  return { close: () => end(child) };
}
