"""Texts that hold a secret, one of each kind that people paste and tools print.

No secret stands here: each is drawn at run time by what the makers publish of its form.  ``{a36}`` is 36 letters and
digits, ``h`` hexadecimal digits, ``u`` capitals, ``l`` small letters, both with digits, ``w`` letters, digits, ``-`` and
``_``, ``b`` base64, ``s`` signs of a good password, ``d`` digits, ``c`` letters; ``{uuid}`` is a UUID.
"""

import re
import string
from collections.abc import Iterator
from itertools import cycle
from random import Random
from typing import Final, final
from uuid import UUID

from attrs import frozen

LETTERS: Final = string.ascii_letters
ALPHABETS: Final = {
    "a": LETTERS + string.digits,
    "h": "0123456789abcdef",
    "u": string.ascii_uppercase + "234567",
    "l": string.ascii_lowercase + string.digits,
    "w": LETTERS + string.digits + "-_",
    "b": LETTERS + string.digits + "+/",
    "s": LETTERS + string.digits + "!#&*+-=?@^_~",
    "d": string.digits,
    "c": LETTERS,
}
PART: Final = re.compile(r"\{(?:(?P<of>[ahulwbsdc])(?P<count>\d+)|uuid)\}")

# Around a token, in turn: the form alone must do.
AROUND: Final = (
    "{}",
    "here is mine, it works: {} (do not share)",
    "export THING={}\n",
    '{{"value": "{}", "next": 1}}',
    "+    x = '{}'  # moved to the environment later",
    "我的是{}，先用着",
    "| prod | {} | 2026 |",
    "curl https://api.service.io/v1/me?x={}",
)

# Each kind, and its forms.
TOKENS: Final = """
github: ghp_{a36} gho_{a36} ghs_{a36} github_pat_{a22}_{a59} ¦ gitlab: glpat-{w20} glrt-{w20} gldt-{w20}
bitbucket: ATBB{a24}{h8} BBDC-MT{w42} ¦ atlassian: ATATT3xFfGF0{w172}={h8} ¦ npm: npm_{a36}
pypi: pypi-AgEIcHlwaS5vcmc{w70} ¦ rubygems: rubygems_{h48} ¦ clojars: CLOJARS_{l60} ¦ nuget: oy2{l43}
docker: dckr_pat_{w27} SWMTKN-1-{l50}-{l25} ¦ circleci: CCIPAT_{a22}_{h40} ¦ buildkite: bkua_{l40}
artifactory: AKCp{a69} ¦ sonarqube: sqp_{h40} ¦ aws: AKIA{u16} ASIA{u16} ABSKQmVkcm9ja0FQSUtleS{b110}
appsync: da2-{l26} ¦ google: AIza{w35} ya29.{w120} 1//0{w100} GOCSPX-{w28} AQ.Ab8RN6{w44}
azure: abc8Q~{w34}
azure: https://x.blob.core.windows.net/c/f?sv=2024-11-04&se=2026-12-01T00%3A00%3A00Z&sr=b&sp=r&sig={a20}%2F{a14}%2B{a6}%3D
alibaba: LTAI{a20} ¦ digitalocean: dop_v1_{h64} ¦ heroku: HRKU-AA{w58} HRKU-{uuid}
fly: fm2_lJPECAAAAAAA{b80} ¦ render: rnd_{a28} ¦ vault: hvs.{w95} hvb.{w140} s.{a24}
terraform: {a14}.atlasv1.{w64} ¦ pulumi: pul-{h40} ¦ planetscale: pscale_tkn_{w43}
supabase: sbp_{h40} sb_secret_{w31} ¦ neon: napi_{l64} ¦ databricks: dapi{h32}
grafana: glsa_{a32}_{h8} glc_eyJvIjoiMTIzNDU2{b60} ¦ newrelic: NRAK-{u27} ¦ sentry: sntryu_{h64}
posthog: phx_{a43} ¦ tailscale: tskey-auth-{a12}CNTRL-{a32} ¦ dynatrace: dt0c01.{u24}.{u64}
doppler: dp.pt.{a43} dp.st.prd.{a43} ¦ linear: lin_api_{a40} ¦ figma: figd_{w40} ¦ airtable: pat{a14}.{h64}
notion: ntn_{d11}{a35} secret_{a43} ¦ postman: PMAK-{h24}-{h34}
slack: xoxb-{d12}-{d13}-{a24} xoxp-{d12}-{d12}-{d13}-{h32} xapp-1-A{u10}-{d13}-{h64}
slack: https://hooks.slack.com/services/T{u8}/B{u10}/{a24}
discord: MT{a22}.G{a5}.{w38} https://discord.com/api/webhooks/{d18}/{w68} ¦ telegram: {d10}:AA{w33}
stripe: sk_live_{a24} rk_live_{a99} whsec_{a32} ¦ square: sq0csp-{w43} EAAA{w60} ¦ shopify: shpat_{h32}
razorpay: rzp_live_{a14} ¦ facebook: EAAC{a140} ¦ twilio: SK{h32} ¦ sendgrid: SG.{w22}.{w43}
mailgun: key-{l32} {h32}-{h8}-{h8} ¦ mailchimp: {h32}-us14 ¦ brevo: xkeysib-{h64}-{a16}
resend: re_{a8}_{a24} ¦ openai: sk-{a20}T3BlbkFJ{a20} sk-proj-{w74}T3BlbkFJ{w74}
anthropic: sk-ant-api03-{w93}AA ¦ openrouter: sk-or-v1-{h64} ¦ groq: gsk_{a52} ¦ xai: xai-{a80}
huggingface: hf_{c34} ¦ replicate: r8_{a37} ¦ perplexity: pplx-{a48} ¦ nvidia: nvapi-{w64}
pinecone: pcsk_{a6}_{a63} ¦ langsmith: lsv2_pt_{h32}_{h10} ¦ langfuse: sk-lf-{uuid} ¦ elevenlabs: sk_{h48}
cerebras: csk-{l48} ¦ vercel: vcp_{a56} ¦ wandb: wandb_v1_{a77} ¦ apify: apify_api_{a36}
age: AGE-SECRET-KEY-1{u58} ¦ 1password: A3-{u6}-{u6}-{u5}-{u5}-{u5}-{u5} ¦ deno: ddp_{a36}
dropbox: sl.{w130} ¦ mapbox: sk.eyJ{a80}.{w22} ¦ jwt: eyJ{a30}.eyJ{a60}.{w43}
"""

# Nothing but the place gives these away; the secret is what stands between two bars.
PLACED: Final = (
    ("password", "password=|{s14}|"), ("password", 'spring.datasource.password: "|{a12}9|"'),
    ("password", "DB_PASSWORD='|{s12}7x|'"), ("password", "PGPASSWORD=|{a16}| psql -h db -U shop"),
    ("password", '{"user": "mei", "password": "|{s16}|"}'),
    ("password", "the password is |{a9}7!|, please change it"),
    ("password", "ok, the root password is now |{a10}2|"), ("password", "passphrase was `|{a14}4|`"),
    ("password", "密码是|{a10}5|，别告诉别人"), ("password", "口令：|{a12}8|"),
    ("password", "pwd: |{s12}3k|"), ("password", "User Id=sa;Password=|{a14}1|;Encrypt=true"),
    ("password", "<password>|{a12}6|</password>"), ("mysql", "mysql -u root -p|{a12}7| shop < dump.sql"),
    ("mysql", "mysqldump -hdb -ushop -p'|{a14}3|' shop > shop.sql"),
    ("mysql", "docker exec db mysqladmin -uroot -p|{a10}2| ping"),
    ("sshpass", "sshpass -p '|{a12}9|' ssh mei@10.0.0.4"), ("redis", "redis-cli -h cache -a |{a20}5| ping"),
    ("docker", "docker login -u mei -p |{a20}4| registry.test"),
    ("netrc", "machine api.test login mei password |{a14}8|"),
    ("netrc", "machine git.test\n  login mei\n  password |{a14}8|\n"),
    ("openssl", "openssl rsa -in k.pem -passin pass:|{a12}7| -out k2.pem"),
    ("curl", "curl -u mei:|{a14}6| https://jenkins.test/job/x/build"),
    ("curl", "curl -sSL --user 'mei:|{s12}3|' https://repo.test"),
    ("curl", "curl -H 'X-Api-Key: |{a32}|' https://api.test"),
    ("curl", 'curl -H "Authorization: Bearer |{a30}9|" https://api.test'),
    ("curl", "curl -H 'Authorization: Basic |{b30}9=|' https://api.test"),
    ("curl", "curl -H 'Authorization: token |{h40}|' https://git.test"),
    ("curl", 'curl -b "sessionid=|{l32}|; theme=dark" https://shop.test'),
    ("url", "postgres://shop:|{a14}3|@db.internal:5432/shop"),
    ("url", "DATABASE_URL=mysql2://root:|{s10}7x|@10.0.3.4/app"),
    ("url", "redis://:|{a24}5|@cache.internal:6379/0"),
    ("url", "mongodb+srv://app:|{a16}1|@cluster0.mongodb.net/?retryWrites=true"),
    ("url", "amqp://worker:|{a12}4|@mq.internal:5672//"),
    ("url", "git clone https://mei:|{a20}8|@git.test/shop.git"),
    ("url", "https://x.test/f?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=|{h64}|"),
    ("aws", "aws_secret_access_key = |{a20}/{a19}|"), ("aws", "AWS_SECRET_ACCESS_KEY=|{b20}{a19}7|"),
    ("aws", "aws sts gave AKIA{u16} and |{a18}/{a20}7| for it"),
    ("azure", "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=|{b85}7==|;EndpointSuffix=core"),
    ("azure", "Endpoint=sb://q.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=|{b42}9=|"),
    ("heroku", "HEROKU_API_KEY=|{uuid}|"), ("postmark", "postmark_api_key: |{uuid}|"),
    ("twilio", "TWILIO_AUTH_TOKEN=|{h32}|"), ("datadog", "DD_API_KEY=|{h32}|"),
    ("datadog", 'datadog:\n  app_key: "|{h40}|"'), ("algolia", "ALGOLIA_ADMIN_KEY=|{h32}|"),
    ("cloudflare", "CLOUDFLARE_API_TOKEN=|{w40}|"), ("django", "SECRET_KEY = '|{s50}|'"),
    ("rails", "SECRET_KEY_BASE=|{h128}|"), ("rails", "RAILS_MASTER_KEY=|{h32}|"),
    ("jwt", 'JWT_SECRET="|{a40}|"'), ("client", "client_secret: |{a32}|"),
    ("client", '"clientSecret": "|{w36}|",'), ("token", "access_token=|{a40}|&expires_in=3600"),
    ("token", '"refreshToken": "|{w64}|"'), ("token", "GITLAB_TOKEN: |{a26}|"),
    ("token", "//registry.packages.example/:_authToken=|{uuid}|"), ("encryption", "ENCRYPTION_KEY=|{h64}|"),
    ("encryption", "my encryption key: |{b43}8=|"),
    ("cookie", "Cookie: theme=dark; session=|{w120}|; lang=zh"),
    ("cookie", "Set-Cookie: connect.sid=s%3A|{a32}.{a43}|; Path=/; HttpOnly"),
    ("cookie", "cookie: PHPSESSID=|{l26}|"), ("cookie", "JSESSIONID=|{u32}|"),
    ("cookie", "'Cookie': '__Secure-next-auth.session-token=|{w80}|'"),
    ("jwk", '{"kty":"EC","crv":"P-256","x":"{w43}","y":"{w43}","d":"|{w43}|"}'),
    ("jwk", '{"kty": "oct", "k": "|{w43}|", "alg": "HS256"}'),
    ("jwk", '{\n  "kty": "RSA",\n  "e": "AQAB",\n  "d": "|{w342}|"\n}'),
    ("pem", "-----BEGIN RSA PRIVATE KEY-----\n|{b64}\n{b64}|\n-----END RSA PRIVATE KEY-----"),
    ("pem", "-----BEGIN OPENSSH PRIVATE KEY-----\\n|{b70}\\n{b70}|\\n-----END OPENSSH PRIVATE KEY-----\\n"),
    ("pem", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n|{b64}\n{b60}|"),
)  # fmt: skip


@final
@frozen
class TrueText:
    """A text with a *secret*."""

    kind: str
    text: str
    secret: str


def true_texts(seed: int = 20) -> list[TrueText]:
    """Return the texts; another *seed* draws other secrets."""
    chance = Random(seed)
    return [*_tokens(chance), *_placed(chance)]


def _tokens(chance: Random) -> Iterator[TrueText]:
    around = cycle(AROUND)
    for kinds in TOKENS.strip().replace("\n", " ¦ ").split(" ¦ "):
        kind, _, forms = kinds.partition(": ")
        for form in forms.split():
            secret = drawn(form, chance)
            yield TrueText(kind, next(around).format(secret), _core(secret))


def _core(token: str) -> str:
    """Return the part of *token* that must not be kept: of a link, the last."""
    return token.rsplit("sig=", 1)[-1].rsplit("/", 1)[-1] if token.startswith("https://") else token


def _placed(chance: Random) -> Iterator[TrueText]:
    for kind, form in PLACED:
        before, secret, after = (drawn(part, chance) for part in form.split("|"))
        yield TrueText(kind, before + secret + after, secret)


def drawn(form: str, chance: Random) -> str:
    """Return *form* with something drawn in the place of each of its parts."""

    def draw(part: re.Match[str]) -> str:
        if part["of"] is None:
            return str(UUID(int=chance.getrandbits(128), version=4))
        return "".join(chance.choices(ALPHABETS[part["of"]], k=int(part["count"])))

    return PART.sub(draw, form)
