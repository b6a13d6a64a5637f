// Key usages and extended key usages, by the names of the CertificateSigningRequest API.
import { lookup } from '../base/collections/lookup.ts'
import * as der from './der.ts'

/** Bits of the key usage extension; 0 is the most significant bit of the first byte. */
const keyUsageBits: Readonly<Record<string, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
}

const purposeIds: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
}

/** The value of the key usage extension; undefined when none of the usages belongs to it. */
export function keyUsageOf(usages: readonly string[]): der.Der | undefined {
  const bits = usages.flatMap((usage) => lookup(keyUsageBits, usage) ?? [])
  if (bits.length === 0) return undefined
  const highest = Math.max(...bits)
  const bytes = new Uint8Array(highest < 8 ? 1 : 2)
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7))
  return der.bitString(bytes, 7 - (highest & 7))
}

/** The object identifiers of the extended key usages, without duplicates. */
export const purposesOf = (usages: readonly string[]): string[] => [
  ...new Set(usages.flatMap((usage) => lookup(purposeIds, usage) ?? [])),
]
