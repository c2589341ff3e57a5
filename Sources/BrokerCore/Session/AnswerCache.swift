package import SecretMemory
import Synchronization

/// The rendered answers to `getAccessToken`, for the one place that is asked again and again.
///
/// The broker puts them in and takes them out; whoever reads requests asks here first, without entering the broker. Its
/// lock is a leaf: nothing is called while it is held.
package final class AnswerCache: Sendable {
  private struct State {
    var index = ProfileIndex()
    var answers: [CachedAnswer?] = []
    /// The profile that requests without a name mean; nil where they must name one.
    var unnamed: Int?
    var hits = 0
  }

  private let state = Mutex(State())

  /// A cache without profiles.
  package init() {}

  /// The answer for a profile, if its token is good for so long.
  ///
  /// `profile` are the bytes of a name, empty where none is named; `minValidity` and `now` are in milliseconds. Nothing
  /// is allocated, opened or read here.
  package func answer(profile: Span<UInt8>, minValidity: Int64?, now: Int64) -> Secret? {
    state.withLock { state in
      guard let position = profile.isEmpty ? state.unnamed : state.index.find(profile),
        let answer = state.answers[position], answer.isGood(for: minValidity, at: now)
      else { return nil }
      state.hits += 1
      return answer.json
    }
  }

  /// How many requests were answered from here.
  var hits: Int { state.withLock { $0.hits } }

  /// Takes up the profiles of a configuration, without answers.
  func reset(_ index: ProfileIndex, count: Int, unnamed: Int?) {
    state.withLock { state in
      state.index = index
      state.answers = Array(repeating: nil, count: count)
      state.unnamed = unnamed
    }
  }

  /// Keeps an answer for the profile at a position, or forgets it.
  func set(_ answer: CachedAnswer?, at position: Int) {
    state.withLock { state in
      guard state.answers.indices.contains(position) else { return }
      state.answers[position] = answer
    }
  }
}
