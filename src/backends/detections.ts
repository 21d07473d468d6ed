/** What a source can serve of a project, by the names of variables and the images of containers. */
import type { Detection, ProjectContainer, ProjectFolder } from "../source.ts";

/** One detection for each variable with such a name; `values` gets a reference to the variable, never its value. */
export function detectVariables(
  { variables }: ProjectFolder,
  name: RegExp,
  what: string,
  values: (reference: string) => Detection["values"],
): Detection[] {
  return variables
    .filter((variable) => name.test(variable.name))
    .map((variable) => ({
      what,
      where: `${variable.file} (${variable.name})`,
      values: values(`\${env:${variable.name}}`),
    }));
}

/** One detection for each container with such an image. */
export function detectContainers(
  { containers }: ProjectFolder,
  image: RegExp,
  what: string,
  values: (container: ProjectContainer) => Detection["values"],
): Detection[] {
  return containers
    .filter((container) => image.test(container.image))
    .map((container) => ({
      what: `${what} in a container`,
      where: `${container.file} (${container.service})`,
      values: values(container),
    }));
}
