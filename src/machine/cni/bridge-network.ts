// The pod network of one node with the standard CNI plugins: bridge, and host-local addresses from the node's ranges. Host
// ports are rules of the proxy. An existing configuration of another network is left in place.
import type { Cidr } from '../../base/net/cidr.ts'
import type { InterfaceName } from '../../base/net/interface-name.ts'
import { familyOf } from '../../base/net/address-family.ts'
import type { Files } from '../../platform/files.ts'

export interface BridgeNetwork {
  /** At most one per address family. */
  readonly podCidrs: readonly Cidr[]
  readonly bridge: InterfaceName
  /** Directory in which host-local stores the addresses in use. */
  readonly addressesDirectory: string
}

const fileName = '10-coxswain.conflist'

export const bridgeConfiguration = ({ podCidrs, bridge, addressesDirectory }: BridgeNetwork): object => ({
  cniVersion: '1.0.0',
  name: 'coxswain',
  plugins: [
    {
      type: 'bridge',
      bridge,
      isGateway: true,
      hairpinMode: true,
      // The plugin would also masquerade traffic to pods of other nodes.
      ipMasq: false,
      ipam: {
        type: 'host-local',
        ranges: podCidrs.map((subnet) => [{ subnet }]),
        routes: podCidrs.map((subnet) => ({ dst: familyOf(subnet) === 'IPv4' ? '0.0.0.0/0' : '::/0' })),
        dataDir: addressesDirectory,
      },
    },
  ],
})

/** Writes the bridge configuration unless there is another one; returns the file that is in effect. */
export async function writeBridgeNetwork(
  directory: string,
  network: BridgeNetwork,
  files: Pick<Files, 'list' | 'makeDirectory' | 'write'>,
): Promise<'ours' | 'another'> {
  await files.makeDirectory(directory)
  const others = (await files.list(directory)).filter(
    (name) => /\.(conf|conflist|json)$/.test(name) && name !== fileName,
  )
  if (others.length > 0) return 'another'
  await files.write(`${directory}/${fileName}`, JSON.stringify(bridgeConfiguration(network), undefined, 2), 0o644)
  return 'ours'
}
