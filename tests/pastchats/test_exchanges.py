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


def hit(found: Prompt, similarity: float | None = None) -> PromptHit:
    return PromptHit(prompt=found, score=1.0, signals=PromptSignals(), similarity=similarity)


def chat(*lines: str) -> list[Prompt]:
    """Return the turns of lines such as ``u: How?``."""
    return [prompt(number, LETTERS[line[0]], line[3:]) for number, line in enumerate(lines)]


def exchange(turns: list[Prompt], found: int) -> Exchange:
    return exchange_of(hit(turns[found]), turns)


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
that doesn't compile | Nope, still 500 | I'm still seeing the same thing | same result
didn't do anything | it's not working | this is not what I asked for | you broke the login page
the tests are failing now | CI is red | it's worse now | now I get a TypeError | still stuck at loading
it hangs forever | hmm that gives me an infinite loop | No, that's not it | the bug is still there
nothing changed | this makes it slower | not working for me on windows
It's still happening after a restart | the container keeps restarting | I get "permission denied" now
that solution is wrong | your fix introduced a regression | this doesn't solve the problem
Unfortunately it failed again | it failed with exit code 1 | build failed
tried that already, no difference | that's not right, the output should be 5 | again the same exception
没有用 | 还是一样的错误 | 还是不行啊 | 又崩溃了 | 改完更慢了 | 这个方法不对 | 没解决 | 跑不起来
问题依旧 | 依然报同样的错 | 编译失败了 | 测试没通过 | 不是我想要的 | 改坏了，登录页打不开了
页面还是空白 | 还在报 404 | That breaks the build | still no luck | the error persists | it won't start
I still can't log in | doesn't seem to help | that's worse | Same issue here
Now the whole page is white | getting a 403 now | your answer is incorrect
it freezes when I click save | no, the second one is still wrong | the query returns nothing now
Wrong file | that was not the problem | it is still slow | the fix doesn't apply cleanly
didn't compile | you forgot the import, it fails | it's still red | This doesn't do what I want
the output is still empty | Not fixed | the issue came back | ugh, again | it only works the first time
now two other tests fail | the change had no effect | I ran it and it crashed | 还是老样子 | 没变化
不好使 | 还是慢 | 结果不对 | 报同样的错 | 又不行了 | 现在直接打不开了 | 好像没生效 | 你这个改法有问题
还是有 bug | 运行后卡死了 | 这次直接白屏了 | 仍旧失败 | 没有任何改善 | 刚试了，还是连不上
it doesn't work on my machine | still the same error as before | nope, it's still broken
The error is still there. | that doesn't fix it | it still crashes when I open the settings
tests fail with a timeout | now the tests hang | I still get the warning | the build is broken again
hmm, didn't help | this is wrong, it should be sorted by date | No, you misunderstood me
not what I meant | the fix made things worse | it fails on the second run | that caused a new error
the app won't start anymore | still nothing | 还是会报错 | 又出问题了 | 依然没有解决 | 还是打不开
运行报错了 | 这样写不行 | 结果不正确 | 改了之后更卡了 | Hm, no. The header is still misaligned.
That crashed my dev server | it's doing the same as before | nothing is rendered
the button does nothing | this is still broken on Safari | no good | it won't compile | I get a segfault
still getting the warning | it stopped working after a minute | the page no longer loads
that's incorrect | it times out on CI | 运行还是出错 | 你改的地方不对 | 按钮点了没反应
还是连接不上数据库 | 试了不行 | 又变回去了 | 结果还是错的 | 并没有修好 | 仍然复现 | 样式全乱了
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
works now, thanks! | perfect, it works | Great, all tests pass now | awesome that did the trick
yes that solved it | thank you, problem solved | that was the issue, thanks | nice, it compiles now
looks good now | ok it's fixed | it runs without errors now | CI is green | deployed and working
you were right, it was the cache | yep that was it | good, merge it | LGTM | Excellent work
finally! it works | that worked | 好了，谢谢 | 搞定了 | 解决了，多谢 | 这次对了 | 测试全过了 | 跑通了
现在正常了 | 果然是缓存的问题 | 已经好了 | 速度快多了 | 成功了 | 太棒了，能用了
That resolved the issue | yes, works | it passes now | ok that works | sweet, it's working
cool, thanks, works fine | the crash is gone | no more warnings | solved! | great, fixed
it finally works | it worked, thank you | that's exactly what I needed | builds fine now | all green
Nice, that speeds it up a lot | the login works again | done, it's deployed and everything works
problem gone | brilliant, thanks | 亲测可用 | 好使了 | 可以用了 | 这次可以了 | 解决了我的问题 | 全绿了
终于好了 | 没再报错 | ok，通过了 | 编译过了 | 效果很好 | 性能提升明显 | 没毛病 | 谢谢，就是这个问题
It works! | thanks, it's fixed | that did it, thank you so much | Great, it works perfectly
yes this works | all tests are passing now | it's fast now | no errors anymore | ok, solved
cool, the page loads now | perfect! | that fixed the problem | great job | it's all working, thanks
looks great | good, it's solved | 能跑了 | 可以了，感谢 | 测试都通过了 | 解决啦 | 没有报错了 | 已解决
效果不错 | 成了 | 正常工作了 | ok it's working again | yes! fixed | Tested on staging, all good
that's it, thanks | good job, the tests pass | the upload finishes now | I can log in again
nice catch, that was the bug | Thanks, exactly right | that does it | finally green
problem solved, closing | confirmed working | great success | looks perfect
that unblocked me, thank you | 试了一下，没问题 | 完全正常 | 已经可以登录了 | 修好了，感谢 | 真的快了
没再复现 | 问题消失了 | 确认修复 | 测试通过 | 跑起来了
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
login fails with SSO | the upload fails with 413 | What if nothing happens for 10 minutes? | Remove the code that is missing tests
The function returns the wrong type for None. Change the signature. | Can we compile it for ARM?
now add the missing tests | Is the bug gone in 3.12? | make the build green | 用户越来越多，怎么扩容？
请求失败时显示空白页 | 任务挂了之后要自动重启 | 页面变空白时要上报 | 直接挂载这个目录 | 查一下为什么启动失败
编译失败的时候发通知 | 都通过之后再合并 | 这个问题解决的思路是什么 | 成功之后跳转到首页 | 如果没有问题就合并
登录失败三次后锁定账号 | 现在能不能支持导出？ | 又要支持 PostgreSQL 又要支持 SQLite | 还是改成同步的吧
不管用哪个库都行 | 没有反应式框架，就用原生的 | 为什么不对外开放这个接口 | 好了之后告诉我
可以了解一下这个库吗
nice try, but the app won't start | thanks for trying, the build is red
Perfect, except that every test is red now | Great! But the header is missing | If nothing works, call me
nothing works without a token, so ask for one | 谢谢，但是服务器一直崩溃 | 完美，除了登录页面全红了 | 太好了，可是页面打不开
Can you also add a test? | now write the documentation | what does this function do?
let's move on to the next task | should it work on windows? | why does it fail when the input is empty?
add error handling for failed requests | make sure it doesn't crash
how would I fix a broken pipe error? | rename the variable to result | I want it to work offline
does this work with postgres? | please explain the error
refactor the failing test helper into a fixture | use the working directory | show me the diff
what happens if it times out? | it should fail with a clear message | write a test that fails first
I think the approach is fine but let's use redis | yes please | add a retry when the upload fails
接下来写文档 | 为什么会报错？ | 如果失败了怎么办 | 帮我加个测试 | 需要保证不会崩溃 | 这个函数是做什么的
换成 redis 吧 | 好的 | 先不管这个，看看别的 | 能不能支持离线 | 错误信息改成中文 | 把失败的请求重试三次
写一个会失败的测试 | 没有测试的代码不要提交 | Could this break the build?
add a check that the query returns nothing for guests | how do I make it start faster
remove the error handler | What does the failing line do? | Let's write a regression test for this
why is the build slow on CI | we should avoid blocking the loop
The service must not crash on bad input | check whether the login works with SSO | which one is better?
what about mobile? | it should be red when invalid | if the output is empty, print a hint
I'd like it to be slower on purpose | update the changelog | move this into its own file
the new design is in figma | Now do the same for orders | same thing for the users table
do the same with the result | please make the button red
the user can't log in without a password, add a reset flow | keep it simple
works councils need a report | my tests folder is called specs | explain why this works
next: pagination | what's the difference between the two? | no change to the public API please
把按钮改成红色 | 这个怎么部署 | 登录失败要提示 | 给它加个缓存 | 不要改测试 | 同样的方式改订单页
结果不对的时候给出提示 | 性能怎么样 | 这样写有什么好处 | 打不开的文件跳过 | 不通过的用例列出来
没有变化就不写文件 | 可以用 redis 吗 | 先这样吧，下一步 | what if it doesn't work on my machine?
add a test for the error case | which tests fail? | please sort it by date | is it fast enough?
Can you fix the warning as well? | next step: the settings page | open the settings with ctrl+,
what does the timeout do | I'd like to see the tests | let's fix the build script later
write a function that compiles a regex | is the problem in the parser?
I need a page that loads quickly | start the app in the background | have a look at the error handling
the job is to parse files | works by Shakespeare: list them | perfect hashing, explain it
sorted by date, newest first | 测试要怎么写 | 报错信息翻译成英文 | 页面打开的速度能优化吗
解决方案有哪些 | 正常情况下返回什么 | 这样写行吗 | 结果按日期排序 | 帮我改一下 | 可以的话加个缓存
问题描述写清楚一点 | make it work with python 3.9 | fix the warning too
The upload should resume after a crash | the header should say Orders | add a column for the status
what does 401 mean here | can the button be disabled while loading | should we handle out of memory?
please check the types | the customer complains about slow pages, profile it
how does the cache get invalidated | delete my config file | remove the flag
Add a flag to skip the migration | I want no such thing in the logs
the second test should use a fixture | explain the regex | which migration fails first?
so the timeout is per request? | is that the right token? | where is the count computed
when does it stop working? | let me know when it's green | if it works, push it
thanks in advance for the docs | good idea, do that | great question, let me think
perfect number checker: write one | set the page title | it's time to release | use exact matching
the type checker should run in CI | I no longer need the old page | make the log no longer noisy
接口返回 500 时要重试 | 样式参考首页 | 登录成功之后跳转 | 找不到模块时给出安装提示
把修复写进 changelog | 点击按钮没反应时显示 loading | 内存占用怎么统计 | 帮我写个复现步骤
完全不用考虑兼容性 | 跑起来之后把日志发我 | 不存在的命令要提示 | 是不是应该加锁
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
