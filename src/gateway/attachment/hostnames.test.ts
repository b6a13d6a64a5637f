import { deepEqual } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { commonHostnames } from './hostnames.ts'

const cases: readonly (readonly [
  name: string,
  listener: string | undefined,
  route: readonly string[] | undefined,
  expected: readonly string[],
])[] = [
  ['neither has a hostname', undefined, undefined, ['']],
  ['only the listener has one', '*.a.com', [], ['*.a.com']],
  ['only the route has some', undefined, ['x.com', '*.y.com'], ['x.com', '*.y.com']],
  ['equal names', 'x.a.com', ['x.a.com'], ['x.a.com']],
  ['a wildcard of the route', 'x.a.com', ['*.a.com', 'y.a.com'], ['x.a.com']],
  ['a wildcard of the listener', '*.a.com', ['x.a.com', 'x.y.a.com', 'a.com', 'x.b.com'], ['x.a.com', 'x.y.a.com']],
  ['wildcards of different lengths', '*.a.com', ['*.b.a.com', '*.com'], ['*.b.a.com', '*.a.com']],
  ['a suffix that is not a label', '*.a.com', ['xa.com'], []],
  ['no common name', 'a.com', ['b.com'], []],
  ['a name that is found twice', 'x.a.com', ['*.a.com', '*.com'], ['x.a.com']],
]

suite('the common hostnames of a listener and a route', () => {
  for (const [name, listener, route, expected] of cases)
    test(name, () => deepEqual(commonHostnames(listener, route), expected))
})
