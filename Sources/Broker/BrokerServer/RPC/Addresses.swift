package import BrokerCore
import BrokerProtocol
import JSON
import LinuxSystem

/// A question for the token of an address, and the target that it was taken to mean.
final class AddressQuestion {
  /// The question.
  let params: GetAccessToken.Params
  /// The request that asks it.
  let request: Request
  /// The target of the address at the time of the question.
  let target: Target
  /// When that was.
  let askedAt = BootClock.now

  /// A question that is just asked.
  init(_ params: GetAccessToken.Params, _ request: Request, _ target: Target) {
    (self.params, self.request, self.target) = (params, request, target)
  }
}

/// The map from servers to profiles.
extension BrokerServer {
  /// Tells the targets, or that of an address.
  ///
  /// - Throws: `invalidParams` for what is no address that could be compared.
  func targets(_ params: ListTargets.Params, _ request: Request) throws(BrokerError) -> ListTargets.Result {
    guard let url = params.url else {
      return ListTargets.Result(targets: environment.targets().targets(in: request.principal.shown))
    }
    return ListTargets.Result(targets: try target(for: url, request).map { [$0] } ?? [])
  }

  /// The entry of an address; nil where it has none that the client is shown.
  ///
  /// - Throws: `invalidParams` for what is no address that could be compared.
  private func target(for url: String, _ request: Request) throws(BrokerError) -> Target? {
    do throws(TargetAddress.Fault) {
      return try environment.targets().target(for: url, in: request.principal.shown)
    } catch {
      throw BrokerError(JSONMismatch(at: JSONPointer.root.member("url"), expected: error.expectation))
    }
  }

  /// The question for the token of an address as one for that of its target, which is told with the answer.
  ///
  /// - Throws: `unknownTarget`; `invalidParams` for a profile beside it, and for what is no address.
  func named(_ params: GetAccessToken.Params, _ request: Request) throws(BrokerError) -> GetAccessToken.Params {
    guard let url = params.url else { return params }
    guard params.profile == nil else {
      throw BrokerError(JSONMismatch(at: JSONPointer.root.member("profile"), expected: "absent beside url"))
    }
    guard let target = try target(for: url, request) else { throw BrokerError(.unknownTarget) }
    rpc.requests[request.caller]?.address = AddressQuestion(params, request, target)
    var params = params
    params.profile = target.profile
    params.scopes = params.scopes ?? target.scopes
    params.audience = params.audience ?? target.audience
    return params
  }

  /// Takes the questions for addresses back from the broker that mean another target by a map which is about to be taken
  /// over, or none: a token that comes meanwhile is not theirs any more.
  package func hold(questionsOutside targets: TargetMap) {
    let questions = rpc.requests.all.compactMap(\.address).filter { question in
      let target = question.params.url.flatMap { url in
        try? targets.target(for: url, in: question.request.principal.shown)
      }
      return target != question.target
    }
    let callers = questions.map(\.request.caller)
    broker.assumeIsolated { broker in
      for caller in callers { broker.detach(caller) }
    }
    rpc.heldQuestions += questions.sorted { $0.request.caller < $1.request.caller }
  }

  /// Asks the questions again that were held, for the time that each has left.
  package func askHeldQuestions() {
    let questions = rpc.heldQuestions
    rpc.heldQuestions = []
    for question in questions where rpc.requests[question.request.caller] != nil {
      var params = question.params
      params.timeout = max(params.timeout - (BootClock.now - question.askedAt), .zero)
      do throws(BrokerError) {
        let params = try named(params, question.request)
        ask(question.request, .throughout) { broker, caller throws(BrokerError) in
          try broker.accessToken(params, caller)
        }
      } catch {
        fail(question.request.caller, error)
      }
    }
  }
}
