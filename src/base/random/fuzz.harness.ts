// Seeded fuzzing: inputs come from a seeded random source, and a failure names the seed that reproduces it
// (COXSWAIN_SEED=<n>). COXSWAIN_LONG=1 runs a hundred times as many seeds.
import { test } from 'node:test'
import { inspect } from 'node:util'
import { seededRandom, type Random } from './random.ts'

const longFactor = 100
const shownCharactersMax = 2_000

export interface FuzzTarget<Input> {
  /** Number of seeds in a normal run. */
  readonly runs: number
  make(random: Random): Input
  /** Throws when the input breaks an invariant. */
  check(input: Input, random: Random): void | Promise<void>
}

export function fuzz<Input>(name: string, { runs, make, check }: FuzzTarget<Input>): void {
  test(`fuzz: ${name}`, async () => {
    for (const seed of seedsOf(runs)) {
      const random = seededRandom(seed)
      const input = make(random)
      try {
        const checked = check(input, random)
        if (checked !== undefined) await checked
      } catch (error) {
        const shown = inspect(input, { depth: 12, maxStringLength: shownCharactersMax, maxArrayLength: 1_000 })
        throw new Error(`COXSWAIN_SEED=${seed} with ${shown}`, { cause: error })
      }
    }
  })
}

function seedsOf(runs: number): number[] {
  const { COXSWAIN_SEED: seed, COXSWAIN_LONG: long } = process.env
  if (seed !== undefined) return [Number(seed)]
  return Array.from({ length: long === '1' ? runs * longFactor : runs }, (_, index) => index + 1)
}

/** Ignores the documented errors; any other error fails the test. */
export function rejectedOnlyWith<Result>(
  errors: readonly (abstract new (...args: never[]) => Error)[],
  call: () => Result,
): Result | undefined {
  try {
    return call()
  } catch (error) {
    if (errors.some((known) => error instanceof known)) return undefined
    throw error
  }
}

export const pick = <T>(random: Random, items: readonly T[]): T => items[random.below(items.length)] as T

const editsMax = 4

/** The text with a few random edits: parts are removed, doubled, moved, or replaced by words of the dictionary. */
export function mutatedText(text: string, random: Random, dictionary: readonly string[]): string {
  let mutated = text
  for (let edits = random.below(editsMax) + 1; edits > 0; edits--) {
    const from = random.below(mutated.length + 1)
    const to = Math.min(mutated.length, from + random.below(8))
    const before = mutated.slice(0, from)
    const part = mutated.slice(from, to)
    const after = mutated.slice(to)
    switch (random.below(5)) {
      case 0:
        mutated = before + after
        break
      case 1:
        mutated = before + part + part + after
        break
      case 2:
        mutated = after + before + part
        break
      case 3:
        mutated = before + String.fromCharCode(random.below(256)) + after
        break
      default:
        mutated = before + pick(random, dictionary) + after
    }
  }
  return mutated
}

/**
 * The bytes with a few random edits: bits flipped, bytes set to extremes, parts removed or doubled, the end cut off.
 */
export function mutatedBytes(bytes: Uint8Array, random: Random): Uint8Array<ArrayBuffer> {
  let mutated = Uint8Array.from(bytes)
  for (let edits = random.below(editsMax) + 1; edits > 0; edits--) {
    const at = random.below(mutated.length + 1)
    const to = Math.min(mutated.length, at + random.below(8))
    switch (random.below(5)) {
      case 0:
        if (at < mutated.length) mutated[at] = (mutated[at] ?? 0) ^ (1 << random.below(8))
        break
      case 1:
        if (at < mutated.length) mutated[at] = pick(random, [0, 1, 0x7f, 0x80, 0xff])
        break
      case 2:
        mutated = concatenatedBytes(mutated.subarray(0, at), mutated.subarray(to))
        break
      case 3:
        mutated = concatenatedBytes(mutated.subarray(0, to), mutated.subarray(at))
        break
      default:
        mutated = mutated.slice(0, at)
    }
  }
  return mutated
}

export function concatenatedBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** The bytes in chunks of random sizes, some empty. */
export function inPieces(bytes: Uint8Array, random: Random): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + random.below(Math.min(64, bytes.length - at) + 1)
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}

const names = [
  'a',
  'b',
  'kind',
  'metadata',
  'name',
  'spec',
  '__proto__',
  'constructor',
  '$patch',
  '',
  'é',
  'a/b',
  'a~b',
]

/** Small JSON of any shape. */
export function randomJson(random: Random, depth = 0): unknown {
  switch (random.below(depth > 4 ? 6 : 8)) {
    case 0:
      return null
    case 1:
      return random.below(2) === 0
    case 2:
      return pick(random, [0, -1, 1.5, 1e21, 2 ** 53, 1e-7])
    case 3:
    case 4:
    case 5:
      return pick(random, ['', 'a', 'b', '\u0000', '"\\', 'delete', 'replace', '\u{1F600}', '1Gi'])
    case 6:
      return Array.from({ length: random.below(4) }, () => randomJson(random, depth + 1))
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(4) }, () => [pick(random, names), randomJson(random, depth + 1)]),
      )
  }
}
