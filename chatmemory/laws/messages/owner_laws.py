"""The law of the owner of a conversation: L26."""

from functools import partial
from typing import Final

from attrs import evolve

from chatmemory.access.namespace import UNOWNED, Namespace
from chatmemory.access.principal import EVERYBODY, NO_PRINCIPAL, Granted, Principal, Right, acting_as
from chatmemory.conversation.message_repository import ConversationListing
from chatmemory.conversation.messages import ConversationOrder
from chatmemory.effect import Failure
from chatmemory.errors import AccessDeniedError
from chatmemory.laws.kit.law import expect, law, race
from chatmemory.laws.kit.samples import START, batch, said, somebody
from chatmemory.laws.messages.witness import MessageRepositoryUnderTest, Witness

ADA: Final = Namespace("ada")
ORDERS: Final[tuple[ConversationOrder, ...]] = ("id", "recent")


class OwnerLaws(MessageRepositoryUnderTest):
    """A principal sees and changes only what its rights allow."""

    @law
    async def test_l26_owner(self) -> None:
        """L26 owner: the creator of a conversation owns it; for others it does not exist, and they cannot change it."""
        async with self.open() as witness:
            ada, bob = somebody("ada"), somebody("bob")
            for owner, talk in ((ada, witness.named("ada")), (bob, witness.named("bob"))):
                with acting_as(owner):
                    await _begin(witness, talk)
                await _expect_rights(witness, owner, talk, {"read", "write", "delete"})
            for stranger, talk in ((bob, witness.named("ada")), (ada, witness.named("bob"))):
                await _expect_rights(witness, stranger, talk, set())
            await _expect_rights(witness, somebody(""), witness.named("ada"), set())

    @law
    async def test_l26_owner_of_what_was_cleared(self) -> None:
        """L26 owner: a cleared conversation still belongs to its owner."""
        async with self.open() as witness:
            talk = witness.named("a")
            with acting_as(somebody("ada")):
                await _begin(witness, talk)
                await witness.clear(talk)
            await _expect_rights(witness, somebody("bob"), talk, set())
            with acting_as(somebody("ada")):
                await witness.append(talk, said("again"))
            await _expect_rights(witness, somebody("bob"), talk, set())

    @law
    async def test_l26_owner_is_nobody(self) -> None:
        """L26 owner: without a principal, conversations are unowned, and only these are allowed; other principals need a grant."""
        async with self.open() as witness:
            talk, hers = witness.named("a"), witness.named("b")
            await _begin(witness, talk)
            await _expect_rights(witness, somebody("ada"), talk, set())
            await _expect_rights(
                witness, somebody("ada", Granted(UNOWNED)), talk, {"read", "write", "delete"}
            )
            with acting_as(somebody("ada")):
                await _begin(witness, hers)
            await _expect_rights(witness, EVERYBODY, hers, {"read", "write", "delete"})
            await _expect_rights(witness, NO_PRINCIPAL, talk, {"read", "write", "delete"})
            await _expect_rights(witness, NO_PRINCIPAL, hers, set())

    @law
    async def test_l26_owner_grants(self) -> None:
        """L26 owner: a grant covers what it names: that user and app, that prefix, those rights."""
        async with self.open() as witness:
            talk = witness.named("team_1")
            with acting_as(somebody("ada", app="chat")):
                await _begin(witness, talk)
            every: tuple[frozenset[Right], ...] = (
                frozenset({"read"}),
                frozenset({"read", "write"}),
                frozenset({"read", "delete"}),
                frozenset({"write"}),
            )
            for rights in every:
                await _expect_rights(witness, somebody("bob", Granted(ADA, rights=rights)), talk, set(rights))
            for prefix, app, is_granted in (
                (witness.named("team"), "", True),
                (witness.named("team_1"), "chat", True),
                (witness.named("teamX1"), "", False),  # which a wildcard pattern would match
                (witness.named("team_12"), "", False),
                (witness.named("TEAM"), "", False),
                ("", "mail", False),
            ):
                reader = somebody("bob", Granted(Namespace("ada", app), prefix, frozenset({"read"})))
                await _expect_rights(witness, reader, talk, {"read"} if is_granted else set())
            in_another_app = somebody("ada", app="mail")
            await _expect_rights(witness, in_another_app, talk, set())

    @law
    async def test_l26_owner_and_roles(self) -> None:
        """L26 owner: a batch with a message in a role that is not granted is refused as a whole."""
        async with self.open() as witness:
            talk = witness.named("a")
            ada = evolve(somebody("ada"), roles=frozenset({"user", "assistant"}))
            with acting_as(ada):
                await _begin(witness, talk)
                before = await witness.observe(talk)
                forged = batch(talk, said("said"), said("order", role="system"))
                answer = await witness.ask(witness.repository.append(forged))
                expect(_is_denied(answer), True, "whether a role that is not granted is denied")
                expect(await witness.observe(talk), before, "what is stored")

    @law
    async def test_l26_owner_at_once(self) -> None:
        """L26 owner: concurrent principals each get the answers that they would get alone."""
        async with self.open() as witness:

            async def act(user: str) -> None:
                talk = witness.named(f"of {user}")
                with acting_as(somebody(user)):
                    for number in range(10):
                        await witness.append(talk, said(f"{number}"))
                        listed = await witness.get(
                            witness.repository.conversations(
                                ConversationListing(9, None, "id", witness.space)
                            )
                        )
                        expect([one.conversation_id for one in listed], [talk], f"what {user} lists")

            await race([partial(act, f"{number}") for number in range(4)])


async def _begin(witness: Witness, talk: str) -> None:
    """Store three messages, and summarize the first two of them."""
    await witness.append(talk, *map(said, "012"))
    with acting_as(EVERYBODY):  # as the service does, for every principal
        await witness.summarize(talk, 0, 2, message_id="summary")


async def _expect_rights(witness: Witness, who: Principal, talk: str, rights: set[Right]) -> None:
    """Try everything as *who*; break the law when more or less than *rights* is allowed, or when anything changes."""
    repository = witness.repository
    with acting_as(EVERYBODY):
        before = await witness.observe(talk)
    seen = before if "read" in rights else evolve(before, conversation=None, full=(), model=())
    with acting_as(who):
        expect(await witness.observe(talk), seen, f"what {who.name!r} sees of {talk!r}")
        for order in ORDERS:
            listing = ConversationListing(9, None, order, talk)
            listed = await witness.get(repository.conversations(listing))
            expect(listed, (seen.conversation,) if seen.conversation else (), f"what {who.name!r} lists")
        known = await witness.get(repository.summarization(talk, "summary"))
        chain = await witness.get(repository.summarizations_of(talk, "0"))
        is_summarized = seen.conversation is not None and any(one.role == "summary" for one in seen.full)
        expect(
            (known is not None, len(chain)), (is_summarized, int(is_summarized)), "the summary that is shown"
        )
        refused = batch(talk, said("intruder"), expected_version=10**6)
        appended = await witness.ask(repository.append(refused))
        expect(_is_denied(appended), "write" not in rights, f"whether {who.name!r} may not write to {talk!r}")
        if "delete" not in rights:
            cleared = await witness.ask(repository.clear(talk, now=START))
            removed = await witness.ask(repository.remove_newest(talk, now=START, threshold=None))
            for answer in (cleared, removed):
                if seen.conversation is None:
                    expect(answer.value_or("denied"), None, f"what {who.name!r} deletes of {talk!r}")
                else:
                    expect(_is_denied(answer), True, f"whether {who.name!r} may not delete in {talk!r}")
        page = await witness.page(talk, "full", limit=1, newer_than=0)
        expect(
            page is not None, seen.conversation is not None, f"whether {who.name!r} gets a page of {talk!r}"
        )
    with acting_as(EVERYBODY):
        after = await witness.observe(talk)
    expect(after, before, f"{talk!r} after {who.name!r} tried everything")


def _is_denied(answer: object) -> bool:
    return isinstance(answer, Failure) and isinstance(answer.failure(), AccessDeniedError)
