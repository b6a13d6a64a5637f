// The pod network of one node from the standard CNI plugins: a bridge, addresses from the node's range, ports of the
// host. A configuration that somebody else has put there is respected.
import type { Files } from '../../platform/files.ts'

export interface BridgeNetwork {
  readonly podCidr: string
  readonly bridge: string
  /** Where addresses that are in use are noted. */
  readonly addressesDirectory: string
  /** Whether pods reach the outside under the node's address: it takes iptables. */
  readonly masquerades: boolean
}

const fileName = '10-coxswain.conflist'

export const bridgeConfiguration = ({
  podCidr,
  bridge,
  addressesDirectory: addressesFolder,
  masquerades,
}: BridgeNetwork): object => ({
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
        dataDir: addressesFolder,
      },
    },
    ...(masquerades ? [{ type: 'portmap', capabilities: { portMappings: true } }] : []),
  ],
})

/** Writes our configuration unless there is another; returns which one is used. */
export async function writeBridgeNetwork(
  folder: string,
  network: BridgeNetwork,
  files: Pick<Files, 'list' | 'makeDirectory' | 'write'>,
): Promise<'ours' | 'another'> {
  await files.makeDirectory(folder)
  const others = (await files.list(folder)).filter((name) => /\.(conf|conflist|json)$/.test(name) && name !== fileName)
  if (others.length > 0) return 'another'
  await files.write(`${folder}/${fileName}`, JSON.stringify(bridgeConfiguration(network), undefined, 2), 0o644)
  return 'ours'
}
