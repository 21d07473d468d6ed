/** Problems of the server to report to the operator. */
import type { SourceProblem } from "../../source.ts";
import type { RedisConnection } from "./connection.ts";
import { isRefused } from "./errors.ts";
import type { Keyspace } from "./keyspace.ts";
import { isLocal, type RedisTarget } from "./target.ts";

interface Examined {
  readonly connection: Pick<RedisConnection, "send">;
  readonly keyspace: Pick<Keyspace, "list" | "leftOutTypes">;
  readonly target: RedisTarget;
}

export async function problemsOf({ connection, keyspace, target }: Examined, signal: AbortSignal) {
  const problems: SourceProblem[] = [];
  if (!target.isTls && !isLocal(target))
    problems.push({
      path: "",
      says: "connects to another machine without TLS: others on the network can read all values, and the password",
      advice: "use rediss:// in the url",
    });
  const info = await connection.send(["INFO", "cluster"], signal).then(String, (cause: unknown) => {
    if (!isRefused(cause)) throw cause;
    problems.push({
      path: "",
      says: "connects with a user who may not send INFO: FLUSHALL is noticed only while the database is empty",
      advice: "ACL SETUSER <user> +info",
    });
    return "";
  });
  if (/^cluster_enabled:1/m.test(info))
    problems.push({
      path: "",
      says: "is one server of a cluster, which is not supported: keys of the other servers are not listed",
      advice: "mount a server that has all keys",
    });
  await keyspace.list({ limit: 1000 }, signal);
  if (keyspace.leftOutTypes.size > 0)
    problems.push({
      path: "",
      says: `has values of types that are left out: ${[...keyspace.leftOutTypes].sort().join(", ")}`,
    });
  return problems;
}
