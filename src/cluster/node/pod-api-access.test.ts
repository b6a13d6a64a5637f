import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { createLog, silentLog } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import {
  closeApiToPods,
  isPodOrMachine,
  openApiToPods,
  serviceAddressConflict,
  type AdditionalListener,
} from './pod-api-access.ts'

const { signal } = new AbortController()
const near: [address: string, is: boolean][] = [
  ['10.244.0.9', true],
  ['::ffff:10.244.0.9', true],
  ['10.96.0.1', true],
  ['10.244.1.9', false],
  ['192.168.1.7', false],
  ['127.0.0.1', false],
  ['fd00::1', false],
  ['', false],
]
for (const [address, is] of near)
  test(`${address || 'no address'} ${is ? 'is' : 'is not'} answered`, () =>
    equal(isPodOrMachine(address, '10.244.0.0/24'), is))

test('an address in a network of this machine is not assigned', () => {
  equal(
    serviceAddressConflict([
      { device: 'lo', cidr: '10.96.0.1/32' },
      { device: 'eth0', cidr: '10.0.0.0/24' },
    ]),
    undefined,
  )
  match(
    serviceAddressConflict([{ device: 'vpn0', cidr: '10.64.0.0/10' }]) ?? '',
    /belongs to the network of vpn0 \(10\.64\.0\.0\/10\)/,
  )
})

function machine(code: number) {
  const ran: string[] = []
  const run = (command: string, args: readonly string[]) => {
    ran.push(`${command} ${args.join(' ')}`)
    return Promise.resolve({ code, stdout: '', stderr: 'Operation not permitted\n' })
  }
  const listeners: AdditionalListener[] = []
  const addListener = (listener: AdditionalListener) => Promise.resolve(void listeners.push(listener))
  return { ran, listeners, deps: { processes: { run }, addListener } }
}

test('the address is added before the listener starts and removed with the cluster', async () => {
  const { ran, listeners, deps } = machine(0)
  await openApiToPods('10.244.0.0/24', { ...deps, log: silentLog }, signal)
  deepEqual(
    listeners.map(({ host, port, accepts }) => [host, port, accepts('10.244.0.3'), accepts('10.0.0.3')]),
    [['10.96.0.1', 443, true, false]],
  )
  await closeApiToPods(deps.processes, signal)
  deepEqual(ran, ['ip addr replace 10.96.0.1/32 dev lo', 'ip addr del 10.96.0.1/32 dev lo'])
})

test('a failure to add the address is logged, and no listener starts', async () => {
  const { listeners, deps } = machine(2)
  let logged = ''
  const log = createLog({ clock: realClock, level: 'info', format: 'json', write: (text) => void (logged += text) })
  await openApiToPods('10.244.0.0/24', { ...deps, log }, signal)
  equal(listeners.length, 0)
  match(
    logged,
    /pods cannot reach the API server at the address of its Service.*10\.96\.0\.1:443.*Operation not permitted/,
  )
})
