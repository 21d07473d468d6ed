/** Realistic secrets, and similar text: generated from a seed, so that no secret is in a file. */

export interface Planted {
  readonly kind: string;
  readonly text: string;
  readonly secret: string;
}

export interface LookAlike {
  readonly kind: string;
  readonly text: string;
}

export const lowerLetters = "abcdefghijklmnopqrstuvwxyz";
export const upperLetters = lowerLetters.toUpperCase();
export const digits = "0123456789";
export const word = lowerLetters + upperLetters + digits;
export const safe = `${word}-_`;
export const base64Letters = `${word}+/`;
export const hex = "0123456789abcdef";

export type Draw = (characters: string, length: number) => string;

export interface RandomSource {
  draw: Draw;
  pick<T>(from: readonly T[]): T;
  below(limit: number): number;
}

export function createRandomSource(seed: number): RandomSource {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick: (from) => from[below(from.length)]!,
    draw: (characters, length) => Array.from({ length }, () => characters[below(characters.length)]).join(""),
  };
}

/** Recognised by their prefixes, in any context. */
const makers: Readonly<Record<string, (draw: Draw) => string>> = {
  "AWS access key": (draw) => `AK${"IA"}${draw(`${upperLetters}234567`, 16)}`,
  "AWS temporary key": (draw) => `AS${"IA"}${draw(`${upperLetters}234567`, 16)}`,
  "Alibaba Cloud": (draw) => `LT${"AI"}${draw(word, 20)}`,
  "GitHub personal": (draw) => `gh${"p_"}${draw(word, 36)}`,
  "GitHub server": (draw) => `gh${"s_"}${draw(word, 36)}`,
  "GitHub fine-grained": (draw) => `github${"_pat_"}${draw(word, 22)}_${draw(word, 59)}`,
  GitLab: (draw) => `gl${"pat-"}${draw(safe, 20)}`,
  "GitLab runner": (draw) => `gl${"rt-"}${draw(safe, 20)}`,
  "Slack bot": (draw) => `xo${"xb-"}${draw(digits, 12)}-${draw(digits, 12)}-${draw(word, 24)}`,
  "Slack app": (draw) => `xa${"pp-"}1-A${draw(upperLetters + digits, 10)}-${draw(digits, 13)}-${draw(hex, 64)}`,
  "Slack webhook": (draw) =>
    `T${draw(upperLetters + digits, 10)}/B${draw(upperLetters + digits, 10)}/${draw(word, 24)}`,
  "Google API": (draw) => `AI${"za"}${draw(safe, 35)}`,
  "Google OAuth": (draw) => `ya${"29."}${draw(safe, 120)}`,
  "Google client": (draw) => `GOC${"SPX-"}${draw(safe, 28)}`,
  "Stripe live": (draw) => `sk${"_live_"}${draw(word, 24)}`,
  "Stripe restricted": (draw) => `rk${"_live_"}${draw(word, 99)}`,
  "Stripe webhook": (draw) => `wh${"sec_"}${draw(word, 32)}`,
  Square: (draw) => `sq0${"atp-"}${draw(safe, 22)}`,
  Shopify: (draw) => `shp${"at_"}${draw(hex, 32)}`,
  OpenAI: (draw) => `sk${"-proj-"}${draw(safe, 124)}`,
  "OpenAI old": (draw) => `sk${"-"}${draw(word, 48)}`,
  Anthropic: (draw) => `sk${"-ant-"}api03-${draw(safe, 93)}AA`,
  Groq: (draw) => `gs${"k_"}${draw(word, 52)}`,
  xAI: (draw) => `xa${"i-"}${draw(word, 80)}`,
  Replicate: (draw) => `r8${"_"}${draw(word, 37)}`,
  "Hugging Face": (draw) => `hf${"_"}${draw(lowerLetters + upperLetters, 34)}`,
  npm: (draw) => `np${"m_"}${draw(word, 36)}`,
  PyPI: (draw) => `py${"pi-AgE"}IcHlwaS5vcmcC${draw(safe, 140)}`,
  RubyGems: (draw) => `rubygems${"_"}${draw(hex, 48)}`,
  Docker: (draw) => `dckr${"_pat_"}${draw(safe, 27)}`,
  SendGrid: (draw) => `S${"G."}${draw(safe, 22)}.${draw(safe, 43)}`,
  Brevo: (draw) => `xkey${"sib-"}${draw(hex, 64)}-${draw(word, 16)}`,
  Mailgun: (draw) => `ke${"y-"}${draw(hex, 32)}`,
  Mailchimp: (draw) => `${draw(hex, 32)}-us${draw("123456789", 1)}`,
  Twilio: (draw) => `S${"K"}${draw(hex, 32)}`,
  DigitalOcean: (draw) => `dop${"_v1_"}${draw(hex, 64)}`,
  Databricks: (draw) => `da${"pi"}${draw(hex, 32)}`,
  Doppler: (draw) => `dp${".pt."}${draw(word, 43)}`,
  Grafana: (draw) => `gl${"sa_"}${draw(word, 32)}_${draw(hex, 8)}`,
  Vault: (draw) => `hv${"s."}${draw(safe, 90)}`,
  Terraform: (draw) => `${draw(word, 14)}.atlas${"v1."}${draw(safe, 67)}`,
  Linear: (draw) => `lin${"_api_"}${draw(word, 40)}`,
  "New Relic": (draw) => `NR${"AK-"}${draw(upperLetters + digits, 27)}`,
  Notion: (draw) => `nt${"n_"}${draw(word, 46)}`,
  Postman: (draw) => `PM${"AK-"}${draw(hex, 24)}-${draw(hex, 34)}`,
  Pulumi: (draw) => `pu${"l-"}${draw(hex, 40)}`,
  Sentry: (draw) => `snt${"rys_"}${draw(word, 80)}`,
  Supabase: (draw) => `sb${"p_"}${draw(hex, 40)}`,
  Figma: (draw) => `fi${"gd_"}${draw(safe, 40)}`,
  Airtable: (draw) => `pa${"t"}${draw(word, 14)}.${draw(hex, 64)}`,
  Netlify: (draw) => `nf${"p_"}${draw(word, 40)}`,
  PlanetScale: (draw) => `pscale${"_tkn_"}${draw(safe, 43)}`,
  Telegram: (draw) => `${draw("123456789", 10)}:${"AA"}${draw(safe, 33)}`,
  Discord: (draw) => `M${draw(word, 25)}.${draw(safe, 6)}.${draw(safe, 38)}`,
  Atlassian: (draw) => `ATA${"TT3"}xFfGF0${draw(safe, 170)}=${draw(hex.toUpperCase(), 8)}`,
  age: (draw) => `AGE-SECRET${"-KEY-1"}${draw("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)}`,
  "JSON web token": (draw) => `ey${"J"}${draw(safe, 33)}.ey${"J"}${draw(safe, 80)}.${draw(safe, 43)}`,
};

/** Recognised by their names. */
const called: Readonly<Record<string, (draw: Draw) => string>> = {
  AWS_SECRET_ACCESS_KEY: (draw) => draw(base64Letters, 40),
  aws_session_token: (draw) => `${draw(base64Letters, 300)}==`,
  HEROKU_API_KEY: (draw) => [8, 4, 4, 4, 12].map((length) => draw(hex, length)).join("-"),
  DATADOG_API_KEY: (draw) => draw(hex, 32),
  twilioAuthToken: (draw) => draw(hex, 32),
  "client-secret": (draw) => draw(safe, 40),
  DB_PASSWORD: (draw) => `${draw(word, 12)}${draw(digits, 2)}!`,
  jwtSecret: (draw) => `${draw(base64Letters, 63)}7`,
  ALGOLIA_API_KEY: (draw) => draw(hex, 32),
  CLOUDFLARE_API_TOKEN: (draw) => draw(safe, 40),
  encryption_key: (draw) => `${draw(base64Letters, 43)}=`,
};

const settings: readonly ((name: string, value: string) => string)[] = [
  (name, value) => `${name}=${value}`,
  (name, value) => `export ${name}="${value}"`,
  (name, value) => `  "${name}": "${value}",`,
  (name, value) => `${name}: ${value}`,
  (name, value) => `  ${name}: '${value}' # do not share`,
  (name, value) => `const ${name.replaceAll("-", "_")} = "${value}";`,
  (name, value) => JSON.stringify({ log: `${name}="${value}" was set` }),
  (name, value) => `+${name} = "${value}"`,
];

const places: readonly ((value: string) => string)[] = [
  ...settings.map((set) => (value: string) => set("VALUE", value)),
  (value) => `curl -H "X-Api: ${value}" https://api.internal/v1`,
  (value) => `see ${value}, which Ana made`,
  (value) => `鍵は ${value} です。`,
  (value) => `<add key="k" value="${value}"/>`,
  (value) => `["${value}"]`,
  (value) => `https://api.internal/v1?k=${value}`,
];

function inPlace(kind: string, secret: string, { pick }: RandomSource): string {
  if (kind === "Slack webhook") return `url: https://hooks.${"slack"}.com/services/${secret}`;
  return pick(places)(secret);
}

/** `rounds` of each kind. */
export function plantedSecrets(seed: number, rounds: number): readonly Planted[] {
  const lot = createRandomSource(seed);
  const { draw, pick } = lot;
  const planted: Planted[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const [kind, make] of Object.entries(makers)) {
      const secret = make(draw);
      planted.push({ kind, secret, text: inPlace(kind, secret, lot) });
    }
    for (const [name, make] of Object.entries(called)) {
      const secret = make(draw);
      planted.push({ kind: name, secret, text: pick(settings)(name, secret) });
    }
    const password = `${draw(word, 10)}${draw(digits, 2)}`;
    planted.push({
      kind: "password in a URL",
      secret: password,
      text: `DATABASE_URL=postgres://app:${password}@db:5432/app`,
    });
    const odd = `${draw(word, 5)}@${draw(word, 6)}${draw(digits, 2)}`;
    planted.push({ kind: "password in a URL", secret: odd, text: `url: "amqps://svc:${odd}@mq.internal/%2f"` });
    const bearer = `${draw(safe, 40)}7`;
    planted.push({ kind: "bearer", secret: bearer, text: `Authorization: Bearer ${bearer}` });
    const azure = `${draw(base64Letters, 86)}==`;
    planted.push({
      kind: "Azure",
      secret: azure,
      text: `DefaultEndpointsProtocol=https;AccountName=x;Account${"Key="}${azure};`,
    });
    for (const name of ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""]) {
      const line = draw(base64Letters, 64);
      const rest = Array.from({ length: 3 + lot.below(20) }, () => draw(base64Letters, 64));
      const marks = (which: string) => `-----${which} ${name}${"PRIVATE"} KEY-----`;
      const whole = [marks("BEGIN"), ...rest, line, `${draw(base64Letters, 30)}==`, marks("END")];
      planted.push({ kind: "private key", secret: line, text: whole.join("\n") });
      planted.push({ kind: "private key in JSON", secret: line, text: JSON.stringify({ key: whole.join("\n") }) });
      planted.push({ kind: "private key, its end", secret: line, text: whole.slice(2).join("\n") });
      planted.push({
        kind: "private key, its beginning",
        secret: line,
        text: [...whole.slice(0, -2), "", "And then."].join("\n"),
      });
      planted.push({ kind: "private key in a patch", secret: line, text: whole.map((each) => `-${each}`).join("\n") });
    }
  }
  return planted;
}

/** About `count`, of every kind. */
export function lookAlikes(seed: number, count: number): readonly LookAlike[] {
  const { draw, pick, below } = createRandomSource(seed);
  const uuid = () => [8, 4, 4, 4, 12].map((length) => draw(hex, length)).join("-");
  const name = () => pick(["user", "account", "order", "session", "render", "config", "access", "request", "handler"]);
  const camel = () =>
    [name(), name(), name()].map((each, at) => (at ? each[0]!.toUpperCase() + each.slice(1) : each)).join("");
  const makes: Readonly<Record<string, () => string>> = {
    "git hash": () => `commit ${draw(hex, 40)}`,
    "short hash": () => `${draw(hex, 7)} Fix the token parser`,
    "sha256 sum": () => `${draw(hex, 64)}  pressmark-${below(9)}.tar.gz`,
    "digest of an image": () => `image: registry.internal/app@sha256:${draw(hex, 64)}`,
    "hash by name": () =>
      `"${pick(["sha1", "checksum", "etag", "md5", "hash", "digest", "revision"])}": "${draw(hex, 40)}",`,
    "lock file": () => `      "integrity": "sha512-${draw(base64Letters, 86)}==",`,
    "go.sum": () => `example.org/x v1.${below(99)}.0 h1:${draw(base64Letters, 43)}=`,
    "Cargo.lock": () => `checksum = "${draw(hex, 64)}"`,
    UUID: () => `${pick(["id", "requestId", "trace_id", "tenant"])}: ${uuid()}`,
    "image in base64": () => `![](data:image/png;base64,${draw(base64Letters, 200)}==)`,
    "wrapped base64": () => Array.from({ length: 4 }, () => draw(base64Letters, 76)).join("\n"),
    certificate: () =>
      `-----BEGIN CERTIFICATE-----\n${draw(base64Letters, 64)}\n${draw(base64Letters, 64)}\n-----END CERTIFICATE-----`,
    "public key": () => `-----BEGIN PUBLIC KEY-----\n${draw(base64Letters, 64)}\n-----END PUBLIC KEY-----`,
    "key of ssh": () => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${draw(base64Letters, 43)} ana@laptop`,
    "minified code": () =>
      `function ${draw(lowerLetters, 1)}(${draw(lowerLetters, 1)}){return ${draw(lowerLetters, 1)}.${draw(lowerLetters, 2)}?${draw(lowerLetters, 1)}(${draw(word, 2)}e3):!${below(2)}}var ${draw(lowerLetters, 2)}={token:${draw(lowerLetters, 1)},key:${draw(lowerLetters, 2)}};`,
    chunk: () => `<script src="/assets/index-${draw(safe, 8)}.js" type="module"></script>`,
    "class of a style": () => `<div class="css-${draw(`${lowerLetters}${digits}`, 7)} sc-${draw(word, 6)}">`,
    placeholder: () =>
      `${pick(["API_KEY", "password", "client_secret", "TOKEN"])}=${pick(["YOUR_API_KEY_HERE", "<your-token>", "changeme", "xxxxxxxxxxxxxxxxxxxx", "example-secret-123", "********", "${SECRET}", "$SECRET_1", "%SECRET%", "{{ token }}", "process.env.TOKEN_2", "sk_test_XXXXXXXXXXXXXXXX"])}`,
    "documented key": () =>
      pick([
        `AK${"IA"}IOSFODNN7EXAMPLE`,
        "AKIAXXXXXXXXXXXXXXXX",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-...",
        "xoxb-your-token",
      ]),
    "code about secrets": () =>
      pick([
        `const token = ${camel()}.getToken();`,
        `password: ${camel()}Password,`,
        `if (secret === ${camel()}) return;`,
        `token: ${camel()}${below(9)}`,
        `export type ApiKey = ${camel()};`,
        `readonly accessToken: ${camel()}Token2 | undefined;`,
        `apiKey: config.services.${name()}.apiKey${below(9)},`,
        `secret_name: projects/${name()}/secrets/${name()}/versions/${below(9)}`,
        `tokens: ${below(100_000)},`,
        `max_tokens=${below(100_000)}`,
        `token_url: https://login.internal/oauth2/v${below(3)}/token`,
      ]),
    "place in a list": () => `"nextPageToken": "${draw(word, 24)}",`,
    "setting of a secret": () =>
      `PASSWORD_MIN_LENGTH=${below(99)} TOKEN_TTL=${below(9999)}s SECRET_PATH=/run/secrets/${name()}`,
    version: () => `"${name()}-${name()}": "^${below(20)}.${below(20)}.${below(20)}-beta.${below(9)}",`,
    time: () => `token expires: 2026-0${1 + below(9)}-1${below(9)}T0${below(9)}:3${below(6)}:00.${draw(digits, 3)}Z`,
    "plain URL": () => `https://${name()}.internal:8443/${name()}/@${name()}/${draw(hex, 12)}?page=${below(9)}`,
    "URL of a local database": () =>
      pick([
        "postgres://postgres:postgres@localhost/app",
        "redis://user:password@127.0.0.1",
        "mysql://root:root@db/app",
      ]),
    path: () => `token: ./${name()}/${name()}-v${below(9)}/${camel()}.json`,
    number: () => `phone: +81-${draw(digits, 2)}-${draw(digits, 4)}-${draw(digits, 4)} order ${draw(digits, 16)}`,
    colours: () => `--shadow: #${draw(hex, 6)}, #${draw(hex, 8)};`,
    "address of a chain": () => `owner 0x${draw(hex, 40)}`,
    Japanese: () => "認証トークン：設定画面で発行してください。パスワードは12文字以上です。",
    words: () => `${camel()}${camel()}${camel()} and ${name()}-${name()}-${name()}`,
  };
  const kinds = Object.entries(makes);
  return Array.from({ length: count }, (_, at) => {
    const [kind, make] = kinds[at % kinds.length]!;
    return { kind, text: make() };
  });
}
