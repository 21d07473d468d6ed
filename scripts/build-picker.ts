/** Builds the picker's page: files that a browser loads as they are, each beside its compressed form. */
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const root = dirname(import.meta.dirname);
const source = join(root, "src/picker");

export interface BuiltPicker {
  /** Of the compressed script that is loaded before the page shows anything. */
  readonly scriptBytes: number;
}

/** Whatever else is in the folder stays. */
export async function buildPicker(folder: string): Promise<BuiltPicker> {
  await mkdir(folder, { recursive: true });
  const script = await bundle();
  const style = await readFile(join(source, "picker.css"), "utf8");
  const names = { script: `picker-${hashOf(script)}.js`, style: `picker-${hashOf(style)}.css` };
  const page = (await readFile(join(source, "index.html"), "utf8"))
    .replace("%script%", names.script)
    .replace("%style%", names.style);
  const files = { "index.html": page, "icon.svg": await readFile(join(source, "icon.svg"), "utf8") };
  await Promise.all(
    Object.entries({ ...files, [names.script]: script, [names.style]: style }).flatMap(([name, text]) => [
      writeFile(join(folder, name), text),
      writeFile(join(folder, `${name}.gz`), gzipSync(text, { level: 9 })),
    ]),
  );
  return { scriptBytes: gzipSync(script, { level: 9 }).length };
}

async function bundle(): Promise<string> {
  const built = await rolldown({
    cwd: root,
    platform: "browser",
    input: join(source, "entry.tsx"),
    onLog(level, { code, message }) {
      if (level === "warn") throw new Error(`${code}: ${message}`);
    },
  });
  const { output } = await built.generate({ format: "esm", minify: true, codeSplitting: false });
  await built.close();
  return output[0].code;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
