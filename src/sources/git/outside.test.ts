import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { Source } from "../../source.ts";
import { refusal } from "../../testing/refusal.ts";
import { placesBeyond, reachOf } from "../../backends/git/reach.ts";
import { findRepository } from "../../backends/git/repository.ts";
import {
  call,
  clear,
  readFacts,
  readText,
  scratchFolder,
  type TestRepository,
  testRepository,
} from "./test-repository.ts";

const realEnv = { ...process.env };

afterEach(async () => {
  for (const name of Object.keys(process.env)) if (!(name in realEnv)) delete process.env[name];
  await clear();
});

/** Another repository on the same machine, whose commit an attacker wants to read. */
interface Victim extends TestRepository {
  readonly commit1: string;
  readonly objects: string;
}

interface Attack {
  readonly name: string;
  /** Changes the served repository, so that plain git reads objects of the victim through it. */
  plant(served: TestRepository, victim: Victim): void;
  /** The source always rejects such a repository: no one creates it on purpose. */
  readonly isUnusual?: boolean;
  /** The repository is served, but the path to the victim is not followed. */
  readonly isHarmless?: boolean;
}

const alternates = ".git/objects/info/alternates";

const attacks: readonly Attack[] = [
  { name: "an absolute alternate", plant: ({ write }, { objects }) => write(alternates, `${objects}\n`) },
  {
    name: "an alternate without a line feed at the end",
    plant: ({ write }, { objects }) => write(alternates, `# a comment\n\n${objects}`),
  },
  {
    name: "a relative alternate",
    plant: ({ folder, write }, { objects }) => write(alternates, relative(join(folder, ".git/objects"), objects)),
  },
  {
    name: "a quoted alternate",
    plant: ({ write }, { objects }) => write(alternates, `"${objects}"\n`),
    isUnusual: true,
  },
  {
    name: "a quoted alternate with escapes",
    plant: ({ write }, { objects }) => write(alternates, `"\\057${objects.slice(1)}"\n`),
    isUnusual: true,
  },
  {
    name: "an alternate after the closing quote of another",
    plant: ({ write }, { objects }) => write(alternates, `"nothing"x${objects}\n`),
    isUnusual: true,
  },
  {
    name: "an alternate at the end of a large file",
    plant: ({ write }, { objects }) => write(alternates, `#${"x".repeat(1024 * 1024)}\n${objects}\n`),
    isUnusual: true,
  },
  {
    name: "an alternate before a NUL",
    plant: ({ write }, { objects }) => write(alternates, `${objects}\0\n`),
    isUnusual: true,
  },
  {
    name: "an alternate whose name is not UTF-8",
    plant({ folder, write }, { objects }) {
      const name = Buffer.from([0xff, 0xfe]);
      symlinkSync(objects, Buffer.concat([Buffer.from(`${folder}/`), name]));
      write(alternates, Buffer.concat([Buffer.from("../../"), name, Buffer.from("\n")]));
    },
    isUnusual: true,
  },
  {
    name: "an alternate whose name ends with a carriage return",
    plant({ folder, write }, { objects }) {
      symlinkSync(objects, join(folder, "borrowed\r"));
      write(alternates, "../../borrowed\r\n");
    },
    isUnusual: true,
  },
  {
    name: "an alternate of an alternate inside",
    plant({ write }, { objects }) {
      write(alternates, "../../inner/objects\n");
      write("inner/objects/info/alternates", `${objects}\n`);
    },
  },
  {
    name: "an alternate of an alternate, quoted",
    plant({ write }, { objects }) {
      write(alternates, "../../inner/objects\n");
      write("inner/objects/info/alternates", `"${objects}"\n`);
    },
    isUnusual: true,
  },
  {
    name: "an alternate that is a link inside",
    plant({ folder, write }, { objects }) {
      symlinkSync(objects, join(folder, "borrowed"));
      write(alternates, "../../borrowed\n");
    },
  },
  {
    name: "a link to an alternates file",
    plant({ folder, write }, { objects }) {
      write("list", `${objects}\n`);
      symlinkSync(join(folder, "list"), join(folder, alternates));
    },
  },
  {
    name: "a link instead of the objects",
    plant({ folder }, { objects, git }) {
      rmSync(join(folder, ".git/objects"), { recursive: true });
      symlinkSync(objects, join(folder, ".git/objects"));
      git("count-objects");
    },
  },
  {
    name: "a link instead of the packs",
    plant({ folder }, victim) {
      victim.git("gc", "--quiet");
      rmSync(join(folder, ".git/objects/pack"), { recursive: true });
      symlinkSync(join(victim.objects, "pack"), join(folder, ".git/objects/pack"));
    },
  },
  {
    name: "links to packs",
    plant({ folder }, victim) {
      victim.git("gc", "--quiet");
      for (const name of readdirSync(join(victim.objects, "pack")))
        symlinkSync(join(victim.objects, "pack", name), join(folder, ".git/objects/pack", name));
    },
  },
  {
    name: "links to folders of loose objects",
    plant({ folder }, { objects }) {
      for (const name of readdirSync(objects))
        if (name.length === 2) {
          rmSync(join(folder, ".git/objects", name), { recursive: true, force: true });
          symlinkSync(join(objects, name), join(folder, ".git/objects", name));
        }
    },
    isUnusual: true,
  },
  {
    name: "links to loose objects",
    plant({ folder }, { objects }) {
      for (const name of readdirSync(objects).filter(({ length }) => length === 2))
        for (const rest of readdirSync(join(objects, name))) {
          mkdirSync(join(folder, ".git/objects", name), { recursive: true });
          symlinkSync(join(objects, name, rest), join(folder, ".git/objects", name, rest));
        }
    },
    isUnusual: true,
  },
  {
    name: "links to packs through a link to a folder inside",
    plant({ folder }, victim) {
      victim.git("gc", "--quiet");
      renameSync(join(folder, ".git/objects/pack"), join(folder, "packs"));
      symlinkSync("../../packs", join(folder, ".git/objects/pack"));
      for (const name of readdirSync(join(victim.objects, "pack")))
        symlinkSync(join(victim.objects, "pack", name), join(folder, "packs", name));
    },
  },
  // Git is told to ignore such an index, so it need not be parsed.
  { name: "a pack index that points outside", plant: plantPackIndex, isHarmless: true },
];

/** A multi-pack index names its packs relative to the folder of packs; git also accepts names with "..". */
function plantPackIndex({ folder }: TestRepository, victim: Victim): void {
  const maker = testRepository();
  victim.git("gc", "--quiet");
  const from = join(victim.objects, "pack");
  const to = join(maker.folder, ".git/objects/pack");
  for (const name of readdirSync(from)) copyFileSync(join(from, name), join(to, name));
  maker.git("multi-pack-index", "write");
  const index = readFileSync(join(to, "multi-pack-index"));
  const count = index[6]!;
  const chunks = Array.from({ length: count }, (_, at) => {
    const row = 12 + at * 12;
    const [first, end] = [row + 4, row + 16].map((each) => Number(index.readBigUInt64BE(each)));
    return { id: index.toString("latin1", row, row + 4), body: index.subarray(first, end) };
  });
  const pack = join(folder, ".git/objects/pack");
  const names = chunks.find(({ id }) => id === "PNAM")!;
  const name = names.body.toString("latin1").replace(/\0+$/, "");
  const spelled = Buffer.from(`${relative(pack, from)}/${name}\0`);
  names.body = Buffer.concat([spelled, Buffer.alloc((4 - (spelled.length % 4)) % 4)]);
  const table = Buffer.alloc((count + 1) * 12);
  let offset = 12 + table.length;
  for (const [at, { id, body }] of chunks.entries()) {
    table.write(id, at * 12, "latin1");
    table.writeBigUInt64BE(BigInt(offset), at * 12 + 4);
    offset += body.length;
  }
  table.writeBigUInt64BE(BigInt(offset), count * 12 + 4);
  const made = Buffer.concat([index.subarray(0, 12), table, ...chunks.map(({ body }) => body)]);
  writeFileSync(join(pack, "multi-pack-index"), Buffer.concat([made, createHash("sha1").update(made).digest()]));
}

function victimAndServed(): { readonly victim: Victim; readonly served: TestRepository } {
  const base = scratchFolder();
  const other = testRepository([], join(base, "victim"));
  const commit1 = other.commit("not yours", { "secret.txt": "the secret of another repository" });
  const victim = { ...other, commit1, objects: join(other.folder, ".git/objects") };
  const served = testRepository([], join(base, "served"));
  served.commit("first", { "a.txt": "a" });
  return { victim, served };
}

function beyond(folder: string): string[] {
  const found = findRepository(folder);
  if (!found) throw new Error(`no repository at ${folder}`);
  return placesBeyond(found, folder);
}

/** The response about the victim, requested by short and full hashes. */
async function ask(source: Source, { commit1 }: Victim): Promise<string> {
  const heard: string[] = [];
  for (const ref of [commit1, commit1.slice(0, 7)])
    for (const path of [`commit/${ref}`, `blob/${ref}/secret.txt`])
      heard.push(
        await source.read({ path }, call).then(
          (parts) => JSON.stringify(parts),
          () => "",
        ),
      );
  const template = source.templates!.find((each) => each.template.includes("{sha}"))!;
  const asked = { template, variable: "sha", value: commit1.slice(0, 7), given: {} };
  heard.push(JSON.stringify(await source.complete!(asked, call).catch(() => "")));
  return heard.join("\n");
}

const tells = /the secret of another|not yours|secret\.txt|[0-9a-f]{12}/;

describe("a repository gives no access to another one through", () => {
  for (const { name, plant, isUnusual, isHarmless } of attacks)
    it(name, async () => {
      const { victim, served } = victimAndServed();
      // Opened before the attack: what is planted later must not be followed either.
      const early = await served.open();
      await readFacts(early, "log");
      plant(served, victim);
      expect(served.git("cat-file", "-p", `${victim.commit1}:secret.txt`), "git itself follows it").toContain("secret");
      expect(await ask(early, victim)).not.toMatch(tells);
      if (isHarmless) {
        const late = await served.open();
        expect(await ask(late, victim)).not.toMatch(tells);
        expect(await readFacts(late, "log")).toMatchObject({ commits: [{ subject: "first" }] });
      } else expect(beyond(served.folder)).not.toEqual([]);
      if (!isUnusual) return;
      const { message } = await refusal(served.open(), ["invalid"], name);
      expect(message).not.toContain(dirname(victim.folder));
    });

  it("environment variables", async () => {
    const { victim, served } = victimAndServed();
    process.env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = victim.objects;
    process.env["GIT_OBJECT_DIRECTORY"] = victim.objects;
    expect(await ask(await served.open(), victim)).not.toMatch(tells);
  });
});

describe("a repository that may make git read elsewhere is rejected:", () => {
  const spoils: Readonly<Record<string, (served: TestRepository, victim: Victim) => void>> = {
    "a folder instead of the alternates file": ({ folder }) => mkdirSync(join(folder, alternates)),
    "a loop of links instead of the alternates file": ({ folder }) =>
      symlinkSync("alternates", join(folder, alternates)),
    "a pipe instead of the alternates file": ({ folder }) => execFileSync("mkfifo", [join(folder, alternates)]),
    "a pipe among the packs": ({ folder }) => execFileSync("mkfifo", [join(folder, ".git/objects/pack/x.idx")]),
    "a file instead of an alternate": ({ write }) => write(alternates, "../../a.txt\n"),
    "a broken link among the packs": ({ folder }) =>
      symlinkSync("/nowhere/x.pack", join(folder, ".git/objects/pack/x.pack")),
    "a reftable list that names one elsewhere": ({ write }, { folder }) =>
      write(".git/reftable/tables.list", `../../../${basename(folder)}/.git/reftable/x.ref\n`),
    "too many alternates": ({ write }) => {
      for (let each = 0; each < 40; each += 1) write(`inner/${each}/info/x`, "");
      write(alternates, Array.from({ length: 40 }, (_, each) => `../../inner/${each}\n`).join(""));
    },
  };
  for (const [name, spoil] of Object.entries(spoils))
    it(name, async () => {
      const { victim, served } = victimAndServed();
      const early = await served.open();
      await readFacts(early, "log");
      spoil(served, victim);
      await refusal(served.open(), ["invalid"], name);
      expect(beyond(served.folder)).toEqual([join(served.folder, ".git")]);
      // Only git versions with reftable support read the list, when they start.
      if (!name.includes("reftable")) await refusal(early.read({ path: "log" }, call), ["unavailable"], name);
    });
});

describe("a repository refers to the outside through a link instead of", () => {
  const inGitFolder = ["HEAD", "index", "packed-refs", "config", "refs/heads", "refs/heads/main", "info/exclude"];
  for (const name of inGitFolder)
    it(name, () => {
      const { victim, served } = victimAndServed();
      victim.git("pack-refs");
      victim.write(".git/info/exclude", "");
      victim.write(".git/refs/heads/main", `${victim.commit1}\n`);
      rmSync(join(served.folder, ".git", name), { recursive: true, force: true });
      symlinkSync(join(victim.folder, ".git", name), join(served.folder, ".git", name));
      expect(beyond(served.folder)).toEqual([join(victim.folder, ".git", name)]);
    });
});

describe("a repository is served that", () => {
  it("has an alternate inside, also one that was just added", async () => {
    const { victim: lender, served } = victimAndServed();
    const source = await served.open();
    await readFacts(source, "log");
    renameSync(lender.folder, join(served.folder, "inner"));
    served.write(alternates, "# written by hand\n../../inner/.git/objects\n/nowhere/objects\n");
    for (const each of [source, await served.open()])
      expect(await readText(each, `blob/${lender.commit1}/secret.txt`)).toContain("the secret");
    expect(beyond(served.folder)).toEqual([]);
    served.write(alternates, "");
    await refusal(source.read({ path: `blob/${lender.commit1.slice(0, 9)}/secret.txt` }, call), ["not-found"], "lent");
  });

  it("has an alternate outside that its owner allows", async () => {
    const { victim: lender, served } = victimAndServed();
    served.write(alternates, `${lender.objects}\n`);
    expect(await readText(await served.open(), `blob/${lender.commit1}/secret.txt`)).toContain("the secret");
  });

  it("has a commit graph, packs, loose objects, and symbolic refs as links", async () => {
    const { served } = victimAndServed();
    served.git("commit-graph", "write", "--reachable", "--split");
    served.git("gc", "--quiet");
    served.git("multi-pack-index", "write");
    served.commit("second", { "a.txt": "b" });
    symlinkSync("refs/heads/main", join(served.folder, ".git/refs/heads/other"));
    expect(beyond(served.folder)).toEqual([]);
    expect(await readFacts(await served.open(), "log")).toMatchObject({ commits: { length: 2 } });
  });
});

it("every alternate that git uses is known, for any alternates file", async () => {
  const { victim, served } = victimAndServed();
  const locations = [victim.objects, "../../inner/objects", "../../linked", "../../inner/../linked", "/nowhere", "."];
  symlinkSync(victim.objects, join(served.folder, "linked"));
  served.write("inner/objects/info/x", "");
  const odd = fc.constantFrom('"', "\\", "\\057", "#", " ", "\r", "\0", "\t", "x", "\u00e9");
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constant("\n") },
    { weight: 4, arbitrary: fc.constantFrom(...locations) },
    { weight: 2, arbitrary: odd },
  );
  let followed = 0;
  let understood = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.array(piece, { maxLength: 4 }), (first, second) => {
      served.write(alternates, first.join(""));
      served.write("inner/objects/info/alternates", second.join(""));
      let known: readonly string[];
      try {
        known = reachOf(findRepository(served.folder)!).objectFolders;
      } catch {
        return;
      }
      understood += 1;
      const counted = served.gitBytes(["-c", "core.quotePath=false", "count-objects", "--verbose"]).toString();
      for (const [, place = ""] of counted.matchAll(/^alternate: (.*)$/gm)) {
        followed += 1;
        expect(known).toContain(realpathSync(place));
      }
    }),
    { numRuns: 200, seed: 6 },
  );
  expect(followed).toBeGreaterThan(20);
  expect(understood).toBeGreaterThan(20);
});
