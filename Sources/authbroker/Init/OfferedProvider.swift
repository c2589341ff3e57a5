import BrokerProtocol
import JSON
import LinuxSystem

/// A type of provider that a profile can name, as the daemon describes it.
struct OfferedProvider: Equatable {
  /// One key of a profile that a person is asked for.
  struct Question: Equatable {
    /// The key in the profile's section.
    let key: String
    /// What is asked.
    let text: String
    /// Whether a profile needs it.
    let isRequired: Bool
    /// Whether it says where a secret is.
    let isSecret: Bool
    /// What holds where nothing is answered; nil where that is not known.
    var usual: String?
  }

  /// The name in the configuration.
  let type: String
  /// The name for people.
  let title: String
  /// What is asked, in order.
  let questions: [Question]

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
        questions: try node["questions"]?.elements().map { question throws(JSONMismatch) in
          Question(
            key: try question["key"]?.string() ?? "", text: try question["text"]?.string() ?? "",
            isRequired: try question["isRequired"]?.bool() ?? false,
            isSecret: try question["isSecret"]?.bool() ?? false, usual: try question["usual"]?.string())
        } ?? [])
    } ?? []
  }
}
