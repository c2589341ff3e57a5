import BrokerCore
import BrokerProtocol
import ConfigurationFile
import JSON
import TestSupport
import Testing

@testable import Configuration

/// The section `requests` of a profile.
@Suite(.standardTimeLimit) struct RequestConfigurationTests {
  private static func rules(_ text: String) throws(ConfigurationError) -> RequestRules? {
    let text = "{ profiles: { default: { provider: \"local\"\(text.isEmpty ? "" : ", requests: \(text)") } } }"
    return try BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: [:]).profiles[0].requests
  }

  private static func mistakes(_ rule: String) -> [String] {
    do throws(ConfigurationError) {
      _ = try rules("{ allow: [\(rule)] }")
      return []
    } catch { return error.mistakes.map { "\($0.path): \($0.message)" } }
  }

  @Test func `rules are read with their standard methods`() throws {
    #expect(try Self.rules("") == nil && Self.rules("{}") == RequestRules(allow: []))
    let origin = try TargetAddress("https://api.example.com").origin
    #expect(
      try Self.rules(#"{ allow: [{ origin: "https://API.example.com:443/" }] }"#)
        == RequestRules(allow: [RequestRule(origin)]))
    #expect(
      try Self.rules(#"{ allow: [{ origin: "http://localhost:80", methods: ["POST"], paths: ["/v1/**"] }] }"#)
        == RequestRules(allow: [
          RequestRule(
            try TargetAddress("http://localhost").origin, methods: [.post], paths: [try PathPattern("/v1/**")])
        ]))
  }

  @Test(arguments: [
    (#"{}"#, "allow[0].origin"), (#"{ origin: "https://a.example/v1" }"#, "origin: must be a server alone"),
    (#"{ origin: "https://u@a.example" }"#, "origin: must be an https:// address"),
    (#"{ origin: "https://a.example?x" }"#, "origin: must be a server alone"),
    (#"{ origin: "http://a.example" }"#, "origin: must be an https:// address"),
    (#"{ origin: "smtp://a.example" }"#, "origin: must be an https:// address"),
    (#"{ origin: "https://*.a.example" }"#, "origin: must be"),
    (#"{ origin: "https://a.example", methods: ["get"] }"#, "methods[0]: must be one of GET, HEAD"),
    (#"{ origin: "https://a.example", methods: ["TRACE"] }"#, "methods[0]: must be one of GET, HEAD"),
    (#"{ origin: "https://a.example", paths: ["v1"] }"#, "paths[0]: must be a path"),
    (#"{ origin: "https://a.example", paths: ["/v1/%2e%2e/x"] }"#, "paths[0]: must be a path"),
    (#"{ origin: "https://a.example", path: ["/v1"] }"#, "path"),
  ])
  func `a rule with a mistake says what it must be`(_ rule: String, _ expected: String) {
    let mistakes = Self.mistakes(rule)
    #expect(mistakes.count == 1 && mistakes[0].contains(expected), "\(mistakes)")
  }

  @Test func `the schema of a rule names the same keys and methods`() throws {
    let root = try SchemaFile.document("config.schema.json").root
    let rule = try root.required("$defs").required("requestRules").required("items")
    #expect(try rule.required("properties").members().map(\.name) == ["origin", "methods", "paths"])
    let methods = try rule.required("properties").required("methods").required("items").required("enum").elements()
    #expect(try methods.map { try $0.string() } == APIRequest.Method.allCases.map(\.rawValue))
  }
}
