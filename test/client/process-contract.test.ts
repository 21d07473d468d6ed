/** `pressmark serve` and `pressmark stdio` as started processes, with several mounts, keep the promises of resources. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { connect, type RemoteServer } from "../../src/client/connect.ts";
import { connectProgram } from "../../src/client/stdio.ts";
import type { Call, Resource, Template } from "../../src/resources.ts";
import { collect } from "../../src/testing/pages.ts";
import type { KnownContent } from "../../src/testing/contract-content.ts";
import { resourcesContract } from "../../src/testing/resources-contract.ts";
import { serve, type Serving, stdioOf } from "../interop/command.ts";

/** encodeURI leaves "#" and "?" alone, and whatever else may stand in a path. */
const encode = (path: string) => encodeURI(path).replaceAll("#", "%23").replaceAll("?", "%3F");

interface Project {
  readonly root: string;
  /** The folder of the mount `files`. */
  readonly folder: string;
  readonly config: string;
  readonly state: string;
  write(path: string, text: string): void;
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A folder, a repository, a database and another Pressmark, each a mount of one config. */
function createProject(): Project {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-process-")));
  const at = (...names: readonly string[]): string => join(root, ...names);
  put(at("repository", "tea.md"), "# Tea\n");
  const git = (...args: readonly string[]): void =>
    void execFileSync("git", [
      "-C",
      at("repository"),
      "-c",
      "user.name=Ada",
      "-c",
      "user.email=ada@example.org",
      ...args,
    ]);
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "--message=first");
  const database = new DatabaseSync(at("shop.db"));
  database.exec("create table orders (id integer primary key, item text); insert into orders (item) values ('tea')");
  database.close();
  put(at("far", "far.md"), "# Far\n");
  mkdirSync(at("files"));
  const far = stdioOf({ path: at("far"), state: at("far-state") });
  const mounts = {
    files: { source: "file", root: at("files") },
    history: { source: "git", root: at("repository") },
    shop: { source: "sqlite", path: at("shop.db"), rows: true },
    far: { source: "mcp", command: far.command, args: far.args, env: far.env },
  };
  put(at("pressmark.config.json"), JSON.stringify({ mounts }));
  return {
    root,
    folder: at("files"),
    config: at("pressmark.config.json"),
    state: at("state"),
    write: (path, text) => put(at("files", path), text),
  };
}

const from = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor });

interface Started {
  readonly remote: RemoteServer;
  stop(): Promise<void>;
}

const ways: Readonly<Record<string, (project: Project) => Promise<Started>>> = {
  async serve({ config, state }) {
    const serving: Serving = await serve({ config, state });
    const remote = await connect(serving.url);
    return {
      remote,
      async stop() {
        await remote.close();
        await serving.stop();
      },
    };
  },
  async stdio({ config, state }) {
    const { command, args, env } = stdioOf({ path: config, state });
    const words = [...args.slice(0, -1), "--config", config];
    const remote = await connectProgram({ command, args: words, env });
    return { remote, stop: () => remote.close() };
  },
};

for (const [name, start] of Object.entries(ways)) {
  let project: Project;
  /** Shared by the tests that change nothing. */
  let started: Started | undefined;
  let isChanged = false;

  async function open(content: KnownContent): Promise<RemoteServer> {
    if (started) return started.remote;
    project = createProject();
    for (const [path, text = ""] of Object.entries(content)) project.write(path, text);
    started = await start(project);
    isChanged = false;
    return started.remote;
  }

  async function stop(): Promise<void> {
    await started?.stop();
    started = undefined;
    rmSync(project.root, { recursive: true, force: true });
  }
  afterAll(stop);

  resourcesContract(`pressmark ${name} with four mounts,`, {
    open,
    uriOf: (path) => `file://${encode(join(project.folder, path))}`,
    write(path, text) {
      isChanged = true;
      project.write(path, text);
    },
    remove(path) {
      isChanged = true;
      rmSync(join(project.folder, path));
    },
    async clear() {
      if (isChanged) await stop();
    },
    waitMs: 40_000,
    timeoutMs: 90_000,
  });

  describe(`pressmark ${name} with four mounts`, () => {
    const call: Call = { caller: { id: "contract" }, signal: new AbortController().signal };
    it("lists, describes and completes what each mount has, a gateway's templates included", async () => {
      await stop();
      const remote = await open({ "here.md": "# Here\n" });
      const listed: Resource[] = await collect((cursor) => remote.list(from(cursor), call));
      const uris = listed.map(({ uri }) => uri);
      const farUri = uris.find((uri) => uri.startsWith("mcp://far/") && uri.endsWith("/far.md"));
      expect(uris).toContain(pathToFileURL(join(project.folder, "here.md")).href);
      expect(uris.some((uri) => uri.startsWith("git://"))).toBe(true);
      expect(uris.some((uri) => uri.startsWith("sqlite://"))).toBe(true);
      expect(farUri).toBeDefined();
      for (const uri of uris) expect((await remote.read(uri, call)).contents, uri).not.toHaveLength(0);

      const templates: Template[] = await collect((cursor) => remote.templates(from(cursor), call));
      const farTemplate = templates.find(({ uriTemplate }) => uriTemplate.startsWith("mcp://far/"));
      for (const prefix of ["file://", "git://", "sqlite://", "mcp://far/"])
        expect(
          templates.some(({ uriTemplate }) => uriTemplate.startsWith(prefix)),
          prefix,
        ).toBe(true);
      const variable = /\{[+#./;?&]?(\w+)/.exec(farTemplate!.uriTemplate)![1]!;
      const suggested = await remote.complete(
        { template: farTemplate!.uriTemplate, variable, value: "far", given: {} },
        call,
      );
      expect(suggested.values).toContain("far.md");
    }, 60_000);
  });
}
