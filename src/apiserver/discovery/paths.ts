// Paths of the server itself: discovery, OpenAPI, version, metrics.
import type { Metrics } from '../../base/metrics.ts'
import { pathNotFound } from '../../api/status-error.ts'
import type { Answer } from '../answer.ts'
import { acceptsAggregatedDiscovery } from '../media-type.ts'
import { aggregatedDiscovery, apiGroup, apiGroupList, apiResourceList, apiVersions } from './discovery.ts'
import type { Policies } from '../policies.ts'
import type { OpenApiDocuments } from './openapi-documents.ts'
import { serverVersion } from './version.ts'

export interface ServerPaths {
  readonly metrics: Metrics
  readonly documents: Policies['documents']
  readonly address: () => string
  readonly openApi: OpenApiDocuments
  /** Groups that are not told of. */
  readonly hiddenGroups: () => readonly string[]
  /** A digest for entity tags. */
  readonly digest: (text: string) => string
}

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

export function answerPath(path: string, accept: string, server: ServerPaths): Answer {
  const wantsAggregated = acceptsAggregatedDiscovery(accept)
  const parts = path.split('/').filter((part) => part !== '')
  const json = (value: object | undefined): Answer => {
    if (value === undefined) throw pathNotFound()
    return { kind: 'json', status: 200, value }
  }
  switch (parts[0]) {
    case 'version':
      return json(serverVersion)
    case 'metrics':
      return { kind: 'text', status: 200, text: server.metrics.text() }
    case 'api':
      if (parts.length === 1) return wantsAggregated ? aggregated(true, server) : json(apiVersions(server.address()))
      return json(parts.length === 2 ? apiResourceList('', parts[1] ?? '') : undefined)
    case 'apis':
      if (parts.length === 1)
        return wantsAggregated ? aggregated(false, server) : json(apiGroupList(server.hiddenGroups()))
      if (parts.length === 2) return json(withType(apiGroup(parts[1] ?? '')))
      return json(parts.length === 3 ? apiResourceList(parts[1] ?? '', parts[2] ?? '') : undefined)
    case 'openapi':
      return present(server.openApi.answer(parts.slice(1), accept))
    default: {
      const document = server.documents[path]
      if (document === undefined) throw pathNotFound()
      return { kind: 'json', status: 200, ...document }
    }
  }
}

const present = (answer: Answer | undefined): Answer => {
  if (answer === undefined) throw pathNotFound()
  return answer
}

const withType = (group: object | undefined): object | undefined =>
  group === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...group }

function aggregated(legacy: boolean, { digest, hiddenGroups }: ServerPaths): Answer {
  const value = aggregatedDiscovery(legacy, hiddenGroups())
  return { kind: 'json', status: 200, value, contentType: aggregatedType, etag: `"${digest(JSON.stringify(value))}"` }
}
