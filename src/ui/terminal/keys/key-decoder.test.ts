import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { KeyDecoder } from './key-decoder.ts'

const rows: [what: string, pieces: string[], keys: string[]][] = [
  ['letters', ['jk:'], ['j', 'k', ':']],
  ['letters outside of the basic plane', ['ä🚀'], ['ä', '🚀']],
  ['control keys', ['\x04\x0b\x03\x1a'], ['ctrl-d', 'ctrl-k', 'ctrl-c', 'ctrl-z']],
  ['keys with names', ['\r\t\x7f\b'], ['enter', 'tab', 'backspace', 'backspace']],
  ['arrows in both modes', ['\x1b[A\x1bOB'], ['up', 'down']],
  ['numbered keys', ['\x1b[5~\x1b[6~\x1b[1~'], ['pageup', 'pagedown', 'home']],
  ['a sequence in parts', ['\x1b', '[', '5', '~', 'x'], ['pageup', 'x']],
  ['an unknown sequence', ['\x1b[99;5~j'], ['j']],
  ['a key with Alt', ['\x1bxj'], ['j']],
  ['Escape twice', ['\x1b\x1b'], ['esc', 'esc']],
  ['Escape alone', ['\x1b'], ['esc']],
  ['a sequence without an end', [`\x1b[${'1'.repeat(40)}`], Array.from('1'.repeat(10))],
  ['a control character without a key', ['\x1fj'], ['j']],
]
for (const [what, pieces, keys] of rows)
  test(`keys of ${what}`, () => {
    const decoder = new KeyDecoder()
    const decoded = pieces.flatMap((piece) => decoder.decode(piece))
    deepEqual([...decoded, ...(decoder.isPending ? decoder.flush() : [])], keys)
  })
