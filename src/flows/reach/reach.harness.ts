// A small cluster to explain paths in: pods a and b of two namespaces on two nodes, a Service web, and more objects of a test.
import type { ResourceType } from '../../api/kind/kind.ts'
import { namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import { namespaceWith, podAt } from '../../network-policy/network-policy.harness.ts'
import { endpointAt, nodeWith, serviceWith, sliceWith } from '../../proxy/routing/routing.harness.ts'
import type { ClusterReader } from '../why/explainer/cluster-reader.ts'

const ready = { conditions: [{ type: 'Ready', status: 'True' }] }
const running = { containerStatuses: [{ name: 'c', ready: true, restartCount: 0 }], ...ready }

/** A ready pod. */
export const readyPod = (
  path: string,
  addresses: string[],
  labels = {},
  more: { spec?: object; status?: object } = {},
) =>
  podAt(path, addresses, labels, {
    spec: { dnsPolicy: 'ClusterFirst', ...more.spec },
    status: { ...running, ...more.status },
  })

export const readyNode = (name: string, address: string, more: object = {}) => ({
  ...nodeWith(name),
  status: { addresses: [{ type: 'InternalIP', address }], ...ready },
  ...more,
})

const metadata = (name: string, namespace: string, more: object = {}) => ({
  ...serviceWith().metadata,
  name,
  namespace,
  ...more,
})
const dnsLabels = { labels: { 'kubernetes.io/service-name': 'kube-dns' } }

/** The DNS server of the cluster, at an address of node-a. */
export const dnsServer = (endpoint: string): ApiObject[] => [
  {
    ...serviceWith({
      clusterIP: '10.96.0.10',
      clusterIPs: ['10.96.0.10'],
      ports: [{ name: 'dns', protocol: 'UDP', port: 53 }],
    }),
    metadata: metadata('kube-dns', 'kube-system'),
  },
  {
    ...sliceWith([endpointAt(endpoint)], { ports: [{ name: 'dns', protocol: 'UDP', port: 53 }] }),
    metadata: metadata('kube-dns-1', 'kube-system', dnsLabels),
  },
]

export const a = readyPod('default/a', ['10.244.0.2'], { app: 'a' })
export const b = readyPod('blue/b', ['10.244.1.3'], { app: 'b' }, { spec: { nodeName: 'node-b' } })
export const web1 = readyPod('default/web-1', ['10.244.0.5'], { app: 'web' })

export const cluster: readonly ApiObject[] = [
  namespaceWith('default'),
  namespaceWith('blue'),
  readyNode('node-a', '192.0.2.1'),
  readyNode('node-b', '192.0.2.2'),
  a,
  b,
  web1,
]

/** Reads the objects; a later one replaces an earlier one of the same kind and name. */
export function readerOf(objects: readonly ApiObject[]): ClusterReader {
  const list = (kind: ResourceType, home: string) => {
    const found = objects.filter((each) => each.kind === kind.kind && (home === '' || namespaceOf(each) === home))
    return [...new Map(found.map((each) => [`${namespaceOf(each)}/${each.metadata.name}`, each])).values()]
  }
  return {
    list: (kind, home) => Promise.resolve(list(kind, home) as never),
    find: (kind, home, name) =>
      Promise.resolve(list(kind, home).find(({ metadata: each }) => each.name === name) as never),
    nowMs: 0,
  }
}
