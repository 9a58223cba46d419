"""Past chats: the histories of other tools, their turns kept and found again.

``contract.py`` says what past chats promise, ``past_chats.py`` and ``prompt.py`` what they take and give,
``prompt_repository.py`` what a backend implements; ``formats/`` reads the files of each tool, ``redaction/`` takes secrets
out, ``indexing/`` stores the turns, ``finding/`` searches and recalls them.
"""
