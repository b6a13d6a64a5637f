// Load balancers from a pool of addresses: assigns each Service of type LoadBalancer an address of each of its families.
// The announcers of the nodes make one node respond for each address.
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { service, type Service } from '../../api/core/v1/service/service.ts'
import { isBeingDeleted, keyOf } from '../../api/meta/object.ts'
import type { Controller, ReconcileController, ReconcileTools } from '../../controllers/runtime/controller.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { writeIngress } from '../service/ingress-status.ts'
import { isPooled, type AddressPool } from './address-pool.ts'
import { poolDecision, requestedAddress } from './pool-decision.ts'

/** What was decided in this process. It is ahead of the cache, so two Services never get one address by accident. */
interface Assignment {
  readonly addresses: readonly string[]
  /** Problems that were reported. They are reported again after a restart. */
  readonly problems: readonly string[]
}
type State = Map<string, Assignment>
type Tools = ReconcileTools<State>

export function addressPoolController(pool: AddressPool): Controller {
  const definition: ReconcileController<State> = {
    type: 'reconcile',
    name: 'address-pool-load-balancer',
    account: 'service-controller',
    component: 'address-pool-load-balancer',
    reconciles: service,
    watches: [service, node],
    state: () => new Map(),
    enqueues(kind, { key, before, now }, tools) {
      if (kind === node) {
        const own = (found: unknown) => pooledAddressesOf(found as Node | undefined, pool)
        return equalValues(own(before), own(now)) ? [] : pooledKeys(tools, () => true)
      }
      const old = before as Service | undefined
      const current = now as Service | undefined
      if (!concerns(old) && !concerns(current)) return []
      return [key, ...pooledKeys(tools, (other) => isAffected(other, old ?? current, tools.state.get(keyOf(other))))]
    },
    async reconcile(key, tools, context) {
      const found = tools.cached(service, key)
      if (found === undefined || !isPooled(found)) {
        tools.state.delete(key)
        return undefined
      }
      if (isBeingDeleted(found)) return undefined
      const before = tools.state.get(key)
      const held = before?.addresses ?? statusAddresses(found)
      const decided = poolDecision(found, {
        pool,
        held,
        holders: holders(key, pool, tools),
        nodeAddresses: new Set([...tools.all(node)].flatMap((each) => pooledAddressesOf(each, pool))),
      })
      // Without a wait since the decision, so that the next one sees it.
      tools.state.set(key, decided)
      if (!equalValues(before?.problems ?? [], decided.problems))
        for (const message of decided.problems)
          tools.recordEvent(found, { type: 'Warning', reason: 'AllocationFailed', message }, context)
      const { addresses } = decided
      if (equalValues(statusAddresses(found), addresses)) return undefined
      const ingress = addresses.map((ip) => ({ ip, ipMode: 'VIP' }))
      await writeIngress(found, ingress, `Assigned ${addresses.join(' and ')}`, tools, context)
      return undefined
    },
  }
  return definition
}

const concerns = (found: Service | undefined): boolean => found !== undefined && isPooled(found)

/** Services that wait for an address, or that share one with the changed Service. */
const isAffected = (other: Service, changed: Service | undefined, assignment: Assignment | undefined): boolean => {
  const wanted = changed === undefined ? undefined : requestedAddress(changed)
  const isWaiting = (assignment?.problems.length ?? 0) > 0
  return isWaiting || (wanted !== undefined && requestedAddress(other) === wanted)
}

const pooledKeys = ({ all }: Tools, isIncluded: (found: Service) => boolean): readonly string[] =>
  [...all(service)].filter((found) => isPooled(found) && isIncluded(found)).map(keyOf)

const statusAddresses = ({ status }: Service): readonly string[] =>
  (status.loadBalancer?.ingress ?? []).flatMap(({ ip = '' }) => (ip === '' ? [] : [ip]))

/** A Service that is being deleted has its addresses until it is gone. */
function holders(key: string, pool: AddressPool, { all, state }: Tools): ReadonlyMap<string, readonly Service[]> {
  const found = new Map<string, Service[]>()
  for (const other of all(service)) {
    if (keyOf(other) === key || !isPooled(other)) continue
    for (const address of state.get(keyOf(other))?.addresses ?? statusAddresses(other)) {
      if (!pool.contains(address)) continue
      const known = found.get(address)
      if (known === undefined) found.set(address, [other])
      else known.push(other)
    }
  }
  return found
}

/** Only these concern the pool; heartbeats of nodes do not. */
const pooledAddressesOf = (found: Node | undefined, pool: AddressPool): readonly string[] =>
  (found?.status.addresses ?? [])
    .filter(({ type, address }) => type.endsWith('IP') && pool.contains(address))
    .map(({ address }) => address)
