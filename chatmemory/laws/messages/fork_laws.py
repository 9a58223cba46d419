"""The law of forks: L28, in sequence, for principals with different rights, and with concurrent writers."""

from collections.abc import Awaitable, Callable
from functools import partial

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import READ, Granted, acting_as
from chatmemory.conversation.message_repository import ConversationListing, Fork
from chatmemory.conversation.messages import Forked, ForkOrigin
from chatmemory.effect import Failure, Success
from chatmemory.errors import ConversationNotFoundError, DataValidationError, VersionConflictError
from chatmemory.laws.kit.law import expect, law, race
from chatmemory.laws.kit.samples import INSTANTS, START, said, somebody
from chatmemory.laws.messages.witness import VIEWS, MessageRepositoryUnderTest, Witness

ADA = somebody("ada")
BOB = somebody("bob", Granted(Namespace("ada"), rights=READ))
"""May read Ada's conversations."""
CAI = somebody("cai")
DEE = somebody("dee", Granted(Namespace("bob"), rights=READ))
"""May read Bob's conversations, and none of Ada's."""


class ForkLaws(MessageRepositoryUnderTest):
    """A branch begins with the state of its parent, and both change independently."""

    @law
    async def test_l28_fork(self) -> None:
        """L28 fork: a branch equals its parent at a version or up to a message, and can be read as of earlier versions."""
        async with self.open() as witness:
            talk = await _talk(witness)
            whole = await witness.read(talk)
            described = await witness.conversation(talk)
            last = described.version if described else 0
            for version in range(1, last + 1):
                branch = witness.named(f"at {version}")
                await witness.fork(talk, branch, version)
                for view in VIEWS:
                    at = await witness.page(talk, view, as_of=version)
                    expect(await witness.page(branch, view), at, f"the {view} view of a branch at {version}")
                    before = await witness.page(talk, view, as_of=version - 1)
                    read = await witness.page(branch, view, as_of=version - 1)
                    expect(read, before, f"a branch at {version} as of the version before")
                (await witness.observe(branch)).expect_counts(branch)
            for message in whole:
                branch = witness.named(f"up to {message.id}")
                forked = await witness.fork(talk, branch, message.id)
                read_ids = [one.id for one in await witness.read(branch)]
                expect(read_ids, [one.id for one in whole if one.seq <= message.seq], f"what {branch} holds")
                origin = forked.conversation.forked_from
                expect(
                    origin and (origin.conversation_id, origin.seq), (talk, message.seq), "where it parted"
                )
                (await witness.observe(branch)).expect_counts(branch)
            await _remove(witness, talk, 1)
            await witness.append(talk, said("9"))
            forked = await witness.fork(talk, witness.named("after a removal"), last + 1)
            parted = forked.conversation.forked_from
            expect(parted and parted.seq, whole[-2].seq, "where a branch parted after a removal")

    @law
    async def test_l28_fork_is_guarded(self) -> None:
        """L28 fork: a repeated fork is the same branch; a taken id, an unknown parent and an unknown point are refused."""
        async with self.open() as witness:
            talk, other = await _talk(witness), witness.named("other")
            await witness.append(other, said("1"))
            branch = witness.named("branch")
            forked = await witness.fork(talk, branch, 2)
            up_to = witness.named("up to 2")
            forked_up_to = await witness.fork(talk, up_to, "2")

            async def expect_the_same_branches(when: str) -> None:
                for one, new_id, at in ((forked, branch, 2), (forked_up_to, up_to, "2")):
                    again = await witness.ask(witness.repository.fork(Fork(talk, new_id, at, START)))
                    same = Success(Forked(one.conversation, is_new=False))
                    expect(again, same, f"the same fork at {at!r} again, {when}")

            await expect_the_same_branches("after nothing else")
            for parent, new_id, at, version in (
                (talk, branch, 3, 2),
                (other, branch, None, 2),
                (talk, other, None, 1),
                (talk, talk, None, 9),
            ):
                answer = await witness.ask(witness.repository.fork(Fork(parent, new_id, at, START)))
                taken = Failure(VersionConflictError(new_id, expected=0, actual=version))
                expect(answer, taken, f"a fork of {parent!r} at {at}, whose id {new_id!r} is taken")
            nowhere = await witness.ask(witness.repository.fork(Fork(witness.named("?"), "new", None, START)))
            expect(nowhere, Failure(ConversationNotFoundError(witness.named("?"))), "a fork of nothing")
            points: tuple[str | int, ...] = (0, 10, "no such message")
            for point in points:
                asked = Fork(talk, witness.named("new"), point, START)
                refused = await witness.refusal(witness.repository.fork(asked))
                expect(refused, DataValidationError, f"what a fork at {point!r} ends with")
            expect(await witness.conversation(witness.named("new")), None, "what is made")
            await _remove(witness, talk, 7)
            await expect_the_same_branches("after the parent has lost the message")
            await witness.clear(talk)
            await expect_the_same_branches("after the parent was cleared")
            await witness.clear(branch)
            await witness.append(branch, said("new"))
            described = await witness.conversation(branch)
            expect(described and described.forked_from, None, "the origin of a branch that was cleared")

    @law
    async def test_l28_fork_and_its_siblings(self) -> None:
        """L28 fork: an append, summary, removal or clear in one conversation of a tree changes no other one."""
        async with self.open() as witness:
            changes: dict[str, Callable[[str], Awaitable[object]]] = {
                "append": lambda talk: witness.append(talk, said("new")),
                "summary": lambda talk: witness.summarize(talk, 0, 2, message_id="t"),
                "deleting summary": lambda talk: witness.summarize(
                    talk, 0, 2, message_id="t", delete_covered=True
                ),
                "removal": lambda talk: _remove(witness, talk, 1),
                "removals": lambda talk: _remove(witness, talk, 7),
                "clear": witness.clear,
            }
            for what, change in changes.items():
                for which in range(4):
                    tree = await _tree(witness, f"{what} {which}")
                    before = {name: await witness.observe(name) for name in tree}
                    await change(tree[which])
                    for index, name in enumerate(tree):
                        observed = await witness.observe(name)
                        observed.expect_counts(name)
                        if index != which:
                            expect(
                                observed, before[name], f"number {index} of a tree after a {what} in {which}"
                            )
                            chain = await witness.get(witness.repository.summarizations_of(name, "0"))
                            expect(
                                [one.summary_message_id for one in chain], ["s"], "what covers its message"
                            )
                            same = said("0", "第0句", timestamp=INSTANTS[0])
                            again = await witness.append(name, same)
                            expect(again.duplicates, ("0",), "what it shares is known to it")

    @law
    async def test_l28_fork_and_owners(self) -> None:
        """L28 fork: a branch belongs to its creator, who must see the parent; a reader of the branch reads all of it."""
        async with self.open() as witness:
            talk, branch = witness.named("ada's"), witness.named("bob's")
            with acting_as(ADA):
                await witness.append(talk, said("1"), said("2"))
                whole = await witness.read(talk)
            with acting_as(CAI):
                answer = await witness.ask(witness.repository.fork(Fork(talk, branch, None, START)))
            expect(answer, Failure(ConversationNotFoundError(talk)), "a fork of what may not be seen")
            with acting_as(BOB):
                await witness.fork(talk, branch)
                await witness.append(branch, said("3"))
            for who, origin in ((BOB, ForkOrigin(talk, 1, 2)), (DEE, None)):
                with acting_as(who):
                    read = await witness.read(branch)
                    found = await witness.conversation(branch)
                    listing = ConversationListing(3, prefix=branch)
                    (listed,) = await witness.get(witness.repository.conversations(listing))
                expect(read[:2], whole, f"what is shared, as {who.name} reads it")
                expect(found and found.forked_from, origin, f"the parent that {who.name} is told")
                expect(listed.forked_from, origin, f"the parent that {who.name} is told in a list")
            for who in (ADA, CAI):
                with acting_as(who):
                    expect(await witness.read(branch), (), f"what {who.name} reads of Bob's branch")
            reads_his = Granted(Namespace("bob"), rights=frozenset({"read"}))
            with acting_as(evolve(ADA, granted=(*(ADA.granted or ()), reads_his))):
                cleared = await witness.clear(talk, with_branches=True)
            expect(cleared and cleared.still_shared_by, (branch,), "what Ada may not clear")
            with acting_as(DEE):
                expect((await witness.read(branch))[:2], whole, "what is shared when Ada has cleared hers")

    @law
    async def test_l28_fork_at_once(self) -> None:
        """L28 fork: a branch that begins while its parent is cleared is whole, or is not created."""
        async with self.open() as witness:
            for round_ in range(self.rounds):
                talk = await _talk(witness, f"at once {round_}")
                ids = [message.id for message in await witness.read(talk)]
                branches = [witness.named(f"at once {round_} {number}") for number in range(4)]

                made: set[str] = set()

                async def fork(branch: str, talk: str = talk, made: set[str] = made) -> None:
                    answer = await witness.ask(witness.repository.fork(Fork(talk, branch, None, START)))
                    if isinstance(answer, Success):
                        made.add(branch)

                async def clear(talk: str = talk) -> None:
                    await witness.ask(witness.repository.clear(talk, now=START))

                forks = [partial(fork, branch) for branch in branches]
                await race([*forks[:2], clear, *forks[2:]])
                for branch in branches:
                    if branch in made:
                        read = [message.id for message in await witness.read(branch)]
                        expect(read, ids, "a branch that began while its parent was cleared")
                        (await witness.observe(branch)).expect_counts(branch)
                    else:
                        described = await witness.conversation(branch)
                        expect(described, None, "a branch that was refused because its parent was cleared")


async def _talk(witness: Witness, name: str = "会") -> str:
    """Create a conversation of nine messages and a summary of three of them, at version 9."""
    talk = witness.named(name)
    for index in range(6):
        draft = said(f"{index}", f"第{index}句", timestamp=INSTANTS[index % 3])
        await witness.append(talk, draft)
    await witness.summarize(talk, 0, 3, message_id="s")
    await witness.append(talk, said("6"), said("7"))
    await witness.append(talk, said("8"))
    return talk


async def _tree(witness: Witness, name: str) -> list[str]:
    """Create a conversation, a branch with more messages, a branch of that branch, and a second one from an earlier point."""
    talk = await _talk(witness, name)
    tree = [talk, *(f"{talk} {number}" for number in range(3))]
    await witness.fork(talk, tree[1], "7")
    await witness.append(tree[1], said("7a"), said("7b"))
    await witness.fork(tree[1], tree[2], "7a")
    await witness.fork(tree[1], tree[3], "6")
    await witness.append(tree[3], said("6a"))
    return tree


async def _remove(witness: Witness, talk: str, times: int) -> None:
    for _ in range(times):
        await witness.remove_newest(talk)
