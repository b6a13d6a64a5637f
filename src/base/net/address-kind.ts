// The special ranges that an address may belong to, as Go's package net/netip defines them.
import { addressBytes, type IpAddress } from './ip-address.ts'

type IsKind = (address: IpAddress) => boolean

const kind =
  (ofFour: (bytes: Uint8Array) => boolean, ofSix: (bytes: Uint8Array) => boolean): IsKind =>
  (address) => {
    const bytes = addressBytes(address)
    return bytes.length === 4 ? ofFour(bytes) : ofSix(bytes)
  }

const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0)

/** `0.0.0.0` or `::`. */
export const isUnspecifiedAddress: IsKind = kind(isZero, isZero)

/** `127.0.0.0/8` or `::1`. */
export const isLoopbackAddress: IsKind = kind(
  ([first]) => first === 127,
  (bytes) => bytes.at(-1) === 1 && isZero(bytes.subarray(0, -1)),
)

/** `169.254.0.0/16` or `fe80::/10`. */
export const isLinkLocalAddress: IsKind = kind(
  ([first, second]) => first === 169 && second === 254,
  ([first, second = 0]) => first === 0xfe && (second & 0xc0) === 0x80,
)

/** `224.0.0.0/4` or `ff00::/8`. */
export const isMulticastAddress: IsKind = kind(
  ([first = 0]) => (first & 0xf0) === 0xe0,
  ([first]) => first === 0xff,
)

/** `224.0.0.0/24` or `ff02::/16`, whatever the flags of the latter. */
export const isLinkLocalMulticastAddress: IsKind = kind(
  ([first, second, third]) => first === 224 && second === 0 && third === 0,
  ([first, second = 0]) => first === 0xff && (second & 0x0f) === 0x02,
)

/** `255.255.255.255`. */
const isBroadcastAddress: IsKind = kind(
  (bytes) => bytes.every((byte) => byte === 0xff),
  () => false,
)

/** Includes private and reserved addresses, as in Go. */
export const isGlobalUnicastAddress: IsKind = (address) =>
  ![isUnspecifiedAddress, isLoopbackAddress, isMulticastAddress, isLinkLocalAddress, isBroadcastAddress].some((is) =>
    is(address),
  )

/** An address that one machine can have: not `0.0.0.0`, not `::`, not multicast and not of the reserved `240.0.0.0/4`. */
export const isUnicastAddress: IsKind = kind(
  (bytes) => (bytes[0] ?? 0) < 224 && !isZero(bytes),
  (bytes) => bytes[0] !== 0xff && !isZero(bytes),
)
