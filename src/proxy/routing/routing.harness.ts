// Builders of Services, EndpointSlices and nodes, and a source of objects that a test changes.
import { endpointSlice, type EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { Endpoint } from '../../api/discovery/v1/endpoint.ts'
import { service, type Service } from '../../api/core/v1/service/service.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { keyOf, type ApiObject } from '../../api/meta/object.ts'
import { causeOf, type FlowId } from '../../base/observability/flow-recorder.ts'
import type { ObjectChange } from '../../client/informer/informer.ts'
import { ObjectCache } from '../../client/informer/object-cache.ts'

const metadata = (name: string, more: object = {}) => ({
  name,
  namespace: 'default',
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '',
  ...more,
})

export const serviceWith = (spec: object = {}, more: object = {}, status: object = {}): Service =>
  ({
    apiVersion: 'v1',
    kind: service.kind,
    metadata: metadata('web', more),
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.20',
      clusterIPs: ['10.96.0.20'],
      sessionAffinity: 'None',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
      ...spec,
    },
    status: { loadBalancer: {}, ...status },
  }) as unknown as Service

export const sliceWith = (endpoints: readonly Endpoint[], more: object = {}, labels: object = {}): EndpointSlice =>
  ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: endpointSlice.kind,
    metadata: metadata('web-1', { labels: { 'kubernetes.io/service-name': 'web', ...labels } }),
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints,
    ...more,
  }) as unknown as EndpointSlice

export const endpointAt = (address: string, conditions: object = {}, more: object = {}): Endpoint => ({
  addresses: [address],
  conditions: { ready: true, ...conditions },
  nodeName: 'node-a',
  ...more,
})

export const nodeWith = (name: string, labels: Record<string, string> = {}): Node =>
  ({
    apiVersion: 'v1',
    kind: node.kind,
    metadata: { ...metadata(name), namespace: undefined, labels },
    spec: {},
    status: {},
  }) as unknown as Node

/** Takes the place of an informer. */
export class ScriptedSource<T extends ApiObject> {
  readonly synced = Promise.resolve()
  readonly #cache = new ObjectCache<T>()
  readonly #handlers: ((change: ObjectChange<T>) => void)[] = []

  get(key: string): T | undefined {
    return this.#cache.get(key)
  }

  all(): IterableIterator<T> {
    return this.#cache.values()
  }

  addIndex(name: string, valuesOf: (object: T) => readonly string[]): void {
    this.#cache.addIndex(name, valuesOf)
  }

  byIndex(name: string, value: string): T[] {
    return this.#cache.byIndex(name, value)
  }

  onChange(handler: (change: ObjectChange<T>) => void): void {
    this.#handlers.push(handler)
  }

  put(object: T): void {
    this.#apply(keyOf(object), object)
  }

  remove(object: T): void {
    this.#apply(keyOf(object), undefined)
  }

  #apply(key: string, now: T | undefined): void {
    const change = { key, now, before: this.#cache.replace(key, now), cause: causeOf(0 as FlowId, 1) }
    for (const handler of this.#handlers) handler(change)
  }
}
