/** Builds the extension into `dist`, after `npm run build` at the top: the entry point, and the panel's page with the picker. */
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type InputOptions, rolldown } from "rolldown";
import { refuseWarnings } from "../../scripts/refuse-warnings.ts";
import { noticesOfThirdParties, thirdParties } from "../../scripts/third-parties.ts";

const here = import.meta.dirname;
const root = join(here, "../..");
const { version } = JSON.parse(await readFile(join(here, "package.json"), "utf8")) as { readonly version: string };

/** `to` becomes the folder of the extension that is packaged. */
export async function buildExtension(to: string): Promise<void> {
  const dist = join(to, "dist");
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  await bundle(
    { input: join(here, "src/extension.ts"), platform: "node", external: ["vscode"] },
    "cjs",
    join(dist, "extension.cjs"),
  );
  await bundle(
    {
      input: join(here, "src/panel/panel.ts"),
      platform: "browser",
      transform: { define: { extensionVersion: JSON.stringify(version) } },
    },
    "esm",
    join(dist, "panel.js"),
  );
  await Promise.all([
    copyFile(join(here, "src/panel/panel.css"), join(dist, "panel.css")),
    copyFile(join(root, "bundles/plugin/.claude-plugin/icon.png"), join(to, "icon.png")),
    copyFile(join(root, "LICENSE"), join(to, "LICENSE")),
    writeFile(join(dist, "third-parties.md"), await noticesOfThirdParties()),
  ]);
}

async function bundle(input: InputOptions, format: "cjs" | "esm", file: string): Promise<void> {
  const built = await rolldown({ cwd: root, plugins: [thirdParties], onLog: refuseWarnings, ...input });
  await built.write({ file, format, codeSplitting: false, minify: true });
  await built.close();
}

if (import.meta.main) await buildExtension(here);
