/** Secrets in their usual contexts: commands, manifests, connection strings and logs, wrapped and escaped. */
import {
  base64Letters,
  createRandomSource,
  digits,
  hex,
  type RandomSource,
  lowerLetters,
  type Planted,
  safe,
  upperLetters,
  word,
} from "./test-secrets.ts";

const encode = (text: string) => Buffer.from(text).toString("base64");

const makers: readonly ((lot: RandomSource) => string)[] = [
  ({ draw }) => `hf${"_"}${draw(word, 34)}`,
  ({ draw }) => `v1.${"0-"}${draw(hex, 24)}-${draw(hex, 146)}`,
  ({ draw }) => `lsv2${"_pt_"}${draw(hex, 32)}_${draw(hex, 10)}`,
  ({ draw }) => `pa${"-"}${draw(safe, 42)}7`,
  ({ draw }) => `${draw(word, 3)}8${"Q~"}${draw(word, 34)}`,
  ({ draw }) => `1/${"/0"}${draw(safe, 100)}`,
  ({ draw }) => `EA${"A"}${draw(word, 120)}`,
  ({ draw }) => `AK${"Cp"}${draw(word, 69)}`,
  ({ draw }) => `dt0${"c01."}${draw(`${upperLetters}234567`, 24)}.${draw(`${upperLetters}234567`, 64)}`,
  ({ draw }) => `bk${"ua_"}${draw(hex, 40)}`,
  ({ draw }) => `CCIP${"AT_"}${draw(word, 22)}_${draw(hex, 40)}`,
  ({ draw }) => `cf${"lt"}${draw(base64Letters, 60)}`,
  ({ draw }) => `CFP${"AT-"}${draw(safe, 43)}`,
  ({ draw }) => `EZ${"AK"}${draw(word, 54)}`,
  ({ draw }) => `FLW${"SECK-"}${draw(hex, 32)}-X`,
  (lot) => `access${"-production-"}${uuid(lot)}`,
  (lot) => `sd${"k-"}${uuid(lot)}`,
  ({ draw }) => `pn${"u_"}${draw(lowerLetters + digits, 36)}`,
  ({ draw }) => `ts${"key-auth-"}${draw(word, 17)}-${draw(word, 32)}`,
  ({ draw }) => `vc${"p_"}${draw(word, 56)}`,
  ({ draw }) => `ai${"o_"}${draw(word, 28)}`,
  ({ draw }) => `ph${"x_"}${draw(word, 43)}`,
  ({ draw }) => `r${"e_"}${draw(word, 8)}_${draw(word, 24)}`,
  ({ draw }) => `nv${"api-"}${draw(safe, 64)}`,
  ({ draw }) => `tv${"ly-"}${draw(word, 32)}`,
  ({ draw }) => `HR${"KU-"}${draw(safe, 60)}`,
  ({ draw }) => `sk${".ey"}J1Ijoi${draw(word, 60)}.${draw(safe, 22)}`,
  ({ draw }) => `ey${"J"}${draw(word, 40)}.${draw(safe, 200)}.${draw(safe, 16)}.${draw(safe, 80)}.${draw(safe, 22)}`,
];

const places: readonly ((secret: string) => string)[] = [
  (secret) => `{"id":1,"cfg":{"x":"${secret}","n":[1,2]},"ok":true}`,
  (secret) => `data:\n  value: >-\n    ${secret}\n  other: 1\n`,
  (secret) => `value: |\r\n  ${secret}\r\nnext: 2\r\n`,
  (secret) => `resource "x" "y" {\n  value = "${secret}"\n}`,
  (secret) => `curl -s -u ${secret}: https://api.internal/v1/charges -d amount=2`,
  (secret) => `キーは「${secret}」を使います。`,
  (secret) => `\\"value\\":\\"${secret}\\",`,
  (secret) => `see https://api.internal/cb?code=1&v=${secret}&x=1#top`,
  (secret) => encode(JSON.stringify({ value: secret })),
];

/** The value of a setting named as a secret. */
const settings: readonly ((name: string, value: string) => string)[] = [
  (name, value) => `<${name}>${value}</${name}>`,
  (name, value) => `<property name="${name}" value="${value}"/>`,
  (name, value) => `tool --${name} ${value} --verbose`,
  (name, value) => `{"name":"${name}","value":"${value}"}`,
  (name, value) => `- name: ${name}\n  value: ${value}`,
  (name, value) => `${name}："${value}"`,
  (name, value) => `.setProperty("${name}", "${value}")`,
  (name, value) => `${name}:\n  "${value}"`,
  (name, value) => `${name}: !!str ${value}`,
  (name, value) => `${name}: >-\r\n    ${value}\r\n`,
  (name, value) => `variable "${name}" {\n  type    = string\n  default = "${value}"\n}`,
  (name, value) => `${name}: https://host.internal/?${name}=${value}`,
  (name, value) => `const ${name}: &str = "${value}";`,
  (name, value) => `$${name} = ConvertTo-SecureString "${value}" -AsPlainText`,
  (name, value) => `- ${name}: \`${value}\``,
  (name, value) => `| ${name} | ${value} |`,
  (name, value) => `本番の${name}は「${value}」です。`,
  (name, value) => `<key>${name}</key>\n<string>${value}</string>`,
];
const names =
  "api_key client_secret accessToken DB_PASS SECRET_KEY_BASE hmac_key ADMIN_PW パスワード APIキー トークン".split(" ");

/** Recognised by their context. */
const spots: Readonly<Record<string, (secret: string, lot: RandomSource) => string>> = {
  netrc: (secret) => `machine git.internal\n\tlogin ci\n\tpassword ${secret}\n`,
  "curl -u": (secret) => `curl -u "admin:${secret}" https://es.internal:9200/_cat/indices`,
  mysql: (secret) => `mysql -h db.internal -u root -p${secret} app < dump.sql`,
  sshpass: (secret) => `sshpass -p '${secret}' ssh root@host.internal`,
  redis: (secret) => `    command: redis-server --requirepass ${secret}`,
  pgpass: (secret) => `db.internal:5432:app:svc:${secret}\r\n`,
  SQL: (secret) => `ALTER USER 'app'@'%' IDENTIFIED BY '${secret}';`,
  "docker login": (secret) => `docker login -u ci -p ${secret} registry.internal`,
  LDAP: (secret) => `bindpw ${secret}`,
  Oracle: (secret) => `jdbc:oracle:thin:scott/${secret}@//db.internal:1521/svc`,
  "a header": (secret) => `Authorization: Token ${secret}`,
  "a registry": (secret) => JSON.stringify({ auths: { "registry.internal": { auth: encode(`ci:${secret}`) } } }),
  "a Secret": (secret) => `apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  uri: ${encode(secret)}\n`,
  "a JSON web key": (secret, { draw }) =>
    JSON.stringify({ kty: "OKP", x: draw(safe, 43), d: `${secret}${draw(safe, 19)}` }),
  PuTTY: (secret, { draw }) =>
    `Private-Lines: 2\n${secret}${draw(base64Letters, 40)}\n${draw(base64Letters, 20)}\nPrivate-MAC: 0\n`,
};

function marks(which: string): string {
  return `-----${which} ${"PRIVATE"} KEY-----`;
}

function uuid({ draw }: RandomSource): string {
  return [8, 4, 4, 4, 12].map((length) => draw(hex, length)).join("-");
}

/** `rounds` of each kind and context. For a wrapped secret, its encoded form must not be left. */
export function secretsInUse(seed: number, rounds: number): readonly Planted[] {
  const lot = createRandomSource(seed);
  const { draw } = lot;
  const planted: Planted[] = [];
  const add = (kind: string, text: string, secret: string): void => {
    const isPlain = text.includes(secret);
    planted.push({ kind, text, secret: isPlain ? secret : (/[A-Za-z0-9+/]{20,}/.exec(text)?.[0] ?? secret) });
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, make] of makers.entries()) {
      const secret = make(lot);
      add(`maker ${secret.slice(0, 5)}`, places[(index + round) % places.length]!(secret), secret);
    }
    for (const set of settings)
      for (const name of names) {
        const value = `${draw(word, 23)}7`;
        add(set("NAME", "…"), set(name, value), value);
      }
    for (const [kind, at] of Object.entries(spots)) {
      const secret = `${draw(word, 23)}7`;
      add(kind, at(secret, lot), secret);
    }
    const lines = Array.from({ length: 5 }, () => draw(base64Letters, 64));
    const key = `${[marks("BEGIN"), ...lines, marks("END")].join("\n")}\n`;
    const secret = lines[3]!.slice(8, 40);
    planted.push({ kind: "key, escaped twice", secret, text: JSON.stringify(JSON.stringify({ key })) });
    planted.push({ kind: "key, Windows", secret, text: key.replaceAll("\n", "\r\n") });
    planted.push({ kind: "key in one line", secret, text: `KEY=${key.trim().replaceAll("\n", " ")}` });
    planted.push({ kind: "key in a program", secret, text: key.replaceAll(/^(.+)$/gm, String.raw`  "$1\n" +`) });
    planted.push({ kind: "key in base64", secret: encode(key).slice(60, 90), text: `client-key-data: ${encode(key)}` });
  }
  return planted;
}
