// remoteUserHeaders: the headers in which a front proxy names the user of a request, for the extension server.
import { setOwn } from '../../base/collections/lookup.ts'
import type { User } from '../request/request.ts'

export function remoteUserHeaders({ name, uid, groups, extra }: User): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = { 'x-remote-user': name }
  if (uid !== '') headers['x-remote-uid'] = uid
  if (groups.length > 0) headers['x-remote-group'] = groups
  for (const [key, values] of Object.entries(extra)) setOwn(headers, `x-remote-extra-${escapedKey(key)}`, values)
  return headers
}

/** Characters that the name of a header may have, except `%`, which starts an escape. */
const plain = /^[\w!#$&'*+.^`|~-]*$/

/** Names of headers are not case-sensitive, so extra keys are lower case on the other side. */
const escapedKey = (key: string): string => (plain.test(key) ? key : Array.from(utf8.encode(key), escapedByte).join(''))

const utf8 = new TextEncoder()

function escapedByte(byte: number): string {
  const character = String.fromCharCode(byte)
  return byte < 128 && plain.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}
