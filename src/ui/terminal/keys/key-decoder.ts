// KeyDecoder: the keys in the input of a terminal in raw mode. An escape sequence may arrive in parts; an ESC that
// nothing follows is the Escape key, which the caller decides by time and reports with flush().
import { lookup } from '../../../base/collections/lookup.ts'

/** A printable character, or the name of a key: `enter`, `ctrl-d`, `up`. */
export type Key = string

const named: Readonly<Record<string, Key>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x00': 'ctrl-space',
}

/** Keys by the end of their sequence after `ESC [` or `ESC O`. */
const sequences: Readonly<Record<string, Key>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  Z: 'shift-tab',
  '1~': 'home',
  '3~': 'delete',
  '4~': 'end',
  '5~': 'pageup',
  '6~': 'pagedown',
  '7~': 'home',
  '8~': 'end',
}

const escape = '\x1b'
/** A longer sequence is not one of a key; its start is dropped. */
const sequenceCharsMax = 32

export class KeyDecoder {
  #rest = ''

  /** Whether an escape sequence may have begun. */
  get isPending(): boolean {
    return this.#rest !== ''
  }

  decode(text: string): Key[] {
    let rest = this.#rest + text
    this.#rest = ''
    const keys: Key[] = []
    while (rest !== '') {
      const [length, key] = nextKey(rest)
      if (length === 0) {
        this.#rest = rest
        break
      }
      if (key !== undefined) keys.push(key)
      rest = rest.slice(length)
    }
    return keys
  }

  /** Nothing has followed: a pending ESC is the Escape key. */
  flush(): Key[] {
    const isEscape = this.#rest === escape
    this.#rest = ''
    return isEscape ? ['esc'] : []
  }
}

/** The number of characters of the first key, 0 if it is incomplete; no key for unknown sequences. */
function nextKey(text: string): readonly [length: number, key: Key | undefined] {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 0)
  if (first !== escape) return [first.length, plainKey(first)]
  const second = text[1]
  if (second === undefined) return [0, undefined]
  if (second === escape) return [1, 'esc']
  if (second !== '[' && second !== 'O') return [2, undefined]
  for (let at = 2; at < Math.min(text.length, sequenceCharsMax); at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x20 && code <= 0x3f) continue
    return [at + 1, lookup(sequences, text.slice(2, at + 1))]
  }
  return text.length < sequenceCharsMax ? [0, undefined] : [sequenceCharsMax, undefined]
}

function plainKey(character: string): Key | undefined {
  const name = lookup(named, character)
  if (name !== undefined) return name
  const code = character.charCodeAt(0)
  if (code < 0x1b) return `ctrl-${String.fromCharCode(code + 0x60)}`
  return code < 0x20 ? undefined : character
}
