/** Finds the imports of a file by a simple scan of its lines: relative paths, or endings of paths. */

interface Import {
  /** Without an extension if the language omits it. */
  readonly path: string;
  /** True if relative to the folder of the file; otherwise only the end of the path is known. */
  readonly isRelative: boolean;
}

const maxImports = 40;
/** Imports are at the top. */
export const maxImportsText = 64 * 1024;

interface Language {
  readonly endings: string;
  readonly pattern: RegExp;
  read(name: string): Import | undefined;
}

const relative = (path: string): Import => ({ path, isRelative: true });
const ending = (path: string): Import => ({ path, isRelative: false });

const languages: readonly Language[] = [
  {
    endings: "ts tsx mts cts js jsx mjs cjs vue svelte",
    pattern: /(?:\bfrom|\bimport|\brequire\s?\(|\bimport\s?\()\s{0,4}["'](\.{1,2}\/[^"'\n]{1,200})["']/g,
    read: (name) => relative(name.replace(/\.[mc]?[jt]sx?$/, "")),
  },
  {
    endings: "py pyi",
    pattern: /^[ \t]{0,20}(?:from[ \t]{1,8}([\w.]{1,200})[ \t]{1,8}import|import[ \t]{1,8}([\w.]{1,200}))/gm,
    read(name) {
      const [dots = ""] = /^\.*/.exec(name) ?? [];
      const rest = name.slice(dots.length);
      if (rest === "") return undefined;
      const path = rest.replaceAll(".", "/");
      return dots === "" ? ending(path) : relative(`${"../".repeat(dots.length - 1) || "./"}${path}`);
    },
  },
  {
    endings: "c h cc cpp cxx hpp hh m mm",
    pattern: /^[ \t]{0,8}#[ \t]{0,8}include[ \t]{1,8}"([^"\n]{1,200})"/gm,
    read: (name) => (name.includes("/") && !name.startsWith(".") ? ending(name) : relative(name)),
  },
  {
    endings: "java kt kts scala groovy",
    pattern: /^import[ \t]+(?:static[ \t]+)?([\w.]{3,200})/gm,
    read: (name) => ending(name.replaceAll(".", "/")),
  },
  {
    endings: "rs",
    pattern:
      /^[ \t]{0,8}(?:pub(?:\([a-z]{1,10}\))?[ \t]+)?(?:mod[ \t]+(\w{1,100});|use[ \t]+((?:crate|super|self)(?:::\w{1,100}){1,10}))/gm,
    read: (name) =>
      name.includes("::")
        ? ending(
            name
              .split("::")
              .slice(1)
              .join("/")
              .replace(/\/[A-Z]\w*$/, ""),
          )
        : relative(`./${name}`),
  },
  { endings: "rb", pattern: /^[ \t]{0,8}require_relative[ \t(]{1,4}["']([^"'\n]{1,200})["']/gm, read: relative },
  {
    endings: "php",
    pattern: /^use[ \t]+([\w\\]{3,200})/gm,
    read: (name) => ending(name.replaceAll("\\", "/")),
  },
  {
    endings: "md mdx markdown rst adoc",
    pattern: /\]\((\.{0,2}\/?[\w./%-]{1,200}\.[a-z]{1,5})(?:#[^)\n]{0,100})?\)/g,
    read: relative,
  },
];

export function importsOf(path: string, text: string): readonly Import[] {
  const own = /\.([a-z0-9]{1,10})$/i.exec(path)?.[1]?.toLowerCase();
  const language = languages.find(({ endings }) => own !== undefined && endings.split(" ").includes(own));
  if (!language) return [];
  const found = new Map<string, Import>();
  for (const match of text.slice(0, maxImportsText).matchAll(language.pattern)) {
    const name = match[1] ?? match[2];
    const one = name === undefined || name === "" ? undefined : language.read(name);
    if (one) found.set(`${one.isRelative}${one.path}`, one);
    if (found.size === maxImports) break;
  }
  return [...found.values()];
}
