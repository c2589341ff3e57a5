import BrokerCore
import Configuration

/// The rules that have the owner asked before a token is given: for the check of the configuration, and the doctor.
enum AskingRules {
  /// One sentence that names them, and the ways to answer; none where there is no such rule.
  static func all(_ configuration: BrokerConfiguration) -> [String] {
    let rules = configuration.access ?? []
    let asking = rules.indices.filter { rules[$0].allowance.confirmation != .never }
    guard !asking.isEmpty else { return [] }
    // As many as a person reads on one line.
    let most = 8
    let names = asking.prefix(most).map { "access.rules[\($0)]" }.joined(separator: ", ")
    let rest = asking.count > most ? " and \(asking.count - most) more" : ""
    let program = configuration.consent.command.first.map { ", and so does \($0) (access.confirm.command)" } ?? ""
    return [
      "\(names)\(rest) \(asking.count == 1 ? "has" : "have") you asked before a token is given: `authbroker consent` "
        + "answers\(program)"
    ]
  }

  /// The fault of the program that asks the owner, and the remedy; nil where there is none of either.
  static func fault(_ configuration: BrokerConfiguration, _ environment: [String: String]) -> String? {
    guard let program = configuration.consent.command.first,
      let problem = MissingHook.problem(of: program, environment)
    else { return nil }
    return "access.confirm.command: \(program) \(problem)"
  }
}
