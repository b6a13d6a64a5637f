// ConntrackProgram: removes flows with the program `conntrack`, because Node.js has no netlink sockets and nft cannot change
// tracked connections.
import { parseIp } from '../../base/net/ip-address.ts'
import { parsePort } from '../../base/net/port.ts'
import { errorText } from '../../base/observability/log.ts'
import type { Processes } from '../../platform/process/processes.ts'
import type { Conntrack, UdpFlows } from './conntrack.ts'

/** A machine tracks at most some hundred thousand connections. */
const outputBytesMax = 128 << 20

export class ConntrackProgram implements Conntrack {
  readonly #processes: Pick<Processes, 'run'>

  constructor(processes: Pick<Processes, 'run'>) {
    this.#processes = processes
  }

  async udpFlows(signal: AbortSignal): Promise<readonly UdpFlows[]> {
    const found = new Map<string, UdpFlows>()
    for (const family of ['IPv4', 'IPv6'] as const) {
      const args = ['-L', '-f', family.toLowerCase(), '-p', 'udp']
      const { code, stdout, stderr } = await this.#run(args, signal)
      if (code !== 0) throw new Error(`conntrack exited with ${code}: ${stderr.trim()}`)
      for (const line of stdout.split('\n')) {
        const flows = flowsOf(line, family)
        if (flows !== undefined) found.set(conntrackArguments(flows).join(' '), flows)
      }
    }
    return [...found.values()]
  }

  async remove(flows: UdpFlows, signal: AbortSignal): Promise<void> {
    const { code, stderr } = await this.#run(conntrackArguments(flows), signal)
    // It also exits with 1 if there are none.
    if (code !== 0 && !stderr.includes('0 flow entries have been deleted'))
      throw new Error(`conntrack exited with ${code}: ${stderr.trim()}`)
  }

  async #run(args: readonly string[], signal: AbortSignal) {
    try {
      return await this.#processes.run('conntrack', args, { outputBytesMax }, signal)
    } catch (error) {
      if (!errorText(error).includes('ENOENT')) throw error
      const effect = 'UDP clients may keep sending to endpoints that are gone'
      throw new Error(`${effect}, because the program conntrack is not installed (Debian: apt install conntrack)`, {
        cause: error,
      })
    }
  }
}

/**
 * A line has the packets of the client and then those of the reply:
 * `udp 17 29 src=10.244.0.9 dst=10.96.0.10 sport=4242 dport=53 src=10.244.0.2 dst=10.244.0.9 sport=5353 dport=4242 …`
 */
function flowsOf(line: string, family: UdpFlows['family']): UdpFlows | undefined {
  const values = (name: string) =>
    line.split(' ').flatMap((field) => (field.startsWith(`${name}=`) ? [field.slice(name.length + 1)] : []))
  const address = parseIp(values('dst')[0] ?? '')
  const port = parsePort(Number(values('dport')[0]))
  const source = parseIp(values('src')[1] ?? '')
  const sourcePort = parsePort(Number(values('sport')[1]))
  if (address === undefined || port === undefined || source === undefined || sourcePort === undefined) return undefined
  return { family, address, port, endpoint: { address: source, port: sourcePort } }
}

export const conntrackArguments = ({ family, address, port, endpoint }: UdpFlows): readonly string[] => [
  '-D',
  ...['-f', family.toLowerCase(), '-p', 'udp', '--orig-dst', address, '--orig-port-dst', String(port)],
  ...['--reply-src', endpoint.address, '--reply-port-src', String(endpoint.port)],
]
