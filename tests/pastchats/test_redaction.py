"""Secrets of well-known shapes are named in their place; what merely looks like one stays."""

import string
from random import Random
from uuid import UUID

from chatmemory.pastchats.redaction.redaction import Redaction
from tests.for_each import for_each

CHANCE = Random(7)


def random_text(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(CHANCE.choices(alphabet, k=length - 4)) + "a1B2"


def jwt() -> str:
    return f"eyJ{random_text(20)}.eyJ{random_text(40)}.{random_text(43)}"


# Put together here, so that no scanner of repositories takes this file for a leak.
SECRETS = [
    (
        "aws access key",
        "AKIA" + random_text(20, string.ascii_uppercase + string.digits)[:12].upper() + "Q7X2",
    ),
    ("github token", "ghp_" + random_text(36)),
    ("github token", "github_" + "pat_" + random_text(60)),
    ("gitlab token", "glpat-" + random_text(20)),
    ("slack token", "xoxb-" + "123456789012-" + random_text(24)),
    ("openai key", "sk-" + random_text(48)),
    ("openai key", "sk-proj-" + random_text(60)),
    ("anthropic key", "sk-ant-" + "api03-" + random_text(80)),
    ("google key", "AIza" + random_text(35)),
    ("stripe key", "sk_live_" + random_text(24)),
    ("stripe key", "rk_test_" + random_text(24)),
    ("npm token", "npm_" + random_text(36)),
    ("pypi token", "pypi-" + "AgEI" + random_text(80)),
    ("hugging face token", "hf_" + random_text(34)),
    ("sendgrid key", "SG." + random_text(22) + "." + random_text(43)),
    ("json web token", jwt()),
]


@for_each(("name", "secret"), SECRETS)
@for_each("around", ["{}", "export KEY={}\n", '{{"k": "{}"}}', "用这个：{}，谢谢", "({}), then"])
def test_a_secret_that_says_what_it_is_is_named(name: str, secret: str, around: str) -> None:
    redaction = Redaction()
    kept = redaction.text(around.format(secret) + " " * 12)
    assert secret not in kept
    assert f"[redacted: {name}]" in kept
    assert redaction.total == 1


@for_each("line_break", ["\n", "\\n"])
@for_each("kind", ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
def test_a_private_key_is_taken_out_with_its_lines(kind: str, line_break: str) -> None:
    lines = line_break.join(random_text(64) for _ in range(3))
    for end in (f"{line_break}-----END {kind}-----", ""):
        text = f"before -----BEGIN {kind}-----{line_break}{lines}{end}"
        assert Redaction().text(f"{text} and after") == "before [redacted: private key] and after"


@for_each(
    ("text", "kept"),
    [
        ("password=hunter2!x", "password=[redacted: password]"),
        ('{"password": "Tr0ub4dor&3"}', '{"password": "[redacted: password]"}'),
        ("DB_PASSWORD: 's3cr3t-w0rd'", "DB_PASSWORD: '[redacted: password]'"),
        ("api_key = a8f5f167f44f4964e6c998dee827110c", "api_key = [redacted: api key]"),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz9",
            "aws_secret_access_key = [redacted: secret]",
        ),
        ("Authorization: Bearer abcDEF1234567890ghij", "Authorization: Bearer [redacted: bearer token]"),
        ("postgres://shop:pa55w0rd@db/shop", "postgres://shop:[redacted: password]@db/shop"),
        ("curl -u mei:pa55w0rd https://x.y", "curl -u mei:[redacted: password] https://x.y"),
        ("curl -sS --user 'mei:pa55w0rd' x.y", "curl -sS --user 'mei:[redacted: password]' x.y"),
        ("curl \\\n  -u mei:pa55w0rd x.y", "curl \\\n  -u mei:[redacted: password] x.y"),
        ("密码：abc12345!", "密码：[redacted: password]"),
        ("İ password=hunter2!x", "İ password=[redacted: password]"),
    ],
)
def test_a_secret_that_its_place_gives_away_is_named(text: str, kept: str) -> None:
    assert Redaction().text(text) == kept


@for_each(
    "text",
    [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b fixes it",
        f"request id {UUID(int=CHANCE.getrandbits(128))}, token: {UUID(int=CHANCE.getrandbits(128))}",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "password: string; token: str | None = None",
        "const token = await fetchToken(); secret = os.environ['SECRET_1']",
        "password=${DB_PASSWORD1} api_key=<your-api-key-1>",
        "the class sk-fading-circle-of-a-spinner spins",
        "max_tokens: 4096000000, tokenizer: bert-base-uncased-v2-2021",
        "https://example.com/path:8080/user@example.com and http://localhost:8000/x@y",
        "docker run -u 1000:1000 app; curl -u $USER:$PASSWORD x.y; curl https://x.y/a:b -u mei",
        "-----BEGIN PRIVATE KEY----- is how such a file begins",
        "怎么重置密码？密码是什么规则",
        "The secret to good retries is jitter; passwords expire after 90 days.",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    redaction = Redaction()
    assert redaction.text(text) == text
    assert redaction.counts == {}


def test_secrets_within_metadata_are_named_too() -> None:
    key = "ghp_" + random_text(36)
    redaction = Redaction()
    kept = redaction.metadata({"tool": [{"arguments": f"curl -H {key}"}, 3, None], "title": "推送"})
    assert kept == {"tool": [{"arguments": "curl -H [redacted: github token]"}, 3, None], "title": "推送"}
    assert redaction.counts == {"github token": 1}


def test_what_almost_is_a_secret_a_thousand_times_is_read_through() -> None:
    hostile = "password=\n\n token: '' secret= ,://a: " * 3_000 + "-----BEGIN PRIVATE KEY-----" * 500
    assert Redaction().text(hostile) == hostile
