// coxswain node: drains a node, or removes it from its cluster.
import { lookup } from '../../base/collections/lookup.ts'
import { durationMs, realClock } from '../../base/time/clock.ts'
import { parseLabelSelector } from '../../api/selectors/label-selector-text.ts'
import { openRemote } from '../../cluster/client/remote.ts'
import { drainNode, type DrainDeps, type DrainOptions } from '../../cluster/drain/drain-node.ts'
import { removeNode } from '../../cluster/drain/remove-node.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { chooseCluster, clusterOptions, withReachabilityHint } from '../options/choose-cluster.ts'
import { asUsage } from '../options/component-options.ts'
import { numberOf } from '../options/server-options.ts'

const { namespace: _, ...options } = clusterOptions
const graceSecondsMax = 2 ** 31 - 1

interface DrainFlags {
  readonly 'delete-emptydir-data'?: boolean
  readonly 'disable-eviction'?: boolean
  readonly force?: boolean
  readonly 'grace-period'?: string
  readonly 'ignore-daemonsets'?: boolean
  readonly 'pod-selector'?: string
  readonly timeout?: string
}

type Act = (name: string, options: DrainOptions, deps: DrainDeps, signal: AbortSignal) => Promise<void>

const actions: Readonly<Record<string, Act>> = {
  drain: drainNode,
  // Pods of DaemonSets end with the node.
  remove: (name, chosen, deps, signal) => removeNode(name, { ...chosen, ignoresDaemonSets: true }, deps, signal),
}

export const node = defineCommand({
  name: 'node',
  summary: 'moves the pods of a node away (drain), or removes it from the cluster',
  operands: 'drain|remove <name>',
  operandsMax: 2,
  options: {
    ...options,
    'delete-emptydir-data': { type: 'boolean', help: 'evict pods with emptyDir volumes too; their data is lost' },
    'disable-eviction': { type: 'boolean', help: 'delete pods, also if their disruption budgets do not allow it' },
    force: { type: 'boolean', help: 'evict pods without a controller too; nothing creates them again' },
    'grace-period': { type: 'string', value: '<seconds>', help: 'how long pods may take to end (their own time)' },
    'ignore-daemonsets': { type: 'boolean', help: 'drain: leave pods of DaemonSets; remove always does' },
    'pod-selector': { type: 'string', value: '<labels>', help: 'evict only pods with these labels: app=web' },
    timeout: { type: 'string', value: '<duration>', help: 'give up after this time; 0s: never (0s)' },
  },
  async run({ operands: [action = '', name, ...more], options: { kubeconfig, context, ...flags } }, terminal) {
    const act = lookup(actions, action)
    if (act === undefined || name === undefined || more.length > 0)
      throw new UsageError('the operands are: drain <name>, remove <name>')
    const chosen = drainOptionsOf(flags)
    const limitMs = asUsage(() => durationMs(flags.timeout ?? '0s'))
    const { out, err, environment, signal } = terminal
    const place = { ...(kubeconfig && { kubeconfig }), ...(context && { context }) }
    const cluster = await chooseCluster(place, environment)
    const limit = new AbortController()
    const timer =
      limitMs === 0
        ? undefined
        : realClock.after(limitMs, () => limit.abort(new Error(`global timeout reached: ${flags.timeout}`)))
    try {
      return await withReachabilityHint(cluster, async () => {
        await using remote = await openRemote(cluster.kubeconfig, signal)
        const deps = {
          client: remote.clientAs('coxswain node'),
          clock: realClock,
          out: (line: string) => out(`${line}\n`),
          warn: (line: string) => err(`${line}\n`),
        }
        await act(name, chosen, deps, AbortSignal.any([signal, limit.signal]))
        return 0
      })
    } finally {
      timer?.cancel()
    }
  },
})

function drainOptionsOf(flags: DrainFlags): DrainOptions {
  const { 'grace-period': grace, 'pod-selector': podSelector } = flags
  if (podSelector !== undefined)
    try {
      parseLabelSelector(podSelector)
    } catch (error) {
      throw new UsageError(`--pod-selector: ${(error as Error).message}`, { cause: error })
    }
  return {
    ignoresDaemonSets: flags['ignore-daemonsets'] ?? false,
    deletesLocalData: flags['delete-emptydir-data'] ?? false,
    isForced: flags.force ?? false,
    ignoresBudgets: flags['disable-eviction'] ?? false,
    ...(podSelector === undefined ? {} : { podSelector }),
    ...(grace === undefined ? {} : { graceSeconds: numberOf('--grace-period', grace, graceSecondsMax) }),
  }
}
