import BrokerProtocol
import JSON
import TestSupport
import Testing

/// Params that do not fit, and the member that is blamed.
@Suite(.standardTimeLimit) struct MismatchTests {
  @Test(arguments: [
    ("getAccessToken", #"{"profile":1}"#, "/profile"), ("getAccessToken", #"{"profile":"A B"}"#, "/profile"),
    ("getAccessToken", #"{"minValiditySeconds":"30"}"#, "/minValiditySeconds"),
    ("getAccessToken", #"{"minValiditySeconds":-1}"#, "/minValiditySeconds"),
    ("getAccessToken", #"{"minValiditySeconds":1e300}"#, "/minValiditySeconds"),
    ("getAccessToken", #"{"timeoutSeconds":315360001}"#, "/timeoutSeconds"),
    ("getAccessToken", #"{"scopes":"a"}"#, "/scopes"), ("getAccessToken", #"{"scopes":["a",1]}"#, "/scopes/1"),
    ("getAccessToken", #"{"waitForLogin":1}"#, "/waitForLogin"),
    ("getAccessToken", #"{"forceRefresh":"true"}"#, "/forceRefresh"),
    ("awaitLogin", "{}", "/loginFlowId"),
    ("awaitLogin", #"{"loginFlowId":"a","timeoutSeconds":-1}"#, "/timeoutSeconds"),
    ("completeLogin", #"{"loginFlowId":"a"}"#, "/redirectUrl"),
    ("cancelLogin", #"{"otpFlowId":1}"#, "/otpFlowId"), ("reauthenticate", #"{"password":1}"#, "/password"),
    ("login", #"{"password":1}"#, "/password"), ("login", #"{"email":["a"]}"#, "/email"),
    ("login", #"{"clientContext":{}}"#, "/clientContext"), ("generateBackupCodes", "{}", "/password"),
    ("register", "{}", "/email"), ("register", #"{"email":"a@b"}"#, "/password"),
    ("register", #"{"email":null,"password":"x"}"#, "/email"),
    ("register", #"{"email":"a","password":"p","name":1}"#, "/name"),
    ("verifyOtp", "{}", "/otpFlowId"), ("verifyOtp", #"{"otpFlowId":"f"}"#, "/code"),
    ("verifyOtp", #"{"otpFlowId":"f","code":123456}"#, "/code"), ("resendOtp", #"{"otpFlowId":1}"#, "/otpFlowId"),
    ("reportRejected", #"{"status":"401"}"#, "/status"), ("reportRejected", #"{"status":401.5}"#, "/status"),
    ("subscribe", #"{"events":{}}"#, "/events"), ("subscribe", #"{"profiles":["ok","No"]}"#, "/profiles/1"),
    ("subscribe", #"{"since":1.5}"#, "/since"), ("unsubscribe", "{}", "/subscriptionId"),
    ("initialize", #"{"client":{}}"#, "/client/name"),
    ("initialize", #"{"client":{"name":"e","version":1}}"#, "/client/version"),
    ("logout", #"{"all":"yes"}"#, "/all"), ("getCurrentUser", #"{"maxAgeSeconds":[]}"#, "/maxAgeSeconds"),
  ])
  func `the pointer names the member`(_ method: String, _ params: String, _ pointer: String) throws {
    let check = try #require(MethodCheck.all.first { $0.name == method })
    let root = try JSONDocument(params).root
    let error = #expect(throws: JSONMismatch.self) { try check.roundTripParams(root) }
    let mismatch = try #require(error)
    #expect(mismatch.pointer.description == pointer)
    let answer = BrokerError(mismatch)
    #expect(answer.kind == .invalidParams && answer.pointer == pointer)
    #expect(answer.message == "The parameter \(pointer) must be \(mismatch.expected).")
  }
}
