// The condition Available of an APIService: what its Service and its endpoints allow to say, before the server is called.
import { service, type Service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import type { APIService, APIServiceCondition } from '../../api/apiregistration/v1/api-service.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import type { Extension } from '../request/extension.ts'
import type { ObjectLister } from '../watch-cache/object-caches.ts'

export interface Availability {
  readonly isAvailable: boolean
  readonly reason: string
  readonly message: string
}

const unavailable = (reason: string, message: string): Availability => ({ isAvailable: false, reason, message })

export const localAvailability: Availability = {
  isAvailable: true,
  reason: 'Local',
  message: 'Local APIServices are always available',
}

export const passed: Availability = { isAvailable: true, reason: 'Passed', message: 'all checks passed' }

export const failedDiscovery = (message: string): Availability => unavailable('FailedDiscoveryCheck', message)

/** Why the Service cannot be called; undefined where it can. */
export function serviceAvailability({ service: reference }: Extension, lister: ObjectLister): Availability | undefined {
  const { namespace, name, port } = reference
  const place = `service/${name} in ${JSON.stringify(namespace)}`
  const found = lister.get(service, namespace, name)
  if (found === undefined) return unavailable('ServiceNotFound', `${place} is not present`)
  if ((found.spec.type ?? 'ClusterIP') !== 'ClusterIP') return undefined
  const offered = (found.spec.ports ?? []).find((each) => each.port === port)
  if (offered === undefined) return unavailable('ServicePortError', `${place} is not listening on port ${port}`)
  return endpointAvailability(found, offered.name ?? '', place, lister)
}

function endpointAvailability(
  { metadata }: Service,
  portName: string,
  place: string,
  lister: ObjectLister,
): Availability | undefined {
  const slices = lister
    .list(endpointSlice, metadata.namespace)
    .filter(({ metadata: { labels } }) => labels?.[serviceNameLabel] === metadata.name)
  if (slices.length === 0) return unavailable('EndpointsNotFound', `cannot find endpointslices for ${place}`)
  const hasAddress = slices.some(
    ({ ports, endpoints }) =>
      ports?.some((each) => (each.name ?? '') === portName && each.port !== undefined) &&
      endpoints?.some(({ addresses, conditions }) => addresses.length > 0 && conditions?.ready !== false),
  )
  return hasAddress
    ? undefined
    : unavailable(
        'MissingEndpoints',
        `endpointslices for ${place} have no addresses with port name ${JSON.stringify(portName)}`,
      )
}

/** The APIService with the condition; the same object where nothing has changed. */
export function withAvailability(object: APIService, availability: Availability, nowMs: number): APIService {
  const { isAvailable, reason, message } = availability
  const status = isAvailable ? 'True' : 'False'
  const { conditions = [] } = object.status
  const before = conditions.find(({ type }) => type === 'Available')
  if (before?.status === status && before.reason === reason && before.message === message) return object
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : rfc3339(nowMs)
  const condition: APIServiceCondition = {
    type: 'Available',
    status,
    ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
    reason,
    message,
  }
  const others = conditions.filter(({ type }) => type !== 'Available')
  return { ...object, status: { ...object.status, conditions: [...others, condition] } }
}
