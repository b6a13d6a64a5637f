// ResourceRecord: one record of a DNS message. Names are in presentation format, in lower case and without the final
// dot; the root is the empty string. Bytes of a label that are not printable, dots and backslashes are escaped.

export const recordType = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
} as const

export interface ResourceRecord {
  readonly name: string
  readonly type: number
  readonly ttlSeconds: number
  readonly data: RecordData
}

export type RecordData =
  /** A and AAAA. */
  | { readonly kind: 'address'; readonly address: string }
  /** CNAME, NS and PTR. */
  | { readonly kind: 'name'; readonly target: string }
  | { readonly kind: 'mail'; readonly preference: number; readonly target: string }
  | ServiceLocation
  | StartOfAuthority
  /** TXT and HINFO. Each character is one byte. */
  | { readonly kind: 'texts'; readonly texts: readonly string[] }
  /** A type whose data contain no compressed names (RFC 3597). */
  | { readonly kind: 'opaque'; readonly bytes: Uint8Array }

/** SRV. */
export interface ServiceLocation {
  readonly kind: 'location'
  readonly priority: number
  readonly weight: number
  readonly port: number
  readonly target: string
}

/** SOA. */
export interface StartOfAuthority {
  readonly kind: 'authority'
  readonly primary: string
  readonly mailbox: string
  readonly serial: number
  readonly refreshSeconds: number
  readonly retrySeconds: number
  readonly expireSeconds: number
  /** How long a negative response may be cached (RFC 2308). */
  readonly minimumSeconds: number
}
