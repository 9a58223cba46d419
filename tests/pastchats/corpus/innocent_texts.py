"""Texts without a secret that look as if they had one: what a redaction must leave as it is.

Kinds are headings, texts stand in lines and between bars (``\\n`` is a line break); parts are drawn as in
``true_secrets.py``.
"""

from collections.abc import Iterator
from random import Random
from typing import Final

from tests.pastchats.corpus.true_secrets import drawn

INNOCENT: Final = r"""
# hashes
commit {h40} fixes the race in the pool ¦ git cherry-pick {h40} {h40} ¦ index {h7}..{h7} 100644
HEAD is now at {h9} Retry after five seconds ¦ sha256:{h64} ¦ image: registry.test/shop@sha256:{h64}
"integrity": "sha512-{b86}==", ¦ github.com/pkg/errors v0.9.1 h1:{b43}= ¦ hash = "sha256-{b43}=";
md5sum: {h32}  backup.tar.gz ¦ etag: W/"{h32}"
The tree hash of the build is {h64}, and the key of the cache starts with it.
SHA256:{b43} mei@laptop (ED25519) ¦ Fingerprint: {h2}:{h2}:{h2}:{h2}:{h2}:{h2}:{h2}:{h2}
files.packages.example/packages/{h2}/{h2}/{h60}/attrs-25.1.0-py3-none-any.whl
cache hit for key deps-linux-{h64} ¦ checksum = "{h64}"
"resolved": "https://registry.packages.example/left-pad/-/left-pad-1.3.0.tgz#{h40}" ¦ bafybeig{l52}
0x{h40} is the address of the contract, 0x{h64} the transaction
# ids
request id {uuid} took 3 s ¦ token: {uuid} ¦ session_id={uuid} ¦ "sessionId":"{uuid}","uuid":"{uuid}"
conversation {uuid} of project {uuid} ¦ Idempotency-Key: {uuid} ¦ trace_id={h32} span_id={h16}
traceparent: 00-{h32}-{h16}-01 ¦ x-request-id: {h32} ¦ toolu_01{a22} ¦ "id":"msg_01{a22}"
"id": "chatcmpl-{a29}" ¦ call_{a24} returned nothing ¦ cus_{a14} paid pi_3{a23} for price_1{a23}
pk_live_{a24} is the publishable key, it may be in the page
arn:aws:iam::123456789012:role/ShopDeployRole-{u12} ¦ i-0{h16} and vpc-0{h16}
https://docs.google.com/document/d/1{w43}/edit ¦ https://www.youtube.com/watch?v={w11}
https://www.figma.com/file/{a22}/Design-system?node-id=12%3A40 ¦ https://github.com/org/repo/commit/{h40}
pod/api-7d9f8b6c5d-x2x9z restarted twice ¦ 01ARZ3NDEKTSV4RRFFQ69G5FAV is a ULID
{h24} is the ObjectId of the order ¦ run_{a24} in thread_{a24} ¦ projects/shop-{d6}/locations/eu/keyRings/main
C0{u9} is the channel, U0{u9} the person ¦ user:{d18}:profile:v2 ¦ {uuid}.jsonl
# examples
export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
OPENAI_API_KEY=sk-your-key-goes-in-here-1234 ¦ OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx1
GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ¦ token = "ghp_1234567890abcdefghijklmnopqrstuvwxyz"
api_key = "<your-api-key-1>" ¦ api_key: YOUR_API_KEY_2 ¦ password=changeme123 ¦ password: "example-Passw0rd"
postgres:postgres@localhost is the default of the image
DATABASE_URL=postgres://postgres:postgres@localhost:5432/app ¦ mysql://root:root@127.0.0.1/test
amqp://guest:guest@localhost:5672/ ¦ mongodb://user:password@host/db ¦ redis://:password@localhost:6379/0
https://user:pass@example.com/path ¦ curl -u admin:admin http://localhost:9000
curl -u user:password https://api.test ¦ mysql -u root -ppassword shop ¦ Authorization: Bearer <token>
Authorization: Bearer YOUR_ACCESS_TOKEN_HERE_1 ¦ Authorization: Basic $(echo -n user:pass | base64)
sk-ant-... is how the keys begin ¦ AIza... and ghp_... are what to look for
set it to sk-1234567890abcdef1234567890abcdef ¦ slack: xoxb-your-bot-token-000
-----BEGIN PRIVATE KEY----- is the first line of such a file
-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY----- ¦ secret: ${SECRET_1}
password: ${{ secrets.DB_PASSWORD_1 }} ¦ {{ vault_db_password_2 }} ¦ TOKEN=%GITHUB_TOKEN_1%
# code
password: str | None = None ¦ password: string; token: string; secret?: string
def check_password(password: str, hashed: bytes) -> bool:
const token = await fetchToken(2); secret = os.environ['SECRET_1'] ¦ token = request.headers["X-Auth-Token-2"]
api_key = os.getenv("OPENAI_API_KEY_2") ¦ const apiKey = process.env.API_KEY_1 ?? config.apiKey;
self._token = token_from(path, 3) ¦ token_count = tokenizer.encode(text_2).length
max_tokens: 4096, total_tokens=128000, token_budget=16384 ¦ password = settings.database.password_v2
if token == Token.LEFT_PAREN2: return parse_expression_3() ¦ secret_key_ref: {name: shop, key: db-password-1}
secretKeyRef:\n  name: shop-db-1\n  key: password ¦ passwordInput.addEventListener('input2', validatePassword)
this.passwordStrengthMeter2 = new PasswordStrengthMeter2() ¦ assert redact("password=hunter2") != text
TOKEN_PATTERN_2 = re.compile(r"[A-Z0-9]{20}") ¦ api_key: str = Field(min_length=32, max_length=64)
type TokenKind = 'identifier_1' | 'number_2' ¦ private_key_path = "/etc/ssl/private/shop-2026.pem"
access_key_id_header = "X-Amz-Access-Key-Id-2" ¦ csrf_token: "{% csrf_token %}"
secret_name = f"projects/{project}/secrets/db-password-1/versions/3"
for token in tokens[1:]: yield token.lower()
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased-v2")
cache_key = "user_profile_by_id_and_locale_v2_2026" ¦ primary_key = "order_2026_customer_0042_item_7"
sort_key: created_at_2026_11_23_desc_nulls_last ¦ public_key = "{h64}" ¦ partition_key="{uuid}"
foreign_key=True, primary_key=False ¦ keyboard_key: "ctrl+shift+alt+F12"
<input type="password" name="password1" autocomplete="new-password"> ¦ <meta name="csrf-token" content="">
.sk-fading-circle-of-a-spinner .sk-circle10:before { animation-delay: -0.3s }
class="sk-cube-grid-animation-delay-2s" ¦ re_match_all_groups_and_names_2_times(text)
hf_hub_download_with_retries_and_resume(path, 2) ¦ npm_config_registry_and_cache_folder_of_ci2=...
secret_sharing_scheme_of_shamir_over_gf256(parts) ¦ s.getResourceAsStreamOrNull2(name)
token.value.toString().padStart(32, "0") ¦ def test_a_token_that_expired_is_refused_with_401() -> None:
let sessionStorageKeyForUserPreferencesV2 = "prefs" ¦ glpat is the prefix and {20} the length
SKShapeNodeWithPhysicsBody2D.addChild
# configuration and logs
POSTGRES_PASSWORD_FILE=/run/secrets/postgres_password_1 ¦ --password-stdin < ~/.docker/token-1
docker run -p 3306:3306 -e MYSQL_DATABASE=shop2 mysql:8.0 ¦ docker login -u mei --password-stdin registry.test
mysql -h db -u shop -p shop_2026 < dump.sql ¦ mysqldump --port 3307 --protocol=tcp shop
ssh -p 2222 deploy@10.0.0.4 ¦ redis-cli -h cache -p 6379 info ¦ Token 17 of 4096, 0.3 s per token
prompt_tokens=1834 completion_tokens=512 cached_tokens=1024
[2026-11-23T10:00:00Z] INFO auth: password reset mail sent to user 4711
password_policy: min_length=12,upper=1,digit=1 ¦ WARN token expired 2026-11-23T09:59:58Z, refreshing
auth: token-exchange enabled, audience=api2 ¦ Cookie: theme=dark; lang=zh-CN; _ga=GA1.2.1234567.8901234
Set-Cookie: lang=en; Path=/; Max-Age=31536000; SameSite=Lax ¦ session=open duration=00:12:44 turns=17
sessions/2026/11/23/rollout-2026-11-23T10-00-00-{uuid}.jsonl ¦ key: linux-x64-node20-{h40}
signing key id {u16} expires in 2027 ¦ kid: "2026-11-key-of-the-issuer"
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} mei@laptop
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC{b300} mei@laptop
-----BEGIN CERTIFICATE-----\n{b64}\n{b64}\n-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----\n{b64}\n{b60}\n-----END PUBLIC KEY-----
-----BEGIN PGP SIGNATURE-----\n\n{b64}\n{b60}\n-----END PGP SIGNATURE-----
Content-Security-Policy: script-src 'nonce-{a22}' ¦ Sec-WebSocket-Accept: {b27}=
"kty":"EC","crv":"P-256","x":"{w43}","y":"{w43}" ¦ secrets redacted: 3
ERROR 1045 (28000): Access denied for user 'shop'@'10.0.0.4' (using password: YES)
npm ERR! code E401 Incorrect or missing password. ¦ git push origin feature/rotate-api-key-2026
Bearer authentication2026 is what the header wants
# base64 and binary
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ{b120} ¦ data:image/png;base64,{b400}
![logo](data:image/svg+xml;base64,PHN2ZyB4bWxucz0i{b200}) ¦ data:font/woff2;base64,d09GMgABAAAAA{b300}
"image": {"data": "/9j/4AAQSkZJRgABAQ{b260}"}
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpb{b150}
{b76}\n{b76}\n{b76}\n{b30}== ¦ "encrypted_content":"gAAAA{w200}" ¦ "signature":"Er{b300}"
cursor=eyJvZmZzZXQiOjQwfQ== ¦ next_page: {b48} ¦ 00000000: 7f45 4c46 0201 0100 0000 0000 0000 0000
\x7fELF\x02\x01\x01 and 4c 8b 05 2f 11 20 00 ¦ UEsDBBQAAAAIA{b150}
# prose
The secret to good retries is jitter; passwords expire after 90 days.
The password is base64-encoded and then hashed with sha256.
The password is required2 when the account has no passkey. ¦ the token is 16-byte random, hex-encoded
the secret is 32-byte long at least ¦ the token is JWT-based, signed with RS256
an api key is rate-limited to 60/min ¦ The passphrase is case-sensitive, and 12-characters long at least.
The token was revoked at 2026-11-23T10:00:00Z by an admin.
I forgot my password again, the reset link is at https://id.test/reset?step=2
Use a password manager; 4-word passphrases are fine. ¦ What does the token bucket of 100/s do when 200 come?
My key takeaways: 1) cache, 2) retry, 3) log. ¦ He said the secret is out: v2.0.1 ships on Friday.
password-less login with WebAuthn level-3 ¦ Is there a secret? No: it is public since RFC-7519.
Set the password in 1Password, then run step-2. ¦ Every token costs 0.000003 dollars at 4o-mini.
Basic authentication over TLS1.3 is fine here. ¦ 怎么重置密码？密码是什么规则 ¦ 密码是必填的，长度8到64位
令牌过期后用refresh_token换新的 ¦ 口令：见附件第2页 ¦ 这个 token 是16字节的随机数 ¦ 密钥为空时报错 E1001
パスワードは8文字以上にしてください ¦ Das Passwort ist mindestens 12 Zeichen lang (siehe §3).
El token caduca a las 24h, la contraseña a los 90 días.
"""


def innocent_texts(seed: int = 20) -> list[tuple[str, str]]:
    """Return kind and text of each; another *seed* draws other hashes, ids and pictures."""
    return list(_texts(Random(seed)))


def _texts(chance: Random) -> Iterator[tuple[str, str]]:
    kind = ""
    for line in INNOCENT.strip().splitlines():
        if line.startswith("# "):
            kind = line[2:]
        else:
            for text in line.split(" ¦ "):
                yield kind, drawn(text.replace("\\n", "\n"), chance)
