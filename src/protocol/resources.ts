/** Handlers of the resource methods. */
import { notFound } from "../errors.ts";
import type { Freshness, Page, Resource, Template } from "../resources.ts";
import type { RequestHandler, ClientRequest } from "./client-request.ts";
import type { WireBytes } from "./protocol.ts";
import { cursorOf, uriOf } from "./params.ts";
import { wireTemplate } from "./shape.ts";
import { encodeContents, validatorOf } from "./encode-contents.ts";
import { encodePage } from "./encode-page.ts";
import { conditionalReads, declares } from "./extensions.ts";
import { filterOf } from "./list-filter.ts";
import { member } from "./message.ts";

/** Everything of a page but its items: the next cursor, and failed mounts. */
export function pageRest({ next, failures }: Page<unknown>, { revision }: ClientRequest): Record<string, unknown> {
  return {
    nextCursor: next,
    ...(failures?.length && revision.has.annotations && { _meta: { "pressmark/failures": failures } }),
  };
}

export const resourcesList: RequestHandler = {
  async answer(question) {
    const { offer, revision, params, call, subscriptions } = question;
    const ask = { ...cursorOf(params), ...filterOf(question) };
    await subscriptions?.listFollowed();
    const page = await offer.resources.list(ask, call);
    const rest = pageRest(page, question);
    if (revision.listsTemplates && ask.cursor === undefined) rest["resourceTemplates"] = await allTemplates(question);
    return encodePage(page.items, revision.seal(rest, offer.resources.listFreshness, offer.server), revision.has);
  },
};

async function allTemplates({ offer, revision, call }: ClientRequest): Promise<object[]> {
  const templates: Template[] = [];
  let cursor: string | undefined;
  do {
    const page: Page<Template> = await offer.resources.templates(cursor === undefined ? {} : { cursor }, call);
    templates.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return templates.map((template) => wireTemplate(template, revision.has));
}

export const resourcesTemplatesList: RequestHandler = {
  async answer(question) {
    const { offer, revision, params, call } = question;
    const page = await offer.resources.templates({ ...cursorOf(params), ...filterOf(question) }, call);
    const resourceTemplates = page.items.map((template) => wireTemplate(template, revision.has));
    return revision.seal(
      { resourceTemplates, ...pageRest(page, question) },
      offer.resources.listFreshness,
      offer.server,
    );
  },
};

/** `resources/directory/read`, of the skills extension: the direct children of any directory of any source. */
export const resourcesDirectoryRead: RequestHandler = {
  async answer(question) {
    const { offer, revision, params, call } = question;
    const page: Page<Resource> = await offer.resources.children(uriOf(params), cursorOf(params), call);
    // The text requires no hints here, but both official clients reject a result without them.
    const rest = revision.seal(pageRest(page, question), offer.resources.listFreshness, offer.server);
    return encodePage(page.items, rest, revision.has);
  },
};

const validatorKey = "pressmark/validator";

/**
 * Under the extension of conditional reads, the result carries a validator, and a client that sends it again gets the contents only if
 * they differ. The resource is read in any case, so that rules hold; while its version is equal, the mount's cache has the body.
 */
export const resourcesRead: RequestHandler = {
  async answer(question): Promise<WireBytes> {
    const { offer, revision, params, call, visitor } = question;
    const uri = uriOf(params);
    const { contents, ttlMs, scope } = await offer.resources.read(uri, call);
    if (visitor) offer.observer?.read(visitor, uri);
    const freshness: Freshness = { ttlMs, scope };
    const validator = declares(question, conditionalReads) ? validatorOf(contents) : undefined;
    const isUnchanged = validator !== undefined && member(member(params, "_meta"), validatorKey) === validator;
    const own = validator !== undefined && {
      _meta: { [validatorKey]: validator, ...(isUnchanged && { "pressmark/unchanged": true }) },
    };
    const rest = JSON.stringify(revision.seal({ ...own }, freshness, offer.server));
    if (visitor && !isUnchanged) offer.observer?.gave?.(visitor, { uri, contents });
    const pieces = isUnchanged ? ["[]"] : encodeContents(contents, revision.has);
    const tail = rest === "{}" ? rest.slice(1) : `,${rest.slice(1)}`;
    if (pieces.length === 1) return [`{"contents":${pieces[0] as string}${tail}`];
    return [`{"contents":`, ...pieces, tail];
  },
};

export const resourcesSubscribe: RequestHandler = {
  async answer({ params, call, subscriptions }) {
    const uri = uriOf(params);
    if (!subscriptions) throw notFound(uri);
    await subscriptions.subscribe(uri, call.signal);
    return {};
  },
};

export const resourcesUnsubscribe: RequestHandler = {
  async answer({ params, subscriptions }) {
    await subscriptions?.unsubscribe(uriOf(params));
    return {};
  },
};
