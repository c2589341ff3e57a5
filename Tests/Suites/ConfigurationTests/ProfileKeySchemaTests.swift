import Configuration
import ConfigurationFile
import JSON
import TestSupport
import Testing

/// Which keys each type of provider has and needs: the conditions of `Schemas/config.schema.json` and the decoder.
@Suite(.standardTimeLimit) struct ProfileKeySchemaTests {
  private let profile: JSONNode

  init() throws {
    let root = try SchemaFile.document("config.schema.json").root
    profile = try root.required("properties").required("profiles").required("additionalProperties")
  }

  /// What the decoder says of a profile with these members.
  private static func mistakes(_ type: String, _ members: String) -> [ConfigurationMistake] {
    let text = #"{"profiles":{"p":{"provider":"\#(type)"\#(members)}}}"#
    do throws(ConfigurationError) {
      _ = try BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: [:])
      return []
    } catch { return error.mistakes }
  }

  /// The keys that the conditions for a type require, and those that they take away.
  private func conditions(for type: String) throws -> (needed: Set<String>, foreign: Set<String>) {
    var (needed, foreign) = (Set<String>(), Set<String>())
    for condition in try profile.required("allOf").elements() {
      let provider = try condition.required("if").required("properties").required("provider")
      let names = try provider["enum"]?.elements() ?? [provider.required("const")]
      let isMeant = try names.contains { try $0.string() == type }
      guard let branch = condition[isMeant ? "then" : "else"] else { continue }
      needed.formUnion(try branch["required"]?.elements().map { try $0.string() } ?? [])
      foreign.formUnion(
        try branch["properties"]?.members().filter { (try? $0.value.bool()) == false }.map(\.name) ?? [])
    }
    return (needed, foreign)
  }

  @Test(arguments: ProviderType.all.map(\.name))
  func `a type of provider has and needs the same keys in the schema and in the decoder`(_ type: String) throws {
    let (needed, foreign) = try conditions(for: type)
    let missing = Self.mistakes(type, "").filter { $0.subject == .key }.map {
      String($0.path.dropFirst("profiles.p.".count))
    }
    #expect(needed == Set(missing))
    let unknown = try profile.required("properties").members().map(\.name).filter { key in
      key != "provider"
        && Self.mistakes(type, #","\#(key)":null"#).contains { $0.line.contains(#"unknown key "\#(key)""#) }
    }
    #expect(foreign == Set(unknown))
  }
}
