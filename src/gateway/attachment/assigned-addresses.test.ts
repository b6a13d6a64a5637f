import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Gateway, GatewayAddress } from '../kinds/gateway-kinds.ts'
import { gatewayOf, listener } from '../simulated-objects.harness.ts'
import { assignAddresses } from './assigned-addresses.ts'

interface Given {
  readonly requested?: readonly GatewayAddress[]
  readonly status?: readonly string[]
}

const gatewayWith = ({ requested, status }: Given, index: number): Gateway => ({
  ...gatewayOf(`g${index}`, [listener('http')], requested === undefined ? {} : { addresses: requested }),
  ...(status === undefined ? {} : { status: { addresses: status.map((value) => ({ value })) } }),
})

const cases: readonly (readonly [name: string, own: string, given: readonly Given[], expected: readonly string[]])[] = [
  ['each Gateway gets an address of its own, the first the first', 'a b c', [{}, {}, {}], ['a', 'b', 'c']],
  ['without a free address the first is shared', 'a b', [{}, {}, {}, {}], ['a', 'b', 'a', 'a']],
  ['the addresses that a Gateway has are kept', 'a b c', [{}, { status: ['a'] }, { status: ['c'] }], ['b', 'a', 'c']],
  ['of two with one address the older keeps it', 'a b', [{ status: ['a'] }, { status: ['a'] }], ['a', 'b']],
  ['an address that is not of the proxy any more', 'a b', [{ status: ['x'] }], ['a']],
  ['requested addresses are left to those that request them', 'a b', [{}, { requested: [{ value: 'a' }] }], ['b', 'a']],
  ['a new request moves no Gateway', 'a b', [{ status: ['a'] }, { requested: [{ value: 'a' }] }], ['a', 'a']],
  ['several requested addresses', 'a b c', [{ requested: [{ value: 'c' }, { value: 'b' }] }, {}], ['c b', 'a']],
  ['an address without a value stands for any', 'a b', [{ requested: [{}] }], ['a']],
  ['one of the requested addresses is not usable', 'a b', [{ requested: [{ value: 'a' }, { value: 'x' }] }], ['!']],
  ['a proxy that does not know its addresses', '', [{}, {}], ['', '']],
]

suite('assignAddresses', () => {
  for (const [name, own, given, expected] of cases)
    test(name, () => {
      const gateways = given.map(gatewayWith)
      const assigned = assignAddresses(gateways, own === '' ? [] : own.split(' '))
      const found = gateways.map((each) => assigned.get(each))
      deepEqual(
        found.map((each) => (each?.outcome.isMet === true ? each.addresses.join(' ') : '!')),
        expected,
      )
    })

  test('the message names a few addresses', () => {
    const own = Array.from({ length: 254 }, (_, index) => `127.0.0.${index + 1}`)
    const gateway = gatewayWith({ requested: [{ value: '192.0.2.9' }] }, 0)
    const { reason, message } = assignAddresses([gateway], own).get(gateway)?.outcome ?? {}
    equal(reason, 'AddressNotUsable')
    equal(
      message,
      'the proxy has no address 192.0.2.9; it has 127.0.0.1, 127.0.0.2, 127.0.0.3, 251 others (coxswain up --ingress-address)',
    )
  })
})
