/** Texts that look like secrets or are named so, but are not: references, paths, sentences, hashes in manifests and lock files. */
import {
  base64Letters,
  createRandomSource,
  digits,
  hex,
  type LookAlike,
  lowerLetters,
  safe,
  upperLetters,
  word,
} from "./test-secrets.ts";

const things = "account handler render session request config access order user token secret password view cache".split(
  " ",
);

/** About `count`, of every kind. */
export function moreLookAlikes(seed: number, count: number): readonly LookAlike[] {
  const { draw, pick, below } = createRandomSource(seed);
  const thing = () => pick(things);
  const camel = (length: number) =>
    Array.from({ length }, (_, at) => (at ? thing().replace(/^./, (first) => first.toUpperCase()) : thing())).join("");
  const makes: readonly (() => string)[] = [
    () => `secret: projects/${draw(digits, 12)}/secrets/${thing()}-${thing()}/versions/latest`,
    () =>
      `secret_arn: arn:aws:secretsmanager:eu-west-1:${draw(digits, 12)}:secret:${thing()}/${thing()}-${draw(word, 6)}`,
    () => `password: op://${thing()}/${thing()}-prod-1/password`,
    () => `auth: "auth/user-token-expired-${below(999)}"`,
    () => `checksum/secret: ${draw(hex, 64)}`,
    () => `existingSecret: ${thing()}-postgresql-ha-credentials-v1`,
    () => `  password: "パスワードは${below(20)}文字以上で入力してください",`,
    () => `シークレット=環境変数から読み込まれます。APIキー＝ダッシュボード参照。`,
    () => `trace_id: ${draw(hex, 32)} token refreshed for user=${below(9999)} duration=${below(999)}ms`,
    () => `"mappings":"AAAA,${draw("ACDEGIKMQSUW", 4)};${draw("ACDEGIKMQSUW", 5)}","names":["${camel(2)}"]`,
    () =>
      `//# sourceMappingURL=data:application/json;base64,${Buffer.from(`{"version":3,"sources":["${thing()}.ts"]}`).toString("base64")}`,
    () => `<script integrity="sha384-${draw(base64Letters, 64)}" crossorigin="anonymous"></script>`,
    () => `    {file = "${thing()}-1.0-py3-none-any.whl", hash = "sha256:${draw(hex, 64)}"},`,
    () => `"narHash": "sha256-${draw(base64Letters, 43)}=", "rev": "${draw(hex, 40)}",`,
    () =>
      `|1|${draw(base64Letters, 27)}=|${draw(base64Letters, 27)}= ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${draw(base64Letters, 43)}`,
    () => `{ key: "${draw(hex, 64)}", msg: "${draw(hex, 32)}", tag: "${draw(hex, 32)}" },`,
    () => `private final ${camel(4)}TokenProviderFactoryBean ${camel(4)}TokenProviderFactoryBean;`,
    () => `token := ${thing()}.New${camel(2)}2(ctx, opts)`,
    () => `token = self.${thing()}_${thing()}_v2.get_${thing()}(timeout=30)`,
    () => `  password = random_password.${thing()}_db2.result`,
    () => `          token: \${{ secrets.GITHUB_TOKEN }}`,
    () => `          secretKeyRef:\n            name: ${thing()}-db-secret-v2\n            key: password-${below(9)}`,
    () => `DB_PASSWORD=$(cat /run/secrets/${thing()}_${thing()})`,
    () => `Bearer authentication (token-based-authentication-with-refresh-tokens) is described in RFC 6750.`,
    () => `  --token <token>       API token (env: APP_TOKEN_V2)`,
    () => `"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>", "pad_token": "<|finetune_right_pad_id|>"`,
    () => `token_endpoint_auth_method": "client_secret_basic", "token_type_hint": "urn:ietf:params:oauth:token-type"`,
    () =>
      `<div class="sk-${thing()}-${thing()}-container sk-fading-circle-${below(12)} sk-cube-grid-animation-wrapper-large">`,
    () => `"next_token": "${draw(safe, 40)}", "continuationToken": "${draw(word, 30)}"`,
    () => `publishableKey: "pk_live_${draw(word, 24)}", "publicKey": "${draw(base64Letters, 43)}="`,
    () => `x-amz-request-id: ${draw(upperLetters + digits, 16)}\r\nx-amz-id-2: ${draw(base64Letters, 75)}=\r\n`,
    () => `  password: ENC[AES256_GCM,data:${draw(base64Letters, 20)}=,iv:${draw(base64Letters, 43)}=,type:str]`,
    () => `set("${thing()}", "${draw(upperLetters, 2)}${draw(digits, 7)}"); token("${camel(2)}", "${camel(3)}");`,
    () => `password ${camel(3)} and token ${thing()}-${thing()}-v${below(9)} are described there`,
    () =>
      `.${thing()}_${thing()}__${draw(safe, 5)}:hover{--token-color:#${draw(hex, 6)}}.css-${draw(lowerLetters + digits, 8)}{}`,
    () => `"image/png": "iVBORw0KGgoAAAANSUhEUgAA${draw(base64Letters, 200)}\\n",`,
    () => `kind: SecretStore\nspec:\n  provider:\n    vault:\n      path: ${thing()}/${thing()}-v2\n`,
    () => `kind: ConfigMap\ndata:\n  checksum: ${draw(hex, 64)}\n---\nkind: Secret\ntype: Opaque\n`,
  ];
  return Array.from({ length: count }, (_, at) => {
    const text = makes[at % makes.length]!();
    return { kind: text.slice(0, 24), text };
  });
}
