import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// The one form of addresses and names, in which no two spellings of one are two accounts.
@Suite(.standardTimeLimit) struct EmailAddressTests {
  /// An e with an acute accent, in one scalar and in two.
  private static let (composed, decomposed) = ("r\u{E9}ne@example.com", "re\u{301}ne@example.com")

  @Test(arguments: [
    (decomposed, composed), (composed, composed), (" \u{A0}\tAnn@Example.COM\u{3000}\r\n", "ann@example.com"),
    // The Kelvin sign is a K (Unicode Standard Annex 15), and only a small h has a letter with a line below.
    ("\u{212A}@b.de", "k@b.de"), ("H\u{331}@b.de", "\u{1E96}@b.de"), ("E\u{301}@b.de", "\u{C9}@b.de"),
    ("\u{5B8B}@\u{4F8B}.cn", "\u{5B8B}@\u{4F8B}.cn"),
  ])
  func `an address has one form`(input: String, form: String) throws {
    let address = try #require(EmailAddress(input)?.text)
    let again = try #require(EmailAddress(address)?.text)
    #expect(Array(address.utf8) == Array(again.utf8))
    #expect(address == form)
  }

  @Test(arguments: [
    "", " ", "@", "a@", "@b", "a b@c", "a\u{0}@b", String(repeating: "a", count: 250) + "@b.de", "a\u{9B}31m@b.de",
    "a\u{202E}@b.de", "a\u{2066}@b.de", "a\u{200B}@b.de", "a\u{AD}@b.de", "a@b.de\u{FEFF}", "a\u{2028}@b.de",
    "a\u{A0}b@c.de", "a\u{3000}b@c.de", "a\u{34F}@b.de", "a\u{FE0F}@b.de", "a\u{3164}@b.de", "a\u{E0041}@b.de",
    "a\u{E000}@b.de", "a\u{378}@b.de",
  ])
  func `what is no address is refused`(input: String) {
    #expect(EmailAddress(input) == nil)
  }

  @Test(arguments: [
    ("Ann", "Ann"), ("Re\u{301}ne\u{301} O\u{2019}Neill", "R\u{E9}n\u{E9} O\u{2019}Neill"),
    ("\u{2764}\u{FE0F}", "\u{2764}\u{FE0F}"), ("\u{5B8B}", "\u{5B8B}"),
  ])
  func `a name has one form`(input: String, form: String) throws {
    let name = try #require(AccountName(input)?.text)
    #expect(Array(name.utf8) == Array(form.utf8))
  }

  @Test(arguments: [
    "", "Ann\n", "Ann\u{1B}[31m", "Ann\u{9B}31m", "Ann\u{7F}", "\u{202E}nnA", "A\u{200B}nn", "A\u{2029}nn",
    "A\u{E0041}nn", String(repeating: "a", count: 257),
  ])
  func `what is no name is refused`(input: String) {
    #expect(AccountName(input) == nil)
  }

  @Test func `two spellings of an address are one account`() async throws {
    try await ProviderFixture.run { fixture in
      let provider = fixture.provider
      let user = try #require(try await fixture.session(Self.decomposed).user)
      #expect(user.email?.utf8.elementsEqual(Self.composed.utf8) == true)
      for spelling in [Self.decomposed, Self.composed] {
        let twin = Registration(email: spelling, password: try Secret(utf8: ProviderFixture.password))
        let registered = await failure { () throws(ProviderFailure) in try await provider.register(twin) }
        let added = await failure { () throws(ProviderFailure) in try await provider.addUser(twin) }
        #expect(registered == .refused(.emailTaken) && added == .refused(.emailTaken))
        #expect(try await provider.login(fixture.credentials(spelling)).session.user?.id == user.id)
        #expect(try await provider.setEnabled(true, user: spelling).id == user.id)
        try await provider.forgotPassword(email: spelling)
      }
      #expect(try fixture.tokenMessage().required("to").string() == Self.composed)
      let other = try await fixture.session("other@example.com")
      let moved = await failure { () throws(ProviderFailure) in
        try await fixture.update("{\"email\":\"\(Self.decomposed)\"}", other)
      }
      #expect(moved == .refused(.emailTaken))
    }
  }

  @Test(arguments: [
    ("name", #"Ann\u001b[31m"#), ("name", #"Ann\u202e"#), ("email", #"a\u202e@b.de"#), ("email", #"a\u009b@b.de"#),
  ])
  func `an account takes no hidden characters, at its registration and later`(
    field: String, text: String
  ) async throws {
    try await ProviderFixture.run { fixture in
      let changes = "{\"\(field)\":\"\(text)\"}"
      let value = try JSONDocument(parsing: Array(changes.utf8)).root.required(field).string()
      let password = try Secret(utf8: ProviderFixture.password)
      let registration = Registration(
        email: field == "email" ? value : "x@example.com", password: password, name: field == "name" ? value : nil)
      let provider = fixture.provider
      let refused = ProviderFailure.refused(.validationFailed, fields: [field])
      let registered = await failure { () throws(ProviderFailure) in try await provider.register(registration) }
      let session = try await fixture.session()
      let changed = await failure { () throws(ProviderFailure) in try await fixture.update(changes, session) }
      #expect(registered == refused && changed == refused)
    }
  }

  @Test func `addresses and names of an earlier database take the one form, unless another has it`() async throws {
    try await ProviderFixture.run { fixture in
      let earlier = try EarlierDatabase(version: 2, in: fixture)
      for (id, email) in [
        ("alone", "Zoe\u{308}@example.com"), ("twin", Self.decomposed), ("first", Self.composed),
        ("hidden", "a\u{202E}@example.com"),
      ] { try earlier.addAccount(id, email, password: ProviderFixture.password) }
      try earlier.addSession(of: "twin", refreshToken: "of the twin")
      try earlier.close()
      try await fixture.change(
        "UPDATE account SET name = 'A' || char(0x1B) || 'n' || char(0x202E) || 'n' WHERE id = 'first'")
      let provider = fixture.provider
      let names = try await provider.users().map(\.name)
      #expect(names.compactMap(\.self) == ["Ann"])
      for email in ["zo\u{EB}@example.com", "zoe\u{308}@example.com"] {
        #expect(try await provider.login(fixture.credentials(email)).session.user?.id == "alone")
      }
      for email in [Self.composed, Self.decomposed] {
        #expect(try await provider.login(fixture.credentials(email)).session.user?.id == "first")
      }
      let tokens = try await provider.refresh(BoundToken(Secret(utf8: "of the twin")))
      #expect(try await provider.currentUser(accessToken: tokens.accessToken).id == "twin")
      for id in ["twin", "hidden"] { try await provider.delete(id) }
      #expect(try await provider.users().count == 2)
    }
  }
}
