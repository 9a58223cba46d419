"""The format of Cline and Roo Code."""
