// The standard library can say in public whether a text is normalised, but not make it so; Foundation uses this as well.
@_spi(_Unicode) import Swift

extension String {
  /// The text in Unicode's Normalization Form C (Unicode Standard Annex 15): two keyboards may spell the same letter in
  /// different scalars.
  var composedScalars: some Sequence<Unicode.Scalar> { _nfc }

  /// The same as a string.
  var composed: String {
    var scalars = UnicodeScalarView()
    scalars.append(contentsOf: composedScalars)
    return String(scalars)
  }
}
