import BrokerCore
import BrokerProtocol

extension PendingLoginRecord {
  /// The record as it comes out of a store.
  var withoutBeginners: PendingLoginRecord {
    var record = self
    switch login.step {
    case .code(var challenge):
      challenge.beginners = LoginBeginners()
      record.login.step = .code(challenge)
    case .action(var action):
      action.beginners = LoginBeginners()
      record.login.step = .action(action)
    }
    record.login.client = nil
    return record
  }
}

extension BrokerEvent {
  /// The event as it comes out of a store.
  var withoutBeginners: BrokerEvent {
    var event = self
    switch payload {
    case .login(var login):
      login.beginners = LoginBeginners()
      event.payload = .login(login)
    case .loginFailed(var failure):
      failure.beginners = LoginBeginners()
      event.payload = .loginFailed(failure)
    case .otpChallenge(var challenge):
      challenge.beginners = LoginBeginners()
      event.payload = .otpChallenge(challenge)
    case .otpResent(var challenge):
      challenge.beginners = LoginBeginners()
      event.payload = .otpResent(challenge)
    case .loginPending(var action):
      action.beginners = LoginBeginners()
      event.payload = .loginPending(action)
    default: break
    }
    return event
  }
}
