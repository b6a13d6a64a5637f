// Why a Service does not respond: one situation per row.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceType } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { serviceExplainer } from './service-explainer.ts'

const meta = (name: string, more: object = {}) => ({ name, namespace: 'default', uid: `uid-${name}`, ...more })
const serviceOf = (spec: object, metadata: object = {}, status: object = { loadBalancer: {} }) =>
  ({
    metadata: meta('web', metadata),
    spec: { type: 'ClusterIP', clusterIP: '10.96.0.7', ipFamilies: ['IPv4'], ...spec },
    status,
  }) as unknown as ApiObject
const web = { selector: { app: 'web' }, ports: [{ port: 80, protocol: 'TCP', targetPort: 8080 }] }
const named = { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'http' }] }

const condition = (status: string) => [{ type: 'Ready', status }]
const podOf = (
  name: string,
  ready: boolean,
  labels: object = { app: 'web' },
  ports?: object[],
  podIP = '10.0.0.1',
) => ({
  kind: 'pods',
  metadata: meta(name, { labels }),
  spec: { nodeName: 'n', containers: [{ name: 'c', ...(ports === undefined ? {} : { ports }) }] },
  status: {
    phase: 'Running',
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: condition(ready ? 'True' : 'False'),
    containerStatuses: [{ name: 'c', image: 'i', ready, restartCount: 0, state: { running: { startedAt: 'noon' } } }],
  },
})
/** The pod with ready containers, whatever its own condition is. */
const readyContainer = (pod: ReturnType<typeof podOf>) => ({
  ...pod,
  status: { ...pod.status, containerStatuses: pod.status.containerStatuses.map((each) => ({ ...each, ready: true })) },
})
const node = { kind: 'nodes', metadata: { name: 'n' }, spec: {}, status: { conditions: condition('True') } }
const sliceOf = (...pods: string[]) => ({
  kind: 'endpointslices',
  metadata: meta('web-1', { labels: { 'kubernetes.io/service-name': 'web' } }),
  endpoints: pods.map((name) => ({ addresses: ['10.0.0.1'], targetRef: { uid: `uid-${name}` } })),
})
const refusedEvent = (name: string) => ({
  kind: 'events',
  metadata: meta(`${name}.1`),
  involvedObject: { uid: `uid-${name}` },
  reason: 'Unhealthy',
  message: 'Readiness probe failed: Get "http://10.0.0.1:8080/": dial tcp 10.0.0.1:8080: connect: connection refused',
})
const notReady = 'Container c has been running since noon, but its readiness probe has not succeeded.'
const port = (name: string, containerPort: number, protocol = 'TCP') => ({ name, containerPort, protocol })

const policyOf = (name: string, spec: object) => ({
  kind: 'networkpolicies',
  metadata: meta(name),
  spec: { podSelector: {}, policyTypes: ['Ingress'], ...spec },
})

type Other = { readonly kind: string; readonly metadata: { readonly name: string } }
const cases: [what: string, object: ApiObject, others: Other[], sentences: string[]][] = [
  ['nothing is wrong', serviceOf(web), [podOf('a', true), sliceOf('a')], []],
  [
    'an alias',
    serviceOf({ type: 'ExternalName', externalName: 'example.com', clusterIP: undefined }),
    [],
    ['It is a DNS alias of example.com: clients connect to that name, not to pods of this cluster.'],
  ],
  [
    'it has no address and no pods',
    serviceOf({ ...web, clusterIP: undefined }),
    [],
    [
      'It has no cluster IP: the API server has not allocated one.',
      'It has no endpoints: no pod in its namespace has the labels app=web.',
    ],
  ],
  [
    'a label with another value',
    serviceOf({ ...web, selector: { app: 'web', tier: 'front' } }),
    [podOf('other', true, { app: 'db' }), podOf('near', true, { app: 'web', tier: 'frontend' })],
    [
      'It has no endpoints: no pod in its namespace has the labels app=web,tier=front.',
      'The nearest pod is near: its label tier is "frontend" instead of "front".',
    ],
  ],
  [
    'a label with another key',
    serviceOf(web),
    [podOf('near', true, { 'app.kubernetes.io/name': 'web' })],
    [
      'It has no endpoints: no pod in its namespace has the labels app=web.',
      'The nearest pod is near: it has the label app.kubernetes.io/name=web instead of app=web.',
    ],
  ],
  [
    'a missing label',
    serviceOf({ ...web, selector: { app: 'web', tier: 'front' } }),
    [podOf('near', true, { app: 'web' })],
    [
      'It has no endpoints: no pod in its namespace has the labels app=web,tier=front.',
      'The nearest pod is near: it has no label tier.',
    ],
  ],
  [
    'no pod is ready, and nothing listens',
    serviceOf(web),
    [podOf('a', false), podOf('b', false), sliceOf('a', 'b'), refusedEvent('a')],
    [
      'It has no ready endpoints: 0 of 2 pods with the labels app=web are ready.',
      `Pod a: ${notReady}`,
      `Pod b: ${notReady}`,
      'Nothing listens on port 8080 of pod a: a probe was refused.',
    ],
  ],
  [
    'one of two pods is ready',
    serviceOf(web),
    [podOf('a', true), podOf('b', false), sliceOf('a', 'b')],
    ['1 of 2 pods with the labels app=web are ready; the others get no traffic.', `Pod b: ${notReady}`],
  ],
  [
    'addresses that are not ready are published',
    serviceOf({ ...web, publishNotReadyAddresses: true }),
    [podOf('a', false), sliceOf('a')],
    [
      '0 of 1 pod with the labels app=web are ready; the others get traffic too, because it publishes addresses that are not ready.',
      `Pod a: ${notReady}`,
    ],
  ],
  [
    'a target port that no container declares',
    serviceOf(named),
    [podOf('a', true, { app: 'web' }, [port('web', 8080)]), sliceOf('a')],
    [
      'Its port http (80/TCP) leads to the target port "http", which no container of its pods declares. Pod a declares web (8080/TCP).',
    ],
  ],
  [
    'a target port of another protocol, of one pod',
    serviceOf(named),
    [
      podOf('a', true, { app: 'web' }, [port('http', 80)]),
      podOf('b', true, { app: 'web' }, [port('http', 80, 'UDP')]),
      sliceOf('a', 'b'),
    ],
    [
      'Its port http (80/TCP) leads to the target port "http", which no container of pod b declares. Pod b declares it for UDP, and the port of the Service is for TCP.',
    ],
  ],
  [
    'pods without ports',
    serviceOf(named),
    [podOf('a', true), sliceOf('a')],
    [
      'Its port http (80/TCP) leads to the target port "http", which no container of its pods declares. Pod a declares no ports.',
    ],
  ],
  [
    'a ready pod that is not listed',
    serviceOf(web),
    [podOf('a', true), sliceOf()],
    ['1 ready pod (a) is not listed in its EndpointSlices: the endpoint slice controller has not processed them yet.'],
  ],
  [
    'pods of the other family',
    serviceOf({ ...web, ipFamilies: ['IPv6'] }),
    [podOf('a', true), sliceOf()],
    ['1 ready pod (a) cannot be endpoints: they have no IPv6 address.'],
  ],
  [
    'the internal traffic policy is Local',
    serviceOf({ ...web, internalTrafficPolicy: 'Local' }),
    [podOf('a', true), sliceOf('a'), { ...node, metadata: { name: 'm' } }],
    [
      'Its internal traffic policy is Local: traffic that reaches the node m is dropped, because no ready pod runs there.',
    ],
  ],
  [
    'both traffic policies are Local, and every node has a pod',
    serviceOf({ ...web, internalTrafficPolicy: 'Local', externalTrafficPolicy: 'Local' }),
    [podOf('a', true), sliceOf('a')],
    [],
  ],
  [
    'no selector and no endpoints',
    serviceOf({ ports: web.ports }),
    [],
    ['It has no selector and no endpoints: it has those that a client creates as EndpointSlices or Endpoints.'],
  ],
  ['no selector, but endpoints', serviceOf({ ports: web.ports }), [sliceOf('x')], []],
  [
    'it is being deleted',
    serviceOf(web, { deletionTimestamp: 'noon' }),
    [podOf('a', true), sliceOf()],
    ['It is being deleted: its endpoints are no longer updated.'],
  ],
  [
    'all pods have ended',
    serviceOf(web),
    [{ ...podOf('a', true), status: { phase: 'Succeeded' } } as unknown as Other],
    ['It has no endpoints: all pods with the labels app=web have ended.'],
  ],
  [
    'a pod that is not ready for no reason, and more pods than are described',
    serviceOf(web),
    [readyContainer(podOf('a', false)), ...['b', 'c', 'd', 'e', 'f', 'g'].map((name) => podOf(name, false))],
    [
      'It has no ready endpoints: 0 of 7 pods with the labels app=web are ready.',
      'Pod a: it is not ready; its status gives no reason.',
      ...['b', 'c', 'd', 'e'].map((name) => `Pod ${name}: ${notReady}`),
      '2 more pods are not ready.',
    ],
  ],
  [
    'events of other objects, and of other reasons',
    serviceOf(web),
    [
      podOf('a', false),
      refusedEvent('other'),
      { ...refusedEvent('a'), involvedObject: {} } as Other,
      { ...refusedEvent('a'), reason: 'BackOff' } as Other,
    ],
    ['It has no ready endpoints: 0 of 1 pod with the labels app=web are ready.', `Pod a: ${notReady}`],
  ],
  [
    'ports without names',
    serviceOf({ ...web, ports: [{ port: 80, protocol: 'TCP', targetPort: 'http' }] }),
    [podOf('a', true, { app: 'web' }, [{ containerPort: 8080, protocol: 'TCP' }]), sliceOf('a')],
    [
      'Its port 80/TCP leads to the target port "http", which no container of its pods declares. Pod a declares 8080/TCP.',
    ],
  ],
  [
    'a target port that a container declares',
    serviceOf(named),
    [podOf('a', true, { app: 'web' }, [port('http', 8080)]), sliceOf('a')],
    [],
  ],
  [
    'several ready pods that are not listed',
    serviceOf({ ...web, ipFamilies: undefined }),
    [podOf('a', true), podOf('b', true)],
    [
      '2 ready pods (a) are not listed in its EndpointSlices: the endpoint slice controller has not processed them yet.',
    ],
  ],
  [
    'a pod of the same family that is not listed',
    serviceOf({ ...web, ipFamilies: ['IPv6'] }),
    [podOf('a', true, { app: 'web' }, undefined, 'fd00::1'), { ...sliceOf(), endpoints: undefined } as Other],
    ['1 ready pod (a) is not listed in its EndpointSlices: the endpoint slice controller has not processed them yet.'],
  ],
  [
    'the external traffic policy is Local, and many nodes have no pod',
    serviceOf({ ...web, externalTrafficPolicy: 'Local' }),
    [
      podOf('a', true),
      sliceOf('a'),
      ...['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7'].map((name) => ({ ...node, metadata: { name } })),
    ],
    [
      'Its external traffic policy is Local: traffic that reaches the nodes m1, m2, m3, m4, m5 and 2 more is dropped, because no ready pod runs there.',
    ],
  ],
  [
    'a policy that allows no traffic, of several pods',
    serviceOf(named),
    [
      ...['a', 'b'].map((name) => podOf(name, true, { app: 'web' }, [port('http', 8080)])),
      sliceOf('a', 'b'),
      policyOf('closed', {}),
      policyOf('other', { ingress: [{ ports: [{ port: 9, protocol: 'TCP' }] }] }),
    ],
    [
      'Port 8080/TCP of the pods a, b gets no traffic: no rule of the network policies that isolate it (default/closed, default/other) allows the port.',
    ],
  ],
  [
    'a policy for some clients',
    serviceOf(web),
    [
      podOf('a', true),
      sliceOf('a'),
      policyOf('some', {
        ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 8000, endPort: 9000, protocol: 'TCP' }] }],
      }),
    ],
    [
      'Port 8080/TCP of pod a is open for some clients only: those in rule ingress[0] of default/some. coxswain why pod/<client> --reach explains one client.',
    ],
  ],
  [
    'policies that do not restrict the clients of the Service',
    serviceOf(web),
    [
      podOf('a', true),
      sliceOf('a'),
      policyOf('open', { ingress: [{}] }),
      policyOf('egress', { policyTypes: ['Egress'] }),
      policyOf('others', { podSelector: { matchLabels: { app: 'db' } } }),
    ],
    [],
  ],
  [
    'many pods that a policy closes',
    serviceOf(web),
    [
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => podOf(name, true)),
      sliceOf('a', 'b', 'c', 'd', 'e', 'f'),
      policyOf('closed', {}),
    ],
    [
      'Port 8080/TCP of the pods a, b, c, d, e and 1 more gets no traffic: no rule of the network policies that isolate it (default/closed) allows the port.',
    ],
  ],
]

const readerOf = (objects: readonly Other[]): ClusterReader => {
  const list = (kind: ResourceType) =>
    objects.filter(({ kind: plural }) => plural === kind.plural) as unknown as ApiObject[]
  return {
    list: (kind) => Promise.resolve(list(kind) as never),
    find: (kind, _, name) => Promise.resolve(list(kind).find(({ metadata }) => metadata.name === name) as never),
    nowMs: 0,
  }
}

for (const [what, object, others, sentences] of cases)
  test(`why service: ${what}`, async () => {
    deepEqual(
      (await serviceExplainer.explain(object, readerOf([node, ...others]))).map(({ text }) => text),
      sentences,
    )
  })
