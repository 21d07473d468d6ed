/** The skills extension. Its method for directories is in `resources.ts`. */
import { invalid, notFound } from "../errors.ts";
import type { Page, Skill } from "../resources.ts";
import type { RequestHandler } from "./client-request.ts";
import { cursorOf, uriOf } from "./params.ts";
import { pageRest } from "./resources.ts";

export const skillsList: RequestHandler = {
  async answer(question) {
    const { offer, revision, params, call } = question;
    const { resources, server } = offer;
    const ask = cursorOf(params);
    if (!resources.skills && ask.cursor !== undefined) throw invalid("no such cursor; start again without one");
    const page: Page<Skill> = (await resources.skills?.(ask, call)) ?? { items: [] };
    const result = { skills: page.items.map(wireSkill), ...pageRest(page, question) };
    return revision.seal(result, resources.listFreshness, server);
  },
};

export const skillsGet: RequestHandler = {
  async answer({ offer, revision, params, call }) {
    const uri = uriOf(params);
    const answer = await offer.resources.skill?.(uri, call);
    if (answer === undefined) throw notFound(uri);
    const { skill, ttlMs, scope } = answer;
    return revision.seal({ skill: wireSkill(skill) }, { ttlMs, scope }, offer.server);
  },
};

function wireSkill({ uri, frontMatter, files }: Skill): object {
  return { uri, frontmatter: frontMatter, resources: files };
}
