// ServerEndpoints: the endpoints of the Service `kubernetes` are the addresses of the API servers that are running. As
// upstream, each server holds a key with a lease in the store, and lists all servers whose lease has not ended.
import { context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { prefixEnd } from '../../base/collections/ordered-map.ts'
import { endpoints } from '../../api/core/v1/service/endpoints.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { specialAddressErrors } from '../../api/validation/special-address-rules.ts'
import type { ServiceRanges } from '../../apiserver/strategies/service/service-ranges.ts'
import { registryPrefix } from '../../apiserver/storage/store-keys.ts'
import type { Client } from '../../client/client.ts'
import type { Store } from '../../store/store.ts'
import { createIfMissing, createOrPatch, kubernetesService, ours } from './bootstrap-objects.ts'

/** The address of a server that has ended is removed after this time. */
const leaseMs = 15_000
const renewEveryMs = 10_000
/** Servers beyond this number are not listed. */
const serversMax = 100
export const masterLeasesPrefix = `${registryPrefix}masterleases/`

interface ServerEndpointsDeps {
  readonly client: Client
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly serviceRanges: ServiceRanges
}

interface ServerAddress {
  readonly host: string
  readonly port: number
}

export class ServerEndpoints {
  readonly #deps: ServerEndpointsDeps
  #own: ServerAddress | undefined
  readonly #published = Promise.withResolvers<void>()

  constructor(deps: ServerEndpointsDeps) {
    this.#deps = deps
  }

  /**
   * Publishes the address at which pods reach this server, instead of the one that was published before. Pods cannot reach
   * a loopback address, so it is not published.
   */
  async publish(host: string, port: number, signal: AbortSignal): Promise<void> {
    const { store } = this.#deps
    const previous = this.#own
    this.#own = { host, port }
    if (previous !== undefined && previous.host !== host)
      await store.commit({ conditions: [], operations: [{ kind: 'delete', key: leaseKey(previous.host) }] }, signal)
    await this.#reconcile(this.#own, signal)
    this.#published.resolve()
  }

  /**
   * Takes this server off the list, before it stops. The last one stays: without endpoints, pods would get an error at once, and it may
   * start again.
   */
  async withdraw(signal: AbortSignal): Promise<void> {
    const own = this.#own
    if (own === undefined || specialAddressErrors(own.host).length > 0) return
    this.#own = undefined
    const operations = [{ kind: 'delete', key: leaseKey(own.host) } as const]
    await this.#deps.store.commit({ conditions: [], operations }, signal)
    const others = await this.#hosts(signal)
    if (others.length > 0) await this.#list(others, own.port, signal)
  }

  /** Renews the lease, removes servers that have ended, and restores what was deleted or changed. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    await unlessAborted(this.#published.promise, signal)
    while (!signal.aborted) {
      await clock.sleep(renewEveryMs, signal)
      if (this.#own === undefined) continue
      await this.#reconcile(this.#own, signal).catch((error: unknown) => {
        if (!signal.aborted) log.warn('the address of the API server was not published', { error: errorText(error) })
      })
    }
  }

  async #reconcile(own: ServerAddress, signal: AbortSignal): Promise<void> {
    if (specialAddressErrors(own.host).length === 0) await this.#renew(own.host, signal)
    await this.#list(await this.#hosts(signal), own.port, signal)
  }

  /** Brings the Service and its endpoints to what they should be. */
  async #list(hosts: readonly string[], port: number, signal: AbortSignal): Promise<void> {
    const { client, serviceRanges } = this.#deps
    const called = context(signal)
    // A list, because a server at a loopback address never has endpoints: a get every 10 s would be a failed request.
    const only = { namespace: ours.namespace, fieldSelector: `metadata.name=${ours.name}` }
    const find = async <T extends ApiObject>(kind: Kind<T>) => (await client.of(kind).list(only, called)).items[0]
    const wanted = kubernetesService(port, serviceRanges)
    const published = await find(service)
    if (published === undefined) await createIfMissing(client, service, wanted, called)
    const listed = await find(endpoints)
    if (hosts.length === 0 && listed === undefined) return
    if (published?.spec.ports?.[0]?.targetPort !== port)
      await client.of(service).patch(ours.name, ours.namespace, { spec: { ports: wanted.spec.ports } }, 'merge', called)
    const all = endpointsOf(hosts, port)
    if (!includesFields(listed, all)) await createOrPatch(client, endpoints, all, called)
    const slice = sliceOf(hosts, port)
    const old = await find(endpointSlice)
    if (includesFields(old, slice)) return
    // The family of a slice cannot be changed.
    if (old !== undefined && old.addressType !== slice.addressType)
      await client.of(endpointSlice).delete(ours.name, ours.namespace, {}, called)
    await createOrPatch(client, endpointSlice, slice, called)
  }

  async #renew(host: string, signal: AbortSignal): Promise<void> {
    const { store } = this.#deps
    const lease = await store.grantLease(leaseMs, signal)
    const object = { kind: 'Endpoints', apiVersion: 'v1', metadata: {}, subsets: [{ addresses: [{ ip: host }] }] }
    const value = new TextEncoder().encode(JSON.stringify(object))
    await store.commit({ conditions: [], operations: [{ kind: 'put', key: leaseKey(host), value, lease }] }, signal)
  }

  async #hosts(signal: AbortSignal): Promise<readonly string[]> {
    const range = { start: masterLeasesPrefix, end: prefixEnd(masterLeasesPrefix), limit: serversMax }
    const { items } = await this.#deps.store.range(range, signal)
    return items.map(({ key }) => key.slice(masterLeasesPrefix.length))
  }
}

/** Whether the object has the labels and the other fields of the manifest. */
function includesFields(object: ApiObject | undefined, manifest: Manifest): boolean {
  if (object === undefined) return false
  const { metadata, ...fields } = manifest
  const labels = Object.entries(metadata.labels)
  return (
    labels.every(([key, value]) => lookup(object.metadata.labels, key) === value) &&
    Object.entries(fields).every(([name, value]) =>
      equalValues(lookup(object as unknown as Record<string, unknown>, name) ?? [], value),
    )
  )
}

type Manifest = ReturnType<typeof endpointsOf> | ReturnType<typeof sliceOf>

const leaseKey = (host: string): string => `${masterLeasesPrefix}${host}`

const portOf = (port: number) => ({ name: 'https', port, protocol: 'TCP' as const })

const endpointsOf = (hosts: readonly string[], port: number) => ({
  metadata: { ...ours, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
  subsets: hosts.length === 0 ? [] : [{ addresses: hosts.map((ip) => ({ ip })), ports: [portOf(port)] }],
})

/** A slice has one family: that of the first server. */
const sliceOf = (hosts: readonly string[], port: number) => {
  const isV6 = hosts[0]?.includes(':') ?? false
  return {
    metadata: { ...ours, labels: { 'kubernetes.io/service-name': ours.name } },
    addressType: isV6 ? ('IPv6' as const) : ('IPv4' as const),
    endpoints: hosts
      .filter((host) => host.includes(':') === isV6)
      .map((host) => ({ addresses: [host], conditions: { ready: true } })),
    ports: [portOf(port)],
  }
}
