"""From a turn that was found to what was asked, what was answered, and what came of it."""

from typing import Any

from attrs import evolve

from chatmemory.input.choices import Role
from chatmemory.pastchats.finding.exchanges import exchange_of, merged
from chatmemory.pastchats.finding.prompt_hits import Exchange, PromptHit, PromptSignals
from chatmemory.pastchats.finding.recall_block import BETWEEN, telling
from chatmemory.pastchats.finding.verdicts import verdict
from chatmemory.pastchats.prompt import Prompt
from tests.for_each import for_each

Told = tuple[str | None, list[str], list[tuple[list[str], str]]]
LETTERS: dict[str, Role] = {"u": "user", "a": "assistant", "s": "summary"}


def prompt(number: int, role: Role, content: str) -> Prompt:
    where: Any = {"source": "/h/s.jsonl", "project": "shop", "format": "claude_code", "session": ""}
    ids: Any = {"conversation_id": "claude_code:s", "turn_index": number, "text_hash": str(number)}
    said: Any = {"role": role, "kind": "typed", "speaker": None, "content": content, "timestamp": None}
    return Prompt(id=number + 1, **where, **ids, **said, metadata={})


def chat(*lines: str) -> list[Prompt]:
    """Return the turns of lines such as ``u: How?``."""
    return [prompt(number, LETTERS[line[0]], line[3:]) for number, line in enumerate(lines)]


def exchange(turns: list[Prompt], found: int) -> Exchange:
    return exchange_of(PromptHit(prompt=turns[found], score=1.0, signals=PromptSignals()), turns)


def told(one: Exchange) -> Told:
    """Return the question, what worked, and each attempt that failed with what was said of it."""
    failures = [([turn.content for turn in each.tried], each.report.content) for each in one.failures]
    return one.question and one.question.content, [turn.content for turn in one.worked], failures


RETRY = "u: Retry? / a: Five times? / u: What happens if it fails? / a: It is logged."
SOCKETS = "u: Sockets close / a: Ping. / u: no change"
BACK = ["自动识别编码，还是让用户选？", "先看 BOM，再试 UTF-8。"]
HELP = [(["Ping."], "no change"), (["Buffering off."], "that didn't help")]
# The turns, which of them were found, and what is told.
EXCHANGES: list[tuple[str, list[int], Told]] = [
    # A question and its answer belong together, and so do all turns of an answer.
    ("u: Retry? / a: With backoff. / u: Next: the docs", [0, 1], ("Retry?", ["With backoff."], [])),
    (
        "u: 加上重试 / a: 我先看。 / a: 好了。 / u: 写文档",
        [0, 1, 2],
        ("加上重试", ["我先看。", "好了。"], []),
    ),
    # Every attempt that failed is told.
    (f"{SOCKETS} / a: Buffering off. / u: that didn't help", [0, 1, 2, 3, 4], ("Sockets close", [], HELP)),
    # Who answers what was asked back asks nothing new.
    (f"u: 乱码 / a: {BACK[0]} / u: 自动识别吧 / a: {BACK[1]}", [0, 1, 2, 3], ("乱码", BACK, [])),
    # Another question is no complaint and no choice.
    (RETRY, [0], ("Retry?", ["Five times?"], [])),
    (RETRY, [3], ("What happens if it fails?", ["It is logged."], [])),
    # What was found behind a complaint is told in its place.
    (
        f"{SOCKETS} / u: It says ECONNRESET. / a: Buffering off.",
        [3],
        ("Sockets close", ["Buffering off."], [(["Ping."], "It says ECONNRESET.")]),
    ),
    # What is no answer stands for itself.
    ("s: Earlier: retries.", [0], (None, [], [])),
    ("a: Hello.", [0], (None, ["Hello."], [])),
    ("u: Anybody?", [0], ("Anybody?", [], [])),
]


@for_each(("lines", "found", "expected"), EXCHANGES)
def test_an_exchange_is_what_was_asked_and_came_of_it(lines: str, found: list[int], expected: Told) -> None:
    turns = chat(*lines.split(" / "))
    assert [told(exchange(turns, number)) for number in found] == [expected] * len(found)


def test_after_a_failure_the_later_answer_is_what_worked_and_what_follows_thanks_is_a_new_question() -> None:
    turns = chat("u: 数据库被锁了", "a: 重启一下。", "u: 还是报错", "a: 开启 WAL。", "u: 好了，谢谢")
    for found in range(5):
        one = exchange(turns, found)
        assert told(one) == ("数据库被锁了", ["开启 WAL。"], [(["重启一下。"], "还是报错")])
        assert one.confirmation == turns[4]
    turns = chat("u: How do we retry?", "a: With backoff.", "u: Thanks!", "u: Now deploy it.", "a: By Helm.")
    for found in (3, 4):
        assert told(exchange(turns, found)) == ("Now deploy it.", ["By Helm."], [])
    assert exchange(turns, 0).confirmation == turns[2]


def test_a_thought_that_was_added_belongs_to_the_question_and_what_a_tool_put_between_to_nobody() -> None:
    turns = chat("u: How do we retry?", "u: Webhooks, I mean.", "a: With backoff.")
    for found in range(3):
        one = exchange(turns, found)
        assert one.asked == tuple(turns[:2])
        assert one.question == turns[found == 1]  # the text of the source that is named
        assert one.worked == (turns[2],)
    turns = chat("u: Retry?", "a: With backoff.", "u: /compact", "a: Five times at most.")
    turns[2] = evolve(turns[2], kind="command")
    assert told(exchange(turns, 0)) == ("Retry?", ["With backoff.", "Five times at most."], [])


def test_several_hits_of_one_exchange_are_one() -> None:
    two = chat("u: Retry?", "a: With backoff.", "u: Queue?", "a: Redis.")
    hits = [exchange(two, found) for found in (1, 3, 0, 2)]
    assert merged(hits) == (hits[0], hits[1])
    in_a_row = chat("u: How do we retry?", "u: Webhooks, I mean.", "a: With backoff.")
    hits = [exchange(in_a_row, found) for found in (1, 0, 2)]
    assert merged(hits) == (hits[0],)


FIX = "The transaction begins deferred and cannot upgrade its lock: BEGIN IMMEDIATE, and WAL."
DONE = "With eight writers for thirty seconds there were 0 errors; before there were 212."


def test_what_was_only_announced_is_left_out_unless_there_is_nothing_else() -> None:
    turns = chat(
        "a: I'll look at the connection code first, then at the tests.",
        f"a: {FIX}",
        "a: Good. Now let me run the writers against it:",
        f"a: {DONE}",
        "a: Done.",
    )
    assert telling(turns, 1_000) == FIX + BETWEEN + DONE

    fixed, tested = "事务改成 BEGIN IMMEDIATE。", "零个错误。"
    chinese = chat("a: 我先看一下连接的代码。", f"a: {fixed}", "a: 接下来我来跑测试", f"a: {tested}")
    assert telling(chinese, 1_000) == fixed + BETWEEN + tested
    last = "I'll read the tests now."
    assert telling(chat("a: Let me look.", f"a: {last}"), 1_000) == last
    text = "Let me sum up.\n- BEGIN IMMEDIATE\n- WAL"
    assert telling(chat(f"a: {text}", f"a: {DONE}"), 1_000) == text + BETWEEN + DONE


def test_the_conclusion_comes_before_what_was_found_and_that_before_the_rest() -> None:
    turns = chat("a: " + "Long. " * 40, f"a: {FIX}", f"a: {DONE}")
    assert telling(turns, len(FIX + BETWEEN + DONE), found=turns[1]) == FIX + BETWEEN + DONE
    assert telling(turns, len(DONE), found=turns[1]) == DONE
    shown = telling(turns, 200)
    assert shown.startswith("Long. Long.")
    assert shown.endswith(DONE)
    assert len(shown) <= 200


# Texts stand between bars and in lines of their own; ``\n`` is a line break.
FAILED = r"""
That didn't work | that didn’t work. | still failing | No, use the other table | no that is wrong
it still doesn't compile | Now I get a TypeError | I'm getting the same error | same error
the tests still fail | doesn't work | It crashes on startup | that's not what I asked for | revert that
undo the last change | you broke the login | 不对，应该用事务 | 还是报错 | 不行 | 没用，还是一样 | 又报错了
没有解决 | 结果报错：x | Traceback (most recent call last):\n  File | error[E0382]: borrow of moved value
thanks, but it still fails | Hmm, no, that is wrong | The build is still red | it fails with a timeout
after your change it times out | 运行不了 | 这个方法不行 | 你写错了 | /undo | wrong, the port is 8080
Great, but now I get another error | it worked yesterday but now it fails | 我试了，还是不行
Why does it still fail? | nope. same problem | That isn't working
<user_query>\nno, that is wrong\n</user_query> | no change, still closed after 60 s | We rolled it back
I had to revert that | it made things slower | Still 4 seconds | 没效果，先回滚了 | 上线后又有人投诉
先试了，果然都搜不到，用户投诉，已经回滚。 | 仍然超时 | 安全组不同意，换个办法。 | 服务还是启动不了
it's throwing a KeyError now | this gives me 'module not found' | Unfortunately that doesn't solve it
hmm the spinner is still there | nope | the page is blank after this change
that's not it, the header is missing | now the build fails with exit code 2 | I tried it and nothing happens
the test is still red | Now login is broken | didn't fix the leak | that made the test suite hang
it compiles but panics at runtime | you removed the wrong function | 改完之后启动不了了 | 还是同样的报错
这样不行，会丢数据 | 没反应 | 页面变成空白了 | 不是这个问题 | 越改越慢了 | 编译报错：找不到符号
试过了，不管用 | 又崩了 | 你改错文件了 | 依然是乱码 | 测试还是挂 | 上线之后出问题了，回滚了
Great, now nothing works. | Great, now the page is completely blank | great, now it crashes | 太好了，现在又崩了
"""
WORKED = r"""
works now | it works! | thanks, that fixed it | Perfect | great, thanks | that did it | all tests pass now
no more errors | it no longer fails | 好了 | 可以了，谢谢 | 解决了 | 搞定 | 不报错了 | 没问题了 | 谢谢，完美
It's working now | That worked. Now add a test for it. | uploaded in 6 minutes, thank you
three days without a single locked error. good catch | Ran it last night, longest lock was 40 ms. Perfect.
可以，上线吧 | 快多了 | 顺序对了，没有再出现 | 客户的文件都能导入了 | Confirmed, the leak is gone
That solved it | tests are green | it builds now | works like a charm | yes that was it!
Deployed, no errors since yesterday | much faster now, thanks | fixed, you can close it | 可以了
测试都过了 | 果然是这个原因，改好了 | 部署成功，没有问题 | 太棒了 | 好用，谢谢 | 问题解决 | 已经正常了
这下快了很多 | 不卡了 | OK 了
Perfect, thanks! One more thing: now log it, but not the body | 太棒了，不但快了，而且省内存 | Works now, but slow
Perfect, the test fails without the fix | Great, now add a test that fails | Thanks! But please also add a test for it
Perfect, now the error is gone | Great, now the queue is empty | Perfect! but can you also rename the variable?
完美，但是能不能再加个测试？ | 完美解决，可是有点慢 | 太棒了，除了颜色都对 | 太好了！不过还有个小问题
"""
NEITHER = r"""
What should happen when it fails? | If the job fails, retry it | No problem | no worries, take your time
How do I handle an error 500? | add error handling | write a test that fails
Can you make sure it doesn't fail? | 对不对？ | 行不行？ | 如果报错怎么办 | 现在加一个测试 | 怎么修复这个？
Should it work on Windows? | 好了吗？ | What if this doesn't work? | explain why the error occurs
The user gets an error page; design it | still, add docs | Let's add a new error type
Add another exception for timeouts | 还是用事务吧 | 还没好了吗 | 不对称加密怎么用
Use the same error type as in the parser | nobody uses it | north of the border | Noted.
Is it still the same in version 3? | make sure it runs without any error
we roll back the transaction when the check fails, add that | 如何回滚一次发布？ | 用户投诉怎么处理
对了，另外加一个测试 | 换行符怎么处理 | 现在能不能加一个开关？ | it takes 4 seconds, can we cache it?
Now write the migration | Can you also handle the case when the file does not exist?
Why did it fail in the first place? | Please fix the failing tests
There is a bug: the total is wrong when the cart is empty
Next, the login page shows an error for expired tokens. Fix it. | Explain how retries work
What does error 1006 mean? | Let's switch to pnpm | use tabs not spaces | yes | go ahead | b | continue
how do I undo the last commit? | rename it to OrderStatus
What happens when two workers claim the same row? | run the tests again | commit and push
also update the docs | Is this safe under load? | don't touch the lockfile
add a test that fails without the fix | I don't understand the second step
No need for a class, a function is enough | 继续 | 接下来做登录页面 | 为什么会失败？ | 如果网络不通会怎样？
帮我看看这个报错是什么意思 | 失败的时候要重试三次 | 加上错误处理 | 换成 pnpm | 解释一下第二步
能不能不用类？ | 不用改测试 | 没有权限的用户看不到这个按钮，帮我实现 | 这个函数太长了，拆一下
把“不对”改成“错误” | 回滚脚本也写一个 | 用户投诉的页面在哪个文件 | 导入不了大于 1G 的文件时给出提示
The cart is empty after checkout, is that intended? | Show a message when the list is empty
Nothing else to do here, move to the next ticket | Add a spinner while it loads
The app crashes on startup when the config is missing. Find out why. | Make it faster
Write a script that deletes the wrong entries | If it runs fine locally, deploy it
Use a wrapper which throws on error | We need to know when a node is down
Our users see a blank page when JS is disabled, add noscript | Add logging so that we see why it fails
What if nothing happens for 10 minutes? | Remove the code that is missing tests
The function returns the wrong type for None. Change the signature. | Can we compile it for ARM?
now add the missing tests | Is the bug gone in 3.12? | make the build green | 用户越来越多，怎么扩容？
请求失败时显示空白页 | 任务挂了之后要自动重启 | 页面变空白时要上报 | 直接挂载这个目录 | 查一下为什么启动失败
编译失败的时候发通知 | 都通过之后再合并 | 这个问题解决的思路是什么 | 成功之后跳转到首页 | 如果没有问题就合并
登录失败三次后锁定账号 | 现在能不能支持导出？ | 又要支持 PostgreSQL 又要支持 SQLite | 还是改成同步的吧
不管用哪个库都行 | 没有反应式框架，就用原生的 | 为什么不对外开放这个接口 | 好了之后告诉我
可以了解一下这个库吗
nice try, but the app won't start | Thanks, but the server keeps crashing | thanks for trying, the build is red
Perfect, except that every test is red now | Great! But the header is missing | If nothing works, call me
nothing works without a token, so ask for one | 谢谢，但是服务器一直崩溃 | 完美，除了登录页面全红了 | 太好了，可是页面打不开
"""


def judged(texts: str) -> dict[str, str | None]:
    every = [text.strip().replace("\\n", "\n") for text in texts.strip().replace("\n", "|").split("|")]
    return {text: verdict(text) for text in every}


def test_failures_and_successes_are_seen_and_nothing_else_is_claimed() -> None:
    for texts, expected in ((FAILED, "failed"), (WORKED, "worked"), (NEITHER, None)):
        assert {text: found for text, found in judged(texts).items() if found != expected} == {}
    assert verdict("no, leave it as it is", answer="Shall I push the branch?") is None
    assert verdict("no, that is wrong", answer="The port is 80.") == "failed"
    assert verdict("Next: " + "write the docs. " * 100 + "It still fails.") is None
