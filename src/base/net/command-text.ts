// CommandText: text in the language of a program that runs as root (`ip -batch`, `nft`). It is made of literals of the source
// and of parsed types only, so no string of an API object becomes a part of it. The compiler checks the holes of templates.
import type { Brand } from '../brand.ts'
import type { Cidr } from './cidr.ts'
import type { InterfaceName } from './interface-name.ts'
import type { IpAddress } from './ip-address.ts'
import type { MacAddress } from './mac-address.ts'

export type CommandText = Brand<string, 'CommandText'>

type Parsed = Cidr | CommandText | InterfaceName | IpAddress | MacAddress | number

/** Parsed types, numbers, and strings that are literals of the source; `never` for any other string. */
type Hole<T> = T extends Parsed ? T : T extends Brand<string, string> ? never : T extends string ? Literal<T> : never

/** `never` for `string` and for templates with holes (`${string}/32`): as keys they are index signatures, not properties. */
type Literal<T extends string> = Record<never, never> extends Record<T, 1> ? never : T

/** Tag of templates: commandText`route replace ${cidr} via ${address}`. */
export function commandText<const T extends readonly (number | string)[]>(
  literals: TemplateStringsArray,
  ...holes: T & { [At in keyof T]: Hole<T[At]> }
): CommandText {
  let text = literals[0] ?? ''
  for (const [index, hole] of holes.entries()) text += `${hole}${literals[index + 1] ?? ''}`
  return text as CommandText
}

export const joinCommandText = (
  parts: readonly (Cidr | CommandText | IpAddress)[],
  separator: '\n' | ' ' | ' . ' | ', ' | '; ',
): CommandText => parts.join(separator) as CommandText

const identifierCharactersMax = 255

/** The name of a chain, a set or a map in nftables; undefined if the kernel or nft would not accept the text as one. */
export const parseIdentifier = (text: string): CommandText | undefined =>
  text.length <= identifierCharactersMax && /^[A-Za-z][A-Za-z0-9/_.-]*$/.test(text) ? (text as CommandText) : undefined

/** An element of a set as nft prints it: an address, and the time until it expires. */
export const parseElement = (text: string): CommandText | undefined =>
  /^[0-9A-Za-z.:/ ]+$/.test(text) ? (text as CommandText) : undefined
