import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { routeSource } from './route-source.ts'

test('the source of a route is an address of this machine', async () => {
  equal(await routeSource('127.0.0.1'), '127.0.0.1')
})

test('an address without a route has no source', async () => {
  equal(await routeSource('255.255.255.255'), undefined)
})
