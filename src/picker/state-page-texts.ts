/** Texts of the state page, in English and Japanese. */

const english = {
  title: "State",
  close: "Close",
  loading: "Loading…",
  failed: "The server status could not be loaded",
  retry: "Try again",
  stale: "The connection was lost; the last known state is shown",
  mounts: "Mounts",
  mount: "Mount",
  health: "Health",
  states: { ok: "works", failing: "not responding", "left out": "left out", checking: "checking…" },
  indexed: "Indexed",
  documents: (count: number) => (count === 1 ? "1 document" : `${count.toLocaleString("en")} documents`),
  notIndexed: "not indexed",
  index: {
    starting: "The index is being opened",
    indexing: "The index is being built",
    complete: "The index is complete",
    unavailable: "The index is not available",
  },
  clients: "Connected clients",
  client: "Client",
  revision: "Revision",
  since: "Since",
  connections: "Connections",
  noClients: "No clients are connected",
  reads: "Recently read",
  noReads: "Nothing has been read yet",
  readBy: (client: string, when: string, times: number) =>
    times === 1 ? `by ${client}, ${when}` : `by ${client}, ${when}, ${times} times`,
  connect: "Connect a host",
};

export type StateTexts = typeof english;

const japanese: StateTexts = {
  title: "状態",
  close: "閉じる",
  loading: "読み込み中…",
  failed: "サーバーの状態を取得できませんでした",
  retry: "再試行",
  stale: "接続が切れました。最後に受け取った状態を表示しています",
  mounts: "マウント",
  mount: "マウント",
  health: "状態",
  states: { ok: "正常", failing: "応答なし", "left out": "除外", checking: "確認中…" },
  indexed: "索引",
  documents: (count) => `${count.toLocaleString("ja")}件の文書`,
  notIndexed: "索引なし",
  index: {
    starting: "索引を開いています",
    indexing: "索引を作成中です",
    complete: "索引は完成しています",
    unavailable: "索引を利用できません",
  },
  clients: "接続中のクライアント",
  client: "クライアント",
  revision: "プロトコルのバージョン",
  since: "接続開始",
  connections: "接続数",
  noClients: "接続中のクライアントはありません",
  reads: "最近読まれたもの",
  noReads: "まだ何も読まれていません",
  readBy: (client, when, times) => (times === 1 ? `${client}、${when}` : `${client}、${when}、${times}回`),
  connect: "ホストを接続",
};

export function stateTexts(code: "en" | "ja"): StateTexts {
  return code === "ja" ? japanese : english;
}
