"""Secrets of well-known shapes are named in their place; what merely looks like one stays."""

from collections import Counter
from random import Random

from chatmemory.pastchats.redaction.redaction import Redaction
from tests.for_each import for_each
from tests.pastchats.corpus.innocent_texts import innocent_texts
from tests.pastchats.corpus.true_secrets import drawn, true_texts

AWS = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz9"
CHANCE = Random(7)
# Drawn here, so that no scanner of repositories takes this file for a leak.
SECRETS = [
    (name, drawn(form, CHANCE))
    for name, form in (
        ("aws access key", "AKIA{u12}Q7X2"),
        ("github token", "ghp_{a32}a1B2"),
        ("github token", "github_pat_{a56}a1B2"),
        ("gitlab token", "glpat-{a16}a1B2"),
        ("slack token", "xoxb-123456789012-{a20}a1B2"),
        ("openai key", "sk-{a44}a1B2"),
        ("openai key", "sk-proj-{a56}a1B2"),
        ("anthropic key", "sk-ant-api03-{a76}a1B2"),
        ("google key", "AIza{a31}a1B2"),
        ("stripe key", "sk_live_{a20}a1B2"),
        ("stripe key", "rk_test_{a20}a1B2"),
        ("npm token", "npm_{a32}a1B2"),
        ("pypi token", "pypi-AgEI{a76}a1B2"),
        ("hugging face token", "hf_{a30}a1B2"),
        ("chatmemory token", "cm_{a39}a1B2"),
        ("sendgrid key", "SG.{a18}a1B2.{a39}a1B2"),
        ("json web token", "eyJ{a16}a1B2.eyJ{a36}a1B2.{a39}a1B2"),
    )
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
    lines = line_break.join(drawn("{a60}a1B2", CHANCE) for _ in range(3))
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
        (f"aws_secret_access_key = {AWS}", "aws_secret_access_key = [redacted: secret]"),
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


def test_what_is_no_secret_stays_and_one_within_metadata_is_named() -> None:
    for text in (
        "password=${DB_PASSWORD1} api_key=<your-api-key-1>",
        "max_tokens: 4096000000, tokenizer: bert-base-uncased-v2-2021",
        "https://example.com/path:8080/user@example.com and http://localhost:8000/x@y",
        "docker run -u 1000:1000 app; curl -u $USER:$PASSWORD x.y; curl https://x.y/a:b -u mei",
    ):
        redaction = Redaction()
        assert (redaction.text(text), redaction.counts) == (text, {})
    hostile = "password=\n\n token: '' secret= ,://a: " * 3_000 + "-----BEGIN PRIVATE KEY-----" * 500
    assert Redaction().text(hostile) == hostile
    key = drawn("ghp_{a32}a1B2", CHANCE)
    redaction = Redaction()
    kept = redaction.metadata({"tool": [{"arguments": f"curl -H {key}"}, 3, None], "title": "推送"})
    assert kept == {"tool": [{"arguments": "curl -H [redacted: github token]"}, 3, None], "title": "推送"}
    assert redaction.counts == {"github token": 1}


def test_the_corpus_is_no_smaller_than_it_was() -> None:
    assert len(true_texts()) >= 120
    innocent = innocent_texts()
    assert len({text for _, text in innocent}) >= 200
    assert min(Counter(kind for kind, _ in innocent).values()) >= 14


@for_each("seed", (20, 21, 22, 23, 24))  # what is drawn by chance must not be lucky
def test_secrets_are_taken_out_and_what_only_looks_like_one_stays(seed: int) -> None:
    secret = true_texts(seed)
    kept = [(one.kind, one.text) for one in secret if one.secret in Redaction().text(one.text)]
    assert len(kept) <= 0.02 * len(secret), kept
    innocent = innocent_texts(seed)
    changed = [(kind, text) for kind, text in innocent if Redaction().text(text) != text]
    assert len(changed) <= 0.01 * len(innocent), changed
