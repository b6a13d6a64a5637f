// Mutations of valid bodies, reproducible from a seed: wrong types at any field, deep nesting, huge numbers, broken
// bytes.
import { readFileSync } from 'node:fs'
import type { Random } from '../../base/random/random.ts'

export interface Recorded {
  readonly path: string
  readonly sent: object
}

/** Objects of many kinds that upstream accepts, or almost. */
export const recordedBodies = (): readonly Recorded[] =>
  JSON.parse(readFileSync(new URL('../../../test/facts/defaults.json', import.meta.url), 'utf8')) as Recorded[]

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

const hostileValues: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  1e308,
  2 ** 63,
  -(2 ** 63),
  '',
  'x'.repeat(5_000),
  '\u0000\uFFFF',
  '../../etc',
  '1e999999999',
  '99999999999999999999Gi',
  [],
  [null],
  {},
  { '': '' },
  { $patch: 'delete' },
  { constructor: { prototype: 1 } },
  nested(500),
]

/** The JSON of the body with one mutation. */
export function mutated(body: object, random: Random): string {
  const copy = structuredClone(body) as Record<string, unknown>
  const places: [holder: Record<string, unknown>, key: string][] = []
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    for (const key of Object.keys(value)) {
      places.push([value as Record<string, unknown>, key])
      visit((value as Record<string, unknown>)[key])
    }
  }
  visit(copy)
  const [holder, key] = places[random.below(places.length)] ?? [copy, 'spec']
  const choice = random.below(hostileValues.length + 3)
  if (choice < hostileValues.length) holder[key] = hostileValues[choice]
  else if (choice === hostileValues.length) delete holder[key]
  else if (choice === hostileValues.length + 1) holder[`${key}\u00e9`] = holder[key]
  else holder[key] = [holder[key], holder[key]]
  return JSON.stringify(copy)
}

/** Invalid JSON: truncated, or with invalid UTF-8. */
export function broken(text: string, random: Random): Uint8Array {
  const bytes = new TextEncoder().encode(text)
  if (random.below(2) === 0) return bytes.slice(0, random.below(bytes.length))
  const copy = bytes.slice()
  for (let count = 0; count < 3; count++) copy[random.below(copy.length)] = 0x80 + random.below(0x80)
  return copy
}
