// coxswain status: whether the cluster of this machine runs, and how it is.
import { realClock } from '../../base/clock.ts'
import { context } from '../../base/context.ts'
import { errorText } from '../../base/log.ts'
import { node } from '../../api/core/v1/node.ts'
import { pod } from '../../api/core/v1/pod.ts'
import { openRemote } from '../../cluster/remote.ts'
import { directoryState, type DirectoryState } from '../../cluster/data-directory/state.ts'
import { defineCommand } from '../command.ts'
import { certificateLines } from '../certificate-lines.ts'
import { dataFolderOf, dataFolderOptions } from '../data-folder.ts'

const exitNotRunning = 3

export const status = defineCommand({
  name: 'status',
  summary: 'shows whether the cluster of this machine is running, and its state (exit code 3: not running)',
  operands: '',
  options: dataFolderOptions,
  async run({ options }, { out, environment, signal }) {
    const folder = dataFolderOf(options['data-dir'], environment)
    const state = await directoryState(folder)
    const { pid, storeBytes, kubeconfig } = state
    const say = (label: string, text: string) => out(`  ${label.padEnd(14)}${text}\n`)
    out(pid === undefined ? 'not running; start it: coxswain up\n' : `running, process ${pid}\n`)
    say('data', folder)
    if (storeBytes !== undefined) say('store', `SQLite, ${(storeBytes / 2 ** 20).toFixed(1)} MB`)
    const isRunning = pid !== undefined && kubeconfig !== undefined
    for (const [label, text] of isRunning ? await about(state, signal) : []) say(label, text)
    const certificates = await certificateLines(folder, isRunning ? kubeconfig : undefined, realClock.nowMs(), signal)
    for (const [index, line] of certificates.entries()) say(index === 0 ? 'certificates' : '', line)
    return isRunning ? 0 : exitNotRunning
  },
})

async function about({ kubeconfig = '' }: DirectoryState, signal: AbortSignal): Promise<readonly [string, string][]> {
  await using remote = await openRemote(kubeconfig, signal)
  const client = remote.clientAs('coxswain status')
  const ctx = context(signal)
  try {
    const [nodes, pods] = await Promise.all([client.of(node).list({}, ctx), client.of(pod).list({}, ctx)])
    const ready = nodes.items.filter(({ status: { conditions } }) =>
      conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
    )
    const phases = Map.groupBy(pods.items, ({ status: { phase } }) => phase ?? 'Pending')
    const counts = [...phases].map(([phase, members]) => `${members.length} ${phase}`).join(', ')
    return [
      ['api', remote.server],
      ['nodes', `${ready.length} of ${nodes.items.length} ready`],
      ['pods', counts === '' ? 'none' : counts],
    ]
  } catch (error) {
    return [['api', `${remote.server} does not answer: ${errorText(error)}`]]
  }
}
