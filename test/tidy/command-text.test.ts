// Programs that run as root get text of parsed types only; the rule detects violations.
import { deepEqual, equal } from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { unparsedCommandText } from './command-text.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('the tree: commands for ip, bridge and nft are made of parsed types', () => {
  const paths = globSync('src/**/*.ts', { cwd: root })
  equal(paths.length > 1_000, true)
  deepEqual(
    paths.flatMap((path) => unparsedCommandText(path, readFileSync(join(root, path), 'utf8'))),
    [],
  )
})

const planted: readonly [line: string, path: string, isFound: boolean][] = [
  ['const command = text as CommandText', 'src/proxy/x.ts', true],
  ['const commands = texts as readonly CommandText[]', 'src/proxy/x.ts', true],
  ['const address = text as IpAddress', 'src/machine/x.ts', true],
  ['const address = text as unknown as Cidr', 'src/machine/x.ts', true],
  ['return text as Ipv4Address', 'src/base/net/ip-address.ts', false],
  ["await processes.run('ip', ['-batch', '-'], { input }, signal)", 'src/machine/x.ts', true],
  ["await processes.run('ip', ['-batch', '-'], { input }, signal)", 'src/machine/iproute/x.ts', false],
  ["await processes.run('nft', ['-f', '-'], { input }, signal)", 'src/machine/x.ts', true],
  ["await processes.run('nft', ['-f', '-'], { input }, signal)", 'src/machine/nftables/x.ts', false],
  ["startInteractive('sh', ['-c', 'exec nft -i'])", 'src/proxy/x.ts', true],
  ['const command = text as CommandText', 'src/proxy/x.test.ts', false],
  ['// `nft -i` is fast', 'src/proxy/x.ts', false],
  ['const list = text as CommandTexture', 'src/proxy/x.ts', false],
]

for (const [line, path, isFound] of planted)
  test(`${path}: ${line}`, () => equal(unparsedCommandText(path, line).length > 0, isFound))
