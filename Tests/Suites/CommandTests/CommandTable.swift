@testable import authbroker

/// What the tests of every command type.
enum CommandTable {
  /// A line for each command that it cannot do, where no broker is to be had and no daemon is installed.
  static let failing: [String: [String]] = [
    "token": [], "request": ["/x"], "door open": ["https://api.example.com"], "door list": [],
    "queue list": [], "queue show": ["x"], "queue cancel": ["x"],
    "door close": ["x"],
    "door run": ["https://api.example.com", "/no/such/program"],
    "sandbox": ["https://api.example.com", "/no/such/program"], "header": [],
    "exec": ["/no/such/program"], "file": ["/proc/version"],
    "login": ["--email", "a@example.com", "--password-command", "false"],
    "verify-otp": ["flow", "--code-stdin"], "cancel": [], "reauthenticate": [], "register": [],
    "import json": [],
    "init": ["--provider", "local", "--name", "work", "--config", "/proc/none/config.json"],
    "status": [], "whoami": [], "profiles": [], "profile use": ["No Name"], "sessions": [], "logout": [],
    "lock": [], "unlock": [], "rekey": [], "account show": [], "account update": ["--name", "Ann"],
    "account password": [], "account email": ["a@example.com"], "account 2fa": ["off"],
    "account backup-codes": [], "account verify-email": [], "account forgot": [], "account reset": [],
    "account delete": [],
    "local users": [], "local add": [], "local disable": ["a"], "local enable": ["a"], "local delete": ["a"],
    "local reset": ["a"], "local sessions": [], "local revoke": ["a"], "local audit": [], "local introspect": [],
    "local jwks": [], "local rotate-key": [], "local outbox": [],
    "access explain": [], "audit": [], "consent list": [], "consent allow": [], "consent deny": ["c1"],
    "target add": ["https://a.example", "--config", "/proc/none/config.json"],
    "helper install": ["nothing"], "helper remove": ["nothing"], "helper list": ["--url", ""],
    "doctor": ["--tool", "nothing"], "provider-check": [], "watch": [], "call": ["ping"], "serve": [], "reload": [],
    "stop": [], "sockpath": ["a"], "config": ["check"], "fleet": ["status"], "demo": ["a"],
    "completion": ["nothing"], "version": ["a"], "help": ["nothing"], "socket open": ["work"], "socket list": [],
    "socket close": ["open-1"],
    "socket forward": ["--print", "host", "work"],
  ]

  /// A line for some of them with which they ask a broker, where the one above asks none.
  static let asking: [String: [String]] = [
    "exec": ["true"], "login": ["--method", "browser"], "profile use": ["--none"],
    "register": ["--email", "a@example.com", "--password-stdin"], "account password": ["--password-stdin"],
    "account backup-codes": ["--password-stdin"], "account verify-email": ["--token-stdin"],
    "account reset": ["--token-stdin"], "account forgot": ["--email", "a@example.com"],
    "account delete": ["--password-stdin"], "local add": ["--email", "a@example.com", "--password-stdin"],
    "local delete": ["a", "--yes"], "local reset": ["a", "--remove-second-factor"],
    "local introspect": ["--token-stdin"], "doctor": ["--no-network"], "sockpath": [], "helper list": [],
    "helper docker": ["get"], "helper go": ["https://a.example"], "helper curl": ["https://a.example"],
    "helper keyring": ["get", "https://a.example", "ann"], "helper terraform": ["get", "a.example"],
    "helper sasl": ["smtps://a.example", "ann"], "helper git": ["get"], "helper bazel": ["get"],
  ]

  /// What such a line reads.
  static let input = [
    "import json": #"{"refreshToken":"not-a-secret"}"#,
    "helper docker": "https://a.example", "helper git": "protocol=https\nhost=a.example\n\n",
    "helper bazel": #"{"uri":"https://a.example"}"#,
  ]
}
