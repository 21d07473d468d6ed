/** Where instances share what they remember: the schema of `server.state` and `server.bus`, and a check that involves both. */
import type { z } from "zod";
import type { Problem } from "./problem.ts";

type Zod = typeof z;

export function stateSchema(zod: Zod) {
  return zod
    .string()
    .regex(/^postgres(?:ql)?:\/\/./i, "must be the URL of a PostgreSQL database: postgres://user@host:5432/database")
    .describe(
      "PostgreSQL database that several instances of this server share, postgres://user@host:5432/database?schema=pressmark&sslmode=verify-full; best as a reference: ${env:NAME}. Default: files of this machine",
    );
}

export function busSchema(zod: Zod) {
  return zod
    .string()
    .regex(/^(?:nats|tls):\/\/./i, "must be the URL of a NATS server: nats://host:4222, or tls://host:4222")
    .describe(
      "NATS server with JetStream that carries changes between the instances, nats://host:4222 or tls://host:4222; needs server.state; best as a reference: ${env:NAME}. Default: the database carries them",
    );
}

interface StateSettings {
  readonly state?: string | undefined;
  readonly bus?: string | undefined;
}

export function checkState(
  { state, bus }: StateSettings,
  { refuse }: { readonly refuse: (problem: Problem) => void },
): void {
  if (bus !== undefined && state === undefined)
    refuse({
      path: ["server", "bus"],
      message: "needs server.state, the database that the instances share",
      isOfSeveral: true,
    });
}

/** Why they need trust, without secrets. */
export function stateReasons({ state, bus }: StateSettings): Readonly<Record<"state" | "bus", readonly string[]>> {
  return {
    state:
      state === undefined
        ? []
        : [`stores what it remembers, and the index of what it serves, in the database at ${hostOf(state)}`],
    bus: bus === undefined ? [] : [`sends the names of what changes to ${hostOf(bus)}`],
  };
}

function hostOf(url: string): string {
  // A password or token may contain a comma, too.
  const withoutUser = url.replace(/:\/\/[^/?#]*@/, "://");
  const { protocol = "", host = "" } = URL.parse(withoutUser.split(",")[0] ?? "") ?? {};
  return JSON.stringify(`${protocol}//${host}`);
}
