import Configuration
import ConfigurationFile
import JSON
import TestSupport
import Testing

/// The patterns of addresses in `Schemas/config.schema.json`, which editors judge by, and the decoder.
@Suite(.standardTimeLimit) struct AddressPatternTests {
  /// Addresses, whether they can be a provider's, and whether they can be a target's.
  private static let addresses: [(String, isServer: Bool, isTarget: Bool)] = [
    ("https://a.example", true, true), ("https://a.example/", true, true), ("https://a.example:8443/x/y", true, true),
    ("https://A.Example/x", true, true), ("https://192.0.2.1", true, true), ("https://[2001:db8::1]/x", true, true),
    ("https://a.example/x@y", true, true), ("http://localhost:8080/x", true, true), ("http://127.0.0.1", true, true),
    ("http://127.8.8.8/x", true, true), ("http://[::1]:80", true, true), ("http://a.example", false, false),
    ("http://10.0.0.1/x", false, false), ("http://localhost.example", false, false),
    ("http://127.0.0.1.example", false, false), ("https://", false, false), ("https:///x", false, false),
    ("https://u@a.example", false, true), ("http://u@127.0.0.1", false, true),
    ("https://u:p@a.example", false, false), ("https://@a.example", false, false),
    ("https://a.example/?x=1", false, false),
    ("https://a.example/x#y", false, false), ("https://a.example/a b", false, false), ("a.example", false, false),
    ("ftp://a.example", false, false), ("smtps://mail.example", false, true),
    ("imap://mail.example:143", false, true),
  ]

  private func accepts(_ text: String) -> Bool {
    (try? BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: [:])) != nil
  }

  private func pattern(_ node: JSONNode?) throws -> Regex<AnyRegexOutput> {
    try Regex(#require(node).required("pattern").string())
  }

  @Test func `a pattern takes the addresses that the decoder takes`() throws {
    let root = try SchemaFile.document("config.schema.json").root
    let profile = root["properties"]?["profiles"]?["additionalProperties"]?["properties"]
    let places: [(JSONNode?, String)] = [
      (profile?["issuer"], #"provider:"oidc",clientId:"c",issuer:"#),
      (profile?["baseUrl"], #"provider:"rest",baseUrl:"#),
      // The same rule for each endpoint.
      (root["$defs"]?["endpoint"], #"provider:"rest",baseUrl:"#),
    ]
    for (node, text) in places {
      let pattern = try pattern(node)
      for (address, isServer, _) in Self.addresses {
        #expect(accepts("{profiles:{p:{\(text)\"\(address)\"}}}") == isServer, "\(text)\(address)")
        #expect((address.wholeMatch(of: pattern) != nil) == isServer, "\(text)\(address)")
      }
    }
    let target = try pattern(root["properties"]?["targets"]?["propertyNames"])
    for (address, _, isTarget) in Self.addresses {
      #expect(accepts("{targets:{\"\(address)\":\"default\"}}") == isTarget, "\(address)")
      #expect((address.wholeMatch(of: target) != nil) == isTarget, "\(address)")
    }
  }
}
