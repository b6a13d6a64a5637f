// Pods with equal specs share one spec, and get the same responses as without sharing.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { markInterned } from '../../base/collections/interned-values.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { startServer, type Harness } from '../server.harness.ts'
import { SpecInterning } from './spec-interning.ts'

const pods = '/api/v1/namespaces/default/pods'
const container = {
  name: 'web',
  image: 'nginx:1.27',
  ports: [{ containerPort: 80 }],
  resources: { limits: { cpu: '1' } },
}

async function startWithAccount(): Promise<Harness> {
  const server = await startServer()
  await server.call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  return server
}

const sent = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [container], ...spec },
})

/** Without the fields that differ between objects. */
const common = ({ body, status, headers }: Awaited<ReturnType<Harness['call']>>): unknown => ({
  status,
  warning: headers['warning'],
  body: JSON.parse(
    JSON.stringify(body, (key, value: unknown) =>
      ['name', 'uid', 'resourceVersion', 'time', 'creationTimestamp'].includes(key) ? undefined : value,
    ).replaceAll(/\\"[ab]\\"/g, ''),
  ),
})

const cases: [name: string, spec: object, metadata?: object][] = [
  ['a plain one', {}],
  ['one that mounts no token', { automountServiceAccountToken: false }],
  ['one that is rejected', { containers: [{ name: 'Web', image: ' nginx' }], terminationGracePeriodSeconds: -1 }],
  ['one with an unknown field', { replcas: 3 }],
  [
    'one with warnings',
    { terminationGracePeriodSeconds: -1 },
    { annotations: { 'security.alpha.kubernetes.io/sysctls': 'kernel' } },
  ],
  ['one with gates', { schedulingGates: [{ name: 'example.com/gate' }] }],
]

for (const [name, spec, metadata] of cases)
  test(`the third of three equal objects gets the response of the first: ${name}`, async () => {
    await using server = await startWithAccount()
    const first = await server.call('POST', pods, sent('a', spec, metadata))
    await server.call('POST', pods, sent('c', spec, metadata))
    const third = await server.call('POST', pods, sent('b', spec, metadata))
    deepEqual(common(third), common(first))
    // The result does not depend on earlier pods.
    await using other = await startWithAccount()
    deepEqual(common(await other.call('POST', pods, sent('b', spec, metadata))), common(third))
  })

test('equal pods share one spec until one of them changes', async () => {
  await using server = await startWithAccount()
  for (const name of ['first', 'a', 'b', 'c']) await server.call('POST', pods, sent(name))
  await server.call('POST', pods, sent('d', { restartPolicy: 'Never' }))
  const specOf = (name: string) => server.server.registry.cached(pod, 'default', name)?.spec
  ok(specOf('a') === specOf('b') && specOf('b') === specOf('c'))
  match(specOf('a')?.volumes?.[0]?.name ?? '', /^kube-api-access-\w{5}$/)
  notEqual(specOf('d')?.volumes?.[0]?.name, specOf('a')?.volumes?.[0]?.name)
  const image = [{ op: 'replace', path: '/spec/containers/0/image', value: 'nginx:1.28' }]
  await server.call('PATCH', `${pods}/a`, image, { 'content-type': 'application/json-patch+json' })
  equal(specOf('a')?.containers[0]?.image, 'nginx:1.28')
  equal(specOf('b')?.containers[0]?.image, 'nginx:1.27')
})

test('specs that admission always changes are no longer interned after a while', () => {
  const interning = new SpecInterning('spec')
  const before = markInterned({ a: 1 })
  const after = (name: number) => ({ spec: { a: 1, name } }) as unknown as ApiObject
  const named = { spec: before } as unknown as ApiObject
  const of = (name: number) => (interning.internAdmitted(named, after(name)) as { spec?: object }).spec
  const first = of(0)
  equal(of(0), first)
  equal(of(1), of(1))
  for (let name = 2; name < 10; name++) of(name)
  notEqual(of(10), of(10))
})

test('the oldest texts are evicted above the limit, and long ones are not cached', () => {
  const interning = new SpecInterning('spec')
  const keep = (spec: object) => {
    const found = interning.find({ spec } as never)
    if (found !== undefined && found.value === undefined) interning.intern(found, spec as never)
    return found?.value !== undefined
  }
  deepEqual(
    [1, 2, 3, 4].map(() => keep({ n: 0 })),
    [false, false, true, true],
  )
  for (let n = 1; n <= 512; n++) keep({ n })
  equal(keep({ n: 0 }), false)
  const long = { text: 'x'.repeat(10_000) }
  equal(keep(long) || keep(long) || keep(long), false)
})
