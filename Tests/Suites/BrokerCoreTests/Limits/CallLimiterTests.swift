import BrokerCore
import TestSupport
import Testing

/// Which calls of providers are let through.
@Suite(.standardTimeLimit) struct CallLimiterTests {
  private static let provider = ProviderBinding(type: "rest", issuer: "https://a.example")

  private static func subject(_ client: UInt64?, _ account: String? = nil, at issuer: String = "https://a.example")
    -> CallLimiter.Subject
  {
    CallLimiter.Subject(
      client: client.map { ClientID($0) }, provider: ProviderBinding(type: "rest", issuer: issuer), account: account)
  }

  /// How many calls in a row pass.
  private static func passes(
    _ limiter: inout CallLimiter, _ call: CallLimiter.Call, _ subject: CallLimiter.Subject, at seconds: Int = 0
  ) -> Int {
    var count = 0
    while count < 1000, limiter.admit(call, subject, at: .seconds(seconds)) == nil { count += 1 }
    return count
  }

  /// What one client may do at once for one account, and all clients for all accounts.
  @Test(arguments: [
    (CallLimiter.Call.login, 30, 120), (.message, 5, 30), (.sentCode, 10, 40), (.code, 30, 60), (.mailToken, 10, 20),
    (.change, 20, 60), (.read, 60, 240), (.probe, 20, 60),
  ])
  func `each kind has its own bounds for a client, an account and a provider`(
    _ call: CallLimiter.Call, _ own: Int, _ all: Int
  ) {
    var limiter = CallLimiter()
    #expect(Self.passes(&limiter, call, Self.subject(1, "a")) == own)
    var passed = own
    for client in 2...100 {
      for account in 1...10 {
        passed += Self.passes(&limiter, call, Self.subject(UInt64(client), "\(client)-\(account)"))
      }
    }
    #expect(passed == all)
    // Another provider, and an account of the same name there, have bounds of their own.
    #expect(Self.passes(&limiter, call, Self.subject(101, "a", at: "https://b.example")) == own)
    for other in CallLimiter.Call.allCases where other != call {
      #expect(limiter.refusal(of: other, Self.subject(1, "a"), at: .zero) == nil, "\(other)")
    }
  }

  @Test func `the bound of a client is one for all providers, that of a provider its own`() {
    var limiter = CallLimiter()
    #expect(Self.passes(&limiter, .code, Self.subject(1)) == 30)
    #expect(Self.passes(&limiter, .code, Self.subject(1, at: "https://b.example")) == 0)
    #expect(Self.passes(&limiter, .code, Self.subject(2, at: "https://b.example")) == 30)
  }

  @Test func `a call that is refused at one place takes no token at another`() {
    var limiter = CallLimiter()
    _ = Self.passes(&limiter, .message, Self.subject(1, "a"))
    for _ in 0..<100 {
      #expect(
        limiter.admit(.message, Self.subject(1, "a"), at: .zero) == .init(limit: .accountMails, wait: .seconds(300)))
    }
    #expect(Self.passes(&limiter, .message, Self.subject(1, "b")) == 5)
  }

  @Test func `a call that is counted after it was made is owed`() {
    var limiter = CallLimiter()
    for _ in 0..<12 { limiter.note(.sentCode, Self.subject(nil, "a"), at: .zero) }
    #expect(limiter.refusal(of: .sentCode, Self.subject(nil, "a"), at: .zero)?.wait == .seconds(900))
  }

  @Test(arguments: [("A@Example.TEST", "a@example.test"), (" a@b.test\n", "a@b.test"), ("\u{A0}ü@b.test", "ü@b.test")])
  func `an account has one name, however it is written`(_ name: String, _ account: String) {
    #expect(CallLimiter.account(name) == account)
    #expect(CallLimiter.account(String(repeating: "x", count: 100_000)).utf8.count == 320)
  }

  @Test func `what is full again is forgotten, and so is a client that has gone`() {
    var limiter = CallLimiter()
    for hour in 0..<200 {
      for number in 0..<40 {
        let subject = Self.subject(UInt64(hour * 100 + number), "\(hour)-\(number)")
        _ = limiter.admit(.login, subject, at: .seconds(hour * 3600))
      }
    }
    #expect(limiter.bucketCount < 512, "\(limiter.bucketCount)")
    let before = limiter.bucketCount
    for number in 1...1000 {
      _ = limiter.admit(.probe, Self.subject(UInt64(1_000_000 + number)), at: .seconds(720_000 + number * 10))
      limiter.forget(ClientID(UInt64(1_000_000 + number)))
    }
    #expect(limiter.bucketCount <= before + 1)
  }
}
