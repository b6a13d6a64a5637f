// GatewayBalancers: keeps the Services of type LoadBalancer equal to the Gateways.
import { service, type Service } from '../api/core/v1/service/service.ts'
import { endpointSlice, type EndpointSlice } from '../api/discovery/v1/endpoint-slice.ts'
import { ignoring } from '../api/errors/status-error.ts'
import { namespaceOf, type ApiObject } from '../api/meta/object.ts'
import { lookup } from '../base/collections/lookup.ts'
import type { Context } from '../base/observability/context.ts'
import type { Client } from '../client/client.ts'
import type { Informers } from '../client/informer/informers.ts'
import { equalValues } from '../schema/json/json-value.ts'
import {
  balancedAddresses,
  balancerKey,
  balancerService,
  balancerSlice,
  belongsTo,
  gatewayNameLabel,
  type BalancerTarget,
} from './attachment/gateway-balancer.ts'
import type { AssignedAddresses } from './attachment/assigned-addresses.ts'
import { gatewayGroup } from './definitions/schema-parts.ts'
import type { Gateway } from './kinds/gateway-kinds.ts'

export interface GatewayBalancersDeps {
  readonly client: Client
  readonly informers: Pick<Informers, 'of'>
}

const applyOptions = { fieldManager: 'coxswain-gateway', force: true }
/** The index of Services of Gateways. */
const ofGateways = 'of gateways'

export class GatewayBalancers {
  readonly #deps: GatewayBalancersDeps
  readonly target: BalancerTarget

  constructor(deps: GatewayBalancersDeps, target: BalancerTarget) {
    this.#deps = deps
    this.target = target
    deps.informers
      .of(service)
      .addIndex(ofGateways, (each) => (lookup(each.metadata.labels, gatewayNameLabel) === undefined ? [] : ['']))
  }

  assigned(
    gateways: readonly Gateway[],
    read: (key: string) => Service | undefined,
  ): ReadonlyMap<Gateway, AssignedAddresses> {
    return new Map(
      gateways.flatMap((gateway) => {
        try {
          return [[gateway, balancedAddresses(gateway, read(balancerKey(gateway)))] as const]
        } catch {
          // It cannot be read, and the plan reports it.
          return []
        }
      }),
    )
  }

  /** `setPorts` are those of its ListenerSets, `opened` the ports of the proxy by those of its listeners. */
  async write(
    gateway: Gateway,
    setPorts: readonly number[],
    opened: ReadonlyMap<number, number>,
    ctx: Context,
  ): Promise<void> {
    const { client, informers } = this.#deps
    const wanted = balancerService(gateway, setPorts)
    const key = balancerKey(gateway)
    const current = informers.of(service).get(key)
    if (wanted === undefined || (current !== undefined && !belongsTo(current, gateway))) return
    if (current === undefined || !contains(current, wanted)) await client.of(service).apply(wanted, applyOptions, ctx)
    const slice = informers.of<EndpointSlice, unknown>(endpointSlice).get(key)
    if (opened.size === 0 || (slice !== undefined && !belongsTo(slice, gateway))) return
    const wantedSlice = balancerSlice(gateway, this.target, opened)
    if (slice === undefined || !contains(slice, wantedSlice))
      await client.of(endpointSlice).apply(wantedSlice, applyOptions, ctx)
  }

  /** Deletes those of Gateways that have another class now. Those of deleted Gateways are garbage. */
  async retain(gateways: readonly Gateway[], ctx: Context): Promise<void> {
    const { client, informers } = this.#deps
    const kept = new Set(gateways.map(({ metadata }) => metadata.uid))
    for (const each of informers.of(service).byIndex(ofGateways, '')) {
      const owner = ownerOf(each)
      if (owner === undefined || kept.has(owner) || each.metadata.deletionTimestamp !== undefined) continue
      const { name } = each.metadata
      if (!managedHere(each)) continue
      await client.of(service).delete(name, namespaceOf(each), {}, ctx).catch(ignoring('NotFound'))
      await client.of(endpointSlice).delete(name, namespaceOf(each), {}, ctx).catch(ignoring('NotFound'))
    }
  }
}

const ownerOf = ({ metadata }: ApiObject): string | undefined =>
  (metadata.ownerReferences ?? []).find(
    ({ apiVersion, kind }) => kind === 'Gateway' && apiVersion.startsWith(`${gatewayGroup}/`),
  )?.uid

const managedHere = ({ metadata }: ApiObject): boolean =>
  (metadata.managedFields ?? []).some(({ manager }) => manager === applyOptions.fieldManager)

/** Whether the object has all that is wanted. Lists are compared by their elements' fields. */
function contains(object: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(object) &&
      object.length === wanted.length &&
      wanted.every((each, index) => contains(object[index], each))
    )
  if (typeof wanted !== 'object' || wanted === null) return equalValues(object, wanted)
  if (typeof object !== 'object' || object === null) return false
  return Object.entries(wanted).every(([name, value]) =>
    contains(lookup(object as Readonly<Record<string, unknown>>, name), value),
  )
}
