import BrokerCore
import BrokerProtocol
import JSON

/// The changes of an account that a user asks for at once, all examined before any is made.
struct ProfileEdit {
  /// A member that can be changed, by its name on the wire.
  private enum Field: String {
    case name, email, phoneNumber, twoFactor
  }

  /// A second factor that counts once its first code has come back.
  enum Request {
    /// An authenticator app of an account.
    case app(Account)
    /// Codes to the number or address of an account, which is as it will be by then.
    case message(Account, OTPChallenge.Method)
  }

  /// The account as it is.
  let before: Account
  /// The account as it will be at once.
  private(set) var after: Account
  /// The account with the e-mail address that becomes its own once it is verified; nil where none waits for that.
  private(set) var waiting: Account?
  /// The second factor that is to be proven first; nil where none is.
  private(set) var request: Request?

  private let verifiesEmail: Bool
  private var wantedEmail: EmailAddress?
  private var wantedFactor: SecondFactor?
  private var fields: Set<Field> = []
  private var wrong: [String] = []

  /// Whether the e-mail address is another one at once.
  var changesEmail: Bool { after.email != before.email }
  /// Whether the phone number is another one, or gone.
  var changesPhone: Bool { after.phone != before.phone }
  /// Whether another second factor counts at once.
  var changesFactor: Bool { after.secondFactor != before.secondFactor }
  /// Whether an address that waits for its verification is given up, and no other one waits in its place.
  var endsEmailChange: Bool { fields.contains(.email) && waiting == nil }
  /// Whether codes come from elsewhere, or go elsewhere, than they did.
  var changesLogin: Bool { changesEmail || changesPhone || changesFactor }
  /// Whether an enrolment that waits for its first code is void, since another second factor was chosen.
  var endsEnrolment: Bool { fields.contains(.twoFactor) && request == nil }

  /// Examines changes.
  ///
  /// - Parameters:
  ///   - changes: as the user asks for them.
  ///   - account: whose they are.
  ///   - verifiesEmail: whether an e-mail address becomes the account's, and gets codes, only once it is verified.
  /// - Throws: `.refused` with `validationFailed` and all fields that are wrong.
  init(
    _ changes: ProfileChanges, of account: Account, verifiesEmail: Bool
  ) throws(ProviderFailure) {
    before = account
    after = account
    self.verifiesEmail = verifiesEmail
    for change in changes.members {
      if !apply(change) { wrong.append(change.name) }
    }
    settleEmail()
    settleFactor()
    if let unmet = unmetField { wrong.append(unmet.rawValue) }
    guard wrong.isEmpty else { throw .refused(.validationFailed, fields: wrong) }
  }

  /// Makes one change; false for a member or a value that cannot be.
  private mutating func apply(_ change: ProfileChanges.Change) -> Bool {
    guard let field = Field(rawValue: change.name), let text = Self.text(of: change.value), set(field, to: text) else {
      return false
    }
    fields.insert(field)
    return true
  }

  /// The string, an empty one for null; nil for any other value.
  private static func text(of value: RawJSON) -> String? {
    guard let node = try? JSONDocument(parsing: value.text).root else { return nil }
    if node.isNull { return "" }
    return try? node.string()
  }

  private mutating func set(_ field: Field, to text: String) -> Bool {
    switch field {
    case .name: setName(text)
    case .email: setEmail(EmailAddress(text))
    case .phoneNumber: setPhone(text)
    case .twoFactor: setFactor(SecondFactor(rawValue: text))
    }
  }

  private mutating func setName(_ name: String) -> Bool {
    let read = AccountName(name)
    after.name = read?.text
    return read != nil || name.isEmpty
  }

  private mutating func setPhone(_ text: String) -> Bool {
    let phone = PhoneNumber(text)
    guard phone != nil || text.isEmpty else { return false }
    if phone != before.phone { after.phoneVerifiedAt = nil }
    after.phone = phone
    return true
  }

  private mutating func setEmail(_ email: EmailAddress?) -> Bool {
    wantedEmail = email
    return email != nil
  }

  private mutating func setFactor(_ factor: SecondFactor?) -> Bool {
    wantedFactor = factor
    return factor != nil
  }

  /// A new address is not verified: nothing shows yet that it is the user's, and the one that gets the codes stays till then.
  private mutating func settleEmail() {
    guard let email = wantedEmail, email.text != before.email else { return }
    var changed = after
    changed.email = email.text
    changed.emailVerifiedAt = nil
    let getsCodes = before.provenFactor == .email && wantedFactor != .off
    if verifiesEmail || getsCodes { waiting = changed } else { after = changed }
  }

  /// Decides which factor counts at once, and which one is proven first.
  private mutating func settleFactor() {
    let isRemoved = fields.contains(.phoneNumber) && after.phone == nil
    if isRemoved, wantedFactor == nil, before.provenFactor != .sms, after.secondFactor == .sms {
      after.secondFactor = .off
    }
    switch wantedFactor ?? after.secondFactor {
    case .off: after.secondFactor = .off
    case .totp: if wantedFactor == .totp { request = .app(after) }
    case .sms: settle(.sms, isProven: after.phoneVerifiedAt != nil, isNew: changesPhone)
    case .email: settle(.email, isProven: after.emailVerifiedAt != nil, isNew: changesEmail)
    }
    keepProvenPhone()
  }

  private mutating func settle(_ factor: SecondFactor, isProven: Bool, isNew: Bool) {
    if isProven {
      after.secondFactor = factor
    } else if wantedFactor == factor || isNew, let method = factor.method, after.destination(method) != nil {
      request = .message(after, method)
    }
  }

  /// The number that login codes go to stays until another one is proven: one change at a time.
  private mutating func keepProvenPhone() {
    guard before.provenFactor == .sms, after.secondFactor == .sms, changesPhone, after.phone != nil else { return }
    if case .message(_, .sms) = request {
      after.phone = before.phone
      after.phoneVerifiedAt = before.phoneVerifiedAt
    } else {
      wrong.append(Field.phoneNumber.rawValue)
    }
  }

  /// The field to name where the second factor has nowhere to send its codes to; nil where it has, or where that is not
  /// due to these changes.
  private var unmetField: Field? {
    guard after.secondFactor == .sms || wantedFactor == .sms, after.phone == nil else { return nil }
    let blamed: Field = fields.contains(.twoFactor) ? .twoFactor : .phoneNumber
    return fields.contains(blamed) && !wrong.contains(Field.phoneNumber.rawValue) ? blamed : nil
  }
}
