"""Long-term memory: the memories that are kept after a conversation has ended.

``contract.py`` defines the service, ``memories.py`` the values that it takes and returns, ``memory_rules.py`` the rules
for input, ``memory_repository.py`` what a backend implements.  ``long_term_memory_live.py`` implements the service;
``recall/`` finds memories again, ``extraction/`` finds new ones in messages, ``saving/`` stores them.
"""
