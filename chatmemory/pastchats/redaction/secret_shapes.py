"""The shapes of well-known secrets: keys and tokens that say by their form whose they are.

Each shape has literals one of which stands in every such secret.  Looking for a literal takes a tenth of a microsecond,
so that a usual text, which holds none, is done before any pattern is tried.
"""

import re
from collections.abc import Iterator
from typing import Final, final

from attrs import frozen


@final
@frozen(slots=False)
class SecretShape:
    """A kind of secret.

    Attributes:
        name: what stands in its place, ``[redacted: <name>]``.
        literals: one of them is in each such secret.
        pattern: its group ``secret`` is taken out; without such a group, all of it.
        needs_digit: a match without a digit is a word: ``sk-fading-circle-with-a-long-name``.
    """

    name: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    needs_digit: bool = False

    def places(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and name of each secret of this shape."""
        group = "secret" if "secret" in self.pattern.groupindex else 0
        for match in self.pattern.finditer(text):
            start, end = match.span(group)
            if not self.needs_digit or any(character.isdigit() for character in text[start:end]):
                yield start, end, self.name


def _shape(name: str, pattern: str, *literals: str, flags: int = 0, needs_digit: bool = False) -> SecretShape:
    return SecretShape(name, literals, re.compile(pattern, flags), needs_digit)


_APART: Final = r"(?<![A-Za-z0-9_-])"  # not within a longer word, as in base64
_OVER: Final = r"(?![A-Za-z0-9_-])"
_KEY_LINES: Final = r"(?:(?:\s|\\n|\\r)*[A-Za-z0-9+/=]{20,})+"

SHAPES: Final[tuple[SecretShape, ...]] = (
    _shape(
        "private key",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:(?!-----(?:BEGIN|END)).){1,40000}?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        rf"|{_KEY_LINES})",  # the end is missing: what looks like a key, and no more
        "PRIVATE KEY",
        flags=re.DOTALL,
    ),
    _shape(
        "aws access key",
        rf"{_APART}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{_OVER}",
        "AKIA",
        "ASIA",
        "ABIA",
        "ACCA",
    ),
    _shape(
        "github token", rf"{_APART}gh[pousr]_[A-Za-z0-9]{{30,255}}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"
    ),
    _shape("github token", rf"{_APART}github_pat_[A-Za-z0-9_]{{22,255}}", "github_pat_"),
    _shape(
        "gitlab token",
        rf"{_APART}gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_.-]{{20,}}",
        "glpat-",
        "gldt-",
        "glrt-",
        "glcbt-",
        "glptt-",
        "glft-",
        "glsoat-",
    ),
    _shape(
        "slack token",
        rf"{_APART}(?:xox[abeoprsc]-[A-Za-z0-9-]{{10,}}|xapp-[A-Za-z0-9-]{{20,}})",
        "xox",
        "xapp-",
        needs_digit=True,
    ),
    _shape(
        "slack webhook",
        r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9+/_-]{20,})",
        "hooks.slack.com/",
    ),
    _shape(
        "discord webhook",
        r"discord(?:app)?\.com/api/webhooks/\d+/(?P<secret>[A-Za-z0-9_-]{30,})",
        "/api/webhooks/",
    ),
    _shape("anthropic key", rf"{_APART}sk-ant-[A-Za-z0-9_-]{{16,}}", "sk-ant-"),
    _shape("openai key", rf"{_APART}sk-[A-Za-z0-9_-]{{20,}}", "sk-", needs_digit=True),
    _shape("google key", rf"{_APART}AIza[A-Za-z0-9_-]{{35}}{_OVER}", "AIza"),
    _shape(
        "google token",
        rf"{_APART}(?:GOCSPX-[A-Za-z0-9_-]{{20,}}|ya29\.[A-Za-z0-9_-]{{20,}})",
        "GOCSPX-",
        "ya29.",
    ),
    _shape(
        "stripe key",
        rf"{_APART}(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{{16,}}",
        "k_live_",
        "k_test_",
        "whsec_",
    ),
    _shape("npm token", rf"{_APART}npm_[A-Za-z0-9]{{36}}{_OVER}", "npm_"),
    _shape("pypi token", rf"{_APART}pypi-[A-Za-z0-9_-]{{50,}}", "pypi-"),
    _shape("hugging face token", rf"{_APART}hf_[A-Za-z0-9]{{30,}}", "hf_"),
    _shape("groq key", rf"{_APART}gsk_[A-Za-z0-9]{{40,}}", "gsk_"),
    _shape("xai key", rf"{_APART}xai-[A-Za-z0-9]{{40,}}", "xai-"),
    _shape("sendgrid key", rf"{_APART}SG\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9_-]{{16,}}", "SG."),
    _shape("telegram token", rf"{_APART}\d{{8,10}}:AA[A-Za-z0-9_-]{{32,}}", ":AA"),
    _shape("digitalocean token", rf"{_APART}do[opr]_v1_[a-f0-9]{{64}}", "_v1_"),
    _shape("databricks token", rf"{_APART}dapi[a-f0-9]{{32}}", "dapi"),
    _shape(
        "shopify token",
        rf"{_APART}shp(?:at|ca|pa|ss)_[a-fA-F0-9]{{32}}",
        "shpat_",
        "shpca_",
        "shppa_",
        "shpss_",
    ),
    _shape("docker token", rf"{_APART}dckr_pat_[A-Za-z0-9_-]{{20,}}", "dckr_pat_"),
    _shape("linear key", rf"{_APART}lin_api_[A-Za-z0-9]{{32,}}", "lin_api_"),
    _shape(
        "json web token",
        rf"{_APART}eyJ[A-Za-z0-9_-]{{8,}}\.eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}}",
        "eyJ",
    ),
)
