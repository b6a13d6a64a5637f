import { equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { listener } from '../simulated-objects.harness.ts'
import { commonHostname } from './hostnames.ts'
import { TakenHostnames } from './taken-hostnames.ts'

const names = ['', 'a.com', 'b.a.com', '*.a.com', 'x.b.a.com', '*.b.a.com', 'com', '*.com', 'ba.com', 'other.org']

suite('two hostnames conflict if both stand for a name', () => {
  for (const first of names)
    for (const second of names)
      test(`${first || 'any'} and ${second || 'any'}`, () => {
        const taken = new TakenHostnames()
        const at = listener('a')
        equal(taken.take('HTTPRoute', at, [first]), true)
        equal(taken.take('GRPCRoute', at, [second]), commonHostname(first, second) === undefined)
      })
})

test('routes of one kind, and of other listeners, share hostnames; a route that is rejected takes none', () => {
  const taken = new TakenHostnames()
  const at = listener('a')
  equal(taken.take('HTTPRoute', at, ['a.com']), true)
  equal(taken.take('HTTPRoute', at, ['a.com', '*.com']), true)
  equal(taken.take('GRPCRoute', listener('a'), ['a.com']), true)
  equal(taken.take('GRPCRoute', at, ['b.org', 'x.com']), false)
  equal(taken.take('HTTPRoute', at, ['b.org']), true)
})
