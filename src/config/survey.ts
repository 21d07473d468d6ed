/** Detects what a project contains that the built-in sources can serve. */
import type { Detection, Runtime } from "../source.ts";
import { sources } from "../sources/index.ts";
import type { Registry } from "./find-source.ts";
import { createProjectFolder } from "./project-folder.ts";

export interface ProjectFinding extends Detection {
  /** Name of the source that serves it. */
  readonly source: string;
}

interface SurveyOptions {
  readonly log: Runtime["log"];
  /** Only built-in sources: the code of a package must not run before it is trusted. */
  readonly registry?: Registry;
}

/** In the order of the registry. A source that fails is logged and left out. */
export async function survey(path: string, { log, registry = sources }: SurveyOptions): Promise<ProjectFinding[]> {
  const project = createProjectFolder(path);
  const findings: ProjectFinding[] = [];
  for (const [source, load] of Object.entries(registry)) {
    try {
      const { default: definition } = await load();
      for (const detection of definition.detect?.(project) ?? []) findings.push({ ...detection, source });
    } catch (cause) {
      log("warn", "a source could not check the project; add its mount by hand", { source, cause: String(cause) });
    }
  }
  return findings;
}
