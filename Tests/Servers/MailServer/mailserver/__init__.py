"""A mail server (aiosmtpd) and a service for SMS, for tests."""

import os
import sys

# What the servers of the tests have in common lies with the REST backend.
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "RESTServer"))
