// InterfaceName: the name of a network interface in the characters that need no quotes in any program.
import type { Brand } from '../brand.ts'

export type InterfaceName = Brand<string, 'InterfaceName'>

/** undefined: not a name. The kernel's limit is 15 characters; it allows more characters than these. */
export const parseInterfaceName = (text: string): InterfaceName | undefined =>
  /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$/.test(text) ? (text as InterfaceName) : undefined

/** For names of this program's own configuration. */
export function mustParseInterfaceName(text: string): InterfaceName {
  const name = parseInterfaceName(text)
  if (name === undefined) throw new Error(`${JSON.stringify(text)} is not the name of a network interface`)
  return name
}
