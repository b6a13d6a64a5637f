import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ownText } from './own-text.ts'

const texts: [what: string, text: string, charsMax: number | undefined, owned: string][] = [
  ['empty text', '', 10, ''],
  ['short text', 'web', 10, 'web'],
  ['a text of the largest length', 'abcdefghijklmno', 15, 'abcdefghijklmno'],
  ['a longer text', 'abcdefghijklmnop', 15, 'abcdefghijklmn…'],
  ['text without a limit', 'x'.repeat(1_000), undefined, 'x'.repeat(1_000)],
]
for (const [what, text, charsMax, owned] of texts) test(what, () => equal(ownText(text, charsMax), owned))

test('a copy does not keep the text that it was cut from', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const headOf = (round: number) => `${round}`.padStart(100_000, '/')
  const keptMb = (cut: (text: string) => string): number => {
    collect()
    const before = process.memoryUsage().heapUsed
    const kept = Array.from({ length: 200 }, (_, round) => cut(headOf(round)))
    collect()
    return kept.length > 0 ? (process.memoryUsage().heapUsed - before) / (1 << 20) : 0
  }
  ok(keptMb((text) => text.slice(10, 60)) > 10, 'a slice alone keeps it')
  ok(keptMb((text) => ownText(text.slice(10, 60))) < 2)
  ok(keptMb((text) => ownText(text, 50)) < 2, 'cut off')
})
