// Discovery: the kinds that an API server serves, and the groups whose discovery fails at the moment.
import type { Context } from '../base/observability/context.ts'
import { bareKind } from '../api/kind/bare-kind.ts'
import type { Kind } from '../api/kind/kind.ts'
import { kinds } from '../api/kinds.ts'
import type { Client } from './client.ts'

export interface ServedKind {
  readonly kind: Kind
  readonly verbs: readonly string[]
  /** Whether this is the preferred version of the resource. */
  readonly isPreferred: boolean
}

export interface DiscoveryResult {
  readonly kinds: readonly ServedKind[]
  /** Group versions whose server does not respond: `metrics.k8s.io/v1beta1`. */
  readonly failing: readonly string[]
}

interface Resource {
  readonly resource: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singularResource?: string
  readonly shortNames?: readonly string[]
  readonly responseKind?: { readonly group: string; readonly version: string; readonly kind: string }
  readonly verbs?: readonly string[]
}

interface GroupDiscoveryList {
  readonly items: readonly {
    readonly metadata?: { readonly name?: string }
    readonly versions: readonly {
      readonly version: string
      readonly freshness?: 'Current' | 'Stale'
      readonly resources?: readonly Resource[]
    }[]
  }[]
}

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** Reads everything that is served. */
export async function discover(client: Client, context: Context): Promise<DiscoveryResult> {
  const lists = await Promise.all(['/api', '/apis'].map((path) => client.read(path, accept, context)))
  const groups = (lists as GroupDiscoveryList[]).flatMap(({ items }) => items)
  const found: ServedKind[] = []
  const failing: string[] = []
  for (const { metadata: { name: group = '' } = {}, versions } of groups) {
    const known = new Set<string>()
    for (const { version, freshness, resources = [] } of versions) {
      if (freshness === 'Stale') failing.push(group === '' ? version : `${group}/${version}`)
      for (const resource of resources) {
        found.push({
          kind: kindOf(group, version, resource),
          verbs: resource.verbs ?? [],
          isPreferred: !known.has(resource.resource),
        })
        known.add(resource.resource)
      }
    }
  }
  return { kinds: found, failing }
}

/** Upstream's message, which kubectl and the conditions of a namespace show. */
export const discoveryErrorText = ({ failing }: DiscoveryResult): string =>
  `unable to retrieve the complete list of server APIs: ${failing
    .toSorted()
    .map((version) => `${version}: stale GroupVersion discovery: ${version}`)
    .join(', ')}`

const builtIn = new Map(kinds.map((kind) => [`${kind.apiVersion}/${kind.plural}`, kind]))

function kindOf(group: string, version: string, resource: Resource): Kind {
  const { resource: plural, responseKind, singularResource: singular = '', shortNames = [], scope } = resource
  const apiVersion = group === '' ? version : `${group}/${version}`
  const kind = responseKind?.kind ?? ''
  const found = builtIn.get(`${apiVersion}/${plural}`)
  return found ?? bareKind({ group, version, kind, plural, singular, shortNames, namespaced: scope === 'Namespaced' })
}
