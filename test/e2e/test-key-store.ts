/** A source of one's own that has everything a key store may have: see key-store.test.ts. */
import { ResourceError } from "../../src/errors.ts";
import { createKeySource } from "../../src/router/test-key-source.ts";
import { defineSource } from "../../src/source.ts";

interface KeyStoreOptions {
  readonly keys: readonly string[];
  readonly isWatched: boolean;
}

export const why = "notifications are off; set isWatched in the config";

export default defineSource<KeyStoreOptions>({
  name: "keys",
  summary: "Keys, some with keys below them",
  scheme: "keys",
  options: (z) => z.object({ keys: z.array(z.string()), isWatched: z.boolean().default(true) }),

  async open({ keys, isWatched }) {
    const store = createKeySource(keys, { emptyPages: 2, repeats: true });
    return {
      ...store.source,
      ...(!isWatched && { watch: () => Promise.reject(new ResourceError("unsupported", why)) }),
      actions: {
        put: {
          description: "Sets a key",
          input: (z) => z.object({ key: z.string() }),
          async run(input) {
            store.set((input as { readonly key: string }).key, "set by an action");
            return { value: {} };
          },
        },
        remove: {
          description: "Removes a key",
          input: (z) => z.object({ key: z.string() }),
          async run(input) {
            store.delete((input as { readonly key: string }).key);
            return { value: {} };
          },
        },
      },
    };
  },
});
