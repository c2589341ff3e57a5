package import BrokerCore
import ConfigurationFile
import Hooks

/// The section `access.confirm`: how the owner is asked whether a client may have a token.
package struct ConsentConfiguration: Sendable, Equatable {
  /// The times of questions and answers.
  package var rules = ConsentRules()
  /// The program that asks the owner, and its arguments; empty where none is configured.
  package var command: [String] = []

  /// Enough to read a question and to type an answer; what takes longer than ten minutes is asked once more.
  private static let timeoutSetting = DurationSetting("timeoutSeconds", 1...600, standard: 20)
  /// As long as password managers wait for the next use; twelve hours are a working day, and zero is for never.
  private static let rememberSetting = DurationSetting("rememberSeconds", 0...43_200, standard: 600)

  /// The defaults.
  init() {
    rules = ConsentRules(
      patience: .seconds(Self.timeoutSetting.standard), remember: .seconds(Self.rememberSetting.standard))
  }

  /// Reads the section, with the default of each setting that is absent.
  init(_ section: inout ConfigurationSection) {
    rules = ConsentRules(patience: section.read(Self.timeoutSetting), remember: section.read(Self.rememberSetting))
    command = section.program("command", keeping: Hook.placeholders) ?? []
    section.finish(
      aliases: ["timeout": "timeoutSeconds", "remember": "rememberSeconds", "exec": "command", "run": "command"])
  }
}
