import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { routeHostOf, type Route } from '../routing/route.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { RouteTable, type RouteFinder } from '../routing/route-table.ts'
import { mergedSpecs } from './data-plane.ts'
import { Frontends, type FrontendSpec } from './frontends.ts'
import { SimulatedConnections } from './simulated-connections.harness.ts'

const route = (name: string, value: string): Route => ({
  name,
  host: routeHostOf('', 'any'),
  order: '',
  filters: [],
  backends: [],
  emptyStatus: 404,
  match: { path: { kind: 'prefix', value }, headers: [], query: [] },
  requestMsMax: undefined,
  backendMsMax: undefined,
})
const spec = (
  name: string,
  port: number,
  paths: readonly string[],
  more: Partial<FrontendSpec> = {},
): FrontendSpec => ({
  name,
  port,
  scheme: 'http',
  certificates: new Map(),
  routes: new RouteTable(paths.map((path) => route(`${name} ${path}`, path))),
  ...more,
})

test('ports that two users share try the routes of the first, then those of the second', () => {
  const [merged] = mergedSpecs([[spec('a', 80, ['/a'])], [spec('b', 80, ['/a', '/b'])]])
  const found = ['/a', '/b', '/c'].map(
    (path) => merged?.routes.find({ method: 'GET', host: 'x', path, query: '', header: () => undefined })?.name,
  )
  deepEqual(found, ['a /a', 'b /b', undefined])
})

test('certificates of the first user replace those of the second for the same name', () => {
  const certificate = (text: string) => new Map([['a.com', { certificate: text, key: text }]])
  const [merged] = mergedSpecs([
    [spec('a', 443, [], { scheme: 'https', certificates: certificate('first') })],
    [spec('b', 443, [], { scheme: 'https', certificates: certificate('second') })],
  ])
  deepEqual(merged?.certificates.get('a.com')?.certificate, 'first')
})

test('a port has one scheme; ports that are free to choose are not shared', () => {
  const merged = mergedSpecs([
    [spec('a', 80, []), spec('x', 0, [])],
    [spec('b', 80, [], { scheme: 'https' }), spec('y', 0, [])],
  ])
  deepEqual(merged.map(({ name, scheme }) => [name, scheme]), [[':80', 'http'], ['x', 'http'], ['y', 'http']]) // prettier-ignore
})

test('connections of TLS are forwarded by the present routes, and end with their port', async () => {
  const connections = new SimulatedConnections()
  const served: (RouteFinder | string)[] = []
  let connect = () => {}
  const frontends = new Frontends({
    listeners: connections.listeners,
    host: '127.0.0.1',
    fallback: { certificate: '', key: '' },
    log: silentLog,
    handler: { handle: () => Promise.reject(new Error('no request is sent')) },
    sockets: {
      listenStreams: async ({ host, port, onConnection }) => {
        connect = () => onConnection({} as ByteStream, { address: '192.0.2.9', port: 1 })
        return { host, port, close: async () => void served.push(`closed ${host} ${port}`) }
      },
    },
    tlsConnections: { serve: async (_stream, _from, { routes }) => void served.push(routes) },
  })
  const first = spec('a', 443, [], { scheme: 'tls', host: '127.0.0.2' })
  await frontends.apply([first])
  deepEqual(frontends.states.get('a'), { kind: 'open', port: 443 })
  connect()
  const second = { ...first, routes: new RouteTable() }
  await frontends.apply([second])
  connect()
  await frontends.apply([])
  deepEqual(served, [first.routes, second.routes, 'closed 127.0.0.2 443'])
})

test('frontends that are apart share no port', () => {
  const merged = mergedSpecs([[spec('a', 80, [], { isApart: true }), spec('b', 80, [], { isApart: true }), spec('c', 80, [])], [spec('d', 80, [])]]) // prettier-ignore
  deepEqual(merged.map(({ name }) => name), ['a', 'b', ':80']) // prettier-ignore
})

test('a certificate is selected by the exact name, then by a wildcard with one more label', async () => {
  const connections = new SimulatedConnections()
  const pair = (text: string) => ({ certificate: text, key: text })
  const certificates = new Map([['a.com', pair('exact')], ['*.a.com', pair('wildcard')], ['x.a.com', pair('x')]]) // prettier-ignore
  const frontends = new Frontends({
    listeners: connections.listeners,
    host: '127.0.0.1',
    fallback: pair('fallback'),
    log: silentLog,
    handler: { handle: () => Promise.reject(new Error('no request is sent')) },
    sockets: connections.sockets,
    tlsConnections: { serve: () => Promise.reject(new Error('no connection is opened')) },
  })
  const https = spec('a', 443, [], { scheme: 'https', certificates })
  await frontends.apply([https])
  const found = (name: string) => connections.listening.get('https')?.tls?.certificateOf?.(name)?.certificate
  deepEqual(['a.com', 'x.a.com', 'y.a.com', 'z.y.a.com', 'b.com', ''].map(found), [
    'exact',
    'x',
    'wildcard',
    undefined,
    undefined,
    undefined,
  ])
  certificates.delete('x.a.com')
  deepEqual(found('x.a.com'), 'wildcard')
  await frontends.apply([{ ...https, certificates: new Map() }])
  deepEqual([found('a.com'), connections.renewals.length], [undefined, 0])
  await frontends.apply([{ ...https, fallback: pair('other') }])
  deepEqual(connections.renewals.map(({ certificate }) => certificate), ['other']) // prettier-ignore
  await frontends[Symbol.asyncDispose]()
})
