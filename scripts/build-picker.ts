/** Builds the picker: the page as static files with compressed copies, and the app as one file. */
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { parseAst } from "rolldown/parseAst";
import { type OutputChunk, rolldown } from "rolldown";
import { refuseWarnings } from "./refuse-warnings.ts";
import { thirdParties } from "./third-parties.ts";

const root = dirname(import.meta.dirname);
const source = join(root, "src/picker");

export interface BuiltPicker {
  /** Compressed size of the script that is loaded before the page shows anything. */
  readonly scriptBytes: number;
}

/** Keeps other files in the folder. */
export async function buildPicker(folder: string): Promise<BuiltPicker> {
  await mkdir(folder, { recursive: true });
  const chunks = await bundle();
  const style = await readStyle();
  const names = { script: chunks[0].fileName, style: `picker-${hashOf(style)}.css` };
  const page = (await readFile(join(source, "index.html"), "utf8"))
    .replace("%script%", names.script)
    .replace("%style%", names.style);
  const files = { "index.html": page, "icon.svg": await readFile(join(source, "icon.svg"), "utf8") };
  const scripts = Object.fromEntries(chunks.map(({ fileName, code }) => [fileName, code]));
  await Promise.all(
    Object.entries({ ...files, ...scripts, [names.style]: style }).flatMap(([name, text]) => [
      writeFile(join(folder, name), text),
      writeFile(join(folder, `${name}.gz`), gzipSync(text, { level: 9 })),
    ]),
  );
  return { scriptBytes: firstLoad(chunks).reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0) };
}

/** Puts everything, including previews, into one file: hosts show it where it may load nothing. */
export async function buildPickerApp(file: string): Promise<void> {
  const [script, style, page] = await Promise.all([
    bundleWhole("app-bridge.tsx"),
    readStyle(),
    readFile(join(source, "app-bridge.html"), "utf8"),
  ]);
  // Functions, so that "$&" in a script is not interpreted.
  const whole = page.replace("%style%", () => style).replace("%script%;", () => inHtml(script));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, whole);
}

/** A module for other pages; its styles apply only within the element. */
export async function buildPickerElement(folder: string): Promise<void> {
  const style = (await readStyle())
    .replaceAll(/^(?::root|body)(?= \{)/gm, ":host")
    .concat(":host { display: block; height: 640px; } .page { height: 100%; }");
  const built = await rolldown({
    cwd: root,
    platform: "browser",
    input: { index: join(source, "element.tsx") },
    transform: { define: { pickerStyle: JSON.stringify(style) } },
    plugins: [thirdParties],
    onLog: refuseWarnings,
  });
  await built.write({ dir: folder, format: "esm", minify: true, chunkFileNames: "chunks/[name]-[hash].js" });
  await built.close();
}

/** Escapes sequences that HTML interprets inside a script; in strings and patterns the escapes mean the same. */
function inHtml(script: string): string {
  const escaped = script.replaceAll(/<(?=!--|\/?script)/gi, String.raw`\x3c`);
  // Fails if one was an operator, where an escape is invalid.
  parseAst(escaped);
  return escaped;
}

async function readStyle(): Promise<string> {
  const names = [
    "picker.css",
    "choosing.css",
    "panes.css",
    "views.css",
    "preview-kinds.css",
    "state-page.css",
    "activity-page.css",
    "hosts.css",
    "lines.css",
    "tray.css",
    "layout.css",
    "palette.css",
    "keys.css",
  ];
  return (await Promise.all(names.map((name) => readFile(join(source, name), "utf8")))).join("");
}

async function bundleWhole(entry: string): Promise<string> {
  const input = join(source, entry);
  const plugins = [thirdParties];
  const built = await rolldown({ cwd: root, platform: "browser", input, plugins, onLog: refuseWarnings });
  const { output } = await built.generate({ format: "esm", minify: true, codeSplitting: false });
  await built.close();
  return output[0].code;
}

type Chunks = readonly [OutputChunk, ...OutputChunk[]];

/** The first chunk and its static imports. */
function firstLoad(chunks: Chunks): readonly OutputChunk[] {
  const needed = new Set<string>([chunks[0].fileName]);
  for (const name of needed)
    for (const other of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) needed.add(other);
  return chunks.filter(({ fileName }) => needed.has(fileName));
}

/** Each kind of preview is a separate file, loaded on demand. */
async function bundle(): Promise<Chunks> {
  const built = await rolldown({
    cwd: root,
    platform: "browser",
    input: join(source, "entry.tsx"),
    plugins: [thirdParties],
    onLog: refuseWarnings,
  });
  const { output } = await built.generate({
    format: "esm",
    minify: true,
    entryFileNames: "picker-[hash:12].js",
    chunkFileNames: "view-[hash:12].js",
    hashCharacters: "hex",
  });
  await built.close();
  const [first, ...others] = output;
  return [first, ...others.filter((each) => each.type === "chunk")];
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
