// coxswain status: whether the cluster of this machine runs, and how it is.
import { context } from '../../base/context.ts'
import { errorText } from '../../base/log.ts'
import { node } from '../../api/core/v1/node.ts'
import { pod } from '../../api/core/v1/pod.ts'
import { openRemote } from '../../cluster/remote.ts'
import { folderState, type FolderState } from '../../cluster/data-folder.ts'
import { defineCommand } from '../command.ts'
import { dataFolderOf, dataFolderOptions } from '../data-folder.ts'

const exitNotRunning = 3

export const status = defineCommand({
  name: 'status',
  summary: 'tells whether the cluster of this machine runs, and how it is; ends with 3 when it does not',
  operands: '',
  options: dataFolderOptions,
  async run({ options }, { out, environment, signal }) {
    const folder = dataFolderOf(options['data-dir'], environment)
    const state = await folderState(folder)
    const { pid, storeBytes, kubeconfig } = state
    const say = (label: string, text: string) => out(`  ${label.padEnd(12)}${text}\n`)
    out(pid === undefined ? 'not running; start it: coxswain up\n' : `running, process ${pid}\n`)
    say('data', folder)
    if (storeBytes !== undefined) say('store', `SQLite, ${(storeBytes / 2 ** 20).toFixed(1)} MB`)
    if (pid === undefined || kubeconfig === undefined) return exitNotRunning
    for (const [label, text] of await about(state, signal)) say(label, text)
    return 0
  },
})

async function about({ kubeconfig = '' }: FolderState, signal: AbortSignal): Promise<readonly [string, string][]> {
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
