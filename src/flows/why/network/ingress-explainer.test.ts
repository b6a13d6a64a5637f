// Why an Ingress does not serve requests: one situation per row.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceType } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { ingressExplainer } from './ingress-explainer.ts'

const metadata = (name: string, more: object = {}) => ({ name, namespace: 'default', ...more })
const served = { loadBalancer: { ingress: [{ ip: '127.0.0.1' }] } }
const ingressOf = (spec: object, status: object = served, annotations?: object) =>
  ({ metadata: metadata('web', { annotations }), spec, status }) as unknown as ApiObject
const toWeb = (port: object = { number: 80 }) => ({ defaultBackend: { service: { name: 'web', port } } })

const coxswainClass = { kind: 'ingressclasses', metadata: { name: 'coxswain' }, spec: {} }
const web = { kind: 'services', metadata: metadata('web'), spec: { ports: [{ name: 'http', port: 80 }, { port: 81 }] } }
const slice = (ready: boolean) => ({
  kind: 'endpointslices',
  metadata: metadata('web-1', { labels: { 'kubernetes.io/service-name': 'web' } }),
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready } }],
})
const secretOf = (data: object) => ({ kind: 'secrets', metadata: metadata('tls'), data })

type Stored = { readonly kind: string; readonly metadata: { readonly name: string } }

const readerOf = (objects: readonly Stored[]): ClusterReader => ({
  list: async <T extends ApiObject>(kind: ResourceType<T>) =>
    objects.filter((each) => each.kind === kind.plural) as unknown as readonly T[],
  find: async <T extends ApiObject>(kind: ResourceType<T>, _namespace: string, name: string) =>
    objects.find((each) => each.kind === kind.plural && each.metadata.name === name) as unknown as T | undefined,
  nowMs: 0,
})

const own = { ingressClassName: 'coxswain' }
const whole = [coxswainClass, web, slice(true)]

const cases: readonly (readonly [string, ApiObject, readonly Stored[], readonly string[]])[] = [
  ['is served', ingressOf({ ...own, ...toWeb(), rules: [{ host: 'a' }] }), whole, []],
  ['is served by the name of a port', ingressOf({ ...own, ...toWeb({ name: 'http' }) }), whole, []],
  [
    'has its class in an annotation',
    ingressOf(toWeb(), served, { 'kubernetes.io/ingress.class': 'coxswain' }),
    whole,
    [],
  ],
  ['has no address', ingressOf({ ...own, ...toWeb() }, {}), whole, ['No ingress controller has assigned an address.']],
  ['has no class', ingressOf(toWeb()), whole, ['It has no class, and there was no default class when it was created.']],
  ['has a missing class', ingressOf({ ingressClassName: 'gone' }), whole, ['Its class gone does not exist.']],
  [
    'has a missing Service',
    ingressOf({ ...own, ...toWeb() }),
    [coxswainClass],
    ['Its backend Service web does not exist.'],
  ],
  [
    'has a missing port',
    ingressOf({ ...own, ...toWeb({ number: 82 }) }),
    whole,
    ['Its backend Service web has no port 82; it has 80 (http), 81.'],
  ],
  [
    'has no ready endpoint',
    ingressOf({ ...own, ...toWeb() }),
    [coxswainClass, web, slice(false)],
    ['Its backend Service web has no ready endpoint, so requests get 503: see coxswain why service/web.'],
  ],
  [
    'has a missing Secret',
    ingressOf({ ...own, tls: [{ secretName: 'tls' }, {}] }),
    whole,
    ['Its Secret tls does not exist: clients get a certificate that they do not trust.'],
  ],
  [
    'has a Secret without keys',
    ingressOf({ ...own, tls: [{ secretName: 'tls' }] }),
    [...whole, secretOf({ 'tls.crt': '' })],
    ['Its Secret tls has no tls.crt and tls.key.'],
  ],
  [
    'has a Secret',
    ingressOf({ ...own, tls: [{ secretName: 'tls' }] }),
    [...whole, secretOf({ 'tls.crt': '', 'tls.key': '' })],
    [],
  ],
]

for (const [name, object, objects, sentences] of cases)
  test(`an Ingress that ${name}`, async () =>
    deepEqual(
      (await ingressExplainer.explain(object, readerOf(objects))).map(({ text }) => text),
      sentences,
    ))
