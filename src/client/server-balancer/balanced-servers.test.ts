import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { BalancedServers, serversMax, type CheckOutcome } from './balanced-servers.ts'

const peer = (address: string) => ({ address, port: 6443 })
const name = (address: string) => `${address}:6443`
const start = (preferenceOf = (of: string) => of) => {
  const servers = new BalancedServers(peer('192.0.2.9'), preferenceOf)
  servers.list(['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(peer))
  return servers
}
const order = (servers: BalancedServers) => servers.inOrder().map((server) => server.name.replace(/:.*/, '').slice(-1))

const rows: [what: string, outcomes: [server: string, ...CheckOutcome[]][], order: string[]][] = [
  ['without checks, the listed ones are first', [], ['1', '2', '3', '9']],
  ['ready ones are first', [['192.0.2.3', 'ready']], ['3', '1', '2', '9']],
  ['unready ones follow unknown ones', [['192.0.2.1', 'unready']], ['2', '3', '9', '1']],
  [
    'one that fails once is behind unready ones, and before one that is down',
    [
      ['192.0.2.1', 'failed', 'failed'],
      ['192.0.2.2', 'failed'],
      ['192.0.2.3', 'unready'],
    ],
    ['9', '3', '2', '1'],
  ],
  [
    'one success is enough after any number of failures',
    [['192.0.2.2', 'failed', 'failed', 'failed', 'ready']],
    ['2', '1', '3', '9'],
  ],
  [
    'a ready one that is not listed is used before listed ones that fail',
    [
      ['192.0.2.9', 'ready'],
      ['192.0.2.1', 'failed'],
      ['192.0.2.2', 'failed'],
      ['192.0.2.3', 'failed'],
    ],
    ['9', '1', '2', '3'],
  ],
]
for (const [what, outcomes, expected] of rows)
  test(`the order of servers: ${what}`, () => {
    const servers = start()
    for (const [server, ...each] of outcomes) for (const outcome of each) servers.note(name(server), outcome)
    deepEqual(order(servers), expected)
  })

test('nodes prefer different servers', () => {
  deepEqual(order(start((of) => of)), ['1', '2', '3', '9'])
  deepEqual(order(start((of) => String(9 - Number(of.slice(8, 9))))), ['3', '2', '1', '9'])
})

test('a server that is no longer listed stays until it is removed; the fallback always stays', () => {
  const servers = start()
  servers.note(name('192.0.2.1'), 'ready')
  deepEqual(
    servers.list([peer('192.0.2.2'), peer('192.0.2.4')]).map((server) => server.name),
    [name('192.0.2.4')],
  )
  deepEqual(order(servers), ['1', '2', '4', '3', '9'])
  equal(servers.remove(name('192.0.2.1')), true)
  equal(servers.remove(name('192.0.2.1')), false)
  equal(servers.remove(name('192.0.2.2')), false, 'it is listed')
  equal(servers.remove(name('192.0.2.9')), false, 'it is the fallback')
  equal(servers.note(name('192.0.2.1'), 'ready'), undefined)
  deepEqual(order(servers), ['2', '4', '3', '9'])
  equal(servers.isAnyReady, false)
})

test('the number of servers is limited', () => {
  const servers = start()
  servers.list(Array.from({ length: serversMax + 5 }, (_, index) => peer(`192.0.2.${100 + index}`)))
  equal(servers.inOrder().filter(({ isListed }) => isListed).length, serversMax)
})
