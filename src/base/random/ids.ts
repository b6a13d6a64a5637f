// Ids made from a Random: object uids (UUID version 4) and the suffixes that generateName appends.
import type { Brand } from '../brand.ts'
import type { Random } from './random.ts'

export type Uid = Brand<string, 'Uid'>

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The lowest byte, or the two lowest bytes, in hexadecimal, lowest byte first. */
const byteText = (word: number): string => hex[word & 0xff] ?? ''
const pairText = (word: number): string => byteText(word) + byteText(word >>> 8)

export function newUid(random: Random): Uid {
  const first = random.below(2 ** 32)
  const second = random.below(2 ** 32)
  const third = random.below(2 ** 32)
  const fourth = random.below(2 ** 32)
  const version = (second & 0xff0fffff) | 0x00400000
  const variant = (third & 0xffffff3f) | 0x80
  const parts = [
    pairText(first) + pairText(first >>> 16),
    pairText(second),
    pairText(version >>> 16),
    pairText(variant),
    pairText(third >>> 16) + pairText(fourth) + pairText(fourth >>> 16),
  ]
  // join() gives a flat string; concatenation would keep a rope of its parts, six times as large.
  return parts.join('-') as Uid
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
