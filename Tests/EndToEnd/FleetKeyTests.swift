import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// Another key for a fleet of real brokers, and the end of a machine's part in it.
@Suite(.standardTimeLimit, .enabled(if: DatabaseCluster.programs != nil, "\(DatabaseCluster.absence)"))
struct FleetKeyTests {
  private static let wish = #"{"profile":"shop","forceRefresh":true}"#

  @Test func `members that refresh follow a new key, and lose nothing`() async throws {
    try await FleetStage.run { stage in
      let members = try (1...3).map { try stage.member("m\($0)") }
      try members[0].logIn()
      for member in members { #expect(Patience.wait { (try? member.state()) == "authenticated" }) }
      var last = try members[0].token()
      for round in 1...6 {
        let question = #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":\#(Self.wish)}"#
        for member in members { try member.wire.send(Array(question.utf8)) }
        let outcome = try stage.fleet("m\(round % 3 + 1)", "rekey")
        #expect(outcome.code == 0 && outcome.output.contains("1 session is re-encrypted"), "\(outcome)")
        for member in members {
          let answer = try member.wire.nextNode()
          #expect(answer["result"] != nil, "\(String(decoding: answer.text, as: UTF8.self))")
        }
        let token = try members[0].token()
        #expect(token != last)
        for member in members { #expect(Patience.wait { (try? member.token()) == token }) }
        last = token
      }
      let refreshes = try stage.backend.refreshes()
      #expect(refreshes.count >= 6 && refreshes.allSatisfy { $0 == "rotated" }, "\(refreshes)")
      for member in members { #expect(try member.alerts().isEmpty) }
      // One that comes later has the key of now.
      #expect(try stage.member("later").token() == last)
    }
  }

  @Test func `a machine with the old store.key is offline, and goes on once its file is another one`() async throws {
    try await FleetStage.run { stage in
      let (own, next) = (stage.sandbox.root + "/own.key", stage.sandbox.root + "/next.key")
      try Self.copy(stage.keyFile, to: own)
      let (one, two) = (try stage.member("one"), try stage.member("two", key: own))
      try one.logIn()
      #expect(Patience.wait { (try? two.state()) == "authenticated" })
      let token = try two.token()
      // The one of now is not written over.
      let refused = try stage.fleet("two", "rekey", ["--new-key", own])
      #expect(refused.code == 1 && refused.errors.contains("name another file"), "\(refused.errors)")
      let done = try stage.json("one", "rekey", ["--new-key", next])
      #expect(try done.required("newKey").string() == next)
      #expect(try FileStatus.ofLink(next).permissions == 0o600)
      for member in [one, two] {
        #expect(Patience.wait { (try? member.state()) == "offline" })
        #expect(try member.token() == token)
        #expect(try member.wire.refusal("getAccessToken", Self.wish) == "storeFailed")
      }
      let status = try stage.fleet("two", "status")
      #expect(status.code == 7 && status.errors == "authbroker: the fleet f: store.key is not the key of the fleet\n")
      #expect(two.program.errorText.contains("store.key is not the key of the fleet"))
      try Self.copy(next, to: own)
      #expect(Patience.wait { (try? two.state()) == "authenticated" })
      let fresh = try two.token(new: true)
      #expect(try fresh != token && one.state() == "offline")
      try Self.copy(next, to: stage.keyFile)
      #expect(Patience.wait { (try? one.token()) == fresh })
      let refreshes = try stage.backend.refreshes()
      #expect(!refreshes.isEmpty && refreshes.allSatisfy { $0 == "rotated" }, "\(refreshes)")
      for member in [one, two] { #expect(try member.alerts().isEmpty) }
    }
  }

  @Test func `a key that cannot be changed leaves no file behind`() async throws {
    try await FleetStage.run { stage in
      let (other, next) = (stage.sandbox.root + "/other.key", stage.sandbox.root + "/next.key")
      try stage.configure("other", key: other)
      let mixed = try stage.fleet("other", "init", ["--new-key", next])
      #expect(mixed.code == 1 && mixed.errors.contains("give the same file"), "\(mixed.errors)")
      for path in [other, next] { #expect((try? FileStatus.ofLink(path)) == nil) }
      // A key of another fleet.
      try Directory.write(Self.strangeKey, to: other)
      let wrong = try stage.fleet("other", "rekey", ["--new-key", next])
      #expect(wrong.code == 7 && wrong.errors.contains("its key is the same as before"), "\(wrong.errors)")
      #expect((try? FileStatus.ofLink(next)) == nil)
      try stage.cluster.ask("UPDATE authbroker_fleet SET sealed = '\\x02' WHERE name = ''")
      let newer = try stage.fleet("first", "rekey")
      #expect(newer.code == 7, "\(newer.errors)")
    }
  }

  @Test func `the status says of each session why it is not usable here`() async throws {
    try await FleetStage.run { stage in
      let address = "https://other.example.com"
      let one = try stage.member(
        "one", [stage.shop, stage.shop.replacing("shop", "till"), stage.shop.replacing("shop", "bar")])
      for profile in ["shop", "till", "bar"] { try one.logIn(profile) }
      _ = try one.wire.call("logout", #"{"profile":"bar"}"#)
      let mail = #"mail: {provider: "rest", baseUrl: "\#(stage.backend.url)", shared: true}"#
      let shop = #"shop: {provider: "rest", baseUrl: "\#(address)", shared: true}"#
      try stage.configure("two", [shop, mail, stage.shop.replacing("shop", "bar")])
      try stage.cluster.ask(
        "INSERT INTO authbroker_fleet SELECT fleet, 'mail', 1, sealed, changed_at FROM authbroker_fleet WHERE name = 'till'"
      )
      let status = try stage.json("two", "status")
      let records = try status.required("records").elements()
      #expect(try records.map { try $0.required("profile").string() } == ["bar", "mail", "shop", "till"])
      #expect(
        try records.map { try $0["reason"]?.string() ?? "usable" } == [
          "signedOut", "damaged", "otherBinding", "notShared",
        ])
      #expect(try records[2].required("binding").required("address").string() == stage.backend.url)
      let text = try stage.fleet("two", "status").output
      #expect(
        text.contains("shop: not usable here: it is rest \(stage.backend.url) in the fleet and is rest \(address) here")
      )
      try stage.configure("three", [stage.shop, stage.shop.replacing("shop", "new")])
      let other = try stage.json("three", "status").required("records").elements()
      let uses = try other.map { "\(try $0.required("profile").string()) \(try $0["reason"]?.string() ?? "usable")" }
      #expect(uses == ["bar notShared", "mail damaged", "new absent", "shop usable", "till notShared"])
      // A refresh whose answer does not come.
      _ = try stage.backend.ask("/misbehave", #"{"endpoint":"refresh","name":"drop-after-commit"}"#)
      _ = try one.wire.refusal("getAccessToken", Self.wish)
      let flown = try stage.json("three", "status").required("records").elements()[3]
      #expect(try flown["refreshUntil"] != nil || flown["refreshOutcomeUnknown"]?.bool() == true)
    }
  }

  @Test func `a machine that leaves has no key any more, and says what is left to do`() async throws {
    try await FleetStage.run { stage in
      let own = stage.sandbox.root + "/own.key"
      try Self.copy(stage.keyFile, to: own)
      let (one, two) = (try stage.member("one"), try stage.member("two", key: own))
      try one.logIn()
      let running = try stage.fleet("two", "leave", ["--yes"])
      #expect(running.code == 1 && running.errors.contains("authbroker stop"), "\(running.errors)")
      stage.sandbox.bury(two.program)
      let unasked = try stage.fleet("two", "leave")
      #expect(unasked.code == 2 && unasked.errors.contains("give --yes"), "\(unasked.errors)")
      // What is a link, or another's as well, stays.
      let link = stage.sandbox.root + "/link.key"
      #expect(symlink(own, link) == 0)
      try stage.configure("two", key: link)
      let linked = try stage.fleet("two", "leave", ["--yes"])
      #expect(linked.code == 1 && linked.errors.contains("symbolic link"), "\(linked.errors)")
      try Directory.write("{store: ", to: stage.sandbox.root + "/two.json")
      #expect(try stage.fleet("two", "leave", ["--yes"]).code == 1)
      for path in [own, link] { #expect((try? FileStatus.ofLink(path)) != nil) }
      try stage.configure("two", key: own)
      let left = try stage.fleet("two", "leave", ["--yes"])
      #expect(left.code == 0 && left.output.hasPrefix("removed \(own): this machine can open nothing"), "\(left)")
      for words in [
        "with the others stay: shop", "two.json", "revoke the role", "authbroker fleet rekey --new-key FILE",
      ] {
        #expect(left.output.contains(words), "\(left.output)")
      }
      #expect((try? FileStatus.ofLink(own)) == nil)
      let again = try stage.json("two", "leave")
      #expect(try again.required("removed").bool() == false && again.required("sessions").elements().count == 1)
      #expect(try stage.fleet("two", "leave").output.hasPrefix("there is nothing to remove: \(own) is not there"))
      // Without the database it leaves as well.
      try Self.copy(stage.keyFile, to: own)
      stage.cluster.end()
      let alone = try stage.fleet("two", "leave", ["--yes"])
      #expect(alone.code == 0 && alone.output.contains("what is in the fleet is not known"), "\(alone)")
      try Directory.write("{}", to: stage.sandbox.root + "/two.json")
      let none = try stage.fleet("two", "leave")
      #expect(none.code == 0 && none.output == "there is nothing to remove: the configuration has no store\n")
    }
  }

  /// A key that no fleet has.
  private static let strangeKey = String(repeating: "QUFB", count: 10) + "QUE=\n"

  /// Puts what is in a file into the place of another one, as `mv` does.
  private static func copy(_ path: String, to place: String) throws {
    let bytes = try FileDescriptor.open(path, .read).contents(limit: 1000)
    try PendingFile(place, bytes.span).put(replacing: true)
  }
}

extension String {
  /// The text with the first of some words replaced.
  fileprivate func replacing(_ old: String, _ new: String) -> String {
    hasPrefix(old) ? new + dropFirst(old.count) : self
  }
}
