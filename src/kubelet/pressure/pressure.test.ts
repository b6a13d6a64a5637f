import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { amountOf, parseAmount, parseThresholds } from './thresholds.ts'

const none = { hard: '', soft: '', softGraceMs: new Map(), minimumReclaim: '' }

test('thresholds: amounts and shares, hard and soft ones, with what is freed beyond', () => {
  const found = parseThresholds({
    hard: 'memory.available<100Mi,nodefs.available<10%,imagefs.available<0%',
    soft: 'memory.available<1Gi',
    softGraceMs: new Map([['memory.available', 90_000]]),
    minimumReclaim: 'nodefs.available=1Gi',
  })
  deepEqual(
    found.map(({ signal, below, graceMs, reclaim }) => [signal, below.text, graceMs, reclaim?.text]),
    [
      ['memory.available', '1Gi', 90_000, undefined],
      ['memory.available', '100Mi', 0, undefined],
      ['nodefs.available', '10%', 0, '1Gi'],
    ],
  )
  deepEqual([amountOf(parseAmount('10%'), 1005), amountOf(parseAmount('1Ki'), 0)], [100, 1024])
})

const wrong: [texts: Partial<typeof none>, message: RegExp][] = [
  [{ hard: 'memory<1' }, /"memory<1" is no threshold such as memory.available<100Mi/],
  [{ hard: 'memory.available<much' }, /"much" is neither an amount nor a percentage/],
  [{ hard: 'memory.available<120%' }, /"120%" is no percentage/],
  [{ hard: 'memory.available<1,memory.available<2' }, /memory.available is said twice/],
  [{ soft: 'memory.available<1' }, /grace period must be specified for the soft eviction threshold memory.available/],
]
for (const [texts, message] of wrong)
  test(`thresholds: ${message.source}`, () => throws(() => parseThresholds({ ...none, ...texts }), message))
