/** Templates in both directions: the RFC's examples, our own layouts, hostile URIs, and round trips. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { examples, variables } from "./test-uri-template-examples.ts";
import { maxTemplateLength, maxUriLength, maxVariables, parseTemplate, type TemplateValue } from "./uri-template.ts";

function read(template: string, uri: string): Record<string, string | readonly string[]> | undefined {
  const match = parseTemplate(template).match(uri);
  return match && Object.fromEntries(match);
}

const write = (template: string, values: Readonly<Record<string, TemplateValue>>) =>
  parseTemplate(template).expand(values);

function complaintAbout(template: string): string {
  try {
    parseTemplate(template);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("the template was accepted");
}

/** Each part may read each character once to mark it and once to take it, and a name or literal once more. */
function visitsPerCharacter(template: string): number {
  return 4 * (template.split(/[{},]/).length + 1);
}

describe("the examples of RFC 6570", () => {
  it.each(examples)("$section: $template expands to $expansion", ({ template, expansion }) => {
    expect(write(template, variables)).toBe(expansion);
  });

  it.each(examples.filter(({ gives }) => gives))(
    "$section: $expansion returns the values of $template",
    ({ template, expansion, gives = [] }) => {
      expect(read(template, expansion)).toEqual(Object.fromEntries(gives.map((name) => [name, variables[name]])));
    },
  );

  it.each(examples.filter(({ reads }) => reads))(
    "$section: $expansion is one interpretation of $template",
    ({ template, expansion, reads }) => {
      expect(read(template, expansion)).toEqual(reads);
    },
  );

  it.each(examples.filter(({ matchesNot }) => matchesNot))(
    "$section: $expansion does not match $template: $matchesNot",
    ({ template, expansion }) => {
      expect(read(template, expansion)).toBeUndefined();
    },
  );
});

describe("expansion", () => {
  it("escapes every reserved character of a simple value", () => {
    expect(write("{a}", { a: "!'()*[]@:$&+,;=/?#" })).toBe("%21%27%28%29%2A%5B%5D%40%3A%24%26%2B%2C%3B%3D%2F%3F%23");
  });

  it("escapes in a reserved value what is not valid in a URI", () => {
    expect(write("{+a}", { a: 'a b"<>\\^`{|}\u0085\u017f日😀' })).toBe(
      "a%20b%22%3C%3E%5C%5E%60%7B%7C%7D%C2%85%C5%BF%E6%97%A5%F0%9F%98%80",
    );
  });

  it("keeps the escapes of a reserved value, and escapes other percent signs", () => {
    expect(write("{+a}", { a: "%E6%97%A5/50%/%%20/%2f" })).toBe("%E6%97%A5/50%25/%25%20/%2f");
  });

  it("cuts a value before it is escaped, and never inside a character", () => {
    expect(write("{a:2}{+a:2}{#a:1,a:3}", { a: "日😀本" })).toBe(
      "%E6%97%A5%F0%9F%98%80%E6%97%A5%F0%9F%98%80#%E6%97%A5,%E6%97%A5%F0%9F%98%80%E6%9C%AC",
    );
  });

  it("writes no equals sign after a path parameter without a value", () => {
    expect(write("{;a,map*,list*}", { a: "", map: { b: "", c: "1" }, list: ["", "x"] })).toBe(";a;b;c=1;list;list=x");
  });

  it("escapes literal characters beyond ASCII and leaves the others", () => {
    expect(write("http://[::1]/日本/%7E'{a}", { a: "x" })).toBe("http://[::1]/%E6%97%A5%E6%9C%AC/%7E'x");
  });

  it("omits undefined values, empty lists and empty maps", () => {
    expect(parseTemplate("{a}{/b*}{?c,d*,e}").expand({ a: undefined, b: [], d: {}, e: "1" })).toBe("?e=1");
  });

  it("rejects half of a surrogate pair, and a list for a variable with a length", () => {
    expect(() => write("{a}", { a: "x\ud83d" })).toThrow('the value of "a" contains half of a surrogate pair');
    expect(() => write("{+a}", { a: ["\udc00"] })).toThrow('the value of "a" contains half of a surrogate pair');
    expect(() => write("{a:3}", { a: ["x"] })).toThrow('the variable "a" is cut to 3 characters');
    expect(() => write("{?a:3}", { a: { x: "y" } })).toThrow('the variable "a" is cut to 3 characters');
  });
});

describe("names that objects inherit", () => {
  const names = ["toString", "__proto__", "constructor", "hasOwnProperty"];

  it.each(names)("%s is undefined unless given, and returned when given", (name) => {
    expect(write(`x{/${name}}{?${name}}`, {})).toBe("x");
    const template = parseTemplate(`x{/${name}}{?${name}}`);
    const uri = template.expand(Object.fromEntries([[name, "v"]]));
    expect(uri).toBe(`x/v?${name}=v`);
    expect([...template.match(uri)!]).toEqual([[name, "v"]]);
    expect(template.match("x")!.has(name)).toBe(false);
  });

  it("is an unknown parameter if the template does not name it", () => {
    for (const name of names) expect(read("x{?a}", `x?${name}=1`)).toBeUndefined();
  });

  it("are not read from the prototype", () => {
    expect(write("{a}", Object.create({ a: "inherited" }) as Record<string, string>)).toBe("");
  });

  it("may be keys of a map", () => {
    expect(write("{?m*}", { m: Object.fromEntries([["__proto__", "1"]]) })).toBe("?__proto__=1");
  });
});

describe("a template", () => {
  it("lists its variables, each once, in its own order", () => {
    const { template, variables: names } = parseTemplate("{b}/{+a*}{?c:3,b,d.e,%41}");
    expect(template).toBe("{b}/{+a*}{?c:3,b,d.e,%41}");
    expect(names).toEqual(["b", "a", "c", "d.e", "%41"]);
  });

  it.each([
    ..."{ {a {a}{ } a}b {} {+} {,} {a,} {,a} {a,,b} {{a}} {a}} {/?a} {??a} {=a} {!a} {@a} {|a*} {$a} {~a} {*a}".split(
      " ",
    ),
    ..."{a:} {a:0} {a:01} {a:10000} {a:x} {a:3*} {a*:3} {a**} {a=b} {a-b} {.a.} {a..b} {%4} {%zz} {%E3} {日本}".split(
      " ",
    ),
    ...'a%zz a% %E3{a} a"b a<b a>b a\\b a^b a`b a|b \ud83d{a}'.split(" "),
    "a b",
    "{ a}",
    "{a }",
    "{a, b}",
    "a\0b",
    "a\nb",
    "a\x7f",
  ])("refuses %j", (template) => {
    expect(() => parseTemplate(template)).toThrow(/^(the (text|expression) )?".*" .+; (write|end|escape) /);
  });

  it("names the error and the fix, without repeating a long template", () => {
    expect(() => parseTemplate("file:///{a-b}")).toThrow(
      '"a-b" in the expression "{a-b}" is not a variable; write a name of letters',
    );
    expect(() => parseTemplate("file:///{path")).toThrow('the expression "{path" is not closed; end it with "}"');
    for (const long of ["x".repeat(1e6), `{${"-".repeat(8000)}}`, `{${"a".repeat(8000)}`, " ".repeat(8000)])
      expect(complaintAbout(long).length).toBeLessThan(400);
  });

  it("has a maximum length and a maximum number of variables", () => {
    expect(parseTemplate("x".repeat(maxTemplateLength)).match("x".repeat(maxTemplateLength))).toEqual(new Map());
    expect(() => parseTemplate("x".repeat(maxTemplateLength + 1))).toThrow("is too long; the limit is 8192 characters");
    const names = Array.from({ length: maxVariables }, (_, index) => `v${index}`);
    expect(parseTemplate(`{${names.join(",")}}`).variables).toEqual(names);
    expect(() => parseTemplate(`{${names.join(",")},more}`)).toThrow("the template has more than 64 variables");
    expect(() => parseTemplate(`${names.map((name) => `{${name}}`).join("/")}{v0}`)).toThrow("more than 64 variables");
  });

  it("without variables matches only itself", () => {
    expect(read("config://env", "config://env")).toEqual({});
    for (const other of ["config://en", "config://envs", "config://Env", "", "xconfig://env"])
      expect(read("config://env", other)).toBeUndefined();
    expect(read("", "")).toEqual({});
    expect(read("", "x")).toBeUndefined();
  });
});

describe("the layouts of our mounts", () => {
  it.each<[template: string, uri: string, values: Record<string, string | string[]> | undefined]>([
    ["travel://activities/{city}/{category}", "travel://activities/kyoto/food", { city: "kyoto", category: "food" }],
    [
      "travel://activities/{city}/{category}",
      "travel://activities/s%C3%A3o%20paulo/a%2Fb",
      { city: "são paulo", category: "a/b" },
    ],
    ["travel://activities/{city}/{category}", "travel://activities/京都/food", { city: "京都", category: "food" }],
    [
      "travel://activities/{city}/{category}",
      "travel://activities/%E4%BA%AC%e9%83%bd/food",
      { city: "京都", category: "food" },
    ],
    ["travel://activities/{city}/{category}", "travel://activities/kyoto", undefined],
    ["travel://activities/{city}/{category}", "travel://activities/kyoto/food/late", undefined],
    ["travel://activities/{city}/{category}", "travel://activities/kyoto/food?late=1", undefined],
    ["travel://activities/{city}/{category}", "travel://activities//food", { category: "food" }],
    ["test://template/{id}/data", "test://template/123/data", { id: "123" }],
    ["test://template/{id}/data", "test://template/a%2Fdata/data", { id: "a/data" }],
    ["test://template/{id}/data", "test://template/1/2/data", undefined],
    ["test://template/{id}/data", "test://template/data", undefined],
    [
      "docs://{collection}/{lang}/{+path}",
      "docs://api/ja/guide/はじめに.md",
      { collection: "api", lang: "ja", path: "guide/はじめに.md" },
    ],
    ["docs://{collection}/{lang}/{+path}", "docs://api/en/a?b#c", { collection: "api", lang: "en", path: "a?b#c" }],
    ["docs://{collection}/{lang}/{+path}", "docs://api/en", undefined],
    [
      "s3://{bucket}{/key*}{?versionId}",
      "s3://b/2024/q%2F3/r.csv?versionId=x1",
      { bucket: "b", key: ["2024", "q/3", "r.csv"], versionId: "x1" },
    ],
    [
      "s3://{bucket}{/key*}{?versionId}",
      "s3://b/year=2024/a+b@(1).txt",
      { bucket: "b", key: ["year=2024", "a+b@(1).txt"] },
    ],
    ["s3://{bucket}{/key*}{?versionId}", "s3://b", { bucket: "b" }],
    ["s3://{bucket}{/key*}{?versionId}", "s3://b/dir/", { bucket: "b", key: ["dir", ""] }],
    ["s3://{bucket}{/key*}{?versionId}", "s3://b/k?version=1", undefined],
    ["s3://{bucket}{/key*}{?versionId}", "s3://b/k?versionId=1&versionId=1", undefined],
    [
      "git://{repo}/blob/{ref}{/path*}",
      "git://house/blob/feature%2Fpicker/src/a.ts",
      { repo: "house", ref: "feature/picker", path: ["src", "a.ts"] },
    ],
    ["git://{repo}/blob/{ref}{/path*}", "git://house/blob/v1.0", { repo: "house", ref: "v1.0" }],
    [
      "git://{repo}/diff/{base}/{head}{?path}",
      "git://house/diff/main/a%2Fb?path=src/x.ts",
      { repo: "house", base: "main", head: "a/b", path: "src/x.ts" },
    ],
    [
      "git://host/{+repo}@{ref}/{+path}",
      "git://host/org/repo@main/src/a@b/c.txt",
      { repo: "org/repo", ref: "main", path: "src/a@b/c.txt" },
    ],
    ["git://host/{+repo}@{ref}/{+path}", "git://host/a@b:c/d@main/x", { repo: "a@b:c/d", ref: "main", path: "x" }],
    [
      "git://host/{+repo}@{ref}/{+path}",
      "git://host/org/repo@feature%2Fx/%E6%97%A5%E6%9C%AC/本",
      { repo: "org/repo", ref: "feature/x", path: "日本/本" },
    ],
    [
      "git://host/{+repo}@{ref}/{+path}",
      "git://host/org%40home/repo@main/x",
      { repo: "org@home/repo", ref: "main", path: "x" },
    ],
    ["git://host/{+repo}@{ref}/{+path}", "git://host/org/repo/x", undefined],
    ["file:///{+path}{?lines,bytes,as}", "file:///src/a.ts", { path: "src/a.ts" }],
    ["file:///{+path}{?lines,bytes,as}", "file:///src/a.ts?lines=10-40", { path: "src/a.ts", lines: "10-40" }],
    [
      "file:///{+path}{?lines,bytes,as}",
      "file:///src/a.ts?as=text&bytes=0-9&lines=1-2",
      { path: "src/a.ts", as: "text", bytes: "0-9", lines: "1-2" },
    ],
    ["file:///{+path}{?lines,bytes,as}", "file:///src/a%3Fb%23c?as=text", { path: "src/a?b#c", as: "text" }],
    ["file:///{+path}{?lines,bytes,as}", "file:///src/a.ts?line=1", undefined],
    ["file:///{+path}{?lines,bytes,as}", "file:///src/a.ts?lines=1&x=2", undefined],
    ["file:///{+path}{?lines,bytes,as}", "file:///src/a.ts?lines=1&lines=2", undefined],
    ["file:///{+path}{?lines,bytes,as}", "file:///src/a.ts?", undefined],
    ["file:///{+path}{?lines,bytes,as}", "file:///src/a.ts?lines=1&", undefined],
    ["file:///{+path}{?lines,bytes,as}", "file:///src/a.ts?&lines=1", undefined],
    ["file:///{+path}{?lines,bytes,as}", "file:///a#b?as=text", { path: "a#b", as: "text" }],
    ["web://{host}/{+path}{?q}{#part}", "web://h/a/b?q=1%262#c?d", { host: "h", path: "a/b", q: "1&2", part: "c?d" }],
    ["web://{host}/{+path}{?q}{#part}", "web://h/a/b#c", { host: "h", path: "a/b", part: "c" }],
    [
      "metrics://query{?promql,range,by*}",
      "metrics://query?by=job&promql=rate(x%5B5m%5D)&by=host",
      { by: ["job", "host"], promql: "rate(x[5m])" },
    ],
    ["資料://{name}/目次", "資料://a/目次", { name: "a" }],
    ["資料://{name}/目次", "%E8%B3%87%e6%96%99://a/%E7%9B%AE次", { name: "a" }],
  ])("%s reads %s", (template, uri, values) => {
    expect(read(template, uri)).toEqual(values);
  });
});

describe("matching", () => {
  it("treats two forms as equal only where RFC 3986 does", () => {
    expect(read("x://secrets/{a}", "x://%73ecrets/%6Bey")).toEqual({ a: "key" });
    expect(read("x://%7Eme/{a}", "x://~me/1")).toEqual({ a: "1" });
    expect(read("x://a/{b}", "x:%2F%2Fa/1")).toBeUndefined();
    expect(read("x://a%2Fb/{c}", "x://a/b/1")).toBeUndefined();
    expect(read("x://a%2fb/{c}", "x://a%2Fb/1")).toEqual({ c: "1" });
    expect(read("x{?a}", "x%3Fa=1")).toBeUndefined();
    expect(read("x{?a,b}", "x?a=1%26b=2")).toEqual({ a: "1&b=2" });
    expect(read("{a,b}", "1%2C2")).toEqual({ a: "1,2" });
  });

  it("matches nothing if an escape is malformed or not UTF-8", () => {
    for (const bad of [
      "%",
      "%4",
      "%zz",
      "%E3",
      "%E3%81",
      "%E3a",
      "%C0%AF",
      "%ED%A0%80",
      "%F5%80%80%80",
      "%FF",
      "a%%41",
    ])
      for (const template of ["x/{a}", "x/{+a}", "x{/a*}", "x/{#a}", "x/{a}{?b}"])
        for (const uri of [`x/${bad}`, `x/ok?b=${bad}`, `x/#${bad}`]) expect(read(template, uri)).toBeUndefined();
  });

  it("matches nothing if a character is not valid in a URI", () => {
    for (const bad of [" ", '"', "<", ">", "\\", "^", "`", "{", "|", "}", "\0", "\n", "\x7f", "\ud83d", "\udc00"])
      for (const template of ["{a}", "{+a}", "{/a}", "{#a}", "{?a}"])
        for (const uri of [bad, `/${bad}`, `#${bad}`, `?a=${bad}`]) expect(read(template, uri)).toBeUndefined();
  });

  it("keeps every reserved character out of a simple variable", () => {
    for (const reserved of ":/?#[]@!$&'()*+,;=") {
      expect(read("{a}", `x${reserved}y`)).toBeUndefined();
      expect(read("{.a}", `.x${reserved}y`)).toBeUndefined();
      expect(read("{+a}", `x${reserved}y`)).toEqual({ a: `x${reserved}y` });
      expect(read("{a}", `x%${reserved.charCodeAt(0).toString(16)}y`)).toEqual({ a: `x${reserved}y` });
    }
  });

  it("keeps a path's variable inside its segment and a parameter inside its pair", () => {
    expect(read("x{/a}", "x/1/2")).toBeUndefined();
    expect(read("x{/a}", "x/1:@!$&'()*+,;=2")).toEqual({ a: "1:@!$&'()*+,;=2" });
    expect(read("x{/a}", "x/1?2")).toBeUndefined();
    expect(read("x{?a}", "x?a=/?:@!$'()*+,;=2")).toEqual({ a: "/?:@!$'()*+,;=2" });
    expect(read("x{?a}", "x?a=1#2")).toBeUndefined();
    expect(read("x{;a}", "x;a=1;b=2")).toBeUndefined();
    expect(read("x{;a}/y", "x;a=1/y")).toEqual({ a: "1" });
    expect(read("x{?a}/y", "x?a=1/y")).toEqual({ a: "1" });
  });

  it("reads named values in any order, each at most once, and only known ones", () => {
    expect(read("x{;a,b}", "x;b=2;a=1")).toEqual({ a: "1", b: "2" });
    expect(read("x{?a,b}", "x?b=2")).toEqual({ b: "2" });
    expect(read("x{?a,b}", "x?b&a=")).toEqual({ a: "", b: "" });
    expect(read("x{?a,b}", "x&a=1")).toBeUndefined();
    expect(read("x{?a,b}", "x?a=1;b=2")).toEqual({ a: "1;b=2" });
    expect(read("x{?a}{&b}", "x?a=1&b=2")).toEqual({ a: "1", b: "2" });
    expect(read("x{?a}{&b}", "x?b=2&a=1")).toBeUndefined();
    expect(read("x?f=1{&a,b}", "x?f=1&b=2&a=1")).toEqual({ a: "1", b: "2" });
    expect(read("x?f=1{&a,b}", "x?f=1")).toEqual({});
    expect(read("x?f=1{&a,b}", "x?a=1&f=1")).toBeUndefined();
    expect(read("x{?a}&z=1", "x?a=1&z=1")).toEqual({ a: "1" });
    expect(read("x{?a}?a={b}", "x?a=1")).toEqual({ b: "1" });
    expect(read("x{?a,c}", "x?a=1?b=2&c=3")).toEqual({ a: "1?b=2", c: "3" });
    expect(read("x{?a,ab}", "x?ab=1&a=2")).toEqual({ a: "2", ab: "1" });
    expect(read("x{?a}", "x?A=1")).toBeUndefined();
    expect(read("x{?a}", "x?ab=1")).toBeUndefined();
    expect(read("x{?%41b}", "x?%41b=1")).toEqual({ "%41b": "1" });
    expect(read("x{?a*,b}", "x?a=1&b=2&a=&a=3")).toEqual({ a: ["1", "", "3"], b: "2" });
  });

  it("counts the decoded characters of a variable with a length", () => {
    expect(read("{a:3}", "abc")).toEqual({ a: "abc" });
    expect(read("{a:3}", "abcd")).toBeUndefined();
    expect(read("{a:3}", "%E6%97%A5本%F0%9F%98%80")).toEqual({ a: "日本😀" });
    expect(read("{a:3}", "日本😀x")).toBeUndefined();
    expect(read("{a:1}{b:1}", "😀😀")).toEqual({ a: "😀", b: "😀" });
    expect(read("{?a:2}", "?a=😀😀")).toEqual({ a: "😀😀" });
    expect(read("{?a:2}", "?a=abc")).toBeUndefined();
    expect(read("{+a:4}/{b}", "a/b//c")).toEqual({ a: "a/b/", b: "c" });
    expect(read("{+a:3}/{b}", "a/b//c")).toBeUndefined();
  });

  it("lets a variable take as little as possible", () => {
    expect(read("{a}-{b}", "1-2-3")).toEqual({ a: "1", b: "2-3" });
    expect(read("{+a}/{+b}", "1/2/3")).toEqual({ a: "1", b: "2/3" });
    expect(read("{+a}/{b}", "1/2/3")).toEqual({ a: "1/2", b: "3" });
    expect(read("{name}{.ext}", "a.tar.gz")).toEqual({ name: "a", ext: "tar.gz" });
    expect(read("{+path}{.ext}", "a.b/c.txt")).toEqual({ path: "a.b/c", ext: "txt" });
    expect(read("{/a*}{/b}", "/1/2/3")).toEqual({ a: ["1", "2"], b: "3" });
    expect(read("{/a*}/edit", "/1/edit/edit")).toEqual({ a: ["1", "edit"] });
    expect(read("{a*,b}", "1,2,3")).toEqual({ a: ["1", "2"], b: "3" });
    expect(read("{+a}aab{b}", "aaaab")).toEqual({ a: "aa" });
    expect(read("{+a}abab{+b}", "xababab")).toEqual({ a: "x", b: "ab" });
    expect(read("{a}{b}", "xy")).toEqual({ b: "xy" });
  });

  it("matches a variable with a leading character whenever it can, and none after a missing one", () => {
    expect(read("{/a,b}", "/1")).toEqual({ a: "1" });
    expect(read("{#a,b}", "#1,2,3")).toEqual({ a: "1", b: "2,3" });
    expect(read("x{#a,b}", "x,2")).toBeUndefined();
    expect(read("x{#a,b}{+c}", "x,2")).toEqual({ c: ",2" });
    expect(read("{a,b,c}", ",,3")).toEqual({ a: "", b: "", c: "3" });
    expect(read("{a,b}", "1,2,3")).toBeUndefined();
    expect(read("{a*,b}", ",2")).toEqual({ a: [""], b: "2" });
    expect(read("{/a}{/b}", "/1")).toEqual({ a: "1" });
    expect(read("{a}{/b}", "/1")).toEqual({ b: "1" });
  });

  it("leaves a question mark or number sign to later parts that need it", () => {
    expect(read("{+a}?{b}", "1?2")).toEqual({ a: "1", b: "2" });
    expect(read("{+a}?{+b}", "1?2?3")).toEqual({ a: "1", b: "2?3" });
    expect(read("{+a}{#b}", "1?2#3#4")).toEqual({ a: "1?2", b: "3#4" });
    expect(read("{+a}{/b}{?c}", "1?d=2")).toBeUndefined();
    expect(read("{+a}", "1?2#3")).toEqual({ a: "1?2#3" });
  });

  it("requires equal values for a variable that occurs twice", () => {
    expect(read("{a}/{a}", "1/1")).toEqual({ a: "1" });
    expect(read("{a}/{a}", "%31/1")).toEqual({ a: "1" });
    expect(read("{a}/{a}", "1/2")).toBeUndefined();
    expect(read("{a}/{a}", "1/")).toBeUndefined();
    expect(read("{a}/{a}", "/")).toEqual({});
    expect(read("{a}/x{?a}", "1/x?a=1")).toEqual({ a: "1" });
    expect(read("{a}/x{?a}", "1/x")).toBeUndefined();
    expect(read("{a:2}/{a}", "日本/日本語")).toEqual({ a: "日本語" });
    expect(read("{a:2}/{a}", "日/日本語")).toBeUndefined();
    expect(read("{a:3}/{a:5}/{a:1}", "abc/abcde/a")).toEqual({ a: "abcde" });
    expect(read("{a:3}/{a:5}/{a:1}", "abc/abxde/a")).toBeUndefined();
    expect(read("{a*}{/a*}{?a*}", "1,2/1/2?a=1&a=2")).toEqual({ a: ["1", "2"] });
    expect(read("{a*}{/a*}{?a*}", "1,2/1/2?a=2&a=1")).toBeUndefined();
    expect(read("{a*}{/a*}", "1%2C2/1/2")).toBeUndefined();
    expect(read("{?a*}{/a}", "?a=1&a=2/1,2")).toEqual({ a: ["1", "2"] });
  });

  it("does not remember the previous URI", () => {
    const template = parseTemplate("x{a}");
    expect(template.match(`x${"😀".repeat(20)}`)?.get("a")).toBe("😀".repeat(20));
    for (let length = 0; length < 40; length++) {
      const value = "y".repeat(length);
      expect(template.match(`x${value}`)?.get("a") ?? "").toBe(value);
    }
  });

  it("reads more than 32 parts", () => {
    const names = Array.from({ length: maxVariables }, (_, index) => `v${index}`);
    const values = Object.fromEntries(names.map((name, index) => [name, `${index}日`]));
    for (const text of [
      names.map((name) => `{${name}}`).join("/"),
      `{${names}}`,
      names.map((name) => `{/${name}}`).join(""),
    ])
      expect(read(text, write(text, values))).toEqual(values);
  });
});

describe("hostile URIs", () => {
  const templates = [
    "git://host/{+repo}@{ref}/{+path}",
    "git://host/{+a}@{+b}@{+c}@{+d}",
    "git://host/{+a}aaaaaaab{+b}",
    "git://host/{+a}a@a@a@a/{b}",
    "git://host/{a}{b}{c:3}{d}",
    "git://host/{a,b,c}{/d*}{.e*}{?f,g*}{&h*}{#i,j}",
    "git://host/{+path}{?a,b}",
    "git://host/{+a}{?a,b,a.rather.long.name}{&c*}{;d*}",
    "git://host{/a*}{/a*}{/b,c}/@",
    `git://host/{+a}{?${"n".repeat(1000)}}`,
    `git://host/{+a}${"a".repeat(1000)}b{+b}`,
    `git://host/${Array.from({ length: 60 }, (_, index) => `{+v${index}}`).join("a")}`,
  ];
  const repeated = [
    "a",
    "@",
    "/",
    "a@",
    "a@a/",
    "?",
    "?a=",
    "&c=",
    "?a=&c=1",
    "&",
    ";d=1",
    ",",
    ".",
    "#",
    "日",
    "%E6%97%A5",
    "%2F",
  ];

  it.each(templates)("%s reads no character more often than it has parts", (template) => {
    const parsed = parseTemplate(template);
    for (const text of repeated)
      for (const length of [500, 20_000]) {
        for (const end of ["", "/", "@x/y", "b", "!"]) {
          const uri = `git://host/${text.repeat(length / text.length)}${end}`;
          const meter = { visits: 0 };
          parsed.match(uri, meter);
          expect(meter.visits).toBeLessThanOrEqual(visitsPerCharacter(template) * uri.length);
        }
      }
  });

  it("reads a million characters, each only a few times", () => {
    const template = parseTemplate("git://host/{+repo}@{ref}/{+path}");
    const meter = { visits: 0 };
    expect(template.match(`git://host/${"a@".repeat(500_000)}`, meter)).toBeUndefined();
    const path = "a@a/".repeat(250_000);
    expect(template.match(`git://host/r@main/${path}`, meter)?.get("path")).toBe(path);
    expect(meter.visits).toBeLessThan(2 * 10 * 1_000_020);
  });

  it("collects a hundred thousand repeats of one parameter", () => {
    const uri = `x?${"a=1&".repeat(100_000)}a=2`;
    expect(parseTemplate("x{?a*}").match(uri)?.get("a")).toHaveLength(100_001);
    expect(parseTemplate("x{?a}").match(uri)).toBeUndefined();
  });

  it("does not read a URI beyond the maximum length", () => {
    const template = parseTemplate("{+a}");
    expect(template.match("x".repeat(maxUriLength))?.get("a")).toHaveLength(maxUriLength);
    const meter = { visits: 0 };
    expect(template.match("x".repeat(maxUriLength + 1), meter)).toBeUndefined();
    expect(meter.visits).toBe(0);
  });

  it("never throws, whatever the URI", () => {
    const pieces = fc.constantFrom(
      "a",
      "@",
      "/",
      "?",
      "&",
      "=",
      ";",
      ",",
      ".",
      "#",
      "%",
      "%2",
      "%41",
      "%E6",
      "日",
      "\ud83d",
      "a=",
      "?a",
      "x:",
    );
    const uris = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(pieces).map((some) => some.join("")),
    );
    const all = [
      ...templates.map((text) => text.replace("git://host", "")),
      ...examples.map(({ template }) => template),
    ].map(parseTemplate);
    fc.assert(
      fc.property(uris, (uri) => {
        for (const template of all) template.match(uri);
      }),
    );
  });
});

describe("the first of several interpretations", () => {
  const simple = "[\\w.~-]*?";
  const segment = "[\\w.~!$&'()*+,;=:@-]*?";

  /** A regular expression tries its alternatives in the promised order, only not in bounded time. */
  it.each<[template: string, oracle: RegExp]>([
    ["{a}-{b}", new RegExp(`^(?<a>${simple})-(?<b>${simple})$`)],
    ["{+a}@{b}/{+c}", new RegExp(`^(?<a>.*?)@(?<b>${simple})/(?<c>.*?)$`)],
    ["{+a}/a/{b}{+c}a", new RegExp(`^(?<a>.*?)/a/(?<b>${simple})(?<c>.*?)a$`)],
    ["{+a}aab{+b}", /^(?<a>.*?)aab(?<b>.*?)$/],
    ["{+a:2}{b:3}{+c}", /^(?<a>.{0,2}?)(?<b>[\w.~-]{0,3}?)(?<c>.*?)$/],
    [
      "{a}{/b,c}{.d}",
      new RegExp(`^(?<a>${simple})(?:/(?<b>${segment})(?:/(?<c>${segment}))?)?(?:\\.(?<d>${simple}))?$`),
    ],
    ["{+a}{/b}{#c,d}", new RegExp(`^(?<a>[^#]*?)(?:/(?<b>${segment}))?(?:#(?<c>.*?)(?:,(?<d>.*?))?)?$`)],
    ["{+a}?{b}{.c}", new RegExp(`^(?<a>[^?]*?)\\?(?<b>${simple})(?:\\.(?<c>${simple}))?$`)],
    ["{+a,b}/{+c}", /^(?<a>.*?)(?:,(?<b>.*?))?\/(?<c>.*?)$/],
  ])("of %s is the promised one", (template, oracle) => {
    const parsed = parseTemplate(template);
    const uris = fc.array(fc.constantFrom(..."aab-@/.,?#"), { maxLength: 14 }).map((some) => some.join(""));
    fc.assert(
      fc.property(uris, (uri) => {
        const expected = oracle.exec(uri)?.groups;
        const match = parsed.match(uri);
        expect(match === undefined).toBe(expected === undefined);
        for (const name of parsed.variables) expect(match?.get(name) ?? "").toBe(expected?.[name] ?? "");
      }),
      { numRuns: 2000 },
    );
  });
});

describe("round trips", () => {
  const any = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary" }),
    fc.array(fc.constantFrom(..."ab/?#&=;,.@%:+ !'()*日本😀")).map((some) => some.join("")),
  );
  const wellFormed = any.filter((text) => text.isWellFormed());
  /** `{a}` and `{+a}` cannot represent an empty value. */
  const text = wellFormed.filter((value) => value !== "");
  const list = fc.array(wellFormed, { minLength: 1, maxLength: 5 });
  /** `{+a}` and `{#a}` keep escapes; the rest depends on what follows. */
  const reserved = (without: string) =>
    text.filter((value) => !/%[0-9a-f]{2}/i.test(value) && ![...without].some((mark) => value.includes(mark)));
  const upTo = (max: number) => text.map((value) => [...value].slice(0, max).join(""));
  const noDots = list.map((values) => values.map((value) => value.replaceAll(".", "")));
  const noCommas = fc.array(reserved(","), { minLength: 1, maxLength: 5 });

  it.each<[template: string, values: Record<string, fc.Arbitrary<string | string[]>>]>([
    ["x://{a}/{b}", { a: text, b: text }],
    ["travel://activities/{city}/{category}", { city: text, category: text }],
    ["x{/a}/y{/b*}{?c,d*,e}", { a: wellFormed, b: list, c: wellFormed, d: list, e: wellFormed }],
    ["x?fixed=1{&a,b*}{#c}", { a: wellFormed, b: list, c: reserved("") }],
    ["x{;a,b*}/y", { a: wellFormed, b: list }],
    ["www{.a*}/{b*}", { a: noDots, b: list.filter(([first]) => first !== "") }],
    ["{a:3}/{b:12}", { a: upTo(3), b: upTo(12) }],
    ["{+a*}", { a: noCommas }],
    ["{a}/{a}{?a}", { a: text }],
    ["docs://{collection}/{lang}/{+path}", { collection: text, lang: text, path: reserved("") }],
    ["s3://{bucket}{/key*}{?versionId}", { bucket: text, key: list, versionId: wellFormed }],
    ["git://{repo}/blob/{ref}{/path*}", { repo: text, ref: text, path: list }],
    ["git://host/{+repo}@{ref}/{+path}", { repo: reserved("@"), ref: text, path: reserved("") }],
    ["file:///{+path}{?lines,bytes,as}", { path: reserved("?"), lines: wellFormed, bytes: wellFormed, as: wellFormed }],
    ["web://{host}/{+path}{?q}{#part}", { host: text, path: reserved("?#"), q: wellFormed, part: reserved("") }],
  ])("%s returns the given values, and omits missing ones", (template, values) => {
    const parsed = parseTemplate(template);
    fc.assert(
      fc.property(fc.record(values, { requiredKeys: [] }), (given) => {
        const uri = parsed.expand(given);
        expect(uri).toMatch(/^[\w\-.~:/?#[\]@!$&'()*+,;=%]*$/);
        const match = parsed.match(uri);
        expect(match && Object.fromEntries(match)).toEqual({ ...given });
      }),
    );
  });
});
