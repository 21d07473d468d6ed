/** Reads the containers of a compose file. Copies no value that may be a secret. */
import { parse } from "yaml";
import { mayHoldSecret } from "../lib/url-secret.ts";
import type { ProjectContainer } from "../source.ts";

/** Empty if the text is not understood. */
export function containersIn(file: string, text: string): ProjectContainer[] {
  const services = entriesOf(entriesOf(parsedYaml(text)).find(([key]) => key === "services")?.[1]);
  return services.flatMap(([service, value]) => {
    const { image, ports, environment, env_file } = (value ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof image !== "string") return [];
    const variables = new Map(
      Array.isArray(environment)
        ? environment.map((line) => splitAt(String(line), "="))
        : entriesOf(environment).map(([key, each]) => [key, each === null ? undefined : String(each)] as const),
    );
    return [
      {
        file,
        service,
        image: imageName(withDefaults(image)),
        portFor: (target) => publishedPort(Array.isArray(ports) ? ports : [], target),
        variable(name) {
          // A variable without a value is taken from the environment of compose, as one of an env_file may be.
          if (!variables.has(name)) return env_file === undefined ? undefined : `\${env:${name}}`;
          const given = variables.get(name) ?? `\${${name}}`;
          return mayBeSecret(name, given) ? secretReference(name, given) : toReference(given);
        },
      },
    ];
  });
}

/** The last part without tag and digest: `minio` for `quay.io/minio/minio:latest`. */
function imageName(image: string): string {
  return image.slice(image.lastIndexOf("/") + 1).split(/[:@]/, 1)[0]!;
}

function publishedPort(ports: readonly unknown[], target: number): number | undefined {
  for (const port of ports) {
    const long = entriesOf(port);
    const [host, container] =
      long.length > 0
        ? ["published", "target"].map((name) => String(long.find(([key]) => key === name)?.[1]))
        : withDefaults(String(port))
            .replace(/\/\w+$/, "")
            .split(":")
            .slice(-2);
    if (Number(container) === target && Number(host) > 0) return Number(host);
  }
  return undefined;
}

const secretName = /PASS|PWD|SECRET|TOKEN|KEY|CREDENTIAL/i;

/** A user name with a password after a colon is a secret too; the colon of a default is none. */
function mayBeSecret(name: string, value: string): boolean {
  const isPair = /USER/i.test(name) && value.replaceAll(/\$\{[^{}]*\}/g, "").includes(":");
  return secretName.test(name) || isPair || (value.includes("://") && mayHoldSecret(value));
}

/** The variable that the value consists of, without its default, which may be the secret; else the name itself. */
function secretReference(name: string, value: string): string {
  const [, plain, braced = plain] = /^\$(?:([A-Z_a-z]\w*)|\{([A-Z_a-z]\w*)(?:[:?-][^{}]*)?\})$/.exec(value) ?? [];
  return `\${env:${braced ?? name}}`;
}

/** A value of a compose file as a part of a URL in the config: `a b${NAME:-x}` becomes `a%20b${env:NAME:-x}`. */
function toReference(value: string): string {
  const variables = value.matchAll(/\$(?:([A-Z_a-z]\w*)|\{([A-Z_a-z]\w*)(?::?-([\w.-]*)|:?\?[^{}]*)?\})/g);
  let text = "";
  let end = 0;
  for (const { 0: whole, 1: plain, 2: name = plain, 3: fallback, index } of variables) {
    text += encodeURIComponent(value.slice(end, index));
    // The default of a secret is one too.
    text += fallback === undefined || secretName.test(name ?? "") ? `\${env:${name}}` : `\${env:${name}:-${fallback}}`;
    end = index + whole.length;
  }
  return text + encodeURIComponent(value.slice(end));
}

function withDefaults(value: string): string {
  return value.replaceAll(/\$\{\w+:?-([^}]*)\}/g, "$1");
}

function splitAt(text: string, mark: string): readonly [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

function parsedYaml(text: string): unknown {
  try {
    return parse(text, { merge: true, logLevel: "silent" });
  } catch {
    return undefined;
  }
}
