/** The pages of the sign-in, as HTML without script, in English or Japanese. */
import { createHash } from "node:crypto";
import { pageLanguage } from "../../lib/page-language.ts";
import { visibleText } from "../../lib/visible-text.ts";
import { isLoopback } from "./restrict-client.ts";

/** The client that asks for access. */
export interface AskingClient {
  readonly id: string;
  readonly name?: string;
  /** Whether its metadata comes from the URL that is its id, so that the host of the URL is who asks. */
  readonly isVerified: boolean;
  readonly redirectUri: string;
}

interface SignInPage {
  readonly client: AskingClient;
  readonly name: string;
  readonly problem?: "wrong" | "limited";
}

interface ConsentPage {
  readonly client: AskingClient;
  readonly account: string;
  readonly scopes: readonly string[];
}

/** A page and the policy that it needs. */
export interface HtmlPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Words = (typeof texts)["en"];

const texts = {
  en: {
    lang: "en",
    signIn: "Sign in",
    asks: (client: string) => `${client} wants to connect to this server.`,
    name: "Name",
    secret: "Password, token or one-time code",
    hint: "With a token (pressmark token create) or the code that pressmark serve prints, the name can stay empty.",
    wrong: "This name and password are not valid.",
    limited: "Too many attempts. Wait 15 minutes, then try again.",
    allowTitle: (client: string) => `Allow ${client}?`,
    account: "You are signed in as",
    other: "Sign in as someone else",
    client: "Client",
    identity: "Its address",
    unverified: "It registered itself: anybody can use this name.",
    target: "You return to",
    local:
      "This is a program on the computer in front of you. Allow it only if you have just started to connect it yourself.",
    permissions: "It may",
    read: "read, list and search what you may see on this server",
    scope: (scope: string) => `use the scope “${scope}”`,
    stay: "stay connected for up to a year; pressmark token revoke ends it earlier",
    allow: "Allow",
    deny: "Deny",
    failed: "This did not work",
    failedHint: "Close this page and start again from the program that you want to connect.",
  },
  ja: {
    lang: "ja",
    signIn: "サインイン",
    asks: (client: string) => `${client} がこのサーバーへの接続を求めています。`,
    name: "名前",
    secret: "パスワード、トークンまたはワンタイムコード",
    hint: "トークン(pressmark token create)または pressmark serve が表示したコードの場合、名前は空のままで構いません。",
    wrong: "名前またはパスワードが正しくありません。",
    limited: "試行回数が多すぎます。15 分待ってからやり直してください。",
    allowTitle: (client: string) => `${client} を許可しますか?`,
    account: "サインイン中の名前",
    other: "別の名前でサインインする",
    client: "クライアント",
    identity: "アドレス",
    unverified: "自己登録されたクライアントです。この名前は誰でも名乗れます。",
    target: "戻り先",
    local: "これはお使いのコンピューター上のプログラムです。ご自身で接続を始めた場合にのみ許可してください。",
    permissions: "許可される操作",
    read: "このサーバーであなたが見られるものの閲覧、一覧、検索",
    scope: (scope: string) => `スコープ「${scope}」の使用`,
    stay: "最長 1 年間の接続の維持(pressmark token revoke で取り消せます)",
    allow: "許可する",
    deny: "許可しない",
    failed: "処理できませんでした",
    failedHint: "このページを閉じて、接続したいプログラムからやり直してください。",
  },
};

const style = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;margin:0;padding:2rem 1rem;background:Canvas;color:CanvasText}
main{max-width:28rem;margin:0 auto;padding:1.5rem 1.75rem;border:1px solid color-mix(in srgb,CanvasText 20%,Canvas);border-radius:.75rem}
h1{font-size:1.35rem;line-height:1.3;margin:0 0 1rem;overflow-wrap:anywhere}
p,ul,dl{margin:0 0 1rem}
.brand,.hint{color:color-mix(in srgb,CanvasText 65%,Canvas);font-size:.875rem}
.brand{margin:0 0 .5rem}
label{display:block;font-weight:600;margin-bottom:1rem}
input{display:block;box-sizing:border-box;width:100%;margin-top:.25rem;padding:.6rem .7rem;font:inherit;border:1px solid color-mix(in srgb,CanvasText 45%,Canvas);border-radius:.4rem;background:Field;color:FieldText}
dt{font-size:.875rem;color:color-mix(in srgb,CanvasText 65%,Canvas)}
dd{margin:0 0 .6rem;overflow-wrap:anywhere}
ul{padding-left:1.25rem}
.note{border-left:.25rem solid #b26a00;padding:.25rem .75rem}
.problem{border-left:.25rem solid #c62828;padding:.25rem .75rem}
.choices{display:flex;gap:.75rem}
button{font:inherit;font-weight:600;padding:.6rem 1.25rem;border-radius:.4rem;border:1px solid #1a5fb4;background:#1a5fb4;color:#fff;cursor:pointer}
button.plain{background:none;color:inherit;border-color:color-mix(in srgb,CanvasText 45%,Canvas)}
button.link{background:none;border:0;padding:0;color:LinkText;font-weight:400;text-decoration:underline}`;
const styleHash = createHash("sha256").update(style).digest("base64");
const maxNameLength = 80;

/** The first of our languages that the browser prefers. */
export function wordsFor(acceptLanguage: string | undefined): Words {
  return texts[pageLanguage(acceptLanguage)];
}

export function signInPage({ client, name, problem }: SignInPage, words: Words): HtmlPage {
  const shown = nameOf(client);
  return page(
    words,
    words.signIn,
    `<p>${escape(words.asks(shown))}</p>
${problem ? `<p class="problem" role="alert">${escape(words[problem])}</p>` : ""}
<form method="post">
<label>${escape(words.name)}<input name="name" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="64" value="${escape(name)}"></label>
<label>${escape(words.secret)}<input name="secret" type="password" autocomplete="current-password" maxlength="1024" required></label>
<p class="hint">${escape(words.hint)}</p>
<div class="choices"><button name="action" value="sign-in">${escape(words.signIn)}</button><button class="plain" name="action" value="deny" formnovalidate>${escape(words.deny)}</button></div>
</form>`,
    client.redirectUri,
  );
}

export function consentPage({ client, account, scopes }: ConsentPage, words: Words): HtmlPage {
  const target = new URL(client.redirectUri);
  const permissions = [words.read, ...scopes.map(words.scope), words.stay];
  return page(
    words,
    words.allowTitle(nameOf(client)),
    `<form method="post">
<dl>
<dt>${escape(words.client)}</dt><dd>${escape(nameOf(client))}</dd>
${client.isVerified ? `<dt>${escape(words.identity)}</dt><dd>${escape(client.id)}</dd>` : ""}
<dt>${escape(words.target)}</dt><dd><strong>${escape(target.host)}</strong> <span class="hint">${escape(client.redirectUri)}</span></dd>
<dt>${escape(words.account)}</dt><dd>${escape(account)} <button class="link" name="action" value="switch">${escape(words.other)}</button></dd>
</dl>
${client.isVerified ? "" : `<p class="note">${escape(words.unverified)}</p>`}
${isLoopback(target) ? `<p class="note">${escape(words.local)}</p>` : ""}
<p>${escape(words.permissions)}</p>
<ul>${permissions.map((permission) => `<li>${escape(permission)}</li>`).join("")}</ul>
<div class="choices"><button name="action" value="allow">${escape(words.allow)}</button><button class="plain" name="action" value="deny">${escape(words.deny)}</button></div>
</form>`,
    client.redirectUri,
  );
}

/** `detail` is for the developer of the client; it contains nothing secret. */
export function failurePage(detail: string, words: Words): HtmlPage {
  return page(
    words,
    words.failed,
    `<p>${escape(words.failedHint)}</p><p class="hint">${escape(visibleText(detail).slice(0, 500))}</p>`,
  );
}

function page(words: Words, title: string, body: string, redirectUri?: string): HtmlPage {
  return {
    html: `<!doctype html>
<html lang="${words.lang}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><title>${escape(title)} – Pressmark</title><style>${style}</style></head>
<body><main>
<p class="brand">Pressmark</p>
<h1>${escape(title)}</h1>
${body}
</main></body>
</html>
`,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": `default-src 'none'; base-uri 'none'; style-src 'sha256-${styleHash}'; form-action 'self'${formTarget(redirectUri)}; frame-ancestors 'none'`,
      "X-Frame-Options": "DENY",
      // Without a referrer a browser sends the form with "Origin: null".
      "Referrer-Policy": "same-origin",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    },
  };
}

/** Browsers apply form-action to the redirect that follows the form. The policy has no form for IPv6 addresses. */
function formTarget(redirectUri: string | undefined): string {
  if (redirectUri === undefined) return "";
  const { origin, hostname } = new URL(redirectUri);
  return hostname.startsWith("[") ? " http:" : ` ${origin}`;
}

/** The name that the client gives itself, or else the host of its id or of its redirect URI. */
function nameOf({ name, id, isVerified, redirectUri }: AskingClient): string {
  const shown = visibleText(name ?? "").trim();
  if (shown === "") return new URL(isVerified ? id : redirectUri).host;
  return shown.length > maxNameLength ? `${shown.slice(0, maxNameLength)}…` : shown;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
