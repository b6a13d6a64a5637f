// Ids made from a Random: object uids (UUID version 4) and the suffixes that generateName appends.
import type { Brand } from './brand.ts'
import type { Random } from './random.ts'

export type Uid = Brand<string, 'Uid'>

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function newUid(random: Random): Uid {
  const bytes = random.bytes(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  let text = ''
  for (let i = 0; i < 16; i++) text += (i === 4 || i === 6 || i === 8 || i === 10 ? '-' : '') + hex[bytes[i] ?? 0]
  return text as Uid
}

// No vowels and no digits that look like them: a suffix never spells a word.
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

export function nameSuffix(random: Random, length = 5): string {
  let suffix = ''
  for (let i = 0; i < length; i++) suffix += suffixAlphabet[random.below(suffixAlphabet.length)]
  return suffix
}

/** Encodes a number in the suffix alphabet, as pod-template-hash labels do with their decimal digits. */
export const safeEncoded = (decimal: string): string =>
  Array.from(decimal, (character) => suffixAlphabet[character.charCodeAt(0) % suffixAlphabet.length]).join('')
