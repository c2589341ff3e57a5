import JSON
import LinuxSystem
import TestSupport
import Testing

/// A configuration with shared profiles that is changed while a broker runs.
@Suite(.standardTimeLimit, .enabled(if: DatabaseCluster.programs != nil, "\(DatabaseCluster.absence)"))
struct FleetReloadTests {
  private static func profile(_ name: String, _ url: String, isShared: Bool = true) -> String {
    #"\#(name): {provider: "rest", baseUrl: "\#(url)"\#(isShared ? ", shared: true" : "")}"#
  }

  @Test func `a shared profile comes, goes and comes back with a reload`() async throws {
    try await FleetStage.run { stage in
      let mail = Self.profile("mail", stage.backend.url)
      let (one, two) = (try stage.member("one"), try stage.member("two", [stage.shop, mail]))
      try two.logIn("mail")
      #expect(try one.wire.refusal("getSession", #"{"profile":"mail"}"#) == "unknownProfile")
      try stage.configure("one", [stage.shop, mail])
      _ = try one.wire.call("reloadConfig")
      #expect(Patience.wait { (try? one.state(of: "mail")) == "authenticated" })
      // It goes, and its session lives on with the other one; here a logout of the other is not missed.
      try stage.configure("one")
      _ = try one.wire.call("reloadConfig")
      #expect(try one.wire.refusal("getAccessToken", #"{"profile":"mail"}"#) == "unknownProfile")
      _ = try two.wire.call("getAccessToken", #"{"profile":"mail","forceRefresh":true}"#)
      try stage.configure("one", [stage.shop, mail])
      _ = try one.wire.call("reloadConfig")
      let token = try two.wire.call("getAccessToken", #"{"profile":"mail"}"#).required("accessToken").string()
      #expect(
        Patience.wait {
          (try? one.wire.call("getAccessToken", #"{"profile":"mail"}"#)["accessToken"]?.string()) == token
        })
      #expect(try one.alerts().isEmpty && two.alerts().isEmpty)
    }
  }

  @Test func `a shared profile with another address is signed out here alone, and has its session with the old one`()
    async throws
  {
    try await FleetStage.run { stage in
      let other = try RESTBackend(
        stage.sandbox, account: #"{"email":"ada@example.com","password":"example password 1","name":"Ada"}"#)
      let (one, two) = (try stage.member("one"), try stage.member("two"))
      try one.logIn()
      #expect(Patience.wait { (try? two.state()) == "authenticated" })
      let token = try two.token()
      try stage.configure("one", [Self.profile("shop", other.url)])
      _ = try one.wire.call("reloadConfig")
      #expect(Patience.wait { (try? one.state()) == "signedOut" })
      #expect(try one.wire.refusal("getAccessToken", #"{"profile":"shop"}"#) == "loginRequired")
      // The session of the others is not written over by a login here.
      let login = #"{"profile":"shop","email":"ada@example.com","password":"example password 1"}"#
      #expect(try one.wire.refusal("login", login) == "storeFailed")
      #expect(try two.token() == token)
      let fresh = try two.token(new: true)
      try stage.configure("one")
      _ = try one.wire.call("reloadConfig")
      #expect(Patience.wait { (try? one.token()) == fresh })
      #expect(try stage.backend.refreshes() == ["rotated"])
      #expect(try other.refreshes().isEmpty)
      #expect(try one.alerts().isEmpty && two.alerts().isEmpty)
    }
  }

  @Test func `another store, and another profile that is shared, are refused while the broker runs`() async throws {
    try await FleetStage.run { stage in
      let one = try stage.member("one")
      try one.logIn()
      let token = try one.token()
      try stage.configure("one", poll: 2)
      #expect(try one.wire.refusal("reloadConfig") == "configInvalid")
      try stage.configure("one", [Self.profile("shop", stage.backend.url, isShared: false)])
      #expect(try one.wire.refusal("reloadConfig") == "configInvalid")
      #expect(try one.token() == token)
      try stage.configure("one")
      _ = try one.wire.call("reloadConfig")
      #expect(try one.token() == token)
    }
  }
}
