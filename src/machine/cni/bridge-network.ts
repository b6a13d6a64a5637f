// The pod network of one node with the standard CNI plugins: bridge, host-local addresses from the node's range, and
// portmap. An existing configuration of another network is left in place.
import type { Files } from '../../platform/files.ts'

export interface BridgeNetwork {
  readonly podCidr: string
  readonly bridge: string
  /** Directory in which host-local stores the addresses in use. */
  readonly addressesDirectory: string
  /** Whether traffic to outside is masqueraded with the node's address; this requires iptables. */
  readonly masquerades: boolean
}

const fileName = '10-coxswain.conflist'

export const bridgeConfiguration = ({ podCidr, bridge, addressesDirectory, masquerades }: BridgeNetwork): object => ({
  cniVersion: '1.0.0',
  name: 'coxswain',
  plugins: [
    {
      type: 'bridge',
      bridge,
      isGateway: true,
      hairpinMode: true,
      ipMasq: masquerades,
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: podCidr }]],
        routes: [{ dst: '0.0.0.0/0' }],
        dataDir: addressesDirectory,
      },
    },
    ...(masquerades ? [{ type: 'portmap', capabilities: { portMappings: true } }] : []),
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
