/** The page for a browser that is not signed in, in English or Japanese. */
import { pageLanguage } from "../lib/page-language.ts";

/** Why the browser is not let in. */
export type TurnedAway = "token" | "code" | "nobody";

interface TokenPage {
  readonly why: TurnedAway;
  readonly acceptLanguage: string | undefined;
  /** Process that prints another code on SIGUSR2. */
  readonly pid: number;
  readonly codeMinutes: number;
  /** Path that takes the form. */
  readonly action: string;
}

const texts = {
  en: {
    token: "This token is not valid.",
    code: "This address was already used, or has expired.",
    nobody: "This server requires authentication.",
    open: (minutes: number, command: string) =>
      `Open the address that <code>pressmark serve</code> printed. Each is good for one browser, once, for ${minutes} minutes. To print another, run <code>${command}</code> where it runs, or start it again.`,
    label: "Or sign in with your token:",
    button: "Sign in",
    programs: "A program sends the token with each request, as <code>Authorization: Bearer …</code>",
  },
  ja: {
    token: "このトークンは無効です。",
    code: "このアドレスは使用済みか、有効期限が切れています。",
    nobody: "このサーバーの利用には認証が必要です。",
    open: (minutes: number, command: string) =>
      `<code>pressmark serve</code> が表示したアドレスを開いてください。1 つのブラウザーで 1 回だけ、${minutes} 分間有効です。別のアドレスを表示するには、サーバーが動いている場所で <code>${command}</code> を実行するか、起動し直してください。`,
    label: "またはトークンでサインイン:",
    button: "サインイン",
    programs: "プログラムは、リクエストごとに <code>Authorization: Bearer …</code> としてトークンを送ります。",
  },
};

export function tokenPage({ why, acceptLanguage, pid, codeMinutes, action }: TokenPage): string {
  const lang = pageLanguage(acceptLanguage);
  const words = texts[lang];
  return `<!doctype html>
<html lang="${lang}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Pressmark</title></head>
<body>
<h1>Pressmark</h1>
<p>${words[why]}</p>
<p>${words.open(codeMinutes, `kill -USR2 ${pid}`)}</p>
<form method="post" action="${action}"><label>${words.label} <input type="password" name="token" autocomplete="current-password" required></label> <button>${words.button}</button></form>
<p>${words.programs}</p>
</body>
</html>
`;
}
