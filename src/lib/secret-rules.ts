/** Patterns of keys from known vendors. A pattern never looks beyond a bounded number of characters, so that no text makes it slow. */

export interface SecretRule {
  readonly kind: string;
  /** Must occur in a text for the pattern to be tried: a string search is much cheaper. */
  readonly hint: string;
  /** With the flag `g`. The first matching group is the secret, or else the whole match. */
  readonly pattern: RegExp;
  /** The check that it is not an example. Default: "varied". */
  readonly must?: "varied" | "random" | "unspoken" | "none" | "no placeholder" | "mixed";
}

/** A prefix that no word has, and the rest of the key. */
function begins(kind: string, hint: string, start: string, rest: string, must?: SecretRule["must"]): SecretRule {
  // Next to a letter or digit it is part of something else.
  const pattern = new RegExp(`(?<![A-Za-z0-9])(${start}${rest})(?![A-Za-z0-9_])`, "g");
  return { kind, hint, pattern, must };
}

const word = "[A-Za-z0-9]";
const safe = "[A-Za-z0-9_-]";
const hex = "[0-9a-f]";
const uuid = `${hex}{8}-(?:${hex}{4}-){3}${hex}{12}`;

export const secretRules: readonly SecretRule[] = [
  begins("an AWS access key", "A", "(?:AKIA|ASIA|ABIA|ACCA)", "[A-Z2-7]{16}"),
  begins("an Alibaba Cloud key", "LTAI", "LTAI", `${word}{16,24}`),
  begins("a Tencent Cloud key", "AKID", "AKID", `${word}{32}`),
  begins("a GitHub token", "gh", "gh[pousr]_", `${word}{36,251}`),
  begins("a GitHub token", "github_pat_", "github_pat_", "[A-Za-z0-9_]{60,255}"),
  begins("a GitLab token", "gl", "gl(?:pat|ptt|dt|rt|cbt|imt|agent|soat|ft|ffct)-", "[A-Za-z0-9_.-]{20,64}"),
  begins("a GitLab token", "GR1348941", "GR1348941", `${safe}{20}`),
  begins("a Bitbucket token", "ATBB", "ATBB", `${word}{24,64}`),
  begins("an Atlassian token", "ATATT3", "ATATT3", "[A-Za-z0-9_=.-]{60,400}"),
  begins("a Slack token", "xox", "xox[abceoprs]-", "[A-Za-z0-9-]{10,250}"),
  begins("a Slack token", "xapp-", "xapp-", "[A-Za-z0-9-]{20,250}"),
  {
    kind: "a Slack webhook",
    hint: "hooks.slack.com",
    pattern:
      /hooks\.slack\.com\/(?:services|workflows)\/(T[A-Z0-9]{6,14}\/[AB][A-Z0-9]{6,14}\/(?:\d{1,24}\/)?[A-Za-z0-9]{20,32})/g,
  },
  {
    kind: "a Discord webhook",
    hint: "/webhooks/",
    pattern: /discord(?:app)?\.com\/api\/webhooks\/(\d{15,22}\/[A-Za-z0-9_-]{60,80})/g,
  },
  {
    kind: "a Discord token",
    hint: ".",
    pattern: /(?<![A-Za-z0-9_-])([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38})(?![A-Za-z0-9_.-])/g,
    must: "mixed",
  },
  {
    kind: "a Telegram token",
    hint: ":AA",
    pattern: /(?<![A-Za-z0-9])(\d{8,10}:AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])/g,
  },
  begins("a Google API key", "AIza", "AIza", `${safe}{35}`),
  begins("a Google token", "ya29.", "ya29\\.", `${safe}{30,400}`),
  begins("a Google client secret", "GOCSPX-", "GOCSPX-", `${safe}{28}`),
  begins("a Stripe key", "k_", "(?:sk|rk)_(?:live|test)_", `${word}{16,247}`),
  begins("a Stripe webhook secret", "whsec_", "whsec_", "[A-Za-z0-9+/]{24,64}={0,2}"),
  begins("a Razorpay key", "rzp_", "rzp_(?:live|test)_", `${word}{14,24}`),
  begins("a Square token", "sq0", "sq0(?:atp|csp|idp)-", `${safe}{22,43}`),
  begins("a Shopify token", "shp", "shp(?:at|ca|pa|ss)_", `${hex}{32}`),
  begins("an API key", "sk-", "sk-(?:[a-z]{2,12}-)?", `${safe}{32,250}`, "random"),
  begins("a Groq key", "gsk_", "gsk_", `${word}{40,64}`),
  begins("an xAI key", "xai-", "xai-", `${word}{60,100}`),
  begins("a Perplexity key", "pplx-", "pplx-", `${word}{40,64}`),
  begins("a Replicate token", "r8_", "r8_", `${word}{37}`),
  begins("a Hugging Face token", "hf_", "hf_", `${word}{30,60}`, "mixed"),
  begins("an npm token", "npm_", "npm_", `${word}{36}`),
  begins("a PyPI token", "pypi-", "pypi-AgE", `${safe}{50,300}`, "none"),
  begins("a RubyGems token", "rubygems_", "rubygems_", `${hex}{48}`),
  begins("a NuGet key", "oy2", "oy2", "[a-z0-9]{43}"),
  begins("a Docker token", "dckr_pat_", "dckr_pat_", `${safe}{27,40}`),
  begins("a SendGrid key", "SG.", "SG\\.", `${safe}{22}\\.${safe}{43}`),
  begins("a Brevo key", "xkeysib-", "xkeysib-", `${hex}{64}-${word}{16}`),
  begins("a Mailgun key", "key-", "key-", `${hex}{32}`),
  begins("a Mailchimp key", "-us", `${hex}{32}`, "-us\\d{1,2}"),
  begins("a Twilio key", "SK", "SK", `${hex}{32}`),
  begins("a DigitalOcean token", "_v1_", "do[opr]_v1_", `${hex}{64}`),
  begins("a Databricks token", "dapi", "dapi", `${hex}{32}(?:-\\d)?`),
  begins("a Doppler token", "dp.", "dp\\.(?:pt|st|ct|sa|scim|audit)\\.", `(?:[a-z0-9_-]{2,35}\\.)?${word}{40,44}`),
  begins("a Fly token", "FlyV1 ", "FlyV1 fm\\d?[a-z]?_", "[A-Za-z0-9+/=,_-]{60,2000}"),
  begins("a Grafana token", "gl", "gl(?:sa|c)_", "[A-Za-z0-9+/_]{32,400}={0,2}"),
  begins("a Vault token", "hv", "hv[sbr]\\.", `${safe}{24,300}`),
  begins("a Terraform token", ".atlasv1.", `${word}{14}\\.atlasv1\\.`, "[A-Za-z0-9_=-]{60,70}"),
  begins("a Linear key", "lin_", "lin_(?:api|oauth)_", `${word}{40,64}`),
  begins("a New Relic key", "NR", "NR(?:AK|JS|II)-", `${word}{19,42}`),
  begins("a Notion token", "ntn_", "ntn_", `${word}{40,60}`),
  begins("a Notion token", "secret_", "secret_", `${word}{43}`),
  begins("a Postman key", "PMAK-", "PMAK-", `${hex}{24}-${hex}{34}`),
  begins("a Pulumi token", "pul-", "pul-", `${hex}{40}`),
  begins("a Sentry token", "sntry", "sntry[su]_", "[A-Za-z0-9+/=_-]{40,400}"),
  begins("a Sonar token", "sq", "sq[apu]_", `${hex}{40}`),
  begins("a Sourcegraph token", "sgp_", "sgp_", `(?:${word}{1,20}_)?${hex}{40}`),
  begins("a Supabase key", "sb", "sb(?:p|_secret)_", `${safe}{30,60}`),
  begins("a Figma token", "fig", "fig[dour]{1,2}_", `${safe}{38,60}`),
  begins("an Airtable token", "pat", `pat${word}{14}\\.`, `${hex}{64}`),
  begins("a Netlify token", "nfp_", "nfp_", `${word}{36,44}`),
  begins("a PlanetScale token", "pscale_", "pscale_(?:tkn|pw|oauth)_", "[A-Za-z0-9_.=-]{32,64}"),
  begins("a Typeform token", "tfp_", "tfp_", "[A-Za-z0-9_.=-]{40,70}"),
  begins("a Dropbox token", "sl.", "sl\\.", `${safe}{100,1500}`),
  begins("a Cloudflare key", "v1.0-", "v1\\.0-", `${hex}{24}-${hex}{146}`),
  begins("a Cloudflare token", "cf", "cf[aku]t_", `${safe}{36,64}`),
  begins("a LangSmith key", "lsv2_", "lsv2_(?:pt|sk)_", `${hex}{32}_${hex}{10}`),
  begins("a Voyage key", "pa-", "pa-", `${safe}{43}`, "random"),
  begins("an NVIDIA key", "nvapi-", "nvapi-", `${safe}{60,80}`),
  begins("a Fireworks key", "fw_", "fw_", `${word}{20,40}`, "random"),
  begins("a Tavily key", "tvly-", "tvly-", `(?:dev-|prod-)?${word}{30,40}`),
  begins("a Bedrock key", "ABSK", "ABSK", "[A-Za-z0-9+/]{100,300}={0,2}"),
  begins("an Entra secret", "Q~", `[A-Za-z0-9_~.-]{3}\\dQ~`, "[A-Za-z0-9_~.-]{31,34}"),
  begins("a Google refresh token", "1//0", "1//0", `${safe}{40,200}`),
  begins("a Meta token", "EAA", "EAA", `${word}{80,300}`),
  begins("a Square token", "EAAA", "EAAA", `${safe}{60}`),
  begins("a JFrog key", "AKCp", "AKCp", `${word}{60,80}`),
  begins("a Dynatrace token", "dt0", "dt0[a-z]\\d\\d\\.", "[A-Z2-7]{24}\\.[A-Z2-7]{64}"),
  begins("a Buildkite token", "bk", "bk(?:ua|pt|ct)_", `${hex}{40}`),
  begins("a CircleCI token", "CCIP", "CCIP(?:AT|RJ)_", `${word}{20,24}_${hex}{40}`),
  begins("a Confluent secret", "cflt", "cflt", "[A-Za-z0-9+/]{60}"),
  begins("a Contentful token", "CFPAT-", "CFPAT-", `${safe}{43}`),
  begins("an EasyPost key", "EZ", "EZ[AT]K", `${word}{54}`),
  begins("a Flutterwave key", "FLWSECK", "FLWSECK(?:_TEST)?-", `${hex}{12,40}-X`),
  begins("a Frame.io token", "fio-u-", "fio-u-", `${safe}{64}`),
  begins("a Plaid token", "access-", "access-(?:sandbox|development|production)-", uuid),
  begins("a HubSpot token", "pat-", "pat-(?:na|eu|ap)\\d-", uuid),
  begins("a LaunchDarkly key", "-", "(?:sdk|api)-", uuid),
  begins("a Prefect key", "pn", "pn[ub]_", `${word}{36}`),
  begins("a ReadMe key", "rdme_", "rdme_", `[a-z0-9]{70}`),
  begins("a Render key", "rnd_", "rnd_", `${word}{32}`),
  begins("a Tailscale key", "tskey-", "tskey-(?:auth|api|client|scim|webhook)-", `${word}{8,20}-${word}{20,40}`),
  begins("a Vercel token", "vc", "vc[aciprk]_", `${word}{24,60}`),
  begins("a Clojars token", "CLOJARS_", "CLOJARS_", `[a-z0-9]{60}`),
  begins("an Adafruit key", "aio_", "aio_", `${word}{28}`),
  begins("a Mailgun key", "-", `${hex}{32}-${hex}{8}-`, `${hex}{8}`),
  begins("a MailerSend token", "mlsn.", "mlsn\\.", `${hex}{64}`),
  begins("a PostHog key", "phx_", "phx_", `${word}{40,50}`),
  begins("a Resend key", "re_", "re_", `${word}{8}_${word}{24}`),
  begins("a Heroku key", "HRKU-", "HRKU-", `${safe}{36,64}`),
  begins("an Amazon MWS token", "amzn.mws.", "amzn\\.mws\\.", uuid),
  begins("an Amazon client secret", "amzn1.oa2-cs.", "amzn1\\.oa2-cs\\.v1\\.", `${hex}{64}`),
  begins("a Mapbox token", "sk.eyJ", "sk\\.eyJ", `${safe}{20,300}\\.${safe}{20,40}`),
  begins("an age key", "AGE-SECRET-KEY-", "AGE-SECRET-KEY-1", "[02-9AC-HJ-NP-Z]{58}"),
  begins("a 1Password token", "ops_ey", "ops_ey", `[A-Za-z0-9+/=_-]{100,1500}`, "none"),
  {
    kind: "a JSON web token",
    hint: "eyJ",
    pattern: /(?<![A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{16,2000})/g,
    must: "none",
  },
  {
    kind: "an encrypted web token",
    hint: "eyJ",
    pattern:
      /(?<![A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{10,1000}\.[A-Za-z0-9_-]{0,1000}\.[A-Za-z0-9_-]{12,40}\.[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{16,100})/g,
    must: "none",
  },
];
