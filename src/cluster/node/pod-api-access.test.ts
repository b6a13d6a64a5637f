import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { parseCidrs } from '../../base/net/cidr.ts'
import { createLog, silentLog } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import type { NodeNetwork } from './node-network.ts'
import { isPodOrMachine, openApiToPods, type AdditionalListener } from './pod-api-access.ts'

const near: readonly (readonly [address: string, is: boolean])[] = [
  ['10.244.0.9', true],
  ['::ffff:10.244.0.9', true],
  ['fd00::9', true],
  ['192.0.2.1', true],
  ['10.244.1.9', false],
  ['192.168.1.7', false],
  ['fd01::1', false],
  ['', false],
]
for (const [address, is] of near)
  test(`${address || 'no address'} ${is ? 'is' : 'is not'} accepted`, () =>
    equal(isPodOrMachine(address, parseCidrs(['10.244.0.0/24', 'fd00::/64']), ['192.0.2.1']), is))

const network = { podRanges: ['10.244.0.0/24'], gateways: ['10.244.0.1'] } as unknown as NodeNetwork

const servers: readonly (readonly [string, string, expected: string | undefined, listensAt: readonly string[]])[] = [
  ['loopback: it also listens in the pod network', '127.0.0.1', '10.244.0.1', ['10.244.0.1:6443']],
  ['all addresses: the pod network is one of them', '0.0.0.0', '10.244.0.1', []],
  ['one other address', '192.0.2.1', '192.0.2.1', []],
]

for (const [name, host, expected, listensAt] of servers)
  test(`the address of the API server for pods: ${name}`, async () => {
    const listeners: AdditionalListener[] = []
    const addListener = (listener: AdditionalListener) => Promise.resolve(void listeners.push(listener))
    const found = await openApiToPods(network, { host, port: 6443 }, { addListener, log: silentLog })
    deepEqual([found?.host, listeners.map((each) => `${each.host}:${each.port}`)], [expected, listensAt])
  })

test('a failure to listen is logged, and there is no address for pods', async () => {
  const lines: string[] = []
  const log = createLog({ clock: realClock, write: (line) => lines.push(line), format: 'json', level: 'info' })
  const addListener = () => Promise.reject(new Error('the address is in use'))
  equal(await openApiToPods(network, { host: '127.0.0.1', port: 6443 }, { addListener, log }), undefined)
  match(lines.join(''), /pods cannot reach the API server.*the address is in use/)
})
