"""Checks of arguments at the call that receives them, and error messages that say what to write instead."""
