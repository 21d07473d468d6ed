/** The outermost layer of every mount: says which source answers a request, and traces each call. */
import { type Layer, wrapSource } from "../layer.ts";
import { inSpan, requestScope } from "../lib/request-scope.ts";
import { sources } from "../sources/index.ts";

/** Sources of programs and packages have any name; all of them are one type. */
const ownSource = "own";

export function observe(source: string): Layer {
  const type = Object.hasOwn(sources, source) ? source : ownSource;
  return (inner, { name: mount }) =>
    wrapSource(inner, (operation, method) => {
      // A watch is shared by many requests.
      if (operation === "watch") return method;
      const span = `${type} ${operation}`;
      const attributes = { "pressmark.source": type, "pressmark.operation": operation };
      return (...args) => {
        const scope = requestScope();
        if (scope === undefined) return method(...args);
        scope.note(mount, type);
        return scope.span ? inSpan(span, attributes, () => method(...args)) : method(...args);
      };
    });
}
