"""Where agents live: one module for each framework, imported by nobody but those who name it."""
