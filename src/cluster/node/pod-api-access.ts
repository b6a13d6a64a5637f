// Pods reach the API server through the Service `kubernetes`, whose endpoint must be an address that pods can reach. A
// server that listens on loopback also listens on the address of this machine in the pod network. Only pods and the
// machine itself may connect there.
import { networkInterfaces } from 'node:os'
import { specialAddressErrors } from '../../api/validation/special-address-rules.ts'
import { cidrHasAddress, type Cidr } from '../../base/net/cidr.ts'
import { parseRemoteIp } from '../../base/net/remote-address.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { isWildcard } from '../certificates/serving-hosts.ts'
import type { NodeNetwork } from './node-network.ts'

/** A further address of the API server, for the clients that `accepts` allows. */
export interface AdditionalListener {
  readonly host: string
  readonly port: number
  readonly accepts: (remoteAddress: string) => boolean
}

export type AddListener = (listener: AdditionalListener) => Promise<void>

export interface ServerAddress {
  readonly host: string
  readonly port: number
}

export interface PodAccessDeps {
  readonly addListener: AddListener
  readonly log: Log
}

/**
 * The address of the API server for pods, after it listens there. Undefined if it cannot listen: that is logged, and the
 * cluster runs without it.
 */
export async function openApiToPods(
  { podRanges, gateways: [gateway] }: NodeNetwork,
  { host, port }: ServerAddress,
  { addListener, log }: PodAccessDeps,
): Promise<ServerAddress | undefined> {
  if (specialAddressErrors(host).length === 0) return { host, port }
  if (gateway === undefined) return undefined
  try {
    if (!isWildcard(host))
      await addListener({ host: gateway, port, accepts: (address) => isPodOrMachine(address, podRanges) })
    return { host: gateway, port }
  } catch (error) {
    log.warn('pods cannot reach the API server', { address: `${gateway}:${port}`, error: errorText(error) })
    return undefined
  }
}

export function isPodOrMachine(
  remoteAddress: string,
  podRanges: readonly Cidr[],
  ownAddresses: readonly string[] = machineAddresses(),
): boolean {
  const address = parseRemoteIp(remoteAddress)
  if (address === undefined) return false
  return ownAddresses.includes(address) || podRanges.some((range) => cidrHasAddress(range, address))
}

const machineAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address))
