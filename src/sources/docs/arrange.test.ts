import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareAddresses } from "../../lib/address-order.ts";
import { arrange } from "./arrange.ts";
import type { DocumentHead } from "./head.ts";
import { createLanguageMarks } from "./language.ts";

const marks = createLanguageMarks();

function document(file: string, lang: string, bar: readonly string[] = []): DocumentHead {
  const verdict = { rule: "default", priority: 0.5, audience: ["user"] } as const;
  return {
    file,
    lang,
    bar,
    bare: marks.strip(file, lang),
    mayBeJapanese: false,
    format: "markdown",
    entry: { path: file },
    title: file,
    said: {},
    verdict,
  };
}

const addressesOf = (...documents: readonly DocumentHead[]) =>
  Object.fromEntries(arrange(documents).placed.map((each) => [each.document.file, each.address]));

describe("addresses", () => {
  it("are the language and the path without its marks", () => {
    expect(
      addressesOf(
        document("x.md", "en"),
        document("ja/x.md", "ja"),
        document("y.ja.md", "ja"),
        document("ja/z.md", "en"),
      ),
    ).toEqual({ "x.md": "en/x.md", "ja/x.md": "ja/x.md", "y.ja.md": "ja/y.md", "ja/z.md": "en/ja/z.md" });
  });

  it("keep the marks if the address is already taken", () => {
    expect(addressesOf(document("ja/x.md", "ja"), document("x.ja.md", "ja"), document("x.md", "ja"))).toEqual({
      "x.md": "ja/x.md",
      "ja/x.md": "ja/ja/x.md",
      "x.ja.md": "ja/x.ja.md",
    });
  });

  it("are never both a document and a directory", () => {
    expect(addressesOf(document("ja/x.md", "ja"), document("x.md/y.md", "ja"))).toEqual({
      "ja/x.md": "ja/ja/x.md",
      "x.md/y.md": "ja/x.md/y.md",
    });
  });

  const segment = fc.constantFrom(
    "ja",
    "en",
    "x",
    "x.md",
    "x.ja.md",
    "y.ja",
    "zh-CN",
    "i18n",
    "docs-ja",
    "docs",
    "current",
    "docusaurus-plugin-content-docs",
  );
  const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join("/"));
  const folder = fc.uniqueArray(path, { maxLength: 20 }).map((paths) =>
    // On a disk no path is both a file and a folder.
    paths.filter((one) => !paths.some((other) => other.startsWith(`${one}/`))),
  );

  it("are unique, sorted, and reachable through directories, for any file names", () => {
    fc.assert(
      fc.property(
        folder,
        fc.array(fc.constantFrom("ja", "en", "zh-CN"), { minLength: 20, maxLength: 20 }),
        (paths, langs) => {
          const documents = paths.map((file, index) => document(file, langs[index] as string));
          const { placed, byAddress, directories } = arrange(documents);
          expect(placed).toHaveLength(documents.length);
          expect(byAddress.size).toBe(documents.length);
          const addresses = placed.map(({ address }) => address);
          expect(addresses).toEqual(addresses.toSorted(compareAddresses));
          for (const {
            address,
            document: { lang },
            twins,
          } of placed) {
            expect(address.startsWith(`${lang}/`)).toBe(true);
            expect(directories.has(address)).toBe(false);
            const segments = address.split("/");
            for (let depth = 0; depth < segments.length; depth += 1)
              expect(directories.get(segments.slice(0, depth).join("/"))).toContain(segments[depth]);
            for (const [other, where] of twins) {
              expect(byAddress.get(where)?.document.lang).toBe(other);
              expect(byAddress.get(where)?.twins.get(lang)).toBe(address);
            }
          }
        },
      ),
    );
  });
});

const twinsOf = (...documents: readonly DocumentHead[]) =>
  Object.fromEntries(arrange(documents).placed.map(({ address, twins }) => [address, Object.fromEntries(twins)]));

describe("twins", () => {
  it("have the same path except for their marks", () => {
    expect(
      twinsOf(document("x.md", "en"), document("ja/x.md", "ja"), document("x.ko.md", "ko"), document("y.md", "en")),
    ).toEqual({
      "en/x.md": { ja: "ja/x.md", ko: "ko/x.md" },
      "ja/x.md": { en: "en/x.md", ko: "ko/x.md" },
      "ko/x.md": { en: "en/x.md", ja: "ja/x.md" },
      "en/y.md": {},
    });
  });

  it("are found in the folders of Docusaurus, in or beside its own folder", () => {
    const i18n = "i18n/ja/docusaurus-plugin-content-docs";
    expect(
      twinsOf(
        document("docs/x.md", "en"),
        document(`${i18n}/current/x.md`, "ja"),
        document("docs/api/y.md", "en"),
        document(`site/${i18n}/current/api/y.md`, "ja"),
        document(`${i18n}/version-1/x.md`, "ja"),
        document("versioned_docs/version-1/x.md", "en"),
      ),
    ).toEqual({
      "en/docs/x.md": { ja: "ja/docs/x.md" },
      "ja/docs/x.md": { en: "en/docs/x.md" },
      "en/docs/api/y.md": { ja: "ja/site/docs/api/y.md" },
      "ja/site/docs/api/y.md": { en: "en/docs/api/y.md" },
      "en/versioned_docs/version-1/x.md": { ja: "ja/versioned_docs/version-1/x.md" },
      "ja/versioned_docs/version-1/x.md": { en: "en/versioned_docs/version-1/x.md" },
    });
  });

  it("may have different names, if a language bar links them", () => {
    expect(twinsOf(document("setup.md", "en", ["導入.md"]), document("導入.md", "ja"))).toEqual({
      "en/setup.md": { ja: "ja/導入.md" },
      "ja/導入.md": { en: "en/setup.md" },
    });
  });

  it("are never two of one language, whatever a bar links", () => {
    expect(
      twinsOf(
        document("a.md", "en", ["b.md", "ja/a.md", "c.md"]),
        document("b.md", "en"),
        document("ja/a.md", "ja"),
        document("c.md", "ja"),
      ),
    ).toEqual({
      "en/a.md": { ja: "ja/a.md" },
      "en/b.md": {},
      "ja/a.md": { en: "en/a.md" },
      "ja/c.md": {},
    });
  });
});
