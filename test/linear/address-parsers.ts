/** Parsers and matchers of paths, URIs and templates. */
import { z } from "zod";
import { createGlob } from "../../src/lib/glob.ts";
import { createListFilter } from "../../src/lib/list-filter.ts";
import { parseTemplate } from "../../src/lib/uri-template.ts";
import { parseLineRange } from "../../src/protocol/tools/arguments.ts";
import { createCursors } from "../../src/router/cursor.ts";
import { createRoutes } from "../../src/router/route.ts";
import dataSource from "../../src/sources/data.ts";
import { parseReadQuery } from "../../src/backends/ranges/range.ts";
import { parseRef } from "../../src/backends/git/ref-name.ts";
import { createAddresses } from "../../src/sources/mcp/addresses.ts";
import { toSourceTemplate } from "../../src/sources/mcp/templates.ts";
import { createKeyPaths } from "../../src/sources/redis/key-paths.ts";
import { kib, names, type Parser } from "./parser.ts";

const globs: Parser = {
  name: "globs",
  tokens: ["*", "**", "**/", "?", "{", ",", "}", "{*,*}", "{a,", "[a", "[!", "]", "\\", "a", "/", "Z"],
  maxLength: kib,
  run(pattern) {
    const glob = createGlob(pattern);
    for (const name of names) {
      glob.matches(name);
      glob.mayLead(name);
    }
  },
  kept: [{ before: "**/", unit: "{*,*}", behind: `${"?".repeat(30)}Z` }],
};

const listFilters: Parser = {
  name: "filters of lists",
  tokens: ["*", "**", "?", "*a", "?*", "a", "b", "/", "["],
  maxLength: 4 * kib,
  run(text) {
    const matches = createListFilter({ uriPatterns: text.match(/.{1,256}/gs) ?? [] });
    for (const name of names) matches(name, name);
  },
};

const globPaths: Parser = {
  name: "paths that are held against a glob",
  tokens: ["a", "b", "/", "aa/", ".", "é"],
  maxLength: 64 * kib,
  run(path) {
    for (const pattern of [`${"*a".repeat(100)}*c`, `${"**/a/".repeat(50)}c`, `${"{a,aa,*}".repeat(50)}c`])
      createGlob(pattern).matches(path);
  },
};

export const patterns: readonly Parser[] = [globs, listFilters, globPaths];

const template = parseTemplate("a://b/{c}{/d*}{?e,f,g}");
const manyParts = parseTemplate(`a://${"{a}/".repeat(15)}{+b}x{c}{?d*,e}`);
const routes = createRoutes([
  { name: "a", base: "a://b/", source: { list: async () => ({ items: [] }), read: async () => [] } },
]);
const cursors = createCursors(new Uint8Array(32));
const uriTokens = ["a://b/", "/", "//", "%2e", "%", "%41", "..", ".", "?", "&", "=", "#", "c=", "é", "@", ":"];

const { keyOf, pathOf, prefixBelow } = createKeyPaths("::");

export const addresses: readonly Parser[] = [
  {
    name: "keys and paths of Redis",
    tokens: ["a", "/", "\0", "\\", "\\x", "\\xff", "\\e", ":", "::", ".", "..", "é"],
    maxLength: 64 * kib,
    run(text) {
      keyOf(text);
      prefixBelow(text);
      // Half of a character is no UTF-8.
      pathOf(Buffer.from(text, "latin1"));
    },
  },
  {
    name: "URIs",
    tokens: uriTokens,
    maxLength: 64 * kib,
    run: (uri) => [routes.find(uri), routes.find(`a://b/${uri}`)],
  },
  { name: "URIs of other servers", tokens: uriTokens, maxLength: 64 * kib, run: (uri) => createAddresses().of(uri) },
  {
    name: "URIs that are held against templates",
    tokens: uriTokens,
    maxLength: 64 * kib,
    run: (uri) => [template.match(uri), manyParts.match(uri), template.match(`a://b/${uri}`)],
  },
  {
    name: "templates",
    tokens: ["{", "}", "{+", "{/a*}", "{?a,b}", "a", ",", ":1", "*", "%41", "."],
    maxLength: 8 * kib,
    run: (text) => parseTemplate(text).match("a/b?c"),
  },
  {
    name: "values for templates",
    tokens: uriTokens,
    maxLength: 64 * kib,
    run: (value) => template.expand({ c: value, d: value.split("/"), e: value }),
  },
  {
    name: "templates of other servers",
    tokens: ["{", "}", "a:", "//", "{+", "{a}", "%"],
    maxLength: 64 * kib,
    run: (uriTemplate) => toSourceTemplate({ uriTemplate, name: "a" }),
  },
  {
    name: "cursors",
    tokens: ["A", "_", "-", "=", "."],
    maxLength: 64 * kib,
    run: (cursor) => cursors.open(cursor, "a"),
  },
  {
    name: "data URIs",
    tokens: ["text/plain", ";", ";base64", ";charset=", ",", "%41", "%", "AAAA", " "],
    maxLength: 64 * kib,
    run: async (path) =>
      (await dataSource.open(dataSource.options(z).parse({}), {} as never)).read({ path }, {} as never),
  },
  {
    name: "ranges",
    tokens: ["1", "-", " ", "\t", "lines="],
    maxLength: 64 * kib,
    run: (text) => [parseReadQuery({ lines: text }), parseLineRange("lines", text)],
  },
  { name: "refs of git", tokens: ["HEAD", "~1", "^", "~", "/", ".", "@{", "a"], maxLength: 64 * kib, run: parseRef },
];
