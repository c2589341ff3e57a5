import BrokerProtocol
import JSON
import StateDirectory

/// The table of sessions, for people.
enum SessionTable {
  /// The sessions of a profile; nil means all of them.
  ///
  /// - Throws: a usage failure if there is no such profile.
  static func sessions(_ all: [Session], of profile: ProfileName?) throws(CommandFailure) -> [Session] {
    guard let profile else { return all }
    guard let session = all.first(where: { $0.profile == profile }) else {
      throw .usage(
        "unknown profile \(profile)", next: NextCommand("see", "config", "check"))
    }
    return [session]
  }

  /// An answer whose lists of sessions have those of one profile alone, with every other member as it came.
  ///
  /// - Parameters:
  ///   - answer: the answer, which has the lists.
  ///   - names: the names of the lists.
  ///   - profile: the profile; nil: the answer is not narrowed.
  /// - Returns: the text of the answer.
  static func narrowed(_ answer: JSONNode, lists names: String..., to profile: ProfileName?) -> [UInt8] {
    guard let profile, let members = try? answer.members() else { return Array(answer.text) }
    var writer = JSONWriter()
    writer.object { writer in
      for member in members {
        writer.key(member.name)
        guard names.contains(where: { member.name == $0 }), let sessions = try? member.value.elements() else {
          writer.raw(member.value.text)
          continue
        }
        writer.array { writer in
          for session in sessions where (try? session["profile"]?.string()) == profile.description {
            writer.raw(session.text)
          }
        }
      }
    }
    return writer.bytes
  }

  /// Prints one line for each session.
  static func print(_ sessions: [Session], _ style: Style) {
    var table = TextTable("PROFILE", "STATE", "PROVIDER", "ACCOUNT", "TOKEN EXPIRES")
    for session in sessions {
      let account = session.user?.email ?? session.userID ?? "-"
      table.add(
        session.profile.description, session.words, PlainText.line(session.provider.utf8),
        PlainText.line(account.utf8), session.accessTokenExpiresAt.map { LocalTime.relative($0) })
    }
    table.print(style) { line, cells in
      let isUsable = sessions[line].isUsable
      cells[1] = isUsable ? style.good(cells[1]) : style.warning(cells[1])
    }
  }
}

extension Session {
  /// The type of a provider whose tokens are secrets of the configuration: there is nothing to log in to.
  static let configuredType = "static"

  /// Whether its token is a secret of the configuration, which is read where it is first wanted.
  var isConfigured: Bool { provider == Self.configuredType }

  /// Whether it is one of a fleet whose database was not read yet: nothing is known of it.
  var isUnread: Bool { state == .offline && !refreshTokenPresent && lastValidatedAt == nil }

  /// Whether there is a token, or will be one without a login.
  var isUsable: Bool { isConfigured && state == .signedOut || ExitCode(state) == .success }

  /// The state in words for people.
  var words: String { isConfigured && state == .signedOut ? "not read yet" : state.words }
}

extension Session.State {
  /// The state in words for people.
  var words: String {
    switch self {
    case .signedOut: "signed out"
    case .challengePending: "login pending"
    case .authenticated, .refreshing, .offline, .expired, .locked: rawValue
    }
  }
}
