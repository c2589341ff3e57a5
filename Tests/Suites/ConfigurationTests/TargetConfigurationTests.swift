import BrokerCore
import BrokerProtocol
import Configuration
import JSON
import TestSupport
import Testing

/// The section `targets`.
@Suite(.standardTimeLimit) struct TargetConfigurationTests {
  private static func targets(_ text: String) throws -> [Target] {
    try BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: ["HOST": "git.example.com"]).targets.targets
  }

  @Test func `a name is short for an entry with a profile alone`() throws {
    let url = "https://git.example.com/acme"
    let wanted = [Target(url: url, profile: .default)]
    #expect(try Self.targets(#"{targets:{"\#(url)":"default"}}"#) == wanted)
    #expect(try Self.targets(#"{targets:{"\#(url)":{profile:"default"}}}"#) == wanted)
  }

  @Test func `an entry says everything about its token`() throws {
    let targets = try Self.targets(
      #"""
      {profiles:{work:{provider:"local"}},
       targets:{"https://a.example":{profile:"work",username:"oauth2",scopes:["pull"],audience:"x",scheme:"Basic"}}}
      """#)
    #expect(
      targets == [
        Target(
          url: "https://a.example", profile: try #require(ProfileName("work")), username: "oauth2", scopes: ["pull"],
          audience: "x", scheme: .basic)
      ])
  }

  @Test func `a user name in the address is that of the token`() throws {
    let url = "https://bob%2Bx@*.example.com/a"
    #expect(
      try Self.targets(#"{targets:{"\#(url)":"default"}}"#) == [Target(url: url, profile: .default, username: "bob+x")])
  }

  @Test func `without the section there are none`() throws {
    #expect(try Self.targets("{}").isEmpty)
    #expect(BrokerConfiguration.standard.targets.targets.isEmpty)
  }

  @Test(arguments: [
    #"{profile:"default",scopes:["a b"]}"#, #"{profile:"default",scopes:"a"}"#, #"{profile:"default",username:"a:b"}"#,
    #"{profile:"default",username:""}"#, #"{profile:"default",scheme:"bearer"}"#, #"{profile:"default",audience:""}"#,
    #"{profile:"other"}"#, "{}", "1", "null", "[]", #""""#,
  ])
  func `what an entry cannot be is refused`(_ entry: String) {
    #expect(throws: (any Error).self) { try Self.targets(#"{targets:{"https://a.example":\#(entry)}}"#) }
  }

  @Test func `a profile with a mistake is no second mistake here`() {
    do {
      _ = try Self.targets(#"{profiles:{a:{provider:"nope"}},targets:{"https://a.example":"a"}}"#)
      Issue.record("it was accepted")
    } catch {
      #expect("\(error)".contains("targets") == false, "\(error)")
    }
  }

  @Test func `the schema knows the keys of an entry`() throws {
    let schema = try SchemaFile.document("config.schema.json").root
    let entry = try schema.required("properties").required("targets").required("additionalProperties")
    let object = try #require(try entry.required("oneOf").elements().last)
    let keys = try object.required("properties").members().map(\.name)
    #expect(Set(keys) == Set(BrokerConfiguration.targetKeys))
    let schemes = try object.required("properties").required("scheme").required("enum").elements()
    #expect(try schemes.map { try $0.string() } == Target.Scheme.allCases.map(\.rawValue))
  }
}
