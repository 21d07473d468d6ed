/** Finds Redis servers that the .env and compose files of a project name. */
import type { Detection, ProjectFolder } from "../../source.ts";

const images = /^(?:redis|valkey|redis-stack|redis-stack-server|keydb|dragonfly)$/;
const names = /^(?:REDIS|VALKEY)(?:_CONNECTION)?_(?:URL|URI)$/;

/** The first variable that leads to a server, else the first container. */
export function detectRedis({ variables, containers }: ProjectFolder): readonly Detection[] {
  const variable = variables.find(
    ({ name, scheme, host }) =>
      (scheme === "redis" || scheme === "rediss" || (scheme === undefined && names.test(name))) &&
      // The name of a service is known only to other containers.
      !containers.some(({ service }) => service === host),
  );
  if (variable)
    return [
      {
        what: "Redis",
        where: `${variable.file} (${variable.name})`,
        values: { url: `\${env:${variable.name}}` },
        needs: `the environment variable ${variable.name}, which ${variable.file} names, and "pressmark trust"`,
      },
    ];
  const found = containers.filter(({ image }) => images.test(image));
  const container = found.find(({ portFor }) => portFor(6379) !== undefined) ?? found[0];
  if (!container) return [];
  const { file, service } = container;
  const port = container.portFor(6379);
  return [
    {
      what: "Redis in a container",
      where: `${file} (${service})`,
      values: { url: `redis://127.0.0.1:${port ?? 6379}` },
      ...(port !== undefined && { needs: `the container ${service} of ${file}, and "pressmark trust"` }),
    },
  ];
}
