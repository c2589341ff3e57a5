import BrokerCore
import Configuration
import ConfigurationFile
import TestSupport
import Testing

/// The clients that rules name by their process.
@Suite(.standardTimeLimit) struct AccessConfigurationTests {
  private func rules(_ client: String) throws(ConfigurationError) -> [AccessRule]? {
    let text = "{access:{rules:[{client:{\(client)}}]}}"
    return try BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: ["HOME": "/x"]).access
  }

  private func mistake(_ client: String) -> String? {
    do throws(ConfigurationError) {
      _ = try rules(client)
      return nil
    } catch { return error.description }
  }

  @Test(arguments: [
    "backup.service", "backup-*.service", "app-*", "*", "getty@tty1.service", "user/editor.service", "user/app-*.scope",
    "session-2.scope", #"dev-disk\\x2dby.service"#,
  ]) func `a unit is a name with its suffix, or a pattern`(_ unit: String) throws {
    let rule = try #require(try rules(#"unit: "\#(unit)""#)?.first)
    #expect(rule.unit == NamePattern(unit.replacing(#"\\"#, with: #"\"#)) && rule.label == nil)
  }

  @Test func `a label is taken as it is written`() throws {
    let rule = try #require(try rules(#"label: "system_u:system_r:httpd_t:s0", unit: "a.service""#)?.first)
    #expect(rule.label == NamePattern("system_u:system_r:httpd_t:s0") && rule.unit == NamePattern("a.service"))
    #expect(try rules("")?.first?.unit == nil)
  }

  @Test(arguments: [
    (#"unit: "backup""#, #"access.rules[0].client.unit: has no suffix; write "backup.service""#),
    (#"unit: "user/editor""#, #"has no suffix; write "user/editor.service""#),
    (#"unit: """#, "is no name of a systemd unit; write a name such as backup.service"),
    (#"unit: "user/""#, "is no name of a systemd unit"), (#"unit: "a b.service""#, "is no name of a systemd unit"),
    (#"unit: "/system.slice/a.service""#, "is no name of a systemd unit"), ("unit: 1", "must be a string"),
    (#"label: """#, "must have 1 to 256 bytes without control characters"),
    (#"label: "a\nb""#, "must have 1 to 256 bytes without control characters"), ("label: []", "must be a string"),
    (#"service: "a.service""#, #"did you mean "unit"?"#), (#"units: "a.service""#, #"did you mean "unit"?"#),
  ]) func `what is none is a mistake that says what to write`(_ client: String, _ words: String) {
    let mistake = mistake(client) ?? "none"
    #expect(mistake.contains(words), "\(mistake)")
  }

  @Test(arguments: [
    ("{}", false), ("{access:{rules:[{}]}}", true), ("{access:{rules:[{}],audit:false}}", false),
    ("{access:{rules:[{}],audit:true}}", true),
    (#"{profiles:{a:{provider:"local"}},sockets:{ci:{profiles:["a"]}}}"#, true),
  ]) func `there is an audit where there are rules or sockets, unless it is turned off`(
    _ text: String, _ isAudited: Bool
  ) throws {
    let configuration = try BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: ["HOME": "/x"])
    #expect(configuration.isAudited(opensSockets: false) == isAudited)
    // So do sockets that are opened at run time.
    #expect(configuration.isAudited(opensSockets: true) == !text.contains("audit:false"))
  }
}
