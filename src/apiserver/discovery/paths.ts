// Paths of the server itself: discovery, OpenAPI, health, version, metrics.
import type { FlowRecorder } from '../../base/flow.ts'
import type { Metrics } from '../../base/metrics.ts'
import { decisionsPath, flowEventsPath } from '../../api/flow-wire.ts'
import { groupVersions } from '../../api/kinds.ts'
import { pathNotFound } from '../../api/status-error.ts'
import type { Answer } from '../answer.ts'
import { aggregatedDiscovery, apiGroup, apiGroupList, apiResourceList, apiVersions } from './discovery.ts'
import { openApiV3 } from './openapi.ts'

export interface ServerPaths {
  readonly metrics: Metrics
  readonly flow: FlowRecorder
  /** What the scheduler of this process decided about a pod, by its key. */
  readonly explain: ((podKey: string) => object | undefined) | undefined
  readonly isReady: () => boolean
  readonly address: () => string
  /** A digest for entity tags. */
  readonly digest: (text: string) => string
}

export const versionInfo = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.4',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'node',
}

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** `wantsAggregated`: the client accepts the aggregated form of discovery. */
export function answerPath(path: string, wantsAggregated: boolean, server: ServerPaths): Answer {
  const parts = path.split('/').filter((part) => part !== '')
  const json = (value: object | undefined): Answer => {
    if (value === undefined) throw pathNotFound()
    return { kind: 'json', status: 200, value }
  }
  switch (parts[0]) {
    case 'healthz':
    case 'livez':
      return { kind: 'text', status: 200, text: 'ok' }
    case 'readyz':
      return server.isReady()
        ? { kind: 'text', status: 200, text: 'ok' }
        : { kind: 'text', status: 500, text: 'the caches are not filled yet' }
    case 'version':
      return json(versionInfo)
    case 'metrics':
      return { kind: 'text', status: 200, text: server.metrics.text() }
    case 'api':
      if (parts.length === 1) return wantsAggregated ? aggregated(true, server) : json(apiVersions(server.address()))
      return json(parts.length === 2 ? apiResourceList('', parts[1] ?? '') : undefined)
    case 'apis':
      if (parts.length === 1) return wantsAggregated ? aggregated(false, server) : json(apiGroupList())
      if (parts.length === 2) return json(withType(apiGroup(parts[1] ?? '')))
      return json(parts.length === 3 ? apiResourceList(parts[1] ?? '', parts[2] ?? '') : undefined)
    case 'coxswain':
      if (path === flowEventsPath) return json({ events: [...server.flow.events()] })
      return json(path.startsWith(decisionsPath) ? server.explain?.(path.slice(decisionsPath.length)) : undefined)
    case 'openapi':
      return json(openApi(parts.slice(1), server))
    default:
      throw pathNotFound()
  }
}

const withType = (group: object | undefined): object | undefined =>
  group === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...group }

function aggregated(legacy: boolean, { digest }: ServerPaths): Answer {
  const value = aggregatedDiscovery(legacy)
  return { kind: 'json', status: 200, value, contentType: aggregatedType, etag: `"${digest(JSON.stringify(value))}"` }
}

function openApi(parts: readonly string[], { digest }: ServerPaths): object | undefined {
  if (parts[0] !== 'v3') return undefined
  if (parts.length === 1) {
    const entries = groupVersions.map(({ group, version }) => {
      const path = group === '' ? `api/${version}` : `apis/${group}/${version}`
      return [
        path,
        { serverRelativeURL: `/openapi/v3/${path}?hash=${digest(JSON.stringify(openApiV3(group, version)))}` },
      ]
    })
    return { paths: Object.fromEntries(entries) as object }
  }
  return parts[1] === 'api' ? openApiV3('', parts[2] ?? '') : openApiV3(parts[2] ?? '', parts[3] ?? '')
}
