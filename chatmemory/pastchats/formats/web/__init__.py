"""Exports of web applications, one file each."""
