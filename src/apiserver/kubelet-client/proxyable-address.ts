// isProxyableAddress: whether the API server may proxy a client's request to an address. The addresses of Pods,
// Services and nodes are chosen by their writers. None of them may lead to the API server's own machine, to its link,
// or to a multicast group.
import { addressBytes, parseIp } from '../../base/net/ip-address.ts'

export function isProxyableAddress(text: string): boolean {
  const address = parseIp(text)
  if (address === undefined) return false // including IPv4 in IPv6 notation and zones, which no proxied address uses
  const bytes = addressBytes(address)
  return bytes.length === 4 ? isProxyableFour(bytes) : isProxyableSix(bytes)
}

function isProxyableFour([first = 0, second = 0, third = 0, fourth = 0]: Uint8Array): boolean {
  const isLinkLocal = first === 169 && second === 254
  const isBroadcast = (first & second & third & fourth) === 255
  return first !== 0 && first !== 127 && !isLinkLocal && (first & 0xf0) !== 0xe0 && !isBroadcast
}

function isProxyableSix(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes
  if (first === 0xff || (first === 0xfe && (second & 0xc0) === 0x80)) return false
  // ::, ::1, and IPv4 addresses as IPv4-compatible, IPv4-mapped or IPv4-translated ones.
  if (startsWith(bytes, Array<number>(8).fill(0))) return false
  if (startsWith(bytes, nat64)) return isProxyableFour(bytes.subarray(12))
  return !startsWith(bytes, sixToFour) || isProxyableFour(bytes.subarray(2, 6))
}

const nat64 = [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]
const sixToFour = [0x20, 0x02]

const startsWith = (bytes: Uint8Array, prefix: readonly number[]): boolean =>
  prefix.every((byte, index) => bytes[index] === byte)
