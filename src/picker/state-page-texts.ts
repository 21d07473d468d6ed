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
  documents: (count: number) => (count === 1 ? "1 document" : `${count} documents`),
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
  hosts: "Host settings",
  noHosts: "The program that started this server is already connected",
  into: (file: string) => `in ${file}`,
  type: "in a terminal",
  intoSettings: "in its settings",
  copyFor: (host: string) => `Copy for ${host}`,
};

export type StateTexts = typeof english;

const japanese: StateTexts = {
  title: "状態",
  close: "閉じる",
  loading: "サーバーに問い合わせています…",
  failed: "サーバーの状態を取得できませんでした",
  retry: "再試行",
  stale: "接続が切れてから更新されていません。以下は最後の状態です",
  mounts: "マウント",
  mount: "マウント",
  health: "状態",
  states: { ok: "正常", failing: "応答なし", "left out": "設定の問題により除外", checking: "確認中…" },
  indexed: "索引",
  documents: (count) => `${count}件の文書`,
  notIndexed: "索引なし",
  index: {
    starting: "索引を開いています",
    indexing: "索引を作成中です",
    complete: "索引は完成しています",
    unavailable: "索引を利用できません",
  },
  clients: "接続中のクライアント",
  client: "クライアント",
  revision: "リビジョン",
  since: "接続時刻",
  connections: "接続数",
  noClients: "接続中のクライアントはありません",
  reads: "最近読まれたもの",
  noReads: "まだ何も読まれていません",
  readBy: (client, when, times) => (times === 1 ? `${client}、${when}` : `${client}、${when}、${times}回`),
  hosts: "ホストの設定",
  noHosts: "このサーバーを起動したプログラムはすでに接続しています",
  into: (file) => `${file} に記述`,
  type: "端末で実行",
  intoSettings: "設定に記述",
  copyFor: (host) => `${host}用をコピー`,
};

export function stateTexts(code: "en" | "ja"): StateTexts {
  return code === "ja" ? japanese : english;
}
