from chatmemory.effect.services.clock import TestClock as TestClock
from chatmemory.effect.services.ids import SequentialIds as SequentialIds
from chatmemory.testing.double import ScriptUsedUpError as ScriptUsedUpError
from chatmemory.testing.spy import Spy as Spy
from chatmemory.testing.step import (
    Call as Call,
    Calls as Calls,
    Step as Step,
    after as after,
    forever as forever,
    hangs as hangs,
    loses_answer as loses_answer,
    passes as passes,
    raises as raises,
)
from chatmemory.testing.stub import Stub as Stub
from chatmemory.testing.table_embedder import TableEmbedder as TableEmbedder
from chatmemory.testing.text_files import TextFiles as TextFiles
