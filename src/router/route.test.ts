import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Source } from "../source.ts";
import { innerSlash } from "../source.ts";
import { createRoutes } from "./route.ts";
import type { Mount } from "./route.ts";

const source: Source = { list: async () => ({ items: [] }), read: async () => [] };
const mountAt = (base: string, name = base): Mount => ({ name, base, source });
const bases = [
  "file:///home/me/project/",
  "test://",
  "git://repo/",
  "postgres://host:5432/db/",
  "calendar:",
  "disk:///",
];
const routes = createRoutes(bases.map((base) => mountAt(base)));

/** The target of a URI as "base path", followed by its query. */
function lead(uri: string, through = routes): string | undefined {
  const place = through.find(uri);
  if (place === undefined) return undefined;
  const query = place.at.query === undefined ? "" : ` ${JSON.stringify(place.at.query)}`;
  return `${place.mount.name} ${place.at.path}${query}`;
}

/** The URI of an address below this base. */
function format(base: string, path: string, query?: Record<string, string>): string | undefined {
  const mount = routes.mounts.find(({ name }) => name === base);
  return mount && routes.format(mount, query ? { path, query } : { path });
}

describe("a URI leads to a mount and an address", () => {
  it.each([
    ["file:///home/me/project", "file:///home/me/project/ "],
    ["file:///home/me/project/a/b.txt", "file:///home/me/project/ a/b.txt"],
    ["FILE:///home/me/project/a", "file:///home/me/project/ a"],
    ["file://localhost/home/me/project/a", "file:///home/me/project/ a"],
    ["file://LocalHost/home/me/project/a", "file:///home/me/project/ a"],
    ["file:///home/me/pro%6Aect/a%20b", "file:///home/me/project/ a b"],
    ["file:///home/me/pro%6aect/日本", "file:///home/me/project/ 日本"],
    ["file:///home/me/project/a+b", "file:///home/me/project/ a+b"],
    ["file:///home/me/project/..a/.b/...", "file:///home/me/project/ ..a/.b/..."],
    ["file:///home/me/project/a%0Ab", "file:///home/me/project/ a\nb"],
    ["file:///home/me/project/a/", "file:///home/me/project/ a/"],
    ["test://", "test:// "],
    ["test://static-text", "test:// static-text"],
    ["test://a/b", "test:// a/b"],
    ["test:///a", "test:// /a"],
    ["git://repo/tree/feature%2Fx/src", `git://repo/ tree/feature${innerSlash}x/src`],
    ["postgres://host:5432/db/public/t/schema", "postgres://host:5432/db/ public/t/schema"],
    ["postgres://host%3A5432/db", "postgres://host:5432/db/ "],
    ["calendar:", "calendar: "],
    ["calendar:events/2024", "calendar: events/2024"],
    ["calendar:/events", "calendar: /events"],
    ["disk:///", "disk:/// "],
    ["disk:///etc", "disk:/// etc"],
    ["test://a?lines=1-2&as=text", 'test:// a {"lines":"1-2","as":"text"}'],
    ["test://a?q=1+1%26%3D&flag", 'test:// a {"q":"1+1&=","flag":""}'],
    ["test://a?", "test:// a"],
    ["test://?q=%E6%97%A5", 'test://  {"q":"日"}'],
    ["git://repo?x=a/b?c", 'git://repo/  {"x":"a/b?c"}'],
  ])("%s", (uri, expected) => expect(lead(uri)).toBe(expected));

  it.each([
    ["a sibling that begins alike", "file:///home/me/project2/a"],
    ["a directory above", "file:///home/me"],
    ["a slash with nothing after it", "file:///home/me/project/"],
    ["the same behind a query", "git://repo/?x=1"],
    ["an authority of its own", "file://elsewhere/home/me/project/a"],
    ["a mount without its slash", "disk://"],
    ["another scheme", "http://repo/a"],
    ["no scheme", "home/me/project/a"],
    ["an empty scheme", "://a"],
    ["a scheme that begins with a digit", "1test://a"],
    ["an opaque spelling of a hierarchical scheme", "test:a"],
    ["a hierarchical spelling of an opaque scheme", "calendar://events"],
    ["nothing at all", ""],
    ["a dot segment", "test://a/./b"],
    ["two dots", "test://a/../b"],
    ["two dots at the end", "test://a/.."],
    ["two dots in front", "test://../a"],
    ["encoded dots", "test://a/%2e%2E/b"],
    ["half-encoded dots", "test://a/.%2e"],
    ["dots on the way to the mount", "file:///home/x/../me/project/a"],
    ["NUL", "test://a%00b"],
    ["a lone percent sign", "test://a%"],
    ["an escape that is none", "test://a%zz"],
    ["a cut escape", "test://a%4"],
    ["bytes that are no UTF-8", "test://a%ff"],
    ["an overlong escape of a slash", "test://a%c0%af"],
    ["an encoded surrogate", "test://a%ed%a0%80"],
    ["half a surrogate pair", "test://a\ud800"],
    ["a raw line break", "test://a\nb"],
    ["a raw NUL", "test://a\0b"],
    ["a raw DEL", "test://a\x7fb"],
    ["a raw C1 control", "test://a\x85b"],
    ["a fragment", "test://a#b"],
    ["an empty fragment", "test://a#"],
    ["a repeated name", "test://a?x=1&x=2"],
    ["a repeated name in disguise", "test://a?x=1&%78=2"],
    ["a value without a name", "test://a?=1"],
    ["an empty pair", "test://a?x=1&"],
    ["a bad escape in the query", "test://a?x=%"],
    ["NUL in the query", "test://a?x=%00"],
  ])("but not with %s", (_, uri) => expect(lead(uri)).toBeUndefined());

  it("keeps a name like __proto__ as a name", () => {
    const place = routes.find("test://a?__proto__=1&toString=2");
    expect(Object.getPrototypeOf(place?.at.query)).toBeNull();
    expect(Object.keys(place?.at.query ?? {})).toEqual(["__proto__", "toString"]);
  });

  it("unless it is too long, and the message does not repeat it", () => {
    const long = `test://${"x".repeat(70_000)}`;
    expect(() => routes.find(long)).toThrow(expect.objectContaining({ kind: "invalid" }));
    expect(() => routes.find(long)).toThrow(
      /^the URI has 70007 characters, but at most 65536 are allowed; use a shorter one$/,
    );
    expect(lead(`test://${"x".repeat(65_536 - 7)}`)).toMatch(/^test:\/\/ x+$/);
  });

  it.each(["/", "%2F", "?", ".a", "%", "/..", "/%2e"])(
    "or to none, quickly, when it has the maximum length and is full of %s",
    (unit) => {
      const long = unit.repeat(Math.floor(65_000 / unit.length));
      const leads = !["%", "/..", "/%2e"].includes(unit);
      expect(routes.find(`test://${long}`) !== undefined).toBe(leads);
    },
  );
});

describe("an address has a URI", () => {
  it.each([
    ["file:///home/me/project/", "", "file:///home/me/project"],
    ["file:///home/me/project/", "a b/ü.txt", "file:///home/me/project/a%20b/%C3%BC.txt"],
    ["file:///home/me/project/", "100%/#1?", "file:///home/me/project/100%25/%231%3F"],
    ["file:///home/me/project/", "-._~!$&'()*+,;=:@", "file:///home/me/project/-._~!$&'()*+,;=:@"],
    ["file:///home/me/project/", "{a}[b]^`|\\", "file:///home/me/project/%7Ba%7D%5Bb%5D%5E%60%7C%5C"],
    ["file:///home/me/project/", ".a/..b/...", "file:///home/me/project/.a/..b/..."],
    ["git://repo/", `tree/feature${innerSlash}x`, "git://repo/tree/feature%2Fx"],
    ["test://", "", "test://"],
    ["test://", "static-text", "test://static-text"],
    ["test://", "a:b@c/d:e@f", "test://a%3Ab%40c/d:e@f"],
    ["test://", "ä:b/c:d", "test://%C3%A4%3Ab/c:d"],
    ["calendar:", "", "calendar:"],
    ["calendar:", "events:all", "calendar:events:all"],
    ["disk:///", "", "disk:///"],
    ["disk:///", "etc", "disk:///etc"],
  ])("%s %j", (base, path, uri) => expect(format(base, path)).toBe(uri));

  it("followed by its query", () => {
    expect(format("test://", "a", { q: "1+1 &=#日", x: "" })).toBe("test://a?q=1%2B1%20%26%3D%23%E6%97%A5&x=");
    expect(format("test://", "", { q: "x" })).toBe("test://?q=x");
    expect(format("test://", "a", {})).toBe("test://a");
  });

  it.each([
    ["test://", "."],
    ["test://", "a/.."],
    ["test://", "a/../b"],
    ["test://", "日/./b"],
    ["test://", "half \ud800"],
    ["calendar:", "//x"],
  ])("unless no URI can express it: %s %j", (base, path) => expect(format(base, path)).toBeUndefined());

  it("unless no query can express it", () => {
    expect(format("test://", "a", { "": "1" })).toBeUndefined();
    expect(format("test://", "a", { x: "\udc00" })).toBeUndefined();
    expect(format("test://", "a", { x: "a\0b" })).toBeUndefined();
  });
});

describe("for any address", () => {
  const character = fc.oneof(
    fc.constantFrom(
      " ",
      "%",
      "#",
      "?",
      "日",
      "本",
      "e\u0301",
      "é",
      "😀",
      innerSlash,
      ".",
      ":",
      "@",
      "&",
      "+",
      "\n",
      "%2F",
      "{",
      "[",
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }).filter((text) => !text.includes("/")),
  );
  const segment = fc
    .array(character, { maxLength: 6 })
    .map((characters) => characters.join(""))
    .filter((text) => text !== "." && text !== "..");
  const anyPath = fc.array(segment, { maxLength: 5 }).map((segments) => segments.join("/"));
  const text = fc.string({ unit: "grapheme" }).filter((value) => !value.includes("\0") && value.isWellFormed());
  const anyQuery = fc.option(
    fc
      .array(
        fc.tuple(
          text.filter((name) => name !== ""),
          text,
        ),
        { minLength: 1, maxLength: 3 },
      )
      .map((pairs) => Object.assign(Object.create(null), Object.fromEntries(pairs)) as Record<string, string>),
    { nil: undefined },
  );
  const address = fc
    .record({ path: anyPath, query: anyQuery })
    .map(({ path, query }) => (query ? { path, query } : { path }));
  const anyMount = fc.constantFrom(...routes.mounts);

  it("its URI leads back to it", () => {
    fc.assert(
      fc.property(anyMount, address, (mount, at) => {
        const uri = routes.format(mount, at);
        if (mount.base === "calendar:" && at.path.startsWith("//")) {
          expect(uri).toBeUndefined();
        } else {
          expect(uri).toMatch(/^[\x21-\x7e]+$/);
          expect(routes.find(uri ?? "")).toEqual({ mount, at });
        }
      }),
      { numRuns: 500 },
    );
  });

  it("every other form of its URI leads to it too", () => {
    fc.assert(
      fc.property(anyMount, address, fc.infiniteStream(fc.nat(3)), (mount, at, dice) => {
        const uri = routes.format(mount, at);
        if (uri === undefined) return;
        const start = mount.root.length;
        const reformatted = uri.slice(0, start) + reformat(uri.slice(start), dice);
        expect(routes.find(reformatted)).toEqual({ mount, at });
      }),
      { numRuns: 500 },
    );
  });

  it("no other address has its URI", () => {
    fc.assert(
      fc.property(anyMount, anyPath, anyPath, (mount, one, other) => {
        fc.pre(one !== other);
        const uri = routes.format(mount, { path: one });
        if (uri !== undefined) expect(routes.format(mount, { path: other })).not.toBe(uri);
      }),
      { numRuns: 500 },
    );
  });

  it("a URI that leads to an address can be formatted so that it leads there again", () => {
    const piece = fc.constantFrom(
      "/",
      "//",
      ".",
      "..",
      "%2F",
      "%2e",
      "%",
      "a",
      "?",
      "&",
      "=",
      "x",
      "日",
      "%E6%97%A5",
      "%00",
      "#",
      "@",
      ":",
    );
    fc.assert(
      fc.property(anyMount, fc.array(piece, { maxLength: 12 }), (mount, pieces) => {
        const place = routes.find(mount.base + pieces.join(""));
        if (place === undefined) return;
        const uri = routes.format(place.mount, place.at);
        expect(routes.find(uri ?? "")).toEqual(place);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("mounts", () => {
  it.each([
    ["the same base", "a://x/", "a://x/"],
    ["the same base, spelled otherwise", "a://x/b/", "A://x/%62/"],
    ["one below another", "a://x/", "a://x/y/z/"],
    ["one above another", "a://x/y/", "a://"],
    ["this machine by name", "file:///x/", "file://localhost/x/"],
  ])("with %s are rejected, and both are named", (_, one, other) => {
    const make = () => createRoutes([mountAt(one, "first"), mountAt(other, "second")]);
    expect(make).toThrow(expect.objectContaining({ kind: "invalid" }));
    expect(make).toThrow(/"first" \(.*"second" \(.*share URIs/);
  });

  it("of one name are rejected", () => {
    expect(() => createRoutes([mountAt("a://", "x"), mountAt("b://", "x")])).toThrow('two mounts are named "x"');
  });

  it.each([
    ["docs", "must begin with a scheme"],
    ["docs://a", 'must end in "/"'],
    ["docs://a/../", 'contains "..", which is not allowed in a path'],
    ["docs://a//", "contains an empty segment"],
    ["docs:/a/", "contains an empty segment"],
    ["docs://a?x=/", "must be a URI without query"],
    ["docs://a#b/", "must be a URI without query"],
    ["docs://%ff/", 'contains "%ff", which is not allowed in a path'],
    ["file://", "must name a folder"],
  ])("cannot have the base %s", (base, why) => {
    expect(() => createRoutes([mountAt(base, "m")])).toThrow(
      `the base ${JSON.stringify(base)} of the mount "m" ${why}`,
    );
  });

  it("can share one scheme", () => {
    const side = createRoutes([mountAt("a://x/y/"), mountAt("a://x/z/"), mountAt("a://xy/"), mountAt("a:")]);
    expect(lead("a://x/y/1", side)).toBe("a://x/y/ 1");
    expect(lead("a://x/z/1", side)).toBe("a://x/z/ 1");
    expect(lead("a://xy", side)).toBe("a://xy/ ");
    expect(lead("a:x", side)).toBe("a: x");
    expect(lead("a://x", side)).toBeUndefined();
  });

  it("are in order of their base, each in its canonical form", () => {
    const mounts = createRoutes([mountAt("C://b{1}/", "z"), mountAt("c://[::1]:80/", "y"), mountAt("b:", "x")]).mounts;
    expect(mounts.map(({ name, base, root }) => [name, base, root])).toEqual([
      ["x", "b:", "b:"],
      ["y", "c://[::1]:80/", "c://[::1]:80"],
      ["z", "c://b%7B1%7D/", "c://b%7B1%7D"],
    ]);
  });
});

/** Encodes some of the plain characters and decodes some of the others, without changing the meaning. */
function reformat(spelled: string, dice: Iterator<number>): string {
  const [path = "", query] = spelled.split("?", 2);
  const over = (part: string, keep: string) =>
    [...part.matchAll(/(?:%[0-9A-F]{2})+|[^%]/g)]
      .map(([piece]) => {
        const roll = dice.next().value ?? 0;
        if (keep.includes(piece)) return piece;
        if (roll === 0 && piece.length === 1) return `%${piece.charCodeAt(0).toString(16).padStart(2, "0")}`;
        if (roll === 1 && piece.length > 3)
          return decodeURIComponent(piece).replace(/[^\u00a0-\u{10ffff}]/gu, encodeURIComponent);
        return roll === 2 ? piece.toLowerCase().replace(/^[^%]$/, piece) : piece;
      })
      .join("");
  return over(path, "/") + (query === undefined ? "" : `?${over(query, "&=")}`);
}

describe("a mount with other bases", () => {
  const aliased = createRoutes([{ ...mountAt("gcs://b/", "b"), aliases: ["gs://b/"] }]);

  it("is found under each, and formatted with its own base", () => {
    const place = aliased.find("gs://b/a%20b");
    expect(place).toMatchObject({ mount: { name: "b" }, at: { path: "a b" } });
    expect(aliased.format(place!.mount, place!.at)).toBe("gcs://b/a%20b");
    expect(aliased.find("gs://c/a")).toBeUndefined();
  });

  it("shares them with no other mount, and the base is named", () => {
    const mount = { ...mountAt("gcs://b/", "b"), aliases: ["gs://c/"] };
    const says = 'the mount "b" also answers for "gs://c/", which is the base of "c"; set "scheme" for "b"';
    expect(() => createRoutes([mount, mountAt("gs://c/", "c")])).toThrow(says);
    expect(() => createRoutes([mountAt("gs://c/", "c"), mount])).toThrow(says);
    expect(() => createRoutes([mountAt("gs://c/d/", "d"), mount])).toThrow(
      'also answers for "gs://c/", which shares URIs with "d" ("gs://c/d/")',
    );
  });
});

describe("a mount with verbatim addresses", () => {
  const verbatim = createRoutes([{ ...mountAt("data:", "data"), verbatim: true }]);

  it.each(["text/plain,a//../b?c=%20&c", ",%FF", ""])("keeps %j", (path) => {
    expect(verbatim.find(`data:${path}`)?.at).toEqual({ path });
    expect(verbatim.format(verbatim.mounts[0]!, { path })).toBe(`data:${path}`);
  });

  it("has no fragment, and is a scheme alone", () => {
    expect(verbatim.find("data:,a#b")).toBeUndefined();
    expect(() => createRoutes([{ ...mountAt("data:x/", "data"), verbatim: true }])).toThrow(/scheme alone/);
  });
});
