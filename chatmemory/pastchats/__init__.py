"""Past chats: the histories of other tools, whose turns are stored and can be searched.

``contract.py`` defines the services, ``past_chats.py`` and ``prompt.py`` their values, ``prompt_repository.py`` the
contract of a backend; ``formats/`` reads the files of each tool, ``redaction/`` removes secrets, ``indexing/`` stores
the turns, ``finding/`` searches and recalls them.
"""
