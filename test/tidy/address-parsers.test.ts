// One module parses addresses; the rule detects others.
import { deepEqual, equal } from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { otherAddressParsers } from './address-parsers.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('the tree: addresses are parsed by base/net', () => {
  const paths = globSync('src/**/*.ts', { cwd: root })
  equal(paths.length > 1_000, true)
  deepEqual(
    paths.flatMap((path) => otherAddressParsers(path, readFileSync(join(root, path), 'utf8'))),
    [],
  )
})

const planted: readonly [line: string, path: string, isFound: boolean][] = [
  ["import { isIP } from 'node:net'", 'src/cluster/x.ts', true],
  ["import { createServer, isIPv6 } from 'node:net'", 'src/cluster/x.ts', true],
  ["import { createServer } from 'node:net'", 'src/cluster/x.ts', false],
  ["const address = remote.replace(/^::ffff:/, '')", 'src/cluster/x.ts', true],
  ["const address = remote.replace(/^::ffff:/, '')", 'src/base/net/x.ts', false],
  ["const address = remote.replace(/^::ffff:/, '')", 'src/cluster/x.test.ts', false],
  ['const isIp = /^\\d{1,3}(?:\\.\\d{1,3}){3}$/.test(text)', 'src/api/x.ts', true],
  ['const loopback = /^127\\.\\d+\\.\\d+\\.\\d+$/', 'src/cli/x.ts', true],
  ['const version = /^\\d+\\.\\d+\\.\\d+$/', 'src/cli/x.ts', false],
  ["const isLoopback = address.startsWith('127.')", 'src/cluster/x.ts', true],
  ["const host = ip.includes(':') ? `[${ip}]` : ip", 'src/kubelet/x.ts', true],
  ['// ::ffff:10.0.0.1 is 10.0.0.1', 'src/kubelet/x.ts', false],
]

for (const [line, path, isFound] of planted)
  test(`${path}: ${line}`, () => equal(otherAddressParsers(path, line).length > 0, isFound))
