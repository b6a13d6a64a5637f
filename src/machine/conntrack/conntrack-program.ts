// ConntrackProgram: removes flows with the program `conntrack`, because Node.js has no netlink sockets and nft cannot change
// tracked connections.
import type { Processes } from '../../platform/process/processes.ts'
import type { Conntrack, UdpFlows } from './conntrack.ts'

export class ConntrackProgram implements Conntrack {
  readonly #processes: Pick<Processes, 'run'>

  constructor(processes: Pick<Processes, 'run'>) {
    this.#processes = processes
  }

  async remove(flows: UdpFlows, signal: AbortSignal): Promise<void> {
    const { code, stderr } = await this.#processes.run('conntrack', conntrackArguments(flows), {}, signal)
    // It also exits with 1 if there are none.
    if (code !== 0 && !stderr.includes('0 flow entries have been deleted'))
      throw new Error(`conntrack exited with ${code}: ${stderr.trim()}`)
  }
}

export const conntrackArguments = ({ family, address, port, endpoint }: UdpFlows): readonly string[] => [
  '-D',
  ...['-f', family.toLowerCase(), '-p', 'udp', '--orig-dst', address, '--orig-port-dst', String(port)],
  ...['--reply-src', endpoint.address, '--reply-port-src', String(endpoint.port)],
]
