// ServerApi: what the terminal view requests of an API server. Failures are StatusErrors, or errors of the connection.
import type { CallApi } from '../../calls/workload-calls.ts'
import type { ObjectRef, Resource } from '../state/resources.ts'

export interface ServerApi extends CallApi {
  /** The text of a response as it arrives. */
  stream(target: string, accept: string, signal: AbortSignal): AsyncIterable<string>
  /** Sentences that explain the state of the object, as `coxswain why`. */
  why(object: ObjectRef, signal: AbortSignal): Promise<readonly string[]>
}

export const jsonType = 'application/json'

type Query = Readonly<Record<string, string | undefined>>

/** The path of the objects of a resource, in a namespace or in all, or of one object. */
export function targetOf(
  { group, version, plural, namespaced }: Resource,
  { namespace = '', name = '', subresource = '' }: { namespace?: string; name?: string; subresource?: string },
  query: Query = {},
): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const home = namespaced && namespace !== '' ? ['namespaces', namespace] : []
  const parts = [...home, plural, name, subresource].filter((part) => part !== '').map(encodeURIComponent)
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const text = new URLSearchParams(given).toString()
  return `${[root, ...parts].join('/')}${text === '' ? '' : `?${text}`}`
}
