// The same operator in a test's cluster and, through a kubeconfig, in a cluster that is only reached over HTTPS.
import { deepEqual, equal, match, rejects, throws } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parse, stringify } from 'yaml'
import {
  configMap,
  connect,
  context,
  customResource,
  startCluster,
  StatusError,
  type Connection,
  type Mutable,
  type ConfigMap,
  type TestCluster,
} from '../index.ts'

const greeting = customResource({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'greetings.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'greetings', kind: 'Greeting' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: { type: 'object', required: ['to'], properties: { to: { type: 'string' } } },
              status: { type: 'object', properties: { isSaid: { type: 'boolean' } } },
            },
          },
        },
      },
    ],
  },
})

/** The operator: a ConfigMap with the text of each greeting, and a status. */
async function operate({ client, clock }: Pick<Connection, 'client' | 'clock'>, signal: AbortSignal): Promise<void> {
  const ctx = context(signal)
  const greetings = client.of(greeting)
  while (!signal.aborted) {
    for (const one of (await greetings.list({}, ctx)).items) {
      if (one.status?.isSaid === true) continue
      const { name } = one.metadata
      await client.of(configMap).apply({ metadata: { name }, data: { text: `Hello, ${one.spec.to}` } }, {}, ctx)
      await greetings.updateStatus({ ...one, status: { isSaid: true } }, ctx)
    }
    await clock.sleep(50, signal)
  }
}

let served: TestCluster
let folder = ''
let path = ''

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coxswain-connect-'))
  path = join(folder, 'config')
  served = await startCluster({ time: 'flowing', crds: [greeting] })
  // With certificates in files beside it, as some tools write it.
  const config = parse(served.kubeconfig) as {
    clusters: { cluster: Record<string, string> }[]
    contexts: { name: string; context: Record<string, string> }[]
  }
  const { cluster = {} } = config.clusters[0] ?? {}
  await writeFile(join(folder, 'ca.crt'), Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64'))
  delete cluster['certificate-authority-data']
  cluster['certificate-authority'] = 'ca.crt'
  const [first] = config.contexts
  config.contexts.push(
    { name: 'shop', context: { ...first?.context, namespace: 'shop' } },
    { name: 'alone', context: { ...first?.context, user: 'missing' } },
  )
  await writeFile(path, stringify(config))
})
after(async () => {
  await served.stop()
  await rm(folder, { recursive: true })
})

const places: [
  what: string,
  name: string,
  open: () => Promise<Pick<Connection, 'client' | 'clock'> & AsyncDisposable>,
][] = [
  ['a test’s cluster', 'a', () => startCluster({ crds: [greeting] })],
  ['the cluster of a kubeconfig', 'b', () => connect(path)],
  ['the cluster of a kubeconfig’s text', 'c', () => connect(served.kubeconfig)],
]
for (const [what, name, open] of places)
  test(`the operator runs in ${what}`, async () => {
    await using place = await open()
    const ending = new AbortController()
    const running = operate(place, ending.signal)
    const greetings = place.client.of(greeting)
    await greetings.create({ metadata: { name }, spec: { to: 'Ada' } })
    const isSaid = async () => (await greetings.get(name)).status?.isSaid === true
    if ('until' in place) await (place as unknown as TestCluster).until(isSaid)
    else await served.until(isSaid)
    deepEqual((await place.client.of(configMap).get(name)).data, { text: 'Hello, Ada' })
    ending.abort(new Error('the test ends'))
    await rejects(running, { message: 'the test ends' })
  })

test('objects are frozen, and errors are those of a test’s cluster', async () => {
  await using connection = await connect(path)
  const maps = connection.client.of(configMap)
  const map = (await maps.create({ metadata: { name: 'frozen' }, data: { a: '1' } })) as Mutable<ConfigMap>
  throws(() => (map.metadata.name = 'other'), TypeError)
  await rejects(maps.get('none'), (error) => error instanceof StatusError && error.reason === 'NotFound')
  const unserved = customResource({ group: 'example.com', version: 'v1', kind: 'Ship', plural: 'ships' })
  await rejects(
    connection.client.of(unserved).list(),
    /could not find the requested resource \(list ships\.example\.com\)/,
  )
})

test('a connection has the context, its namespace and the address of the server', async () => {
  await using connection = await connect(path, { context: 'shop' })
  const { url, context: name, namespace } = connection
  deepEqual([url, name, namespace], [served.url, 'shop', 'shop'])
})

test('a watch ends with the connection, and later calls fail', async () => {
  const connection = await connect(path)
  const watch = connection.client.of(configMap).watch()[Symbol.asyncIterator]()
  const { value } = await watch.next()
  equal(value?.type, 'ADDED')
  await connection.close()
  await rejects(async () => {
    while (!(await watch.next()).done);
    throw new Error('the watch has ended')
  })
  await rejects(connection.client.of(configMap).list(), /the connection to https:\S+ is closed/)
})

const refused: [what: string, kubeconfig: () => string, context: string | undefined, message: RegExp][] = [
  ['a missing file', () => '/none/config', undefined, /^the kubeconfig \/none\/config does not exist$/],
  ['a misspelt context', () => path, 'shp', /^\/\S+\/config has no context "shp"; did you mean shop\?$/],
  [
    'a context without its user',
    () => path,
    'alone',
    /^cannot use the context "alone" of \/\S+\/config: the kubeconfig has no user "missing"$/,
  ],
  ['a text without contexts', () => 'kind: Config\n', 'a', /^the kubeconfig has no context "a"; it has none$/],
]
for (const [what, kubeconfig, name, message] of refused)
  test(`${what} is refused with its name`, () =>
    rejects(connect(kubeconfig(), name === undefined ? {} : { context: name }), (error: Error) => {
      match(error.message, message)
      return error.name === 'KubeconfigError'
    }))

for (const [what, given, message] of [
  ['an object', [{ context: 'shop' }], 'connect: the kubeconfig must be a path or the text of a kubeconfig'],
  ['a misspelt option', ['/none/config', { contxt: 'shop' }], 'connect: unknown contxt; did you mean context?'],
  ['a context as a text', ['/none/config', 'shop'], 'connect: "shop" is no object'],
] as const)
  test(`${what} is a wrong argument, before the kubeconfig is read`, () =>
    rejects(connect(...(given as unknown as Parameters<typeof connect>)), { name: 'TypeError', message }))

test('an unreachable server is named when it is called', async () => {
  await using connection = await connect(served.kubeconfig.replace(served.url, 'https://127.0.0.1:1'))
  await rejects(connection.client.of(configMap).list(), /127\.0\.0\.1:1/)
})
