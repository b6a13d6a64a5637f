// Random is the only source of randomness. seededRandom repeats its sequence for the same seed (sfc32); systemRandom
// uses the platform's cryptographic source, for ids and secrets of a real cluster.
import { getOrInsert } from '../collections/get-or-insert.ts'

export interface Random {
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number
  /** A number from 0 (inclusive) to 1 (exclusive). */
  fraction(): number
  bytes(count: number): Uint8Array
  /** An independent source for one purpose. Calling it again returns the same source, which continues its sequence. */
  fork(purpose: string): Random
}

/** The position of a seeded source and its forks in their sequences. */
export interface RandomState {
  readonly words: readonly number[]
  readonly forks: ReadonlyMap<string, RandomState>
}

export interface SeededRandom extends Random {
  fork(purpose: string): SeededRandom
  save(): RandomState
  /** Continues from the saved state; forks that are not part of it start again. */
  restore(state: RandomState | undefined): void
}

export function seededRandom(seed: number): SeededRandom {
  let a = 0
  let b = 0
  let c = 0
  let counter = 0
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  const begin = () => {
    ;[a, b, c, counter] = [0x9e3779b9 | 0, seed | 0, Math.floor(seed / 2 ** 32) | 0, 1]
    for (let i = 0; i < 12; i++) next() // the first numbers of consecutive seeds are similar
  }
  begin()
  const forks = new Map<string, SeededRandom>()
  return {
    ...fromUint32(next),
    fork: (purpose) => getOrInsert(forks, purpose, () => seededRandom(mixed(seed, purpose))),
    save: () => ({
      words: [a, b, c, counter],
      forks: new Map(Array.from(forks, ([purpose, fork]) => [purpose, fork.save()] as const)),
    }),
    restore(state) {
      if (state === undefined) begin()
      else [a = 0, b = 0, c = 0, counter = 0] = state.words
      for (const [purpose, fork] of forks) fork.restore(state?.forks.get(purpose))
    },
  }
}

/** Derives a 53-bit seed from a seed and a text (cyrb53). */
function mixed(seed: number, text: string): number {
  let a = 0xdeadbeef ^ seed
  let b = 0x41c6ce57 ^ Math.floor(seed / 2 ** 32)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return (b & 0x1fffff) * 2 ** 32 + (a >>> 0)
}

// Drawn in bulk, because the call to the platform is the expensive part.
const drawn = new Uint32Array(4096)
let used = drawn.length

export const systemRandom: Random = {
  ...fromUint32(() => {
    if (used === drawn.length) {
      crypto.getRandomValues(drawn)
      used = 0
    }
    const word = drawn[used] ?? 0
    drawn[used++] = 0
    return word
  }),
  fork: () => systemRandom,
}

function fromUint32(next: () => number): Omit<Random, 'fork'> {
  return {
    below: (limit) => Math.floor((next() / 2 ** 32) * limit),
    fraction: () => (next() >>> 5) / 2 ** 27,
    bytes(count) {
      const bytes = new Uint8Array(count)
      for (let i = 0; i < count; i += 4) {
        const word = next()
        for (let k = 0; k < 4 && i + k < count; k++) bytes[i + k] = (word >>> (k * 8)) & 0xff
      }
      return bytes
    },
  }
}
