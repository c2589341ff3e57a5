import AuthBrokerClient
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import authbroker

/// The text of a profile that `init` writes, and what it reads of the daemon.
@Suite(.standardTimeLimit) struct ProfileDraftTests {
  private static let listing = """
    {"providers":[{"type":"x","title":"X","questions":[
    {"key":"issuer","text":"Issuer","isRequired":true,"isSecret":false},
    {"key":"clientSecret","text":"Secret","isRequired":false,"isSecret":true,"usual":"none"}]}]}
    """

  private static func draft() throws -> ProfileDraft {
    ProfileDraft(try #require(try OfferedProvider.list(listing).first))
  }

  @Test func `the daemon's list is read as it is`() throws {
    let provider = try Self.draft().provider
    #expect(provider.type == "x" && provider.title == "X" && provider.questions.count == 2)
    #expect(provider.questions[0].isRequired && !provider.questions[0].isSecret && provider.questions[0].usual == nil)
    #expect(provider.questions[1].isSecret && provider.questions[1].usual == "none")
    #expect(throws: (any Error).self) { try OfferedProvider.list("not JSON") }
  }

  @Test(arguments: [
    ("https://x.example/${issuer}/new", "https://x.example/i/new"),
    ("${host:-https://h.example}/a", "https://h.example/a"),
    ("https://x.example/${realm}", nil),
  ])
  func `the address of a registration has the profile's own values`(address: String, expected: String?) throws {
    var provider = try Self.draft().provider
    provider.address = address
    var draft = ProfileDraft(provider)
    draft["issuer"] = .text("i")
    #expect(provider.registrationAddress(with: draft) == expected)
  }

  @Test func `the keys stand in the order of the questions, and every value is quoted`() throws {
    var draft = try Self.draft()
    draft.name = "a-b"
    draft["scopes"] = .json(#"["openid"]"#)
    draft["clientSecret"] = .command(["pass", "show \"it\""])
    draft["issuer"] = .text("https://a\"b\\")
    #expect(
      draft.text(secretFile: "", indent: "") == #"""
        "a-b": {
          provider: "x",
          issuer: "https://a\"b\\",
          clientSecret: { command: ["pass", "show \"it\""] },
          scopes: ["openid"],
        },

        """#)
    draft["issuer"] = nil
    #expect(!draft.text(secretFile: "", indent: "").contains("issuer"))
  }

  @Test func `scopes that are announced are asked for where the issuer alone is known, and none were named`() throws {
    for (type, text) in [("oidc", #"["openid", "profile", "email"]"#), ("keycloak", nil)] as [(String, String?)] {
      var draft = ProfileDraft(OfferedProvider(type: type, title: type, questions: []))
      draft.ask(for: [])
      #expect(draft["scopes"] == nil)
      draft.ask(for: ["profile", "email"])
      #expect(draft.text(secretFile: "", indent: "").contains("scopes") == (text != nil))
      if let text { #expect(draft.text(secretFile: "", indent: "").contains("scopes: \(text),")) }
      draft["scopes"] = .json(#"["a"]"#)
      draft.ask(for: ["profile"])
      #expect(draft.text(secretFile: "", indent: "").contains(#"scopes: ["a"]"#))
    }
  }

  @Test func `a secret that was typed is never part of the text`() throws {
    var draft = try Self.draft()
    var bytes = Array("canary".utf8)
    draft["clientSecret"] = .typed(try Secret(wiping: &bytes))
    let text = draft.text(secretFile: "/d/x.secret", indent: "    ")
    #expect(!text.contains("canary") && text.contains(#"clientSecret: { file: "/d/x.secret" },"#), "\(text)")
    #expect(draft.typedSecret != nil)
  }

  @Test(arguments: [
    ("true", true), ("3", true), ("[1]", true), ("{a: 1}", true), ("acme", false), ("https://x", false),
  ])
  func `a value of --set is JSON where it looks like that`(text: String, isJSON: Bool) throws {
    var draft = try Self.draft()
    draft["k"] = SecretReferenceInput.value(text)
    #expect(draft.text(secretFile: "", indent: "").contains(isJSON ? "  k: \(text),\n" : "  k: \"\(text)\",\n"))
  }
}
