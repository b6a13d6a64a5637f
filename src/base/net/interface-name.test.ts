import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { mustParseInterfaceName, parseInterfaceName } from './interface-name.ts'

for (const name of ['eth0', 'eth0.100', 'br-1a2b3c', 'coxswain-vx', '_', 'wlp0s20f3'])
  test(`${name} is the name of an interface`, () => equal(parseInterfaceName(name), name))

for (const name of ['', '.', '..', '-h', 'a b', 'a"b', 'a/b', 'a;b', 'a\nb', 'a\0', 'sixteen-letters-', 'ä'])
  test(`${JSON.stringify(name)} is not the name of an interface`, () => equal(parseInterfaceName(name), undefined))

test('a name of the configuration that is not one is an error', () => {
  equal(mustParseInterfaceName('eth0'), 'eth0')
  throws(() => mustParseInterfaceName('a b'), /^Error: "a b" is not the name of a network interface$/)
})
