// The limit for YAML: the parser's tree takes a hundred times the size of a dense text in memory, so a text with too many
// tokens is rejected before the tree is built.

/** Spaces and line ends count too. An entry of a map has eight tokens. */
export const yamlTokensMax = 800_000

export const tooManyTokens = `has more than ${yamlTokensMax} tokens`

/** Throws if the lexer finds too many tokens in the text. */
export function checkTokens(text: string, lex: (text: string) => Iterable<string>): void {
  // A token has at least one character, and the lexer marks plain scalars with one more.
  if (2 * text.length <= yamlTokensMax) return
  let count = 0
  for (const _token of lex(text)) if (++count > yamlTokensMax) throw new Error(tooManyTokens)
}
