// Ports are forwarded by kubectl, in the background.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { ForwardPorts } from '../../ui/terminal/terminal-app.ts'
import { kubectlAccess } from './kubectl-command.ts'

/** The end of the errors of kubectl that is kept for the message. */
const errorCharsMax = 4_096

export const kubectlPortForward =
  (kubeconfig: string, context: string | undefined, program = 'kubectl'): ForwardPorts =>
  async ({ resource, namespace, name }, ports, onReady, signal) => {
    const args = [
      'port-forward',
      ...kubectlAccess(kubeconfig, context, namespace),
      `${resource.singular}/${name}`,
      ports,
    ]
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], signal })
    let errors = ''
    child.stderr.on('data', (piece: Buffer) => (errors = (errors + piece.toString()).slice(-errorCharsMax)))
    const lines = createInterface({ input: child.stdout })
    let isReady = false
    lines.on('line', (line) => {
      // Later lines are about connections; the second one is the same for IPv6.
      if (!isReady && line.startsWith('Forwarding from')) onReady(line)
      isReady ||= line.startsWith('Forwarding from')
    })
    const [code] = (await once(child, 'close').catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? new Error(`${program} is not installed`, { cause: error }) : error
    })) as [number | null]
    throw new Error(errors.trim().split('\n').at(-1) || `kubectl ended with ${code ?? 'a signal'}`)
  }
