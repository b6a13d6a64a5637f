import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { loadBalancerChoiceOf } from './load-balancer-flags.ts'

test('the addresses of the nodes by default, nothing, or a pool', () => {
  equal(loadBalancerChoiceOf({}), 'node-addresses')
  equal(loadBalancerChoiceOf({ 'load-balancers': 'none' }), 'none')
  deepEqual(loadBalancerChoiceOf({ 'load-balancer-addresses': '10.0.0.8/30' }), { addresses: '10.0.0.8/30' })
})

test('errors name the flag', () => {
  throws(
    () => loadBalancerChoiceOf({ 'load-balancers': 'cloud' }),
    /--load-balancers "cloud" is none of node-addresses, none/,
  )
  throws(
    () => loadBalancerChoiceOf({ 'load-balancer-addresses': '10.0.0.8/99' }),
    /--load-balancer-addresses: "10.0.0.8\/99" is not a CIDR/,
  )
  throws(
    () => loadBalancerChoiceOf({ 'load-balancers': 'none', 'load-balancer-addresses': '10.0.0.8' }),
    /--load-balancers and --load-balancer-addresses exclude one another/,
  )
})
