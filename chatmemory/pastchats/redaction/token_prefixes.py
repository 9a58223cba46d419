"""The tokens that begin with their maker's prefix, as a table: kind, prefixes, the following characters and their number.

The kinds are those of the published rule lists (gitleaks and its successor betterleaks, CredSweeper, detect-secrets)
whose secrets are recognized by their beginning.  A new kind is a new row: searching costs the same for ten rows or a
thousand (``secret_shapes.py``).
"""

import re
from typing import Final, final

from attrs import field, frozen

ALNUM: Final = re.compile(r"[A-Za-z0-9]+")
LOWER: Final = re.compile(r"[a-z0-9]+")
UPPER: Final = re.compile(r"[A-Z0-9]+")
HEX: Final = re.compile(r"[A-Fa-f0-9]+")
WORD: Final = re.compile(r"[A-Za-z0-9_-]+")
DOTTED: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@final
@frozen
class Token:
    """A kind of token.

    Attributes:
        name: the name of the kind, which replaces the token: ``[redacted: <name>]``.
        prefixes: the token begins with one of them, of two characters or more; a run of at least sixteen characters
            of a word begins after the prefix, or with it.
        of: the characters after the prefix.
        least: the least number of characters after the prefix.
        most: the largest number of characters after the prefix, which no character of a word follows; None: any
            number.
        needs_digit: without a digit it is a word: ``sk-fading-circle-with-a-long-name``.
    """

    name: str
    prefixes: tuple[str, ...] = field(converter=_words)
    of: re.Pattern[str]
    least: int
    most: int | None = None
    needs_digit: bool = field(default=True, kw_only=True)


TOKENS: Final[tuple[Token, ...]] = (
    # models and services for them
    Token("anthropic key", "sk-ant-", WORD, 16),
    Token("openai key", "sk-", WORD, 20),
    Token("langfuse key", "sk-lf-", HEX, 8),
    Token("groq key", "gsk_", ALNUM, 40),
    Token("xai key", "xai-", WORD, 40),
    Token("hugging face token", "hf_ api_org_", ALNUM, 30, needs_digit=False),
    Token("replicate token", "r8_", ALNUM, 30),
    Token("perplexity key", "pplx-", ALNUM, 40),
    Token("cerebras key", "csk-", ALNUM, 40),
    Token("together key", "tgp_v1_", WORD, 30),
    Token("fireworks key", "fw_", ALNUM, 22, 24),
    Token("nvidia key", "nvapi-", WORD, 40),
    Token("pinecone key", "pcsk_", re.compile(r"[A-Za-z0-9_]+"), 50),
    Token("langsmith key", "lsv2_pt_ lsv2_sk_", re.compile(r"[a-f0-9_]+"), 32),
    Token("llama cloud key", "llx-", ALNUM, 40),
    Token("wandb key", "wandb_v1_", WORD, 60),
    Token("brave search key", "BSA", WORD, 24, 40),
    Token("tavily key", "tvly-", WORD, 24),
    Token("firecrawl key", "fc-", HEX, 32, 32),
    Token("runpod key", "rpa_", ALNUM, 40),
    Token("cartesia key", "sk_car_", ALNUM, 20),
    Token("elevenlabs key", "sk_", HEX, 48, 48),
    Token("chatmemory token", "cm_", WORD, 43, 43),  # of a server's own client
    Token("vercel token", "vck_ vca_ vcr_ vci_ vcp_", WORD, 40),
    Token("sourcegraph token", "sgp_", re.compile(r"[A-Za-z0-9_]+"), 40),
    # code hosting, packages and builds
    Token("github token", "ghp_ gho_ ghu_ ghs_ ghr_", re.compile(r"[A-Za-z0-9]+(?:_eyJ[\w.-]+)?"), 30),
    Token("github token", "github_pat_", re.compile(r"[A-Za-z0-9_]+"), 22),
    Token(
        "gitlab token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct- GR1348941",
        DOTTED,
        20,
        needs_digit=False,
    ),
    Token("bitbucket token", "ATBB ATCTT3xFfGN0", ALNUM, 24),
    Token("bitbucket token", "BBDC-", BASE64, 32),
    Token("atlassian token", "ATATT3", re.compile(r"[A-Za-z0-9_=-]+"), 60),
    Token("npm token", "npm_", ALNUM, 36),
    Token("pypi token", "pypi-", WORD, 50),
    Token("rubygems token", "rubygems_", HEX, 40),
    Token("clojars token", "CLOJARS_", LOWER, 50),
    Token("nuget key", "oy2", LOWER, 43, 43),
    Token("docker token", "dckr_pat_ dckr_oat_", WORD, 20),
    Token("docker swarm token", "SWMTKN-1- SWMKEY-1-", WORD, 40),
    Token("circleci token", "CCIPAT_", re.compile(r"[A-Za-z0-9_]+"), 40),
    Token("buildkite token", "bkua_ bkaa_ bkct_ bkpat_ bkps_ bkpt_ bkaj_ bkar_", WORD, 40),
    Token("artifactory key", "AKCp", ALNUM, 60),
    Token("artifactory token", "cmVmd", ALNUM, 50),
    Token("sonarqube token", "sqp_ squ_ sqa_", HEX, 40, 40),
    Token("snyk token", "snyk_uat", DOTTED, 40),
    Token("infracost token", "ico-", ALNUM, 32, 32),
    # clouds
    Token("aws access key", "AKIA ASIA ABIA ACCA", UPPER, 16, 16, needs_digit=False),
    Token("aws bedrock key", "ABSK", BASE64, 90),
    Token("aws bedrock key", "bedrock-api-key-", BASE64, 40),
    Token("aws appsync key", "da2-", LOWER, 26, 26),
    Token("google key", "AIza", WORD, 35, 35),
    Token("google token", "ya29.", WORD, 20),
    Token("google token", "1//", re.compile(r"0[A-Za-z0-9_-]{30,}"), 31),  # a refresh token
    Token("google key", "AQ.", re.compile(r"Ab8[A-Za-z0-9_-]{40,}"), 43),
    Token("google client secret", "GOCSPX-", WORD, 20),
    Token("alibaba access key", "LTAI", ALNUM, 16, 22),
    Token("digitalocean token", "dop_v1_ doo_v1_ dor_v1_ dos_v1_", HEX, 64),
    Token("heroku key", "HRKU-", WORD, 36),
    Token("fly token", "fm1_ fm2_ fo1_", BASE64, 40),
    Token("render key", "rnd_", ALNUM, 28),
    Token("vault token", "hvs. hvb. hvr.", DOTTED, 24),
    Token("doppler token", "dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", ALNUM, 40),
    Token("astra token", "AstraCS:", re.compile(r"[A-Za-z0-9]{20,}(?::[a-f0-9]{64})?"), 20),
    Token("cloudflare key", "v1.", re.compile(r"0-[a-f0-9]{24}-[a-f0-9]{100,}"), 126),
    Token("cloudflare token", "cfut_ cfat_ cfk_", ALNUM, 40),
    Token("scaleway key", "SCW", UPPER, 17, 17),
    Token("scalr token", "tk-us-", WORD, 40),
    Token("pulumi token", "pul-", HEX, 40, 40),
    Token("planetscale token", "pscale_tkn_ pscale_oauth_ pscale_pw_", DOTTED, 32),
    Token("supabase key", "sbp_ sb_secret_", WORD, 31),
    Token("neon key", "napi_", ALNUM, 40),
    Token("databricks token", "dapi", re.compile(r"[a-f0-9]{32}(?:-\d)?"), 32, 34),
    Token("cockroach key", "CCDB1_", re.compile(r"[A-Za-z0-9_]+"), 40),
    Token("clickhouse key", "4b1d", ALNUM, 38, 38),
    Token("mongodb atlas key", "mdb_sa_sk_", WORD, 40),
    Token("elastic key", "essu_", BASE64, 50),
    Token("grafana token", "glsa_", re.compile(r"[A-Za-z0-9_]+"), 40),
    Token("grafana token", "glc_ eyJrIjoi", BASE64, 40),
    Token("new relic key", "NRAK- NRJS- NRII-", WORD, 19),
    Token("sentry token", "sntryu_", HEX, 64),
    Token("sentry token", "sntrys_", BASE64, 60),
    Token("posthog key", "phx_", WORD, 40),
    Token("tailscale key", "tskey-", WORD, 20),
    Token("dynatrace token", "dt0c01. dt0s01. dt0s02. dt0s16.", DOTTED, 40),
    # collaboration, payments and messages
    Token("slack token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", WORD, 10),
    Token("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ whsec_", ALNUM, 16),
    Token("square token", "sq0atp- sq0csp- sq0idp-", WORD, 22),
    Token("square token", "EAAA", WORD, 56),
    Token("facebook token", "EAA", ALNUM, 90),
    Token("shopify token", "shpat_ shpca_ shppa_ shpss_ shptka_", HEX, 32),
    Token("razorpay key", "rzp_live_ rzp_test_", ALNUM, 14),
    Token("paddle key", "pdl_live_apikey_ pdl_sdbx_apikey_", re.compile(r"[A-Za-z0-9_]+"), 40),
    Token("easypost key", "EZAK EZTK", ALNUM, 54, 54),
    Token("shippo key", "shippo_live_ shippo_test_", HEX, 40),
    Token("duffel key", "duffel_live_ duffel_test_", WORD, 40),
    Token("flutterwave key", "FLWSECK_TEST- FLWSECK-", WORD, 12),
    Token("adobe secret", "p8e-", LOWER, 32, 32),
    Token("notion token", "ntn_", ALNUM, 40),
    Token("notion token", "secret_", ALNUM, 43, 43),
    Token("linear key", "lin_api_ lin_oauth_", ALNUM, 32),
    Token("figma token", "figd_ figu_ figo_", WORD, 36),
    Token("airtable token", "pat", re.compile(r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"), 79),
    Token("postman key", "PMAK-", re.compile(r"[a-f0-9-]+"), 50),
    Token("readme key", "rdme_", LOWER, 60),
    Token("typeform token", "tfp_", WORD, 40),
    Token("contentful token", "CFPAT-", WORD, 40),
    Token("prefect key", "pnu_ pnb_", ALNUM, 36, 36),
    Token("octopus key", "API-", UPPER, 26, 26),
    Token("twilio key", "SK", HEX, 32, 32),
    Token("mailgun key", "key-", LOWER, 32, 32),
    Token("mandrill key", "md-", WORD, 22, 22),
    Token("brevo key", "xkeysib- xsmtpsib-", WORD, 60),
    Token("resend key", "re_", re.compile(r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"), 29),
    Token("apify token", "apify_api_", ALNUM, 30),
    Token("1password token", "ops_eyJ", BASE64, 100),
    Token("1password secret key", "A3-", re.compile(r"[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){4,5}"), 26),
    Token("age key", "AGE-SECRET-KEY-1", UPPER, 50),
    Token("mailersend key", "mlsn.", HEX, 30),
    Token("sendgrid key", "SG.", re.compile(r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"), 33),
    Token("mapbox token", "sk.", re.compile(r"eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"), 40),
    Token("dropbox token", "sl. sl.u.", WORD, 60),
    Token("onfido token", "api_live. api_live_us. api_live_ca.", WORD, 20),
    Token("braintree token", "access_token$production$", re.compile(r"[a-z0-9]{16}\$[a-z0-9]{32}"), 49),
    Token("amazon mws token", "amzn.mws.", re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), 36),
    Token(
        "discord token",
        "MD MT Mj Mz ND NT Nj Nz OD OT",  # base64 of digits
        re.compile(r"[A-Za-z0-9_-]{20,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),
        55,
    ),
    Token(
        "json web token",
        "eyJ",
        re.compile(r"[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        29,
        needs_digit=False,
    ),
    Token("paseto", "v1.local. v2.local. v3.local. v4.local. k4.secret. k4.local.", WORD, 40),
    Token("deno token", "ddp_", ALNUM, 36, 36),
    Token("openshift token", "sha256~", WORD, 43, 43),
)
