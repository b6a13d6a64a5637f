// HeaderChanges: how a filter changes the headers of a request or response. Headers that belong to a connection, that say
// where a message ends, or that name the host are not changed by filters: an endpoint would see another message than the
// proxy.
import type { Brand } from '../../base/brand.ts'

/** The name of a header that filters may change, in lower case. */
export type ChangeableHeader = Brand<string, 'ChangeableHeader'>

export interface ChangedHeader {
  readonly name: ChangeableHeader
  /** Without control characters. */
  readonly value: string
}

/** Of several entries of a list for one name, only the first is contained. */
export interface HeaderChanges {
  readonly set: readonly ChangedHeader[]
  readonly add: readonly ChangedHeader[]
  readonly remove: readonly ChangeableHeader[]
}

interface Entry {
  readonly name: string
  readonly value: string
}

export interface HeaderModifier {
  readonly set?: readonly Entry[]
  readonly add?: readonly Entry[]
  readonly remove?: readonly string[]
}

/** Headers that apply to one connection only (RFC 9110, 7.6.1), or that the connections set themselves. */
export const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const token = /^[!#$%&'*+\-.^_`|~\da-z]+$/
const notInHeaderValue = /[^\t\x20-\x7e\x80-\xff]/

/** A text says what is not supported. */
export function headerChanges({ set = [], add = [], remove = [] }: HeaderModifier): HeaderChanges | string {
  const settled = changedHeaders(set)
  const added = changedHeaders(add)
  const removed = remove.map(changeable)
  if (typeof settled === 'string') return settled
  if (typeof added === 'string') return added
  const fixed = removed.indexOf(undefined)
  if (fixed >= 0) return unchangeable(remove[fixed] ?? '')
  return { set: settled, add: added, remove: removed.filter((name) => name !== undefined) }
}

function changedHeaders(entries: readonly Entry[]): readonly ChangedHeader[] | string {
  const byName = new Map<string, ChangedHeader>()
  for (const { name, value } of entries) {
    const header = changeable(name)
    if (header === undefined) return unchangeable(name)
    if (notInHeaderValue.test(value)) return `the value of header ${name} contains characters that a header cannot have`
    if (!byName.has(header)) byName.set(header, { name: header, value })
  }
  return [...byName.values()]
}

function changeable(name: string): ChangeableHeader | undefined {
  const lower = name.toLowerCase()
  if (!token.test(lower) || lower === 'content-length' || lower === 'host' || connectionHeaders.has(lower))
    return undefined
  return lower as ChangeableHeader
}

const unchangeable = (name: string): string => `header ${name} cannot be changed by a filter`
