import BrokerProtocol
package import SecretMemory
import Synchronization

/// The rendered answers to `getAccessToken`, for the one place that is asked again and again.
///
/// The broker puts them in and takes them out; the reader of requests asks here first, without entering the broker. Its
/// lock is a leaf: nothing is called while it is held.
package final class AnswerCache: Sendable {
  private struct State {
    var index = ProfileIndex()
    var answers: [CachedAnswer?] = []
    /// When each profile was last answered from here or given an answer, in milliseconds of uptime.
    var uses: [Int64] = []
    /// Whether that is news for the broker.
    var isUsed: [Bool] = []
    var hits = 0
  }

  private let state = Mutex(State())

  /// A cache without profiles.
  package init() {}

  /// The answer for a profile, if its token is good for so long and its session is not over for want of use.
  ///
  /// `profile` are the bytes of a name, empty where none is named, and `visible` the profiles that exist for the principal;
  /// `minValidity` and both clocks are in milliseconds. Nothing is allocated, opened or read here; that the session was used is remembered.
  package func answer(
    profile: Span<UInt8>, in visible: ProfileMask, minValidity: Int64?, wall: Int64, uptime: Int64
  ) -> Secret? {
    state.withLock { state in
      guard
        let position = profile.isEmpty
          ? state.index.unnamed(in: visible) : state.index.find(profile, in: visible),

        let answer = state.answers[position], uptime &- state.uses[position] < answer.idleTimeout,
        let json = answer.answer(for: minValidity, wall: wall, uptime: uptime)
      else { return nil }
      state.uses[position] = max(state.uses[position], uptime)
      state.isUsed[position] = true
      state.hits += 1
      return json
    }
  }

  /// Counts requests that had the answer to the one before them, which asked the same at the same time.
  package func noteRepetitions(_ count: Int) { state.withLock { $0.hits += count } }

  /// How many requests were answered from here.
  var hits: Int { state.withLock { $0.hits } }

  /// When the cached answer of any profile was last given, or put in.
  var lastUse: Duration { state.withLock { .milliseconds($0.uses.max() ?? 0) } }

  /// Notes that the answer for the profile at a position was given, although not from here.
  func use(at position: Int, uptime: Duration) {
    state.withLock { state in
      guard state.uses.indices.contains(position) else { return }
      state.uses[position] = max(state.uses[position], uptime.milliseconds)
    }
  }

  /// Adopts the profiles of a configuration, without answers.
  func reset(_ index: ProfileIndex) {
    let count = index.count
    state.withLock { state in
      state.index = index
      state.answers = Array(repeating: nil, count: count)
      state.uses = Array(repeating: 0, count: count)
      state.isUsed = Array(repeating: false, count: count)
    }
  }

  /// Keeps an answer for the profile at a position, which was used at this uptime.
  func set(_ answer: CachedAnswer, at position: Int, usedAt uptime: Duration) {
    state.withLock { state in
      guard state.answers.indices.contains(position) else { return }
      state.answers[position] = answer
      state.uses[position] = max(state.uses[position], uptime.milliseconds)
    }
  }

  /// Forgets the answer for the profile at a position.
  func forget(at position: Int) {
    state.withLock { state in
      guard state.answers.indices.contains(position) else { return }
      state.answers[position] = nil
    }
  }

  /// When the profile at a position was last answered from here, if that was since the last call.
  func takeUse(at position: Int) -> Duration? {
    state.withLock { state in
      guard state.isUsed.indices.contains(position), state.isUsed[position] else { return nil }
      state.isUsed[position] = false
      return .milliseconds(state.uses[position])
    }
  }
}
