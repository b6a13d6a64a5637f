// Pods of this machine reach the API server at the cluster IP of the Service `kubernetes`. The address is added to the
// loopback device, so that the kernel delivers the packets without address translation. Only pods of this machine and
// the machine itself may connect.
import type { Log } from '../../base/observability/log.ts'
import { errorText } from '../../base/observability/log.ts'
import { isIpV4 } from '../../api/validation/network-rules.ts'
import { containsCidr, parseCidr } from '../../api/networking/v1/cidr.ts'
import type { Processes } from '../../platform/process/processes.ts'
import { kubernetesServiceAddress, kubernetesServicePort } from '../bootstrap/bootstrap-objects.ts'
import { machineNetworks, type Network } from './machine-network.ts'

const device = 'lo'
const addressRange = `${kubernetesServiceAddress}/32`

/** A further address of the API server, for the clients that `accepts` allows. */
export interface AdditionalListener {
  readonly host: string
  readonly port: number
  readonly accepts: (remoteAddress: string) => boolean
}

export type AddListener = (listener: AdditionalListener) => Promise<void>

export interface PodAccessDeps {
  readonly addListener: AddListener
  readonly processes: Pick<Processes, 'run'>
  readonly log: Log
}

/** Starts to accept connections from pods of the range. A failure is logged, and the cluster runs without it. */
export async function openApiToPods(
  podCidr: string,
  { addListener, processes, log }: PodAccessDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    const taken = serviceAddressConflict(machineNetworks())
    if (taken !== undefined) throw new Error(taken)
    const { code, stderr } = await processes.run('ip', ['addr', 'replace', addressRange, 'dev', device], {}, signal)
    if (code !== 0) throw new Error(`ip addr: ${stderr.trim()}`)
    await addListener({
      host: kubernetesServiceAddress,
      port: kubernetesServicePort,
      accepts: (remoteAddress) => isPodOrMachine(remoteAddress, podCidr),
    })
  } catch (error) {
    log.warn('pods cannot reach the API server at the address of its Service', {
      address: `${kubernetesServiceAddress}:${kubernetesServicePort}`,
      error: errorText(error),
    })
  }
}

/** No effect when the address is not present. */
export async function closeApiToPods(processes: Pick<Processes, 'run'>, signal: AbortSignal): Promise<void> {
  await processes.run('ip', ['addr', 'del', addressRange, 'dev', device], {}, signal)
}

/** Another network that contains the address would lose it. */
export function serviceAddressConflict(networks: readonly Network[]): string | undefined {
  const found = networks.find(
    (network) => network.device !== device && containsCidr(parseCidr(network.cidr), parseCidr(addressRange)),
  )
  return found && `the address belongs to the network of ${found.device} (${found.cidr})`
}

/** The machine connects from the address itself. */
export function isPodOrMachine(remoteAddress: string, podCidr: string): boolean {
  const address = remoteAddress.replace(/^::ffff:/, '')
  if (!isIpV4(address)) return false
  return address === kubernetesServiceAddress || containsCidr(parseCidr(podCidr), parseCidr(`${address}/32`))
}
