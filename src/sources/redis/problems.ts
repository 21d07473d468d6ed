/** Problems of the server to report to the operator. */
import type { SourceProblem } from "../../source.ts";
import type { RedisConnection } from "./connection.ts";
import { isRefused } from "./errors.ts";
import { type Keyspace, maxKeyBytes, maxParts } from "./keyspace.ts";
import { isLocal, type RedisTarget } from "./target.ts";

interface Examined {
  readonly connection: Pick<RedisConnection, "send">;
  readonly keyspace: Pick<Keyspace, "sample">;
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
  const { types, tooLong, tooDeep, refused } = await keyspace.sample(signal);
  if (types.size > 0)
    problems.push({ path: "", says: `has values of types that are left out: ${[...types].sort().join(", ")}` });
  if (tooLong > 0)
    problems.push({
      path: "",
      says: `leaves out keys of more than ${maxKeyBytes} bytes: ${tooLong} of its first keys`,
    });
  if (tooDeep > 0)
    problems.push({ path: "", says: `leaves out keys of more than ${maxParts} parts: ${tooDeep} of its first keys` });
  if (refused > 0)
    problems.push({
      path: "",
      says: `leaves out keys that its user may not read: ${refused} of its first keys`,
      advice: 'name the keys that the user may read in "include", so that no directories of others are shown',
    });
  return problems;
}
