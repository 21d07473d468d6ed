/** The problem report about views that are not served. */
import type { SourceProblem } from "../../source.ts";

const maxNamed = 10;

export function leftOutProblem(views: readonly string[]): SourceProblem {
  const more = views.length > maxNamed ? `, and ${views.length - maxNamed} more` : "";
  return {
    path: "",
    says: `leaves out views that read what "tables" excludes: ${views.slice(0, maxNamed).join(", ")}${more}`,
    advice: 'to serve one anyway, add its name without a wildcard to "tables.include"',
  };
}
