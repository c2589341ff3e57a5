import BrokerProtocol
import JSON
import LinuxSystem
import StateDirectory

/// A type of provider that a profile can name, as the daemon describes it.
struct OfferedProvider: Equatable {
  /// One key of a profile that a person is asked for.
  struct Question: Equatable {
    /// The key in the profile's section.
    let key: String
    /// The question.
    let text: String
    /// Whether a profile needs it.
    let isRequired: Bool
    /// Whether it says where a secret is.
    let isSecret: Bool
    /// Whether a person is asked: else only where an option gives it, or the provider has refused the client.
    var isAsked = true
    /// Why it is asked, in one sentence; nil where the question says it.
    var reason: String?
    /// The default; nil where it is unknown.
    var usual: String?
    /// The value to write where nothing is answered; nil for nothing.
    var value: String?
  }

  /// The name in the configuration.
  let type: String
  /// The name for people.
  let title: String
  /// The page where its client, or its key, is got, with `${key}` for the value of a key; nil where only its operator
  /// knows.
  var address: String?
  /// The instructions; nil where a profile needs neither.
  var steps: String?
  /// The questions, in order.
  let questions: [Question]

  /// The page where the client of a profile is registered, with the profile's own values in it; nil where one of them
  /// is not known.
  func registrationAddress(with draft: ProfileDraft) -> String? {
    guard var rest = address?[...] else { return nil }
    var text = ""
    while let mark = rest.indices.first(where: { rest[$0...].hasPrefix("${") }) {
      text += rest[..<mark]
      let variable = rest[mark...].dropFirst(2).prefix { $0 != "}" }
      let name = variable.prefix { $0 != ":" }
      let usual = name.endIndex < variable.endIndex ? String(variable[name.endIndex...].dropFirst(2)) : nil
      guard let value = draft.string(String(name)) ?? usual else { return nil }
      text += value
      rest = rest[variable.endIndex...].dropFirst()
    }
    return PlainText.line((text + rest).utf8)
  }

  /// Asks the daemon's program, which knows all of them; no broker is started.
  ///
  /// - Throws: a failure where there is no such program, or it is of another version.
  static func all(_ context: Context) throws(CommandFailure) -> [OfferedProvider] {
    let paths = try context.paths()
    let report: DaemonProgram.Report
    do throws(Errno) { report = try DaemonProgram.report(context, paths, ["--list-providers"]) } catch {
      throw CommandFailure(.failure, "the program authbrokerd cannot be run: \(error)")
    }
    guard report.code == 0, let offered = try? list(report.object ?? ""), !offered.isEmpty else {
      throw CommandFailure(.failure, "authbrokerd does not list its providers; install both programs together")
    }
    return offered
  }

  /// Reads the daemon's line.
  static func list(_ text: String) throws(JSONMismatch) -> [OfferedProvider] {
    let root: JSONNode
    do throws(JSONError) { root = try JSONDocument(parsing: Array(text.utf8)).root } catch {
      throw JSONMismatch(at: .root, expected: "JSON")
    }
    return try root["providers"]?.elements().map { node throws(JSONMismatch) in
      OfferedProvider(
        type: try node["type"]?.string() ?? "", title: try node["title"]?.string() ?? "",
        address: try node["address"]?.string(), steps: try node["steps"]?.string(),
        questions: try node["questions"]?.elements().map { question throws(JSONMismatch) in
          Question(
            key: try question["key"]?.string() ?? "", text: try question["text"]?.string() ?? "",
            isRequired: try question["isRequired"]?.bool() ?? false,
            isSecret: try question["isSecret"]?.bool() ?? false, isAsked: try question["isAsked"]?.bool() ?? true,
            reason: try question["reason"]?.string(), usual: try question["usual"]?.string(),
            value: try question["value"]?.string())
        } ?? [])
    } ?? []
  }
}
