/** Checks callers and rules: rules that apply to nobody, mounts that nobody sees, callers without a token. */
import type { Caller } from "../resources.ts";
import type { CheckResult } from "./examine.ts";
import { mountsFor, type Server } from "./open-server.ts";
import type { TokenStore } from "./token-store.ts";

export function examineAccess(
  { access, mounts, policy, auth }: Pick<Server, "access" | "mounts" | "policy" | "auth">,
  tokens: Pick<TokenStore, "list">,
  nowMs: number,
): CheckResult[] {
  const { callers = [], rules = [] } = access ?? {};
  if (callers.length + rules.length === 0) return [];
  const about = "access";
  const hint = (says: string, advice?: string): CheckResult => ({ about, state: "hint", says, advice });
  const stored = tokens.list();
  const groups = new Set(callers.flatMap((caller) => caller.groups ?? []));
  // With OAuth, only the issuers know who is in which group.
  const isKnown = (subject: string) =>
    auth !== undefined || !subject.startsWith("group:") || groups.has(subject.slice("group:".length));
  const issuers = Array.isArray(auth) ? auth : [];
  const needsToken = (name: string) =>
    auth !== "builtin" && !issuers.some(({ callers: own = {} }) => Object.hasOwn(own, name));
  const everyone = callers.map(({ name, groups: own, owner }): Caller => ({ id: name, groups: own, owner }));
  const findings = [
    ...rules.flatMap(({ allow, deny }, index) =>
      [...(allow ?? []), ...(deny ?? [])].some(isKnown)
        ? []
        : [
            hint(
              `rule ${index + 1} applies to nobody: no caller is in its groups`,
              "correct its groups, or add them to callers",
            ),
          ],
    ),
    ...mounts
      .filter(
        (mount) =>
          rules.length > 0 &&
          auth === undefined &&
          !everyone.some((caller) => mountsFor({ mounts: [mount], policy }, caller).length > 0),
      )
      .map(({ name }) =>
        hint(`nobody but the owner can see the mount ${name}`, "add a rule that allows it, if that is not meant"),
      ),
    ...callers
      .filter(
        ({ name }) =>
          needsToken(name) && !stored.some(({ caller, expires = Infinity }) => caller === name && expires > nowMs),
      )
      .map(({ name }) => hint(`${name} has no valid token`, `pressmark token create ${name}`)),
    ...[...new Set(stored.map(({ caller }) => caller))]
      .filter((name) => !callers.some((caller) => caller.name === name))
      .map((name) =>
        hint(`there are tokens of ${name}, who is no caller of the config`, `pressmark token revoke ${name}`),
      ),
  ];
  return findings.length > 0
    ? findings
    : [
        {
          about,
          state: "ok",
          says: `every rule applies to someone (callers: ${callers.length}, rules: ${rules.length})`,
        },
      ];
}
