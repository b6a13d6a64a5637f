// sliceSync: what the metrics show of one reconcile of a Service.
import type { Service } from '../../api/core/v1/service/service.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { SliceOperation, SliceSync } from '../metrics/endpoint-slice-metrics.ts'
import type { Change } from '../runtime/controller.ts'
import { endpointsPerSliceDefault, idOf, type EndpointGroup } from './slice-changes.ts'
import { isAuto } from './topology-hints.ts'

export function sliceSync(
  service: Service,
  existing: readonly EndpointSlice[],
  groups: readonly EndpointGroup[],
  changes: readonly Change[],
): SliceSync {
  const count = (operation: SliceOperation) => changes.filter(({ kind }) => kind === operation).length
  const created = count('create')
  const updated = count('update')
  const deleted = count('delete')
  const endpoints = groups.reduce((sum, group) => sum + group.endpoints.length, 0)
  const full = groups.reduce((sum, group) => sum + Math.ceil(group.endpoints.length / endpointsPerSliceDefault), 0)
  const numbers = new Map<string, number>()
  const [had, has] =
    changes.length === 0 ? [none, none] : [endpointsOf(existing, numbers), endpointsOf(groups, numbers)]
  return {
    endpoints,
    slices: existing.length + created - deleted,
    // A Service without endpoints has one empty slice.
    slicesDesired: Math.max(full, 1),
    added: has.difference(had).size,
    removed: had.difference(has).size,
    changes: { create: created, update: updated, delete: deleted },
    topology: isAuto(service) ? 'Auto' : 'Disabled',
    trafficDistribution: service.spec.trafficDistribution ?? '',
  }
}

const none: ReadonlySet<string> = new Set()

/**
 * The endpoints with their ports: an endpoint whose ports change is removed and added. Lists of ports can be long, so they are
 * numbered.
 */
function endpointsOf(
  groups: readonly Pick<EndpointSlice, 'addressType' | 'ports' | 'endpoints'>[],
  numbers: Map<string, number>,
): Set<string> {
  const found = new Set<string>()
  for (const { addressType, ports, endpoints } of groups) {
    const number = getOrInsert(numbers, `${addressType} ${JSON.stringify(ports ?? [])}`, () => numbers.size)
    for (const endpoint of endpoints ?? []) found.add(`${number} ${idOf(endpoint)}`)
  }
  return found
}
