/** Skills of another server: their files under our addresses, served only if they match the digests and front matter of the skill. */
import { notFound, ResourceError } from "../../errors.ts";
import { readSkillFrontMatter } from "../../backends/skill-front-matter.ts";
import { canonicalJson } from "../../lib/canonical-json.ts";
import { digestOf } from "../../lib/digest.ts";
import { Lru } from "../../lib/lru.ts";
import type { Call, Page, PageRequest, ReadResult, Resources, Skill, SkillFile } from "../../resources.ts";
import { segmentsOf } from "../../source.ts";
import type { Address, Source, SourceSkill, SourceSkillFile } from "../../source.ts";
import type { Addresses } from "./addresses.ts";

interface SkillRelay extends Required<Pick<Source, "skills" | "skill">> {
  /** Reads a file. Throws "unexpected" if it does not match its skill, even after both are read again. */
  checked(at: Address, call: Call, read: () => Promise<ReadResult>): Promise<ReadResult>;
}

interface SkillRelayOptions {
  readonly addresses: Addresses;
  send<T>(request: (pressmark: Pick<Resources, "skills" | "skill">) => Promise<T>, call?: Call): Promise<T>;
  /** Reports a skill that cannot be served, and why. */
  leaveOut(uri: string, why: string): void;
}

interface Promised extends Pick<SkillFile, "digest" | "size"> {
  /** The URI of its skill at the other server. */
  readonly skill: string;
}

/** Limit of remembered digests; the oldest are dropped first. */
const maxPromises = 50_000;
const digestForm = /^sha256:[0-9a-f]{64}$/i;

export function createSkillRelay({ addresses, send, leaveOut }: SkillRelayOptions): SkillRelay {
  const promises = new Lru<string, Promised>({ maxEntries: maxPromises });
  /** By the path of a SKILL.md: the digest of the front matter in its skill, which itself may be large. */
  const frontMatters = new Lru<string, string>({ maxEntries: maxPromises });

  async function relayed(skill: Skill): Promise<SourceSkill | undefined> {
    const found = toSourceSkill(skill, addresses);
    if (typeof found === "string") {
      leaveOut(skill.uri, found);
      return undefined;
    }
    if (found.files !== "dynamic")
      for (const { path, ...promise } of found.files) promises.set(path, { ...promise, skill: skill.uri });
    frontMatters.set(found.path, await digestOf(canonicalJson(found.frontMatter)));
    return found;
  }

  /** Replaces what is known of the skill. */
  async function renew(uri: string, call: Call): Promise<void> {
    const answer = await send(async (pressmark) => pressmark.skill?.(uri, call), call).catch((cause: unknown) => {
      if (cause instanceof ResourceError && ["not-found", "unsupported"].includes(cause.kind)) return undefined;
      throw cause;
    });
    for (const [path, { skill }] of promises) if (skill === uri) promises.delete(path);
    frontMatters.delete(addresses.of(uri)?.path ?? "");
    if (answer) await relayed(answer.skill);
  }

  async function isKept(path: string, { contents: [content, ...more] }: ReadResult): Promise<boolean> {
    const [promised, frontMatter] = [promises.get(path), frontMatters.get(path)];
    if (!promised && frontMatter === undefined) return true;
    if (content === undefined || more.length > 0) return false;
    const bytes = "text" in content.body ? new TextEncoder().encode(content.body.text) : content.body.bytes;
    if (promised && (bytes.length !== promised.size || (await digestOf(bytes)) !== promised.digest.toLowerCase()))
      return false;
    if (frontMatter === undefined) return true;
    const parsed = await readSkillFrontMatter(new TextDecoder().decode(bytes));
    return "fields" in parsed && (await digestOf(canonicalJson(parsed.fields))) === frontMatter;
  }

  return {
    async skills({ cursor }, call) {
      const page = await send(
        async (pressmark): Promise<Page<Skill>> =>
          (await pressmark.skills?.(pageRequest(cursor), call)) ?? { items: [] },
        call,
      );
      const items = await Promise.all(page.items.map(relayed));
      return { ...page, items: items.filter((skill) => skill !== undefined) };
    },

    async skill(at, call) {
      const uri = addresses.uri(at);
      if (uri === undefined) throw notFound(at.path);
      const answer = await send(async (pressmark) => pressmark.skill?.(uri, call), call);
      const found = answer && (await relayed(answer.skill));
      if (found?.path !== at.path) throw notFound(at.path);
      return found;
    },

    async checked(at, call, read) {
      if (at.query) return read();
      const { path } = at;
      const own = path.endsWith("/SKILL.md") ? addresses.uri(at) : undefined;
      // A SKILL.md may be read before any list.
      if (own !== undefined && !frontMatters.has(path)) await renew(own, call);
      const answer = await read();
      if (await isKept(path, answer)) return answer;
      // It may have changed; then its skill, and one around it, have new digests, too.
      for (const uri of new Set([promises.get(path)?.skill, own])) if (uri !== undefined) await renew(uri, call);
      const again = await read();
      if (await isKept(path, again)) return again;
      throw new ResourceError("unexpected", "the file from the other server does not match its skill");
    },
  };
}

function pageRequest(cursor: string | undefined): PageRequest {
  return cursor === undefined ? {} : { cursor };
}

/** Or the reason why it cannot be served: an incomplete skill would be a different skill. */
function toSourceSkill({ uri, frontMatter, files }: Skill, addresses: Addresses): SourceSkill | string {
  const manifest = addresses.of(uri);
  if (!manifest || manifest.query) return "its URI cannot be expressed below this mount";
  const { path } = manifest;
  const [name, last] = segmentsOf(path).slice(-2);
  if (last !== "SKILL.md" || name !== frontMatter.name) return "its name differs from its folder";
  if (files === "dynamic") return { path, frontMatter, files };
  const ours: SourceSkillFile[] = [];
  for (const file of files) {
    const at = addresses.of(file.uri);
    if (!at || at.query) return "the URI of one of its files cannot be expressed below this mount";
    if (!digestForm.test(file.digest) || !Number.isSafeInteger(file.size) || file.size < 0)
      return "its file list is invalid";
    ours.push({ path: at.path, digest: file.digest, size: file.size });
  }
  return ours.some((file) => file.path === path) ? { path, frontMatter, files: ours } : "it does not list its SKILL.md";
}
