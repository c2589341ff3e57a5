import BrokerProtocol
import Configuration
import ConfigurationFile
import Hooks
import JSON
import TestSupport
import Testing

/// The list `hooks` of the configuration.
@Suite(.standardTimeLimit) struct HookConfigurationTests {
  private func parse(_ text: String) throws(ConfigurationError) -> [Hook] {
    try BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: ["profile": "no", "HOME": "/x"]).hooks
  }

  @Test func `events, program and time are taken, and what is filled in later stays`() throws {
    let hooks = try parse(
      """
      { hooks: [
        { events: ["sessionExpired", "loginPending"],
          command: ["notify-send", "AuthBroker", "${profile}: ${event} $${x} $"] },
        { events: ["login"], command: ["/usr/bin/true"], timeoutSeconds: 2.5 },
      ] }
      """)
    #expect(
      hooks == [
        Hook(
          events: [.sessionExpired, .loginPending],
          command: ["notify-send", "AuthBroker", "${profile}: ${event} ${x} $"], timeLimit: .seconds(30)),
        Hook(events: [.login], command: ["/usr/bin/true"], timeLimit: .milliseconds(2500)),
      ])
    #expect(BrokerConfiguration.standard.hooks.isEmpty)
  }

  private static let mistakes: [(String, String)] = [
    (
      "{}",
      #"1:9: hooks: must be a list of objects, not an object"#
    ),
    (
      "[]",
      #"1:9: hooks: has 0 entries; leave it out"#
    ),
    (
      "[1]",
      #"1:10: hooks[0]: must be an object, not a number"#
    ),
    (
      "[{command:['x']}]",
      #"1:10: missing key "events" in hooks[0]; write a list of names, such as "#
        + #"["sessionExpired"]"#
    ),
    (
      "[{events:['login']}]",
      #"1:10: missing key "command" in hooks[0]; write the program and its "#
        + #"arguments, such as ["notify-send", "${event}"]"#
    ),
    (
      "[{events:[],command:['x']}]",
      #"1:18: hooks[0].events: must name at least one event"#
    ),
    (
      "[{events:['logn'],command:['x']}]",
      #"1:19: hooks[0].events[0]: is no event for a hook: "logn"; did you mean "login"?"#
    ),
    (
      "[{events:['eventsLost'],command:['x']}]",
      #"1:19: hooks[0].events[0]: is no event for a hook: "eventsLost"; authbroker watch lists them"#
    ),
    (
      "[{events:['login'],command:['./x']}]",
      #"1:36: hooks[0].command: must begin with a program: its name, or its absolute path"#
    ),
    (
      "[{events:['login'],command:['${event}']}]",
      #"1:36: hooks[0].command: must begin with a program: its name, or its absolute path"#
    ),
    (
      "[{events:['login'],command:['x','${HOME}']}]",
      #"1:41: hooks[0].command[1]: only ${event} and ${profile} are filled in here; write $${ for the "#
        + #"characters"#
    ),
    (
      "[{events:['login'],command:['x'],timeoutSeconds:0}]",
      #"1:57: hooks[0].timeoutSeconds: must be a number of seconds from 1 to 300, not 0"#
    ),
    (
      "[{events:['login'],command:['x'],run:1}]",
      #"1:42: unknown key "run" in hooks[0]; remove it, "command" is given already"#
    ),
  ]

  @Test(arguments: mistakes)
  func `a mistake is told with its place and what to write`(_ value: String, _ expected: String) {
    do {
      let hooks = try parse("{hooks: \(value)}")
      Issue.record("\(hooks)")
    } catch { #expect(error.lines == ["c:" + expected]) }
  }

  @Test func `there is a most of hooks`() throws {
    let hook = "{events:['login'],command:['x']},"
    func list(_ count: Int) -> String { "{hooks:[\(String(repeating: hook, count: count))]}" }
    #expect(try parse(list(Hook.most)).count == Hook.most)
    #expect(throws: ConfigurationError.self) { try parse(list(Hook.most + 1)) }
  }

  @Test func `the schema has the events, keys and bounds of this version`() throws {
    let schema = try SchemaFile.document("config.schema.json").root["properties"]?["hooks"]
    #expect(try schema?["maxItems"]?.integer() == Int64(Hook.most))
    let properties = try #require(try schema?["items"]?["properties"]?.members())
    #expect(properties.map(\.name) == ["events", "command", "timeoutSeconds"])
    let names = try properties[0].value["items"]?["enum"]?.elements().map { try $0.string() }
    #expect(names == Hook.eventNames.map(\.rawValue))
    #expect(try properties[2].value["maximum"]?.integer() == 300 && properties[2].value["default"]?.integer() == 30)
  }
}
