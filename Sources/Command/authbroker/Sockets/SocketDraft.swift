import BrokerProtocol
import LinuxSystem

/// A limited socket as a command line describes it.
struct SocketDraft {
  /// The options that describe it.
  static let options: [Option] = [
    .value("--for", "TIME", "for how long, such as 90s, 15m, 8h or 7d (1h); 30d at most", member: "lifetimeSeconds"),
    .value(
      "--method", "METHOD", "a method that it allows; may be repeated (all)", completion: .methods,
      member: "methods"),
    .value("--scope", "SCOPE", "a scope that tokens may have; may be repeated (any)", member: "scopes"),
    .value("--audience", "NAME", "an audience of tokens; may be repeated (any)", member: "audiences"),
    .flag("--use-only", "clients use tokens by the broker, and hold none"),
    .flag("--remember", "your consents are remembered although ssh forwards the socket"),
    .value("--uid", "USER", "a user who may connect, by name or number; may be repeated", member: "uids"),
    .value("--group", "GROUP", "the group that the socket belongs to"),
    .value("--mode", "MODE", "its permissions: 0600, 0660 (with --group) or 0666"),
    .value("--path", "PATH", "where it is; its directory exists", completion: .files),
  ]

  /// The request.
  let params: OpenSocket.Params

  /// Reads the options.
  ///
  /// - Throws: a usage failure.
  init(_ context: Context, _ profiles: some Collection<String>) throws(CommandFailure) {
    let arguments = context.arguments
    var names: [ProfileName] = []
    for profile in profiles {
      guard let name = ProfileName(profile) else {
        throw .usage("PROFILE is a profile's name (a-z, 0-9, '.', '_' and '-'), not \(profile.shellQuoted)")
      }
      names.append(name)
    }
    let lifetime = try Self.time(arguments["--for"] ?? "1h", of: "--for")
    params = OpenSocket.Params(
      profiles: names, methods: Self.list(arguments, "--method"), scopes: Self.list(arguments, "--scope"),
      audiences: Self.list(arguments, "--audience"), may: arguments.has("--use-only") ? "use" : nil,
      remember: arguments.has("--remember") ? true : nil, users: Self.list(arguments, "--uid"),
      group: arguments["--group"], lifetime: lifetime,
      path: arguments["--path"].map { PathName.absolute($0, in: ProcessIdentity.workingDirectory) },
      mode: arguments["--mode"])
  }

  private static func list(_ arguments: Arguments, _ name: String) -> [String]? {
    let values = arguments.all(name)
    return values.isEmpty ? nil : values
  }

  /// Reads a time with its unit; a number alone is one of seconds, as everywhere.
  static func time(_ text: String, of option: String) throws(CommandFailure) -> Duration {
    guard let time = Duration(text) else {
      throw .usage("\(option) needs a time such as 90s, 15m, 8h or 7d, not \(text.shellQuoted)")
    }
    return time
  }
}
