// The header of a message: 12 bytes with an id, flags and the counts of the four sections.

export const headerBytes = 12

export const flag = {
  isResponse: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
  checkingDisabled: 0x0010,
} as const

export const opcodeOf = (flags: number): number => (flags >> 11) & 0xf
export const responseCodeOf = (flags: number): number => flags & 0xf

export const responseCode = {
  noError: 0,
  formatError: 1,
  serverFailure: 2,
  nameError: 3,
  notImplemented: 4,
  refused: 5,
  /** Needs EDNS: its upper bits are in the OPT record. */
  badVersion: 16,
} as const

/** The names under which metrics show response codes. */
export const responseCodeName: Readonly<Record<number, string>> = {
  0: 'NOERROR',
  1: 'FORMERR',
  2: 'SERVFAIL',
  3: 'NXDOMAIN',
  4: 'NOTIMP',
  5: 'REFUSED',
  16: 'BADVERS',
}

export const classInternet = 1

/** Bytes of a UDP response to a client without EDNS. */
export const udpBytesPlain = 512
/** Bytes of a UDP message that networks deliver without fragments, which we send and accept at most. */
export const udpBytesMax = 1232
/** Bytes of a message over TCP. */
export const messageBytesMax = 65_535

export const readUint16 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) << 8) | (bytes[at + 1] as number)
export const readUint32 = (bytes: Uint8Array, at: number): number =>
  readUint16(bytes, at) * 0x1_0000 + readUint16(bytes, at + 2)
