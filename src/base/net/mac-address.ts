// MacAddress: a hardware address of six octets, in lower case.
import type { Brand } from '../brand.ts'

export type MacAddress = Brand<string, 'MacAddress'>

/** undefined: not a hardware address. */
export const parseMac = (text: string): MacAddress | undefined =>
  /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i.test(text) ? (text.toLowerCase() as MacAddress) : undefined

/** `octets` are six numbers of 8 bits. */
export const macOfOctets = (octets: readonly [number, number, number, number, number, number]): MacAddress =>
  octets.map((octet) => octet.toString(16).padStart(2, '0')).join(':') as MacAddress
