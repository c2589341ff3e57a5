/// Whether a provider gives another refresh token for each one that is spent (RFC 9700, section 4.14.2).
///
/// What is spent twice at a provider that rotates is taken for stolen, so the answer decides what may be sent again.
package enum Rotation: String, Sendable, CaseIterable {
  /// Learnt from the provider's replies: one that brings another token shows it, three in a row without one show the
  /// contrary; until then as ``always``.
  case auto
  /// It does, whatever its replies have shown.
  case always
  /// It does not: a refresh whose reply was lost is sent again, and none is written down before.
  case never
}
