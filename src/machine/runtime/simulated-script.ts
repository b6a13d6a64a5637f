// The subset of the shell language that simulated containers support: simple commands with quotes and variables, joined
// by `;`, newlines, `&&` and `||`, with optional redirection to stderr or a file. Other scripts are not parsed.
import { lookup } from '../../base/collections/lookup.ts'

export interface SimpleCommand {
  /** The operator before it. */
  readonly joint: ';' | '&&' | '||'
  readonly words: readonly ScriptWord[]
  /** Whether `>&2` redirects its output to stderr. */
  readonly isToStderr: boolean
  /** The file of `> file` and `>> file`. */
  readonly target?: ScriptTarget
}

export interface ScriptTarget {
  readonly word: ScriptWord
  readonly isAppended: boolean
}

export interface ScriptWord {
  /** Quoted words are kept even when they are empty. */
  readonly isQuoted: boolean
  readonly pieces: readonly ScriptPiece[]
}

type ScriptPiece = { readonly kind: 'text' | 'variable'; readonly text: string }

/** Undefined when the script is outside of the supported subset. */
export function parseScript(text: string): readonly SimpleCommand[] | undefined {
  const parser = new ScriptParser(text)
  return parser.parse() ? parser.commands : undefined
}

/** Expands variables. Their values are not split into words. */
export const expandWords = (
  words: readonly ScriptWord[],
  variables: Readonly<Record<string, string>>,
): readonly string[] =>
  words.flatMap(({ isQuoted, pieces }) => {
    const value = pieces.map(({ kind, text }) => (kind === 'text' ? text : valueOf(text, variables))).join('')
    return value === '' && !isQuoted ? [] : [value]
  })

const valueOf = (name: string, variables: Readonly<Record<string, string>>): string => lookup(variables, name) ?? ''

/** Characters of unsupported syntax: substitutions, pipes, redirections, groups, globs. */
const unknownCharacters = new Set('`()<>|&*')
const unknownAtStart = '~'
const stderrRedirection = /1?>&2(?=$|[\s;&|])/y
const stderrRedirectionInWord = />&2(?=$|[\s;&|])/y
const fileRedirection = /1?(>>?)(?![>&|(])/y
const fileRedirectionInWord = /(>>?)(?![>&|(])/y
const variable = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/y
const expansion = /[\w({'"?$!@*#-]/

class ScriptParser {
  readonly commands: SimpleCommand[] = []
  readonly #text: string
  #at = 0
  #joint: SimpleCommand['joint'] = ';'
  #words: ScriptWord[] = []
  #isToStderr = false
  /** Set between a redirection and its file. */
  #redirection: { readonly isAppended: boolean } | undefined
  #target: ScriptTarget | undefined
  #pieces: ScriptPiece[] = []
  #isInWord = false
  #isQuoted = false

  constructor(text: string) {
    this.#text = text
  }

  /** False when the script is not supported. */
  parse(): boolean {
    while (this.#at < this.#text.length) if (!this.#step()) return false
    return this.#endCommand(';') && this.#joint === ';'
  }

  #step(): boolean {
    const { [this.#at]: character = '', [this.#at + 1]: next = '' } = this.#text
    if (this.#match(this.#isInWord ? stderrRedirectionInWord : stderrRedirection) !== undefined)
      return (this.#isToStderr = this.#endWord())
    const toFile = this.#match(this.#isInWord ? fileRedirectionInWord : fileRedirection)
    if (toFile !== undefined) return this.#redirect(toFile[1] === '>>')
    switch (character) {
      case ' ':
      case '\t':
        return this.#skip(1) && this.#endWord()
      case '\n':
        return this.#skip(1) && this.#endLine()
      case ';':
        return this.#skip(1) && this.#endCommand(';')
      case '&':
      case '|':
        return next === character && this.#skip(2) && this.#endCommand(`${character}${character}` as '&&' | '||')
      case '#':
        return this.#isInWord ? this.#take(character) : this.#skipComment()
      case '\\':
        return next === '\n' ? this.#skip(2) : next !== '' && this.#skip(1) && this.#take(next)
      case "'":
        return this.#singleQuoted()
      case '"':
        return this.#doubleQuoted()
      case '$':
        return this.#dollar()
      default:
        if (unknownCharacters.has(character) || (character === unknownAtStart && !this.#isInWord)) return false
        return this.#take(character)
    }
  }

  /** One redirection per command; `a2>file` would redirect stderr, so a word of digits before it is not supported. */
  #redirect(isAppended: boolean): boolean {
    const isNumbered = !this.#isQuoted && /^\d+$/.test(this.#pieces.map(({ text }) => text).join(''))
    if (isNumbered || !this.#endWord() || this.#target !== undefined || this.#redirection !== undefined) return false
    this.#redirection = { isAppended }
    return true
  }

  #singleQuoted(): boolean {
    const end = this.#text.indexOf("'", this.#at + 1)
    if (end === -1) return false
    this.#add('text', this.#text.slice(this.#at + 1, end), true)
    this.#at = end + 1
    return true
  }

  #doubleQuoted(): boolean {
    this.#at++
    this.#add('text', '', true)
    for (;;) {
      const { [this.#at]: character, [this.#at + 1]: next = '' } = this.#text
      if (character === undefined || character === '`') return false
      if (character === '"') return this.#skip(1)
      if (character === '\\' && next === '\n') this.#at += 2
      else if (character === '\\' && '$`"\\'.includes(next) && next !== '') {
        this.#at++
        this.#take(next)
      } else if (character !== '$') this.#take(character)
      else if (!this.#dollar()) return false
    }
  }

  #dollar(): boolean {
    const found = this.#match(variable)
    if (found !== undefined) return this.#add('variable', found[1] ?? found[2] ?? '')
    return expansion.test(this.#text[this.#at + 1] ?? '') ? false : this.#take('$')
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text) ?? undefined
    if (found !== undefined) this.#at = pattern.lastIndex
    return found
  }

  #take(character: string): boolean {
    this.#at++
    return this.#add('text', character)
  }

  #add(kind: ScriptPiece['kind'], text: string, isQuoted = false): boolean {
    this.#isInWord = true
    this.#isQuoted ||= isQuoted
    this.#pieces.push({ kind, text })
    return true
  }

  #skip(count: number): boolean {
    this.#at += count
    return true
  }

  #skipComment(): boolean {
    const end = this.#text.indexOf('\n', this.#at)
    this.#at = end === -1 ? this.#text.length : end
    return true
  }

  #endWord(): boolean {
    if (this.#isInWord) {
      const word = { isQuoted: this.#isQuoted, pieces: this.#pieces }
      if (this.#redirection === undefined) this.#words.push(word)
      else this.#target = { word, ...this.#redirection }
      this.#redirection = undefined
    }
    this.#pieces = []
    this.#isInWord = this.#isQuoted = false
    return true
  }

  /** A line may end after `&&` and `||`. */
  #endLine(): boolean {
    this.#endWord()
    const isEmpty = this.#words.length === 0 && !this.#isToStderr
    return isEmpty && this.#target === undefined ? true : this.#endCommand(';')
  }

  #endCommand(joint: SimpleCommand['joint']): boolean {
    this.#endWord()
    if (this.#redirection !== undefined) return false
    const target = this.#target
    if (this.#words.length === 0)
      return joint === ';' && this.#joint === ';' && !this.#isToStderr && target === undefined
    const output = { isToStderr: this.#isToStderr, ...(target === undefined ? {} : { target }) }
    this.commands.push({ joint: this.#joint, words: this.#words, ...output })
    this.#target = undefined
    this.#joint = joint
    this.#words = []
    this.#isToStderr = false
    return true
  }
}
