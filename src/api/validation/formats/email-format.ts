// The email format: one address of RFC 5322, optionally with a name or in a group, as Go's mail package parses it.

/** Whether the text is one mail address. */
export function isEmail(text: string): boolean {
  const reader = new AddressReader(text)
  reader.skipSpace()
  return (reader.address() || reader.group()) && reader.skipComments() && reader.isAtEnd
}

/** Reads parts of an address. A part that is not there leaves the position unchanged. */
class AddressReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length
  }

  /** `a@b`, or `Name <a@b>`. */
  address(): boolean {
    return this.#tried(() => this.#mailbox()) || this.#tried(() => this.#phrase(false) && this.#inBrackets())
  }

  /** `Name: a@b;` */
  group(): boolean {
    return this.#tried(() => {
      if (!this.#phrase(true) || !this.skipComments() || !this.#read(':')) return false
      this.skipSpace()
      return this.address() && this.skipComments() && this.#read(';')
    })
  }

  skipSpace(): void {
    this.#match(/[ \t]*/y)
  }

  /** Skips spaces and comments in parentheses. Returns false when a comment has no end. */
  skipComments(): boolean {
    for (;;) {
      this.skipSpace()
      if (this.#text[this.#at] !== '(') return true
      if (!this.#comment()) return false
    }
  }

  #comment(): boolean {
    let depth = 0
    for (; this.#at < this.#text.length; this.#at++) {
      const character = this.#text[this.#at]
      if (character === '\\') this.#at++
      else if (character === '(') depth++
      else if (character === ')') depth--
      if (depth === 0) {
        this.#at++
        return true
      }
    }
    return false
  }

  #mailbox(): boolean {
    const isLocal = this.#text[this.#at] === '"' ? this.#quoted() : this.#dotAtom()
    if (!isLocal || !this.#read('@')) return false
    this.skipSpace()
    return this.#text[this.#at] === '[' ? this.#literal() : this.#dotAtom()
  }

  #inBrackets(): boolean {
    return this.skipComments() && this.#read('<') && this.#mailbox() && this.#read('>')
  }

  /** The name before an address, which may be missing unless it is that of a group. */
  #phrase(isRequired: boolean): boolean {
    let count = 0
    while (this.skipComments() && (this.#text[this.#at] === '"' ? this.#quoted() : this.#match(nameAtom) !== ''))
      count++
    return count > 0 || !isRequired
  }

  #dotAtom(): boolean {
    const atom = this.#match(dottedAtom)
    return atom !== '' && !atom.startsWith('.') && !atom.endsWith('.') && !atom.includes('..')
  }

  #quoted(): boolean {
    return this.#match(quotedText) !== ''
  }

  #literal(): boolean {
    return this.#match(domainLiteral) !== ''
  }

  #read(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [found = ''] = pattern.exec(this.#text) ?? []
    this.#at += found.length
    return found
  }

  #tried(read: () => boolean): boolean {
    const start = this.#at
    if (read()) return true
    this.#at = start
    return false
  }
}

const dottedAtom = /[\w.!#$%&'*+/=?^`{|}~\u0080-\uFFFF-]+/y
const nameAtom = /[\w.!#$%&'*+/=?^`{|}~\u0080-\uFFFF-]+/y
// Printable characters, spaces and tabs; a backslash takes the next character as it is.
const quotedText = /"(?:[^"\\\p{Cc}]|\t|\\[^\p{Cc}])*"/uy
const domainLiteral = /\[[\x21-\x5A\x5E-\x7E\u0080-\uFFFF]*\]/y
