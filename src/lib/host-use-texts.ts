/** Texts of the ways to use a choice in a host, in English and Japanese. */

export type UseLanguage = "en" | "ja";

const english = {
  mentions: "Mentions",
  request: "Ask the model to read them",
  open: "Open its chat with a request",
  command: "Slash command",
  markdown: "Contents as Markdown",
  xml: "Contents as XML",
  uris: "URIs",
  anyChat: "Any chat",
  otherAgents: "Codex and others",
  file: "Save to a file",
  readThese: (server: string) =>
    `Read these resources of the MCP server ${JSON.stringify(server)} with its tool read_resource:`,
  nextMentions: (host: string) => `Paste it into ${host}; it attaches them`,
  nextRequest: (host: string) => `Paste it into ${host}; the model reads them`,
  nextOpen: (host: string) => `${host} opens; send the request there`,
  nextAgents: "Paste it into Codex, Copilot CLI or another agent",
  nextCommand: (command: string) => `Paste ${command}; it adds the set`,
  nextContents: "Paste the contents into any chat",
  nextUris: "Paste them where URIs are accepted",
  nextFile: "Attach the downloaded file to any chat",
  noFolders: "A folder cannot be mentioned: choose the files in it",
  noParts: "Lines cannot be mentioned, only whole resources: ask the model to read them",
  noLongLink: 'Too much for a link: copy the request of "Codex and others"',
  noUnlisted: "Only what the server lists can be mentioned: ask the model to read the others",
  noSuchEnd: "A URI that does not end in a letter or a digit cannot be mentioned: ask the model to read it",
};

type UseTexts = typeof english;

const japanese: UseTexts = {
  mentions: "メンション",
  request: "モデルに読み取りを依頼",
  open: "依頼を入力してチャットを開く",
  command: "スラッシュコマンド",
  markdown: "内容（Markdown）",
  xml: "内容（XML）",
  uris: "URI",
  anyChat: "どのチャットでも",
  otherAgents: "Codexなど",
  file: "ファイルに保存",
  readThese: (server) => `MCPサーバー「${server}」の read_resource で次のリソースを読んでください：`,
  nextMentions: (host) => `${host}に貼り付けると添付されます`,
  nextRequest: (host) => `${host}に貼り付けると、モデルが読み取ります`,
  nextOpen: (host) => `${host}が開きます。依頼を送信してください`,
  nextAgents: "CodexやCopilot CLIなどに貼り付けます",
  nextCommand: (command) => `${command} を貼り付けるとセットが追加されます`,
  nextContents: "内容をチャットに貼り付けます",
  nextUris: "URIを受け付ける場所に貼り付けます",
  nextFile: "ダウンロードしたファイルをチャットに添付します",
  noFolders: "フォルダーはメンションできません。中のファイルを選択してください",
  noParts: "行の範囲はメンションできません（リソース全体のみ）。モデルに読み取りを依頼してください",
  noLongLink: "リンクには長すぎます。「Codexなど」の依頼をコピーしてください",
  noUnlisted: "サーバーの一覧にないリソースはメンションできません。モデルに読み取りを依頼してください",
  noSuchEnd: "英数字で終わらないURIはメンションできません。モデルに読み取りを依頼してください",
};

export function useTexts(language: UseLanguage): UseTexts {
  return language === "ja" ? japanese : english;
}
