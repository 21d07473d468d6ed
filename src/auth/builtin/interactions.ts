/** Asks a person who they are and what a client may do: the pages between the request of a client and its code. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Interaction, Provider } from "oidc-provider";
import { takeUpTo } from "../../lib/read-bounded.ts";
import { paths } from "./create-provider.ts";
import type { SignIn } from "./sign-in.ts";
import { type AskingClient, consentPage, failurePage, type HtmlPage, signInPage, wordsFor } from "./sign-in-pages.ts";

interface InteractionsOptions {
  readonly provider: Provider;
  /** The public URL, without a slash at the end. */
  readonly publicUrl: string;
  readonly signIn: SignIn;
  addressOf(request: IncomingMessage): string;
  /** Called with the caller who signed in, or undefined if nobody did. A promise that it returns is awaited before the answer. */
  signedIn(account: string | undefined, address: string): Promise<void> | undefined;
  /** Called when a caller has allowed a client to act for them. */
  allowed(account: string, client: string): void;
  /** Ends a grant with a token, given by its SHA-256; undefined if it has its own end. */
  bind(grant: string, token: string | undefined): Promise<void>;
  /** Scopes that need no mention, because every client has them. */
  readonly usual: ReadonlySet<string>;
}

const maxFormBytes = 8192;

/** Answers requests below the path of sign-ins. */
export function createInteractions({
  provider,
  publicUrl,
  signIn,
  addressOf,
  signedIn,
  allowed,
  bind,
  usual,
}: InteractionsOptions) {
  const { origin } = new URL(publicUrl);

  async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const words = wordsFor(request.headers["accept-language"]);
    const method = request.method ?? "";
    if (!["GET", "HEAD", "POST"].includes(method)) return send(response, 405, failurePage("use GET or POST", words));
    // The cookie is not sent with forms of other sites; this also covers browsers that do not know SameSite.
    if (method === "POST" && request.headers.origin !== origin)
      return send(response, 403, failurePage("the form was sent from another site", words));
    const interaction = await provider.interactionDetails(request, response).catch(() => undefined);
    const client = interaction && (await clientOf(interaction));
    if (!interaction || !client || path !== `${paths.interaction}${interaction.uid}`)
      return send(response, 400, failurePage("this sign-in has expired, or was begun in another browser", words));
    const form = method === "POST" ? await formOf(request) : undefined;
    const finish = (result: Readonly<Record<string, unknown>>, mergeWithLastSubmission = true) =>
      provider.interactionFinished(request, response, result, { mergeWithLastSubmission });

    switch (form?.get("action")) {
      case "deny":
        return finish({ error: "access_denied", error_description: "the user did not allow it" }, false);
      case "sign-in": {
        if (interaction.prompt.name !== "login") break;
        const name = form.get("name")?.trim() ?? "";
        const secret = form.get("secret") ?? "";
        const address = addressOf(request);
        const known = await signIn({ name, secret, address });
        if (known !== undefined && known !== "limited") {
          await signedIn(known.account, address);
          // The provider keeps "amr" (how someone signed in) with the session of the browser.
          const amr = known.token === undefined ? undefined : [known.token];
          return finish({ login: { accountId: known.account, remember: false, amr } }, false);
        }
        await signedIn(undefined, address);
        const problem = known ?? "wrong";
        return send(response, problem === "limited" ? 429 : 403, signInPage({ client, name, problem }, words));
      }
      case "allow":
        if (interaction.prompt.name !== "consent" || !interaction.session) break;
        return allow(interaction, interaction.session.accountId).then((grantId) => finish({ consent: { grantId } }));
      case "switch": {
        const session = interaction.session && (await provider.Session.findByUid(interaction.session.uid));
        await session?.destroy();
        const again = new URLSearchParams(interaction.params as Record<string, string>);
        response
          .writeHead(303, { Location: `${publicUrl}${paths.authorization}?${again}`, "Cache-Control": "no-store" })
          .end();
        return;
      }
    }
    const { session, prompt } = interaction;
    if (prompt.name === "login" || !session) return send(response, 200, signInPage({ client, name: "" }, words));
    const scopes = String(interaction.params["scope"] ?? "").split(" ");
    const unusual = scopes.filter((scope) => scope !== "" && !usual.has(scope));
    return send(response, 200, consentPage({ client, account: session.accountId, scopes: unusual }, words));
  }

  async function clientOf({ params }: Interaction): Promise<AskingClient | undefined> {
    const client = await provider.Client.find(String(params["client_id"]));
    return (
      client && {
        id: client.clientId,
        name: client.clientName,
        isVerified: client.clientIdMetadataDocument === true,
        redirectUri: String(params["redirect_uri"]),
      }
    );
  }

  /** Adds what is missing to what the caller allowed before. */
  async function allow({ grantId, params, prompt, session }: Interaction, accountId: string): Promise<string> {
    const clientId = String(params["client_id"]);
    const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    const grant = known ?? new provider.Grant({ accountId, clientId });
    const { missingOIDCScope, missingResourceScopes } = prompt.details as {
      readonly missingOIDCScope?: readonly string[];
      readonly missingResourceScopes?: Readonly<Record<string, readonly string[]>>;
    };
    if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(" "));
    for (const [resource, scopes] of Object.entries(missingResourceScopes ?? {}))
      grant.addResourceScope(resource, scopes.join(" "));
    const saved = await grant.save();
    await bind(saved, session?.amr?.[0]);
    allowed(accountId, clientId);
    return saved;
  }

  return answer;
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const body = await takeUpTo(maxFormBytes, request);
  return new URLSearchParams(body?.toString("utf8") ?? "");
}

export function send(response: ServerResponse, status: number, { html, headers }: HtmlPage): void {
  response.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(html) });
  response.end(response.req.method === "HEAD" ? undefined : html);
}
