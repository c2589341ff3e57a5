import BrokerProtocol
import JSON
import TextCoding

/// `authbroker target add`.
enum TargetAddCommand: Command {
  static let name = "target add"
  static let about = CommandDescription(
    operands: "URL [PROFILE]",
    summary: "Give the token of a profile to a server",
    details: """
      Adds an entry for scheme, host, port and path to the section targets of the configuration, where every other byte
      stays as it is, and has a running broker read it. PROFILE may be left out where only one is configured. A user name,
      scopes and an audience are added to the entry by hand.
      """,
    options: [.flag("--print", "print the configuration file instead of writing it")],
    examples: [
      "authbroker target add https://git.example.com", "authbroker target add https://git.example.com/acme work",
    ])

  /// Writes the entry, and says what it does.
  static func run(_ context: Context) throws(CommandFailure) {
    let edit = try ConfigurationEdit(context)
    let url = normalForm(of: context.arguments.operands[0])
    let profile = try profile(context, edit)
    if let entry = edit.targets.first(where: { isSame($0.url, url) }) {
      let place = "\(edit.path), line \(entry.line)"
      guard entry.profile == profile.description else {
        throw CommandFailure(
          .failure, "\(url) gets the token of \(entry.profile), by \(place); write the other profile there")
      }
      guard !context.arguments.has("--print") else { return Output.data(edit.present.span) }
      return report(context, Message("\(url) gets the token of \(profile) already, by \(place)"), url, profile, edit)
    }
    let text = edit.text(withTarget: url, of: profile)
    guard !context.arguments.has("--print") else { return Output.data(text.span) }
    guard edit.isWritable else {
      throw CommandFailure(
        .failure, "\(edit.path) is a symbolic link and stays as it is; add the target to the file behind it")
    }
    try edit.write(text, context)
    ReloadCommand.reloadRunning(context)
    let next = NextCommand("see which tools ask for it with", "helper", "list")
    report(context, Message("\(url) gets the token of \(profile), by \(edit.path)", next: next), url, profile, edit)
  }

  private static func report(
    _ context: Context, _ message: Message, _ url: String, _ profile: ProfileName, _ edit: ConfigurationEdit
  ) {
    guard context.wantsJSON else { return context.notice(message) }
    context.printJSON([("url", url), ("profile", profile.description), ("file", edit.path)])
  }

  private static func profile(_ context: Context, _ edit: ConfigurationEdit) throws(CommandFailure) -> ProfileName {
    let named = context.arguments.operands.dropFirst().first
    if let option = context.arguments["--profile"] {
      guard named == nil || named == option else { throw .usage("PROFILE and --profile name different profiles") }
    }
    let text = named ?? context.arguments["--profile"] ?? only(edit.targetProfiles)
    guard let text else {
      throw .usage("several profiles are configured; name one of \(edit.targetProfiles.joined(separator: ", "))")
    }
    guard let profile = ProfileName(text), edit.targetProfiles.contains(text) else {
      throw .unknown(
        "profile", text, likely: Spelling.nearest(to: text, among: edit.targetProfiles),
        choices: edit.targetProfiles.joined(separator: ", "))
    }
    return profile
  }

  private static func only(_ profiles: [String]) -> String? { profiles.count == 1 ? profiles[0] : nil }

  /// Whether two addresses are one target.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    guard let address = try? TargetAddress(prefix: one), let other = try? TargetAddress(prefix: other) else {
      return normalForm(of: one) == normalForm(of: other)
    }
    return address == other
  }

  /// The address in one spelling (RFC 3986, section 6.2).
  ///
  /// docker and git compare it with their own, which has small letters, no usual port and no slash at its end. What is no
  /// address stays as it is, for the daemon to say so.
  static func normalForm(of url: String) -> String {
    let url = url.hasSuffix("/") && !url.hasSuffix("//") ? String(url.dropLast()) : url
    guard let parts = AddressParts(url), parts.user == nil, let server = parts.server else { return url }
    let port = server.port.map { $0 == AddressParts.port(of: parts.scheme) ? "" : ":\($0)" } ?? ""
    return "\(parts.scheme)://\(server.host)\(port)\(parts.rest)"
  }
}
