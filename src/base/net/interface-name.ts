// InterfaceName: the name of a network interface in the characters that need no quotes in any program.
import type { Brand } from '../brand.ts'

export type InterfaceName = Brand<string, 'InterfaceName'>

/** undefined: not a name. The kernel's limit is 15 characters; it allows more characters than these. */
export const parseInterfaceName = (text: string): InterfaceName | undefined =>
  /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$/.test(text) ? (text as InterfaceName) : undefined
