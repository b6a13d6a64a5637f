// ownText: a copy of a text. V8 represents a part of a text by a reference to the whole, so a name that is cut from the head
// of a request would keep all of that head in memory for as long as the name is stored.

/** V8 copies shorter texts in any case. */
const sharedCharsMin = 13

/** The text, or its first characters and an ellipsis where it is longer. Nothing else is kept alive by it. */
export function ownText(text: string, charsMax = Infinity): string {
  const kept = text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`
  // Concatenation and slicing together are the shortest way to a copy: the slice refers to the concatenated text only.
  return kept.length < sharedCharsMin ? kept : ` ${kept}`.slice(1)
}
