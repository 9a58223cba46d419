"""The tokens that begin with their maker's prefix, as a table: kind, prefixes, the following characters and their number.

The kinds are those of the published rule lists (gitleaks and its successor betterleaks, CredSweeper, detect-secrets)
whose secrets are recognized by their beginning.  A new kind is a new row: searching costs the same for ten rows or a
thousand (``secret_shapes.py``).
"""

import re
from typing import Final, final

from attrs import frozen

ALNUM: Final = re.compile(r"[A-Za-z0-9]+")
LOWER: Final = re.compile(r"[a-z0-9]+")
UPPER: Final = re.compile(r"[A-Z0-9]+")
HEX: Final = re.compile(r"[A-Fa-f0-9]+")
WORD: Final = re.compile(r"[A-Za-z0-9_-]+")
DOTTED: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")


@final
@frozen
class PrefixedToken:
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
    prefixes: tuple[str, ...]
    of: re.Pattern[str]
    least: int
    most: int | None = None
    needs_digit: bool = True


def _token(
    name: str,
    prefixes: str,
    of: re.Pattern[str],
    least: int,
    most: int | None = None,
    *,
    needs_digit: bool = True,
) -> PrefixedToken:
    return PrefixedToken(name, tuple(prefixes.split()), of, least, most, needs_digit)


TOKENS: Final[tuple[PrefixedToken, ...]] = (
    # models and services for them
    _token("anthropic key", "sk-ant-", WORD, 16),
    _token("openai key", "sk-", WORD, 20),
    _token("langfuse key", "sk-lf-", HEX, 8),
    _token("groq key", "gsk_", ALNUM, 40),
    _token("xai key", "xai-", WORD, 40),
    _token("hugging face token", "hf_ api_org_", ALNUM, 30, needs_digit=False),
    _token("replicate token", "r8_", ALNUM, 30),
    _token("perplexity key", "pplx-", ALNUM, 40),
    _token("cerebras key", "csk-", ALNUM, 40),
    _token("together key", "tgp_v1_", WORD, 30),
    _token("fireworks key", "fw_", ALNUM, 22, 24),
    _token("nvidia key", "nvapi-", WORD, 40),
    _token("pinecone key", "pcsk_", re.compile(r"[A-Za-z0-9_]+"), 50),
    _token("langsmith key", "lsv2_pt_ lsv2_sk_", re.compile(r"[a-f0-9_]+"), 32),
    _token("llama cloud key", "llx-", ALNUM, 40),
    _token("wandb key", "wandb_v1_", WORD, 60),
    _token("brave search key", "BSA", WORD, 24, 40),
    _token("tavily key", "tvly-", WORD, 24),
    _token("firecrawl key", "fc-", HEX, 32, 32),
    _token("runpod key", "rpa_", ALNUM, 40),
    _token("cartesia key", "sk_car_", ALNUM, 20),
    _token("elevenlabs key", "sk_", HEX, 48, 48),
    _token("chatmemory token", "cm_", WORD, 43, 43),  # of a server's own client
    _token("vercel token", "vck_ vca_ vcr_ vci_ vcp_", WORD, 40),
    _token("sourcegraph token", "sgp_", re.compile(r"[A-Za-z0-9_]+"), 40),
    # code hosting, packages and builds
    _token("github token", "ghp_ gho_ ghu_ ghs_ ghr_", re.compile(r"[A-Za-z0-9]+(?:_eyJ[\w.-]+)?"), 30),
    _token("github token", "github_pat_", re.compile(r"[A-Za-z0-9_]+"), 22),
    _token(
        "gitlab token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct- GR1348941",
        DOTTED,
        20,
        needs_digit=False,
    ),
    _token("bitbucket token", "ATBB ATCTT3xFfGN0", ALNUM, 24),
    _token("bitbucket token", "BBDC-", BASE64, 32),
    _token("atlassian token", "ATATT3", re.compile(r"[A-Za-z0-9_=-]+"), 60),
    _token("npm token", "npm_", ALNUM, 36),
    _token("pypi token", "pypi-", WORD, 50),
    _token("rubygems token", "rubygems_", HEX, 40),
    _token("clojars token", "CLOJARS_", LOWER, 50),
    _token("nuget key", "oy2", LOWER, 43, 43),
    _token("docker token", "dckr_pat_ dckr_oat_", WORD, 20),
    _token("docker swarm token", "SWMTKN-1- SWMKEY-1-", WORD, 40),
    _token("circleci token", "CCIPAT_", re.compile(r"[A-Za-z0-9_]+"), 40),
    _token("buildkite token", "bkua_ bkaa_ bkct_ bkpat_ bkps_ bkpt_ bkaj_ bkar_", WORD, 40),
    _token("artifactory key", "AKCp", ALNUM, 60),
    _token("artifactory token", "cmVmd", ALNUM, 50),
    _token("sonarqube token", "sqp_ squ_ sqa_", HEX, 40, 40),
    _token("snyk token", "snyk_uat", DOTTED, 40),
    _token("infracost token", "ico-", ALNUM, 32, 32),
    # clouds
    _token("aws access key", "AKIA ASIA ABIA ACCA", UPPER, 16, 16, needs_digit=False),
    _token("aws bedrock key", "ABSK", BASE64, 90),
    _token("aws bedrock key", "bedrock-api-key-", BASE64, 40),
    _token("aws appsync key", "da2-", LOWER, 26, 26),
    _token("google key", "AIza", WORD, 35, 35),
    _token("google token", "ya29.", WORD, 20),
    _token("google token", "1//", re.compile(r"0[A-Za-z0-9_-]{30,}"), 31),  # a refresh token
    _token("google key", "AQ.", re.compile(r"Ab8[A-Za-z0-9_-]{40,}"), 43),
    _token("google client secret", "GOCSPX-", WORD, 20),
    _token("alibaba access key", "LTAI", ALNUM, 16, 22),
    _token("digitalocean token", "dop_v1_ doo_v1_ dor_v1_ dos_v1_", HEX, 64),
    _token("heroku key", "HRKU-", WORD, 36),
    _token("fly token", "fm1_ fm2_ fo1_", BASE64, 40),
    _token("render key", "rnd_", ALNUM, 28),
    _token("vault token", "hvs. hvb. hvr.", DOTTED, 24),
    _token("doppler token", "dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", ALNUM, 40),
    _token("astra token", "AstraCS:", re.compile(r"[A-Za-z0-9]{20,}(?::[a-f0-9]{64})?"), 20),
    _token("cloudflare key", "v1.", re.compile(r"0-[a-f0-9]{24}-[a-f0-9]{100,}"), 126),
    _token("cloudflare token", "cfut_ cfat_ cfk_", ALNUM, 40),
    _token("scaleway key", "SCW", UPPER, 17, 17),
    _token("scalr token", "tk-us-", WORD, 40),
    _token("pulumi token", "pul-", HEX, 40, 40),
    _token("planetscale token", "pscale_tkn_ pscale_oauth_ pscale_pw_", DOTTED, 32),
    _token("supabase key", "sbp_ sb_secret_", WORD, 31),
    _token("neon key", "napi_", ALNUM, 40),
    _token("databricks token", "dapi", re.compile(r"[a-f0-9]{32}(?:-\d)?"), 32, 34),
    _token("cockroach key", "CCDB1_", re.compile(r"[A-Za-z0-9_]+"), 40),
    _token("clickhouse key", "4b1d", ALNUM, 38, 38),
    _token("mongodb atlas key", "mdb_sa_sk_", WORD, 40),
    _token("elastic key", "essu_", BASE64, 50),
    _token("grafana token", "glsa_", re.compile(r"[A-Za-z0-9_]+"), 40),
    _token("grafana token", "glc_ eyJrIjoi", BASE64, 40),
    _token("new relic key", "NRAK- NRJS- NRII-", WORD, 19),
    _token("sentry token", "sntryu_", HEX, 64),
    _token("sentry token", "sntrys_", BASE64, 60),
    _token("posthog key", "phx_", WORD, 40),
    _token("tailscale key", "tskey-", WORD, 20),
    _token("dynatrace token", "dt0c01. dt0s01. dt0s02. dt0s16.", DOTTED, 40),
    # collaboration, payments and messages
    _token("slack token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", WORD, 10),
    _token("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ whsec_", ALNUM, 16),
    _token("square token", "sq0atp- sq0csp- sq0idp-", WORD, 22),
    _token("square token", "EAAA", WORD, 56),
    _token("facebook token", "EAA", ALNUM, 90),
    _token("shopify token", "shpat_ shpca_ shppa_ shpss_ shptka_", HEX, 32),
    _token("razorpay key", "rzp_live_ rzp_test_", ALNUM, 14),
    _token("paddle key", "pdl_live_apikey_ pdl_sdbx_apikey_", re.compile(r"[A-Za-z0-9_]+"), 40),
    _token("easypost key", "EZAK EZTK", ALNUM, 54, 54),
    _token("shippo key", "shippo_live_ shippo_test_", HEX, 40),
    _token("duffel key", "duffel_live_ duffel_test_", WORD, 40),
    _token("flutterwave key", "FLWSECK_TEST- FLWSECK-", WORD, 12),
    _token("adobe secret", "p8e-", LOWER, 32, 32),
    _token("notion token", "ntn_", ALNUM, 40),
    _token("notion token", "secret_", ALNUM, 43, 43),
    _token("linear key", "lin_api_ lin_oauth_", ALNUM, 32),
    _token("figma token", "figd_ figu_ figo_", WORD, 36),
    _token("airtable token", "pat", re.compile(r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"), 79),
    _token("postman key", "PMAK-", re.compile(r"[a-f0-9-]+"), 50),
    _token("readme key", "rdme_", LOWER, 60),
    _token("typeform token", "tfp_", WORD, 40),
    _token("contentful token", "CFPAT-", WORD, 40),
    _token("prefect key", "pnu_ pnb_", ALNUM, 36, 36),
    _token("octopus key", "API-", UPPER, 26, 26),
    _token("twilio key", "SK", HEX, 32, 32),
    _token("mailgun key", "key-", LOWER, 32, 32),
    _token("mandrill key", "md-", WORD, 22, 22),
    _token("brevo key", "xkeysib- xsmtpsib-", WORD, 60),
    _token("resend key", "re_", re.compile(r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"), 29),
    _token("apify token", "apify_api_", ALNUM, 30),
    _token("1password token", "ops_eyJ", BASE64, 100),
    _token("1password secret key", "A3-", re.compile(r"[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){4,5}"), 26),
    _token("age key", "AGE-SECRET-KEY-1", UPPER, 50),
    _token("mailersend key", "mlsn.", HEX, 30),
    _token("sendgrid key", "SG.", re.compile(r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"), 33),
    _token("mapbox token", "sk.", re.compile(r"eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"), 40),
    _token("dropbox token", "sl. sl.u.", WORD, 60),
    _token("onfido token", "api_live. api_live_us. api_live_ca.", WORD, 20),
    _token("braintree token", "access_token$production$", re.compile(r"[a-z0-9]{16}\$[a-z0-9]{32}"), 49),
    _token("amazon mws token", "amzn.mws.", re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), 36),
    _token(
        "discord token",
        "MD MT Mj Mz ND NT Nj Nz OD OT",  # base64 of digits
        re.compile(r"[A-Za-z0-9_-]{20,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),
        55,
    ),
    _token(
        "json web token",
        "eyJ",
        re.compile(r"[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        29,
        needs_digit=False,
    ),
    _token("paseto", "v1.local. v2.local. v3.local. v4.local. k4.secret. k4.local.", WORD, 40),
    _token("deno token", "ddp_", ALNUM, 36, 36),
    _token("openshift token", "sha256~", WORD, 43, 43),
)
