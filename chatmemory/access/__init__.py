"""Who acts, what belongs to them, and what they may see and do.

``namespace.py`` says whose something is, ``principal.py`` what somebody may do, and for whom the present code runs.
"""
