"""Whether what a person says next shows that an answer worked, or that it failed; most turns show neither."""

import pytest

from chatmemory.pastchats.verdicts import verdict

FAILED = [
    "That didn't work",
    "that didn’t work.",
    "still failing",
    "No, use the other table",
    "no that is wrong",
    "it still doesn't compile",
    "Now I get a TypeError",
    "I'm getting the same error",
    "same error",
    "the tests still fail",
    "doesn't work",
    "It crashes on startup",
    "that's not what I asked for",
    "revert that",
    "undo the last change",
    "you broke the login",
    "不对，应该用事务",
    "还是报错",
    "不行",
    "没用，还是一样",
    "又报错了",
    "没有解决",
    "结果报错：x",
    "Traceback (most recent call last):\n  File",
    "error[E0382]: borrow of moved value",
    "thanks, but it still fails",
    "Hmm, no, that is wrong",
    "The build is still red",
    "it fails with a timeout",
    "after your change it times out",
    "运行不了",
    "这个方法不行",
    "你写错了",
    "/undo",
    "wrong, the port is 8080",
    "Great, but now I get another error",
    "it worked yesterday but now it fails",
    "我试了，还是不行",
    "Why does it still fail?",
    "nope. same problem",
    "That isn't working",
    "<user_query>\nno, that is wrong\n</user_query>",
    "no change, still closed after 60 s",
    "We rolled it back",
    "I had to revert that",
    "it made things slower",
    "Still 4 seconds",
    "没效果，先回滚了",
    "上线后又有人投诉",
    "先试了，果然都搜不到，用户投诉，已经回滚。",
    "仍然超时",
    "安全组不同意，换个办法。",
    "服务还是启动不了",
]
WORKED = [
    "works now",
    "it works!",
    "thanks, that fixed it",
    "Perfect",
    "great, thanks",
    "that did it",
    "all tests pass now",
    "no more errors",
    "it no longer fails",
    "好了",
    "可以了，谢谢",
    "解决了",
    "搞定",
    "不报错了",
    "没问题了",
    "谢谢，完美",
    "It's working now",
    "That worked. Now add a test for it.",
    "uploaded in 6 minutes, thank you",
    "three days without a single locked error. good catch",
    "Ran it last night, longest lock was 40 ms. Perfect.",
    "可以，上线吧",
    "快多了",
    "顺序对了，没有再出现",
    "客户的文件都能导入了",
]
NEITHER = [
    "What should happen when it fails?",
    "If the job fails, retry it",
    "No problem",
    "no worries, take your time",
    "How do I handle an error 500?",
    "add error handling",
    "write a test that fails",
    "Can you make sure it doesn't fail?",
    "对不对？",
    "行不行？",
    "如果报错怎么办",
    "现在加一个测试",
    "怎么修复这个？",
    "Should it work on Windows?",
    "好了吗？",
    "What if this doesn't work?",
    "explain why the error occurs",
    "The user gets an error page; design it",
    "still, add docs",
    "Let's add a new error type",
    "Add another exception for timeouts",
    "还是用事务吧",
    "还没好了吗",
    "不对称加密怎么用",
    "Use the same error type as in the parser",
    "nobody uses it",
    "north of the border",
    "Noted.",
    "Is it still the same in version 3?",
    "make sure it runs without any error",
    "we roll back the transaction when the check fails, add that",
    "如何回滚一次发布？",
    "用户投诉怎么处理",
    "对了，另外加一个测试",
    "换行符怎么处理",
    "现在能不能加一个开关？",
    "it takes 4 seconds, can we cache it?",
]


@pytest.mark.parametrize("text", FAILED)
def test_a_failure_is_seen(text: str) -> None:
    assert verdict(text) == "failed"


@pytest.mark.parametrize("text", WORKED)
def test_a_success_is_seen(text: str) -> None:
    assert verdict(text) == "worked"


@pytest.mark.parametrize("text", NEITHER)
def test_nothing_is_claimed_of_what_shows_nothing(text: str) -> None:
    assert verdict(text) is None


def test_no_is_an_answer_where_something_was_asked() -> None:
    assert verdict("no, leave it as it is", answer="Shall I push the branch?") is None
    assert verdict("no, that is wrong", answer="The port is 80.") == "failed"


def test_a_long_text_is_judged_by_its_beginning() -> None:
    assert verdict("Next: " + "write the docs. " * 100 + "It still fails.") is None
