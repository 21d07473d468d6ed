/** Branches and tags as facts, the most recent first. */
import type { Mirror } from "./mirror.ts";
import type { Program } from "./program.ts";
import { linesOf } from "./refs.ts";

export interface ListingWorld {
  readonly program: Program;
  readonly mirror: Mirror;
  readonly signal: AbortSignal;
}

const maxListed = 1000;
const maxBytes = 32 * 1024 * 1024;
const maxSubject = 300;

/** The subject comes last: it alone may be long. */
const fields = [
  "%(refname)",
  "%(objectname)",
  "%(objecttype)",
  "%(*objectname)",
  "%(*objecttype)",
  "%(symref)",
  "%(creatordate:unix)",
  "%(upstream)",
  "%(contents:subject)",
];

interface Row {
  readonly name: string;
  readonly hash: string;
  readonly isAnnotated: boolean;
  readonly date: string | undefined;
  readonly upstream: string;
  readonly subject: string;
}

export async function readBranches(world: ListingWorld): Promise<object> {
  await world.mirror.refresh();
  const head = world.mirror.head();
  const current = "ref" in head ? head.ref : undefined;
  const local = await rows(["refs/heads/"], world);
  const remote = await rows(["refs/remotes/"], world);
  return {
    head: current?.replace(/^refs\/heads\//, "") ?? null,
    branches: local.map((row) => ({
      ...toFacts(row, "refs/heads/"),
      ...(row.upstream !== "" && { upstream: row.upstream.replace(/^refs\/(?:remotes|heads)\//, "") }),
      ...(row.name === current && { current: true }),
    })),
    remotes: remote.map((row) => toFacts(row, "refs/remotes/")),
    ...(Math.max(local.length, remote.length) >= maxListed && { truncated: true }),
  };
}

export async function readTags(world: ListingWorld): Promise<object> {
  const tags = await rows(["refs/tags/"], world);
  return {
    tags: tags.map((row) => ({ ...toFacts(row, "refs/tags/"), ...(row.isAnnotated && { annotated: true }) })),
    ...(tags.length >= maxListed && { truncated: true }),
  };
}

async function rows(prefixes: readonly string[], { program, mirror, signal }: ListingWorld): Promise<Row[]> {
  const gitDir = await mirror.ready();
  const format = `--format=${fields.join("%00")}`;
  const args = ["for-each-ref", "--sort=refname", "--sort=-creatordate", `--count=${maxListed}`, format, ...prefixes];
  const { bytes } = await program.run(args, { gitDir, signal, maxBytes });
  return linesOf(bytes).flatMap((line): Row[] => {
    const [
      name = "",
      own = "",
      ownType = "",
      peeled = "",
      peeledType = "",
      symref = "",
      at = "",
      upstream = "",
      subject = "",
    ] = line.split("\0");
    const isAnnotated = ownType === "tag";
    if (symref !== "" || (isAnnotated ? peeledType : ownType) !== "commit") return [];
    const date = /^\d{1,12}$/.test(at) ? new Date(Number(at) * 1000).toISOString() : undefined;
    return [{ name, hash: isAnnotated ? peeled : own, isAnnotated, date, upstream, subject }];
  });
}

function toFacts({ name, hash, date, subject }: Row, prefix: string) {
  return {
    name: name.slice(prefix.length),
    hash,
    ...(date !== undefined && { date }),
    subject: subject.length > maxSubject ? `${subject.slice(0, maxSubject)}…` : subject,
  };
}
