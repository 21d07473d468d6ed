/** Lists and runs actions: only those of mounts that the caller may see, and only with valid input. */
import type { z } from "zod";
import { notFound, quote, ResourceError } from "../errors.ts";
import type { Call, Resource, Resources } from "../resources.ts";
import type { SourceActionResult, SourceAction } from "../source.ts";
import type { Access } from "./access.ts";
import { checkInput } from "./check-input.ts";
import type { RoutedMount } from "./route.ts";

interface Prepared {
  readonly schema: z.ZodType;
  readonly json: Readonly<Record<string, unknown>>;
}

export function createActions(access: Access): Required<Pick<Resources, "actions" | "act">> {
  /** Schemas are created on first use. */
  const prepared = new WeakMap<SourceAction, Prepared>();

  async function prepare(action: SourceAction): Promise<Prepared> {
    const known = prepared.get(action);
    if (known) return known;
    const { z: zod } = await import("zod");
    const schema = action.input(zod);
    const { $schema: _, ...json } = zod.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    const made = { schema, json };
    prepared.set(action, made);
    return made;
  }

  const mountsFor = (call: Call): RoutedMount[] => access.routes.mounts.filter((mount) => access.mayEnter(call, mount));

  const mayRun = (mount: RoutedMount, { readOnly }: SourceAction, call: Call) =>
    readOnly || access.mayWrite(call, mount);

  function find(what: { readonly mount: string; readonly name: string }, call: Call) {
    const mount = mountsFor(call).find(({ name }) => name === what.mount);
    const actions = mount?.source.actions;
    const action = actions && Object.hasOwn(actions, what.name) ? actions[what.name] : undefined;
    if (!mount || !action || !mayRun(mount, action, call)) throw noAction(what);
    return { mount, action };
  }

  return {
    async actions(call) {
      const found = mountsFor(call).flatMap((mount) =>
        Object.entries(mount.source.actions ?? {})
          .filter(([, action]) => mayRun(mount, action, call))
          .map(async ([name, action]) => {
            const { title, description, readOnly = false, endpoint } = action;
            const { json: inputSchema } = await prepare(action);
            return {
              mount: mount.name,
              name,
              title,
              description,
              inputSchema,
              readOnly,
              endpoint,
            };
          }),
      );
      return Promise.all(found);
    },

    async act(what, input, call) {
      const { mount, action } = find(what, call);
      const { schema } = await prepare(action);
      const fitting = checkInput(schema, input, what.name);
      let result: SourceActionResult;
      try {
        result = await action.run(fitting, call);
      } catch (cause) {
        throw access.refusal(cause, { uri: mount.root, mount, asked: what.name }, call);
      }
      const resources: Resource[] = [];
      for (const entry of result.entries ?? []) {
        const resource = access.show(entry, mount, call);
        if (!resource) throw notFound(mount.root);
        resources.push(resource);
      }
      const uris = resources.map(({ uri }) => uri);
      return { value: uris.length > 0 ? { ...result.value, uris } : result.value, resources };
    },
  };
}

function noAction({ mount, name }: { readonly mount: string; readonly name: string }): ResourceError {
  return new ResourceError("not-found", `no action ${quote(name)} of a mount ${quote(mount)}`);
}
