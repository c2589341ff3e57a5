import AuthBrokerClient
import BrokerProtocol
import SecretMemory
import StateDirectory

/// `authbroker local`.
enum LocalCommand: CommandGroup {
  static let name = "local"
  static let summary = "Administer the embedded identity provider"
  static let details = """
    For the owner of the state directory; other clients of the broker are refused. USER is an identifier or an e-mail
    address.
    """
  static var members: [CommandEntry] {
    [
      users, LocalAddCommand.entry, disable, enable, reset, delete, sessions, revoke, outbox, keySet, rotateKey,
      LocalIntrospectCommand.entry, LocalAuditCommand.entry,
    ]
  }

  // MARK: Accounts

  private static var users: CommandEntry {
    CommandEntry(
      "local users", CommandDescription(summary: "List the accounts", examples: ["authbroker local users"]),
      calls: ListLocalUsers.self,
      show: { result, context in
        let users = result.users
        guard !users.isEmpty else {
          return context.tell(Message("no account exists here yet", next: LocalAddCommand.next))
        }
        var table = TextTable("EMAIL", "NAME", "PHONE", "SECOND FACTOR", "STATE", "SESSIONS", "ID")
        for user in users {
          table.add(
            PlainText.line(user.email.utf8) + (user.emailVerified ? "" : " (not verified)"),
            user.name.map { PlainText.line($0.utf8) }, user.phoneNumberMasked.map { PlainText.line($0.utf8) },
            user.twoFactor.rawValue, user.isDisabled ? "disabled" : "enabled", String(user.sessionCount),
            PlainText.line(user.id.utf8))
        }
        table.print(context.style) { line, cells in
          if users[line].isDisabled { cells[4] = context.style.warning(cells[4]) }
        }
      })
  }

  private static var disable: CommandEntry {
    CommandEntry(
      "local disable",
      CommandDescription(
        operands: "USER", summary: "Keep an account from logging in, and revoke its sessions",
        details: "Access tokens that were issued before are good until they expire, where no API introspects them.",
        examples: ["authbroker local disable ann@example.com"]),
      calls: SetLocalUserEnabled.self, with: { .init(user: $0.arguments.operands[0], isEnabled: false) },
      explaining: unknownUser,
      show: { user, _ in
        Output.notice("\(PlainText.line(user.email.utf8)) may not log in, and its sessions are revoked")
      })
  }

  private static var enable: CommandEntry {
    CommandEntry(
      "local enable",
      CommandDescription(
        operands: "USER", summary: "Let a disabled account log in again",
        examples: ["authbroker local enable ann@example.com"]),
      calls: SetLocalUserEnabled.self, with: { .init(user: $0.arguments.operands[0], isEnabled: true) },
      explaining: unknownUser,
      show: { user, _ in Output.notice("\(PlainText.line(user.email.utf8)) may log in") })
  }

  private static var delete: CommandEntry {
    CommandEntry(
      "local delete",
      CommandDescription(
        operands: "USER", summary: "Delete an account, its sessions and its messages",
        details: """
          Nothing brings the account back; its records in the audit log stay. At a terminal this is asked first; elsewhere
          --yes is needed.
          """,
        options: [.flag("--yes", "delete it without a question")],
        examples: ["authbroker local delete ann@example.com", "authbroker local delete --yes ann@example.com"]),
      calls: DeleteLocalUser.self,
      with: { context throws(CommandFailure) in
        let name = context.arguments.operands[0]
        if !context.arguments.has("--yes") {
          guard context.canAsk else { throw .usage("there is no terminal to ask at; give --yes") }
          try expectUser(context)
          let question = "Delete the account \(name.shellQuoted), its sessions and its messages, for good? [y/N]"
          guard ["y", "Y", "yes"].contains(try Prompt.askOnce(question)) else {
            throw CommandFailure(.failure, "nothing was deleted")
          }
        }
        return .init(user: name)
      }, explaining: unknownUser,
      show: { _, context in
        Output.notice("the account \(PlainText.line(context.arguments.operands[0].utf8)) is deleted")
      })
  }

  private static var reset: CommandEntry {
    CommandEntry(
      "local reset",
      CommandDescription(
        operands: "USER", summary: "Give an account a new password, or remove its second factor",
        details: """
          For a user who has lost them. Without --remove-second-factor the new password is asked for, twice and without
          echo. All sessions of the account end, and its user is told by e-mail.
          """,
        options: [.flag("--remove-second-factor", "remove the second factor and its backup codes")]
          + PasswordSource.options,
        examples: [
          "authbroker local reset ann@example.com", "authbroker local reset ann@example.com --remove-second-factor",
        ]),
      calls: ResetLocalUser.self,
      with: { context throws(CommandFailure) in
        if setsPassword(context), PasswordSource.asks(context) { try expectUser(context) }
        let rule = NewPasswordRule(EmbeddedProvider.type, hasSecondFactor: false)
        return .init(
          user: context.arguments.operands[0],
          password: setsPassword(context)
            ? try PasswordSource.new(context, question: "New password", rule: rule) : nil,
          removesSecondFactor: context.arguments.has("--remove-second-factor"))
      },
      explaining: { failure, context in
        let isUnknown = failure.error?.fields?.contains("user") == true
        return isUnknown ? unknownUser(failure, context) : RefusedFields.explained(failure, EmbeddedProvider.type)
      },
      show: { user, context in
        let removesFactor = context.arguments.has("--remove-second-factor")
        let what = [
          setsPassword(context) ? "has a new password" : nil, removesFactor ? "has no second factor any more" : nil,
        ]
        let text = what.compactMap { $0 }.joined(separator: " and ")
        Output.notice("\(PlainText.line(user.email.utf8)) \(text); its sessions are revoked")
      })
  }

  private static func setsPassword(_ context: Context) -> Bool {
    !context.arguments.has("--remove-second-factor") || PasswordSource.isGiven(context)
  }

  // MARK: Sessions

  private static var sessions: CommandEntry {
    CommandEntry(
      "local sessions",
      CommandDescription(
        operands: "[USER]", summary: "List the provider's sessions, of all accounts or of one",
        details:
          "These are the sessions as the provider knows them: those of other brokers and clients are among them.",
        examples: ["authbroker local sessions", "authbroker local sessions ann@example.com"]),
      calls: ListLocalSessions.self, with: { .init(user: $0.arguments.operands.first) }, explaining: unknownUser,
      show: { result, context throws(CommandFailure) in
        guard !result.sessions.isEmpty else { return Output.notice("no session can be refreshed") }
        var connection = try context.connect()
        let users = try context.call(ListLocalUsers.self, Empty(), on: &connection).users
        var table = TextTable("ACCOUNT", "BEGAN", "LAST USED", "EXPIRES", "PROVEN BY", "ID")
        for session in result.sessions {
          let account = users.first { $0.id == session.user }?.email ?? session.user
          let methods = session.methods.joined(separator: " ")
          table.add(
            PlainText.line(account.utf8), LocalTime.clock(session.createdAt), LocalTime.clock(session.lastUsedAt),
            LocalTime.relative(session.expiresAt), methods.isEmpty ? nil : PlainText.line(methods.utf8),
            PlainText.line(session.id.utf8))
        }
        table.print(context.style)
      })
  }

  private static var revoke: CommandEntry {
    CommandEntry(
      "local revoke",
      CommandDescription(
        operands: "[USER]", summary: "Revoke one session at the provider, all of an account, or all there are",
        options: [
          .value("--session", "ID", "the session; all of the account where it is not given"),
          .flag("--all", "every session of every account, as after an incident"),
        ],
        examples: ["authbroker local revoke ann@example.com", "authbroker local revoke --all"]),
      calls: RevokeLocalSessions.self,
      with: { context throws(CommandFailure) in
        let (user, session) = (context.arguments.operands.first, context.arguments["--session"])
        let all = context.arguments.has("--all")
        guard user != nil || session != nil || all else {
          throw .usage("name an account, a session with --session, or every session with --all")
        }
        guard !all || (user == nil && session == nil) else { throw .usage("--all stands alone") }
        return .init(user: user, session: session, all: all)
      }, explaining: unknownUser,
      show: { result, _ in
        let count = result.revoked
        Output.notice(count == 0 ? "there was no session to revoke" : "revoked \(count.counted("session"))")
      })
  }

  // MARK: Messages and keys

  private static var outbox: CommandEntry {
    CommandEntry(
      "local outbox",
      CommandDescription(
        summary: "Show the messages that the provider has sent nowhere",
        details: """
          They stand in for a telephone and a mailbox, unless local.delivery in the configuration says how messages are
          sent. A message is removed once its code was used or has expired.
          """,
        examples: ["authbroker local outbox"]),
      calls: ListLocalMessages.self,
      show: { result, context in
        guard !result.messages.isEmpty else { return Output.notice("the outbox is empty") }
        for (index, message) in result.messages.enumerated() {
          if index > 0 { Output.line("") }
          let way = message.method == .sms ? "SMS" : "e-mail"
          let recipient = PlainText.line(message.recipient.utf8)
          let expiry = "expires \(LocalTime.relative(message.expiresAt))"
          let head = "\(message.number)  \(way) to \(recipient), \(LocalTime.clock(message.createdAt)), \(expiry)"
          Output.line(context.style.dim(head))
          let body = message.body.revealedString() ?? ""
          for line in body.split(separator: "\n", omittingEmptySubsequences: false) {
            Output.line(PlainText.line(line.utf8))
          }
        }
      })
  }

  private static var keySet: CommandEntry {
    let about = CommandDescription(
      summary: "Print the keys that verify access tokens, as a JSON Web Key Set",
      examples: ["authbroker local jwks > jwks.json"])
    // JSON with or without `--json`.
    return CommandEntry("local jwks", about) { context throws(CommandFailure) in
      Output.json(try context.text(of: GetLocalKeySet.name, Empty()))
    }
  }

  private static var rotateKey: CommandEntry {
    CommandEntry(
      "local rotate-key",
      CommandDescription(
        summary: "Make a new key that signs access tokens from now on",
        details: "The key before stays in `authbroker local jwks` until every token that it signed has expired.",
        examples: ["authbroker local rotate-key"]),
      calls: RotateLocalSigningKey.self,
      show: { result, _ in
        guard let key = result.keys.first else { return }
        let count = result.keys.count.counted("key")
        Output.notice("tokens are signed with the key \(PlainText.line(key.keyID.utf8)); \(count) verify")
      })
  }

  /// Makes sure that there is the account of the command line, before a person is asked about it.
  private static func expectUser(_ context: Context) throws(CommandFailure) {
    guard try !hasUser(context.arguments.operands[0], context) else { return }
    var error = BrokerError(.validationFailed)
    error.fields = ["user"]
    throw unknownUser(CommandFailure(.broker(error)), context)
  }

  /// Whether the provider has an account by an identifier or address, as far as it lists them.
  static func hasUser(_ name: String, _ context: Context) throws(CommandFailure) -> Bool {
    var connection = try context.connect()
    let users = try context.call(ListLocalUsers.self, Empty(), on: &connection).users
    return users.count == ListLocalUsers.largestCount
      || users.contains { $0.id == name || $0.email.lowercased() == name.lowercased() }
  }

  /// Says in plain words that the provider does not have the account or the session that the command line names.
  private static func unknownUser(_ failure: CommandFailure, _ context: Context) -> CommandFailure {
    guard let error = failure.error, error.kind == .validationFailed, let fields = error.fields else { return failure }
    if let user = context.arguments.operands.first, fields.contains("user") {
      return failure.saying(
        Message(
          "no account here has the identifier or address \(user.shellQuoted)",
          next: NextCommand("see", "local", "users")))
    }
    guard let session = context.arguments["--session"], fields.contains("session") else { return failure }
    return failure.saying(
      Message("there is no such session: \(session.shellQuoted)", next: NextCommand("see", "local", "sessions")))
  }
}
