/** Texts of the panel that saves, opens and deletes sets. */

export const setsInEnglish = {
  title: "Sets",
  name: "Name",
  save: "Save as a set",
  saved: (name: string) => `Saved as “${name}”`,
  exists: (name: string) => `There is already a set “${name}”. Replace it?`,
  replace: "Replace",
  cancel: "Cancel",
  callIt: "In your host, type:",
  copyCommand: (host: string) => `Copy for ${host}`,
  remove: (name: string) => `Delete the set “${name}”`,
  askRemove: (name: string) => `Delete the set “${name}”? Its resources stay.`,
  removeNow: "Delete",
  removed: (name: string) => `“${name}” was deleted`,
  copy: "Copy for the config",
  unsupported:
    "Copy the set and paste it into the server's config (pressmark.config.yaml). To save sets from this page, add this to the config instead (the current tools and save_set), and restart the server:",
  copyTools: "Copy this",
  open: "Open:",
  opened: (name: string) => `“${name}” is open`,
  none: "none saved yet",
};

export const setsInJapanese: typeof setsInEnglish = {
  title: "セット",
  name: "名前",
  save: "セットとして保存",
  saved: (name) => `「${name}」として保存しました`,
  exists: (name) => `「${name}」というセットはすでにあります。置き換えますか？`,
  replace: "置き換える",
  cancel: "キャンセル",
  callIt: "お使いのホストで次のように入力します：",
  copyCommand: (host) => `${host}用にコピー`,
  remove: (name) => `セット「${name}」を削除`,
  askRemove: (name) => `セット「${name}」を削除しますか？中のリソースは削除されません。`,
  removeNow: "削除する",
  removed: (name) => `「${name}」を削除しました`,
  copy: "設定用にコピー",
  unsupported:
    "コピーしたセットは、サーバーの設定（pressmark.config.yaml）に貼り付けられます。ここから保存できるようにするには、代わりに次の行（現在のツールの一覧に save_set を加えたもの）を設定に追加し、サーバーを再起動してください。",
  copyTools: "これをコピー",
  open: "開く：",
  opened: (name) => `「${name}」を開きました`,
  none: "保存されたセットはありません",
};
