/** Texts of the page Connect, in English and Japanese. */

const english = {
  title: "Connect a host",
  back: "Back to the resources",
  loading: "Loading…",
  failed: "The server status could not be loaded",
  intro: "Add this server to a host (Claude Code, VS Code, Cursor …), and its models can read what you see here.",
  address: "Address of this server",
  copyAddress: "Copy the address",
  ways: "How it connects",
  http: "To this running server",
  stdio: "The host starts Pressmark",
  stdioHint: "On this machine only. A host that starts Pressmark itself does not appear here.",
  install: (title: string) => `Add to ${title}`,
  inTerminal: "Run in a terminal:",
  inFile: (file: string) => `Put into ${file}:`,
  inSettings: "Put into its settings:",
  copyFor: (host: string) => `Copy for ${host}`,
  tokenHint: "The token itself is not shown: settings refer to a variable, or the host asks for it.",
  notYet: "Not connected yet",
  connected: (client: string) => `Connected as ${client}`,
  lastSeen: (client: string, when: string) => `Last active ${when} as ${client}`,
  name: "Name of this server in your hosts",
  nameHint: "Used in the commands and settings below, and by “Use in…”.",
  guest: "Add this address to your host as an HTTP server.",
  guestAccess: "If the host is refused, ask the owner of this server for a token or an account.",
};

export type ConnectTexts = typeof english;

const japanese: ConnectTexts = {
  title: "ホストを接続",
  back: "リソースに戻る",
  loading: "読み込み中…",
  failed: "サーバーの状態を取得できませんでした",
  intro:
    "このサーバーをホスト（Claude Code、VS Code、Cursorなど）に追加すると、ここに表示されている内容をモデルが読めるようになります。",
  address: "このサーバーのアドレス",
  copyAddress: "アドレスをコピー",
  ways: "接続方法",
  http: "このサーバーに接続する",
  stdio: "ホストがPressmarkを起動する",
  stdioHint: "このマシンでのみ使えます。Pressmarkを自分で起動するホストは、ここには表示されません。",
  install: (title) => `${title}に追加`,
  inTerminal: "ターミナルで実行：",
  inFile: (file) => `${file} に記述：`,
  inSettings: "設定に記述：",
  copyFor: (host) => `${host}用をコピー`,
  tokenHint: "トークン自体は表示されません。設定では変数を参照するか、ホストが入力を求めます。",
  notYet: "未接続",
  connected: (client) => `接続中（${client}）`,
  lastSeen: (client, when) => `最終接続：${when}（${client}）`,
  name: "ホストでのこのサーバーの名前",
  nameHint: "下のコマンドと設定、「ホストで使う…」に使われます。",
  guest: "このアドレスをHTTPサーバーとしてホストに追加してください。",
  guestAccess: "接続を拒否された場合は、このサーバーの所有者にトークンまたはアカウントを依頼してください。",
};

export function connectTexts(code: "en" | "ja"): ConnectTexts {
  return code === "ja" ? japanese : english;
}
