/** Common steps of every request: resolves the URI, checks what the caller may see, and converts errors. */
import { openPolicy } from "../access/policy.ts";
import type { Policy } from "../access/policy.ts";
import { cancelled, causeFacts, markLogged, notFound, quote, ResourceError, toResourceError } from "../errors.ts";
import { type Call, type Caller, hasChildrenKey, type Resource } from "../resources.ts";
import { innerSlash } from "../source.ts";
import type { Address, Entry, Runtime } from "../source.ts";
import type { Viewer } from "../search/search-index.ts";
import type { RoutedMount, Location, Routes } from "./route.ts";

export interface Access {
  readonly routes: Routes;
  readonly runtime: Runtime;
  /** True if every caller sees the same. If not, no result may be shared with another caller. */
  readonly isOpen: boolean;
  maySee(who: Pick<Call, "caller">, mount: RoutedMount, at: Address): boolean;
  /** Returns whether the caller may see what the index holds of an address, which comes from all files that the address can show. */
  mayFind(who: Pick<Call, "caller">, mount: RoutedMount, at: Address): boolean;
  /** Returns whether the source filters what it shows to this caller. */
  isFiltered(who: Pick<Call, "caller">, mount: RoutedMount): boolean;
  /** Returns whether the caller may see the target of a link. */
  mayReach(who: Pick<Call, "caller">, mount: RoutedMount, found: { readonly reveals?: Address }): boolean;
  /** Returns whether the caller may know of the mount itself. */
  mayEnter(who: Pick<Call, "caller">, mount: RoutedMount): boolean;
  /** Returns whether the caller may see everything of the mount, now and later. */
  maySeeWhole(who: Pick<Call, "caller">, mount: RoutedMount): boolean;
  /**
   * The caller, for an index of these mounts that filters by itself. Undefined if the caller sees everything, or if it is not known who sees the
   * same for as long as a document is indexed: the policy does not tell, or a backend decides for each caller.
   */
  viewerOf(who: Pick<Call, "caller">, isIndexed: (mount: string) => boolean): Viewer | undefined;
  /** Returns whether the caller may change something through actions of the mount. */
  mayWrite(who: Pick<Call, "caller">, mount: RoutedMount): boolean;
  /** Throws the same "not-found" for a URI without a mount and for one that the caller may not see. */
  place(uri: string, call: Call): Location;
  /** Returns the resource as the caller sees it; undefined if they may not see it or no URI can express it. */
  show(entry: Entry, mount: RoutedMount, call: Call): Resource | undefined;
  /**
   * Describes the entry under this URI. The number of children is included only if all callers see all of them, and that a resource has
   * children only if this caller does: the rest of them may be hidden.
   */
  describe(uri: string, entry: Entry, mount: RoutedMount, call: Call): Resource;
  /**
   * Returns the error for the caller when the source failed at this URI. A "not-found" with the address `details.meant` suggests that
   * address, if the caller may see it. Details that the caller may not know go to the log.
   */
  refusal(cause: unknown, what: { uri: string; mount: RoutedMount; asked: string }, call: Call): ResourceError;
}

const root: Address = { path: "" };
const childrenKey = "pressmark/children";
let accessCount = 0;

export function createAccess(routes: Routes, policy: Policy, runtime: Runtime): Access {
  const withUnspellable = new Set<RoutedMount>();
  const isOpen = policy === openPolicy && !routes.mounts.some(({ source }) => source.maySee);

  for (const { name, source } of routes.mounts)
    source.filterFiles?.((caller, at) => (isOpen ? undefined : policy.filesFor?.(caller, name, at)));

  const maySee: Access["maySee"] = ({ caller }, mount, at) =>
    isOpen ||
    (policy.maySee(caller, mount.name, at, mount.source.filesOf?.(at)) &&
      (mount.source.maySee?.(caller, at) ?? true) &&
      maySeeOverview(caller, mount, at));

  const maySeeAll: NonNullable<Policy["maySeeAll"]> = (caller, mount, at) =>
    isOpen || policy === openPolicy || (policy.maySeeAll?.(caller, mount, at) ?? false);

  function maySeeOverview(caller: Caller, { name, source }: RoutedMount, at: Address): boolean {
    const shown = source.overviewOf?.(at);
    return shown === undefined || maySeeAll(caller, name, shown);
  }
  /** Decisions of another policy, or about other mounts, are different ones. */
  const decisions = (accessCount += 1);
  const byName = new Map(routes.mounts.map((mount) => [mount.name, mount]));
  const mayFind: Access["mayFind"] = ({ caller }, mount, at) => {
    const files = isOpen ? undefined : mount.source.filesOf?.(at);
    if (!files?.some(({ isFiltered }) => isFiltered)) return true;
    const unfiltered = files.map((file) => ({ ...file, isFiltered: false }));
    return policy.maySee(caller, mount.name, at, unfiltered);
  };
  const mayReach: Access["mayReach"] = (who, mount, { reveals }) =>
    reveals === undefined || maySee(who, mount, reveals);
  const mayEnter: Access["mayEnter"] = (who, mount) => maySee(who, mount, root);

  // Names of built-in mounts contain a slash; those of a config cannot.
  const ownMounts = routes.mounts.filter(({ name }) => !name.includes("/"));
  const enteredBy = new WeakMap<Call, readonly RoutedMount[]>();

  /** The beginning of titles that are paths. It tells the caller nothing of mounts that they may not enter. */
  function titlePrefix(mount: RoutedMount, call: Call): string {
    let entered = isOpen ? ownMounts : enteredBy.get(call);
    if (!entered) enteredBy.set(call, (entered = ownMounts.filter((each) => mayEnter(call, each))));
    return entered.length > 1 && entered.includes(mount) ? `${mount.title ?? mount.name}/` : "";
  }

  /** A source that decides by itself may hide anything. */
  const maySeeBelow = ({ caller }: Pick<Call, "caller">, mount: RoutedMount, at: Address): boolean =>
    isOpen || (!mount.source.maySee && maySeeAll(caller, mount.name, at));

  const describe: Access["describe"] = (uri, given, mount, call) => {
    const entry = isMount(given) ? asMount(given, mount) : given;
    const resource = toResource(uri, entry, mount, titlePrefix(mount, call), isOpen);
    if (!entry.hasChildren || !maySeeBelow(call, mount, entry)) return resource;
    return { ...resource, meta: { ...resource.meta, [hasChildrenKey]: true } };
  };

  return {
    routes,
    runtime,
    isOpen,
    maySee,
    mayReach,
    viewerOf(who, isIndexed) {
      const key = policy.visibilityKey?.(who.caller);
      if (key === undefined) return undefined;
      if (routes.mounts.some(({ name, source }) => source.maySee && isIndexed(name))) return undefined;
      return {
        key: `${decisions} ${key}`,
        maySee(document) {
          const mount = byName.get(document.mount);
          if (!mount) return false;
          if (maySee(who, mount, document) && mayFind(who, mount, document) && mayReach(who, mount, document))
            return true;
          // The source does not know yet which file this is.
          const isUnknown = mount.source.learnFiles && mount.source.filesOf?.(document).some(({ isWhole }) => isWhole);
          return isUnknown ? undefined : false;
        },
      };
    },
    mayFind,
    isFiltered({ caller }, { name, source }) {
      const visible = isOpen || !source.filterFiles ? undefined : policy.filesFor?.(caller, name, root);
      const files = (visible && source.filesOf?.(root)) ?? [];
      return files.some(({ path }) => !visible?.maySee({ path, isWhole: true }));
    },
    mayWrite: ({ caller }, { name }) => policy.mayWrite?.(caller, name) ?? true,
    maySeeWhole: (who, mount) => maySee(who, mount, root) && maySeeBelow(who, mount, root),
    mayEnter,
    describe,

    place(uri, call) {
      const place = routes.find(uri);
      if (place === undefined || !maySee(call, place.mount, place.at)) throw notFound(uri);
      return place;
    },

    show(entry, mount, call) {
      if (!maySee(call, mount, entry) || !mayReach(call, mount, entry)) return undefined;
      const uri = routes.format(mount, entry);
      if (uri !== undefined) return describe(uri, entry, mount, call);
      if (!withUnspellable.has(mount)) {
        withUnspellable.add(mount);
        runtime.log("warn", "left out of lists: a name that no URI can express", {
          mount: mount.name,
          path: entry.path,
        });
      }
      return undefined;
    },

    refusal(cause, { uri, mount, asked }, call) {
      if (call.signal.aborted) return cancelled(cause);
      const error = toResourceError(cause);
      switch (error.kind) {
        case "denied":
          runtime.log("warn", "the backend denied access; reported to the caller as not found", {
            mount: mount.name,
            asked,
            uri,
            cause,
          });
          return notFound(uri, error);
        case "not-found": {
          const meant = error.details?.["meant"] as Address | undefined;
          const meantUri = meant && maySee(call, mount, meant) ? routes.format(mount, meant) : undefined;
          if (meantUri === undefined) return notFound(uri);
          return new ResourceError("not-found", `${notFound(uri).message}; did you mean ${quote(meantUri, 1000)}?`);
        }
        case "directory":
          return notFound(uri);
        case "unexpected":
          // The error's message refers the caller to the log, which gets the cause.
          runtime.log("error", "the source failed", { mount: mount.name, asked, uri, ...causeFacts(error) });
          markLogged(error);
          return error;
        default:
          return error;
      }
    },
  };
}

function isMount({ path, query }: Entry): boolean {
  return path === "" && query === undefined;
}

/** A title and description in the config say more than those of the source. */
function asMount(entry: Entry, { title, description }: RoutedMount): Entry {
  if (title === undefined && description === undefined) return entry;
  return { ...entry, ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
}

function toResource(uri: string, entry: Entry, mount: RoutedMount, prefix: string, isOpen: boolean): Resource {
  const {
    name = nameOf(entry.path, mount),
    title = titleOf(entry, name, prefix),
    description,
    mimeType,
    size,
    annotations,
    icons,
    meta,
    children,
  } = entry;
  const isPlain = description === undefined && icons === undefined && meta === undefined;
  // The usual case for files; one object literal is the fastest form.
  if (isPlain && children === undefined && mimeType !== undefined && size !== undefined && annotations !== undefined)
    return { uri, name, title, mimeType, size, annotations };
  const resource: { -readonly [K in keyof Resource]: Resource[K] } = { uri, name, title };
  if (description !== undefined) resource.description = description;
  if (mimeType !== undefined) resource.mimeType = mimeType;
  if (size !== undefined) resource.size = size;
  if (annotations !== undefined) resource.annotations = annotations;
  if (icons !== undefined) resource.icons = icons;
  if (meta !== undefined) resource.meta = withoutChildren(meta);
  if (children !== undefined && isOpen) resource.meta = { ...resource.meta, [childrenKey]: children };
  return resource;
}

/** Only `hasChildren` and `children` of an entry, which depend on the caller, tell of children. */
function withoutChildren(meta: NonNullable<Entry["meta"]>): Entry["meta"] {
  if (!(hasChildrenKey in meta) && !(childrenKey in meta)) return meta;
  const { [hasChildrenKey]: _has, [childrenKey]: _count, ...others } = meta;
  return others;
}

/** The last non-empty segment; for the mount itself, the name of the mount. */
function nameOf(path: string, mount: RoutedMount): string {
  let end = path.length;
  while (end > 0 && path.charCodeAt(end - 1) === 0x2f) end -= 1;
  if (end === 0) return path === "" ? mount.name : path;
  const name = path.slice(path.lastIndexOf("/", end - 1) + 1);
  return name.includes(innerSlash) ? name.replaceAll(innerSlash, "/") : name;
}

/** Many files have the same name; their paths differ. A name that is not the last segment was chosen by the source, and says more than the path. */
function titleOf({ path }: Entry, name: string, prefix: string): string {
  const shown = path.includes(innerSlash) ? path.replaceAll(innerSlash, "/") : path;
  return shown.endsWith(name) ? prefix + shown : name;
}
