/** The same read by anyone, and by a caller with an access token whom ten rules are about. */
import { createServer } from "node:http";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { compare, cpuColumns, type Case, type Entrant } from "../case.ts";
import { contestants } from "../contestants.ts";
import { smallBytes } from "../fixture.ts";
import { openLanes, type Lane } from "../lanes.ts";
import { launch, type Running } from "../launch.ts";
import { read } from "../questions.ts";

const publicUrl = "https://bench.example";
const count = 4000;

export const signInCase: Case = {
  name: "read-signed-in",
  title: "read 1 KiB, HTTP, 2026-07-28: anyone, or a caller with a JWT and ten rules",
  needs: ["few"],
  columns: cpuColumns.map((column) => (column.key === "ratio" ? { ...column, label: "× anyone" } : column)),
  targets: [
    { says: "1 KiB with a JWT and ten rules beside without", row: "JWT, ten rules", column: "ratio", atMost: 1.3 },
  ],
  async run({ fixture: { few: folder }, rounds, inFlight }) {
    const issuer = await startIssuer();
    const running: Running[] = [];
    try {
      const rules = Array.from({ length: 9 }, (_, index) => ({
        deny: ["anyone"],
        paths: [`secret-${index}`, `**/*.key${index}`],
      }));
      const server = { publicUrl, auth: [{ issuer: issuer.url, jwksUri: `${issuer.url}/keys` }] };
      running.push(await start(folder, "anyone", {}));
      const signedIn = await start(folder, "JWT, ten rules", {
        rules: [{ allow: ["group:readers"] }, ...rules],
        server,
      });
      running.push({ ...signedIn, token: issuer.token });
      const entrants = await Promise.all(running.map((each) => toEntrant(each, folder, inFlight)));
      return await compare(entrants, rounds, "anyone");
    } finally {
      await Promise.all(running.map(({ stop }) => stop()));
      issuer.close();
    }
  },
};

function start(folder: string, name: string, more: object): Promise<Running> {
  const pressmark = contestants.find((each) => each.name === "pressmark")!;
  const cwd = join(dirname(folder), "configs", name.replaceAll(/\W+/g, "-"));
  mkdirSync(cwd, { recursive: true });
  const config = join(cwd, "sign-in.json");
  writeFileSync(config, JSON.stringify({ mounts: { files: { source: "file", root: folder } }, ...more }));
  const command: typeof pressmark.command = (transport, stand) => {
    const { args } = pressmark.command(transport, { ...stand, pageSize: 1000 });
    return { args: [...args.slice(0, -1), "--config", config], cwd };
  };
  return launch({ ...pressmark, name, command }, "http", { folder, pageSize: 1000 });
}

async function toEntrant(running: Running, folder: string, inFlight: number): Promise<Entrant> {
  const question = read(`file://${folder}/small.txt`);
  const drive = async (lanes: readonly Lane[]) => {
    const latencies: number[] = [];
    let left = count;
    await Promise.all(
      lanes.map(async (lane) => {
        while (left-- > 0) {
          const from = performance.now();
          const { bytes } = await lane.ask(question);
          latencies.push(performance.now() - from);
          if (bytes < smallBytes) throw new Error(`${running.contestant.name} gave ${bytes} bytes`);
        }
      }),
    );
    return { units: count, latencies };
  };
  const first = await openLanes(running, "modern", inFlight);
  await drive(first.lanes);
  first.close();
  return {
    name: running.contestant.name,
    pid: running.pid,
    async prepare() {
      const { lanes, close } = await openLanes(running, "modern", inFlight);
      await Promise.all(lanes.map((lane) => lane.ask(question)));
      return { run: () => drive(lanes), close };
    },
  };
}

/** Signs one token, and publishes its key. */
async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair("RS256");
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "RS256" }] });
  const server = createServer((_request, response) => {
    response.setHeader("Content-Type", "application/json").end(keys);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const token = await new SignJWT({ client_id: "bench", groups: ["readers", "people"], scope: "mcp:read" })
    .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid: "1" })
    .setIssuer(url)
    .setAudience(`${publicUrl}/mcp`)
    .setSubject("bench")
    .setJti("1")
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(privateKey);
  return { url, token, close: () => void server.close() };
}
