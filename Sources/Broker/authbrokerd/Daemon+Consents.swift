import BrokerCore
import BrokerProtocol
import BrokerServer
import Configuration
import Hooks
import Transport

/// The owner's programs: those that are told of events, and the one that is asked whether a client may have a token.
extension Daemon {
  /// Adopts the programs of a configuration, and the times of questions.
  func adoptPrograms(of configuration: BrokerConfiguration, _ broker: Broker) async {
    hooks.update(configuration.hooks)
    await broker.setConsentRules(configuration.consent.rules)
    consentProgram.update(configuration.consent.command) { [loop, weak broker] id, isAllowed in
      loop.post { [weak broker] in
        // Where it was answered meanwhile, there is no such question any more.
        broker?.assumeIsolated { try? $0.answerConsent(AnswerConsent.Params(consentID: id, allow: isAllowed)) }
      }
    }
  }

  /// Hands what the broker tells to the clients, and to the log or the program that it is for.
  func distribute(to server: BrokerServer) -> @Sendable (BrokerNotice) -> Void {
    { [log, hooks, consentProgram] notice in
      server.take(notice)
      switch notice {
      case .problem, .audit: log.write(notice)
      case .told(let event): hooks.take(event)
      default: consentProgram.take(notice)
      }
    }
  }
}

extension ConsentProgram {
  /// Takes in what is to be asked, and what need not be asked any more.
  func take(_ notice: BrokerNotice) {
    switch notice {
    case .consentAsked(let question): ask(question)
    case .consentDecided(let decision): withdraw(decision.id)
    default: break
    }
  }
}
