// A strict reader of DNS messages, independent of the one in src/.

/** Why the bytes are not one well-formed message; undefined if they are. */
export function dnsMessageFault(bytes: Uint8Array): string | undefined {
  const uint16 = (at: number) => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
  if (bytes.length < 12) return 'no header'
  const [questions = 0, ...records] = [4, 6, 8, 10].map(uint16)
  let at = 12
  for (let index = 0; index < questions; index++) at = nameEnd(bytes, at) + 4
  for (let index = 0; index < records.reduce((sum, count) => sum + count, 0); index++) {
    const fixed = nameEnd(bytes, at)
    const end = fixed + 10 + uint16(fixed + 8)
    if (isNameType.has(uint16(fixed))) {
      const start = fixed + 10 + (uint16(fixed) === srvType ? 6 : 0)
      if (nameEnd(bytes, start) !== end) return 'a name in a record that is not as long as the record'
    }
    at = end
    if (Number.isNaN(at)) break
  }
  return at === bytes.length ? undefined : 'another length than that of its records'
}

const srvType = 33
/** NS, CNAME, PTR, SRV. */
const isNameType: ReadonlySet<number> = new Set([2, 5, 12, srvType])

/** The index after a name; NaN if it is malformed. */
function nameEnd(bytes: Uint8Array, start: number): number {
  let at = start
  for (let length = 0; length <= 255; length++) {
    const byte = bytes[at]
    if (byte === undefined) return NaN
    if (byte === 0) return at + 1
    if (byte >= 0xc0) return ((byte & 0x3f) << 8) + (bytes[at + 1] ?? 0) < start ? at + 2 : NaN
    if (byte > 63) return NaN
    at += byte + 1
    length += byte
  }
  return NaN
}
