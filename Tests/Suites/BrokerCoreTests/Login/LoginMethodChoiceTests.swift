import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// What is missing for a login, in the words of the profile's own forms.
@Suite(.standardTimeLimit) struct LoginMethodChoiceTests {
  private static let byPhone = LoginForm(method: .password, fields: ["phoneNumber", "password"])

  private static func missing(_ params: Login.Params, _ offered: [LoginForm]) -> BrokerError? {
    do throws(BrokerError) {
      _ = try LoginMethodChoice.method(for: params, offered: offered, profile: .default)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [nil, "password"])
  func `the fields of the form are named`(_ method: String?) {
    let error = Self.missing(Login.Params(method: method), [Self.byPhone])
    #expect(error?.kind == .missingCredential && error?.fields == ["phoneNumber", "password"])
    #expect(error?.pointer == "/password")
  }

  @Test(arguments: [nil, "refreshToken"])
  func `a profile that takes nothing but a refresh token wants that`(_ method: String?) {
    let error = Self.missing(Login.Params(method: method), [LoginForm(.refreshToken)])
    #expect(error?.kind == .missingCredential && error?.fields == ["refreshToken"])
  }

  @Test func `a phone number is half of a login, and the provider says what is missing`() {
    #expect(Self.missing(Login.Params(phoneNumber: "+15550100"), [Self.byPhone]) == nil)
  }
}
