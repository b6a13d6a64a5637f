// Pods reach the API server through the Service `kubernetes`, whose endpoint must be an address that pods can reach. A
// server that listens on loopback also listens on the address of this machine in the pod network. Only pods and the
// machine itself may connect there.
import { networkInterfaces } from 'node:os'
import { containsCidr, parseCidr } from '../../api/networking/v1/cidr.ts'
import { specialAddressErrors } from '../../api/validation/special-address-rules.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { familyOf } from '../../base/text/address-family.ts'
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

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'

export function isPodOrMachine(
  remoteAddress: string,
  podRanges: readonly string[],
  ownAddresses: readonly string[] = machineAddresses(),
): boolean {
  const address = remoteAddress.replace(/^::ffff:/, '')
  if (address === '') return false
  if (ownAddresses.includes(address)) return true
  const host = parseCidr(`${address}/${familyOf(address) === 'IPv4' ? 32 : 128}`)
  return podRanges.some((range) => containsCidr(parseCidr(range), host))
}

const machineAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address))
