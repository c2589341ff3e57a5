import JSON
import TestSupport

/// A client with a profile of its own, which uses its accounts through the lives of many brokers.
///
/// It has one request under way at a time, and remembers what it was answered: whatever was acknowledged is true in the
/// next life, what was cut off may be or not.
final class AccountCrashClient {
  /// What the profile's session must be.
  private enum Session: Equatable {
    case none
    /// The one of the account with this address.
    case living(String)
    /// Something was cut off that begins, refreshes or ends one.
    case unsure
  }

  /// What a session that has ended is refused with.
  private static let endings = ["loginRequired", "sessionExpired", "refreshOutcomeUnknown", "challengePending"]

  let profile: String
  /// How many requests were answered.
  private(set) var acknowledged: [AccountMethod: Int] = [:]
  /// All that it has registered, the present one last.
  private(set) var accounts: [AcknowledgedAccount] = []
  private let number: Int
  private let outbox: String
  private var random: SeededGenerator
  private var session = Session.none
  private var wire: SocketWire?
  private var underWay: AccountMethod?
  /// The password that the request under way is to set, or the backup code that it uses up.
  private var offered = ""
  /// How many passwords it has thought of.
  private var passwords = 0
  /// The challenge that waits for its code.
  private var flow: String?
  /// Whether a token for a new password was sent.
  private var hasToken = false
  private var deck = AccountMethod.firstDeck

  init(number: Int, outbox: String, _ random: SeededGenerator) {
    self.number = number
    profile = "client-\(number)"
    self.outbox = outbox
    self.random = random
  }

  /// The present account; there is one after the first request.
  private var account: AcknowledgedAccount {
    get { accounts[accounts.count - 1] }
    set { accounts[accounts.count - 1] = newValue }
  }

  // MARK: A life

  /// Connects as the owner of the state directory: accounts are made over sessions that live.
  func connect(to socket: String) throws {
    let wire = try SocketWire(socket)
    try wire.prove()
    self.wire = wire
  }

  /// Sends the next request.
  func send() throws {
    let method = choose()
    if method == .register { prepareAccount() }
    account.isTouched = true
    offered = method == .verifyBackupCode ? account.backupCodes.last ?? "" : newPassword()
    let request = #"{"jsonrpc":"2.0","id":1,"method":"\#(method.rawValue)","params":\#(try params(method))}"#
    try wire?.send(Array(request.utf8))
    underWay = method
  }

  /// Takes in the answer to the last request.
  func hear() throws {
    guard let message = try wire?.next() else { throw TestFailure("the broker ended by itself") }
    try take(try JSONDocument(parsing: message).root)
  }

  /// Takes in what a killed broker had still said.
  ///
  /// - Returns: the request that was cut off; nil where each was answered.
  func endLife() throws -> AccountMethod? {
    while let message = try wire?.next() { try take(try JSONDocument(parsing: message).root) }
    wire = nil
    flow = nil
    guard let method = underWay else { return nil }
    underWay = nil
    doubt(method)
    return method
  }

  // MARK: Requests

  private func choose() -> AccountMethod {
    guard let account = accounts.last, account.exists else { return .register }
    if flow != nil { return account.backupCodes.isEmpty ? .verifyOtp : .verifyBackupCode }
    if hasToken { return .resetPassword }
    guard session == .living(account.email) else { return .login }
    if deck.isEmpty { deck = AccountMethod.deck.shuffled(using: &random) }
    return deck.removeLast()
  }

  /// Thinks of another account, unless the registration of the last one was cut off before there was one.
  private func prepareAccount() {
    guard accounts.last?.exists ?? true else { return }
    hasToken = false
    let count = accounts.count
    // Three accounts in four have a second factor.
    let phoneNumber = "+1555010\(1000 * (number + 1) + count)"
    accounts.append(
      AcknowledgedAccount(
        email: "\(profile)-\(count)@example.com", phoneNumber: (number + count) % 4 > 0 ? phoneNumber : nil,
        password: newPassword()))
  }

  private func newPassword() -> String {
    passwords += 1
    return "example password \(passwords) of \(number)"
  }

  private func params(_ method: AccountMethod) throws -> String {
    let members: String
    switch method {
    case .verifyOtp:
      let code = try Outbox.newest("code", to: account.phoneNumber, in: outbox)
      return AcknowledgedAccount.answer(flow ?? "", "code", code)
    case .verifyBackupCode: return AcknowledgedAccount.answer(flow ?? "", "backupCode", offered)
    case .register:
      members = account.credentials + (account.phoneNumber.map { #","phoneNumber":"\#($0)""# } ?? "")
    case .login: members = account.credentials
    case .changePassword: members = #""oldPassword":"\#(account.password)","newPassword":"\#(offered)""#
    case .forgotPassword: members = #""email":"\#(account.email)""#
    case .resetPassword:
      let token = try Outbox.newest("token", to: account.email, in: outbox)
      members = #""token":"\#(token)","password":"\#(offered)""#
    case .getAccessToken: members = #""forceRefresh":true"#
    case .generateBackupCodes: members = #""password":"\#(account.password)""#
    }
    return #"{"profile":"\#(profile)",\#(members)}"#
  }

  // MARK: Answers

  private func take(_ answer: JSONNode) throws {
    guard let method = underWay, let result = answer["result"] else {
      throw TestFailure(
        "\(profile), \(underWay?.rawValue ?? "nothing"): \(String(decoding: answer.text, as: UTF8.self))")
    }
    underWay = nil
    acknowledged[method, default: 0] += 1
    switch method {
    case .getAccessToken: break
    case .forgotPassword: hasToken = true
    case .changePassword: account.setPassword(offered)
    case .resetPassword:
      account.setPassword(offered)
      hasToken = false
      if session == .living(account.email) { session = .none }
    case .generateBackupCodes:
      account.replaceBackupCodes(try result.required("backupCodes").elements().map { try $0.string() })
    case .register, .login, .verifyOtp, .verifyBackupCode:
      if method == .verifyBackupCode { account.spend(offered) }
      account.exists = true
      if method == .verifyOtp { account.notePhone(isProven: true) }
      flow = try result["challenge"]?.required("otpFlowId").string()
      if flow == nil { session = .living(account.email) }
    }
  }

  /// Takes in that a request was cut off: it may have been done or not.
  private func doubt(_ method: AccountMethod) {
    switch method {
    case .forgotPassword: break
    case .register, .login: if account.isProven != true { session = .unsure }
    case .verifyOtp:
      account.notePhone(isProven: nil)
      session = .unsure
    case .getAccessToken: session = .unsure
    case .verifyBackupCode:
      account.doubtBackupCode(offered)
      session = .unsure
    case .changePassword: account.doubtPassword(offered)
    case .resetPassword:
      account.doubtPassword(offered)
      hasToken = false
    case .generateBackupCodes: account.doubtBackupCodes()
    }
  }

  /// A call was cut off that refreshes the sessions of all profiles.
  func doubtSession() {
    if session != .none { session = .unsure }
  }

  // MARK: What is found

  /// Refreshes the session, if there is one.
  func examineSession(_ wire: SocketWire) throws {
    if let kind = try wire.refusal("getAccessToken", #"{"profile":"\#(profile)","forceRefresh":true}"#) {
      guard session == .none || session == .unsure, Self.endings.contains(kind) else {
        throw TestFailure("\(profile): the session was refused with \(kind), where it is \(session)")
      }
      return
    }
    let found = try wire.call("getSession", #"{"profile":"\#(profile)"}"#)
    let email = try found.required("user").required("email").string()
    guard session == .unsure || session == .living(email) else {
      throw TestFailure("\(profile): there is a session of \(email), where it is \(session)")
    }
    session = .living(email)
  }

  /// Looks for the accounts, and logs in to those that were used.
  ///
  /// - Parameters:
  ///   - wire: a connection to the new broker.
  ///   - found: the addresses of all accounts that there are.
  ///   - all: whether each is logged in to.
  /// - Throws: ``TestFailure`` for an account that is gone, or is not as it was acknowledged.
  func examineAccounts(_ wire: SocketWire, found: Set<String>, all: Bool) throws {
    for index in accounts.indices {
      let email = accounts[index].email
      guard found.contains(email) else {
        guard accounts[index].exists else { continue }
        throw TestFailure("\(email) was registered and is gone")
      }
      accounts[index].exists = true
      guard all || accounts[index].isTouched else { continue }
      try accounts[index].examine(wire, outbox: outbox, &random)
    }
  }
}
