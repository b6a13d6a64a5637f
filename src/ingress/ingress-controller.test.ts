import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '../api/core/v1/event.ts'
import type { ApiObject } from '../api/meta/object.ts'
import type { Ingress } from '../api/networking/v1/ingress.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { FlowRecorder } from '../base/observability/flow-recorder.ts'
import { silentLog, type LogFields } from '../base/observability/log.ts'
import { Metrics } from '../base/observability/metrics.ts'
import { seededRandom } from '../base/random/random.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { Client } from '../client/client.ts'
import type { ApiCall, Transport } from '../client/transport/transport.ts'
import { portRetryMs } from './data-plane/data-plane.ts'
import { ingressMetrics } from './data-plane/ingress-metrics.ts'
import { SimulatedConnections } from './data-plane/simulated-connections.harness.ts'
import { startIngressController } from './ingress-controller.ts'
import { problemsReportedMax } from './problem-reporter.ts'
import { SimulatedInformers } from './simulated-informers.harness.ts'

const metadata = (name: string, more: object = {}) => ({ name, namespace: 'default', uid: name, ...more })
const ingressOf = (name: string, service: string, secretName = 'tls') => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: metadata(name),
  spec: {
    ingressClassName: 'coxswain',
    tls: [{ hosts: ['web.example.com'], secretName }],
    rules: [
      {
        host: 'web.example.com',
        http: {
          paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: service, port: { number: 80 } } } }],
        },
      },
    ],
  },
  status: { loadBalancer: {} },
})
const slice = (address: string) => ({
  metadata: metadata('web-1', { labels: { 'kubernetes.io/service-name': 'web' } }),
  addressType: 'IPv4',
  ports: [{ name: '', port: 8080 }],
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
})
const tls = (text: string) => {
  const value = new TextEncoder().encode(text).toBase64()
  return { metadata: metadata('tls'), data: { 'tls.crt': value, 'tls.key': value } }
}

async function stage() {
  const connections = new SimulatedConnections()
  const informers = new SimulatedInformers()
  const calls: ApiCall[] = []
  let failure: Error | undefined
  let failing: string | undefined
  const transport = {
    send: async (call: ApiCall) => {
      calls.push(call)
      const { metadata: written } = call.body as ApiObject
      if (failure !== undefined || (call.subresource === 'status' && written.name === failing))
        throw failure ?? new Error('the object is not valid')
      return call.body
    },
  } as unknown as Transport
  const warnings: string[] = []
  /** The certificates that were checked. */
  const checked: string[] = []
  /** The names of the Ingresses that were applied. */
  const applied: string[] = []
  const isKeyPair = (certificate: string) => checked.push(certificate) > 0
  const metrics = new Metrics()
  const measures = ingressMetrics(metrics)
  const clock = new VirtualClock()
  const tasks = new TaskGroup()
  const log = { ...silentLog, warn: (message: string, _fields?: LogFields) => void warnings.push(message) }
  const set = (plural: string, object: object) => {
    informers.set(plural, object)
    return clock.advance('1s')
  }
  informers.set('ingressclasses', { metadata: { name: 'coxswain' }, spec: { controller: 'coxswain.dev/ingress' } })
  const start = async () => {
    const flow = new FlowRecorder(clock)
    flow.listen((id) => {
      const event = flow.get(id)
      if (event?.arrow === 'reconcile' && event.outcome !== undefined) applied.push(event.object?.name ?? '')
    })
    const common = { clock, log, informers, random: seededRandom(1), flow }
    const dataPlane = connections.startDataPlane(common, tasks)
    const controller = startIngressController(
      { ...common, dataPlane, metrics: measures, client: new Client(transport), isKeyPair },
      { httpPort: 80, httpsPort: 443, addresses: [{ ip: '127.0.0.1' }] },
      tasks,
    )
    await clock.advance('1s')
    return controller
  }
  const get = async () => (await connections.send('http', { host: 'web.example.com', target: '/' })).status
  const written = () => calls.filter(({ verb, subresource }) => verb === 'update' && subresource === 'status').length
  /** The addresses that were last written. */
  const lastAddresses = () =>
    (calls.findLast(({ subresource }) => subresource === 'status')?.body as Ingress | undefined)?.status.loadBalancer
      .ingress
  const events = () =>
    calls.filter(({ kind, verb }) => kind.plural === 'events' && verb === 'create').map(({ body }) => body as Event)
  return {
    connections,
    informers,
    calls,
    warnings,
    checked,
    metrics,
    measures,
    clock,
    set,
    start,
    get,
    written,
    lastAddresses,
    events,
    fail: (error: Error | undefined) => (failure = error),
    /** Fails the writes of the status of one object. */
    failWrites: (name: string | undefined) => (failing = name),
    writtenNames: () =>
      calls
        .filter(({ subresource }) => subresource === 'status')
        .map(({ body }) => (body as ApiObject).metadata.name)
        .filter((name) => name !== failing),
    applied: () => applied,
    [Symbol.asyncDispose]: () => tasks[Symbol.asyncDispose](),
  }
}

test('an Ingress is served, its address is written, and a removed endpoint loses its connections', async () => {
  await using own = await stage()
  const { connections, set, get } = own
  const controller = await own.start()
  equal(await get(), 404)
  await set('ingresses', ingressOf('web', 'web'))
  deepEqual([await get(), own.written()], [503, 1])
  await set('services', { metadata: metadata('web'), spec: { ports: [{ port: 80 }] } })
  connections.endpoints.set('10.0.0.1:8080', () => ({ status: 200, body: '' }))
  await set('endpointslices', slice('10.0.0.1'))
  equal(await get(), 200)
  await set('endpointslices', slice('10.0.0.2'))
  deepEqual([await get(), connections.closed], [502, ['10.0.0.1:8080']])
  deepEqual(controller.ports, { http: { kind: 'open', port: 80 }, https: { kind: 'open', port: 443 } })
})

test('a changed Secret is served to new connections, and only it is checked', async () => {
  await using own = await stage()
  const { connections, set } = own
  const certificate = () => connections.listening.get('https')?.tls?.certificateOf?.('web.example.com')?.certificate
  own.informers.set('secrets', tls('one'))
  own.informers.set('secrets', { ...tls('other'), metadata: metadata('other') })
  own.informers.set('ingresses', ingressOf('web', 'web'))
  await own.start()
  await set('services', { metadata: metadata('web'), spec: { ports: [{ port: 80 }] } })
  deepEqual([certificate(), own.checked], ['one', ['one']])
  await set('secrets', tls('two'))
  deepEqual([certificate(), own.checked, connections.renewals.length], ['two', ['one', 'two'], 0])
})

test('of two Ingresses with a certificate for a host, that of the older is served', async () => {
  for (const names of [
    ['a', 'b'],
    ['b', 'a'],
  ]) {
    await using own = await stage()
    for (const name of ['a', 'b']) own.informers.set('secrets', { ...tls(name), metadata: metadata(name) })
    await own.start()
    for (const name of names) {
      const creationTimestamp = name === 'b' ? '2030-01-01T00:00:00Z' : '2030-01-01T00:00:01Z'
      await own.set('ingresses', { ...ingressOf(name, 'web', name), metadata: metadata(name, { creationTimestamp }) })
    }
    const tlsOptions = own.connections.listening.get('https')?.tls
    equal(tlsOptions?.certificateOf?.('web.example.com')?.certificate, 'b')
    own.informers.remove('ingresses', 'default/b')
    await own.clock.advance('1s')
    equal(tlsOptions?.certificateOf?.('web.example.com')?.certificate, 'a')
  }
})

test('a change concerns only the Ingresses that refer to the object', async () => {
  await using own = await stage()
  const { informers } = own
  for (const name of ['a', 'b', 'c']) informers.set('ingresses', ingressOf(name, `service-${name}`, `secret-${name}`))
  await own.start()
  const applied = () => own.applied().splice(0).join()
  own.applied().splice(0)
  await own.set('services', { metadata: metadata('service-a'), spec: { ports: [{ port: 80 }] } })
  equal(applied(), 'a')
  await own.set('secrets', { ...tls('x'), metadata: metadata('secret-b') })
  equal(applied(), 'b')
  await own.set('endpointslices', slice('10.0.0.1'))
  await own.set('secrets', { ...tls('x'), metadata: metadata('secret-of-none') })
  equal(applied(), '')
  await own.set('ingressclasses', { metadata: { name: 'coxswain' }, spec: { controller: 'example.com/other' } })
  equal(applied(), 'a,b,c')
  equal(await own.get(), 404)
})

test('an Ingress that cannot be served does not affect others', async () => {
  await using own = await stage()
  const bad = ingressOf('bad', 'web')
  const rules = [{ ...bad.spec.rules[0], host: 5 }]
  own.informers.set('ingresses', { ...bad, spec: { ...bad.spec, rules } })
  own.informers.set('ingresses', { ...ingressOf('empty', 'web'), spec: undefined })
  const worse = ingressOf('worse', 'web')
  own.informers.set('ingresses', { ...worse, spec: { ...worse.spec, rules: [{ http: { paths: [{}] } }] } })
  own.informers.set('ingresses', ingressOf('web', 'web'))
  await own.start()
  equal(await own.get(), 503)
  const unservable = own.events().filter(({ reason }) => reason === 'Unservable')
  deepEqual(unservable.map(({ involvedObject }) => involvedObject.name).toSorted(), ['bad', 'empty', 'worse']) // prettier-ignore
  equal(own.metrics.text().includes('coxswain_ingress_unservable_objects_total{kind="Ingress"}'), true)
})

test('the series of an Ingress are removed with it', async () => {
  await using own = await stage()
  await own.start()
  for (const name of ['web', 'other']) {
    await own.set('ingresses', ingressOf(name, 'web'))
    own.measures.requests.add({ route: `ingress/default/${name}`, code: '200' })
    own.measures.durations.observe({ route: `ingress/default/${name}` }, 1)
  }
  const names = () => new Set(own.metrics.text().match(/(?<=route="ingress\/default\/)\w+/g) ?? [])
  deepEqual(names(), new Set(['web', 'other']))
  own.informers.remove('ingresses', 'default/web')
  deepEqual(names(), new Set(['other']))
})

test('an Ingress whose status cannot be written does not delay others', async () => {
  await using own = await stage()
  await own.start()
  own.failWrites('poison')
  await own.set('ingresses', ingressOf('poison', 'web'))
  await own.set('ingresses', ingressOf('web', 'web'))
  equal(own.writtenNames().at(-1), 'web')
  own.failWrites(undefined)
  await own.clock.advance('30s')
  equal(own.writtenNames().at(-1), 'poison')
})

test('an Ingress with many problems has a few events', async () => {
  await using own = await stage()
  const many = ingressOf('web', 'web')
  const entries = Array.from({ length: 50 }, (_, index) => ({ hosts: [`h${index}`], secretName: `gone-${index}` }))
  own.informers.set('ingresses', { ...many, spec: { ...many.spec, tls: entries } })
  await own.start()
  deepEqual([own.events().length, own.events().at(-1)?.message], [problemsReportedMax + 1, 'and 43 more problems'])
})

test('events about missing objects are recorded once', async () => {
  await using own = await stage()
  await own.start()
  await own.set('ingresses', ingressOf('web', 'gone'))
  await own.set('ingresses', { ...ingressOf('web', 'gone'), apiVersion: 'networking.k8s.io/v1' })
  const reasons = own.calls.flatMap(({ body }) => (body as ApiObject & { reason?: string }).reason ?? [])
  deepEqual(reasons.toSorted(), ['SecretNotFound', 'ServiceNotFound'])
  own.informers.remove('ingresses', 'default/web')
  await own.clock.advance('1s')
  equal(await own.get(), 404)
})

test('a port that another program uses is reported with the Ingress and tried again', async () => {
  await using own = await stage()
  own.connections.listenFailure = new Error('listen EADDRINUSE')
  const controller = await own.start()
  await own.set('ingresses', ingressOf('web', 'web'))
  const message = (port: number) => `port ${port} cannot be opened, it is tried again: listen EADDRINUSE`
  deepEqual(
    own
      .events()
      .filter(({ reason }) => reason === 'PortUnavailable')
      .map((each) => each.message),
    [message(80), message(443)],
  )
  const error = { protocol: 'TCP', error: 'PortUnavailable' }
  deepEqual(own.lastAddresses(), [
    {
      ip: '127.0.0.1',
      ports: [
        { port: 80, ...error },
        { port: 443, ...error },
      ],
    },
  ])
  own.connections.listenFailure = undefined
  await own.clock.advance(portRetryMs)
  deepEqual([controller.ports.http?.kind, controller.ports.https?.kind], ['open', 'open'])
  deepEqual(own.lastAddresses(), [{ ip: '127.0.0.1' }])
})

test('a failed write is tried again after a while, and a port that is in use is reported once', async () => {
  await using own = await stage()
  own.connections.listenFailure = new Error('listen EADDRINUSE')
  own.fail(new Error('the server is gone'))
  const controller = await own.start()
  deepEqual(controller.ports.http, { kind: 'failed', why: 'listen EADDRINUSE' })
  await own.set('ingresses', ingressOf('web', 'web'))
  const failed = own.written()
  own.fail(undefined)
  own.connections.listenFailure = undefined
  await own.clock.advance('30s')
  deepEqual([failed > 0, own.written() > failed, controller.ports.http?.kind], [true, true, 'open'])
  const portWarnings = own.warnings.filter((text) => text === 'a port of the ingress cannot be opened')
  deepEqual([portWarnings.length, own.warnings.includes('the status of an Ingress could not be written')], [2, true])
})
