import BrokerProtocol
import ConfigurationFile
import Hooks

/// The list `hooks`: programs that are run for events.
extension BrokerConfiguration {
  /// A webhook needs seconds; what takes longer than five minutes is no reaction to an event.
  private static let timeoutSetting = DurationSetting("timeoutSeconds", 1...300, standard: 30)

  /// Reads the list; entries with mistakes are reported and left out.
  static func hooks(_ root: inout ConfigurationSection) -> [Hook] {
    (root.sections("hooks", atMost: Hook.most) ?? []).compactMap { section in
      var section = section
      return hook(&section)
    }
  }

  private static func hook(_ section: inout ConfigurationSection) -> Hook? {
    section.require("events", "write a list of names, such as [\"sessionExpired\"]")
    section.require("command", "write the program and its arguments, such as [\"notify-send\", \"${event}\"]")
    let names = section.strings("events")
    let events = names?.enumerated().compactMap { index, name in event(name, index, section) }
    let command = section.program("command", keeping: Hook.placeholders)
    let timeLimit = section.read(timeoutSetting)
    if names?.isEmpty == true { section.report("events", "must name at least one event") }
    section.finish(aliases: ["event": "events", "on": "events", "run": "command", "exec": "command"])
    guard let events, let command, !events.isEmpty, events.count == names?.count else { return nil }
    return Hook(events: Set(events), command: command, timeLimit: timeLimit)
  }

  private static func event(_ name: String, _ index: Int, _ section: ConfigurationSection) -> EventName? {
    if let event = EventName(rawValue: name), Hook.eventNames.contains(event) { return event }
    let nearest = Spelling.nearest(to: name, among: Hook.eventNames.map(\.rawValue))
    let quoted = section.quoted("events", element: index)
    section.report(
      "events", element: index, "is no event for a hook\(quoted.isEmpty ? "" : ":" + quoted)",
      nearest.map { "did you mean \"\($0)\"?" } ?? "authbroker watch lists them")
    return nil
  }
}
