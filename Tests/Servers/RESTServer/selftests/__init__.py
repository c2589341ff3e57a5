"""Tests of the test server itself: what it claims to do must be what the wire shows."""
