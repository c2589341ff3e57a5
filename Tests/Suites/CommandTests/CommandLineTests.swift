import AuthBrokerClient
import BrokerProtocol
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

@Suite(.standardTimeLimit) struct CommandLineTests {
  private static func parse(_ words: String...) throws(CommandFailure) -> (name: String, arguments: Arguments) {
    let (command, arguments) = try CommandLineProgram.parse(words)
    return (command.description.name, arguments)
  }

  @Test func `options stand before or behind the command, with a blank or an equals sign`() throws {
    let (name, arguments) = try Self.parse(
      "--state", "/s", "--json", "token", "--profile=work", "--min-validity", "1.5", "--no-start")
    #expect(name == "token")
    #expect(arguments["--state"] == "/s")
    #expect(arguments.has("--json"))
    #expect(arguments.has("--no-start"))
    #expect(try arguments.profile() == ProfileName("work"))
    #expect(try Self.parse("-p", "work", "token").arguments.profile() == ProfileName("work"))
    #expect(try Self.parse("token", "-p=work").arguments.profile() == ProfileName("work"))
    #expect(try arguments.seconds("--min-validity") == .milliseconds(1500))
  }

  @Test func `a value may look like anything, and nothing is an option behind two dashes`() throws {
    let (_, arguments) = try Self.parse("call", "--state=", "--profile", "-", "--", "--json", "-")
    #expect(arguments["--state"] == "")
    #expect(arguments["--profile"] == "-")
    #expect(arguments.operands == ["--json", "-"])
    #expect(!arguments.has("--json"))
  }

  @Test(arguments: [
    ["tokn"], ["lok"], ["token", "--min-valid", "3"], ["token", "--state"], ["token", "--json=yes"],
    ["--state", "token"], ["login", "--password", "x"], ["login", "--code-stdin"],
  ])
  func `what cannot be followed is a usage error`(words: [String]) {
    let failure = #expect(throws: CommandFailure.self) { try CommandLineProgram.parse(words) }
    #expect(failure?.exitCode == .usage)
    #expect(failure?.message.sentence.isEmpty == false)
  }

  @Test func `a value that is missing is named, and so is a command that was taken for one`() {
    let missing = #expect(throws: CommandFailure.self) { try Self.parse("--state") }
    #expect(missing?.message.sentence == "--state needs a value: --state DIR")
    let swallowed = #expect(throws: CommandFailure.self) { try Self.parse("--state", "token") }
    #expect(swallowed?.message == Message("missing command: token was taken as the value of --state"))
  }

  @Test func `a misspelt word gets a suggestion`() {
    let command = #expect(throws: CommandFailure.self) { try Self.parse("verify-opt") }
    #expect(command?.message == Message("unknown command verify-opt; did you mean verify-otp?"))
    let option = #expect(throws: CommandFailure.self) { try Self.parse("token", "--jsno") }
    #expect(option?.message == Message("unknown option --jsno; did you mean --json?"))
    let stranger = #expect(throws: CommandFailure.self) { try Self.parse("qqqqqqqq") }
    #expect(stranger?.message == Message("unknown command qqqqqqqq", next: NextCommand("see", "help")))
  }

  @Test(arguments: [
    (["token", "--jsno"], "unknown option --jsno; did you mean --json?"),
    (["--jsno", "token"], "unknown option --jsno; did you mean --json?"),
    (["token", "--json=yes"], "--json takes no value; see: authbroker help token"),
    (["token", "--scope"], "--scope needs a value: --scope SCOPE; see: authbroker help token"),
    (["--config"], "--config needs a value: --config FILE; see: authbroker help"),
    (["status", "--zzzzzzzz"], "unknown option --zzzzzzzz; see: authbroker help status"),
    (["statsu"], "unknown command statsu; did you mean status?"),
    (["help", "statsu"], "unknown command statsu; did you mean status?"),
    (["help", "qqqqqqqq"], "unknown command qqqqqqqq; see: authbroker help"),
    (["doctor", "--full", "--quick"], "--full and --quick cannot be combined; see: authbroker help doctor"),
    (["config"], "missing argument check; usage: authbroker config check [FILE]"),
    (["call"], "missing argument METHOD; usage: authbroker call METHOD [JSON|-]"),
    (["stop", "docker"], "unexpected argument docker; usage: authbroker stop"),
    (["stop", "now"], "unexpected argument; usage: authbroker stop"),
    (["login", "work"], "unexpected argument; usage: authbroker login; a profile is named with -p"),
    (["help", "config", "chekc"], "unexpected argument; usage: authbroker help [COMMAND]"),
    (["help", "call", "getStatus"], "unexpected argument; usage: authbroker help [COMMAND]"),
    (["account", "shwo"], "unknown command 'account shwo'; did you mean account show?"),
    (["local", "qqqqqqqq"], "unknown command 'local qqqqqqqq'; see: authbroker help local"),
    (["help", "account", "shwo"], "unknown command 'account shwo'; did you mean account show?"),
    (["help", "account", "show", "it"], "unexpected argument; usage: authbroker help [COMMAND]"),
    (["account", "email"], "missing argument ADDRESS; usage: authbroker account email ADDRESS"),
    (["account", "show", "it"], "unexpected argument; usage: authbroker account show"),
    (
      ["account", "2fa", "fax"],
      "unknown second factor fax; use off, sms, email or totp; see: authbroker help account 2fa"
    ),
    (["account", "2fa", "top"], "unknown second factor top; did you mean totp?"),
    (
      ["account", "update"],
      "nothing to change; give --name, --phone, --set or --remove; see: authbroker help account update"
    ),
    (
      ["account", "update", "--set", "x"],
      "--set needs a member and its value: --set MEMBER=TEXT; see: authbroker help account update"
    ),
    (
      ["account", "update", "--name", "A", "--remove", "name"],
      "name would be changed twice; name it once; see: authbroker help account update"
    ),
    (
      ["local", "revoke"],
      "name an account, a session with --session, or every session with --all; see: authbroker help local revoke"
    ),
    (["local", "audit", "--limit", "x"], "--limit needs a whole number, not x; see: authbroker help local audit"),
    (
      ["local", "introspect"],
      "there is no terminal to ask for the token at; use --token-stdin; see: authbroker help local introspect"
    ),
  ])
  func `a command line that is wrong is told with what is right`(words: [String], text: String) throws {
    let scratch = Scratch()
    // Its own state directory stands before the command and is no part of what is said of it.
    let run = try CommandRun(words, in: scratch)
    #expect(run.code == 2 && run.errors == "authbroker: \(text)\n", "\(run.errors)")
  }

  @Test func `a word that may be a profile's name is told how to be one`() throws {
    let run = try CommandRun(["token", "work"], in: Scratch())
    let start = "authbroker: unexpected argument; usage: authbroker token; for the profile work: authbroker --state "
    #expect(run.code == 2 && run.errors.hasPrefix(start) && run.errors.hasSuffix(" token -p work\n"), "\(run.errors)")
  }

  @Test func `help is found by each name that the overview shows`() throws {
    let run = try CommandRun(["help", "config", "check"], in: Scratch())
    #expect(run.code == 0 && run.output == ConfigCommand.description.help, "\(run.output)\(run.errors)")
  }

  @Test func `a group of commands prints its help, and each of them has its own`() throws {
    for words in [["account"], ["help", "account"], ["account", "--help"]] {
      let run = try CommandRun(words, in: Scratch())
      #expect(run.code == 0 && run.output == AccountCommand.description.help, "\(words): \(run.output)")
    }
    for words in [["help", "account", "2fa"], ["account", "2fa", "--help"], ["account", "--help", "2fa"]] {
      let run = try CommandRun(words, in: Scratch())
      #expect(run.code == 0 && run.output == AccountTwoFactorCommand.description.help, "\(words): \(run.output)")
    }
    for member in AccountCommand.members + LocalCommand.members {
      let name = member.description.name
      let help = name.hasPrefix("account ") ? AccountCommand.description.help : LocalCommand.description.help
      #expect(help.contains("\n  \(name)"), "\(name)")
    }
  }

  @Test func `options stand anywhere around the words of a command in a group`() throws {
    let (name, arguments) = try Self.parse("--state", "/s", "local", "--json", "revoke", "--session", "x", "ann")
    #expect(name == "local revoke" && arguments["--session"] == "x" && arguments.operands == ["ann"])
    #expect(arguments["--state"] == "/s" && arguments.has("--json"))
    #expect(try Self.parse("--session=x", "local", "revoke").arguments["--session"] == "x")
  }

  @Test func `what somebody has entered is no fault of the command line`() throws {
    let run = try CommandRun(["login", "--email", "a@b.c", "--password-stdin"], in: Scratch(), input: "\n")
    #expect(run.code == 2 && run.errors == "authbroker: the password is empty; nothing was sent\n", "\(run.errors)")
  }

  @Test(arguments: ["--password", "--code", "--token", "--passphrase", "--refresh-token"])
  func `a secret in an argument is refused by name and never repeated`(option: String) {
    for words in [[option, "canary"], ["\(option)=canary"]] {
      let failure = #expect(throws: CommandFailure.self) { try CommandLineProgram.parse(["login"] + words) }
      #expect(failure?.message.sentence.contains("-stdin") == true)
      #expect(failure?.message.sentence.contains("canary") == false)
    }
  }

  @Test func `what follows a misplaced option is not repeated, and the option is`() {
    for words in [["--password", "canary", "login"], ["--wrong", "canary"], ["--wrong=canary", "login"]] {
      let failure = #expect(throws: CommandFailure.self) { try CommandLineProgram.parse(words) }
      #expect(failure?.exitCode == .usage)
      #expect(failure?.message.sentence.contains("canary") == false)
      let expected = words[0].hasPrefix("--wrong") ? "unknown option --wrong" : "-stdin"
      #expect(failure?.message.sentence.contains(expected) == true)
    }
  }

  @Test func `a command's own option may stand before its name`() throws {
    let (name, arguments) = try Self.parse("--email", "ada@example.com", "login")
    #expect(name == "login")
    #expect(arguments["--email"] == "ada@example.com")
  }

  @Test(arguments: [("yes", "64 KiB"), ("printf 'a\\377b\\n'", "UTF-8"), ("exit 4", "code 4"), ("true", "nothing")])
  func `a password command that gives no password is refused with the reason`(command: String, reason: String) throws {
    let (_, arguments) = try Self.parse("login", "--password-command", command)
    let context = Context(arguments: arguments, environment: ["PATH": "/usr/bin:/bin"])
    let failure = #expect(throws: CommandFailure.self) {
      try SecretInput.output(of: "--password-command", context, .password)
    }
    #expect(failure?.message.sentence.contains(reason) == true)
  }

  @Test(arguments: ["abc", "-1", "nan", "inf", "1e99", ""])
  func `a duration is a number of seconds`(text: String) throws {
    let (_, arguments) = try Self.parse("token", "--timeout=\(text)")
    #expect(throws: CommandFailure.self) { try arguments.seconds("--timeout") }
  }

  @Test(arguments: [(1, "the code is wrong; 1 attempt left"), (2, "the code is wrong; 2 attempts left")])
  func `a number agrees with its noun`(count: Int, words: String) {
    var error = BrokerError(.otpInvalid)
    error.attemptsRemaining = count
    #expect(Advice.message(for: error) == Message(words))
  }

  @Test func `a profile's name is checked before anything is sent`() throws {
    let (_, arguments) = try Self.parse("token", "--profile", "../x")
    #expect(throws: CommandFailure.self) { try arguments.profile() }
  }

  @Test func `the words for version and help are understood without a command`() throws {
    #expect(try Self.parse("--version").name == "version")
    #expect(try Self.parse("--help").name == "help")
    #expect(try Self.parse("-h").name == "help")
    #expect(try Self.parse().name.isEmpty && Self.parse("--json").name.isEmpty)
    #expect(try Self.parse("token", "-h").arguments.has("--help"))
  }

  @Test func `of two variables with one name the first counts`() throws {
    let scratch = Scratch()
    let entries = ["AUTHBROKER_CONFIG=first", "AUTHBROKER_CONFIG=second", "nothing", "=x"]
    let run = try CommandRun(["token"], in: scratch, entries: entries)
    #expect(
      run.code == 1 && run.errors.contains("AUTHBROKER_CONFIG must be an absolute path, not first:"), "\(run.errors)")
  }

  @Test func `a command is found by the name that its description tells`() {
    for entry in CommandList.withMembers + CommandList.hidden { #expect(entry.name == entry.description.name) }
  }

  @Test func `the help lists exactly the commands that there are`() {
    let names = CommandList.all.map { $0.description.name }
    #expect(
      Set(names) == [
        "request", "queue", "door", "sandbox", "cancel", "reauthenticate", "access", "target", "reload", "profile",
        "import",
        "serve", "connect", "stop", "sockpath", "login", "verify-otp", "token", "header", "status", "sessions",
        "logout", "watch", "call", "register", "demo", "config", "version", "help",
        "lock", "unlock", "rekey", "doctor", "provider-check", "account", "local", "helper", "exec", "file", "init",
        "whoami", "profiles", "completion", "socket", "consent", "audit", "fleet",
      ])
    for name in names { #expect(HelpText.overview.contains("\n  \(name) ")) }
    #expect(Set(names).count == names.count)
  }

  @Test func `every help fits a terminal and names the command's own options`() {
    for command in CommandList.withMembers {
      let help = command.description.help
      for option in command.description.options { #expect(help.contains(option.name)) }
      for line in help.split(separator: "\n") { #expect(line.count <= 120, "\(command.description.name): \(line)") }
    }
  }
}
