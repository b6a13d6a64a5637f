import { equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { HostIndex, hostKey } from './host-index.ts'
import { routeHostOf } from './route.ts'

const hosts = ['', 'a.com', '*.a.com', '*.b.a.com', '*.com']
const index = new HostIndex(hosts.map((name) => [routeHostOf(name, 'any'), name] as const))

suite('the most specific host is found', () => {
  const cases = [
    ['a.com', 'a.com'],
    ['x.a.com', '*.a.com'],
    ['x.y.a.com', '*.a.com'],
    ['x.b.a.com', '*.b.a.com'],
    ['b.a.com', '*.a.com'],
    ['c.com', '*.com'],
    ['com', ''],
    ['', ''],
  ] as const
  for (const [host, expected] of cases) test(host, () => equal(index.find(host), expected))
})

test('a wildcard for one label comes before one for several', () => {
  const both = new HostIndex([
    [routeHostOf('*.a.com', 'any'), 'any'],
    [routeHostOf('*.a.com', 'one'), 'one'],
  ])
  equal([both.find('x.a.com'), both.find('x.y.a.com'), both.find('a.com')].join(), 'one,any,')
})

test('keys differ between kinds of hosts', () => {
  const keys = [routeHostOf('', 'any'), ...hosts.slice(1).map((name) => routeHostOf(name, 'any'))].map(hostKey)
  equal(new Set([...keys, hostKey(routeHostOf('*.a.com', 'one'))]).size, 6)
})
