// Paths that are not resources: discovery, OpenAPI, version, metrics.
import { lookup } from '../../base/collections/lookup.ts'
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { negotiateExposition } from '../../base/observability/exposition.ts'
import type { HealthCheckMetrics } from '../../base/observability/health-check-metrics.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import { methodNotAllowed, PageNotFound, pathNotFound } from '../../api/errors/status-error.ts'
import type { ApiResponse } from '../request/response.ts'
import type { KindCatalogue } from '../kinds/kind-catalogue.ts'
import { acceptsAggregatedDiscovery, negotiateFormat, type OfferName } from '../http/media-type.ts'
import type { AggregatedDiscovery } from './aggregated-discovery.ts'
import { apiGroup, apiGroupList, apiResourceList, apiVersions, type StorageVersionHash } from './discovery.ts'
import type { ExtensionCatalogue } from './extension-catalogue.ts'
import type { Policies } from '../filters/policies.ts'
import type { OpenApiDocuments } from './openapi-documents.ts'
import type { ServedGroups } from './served-groups.ts'
import { rootPath } from './served-resources.ts'
import { serverVersion } from './server-version.ts'

export interface NonResourcePathDeps {
  readonly catalogue: KindCatalogue
  readonly metrics: Metrics
  /** For `/metrics/slis`. */
  readonly sliMetrics: HealthCheckMetrics
  readonly documents: Policies['documents']
  readonly nowMs: () => number
  readonly openApi: OpenApiDocuments
  readonly groups: ServedGroups
  readonly extensions: ExtensionCatalogue
  readonly aggregated: AggregatedDiscovery
  readonly storageVersionHash: StorageVersionHash
}

const healthPaths = ['/healthz', '/livez', '/readyz']
const ownPaths = [
  '/api',
  '/apis',
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/version',
  ...healthPaths,
]

/** The paths that `GET /` lists. */
function rootPaths({ groups, documents }: NonResourcePathDeps): object {
  const roots = [...groups.versions].flatMap(([group, versions]) => [
    ...(group === '' ? [] : [`/apis/${group}`]),
    ...versions.map((version) => rootPath({ group, version })),
  ])
  return { paths: [...new Set([...ownPaths, ...Object.keys(documents), ...roots])].toSorted() }
}

/** Discovery and the version are read-only. Upstream accepts other methods than GET on the other paths. */
const isReadOnly = (first: string | undefined): boolean => first === 'api' || first === 'apis' || first === 'version'

export function handleNonResourcePath(
  path: string,
  verb: string,
  accept: string,
  query: URLSearchParams,
  server: NonResourcePathDeps,
): MaybePromise<ApiResponse> {
  if (path === '/') return { kind: 'json', status: 200, value: rootPaths(server) }
  const isAggregated = acceptsAggregatedDiscovery(accept)
  const parts = path.split('/').filter((part) => part !== '')
  const isDefinedHere = parts[0] !== 'apis' || server.catalogue.isBuiltInGroup(parts[1] ?? '')
  const routed = isDefinedHere ? 'document' : 'status'
  const json = (value: object | undefined, offer: OfferName = routed): ApiResponse => {
    if (value === undefined) throw isDefinedHere ? pathNotFound() : new PageNotFound()
    return { kind: 'json', status: 200, value, isYaml: negotiateFormat(accept, offer).syntax === 'yaml' }
  }
  const resourceList = (group = '', version = '') =>
    apiResourceList(server.catalogue, { group, version }, server.storageVersionHash)
  // Upstream lists the versions of a group that it does not serve itself whatever the method is.
  const isExtensionGroup = parts[0] === 'apis' && parts.length === 2 && server.extensions.hasGroup(parts[1] ?? '')
  if (verb !== 'get' && isReadOnly(parts[0]) && !isExtensionGroup) throw methodNotAllowed()
  switch (parts[0]) {
    case 'version':
      return json(serverVersion, 'version')
    case 'metrics':
      return metricsResponse(parts.length === 1 ? server.metrics : slis(server, parts), accept)
    case 'api':
      if (parts.length === 1) return isAggregated ? server.aggregated.core() : json(apiVersions())
      return json(parts.length === 2 ? resourceList('', parts[1]) : undefined)
    case 'apis':
      if (parts.length === 1)
        return isAggregated ? server.aggregated.groups() : json(apiGroupList(server.groups.versions), 'status')
      if (parts.length === 2) return json(withType(apiGroup(server.groups.versions, parts[1] ?? '')), 'status')
      return json(parts.length === 3 ? resourceList(parts[1], parts[2]) : undefined)
    case 'openapi':
      return thenMaybe(server.openApi.handle(parts.slice(1), accept, query.get('hash') ?? '', server.nowMs()), present)
    default: {
      const document = lookup(server.documents, path)
      if (document === undefined) throw new PageNotFound()
      return { kind: 'json', status: 200, ...document }
    }
  }
}

function slis({ sliMetrics }: NonResourcePathDeps, [, ...rest]: readonly string[]): Metrics {
  if (rest.join('/') !== 'slis') throw new PageNotFound()
  return sliMetrics.metrics
}

function metricsResponse(metrics: Metrics, accept: string): MaybePromise<ApiResponse> {
  const format = negotiateExposition(accept)
  const { contentType } = format
  return thenMaybe(metrics.scrape(format), (text): ApiResponse => ({ kind: 'text', status: 200, text, contentType }))
}

const present = (response: ApiResponse | undefined): ApiResponse => {
  if (response === undefined) throw pathNotFound()
  return response
}

const withType = (group: object | undefined): object | undefined =>
  group === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...group }
