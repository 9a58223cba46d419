"""Long-term memory: what outlives a conversation.

``contract.py`` says what a long-term memory promises, ``memories.py`` what it takes and gives, ``memory_rules.py`` what input
must obey, ``memory_repository.py`` what a backend implements, ``long_term_memory_live.py`` how the promises are kept;
``recall/`` finds memories again, ``extraction/`` takes them out of what was said.
"""
