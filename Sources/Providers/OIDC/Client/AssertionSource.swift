package import ConfigurationFile
import JSON

/// The source of an assertion that another party has issued, such as a platform that knows its workloads (RFC 7521).
///
/// It is read again for each request: such assertions live for minutes, and are replaced while the broker runs.
package enum AssertionSource: Sendable, Equatable {
  /// A file or a program.
  case reference(SecretReference)
  /// GitHub Actions, asked for one that names this audience, nil for the issuer of the profile; `key` is the key of the
  /// configuration that says so.
  case gitHubActions(audience: String?, key: String)

  /// The forms of it in a configuration.
  static let forms = #"{file: "/PATH"}, {command: ["PROGRAM"]} or {githubActions: {audience: "…"}}"#

  /// Reads the source at a key; nil where it is absent or faulty.
  ///
  /// An assertion that stands there itself is a mistake, and is not quoted.
  static func read(_ key: String, in section: inout ConfigurationSection) -> AssertionSource? {
    guard let node = section.value(key) else { return nil }
    guard node.kind == .object else {
      section.report(key, "an assertion must not stand in the configuration", "write where it is: \(forms)")
      return nil
    }
    var source = section.section(key)
    let found = members(&source, of: key)
    source.finish(aliases: ["path": "file", "github": "githubActions", "tokenFile": "file"])
    let count = members.count { source.has($0) }
    if count > 1 || source.isEmpty { section.report(key, "must be one of \(forms)") }
    return count == 1 ? found : nil
  }

  /// The keys of which a source has one.
  static let members = ["file", "command", "githubActions"]

  /// Reads those keys of a section, which may have others besides; `key` is the section's own.
  static func members(_ section: inout ConfigurationSection, of key: String) -> AssertionSource? {
    let file = section.filePath("file")
    let command = section.program("command")
    var actions = section.section("githubActions")
    let audience = actions.string("audience")
    if audience?.isEmpty == true { actions.report("audience", "must not be empty") }
    actions.finish()
    if let file { return .reference(SecretReference(key, .file(file), .assertion)) }
    if let command { return .reference(SecretReference(key, .command(command), .assertion)) }
    return section.has("githubActions") ? .gitHubActions(audience: audience, key: key) : nil
  }
}
