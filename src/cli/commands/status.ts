// coxswain status: shows whether the cluster of this machine is running, and its state.
import { errorText } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { directoryState } from '../../cluster/data-directory/directory-state.ts'
import { memberAdmin, ownMember } from '../../cluster/data-directory/member-admin.ts'
import { runningPods } from '../../cluster/data-directory/running-pods.ts'
import { memberReports } from '../../cluster/etcd/member-report.ts'
import { membersText } from '../output/member-rows.ts'
import { statusRows } from '../output/status-rows.ts'
import { defineCommand } from '../command/command.ts'
import { certificateLines } from '../output/certificate-lines.ts'
import { clusterFlag, clusterNameOptions, dataDirectoryOf } from '../options/data-directory-option.ts'

const exitNotRunning = 3

/** The members of etcd, which may run while this server does not. */
async function etcdText(directory: string, signal: AbortSignal): Promise<string> {
  try {
    const { endpoints } = await ownMember(directory)
    using admin = await memberAdmin(directory, endpoints)
    return membersText(await memberReports(admin, signal))
  } catch (error) {
    signal.throwIfAborted()
    return errorText(error)
  }
}

export const status = defineCommand({
  name: 'status',
  summary: 'shows whether the cluster of this machine is running, and its state (exit code 3: not running)',
  operands: '',
  options: clusterNameOptions,
  async run({ options }, { out, environment, signal }) {
    const directory = dataDirectoryOf(options, environment)
    const state = await directoryState(directory)
    const { pid, storeBytes, kubeconfig, hasMember } = state
    const print = (label: string, text: string) => out(`  ${label.padEnd(14)}${text}\n`)
    const flag = clusterFlag(options)
    const start = hasMember ? 'server' : 'up'
    out(pid === undefined ? `not running; start it: coxswain ${start}${flag}\n` : `running, process ${pid}\n`)
    print('data', directory)
    const pods = pid === undefined ? await runningPods(directory) : 0
    if (pods > 0)
      print(
        'containers',
        `those of ${pods} ${pods === 1 ? 'pod' : 'pods'} keep running; to end them: coxswain down --containers${flag}`,
      )
    if (hasMember) print('etcd', await etcdText(directory, signal))
    if (storeBytes !== undefined) print('store', `SQLite, ${(storeBytes / 2 ** 20).toFixed(1)} MB`)
    const isRunning = pid !== undefined && kubeconfig !== undefined
    for (const [label, text] of isRunning ? await statusRows(kubeconfig, signal) : []) print(label, text)
    const certificates = await certificateLines(
      directory,
      isRunning ? kubeconfig : undefined,
      realClock.nowMs(),
      signal,
    )
    for (const [index, line] of certificates.entries()) print(index === 0 ? 'certificates' : '', line)
    return isRunning ? 0 : exitNotRunning
  },
})
