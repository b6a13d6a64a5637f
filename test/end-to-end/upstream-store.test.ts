// The content of an etcd as kube-apiserver writes it, served by a cluster: keys and forms are those of Kubernetes v1.36 (built-in kinds in
// protobuf, definitions as v1beta1, custom resources and APIServices as JSON). What is written back keeps its keys.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { deployment } from '../../src/api/apps/v1/deployment.ts'
import { event } from '../../src/api/core/v1/event.ts'
import { namespace } from '../../src/api/core/v1/namespace.ts'
import { secret } from '../../src/api/core/v1/secret.ts'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import { encodeEnvelope, encodeProtobuf } from '../../src/schema/protobuf/protobuf-encode.ts'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { startUp } from '../process.ts'

const { signal } = new AbortController()
const json = (value: object): Uint8Array => new TextEncoder().encode(`${JSON.stringify(value)}\n`)
const protobuf = (kind: Kind, object: object): Uint8Array =>
  encodeEnvelope(kind.apiVersion, kind.kind, encodeProtobuf(kind.message, object))

const metadata = (name: string, inNamespace?: string) => ({
  name,
  ...(inNamespace === undefined ? {} : { namespace: inNamespace }),
  uid: `00000000-0000-4000-8000-${name.length.toString(16).padStart(12, '0')}`,
  creationTimestamp: '2026-01-01T00:00:00Z',
})

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
const definition = {
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1beta1',
  metadata: { ...metadata('widgets.example.com'), generation: 1 },
  spec: {
    group: 'example.com',
    version: 'v1',
    names,
    scope: 'Namespaced',
    validation: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
      },
    },
    versions: [{ name: 'v1', served: true, storage: true }],
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', JSONPath: '.spec.size' }],
    conversion: { strategy: 'None' },
    preserveUnknownFields: false,
  },
  status: {
    conditions: ['NamesAccepted', 'Established'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      reason: 'InitialNamesAccepted',
      message: 'ok',
    })),
    acceptedNames: names,
    storedVersions: ['v1'],
  },
}
const definitionKey = '/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com'
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: metadata('w', 'shop'), spec: { size: 3 } }

const values: Readonly<Record<string, Uint8Array>> = {
  '/registry/namespaces/shop': protobuf(namespace, {
    metadata: { ...metadata('shop'), labels: { 'kubernetes.io/metadata.name': 'shop' } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  '/registry/deployments/shop/web': protobuf(deployment, {
    metadata: { ...metadata('web', 'shop'), generation: 1 },
    spec: { replicas: 2, selector: { matchLabels: labels }, template },
  }),
  '/registry/secrets/shop/s': protobuf(secret, {
    metadata: metadata('s', 'shop'),
    type: 'Opaque',
    data: { a: 'Yg==' },
  }),
  '/registry/events/shop/e': protobuf(event, {
    metadata: metadata('e', 'shop'),
    involvedObject: { kind: 'Pod', namespace: 'shop', name: 'p' },
    reason: 'Upstream',
    type: 'Normal',
    count: 1,
  }),
  '/registry/endpointslices/shop/x': protobuf(endpointSlice, {
    metadata: metadata('x', 'shop'),
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
    ports: [{ name: '', protocol: 'TCP', port: 80 }],
  }),
  [definitionKey]: json(definition),
  '/registry/example.com/widgets/shop/w': json(widget),
  '/registry/apiregistration.k8s.io/apiservices/v1.example.com': json({
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: {
      ...metadata('v1.example.com'),
      labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' },
    },
    spec: { version: 'v1', group: 'example.com', groupPriorityMinimum: 1000, versionPriority: 100 },
    status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local', message: 'local' }] },
  }),
}

test('a cluster continues on the etcd of a kube-apiserver', { timeout: 300_000 }, async () => {
  const kubectl = kubectls().at(-1)
  if (kubectl === undefined) throw new Error('there is no kubectl')
  await using etcd = await EtcdCluster.start(newestEtcd(), 1)
  const store = await etcd.openStore()
  for (const [key, value] of Object.entries(values))
    await store.commit({ conditions: [], operations: [{ kind: 'put', key, value }] }, signal)
  const { authority, certificate, key } = etcd.files
  const tls = ['--etcd-cafile', authority, '--etcd-certfile', certificate, '--etcd-keyfile', key]
  await using up = await startUp('--store', `etcd=${etcd.endpoints.join(',')}`, ...tls)
  const k = async (...args: string[]) => {
    const { code, out, err } = await runKubectl(kubectl, up.kubeconfig, args)
    equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
    return out.trim()
  }
  const inShop = (...args: string[]) => k('-n', 'shop', ...args)

  equal(await inShop('get', 'deployment', 'web', '-o', 'jsonpath={.metadata.uid}'), metadata('web').uid)
  equal(await inShop('get', 'secret', 's', '-o', 'jsonpath={.data.a}'), 'Yg==')
  match(await inShop('get', 'events'), /Upstream/)
  match(await inShop('get', 'endpointslices'), /192\.0\.2\.1/)
  match(await k('get', 'crd', 'widgets.example.com', '-o', 'jsonpath={.spec.versions[0].schema}'), /"size"/)
  match(await inShop('get', 'widgets'), /^NAME +SIZE\nw +3$/)
  match(await k('get', 'apiservice', 'v1.example.com'), /Local +True/)

  // The controllers and the scheduler act on what was there.
  await inShop('rollout', 'status', 'deployment/web', '--timeout=200s')
  await inShop('scale', 'deployment/web', '--replicas=3')
  await inShop('rollout', 'status', 'deployment/web', '--timeout=200s')
  await inShop('patch', 'widget', 'w', '--type=merge', '-p', '{"spec":{"size":4}}')
  await k('annotate', 'crd', 'widgets.example.com', 'a=b')

  const parsed = async (at: string) =>
    JSON.parse(new TextDecoder().decode((await store.get(at, signal))?.value)) as object
  const replaced = (await parsed('/registry/deployments/shop/web')) as { spec: { replicas: number } }
  equal(replaced.spec.replicas, 3)
  const resized = (await parsed('/registry/example.com/widgets/shop/w')) as { spec: object; metadata: { uid: string } }
  deepEqual([resized.metadata.uid, resized.spec], [widget.metadata.uid, { size: 4 }])
  const { apiVersion } = (await parsed(definitionKey)) as { apiVersion: string }
  equal(apiVersion, 'apiextensions.k8s.io/v1')
  // No object has a second key.
  const all = await store.range({ start: '/registry/', end: '/registry0' }, signal)
  deepEqual(
    all.items
      .map((item) => item.key)
      .filter((name) => /\/(customresourcedefinitions|apiservices)\//.test(name) && !/k8s\.io\//.test(name)),
    [],
  )
  // What another API server writes meanwhile is seen, too.
  const later = protobuf(secret, { metadata: metadata('later', 'shop'), type: 'Opaque', data: { a: 'Yw==' } })
  await store.commit(
    { conditions: [], operations: [{ kind: 'put', key: '/registry/secrets/shop/later', value: later }] },
    signal,
  )
  equal(await inShop('get', 'secret', 'later', '-o', 'jsonpath={.data.a}'), 'Yw==')
  await store.close()
})
