"""A backend with accounts and tokens that tells the truth about what happened to it, and that misbehaves when asked
to."""
