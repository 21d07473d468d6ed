/** Which licences the parts of a release may have. */
import type { Part } from "./parts.ts";

/** Permissive: they ask for a notice, at most. */
const allowed = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "Unlicense",
  "Zlib",
]);

/** Of a choice ("A OR B"), one must be allowed; "A AND B" is allowed only if a person lists it. */
export function isAllowed(licence: string): boolean {
  if (allowed.has(licence)) return true;
  const choice = licence.replace(/^\((.*)\)$/, "$1");
  return (
    !/[()]| AND /.test(choice) && choice.includes(" OR ") && choice.split(" OR ").some((each) => allowed.has(each))
  );
}

export function licenceProblems(parts: readonly Part[]): readonly string[] {
  return parts
    .filter(({ licence }) => !isAllowed(licence))
    .map(
      ({ name, version, licence, kind }) =>
        `${name} ${version} (${kind}) has ${licence || "no licence"}, which is not allowed`,
    );
}

/** A table of all parts. */
export function licenceReport(parts: readonly Part[], version: string): string {
  const rows = parts.map(({ name, version: its, licence, kind }) => `| ${name} | ${its} | ${licence} | ${kind} |`);
  return `# Licences of the parts of Pressmark ${version}

\`installed\`: npm installs it with the package. \`bundled\`: its code is in the package. \`embedded\`: its code is in the single executable only.

| Package | Version | Licence | Kind |
|---|---|---|---|
${rows.join("\n")}
`;
}
