/** Checks whether callers can sign in with OAuth: the public URL, and whether the issuers can be reached. */
import { openIssuer } from "../auth/issuers-verifier.ts";
import { type IssuerSettings, resourceOf } from "../config/auth.ts";
import { toResourceError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { CheckResult } from "./examine.ts";
import type { Server } from "./open-server.ts";

export async function examineAuth({
  settings: { publicUrl },
  auth,
  runtime,
}: Pick<Server, "settings" | "auth" | "runtime">): Promise<CheckResult[]> {
  // A config without the URL is reported as broken.
  if (auth === undefined || publicUrl === undefined) return [];
  const issuers = auth === "builtin" ? [] : auth;
  return [
    examineUrl(publicUrl),
    ...(await Promise.all(issuers.map((issuer) => examineIssuer(issuer, resourceOf(publicUrl), runtime)))),
  ];
}

function examineUrl(publicUrl: string): CheckResult {
  const { protocol, hostname } = new URL(publicUrl);
  const about = "sign-in";
  if (protocol === "https:" || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname))
    return { about, state: "ok", says: `tokens are issued for ${resourceOf(publicUrl)}` };
  return {
    about,
    state: "hint",
    says: "server.publicUrl is not https, so tokens can be read on their way",
    advice: "put the server behind a proxy with a certificate, and write its https URL",
  };
}

async function examineIssuer(settings: IssuerSettings, resource: string, runtime: Runtime): Promise<CheckResult> {
  const { reach, stop } = openIssuer(settings, { resource, runtime });
  const about = `issuer ${settings.issuer}`;
  try {
    return { about, state: "ok", says: `can be reached (keys: ${await reach()})` };
  } catch (cause) {
    const advice = "check its URL, and that this machine can reach it";
    return { about, state: "broken", says: toResourceError(cause).message, advice };
  } finally {
    stop.abort();
  }
}
