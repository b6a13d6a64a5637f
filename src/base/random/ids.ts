// Ids made from a Random: object uids (UUID version 4) and the suffixes that generateName appends.
import type { Brand } from '../brand.ts'
import type { Random } from './random.ts'

export type Uid = Brand<string, 'Uid'>

const hexDigits = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))
/** The characters of a uid, with dashes at their places. Shared, because a uid is made synchronously. */
const codes = Array.from({ length: 36 }, () => '-'.charCodeAt(0))

function writeByte(at: number, byte: number): void {
  codes[at] = hexDigits[(byte >>> 4) & 0xf] as number
  codes[at + 1] = hexDigits[byte & 0xf] as number
}

/** The two lowest bytes, lowest first. */
function writePair(at: number, word: number): void {
  writeByte(at, word)
  writeByte(at + 2, word >>> 8)
}

export function newUid(random: Random): Uid {
  const first = random.below(2 ** 32)
  const second = random.below(2 ** 32)
  const third = random.below(2 ** 32)
  const fourth = random.below(2 ** 32)
  const version = (second & 0xff0fffff) | 0x00400000
  const variant = (third & 0xffffff3f) | 0x80
  writePair(0, first)
  writePair(4, first >>> 16)
  writePair(9, second)
  writePair(14, version >>> 16)
  writePair(19, variant)
  writePair(24, third >>> 16)
  writePair(28, fourth)
  writePair(32, fourth >>> 16)
  // One flat string; concatenation would keep a rope of its parts, six times as large.
  return String.fromCharCode(...codes) as Uid
}

// No vowels and no similar digits, so that a suffix does not spell a word.
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

export function nameSuffix(random: Random, length = 5): string {
  let suffix = ''
  for (let i = 0; i < length; i++) suffix += suffixAlphabet[random.below(suffixAlphabet.length)]
  return suffix
}

/** Encodes a number in the suffix alphabet, as pod-template-hash labels do with their decimal digits. */
export const safeEncoded = (decimal: string): string =>
  Array.from(decimal, (character) => suffixAlphabet[character.charCodeAt(0) % suffixAlphabet.length]).join('')
