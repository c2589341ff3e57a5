/// How often providers are called for clients, at most.
///
/// Only calls that reach a provider count: what is answered from memory, shared with an equal call or refused before costs
/// nothing. A person, and a program that a person runs, stays far below.
package struct CallRates: Sendable, Equatable {
  /// The rates of one kind of call, at each of three places; a call needs a token at all of them.
  package struct Places: Sendable, Equatable {
    /// For one connection.
    package var client: TokenBucket.Rate
    /// For one account of a provider: nil where a call concerns none.
    package var account: TokenBucket.Rate?
    /// For all connections and accounts at one provider: a client that connects again and again gains nothing.
    package var provider: TokenBucket.Rate

    /// The rates of one kind of call.
    package init(client: TokenBucket.Rate, account: TokenBucket.Rate?, provider: TokenBucket.Rate) {
      self.client = client
      self.account = account
      self.provider = provider
    }
  }

  /// Logins: each costs a provider a slow hash.
  ///
  /// A person who mistypes needs a handful; one in ten seconds after that is
  /// 8,640 passwords a day, beside the provider's own limits.
  package var login = Places(
    client: .init(burst: 60, interval: .seconds(1)), account: .init(burst: 30, interval: .seconds(10)),
    provider: .init(burst: 120, interval: .seconds(1)))
  /// Mails and messages that a call causes: one person wants two or three, and each costs money or patience.
  package var message = Places(
    client: .init(burst: 10, interval: .seconds(60)), account: .init(burst: 5, interval: .seconds(300)),
    provider: .init(burst: 30, interval: .seconds(20)))
  /// Codes that logins have sent, counted when they were: ten at once are more than a person reads.
  package var sentCode = Places(
    client: .init(burst: 20, interval: .seconds(60)), account: .init(burst: 10, interval: .seconds(300)),
    provider: .init(burst: 40, interval: .seconds(30)))
  /// Codes that are checked; guesses have a ledger of their own, ``GuessLedger``.
  package var code = Places(
    client: .init(burst: 30, interval: .seconds(2)), account: nil, provider: .init(burst: 60, interval: .seconds(1)))
  /// Tokens from mails: 128 bits are not guessed, but a provider may make shorter ones.
  package var mailToken = Places(
    client: .init(burst: 10, interval: .seconds(10)), account: nil, provider: .init(burst: 20, interval: .seconds(10)))
  /// Changes of an account, which may check a password.
  package var change = Places(
    client: .init(burst: 20, interval: .seconds(3)), account: .init(burst: 20, interval: .seconds(10)),
    provider: .init(burst: 60, interval: .seconds(1)))
  /// Questions whose session it is.
  package var read = Places(
    client: .init(burst: 60, interval: .seconds(1)), account: .init(burst: 60, interval: .seconds(1)),
    provider: .init(burst: 240, interval: .milliseconds(250)))
  /// Looks at a provider without credentials.
  package var probe = Places(
    client: .init(burst: 20, interval: .seconds(3)), account: nil, provider: .init(burst: 60, interval: .seconds(1)))

  /// Wrong codes for one account in a day, over all its logins: with six digits a chance of 1 in 40,000.
  package var guessesOfAccount = 25
  /// Wrong codes for all accounts of one provider in a day: clients that name one account in several ways gain little.
  package var guessesAtProvider = 100

  /// The usual rates.
  package init() {}
}
