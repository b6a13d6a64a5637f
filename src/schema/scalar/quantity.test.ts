import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalQuantity, quantityMillis, quantityNanos, quantityUnits } from './quantity.ts'

const quantities: [text: string, nanos: bigint | undefined][] = [
  ['1', 1_000_000_000n],
  ['100m', 100_000_000n],
  ['0.5', 500_000_000n],
  ['.5', 500_000_000n],
  ['1.5Gi', 1_610_612_736n * 1_000_000_000n],
  ['1k', 1000n * 1_000_000_000n],
  ['2e3', 2000n * 1_000_000_000n],
  ['1E', 10n ** 18n * 1_000_000_000n],
  ['-1', -1_000_000_000n],
  ['0.1n', 1n],
  ['10E', ((1n << 63n) - 1n) * 1_000_000_000n],
  ['1e999999999999', ((1n << 63n) - 1n) * 1_000_000_000n],
  ['-1e999999999999', -((1n << 63n) - 1n) * 1_000_000_000n],
  ['1e-999999999999', 1n],
  ['0e999999999999', 0n],
  ['1'.repeat(1_001), undefined],
  ['', undefined],
  ['1 Gi', undefined],
  ['.', undefined],
  ['1KiB', undefined],
]
for (const [text, nanos] of quantities)
  test(`quantity ${JSON.stringify(text.slice(0, 20))}`, () => equal(quantityNanos(text), nanos))

test('quantities are rounded up to the counted unit', () => {
  deepEqual(
    [
      quantityMillis('0.1'),
      quantityMillis('1n'),
      quantityMillis(undefined),
      quantityUnits('1.1'),
      quantityUnits('1Mi'),
    ],
    [100, 1, 0, 2, 1_048_576],
  )
})

const canonical: [text: string, written: string | undefined][] = [
  ['0.5', '500m'],
  ['1024Mi', '1Gi'],
  ['1000m', '1'],
  ['1500Mi', '1500Mi'],
  ['1.5Gi', '1536Mi'],
  ['100Ki', '100Ki'],
  ['512', '512'],
  ['0.5Ki', '512'],
  ['1000Ki', '1000Ki'],
  ['1000', '1k'],
  ['2e3', '2e3'],
  ['12e2', '1200'],
  ['-1500m', '-1500m'],
  ['0', '0'],
  ['0Gi', '0'],
  ['1.0', '1'],
  ['16Ei', '9223372036854775807'],
  ['x', undefined],
]
for (const [text, written] of canonical)
  test(`quantity ${text} is written ${written}`, () => equal(canonicalQuantity(text), written))
