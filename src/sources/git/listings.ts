/** Lists branches and tags, most recent first. */
import { compareAddresses } from "../../lib/address-order.ts";
import { cutText } from "../../lib/cut-text.ts";
import { inParallel } from "../../lib/in-parallel.ts";
import { type CommitContext, hiddenMessage, readCommits, subjectOf } from "../../backends/git/commits.ts";
import { readTagObject } from "../../backends/git/commit-object.ts";
import type { Objects } from "../../backends/git/objects.ts";
import { outputLines } from "../../backends/git/refs.ts";
import type { ShownCommits } from "../../backends/git/shown-commits.ts";

interface ListingContext extends CommitContext {
  readonly commits: ShownCommits;
  readonly contents: Objects;
}

const maxListed = 1000;
const maxBytes = 32 * 1024 * 1024;
const maxSubject = 300;
const maxTagMessage = 4000;
/** Annotated tags that are read at once. */
const tagsAtOnce = 16;

/** The subject comes last: only it may be long. */
const fields = [
  "%(refname)",
  "%(objectname)",
  "%(objecttype)",
  "%(*objectname)",
  "%(*objecttype)",
  "%(tree)%(*tree)",
  "%(parent)%(*parent)",
  "%(symref)",
  "%(creatordate:unix)",
  "%(upstream)",
  "%(contents:subject)",
];

interface Row {
  readonly name: string;
  readonly hash: string;
  readonly isAnnotated: boolean;
  /** The ref's own object: for an annotated tag, the tag. */
  readonly own: string;
  readonly date: string | undefined;
  readonly upstream: string;
  readonly subject: string;
  /** The commit that an annotated tag really points to. */
  readonly pointed?: string;
}

export async function readBranches(context: ListingContext): Promise<object> {
  await context.mirror.refresh();
  const head = context.mirror.head();
  const current = "ref" in head ? head.ref : undefined;
  const local = await rows(["refs/heads/"], context);
  const remote = await rows(["refs/remotes/"], context);
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

export async function readTags(context: ListingContext): Promise<object> {
  const tags = await rows(["refs/tags/"], context);
  return {
    tags: await inParallel(tags, tagsAtOnce, async (row) => ({
      ...toFacts(row, "refs/tags/"),
      ...(row.isAnnotated && { annotated: true, ...(await tagFacts(row, context.contents)) }),
    })),
    ...(tags.length >= maxListed && { truncated: true }),
  };
}

/** The message and the tagger of an annotated tag; nothing if its message is not shown. */
async function tagFacts({ own, subject }: Row, contents: Objects): Promise<object> {
  const tag = subject === hiddenMessage ? undefined : await readTagObject(own, contents);
  if (!tag) return {};
  return {
    ...(tag.tagger && { tagger: tag.tagger }),
    message: cutText(tag.text.trim(), maxTagMessage),
  };
}

/** A ref whose commit is not shown points to the nearest earlier one that is; if there is none, it is left out. */
async function rows(prefixes: readonly string[], context: ListingContext): Promise<Row[]> {
  const { program, mirror, commits, signal } = context;
  const gitDir = await mirror.ready();
  const format = `--format=${fields.join("%00")}`;
  const args = ["for-each-ref", "--sort=refname", "--sort=-creatordate", `--count=${maxListed}`, format, ...prefixes];
  const { bytes } = await program.run(args, { gitDir, signal, maxBytes });
  const found = outputLines(bytes).flatMap((line): Row[] => {
    const [name = "", own = "", ownType = "", peeled = "", peeledType = "", tree = "", parents = "", ...rest] =
      line.split("\0");
    const [symref = "", at = "", upstream = "", subject = ""] = rest;
    const isAnnotated = ownType === "tag";
    if (symref !== "" || (isAnnotated ? peeledType : ownType) !== "commit") return [];
    const date = /^\d{1,12}$/.test(at) ? new Date(Number(at) * 1000).toISOString() : undefined;
    const hash = isAnnotated ? peeled : own;
    commits.note(hash, { tree, parents: parents === "" ? [] : parents.split(" ") });
    return [{ name, hash, isAnnotated, own, date, upstream, subject }];
  });
  const shown = await Promise.all(found.map(async (row) => ({ row, hash: await commits.nearest(row.hash) })));
  const others = new Set(shown.flatMap(({ row, hash }) => (hash === undefined || hash === row.hash ? [] : [hash])));
  if (others.size === 0)
    return withMessages(
      shown.flatMap(({ row, hash }) => (hash === undefined ? [] : [row])),
      commits,
    );
  const facts = new Map((await readCommits([...others], context)).map((commit) => [commit.hash, commit]));
  const nearest = shown
    .flatMap(({ row, hash }): Row[] => {
      if (hash === undefined) return [];
      const commit = facts.get(hash);
      // An annotated tag has its own message.
      if (!commit || hash === row.hash || row.isAnnotated) return [{ ...row, hash, pointed: row.hash }];
      return [{ ...row, hash, date: commit.committer.date, subject: subjectOf(commit.text) }];
    })
    .sort((one, other) => (other.date ?? "").localeCompare(one.date ?? "") || compareAddresses(one.name, other.name));
  return withMessages(nearest, commits);
}

/** An annotated tag speaks of the commit that it really points to. */
function withMessages(all: readonly Row[], commits: ShownCommits): Promise<Row[]> {
  return Promise.all(
    all.map(async (row) =>
      (await commits.showsMessage(row.pointed ?? row.hash)) ? row : { ...row, subject: hiddenMessage },
    ),
  );
}

function toFacts({ name, hash, date, subject }: Row, prefix: string) {
  return {
    name: name.slice(prefix.length),
    hash,
    date,
    subject: cutText(subject, maxSubject),
  };
}
