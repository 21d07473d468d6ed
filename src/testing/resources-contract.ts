/** Every promise of the Resources interface as a test: for the router, and for the remote client. */
import { directoryType } from "../resources.ts";
import { pathOf, segmentsOf } from "../source.ts";
import { defaultRunner } from "./contract-runner.ts";
import type { ContractRunner } from "./contract-runner.ts";
import { expectEqual, expectIncludes, expectTrue, expectUnique, show } from "./expectations.ts";
import { collect } from "./pages.ts";
import { refusal } from "./refusal.ts";
import { testResourceReads } from "./resources-contract/reads.ts";
import { createResourcesContext, requested } from "./resources-contract/resources-context.ts";
import type { ResourcesContext } from "./resources-contract/resources-context.ts";
import { testServedSkills } from "./resources-contract/served-skills.ts";
import { testResourceWatch } from "./resources-contract/resource-watch.ts";
import type { ResourcesSetup } from "./resources-setup.ts";

/** Defines the tests of a server or a client. They run under vitest, else under node:test, unless another runner is given. */
export function resourcesContract(name: string, setup: ResourcesSetup, runner: ContractRunner = defaultRunner): void {
  const context = createResourcesContext(setup, runner);
  const group = (title: string, define: (given: ResourcesContext) => void) =>
    runner.describe(title, () => define(context));

  runner.describe(`${name} keeps the promises of resources`, () => {
    group("list", testLists);
    if (setup.directories ?? true) group("children", testDirectories);
    testResourceReads(context, runner);
    group("templates", testServedTemplates);
    group("complete", testCompletion);
    if (setup.findable) group("search", testServedSearch);
    if (setup.skill !== undefined) group("skills", testServedSkills);
    group("watch", testResourceWatch);
  });
}

function testLists({ call, known, list, read, resources, settled, test, uriOf }: ResourcesContext): void {
  test("pages are disjoint and together complete", async () => {
    const uris = (await list()).map(({ uri }) => uri);
    expectUnique(uris, "the list");
    expectIncludes(uris, known.map(uriOf), "the list");
  });

  test("names everything, and lists no directory", async () => {
    for (const { name, uri, mimeType } of await list()) {
      expectTrue(name !== "", `${uri} has no name`);
      expectTrue(mimeType !== directoryType, `${uri} is a directory in the list`);
    }
  });

  test("every listed URI reads back", async () => {
    for (const { uri } of await list())
      expectTrue((await read(uri)).contents.length > 0, `${uri} is listed and has no content`);
  });

  test("with a filter, pages hold what matches and nothing else", async () => {
    const all = await list();
    for (const { name, uri } of all.slice(0, 2)) {
      const [nameStart, uriStart] = [[...name][0] ?? "", uri.slice(0, 8)];
      const filter = { namePatterns: [`${nameStart}*`], uriPatterns: [`${uriStart}*`] };
      const expected = all.filter((each) => each.name.startsWith(nameStart) && each.uri.startsWith(uriStart));
      const found = (await list(filter)).map((each) => each.uri);
      expectEqual(
        found,
        expected.map((each) => each.uri),
        `the list with the filter ${show(filter)}`,
      );
    }
    expectEqual(await list({ uriPatterns: ["none"] }), [], "the list with a filter that matches nothing");
  });

  test("a cursor that was never returned is invalid", async () => {
    for (const cursor of ["", "never given", "e30", "💥"])
      await refusal(settled(resources().list({ cursor }, call()), "list", cursor), ["invalid"], `the cursor ${cursor}`);
  });
}

function testDirectories(context: ResourcesContext): void {
  const { aFile, call, children, directories, known, missing, resources, settled, test, uriOf } = context;

  test("are the direct children of one directory", async () => {
    for (const path of directories) {
      const direct = [...known, ...directories].filter((other) => parentOf(other) === path);
      const found = await children(path);
      expectIncludes(
        found.map(({ uri }) => uri),
        direct.map(uriOf),
        `children of ${show(path)}`,
      );
      for (const { uri, mimeType } of found)
        if (
          directories
            .filter((each) => !known.includes(each))
            .map(uriOf)
            .includes(uri)
        )
          expectEqual(mimeType, directoryType, `the type of ${uri}`);
    }
  });

  test('a missing address, or one that is no directory, throws "not-found"', async () => {
    for (const path of [...missing, aFile]) {
      const page = settled(resources().children(uriOf(path), {}, call()), "children", path);
      await refusal(page, ["not-found"], `children of ${show(path)}`);
    }
  });
}

function testServedTemplates({ call, resources, settled, test }: ResourcesContext): void {
  test("come in pages that end, each template once", async () => {
    const templates = await collect((cursor) =>
      settled(resources().templates(requested(cursor), call()), "templates", cursor),
    );
    expectUnique(
      templates.map(({ uriTemplate }) => uriTemplate),
      "templates",
    );
  });
}

function testCompletion({ call, lacks, resources, settled, setup, test }: ResourcesContext): void {
  const complete = (template: string, variable: string, value: string) =>
    settled(resources().complete({ template, variable, value, given: {} }, call()), "complete", template, variable);

  test('an unknown template throws "invalid"', async () => {
    const template = "no-such-scheme://{variable}";
    await refusal(complete(template, "variable", ""), ["invalid"], `complete ${template}`);
  });

  test(
    "suggests existing values, at most a hundred, and none for an unknown variable",
    async () => {
      const { template = "", variable = "", value = "", expected = "" } = setup.completion ?? {};
      const { values } = await complete(template, variable, value);
      expectIncludes(values, [expected], `suggestions for ${show(variable)} of ${show(template)}`);
      expectTrue(values.length <= 100, `${values.length} values were suggested`);
      expectEqual((await complete(template, "no-such-variable", "")).values, [], "suggestions for an unknown variable");
    },
    lacks("completion"),
  );
}

function testServedSearch({ call, known, resources, settled, setup, test, uriOf }: ResourcesContext): void {
  const { text = "", path = "" } = setup.findable ?? {};
  const search = (scope?: string) => {
    const request = { text, limit: 10, ...(scope !== undefined && { within: scope }) };
    return settled(resources().search(request, call()), "search", request);
  };

  test("finds what exists, and states how much was searched", async () => {
    const { hits, ready } = await search();
    expectIncludes(
      hits.map(({ resource }) => resource.uri),
      [uriOf(path)],
      `the hits for ${show(text)}`,
    );
    expectTrue(hits.length <= 10, `${hits.length} hits were returned instead of at most 10`);
    expectTrue(ready >= 0 && ready <= 1, `\`ready\` is ${ready}, not between 0 and 1`);
  });

  test("stays below the given URI", async () => {
    const { hits } = await search(uriOf(parentOf(path)));
    expectIncludes(
      hits.map(({ resource }) => resource.uri),
      [uriOf(path)],
      `the hits within ${parentOf(path)}`,
    );
    const elsewhere = known.find((other) => other.includes("/") && !other.startsWith(`${parentOf(path)}/`));
    if (elsewhere === undefined) return;
    const beside = (await search(uriOf(elsewhere))).hits.map(({ resource }) => resource.uri);
    expectTrue(!beside.includes(uriOf(path)), `the search within ${show(elsewhere)} found ${show(path)}`);
  });
}

function parentOf(path: string): string {
  return pathOf(segmentsOf(path).slice(0, -1));
}
