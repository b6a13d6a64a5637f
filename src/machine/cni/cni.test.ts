import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { parseCidrs } from '../../base/net/cidr.ts'
import { mustParseInterfaceName } from '../../base/net/interface-name.ts'
import type { Files } from '../../platform/files.ts'
import { bridgeConfiguration, writeBridgeNetwork } from './bridge-network.ts'

const network = {
  podCidrs: parseCidrs(['10.244.0.0/24', 'fd00::/64']),
  bridge: mustParseInterfaceName('b0'),
  addressesDirectory: '/a',
}

const filesWith = (
  ...names: string[]
): Pick<Files, 'list' | 'makeDirectory' | 'write'> & { written: Map<string, string> } => {
  const written = new Map<string, string>()
  return {
    written,
    write: (path, content) => Promise.resolve(void written.set(path, String(content))),
    list: () => Promise.resolve(names),
    makeDirectory: () => Promise.resolve(),
  }
}

test('the network of a node is a bridge with addresses of its ranges', () => {
  const { plugins } = bridgeConfiguration(network) as {
    plugins: { type: string; ipam?: { ranges: unknown; routes: unknown } }[]
  }
  deepEqual(
    plugins.map(({ type }) => type),
    ['bridge'],
  )
  deepEqual(plugins[0]?.ipam?.ranges, [[{ subnet: '10.244.0.0/24' }], [{ subnet: 'fd00::/64' }]])
  deepEqual(plugins[0]?.ipam?.routes, [{ dst: '0.0.0.0/0' }, { dst: '::/0' }])
})

test('an existing network configuration is kept', async () => {
  const mine = filesWith('10-coxswain.conflist')
  equal(await writeBridgeNetwork('/net', network, mine), 'ours')
  equal(mine.written.has('/net/10-coxswain.conflist'), true)
  const other = filesWith('05-calico.conflist')
  equal(await writeBridgeNetwork('/net', network, other), 'another')
  equal(other.written.size, 0)
})
