import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Secret } from '../../api/core/v1/secret.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { Ingress } from '../../api/networking/v1/ingress.ts'
import type { IngressClass } from '../../api/networking/v1/ingress-class.ts'
import { runToEnd } from '../../base/work/work-slice.ts'
import {
  compileIngress,
  protocolOf,
  routesPerIngressMax,
  serverNamesPerIngressMax,
  type IngressSources,
} from './compile-ingresses.ts'
import { isServedHere } from './ingress-class.ts'
import { KeyPairs } from './key-pairs.ts'

const anIngress = (spec: object, metadata: object = {}): Ingress =>
  ({ metadata: { name: 'web', namespace: 'default', ...metadata }, spec }) as unknown as Ingress

const base64 = (text: string) => new TextEncoder().encode(text).toBase64()
const webService = {
  spec: { ports: [{ name: 'http', port: 80, appProtocol: 'kubernetes.io/h2c' }] },
} as unknown as Service
const tlsSecret = (key: string, certificate = 'certificate') =>
  ({ data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) } }) as unknown as Secret
const secrets = new Map([
  ['default/tls', tlsSecret('key')],
  ['default/wrong', tlsSecret('other')],
  ['default/other', tlsSecret('key', 'another')],
  ['default/empty', {} as Secret],
])

const pairs = new KeyPairs((_certificate, key) => key === 'key')

const compiled = (ingress: Ingress, sources: IngressSources) =>
  runToEnd((slice) => compileIngress(ingress, sources, slice))

const compile = (spec: object) =>
  compiled(anIngress(spec), {
    service: (key) => (key === 'default/web' ? webService : undefined),
    secret: (key) => secrets.get(key),
    keyPair: (secret) => pairs.of(secret),
  })

const toService = (name: string, port: object = { number: 80 }) => ({ service: { name, port } })
const rule = (host: string | undefined, path: string | undefined, pathType: string, backend: object) => ({
  rules: [{ host, http: { paths: [{ path, pathType, backend }] } }],
})

test('a rule becomes a route to the port of its Service', () => {
  const { routes, problems } = compile(rule('*.Example.com', '/a', 'Exact', toService('web', { name: 'http' })))
  const [route] = routes
  deepEqual(route?.host, { kind: 'wildcard', suffix: 'example.com', labels: 'one' })
  deepEqual(route?.match.path, { kind: 'exact', value: '/a' })
  const backend = { namespace: 'default', service: 'web', port: 'http', protocol: 'h2c' }
  deepEqual(route?.backends, [{ backend, weight: 1, filters: [] }])
  deepEqual([route?.name, problems], ['ingress/default/web', []])
})

test('paths of type ImplementationSpecific and missing paths are prefixes', () => {
  const pathOf = (path: string | undefined) =>
    compile(rule(undefined, path, 'ImplementationSpecific', toService('web'))).routes[0]?.match.path
  deepEqual(
    [pathOf('/a'), pathOf(undefined)],
    [
      { kind: 'prefix', value: '/a' },
      { kind: 'prefix', value: '/' },
    ],
  )
})

test('the default backend serves other hosts, and other paths of its own hosts', () => {
  const { routes } = compile({ ...rule('a.com', '/a', 'Prefix', toService('web')), defaultBackend: toService('web') })
  deepEqual(
    routes.map(({ host, match }) => [host.kind, match.path.kind === 'pattern' ? '' : match.path.value]),
    [['any', '/'], ['exact', '/'], ['exact', '/a']], // prettier-ignore
  )
})

test('a certificate serves its hosts, or those of the rules', () => {
  const own = compile({ tls: [{ hosts: ['A.com', 'b.com'], secretName: 'tls' }] }).certificates
  deepEqual([...own.names.keys()], ['a.com', 'b.com'])
  deepEqual(own.names.get('a.com'), { certificate: 'certificate', key: 'key' })
  const ofRules = compile({ tls: [{ secretName: 'tls' }], ...rule('c.com', '/', 'Prefix', toService('web')) })
  deepEqual([...ofRules.certificates.names.keys()], ['c.com'])
  const without = compile({ tls: [{ hosts: ['a.com'] }] })
  deepEqual([without.routes, without.certificates.names.size, without.problems], [[], 0, []])
})

test('of several certificates for a host the first is used', () => {
  const { names } = compile({
    tls: [{ secretName: 'wrong' }, { hosts: ['a.com'], secretName: 'other' }, { secretName: 'tls' }],
    ...rule('a.com', '/', 'Prefix', toService('web')),
  }).certificates
  deepEqual(names.get('a.com')?.certificate, 'another')
})

test('entries of tls without hosts do not multiply the hosts of the rules', () => {
  let looked = 0
  const many = anIngress({
    tls: Array.from({ length: 5_000 }, () => ({ secretName: 'tls' })),
    rules: Array.from({ length: serverNamesPerIngressMax + 1 }, (_, index) => ({ host: `h${index}.com` })),
  })
  const { certificates, problems: found } = compiled(many, {
    service: () => undefined,
    secret: (key) => (looked++, secrets.get(key)),
    keyPair: (secret) => pairs.of(secret),
  })
  deepEqual([certificates.names.size, looked], [serverNamesPerIngressMax, 1])
  deepEqual(found.map(({ reason }) => reason), ['TooManyHosts']) // prettier-ignore
})

test('paths beyond the limit are not served, and the Services of equal backends are looked up once', () => {
  let looked = 0
  const paths = Array.from({ length: routesPerIngressMax + 10 }, (_, index) => ({
    path: `/${index}`,
    pathType: 'Exact',
    backend: toService(index % 2 === 0 ? 'web' : 'gone'),
  }))
  const { routes, problems: found } = compiled(anIngress({ rules: [{ http: { paths } }] }), {
    service: (key) => (looked++, key === 'default/web' ? webService : undefined),
    secret: () => undefined,
    keyPair: () => undefined,
  })
  deepEqual([routes.length, looked], [routesPerIngressMax, 2])
  deepEqual(found.map(({ reason }) => reason), ['ServiceNotFound', 'TooManyPaths']) // prettier-ignore
})

const problems: readonly (readonly [string, object, string, string])[] = [
  [
    'a missing Service',
    rule('a', '/', 'Prefix', toService('gone')),
    'ServiceNotFound',
    'Service "gone" does not exist',
  ],
  [
    'a missing port',
    rule('a', '/', 'Prefix', toService('web', { number: 81 })),
    'ServicePortNotFound',
    'Service "web" has no port 81',
  ],
  [
    'a missing Secret',
    { tls: [{ hosts: ['a'], secretName: 'gone' }] },
    'SecretNotFound',
    'Secret "gone" does not exist; its hosts are served with the fallback certificate',
  ],
  [
    'a key of another certificate',
    { tls: [{ hosts: ['a'], secretName: 'wrong' }] },
    'InvalidCertificate',
    'Secret "wrong" does not contain a certificate and its key',
  ],
  [
    'a Secret without keys',
    { tls: [{ hosts: ['a'], secretName: 'empty' }] },
    'InvalidCertificate',
    'Secret "empty" does not contain a certificate and its key',
  ],
  [
    'a resource backend',
    rule('a', '/', 'Prefix', { resource: { kind: 'Bucket', name: 'files' } }),
    'Unsupported',
    'resource backends are not supported: Bucket files',
  ],
]

suite('a problem is reported', () => {
  for (const [name, spec, reason, message] of problems)
    test(name, () => deepEqual(compile(spec).problems, [{ reason, message }]))
})

test('the protocol of a backend is that of its port', () => {
  deepEqual(['kubernetes.io/h2c', 'grpc', 'http', undefined].map(protocolOf), ['h2c', 'h2c', 'http1', 'http1'])
})

test('an Ingress is served if its class names this controller', () => {
  const classes = new Map([
    ['ours', { spec: { controller: 'coxswain.dev/ingress' } } as IngressClass],
    ['nginx', { spec: { controller: 'k8s.io/ingress-nginx' } } as IngressClass],
  ])
  const isServed = (spec: object, annotations?: object) =>
    isServedHere(anIngress(spec, { annotations }), (name) => classes.get(name))
  equal(isServed({ ingressClassName: 'ours' }), true)
  equal(isServed({}, { 'kubernetes.io/ingress.class': 'ours' }), true)
  equal(isServed({ ingressClassName: 'nginx' }), false)
  equal(isServed({ ingressClassName: 'gone' }), false)
  equal(isServed({}), false)
})

test('many paths are compiled in slices', () => {
  const paths = Array.from({ length: 1_000 }, (_, index) => ({
    path: `/${index}`,
    pathType: 'Exact',
    backend: toService('web'),
  }))
  const sources = { service: () => webService, secret: () => undefined, keyPair: () => undefined }
  const steps = compileIngress(anIngress({ rules: [{ http: { paths } }] }), sources, { isUsedUp: () => true })
  let count = 0
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) count++
  deepEqual([count, step.value.routes.length], [15, 1_000])
})
