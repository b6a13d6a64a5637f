// coxswain up: a whole cluster on this machine, in this process.
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { once } from 'node:events'
import { realClock } from '../../base/clock.ts'
import { createLog } from '../../base/log.ts'
import type { StoreChoice } from '../../cluster/open-store.ts'
import { kubeletFlags, type KubeletFlag } from '../../cluster/kubelet-flags.ts'
import { nodeRangeFlags } from '../../cluster/node-ranges.ts'
import { policyFlags, type PolicyFlag } from '../../cluster/policy-flags.ts'
import { up as startUp } from '../../cluster/up.ts'
import { defineCommand, UsageError } from '../command.ts'
import { schedulerConfiguration } from '../scheduler-config.ts'
import { storeChoiceOf, storeOptions } from '../store-option.ts'

const nodesMax = 5000

const storeText: Readonly<Record<StoreChoice['kind'], string>> = {
  memory: 'memory: nothing is kept when this process ends',
  sqlite: 'SQLite: a second start goes on where this one ends',
  etcd: 'etcd: whatever uses the same etcd sees the same objects',
}

const policyFlagNames = Object.keys(policyFlags) as PolicyFlag[]

const policyOptions = Object.fromEntries(
  policyFlagNames.map((name) => [name, { type: 'string', ...policyFlags[name] }]),
) as Record<PolicyFlag, { type: 'string'; value: string; help: string }>

const kubeletFlagNames = Object.keys(kubeletFlags) as KubeletFlag[]

const kubeletOptions = Object.fromEntries(
  kubeletFlagNames.map((name) => [name, { type: 'string', ...kubeletFlags[name] }]),
) as Record<KubeletFlag, { type: 'string'; value: string; help: string }>

const pick = <Flag extends string>(
  options: Readonly<Partial<Record<Flag, string>>>,
  names: readonly Flag[],
): Readonly<Partial<Record<Flag, string>>> =>
  Object.fromEntries(names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]))) as Partial<
    Record<Flag, string>
  >

export const up = defineCommand({
  name: 'up',
  summary: 'starts a cluster on this machine',
  operands: '',
  options: {
    'data-dir': {
      type: 'string',
      value: '<folder>',
      help: 'where the cluster keeps what it needs again (~/.local/share/coxswain)',
    },
    ...storeOptions,
    runtime: {
      type: 'string',
      value: 'auto|containerd|simulated|none',
      help: 'what runs containers (auto: simulated; containerd: this machine, as root)',
    },
    nodes: { type: 'string', value: '<n>', help: 'how many simulated nodes run (1; 0 beside a real one)' },
    bind: { type: 'string', value: '<address>', help: 'the address to listen on (127.0.0.1)' },
    port: { type: 'string', value: '<n>', help: 'the port to listen on, 0 for any (6443)' },
    kubeconfig: {
      type: 'string',
      value: '<file>',
      help: 'the kubeconfig to write (admin.kubeconfig in the data directory)',
    },
    'scheduler-config': {
      type: 'string',
      value: '<file>',
      help: 'a KubeSchedulerConfiguration: profiles, plugins and extenders of the scheduler',
    },
    ...nodeRangeFlags,
    ...policyOptions,
    ...kubeletOptions,
    verbose: { type: 'boolean', short: 'v', help: 'logs more' },
  },
  async run({ options }, { out, err, isTerminal, environment, signal, startedMs }) {
    const store = storeChoiceOf(options)
    const runtime = options.runtime ?? 'auto'
    if (!isRuntimeChoice(runtime))
      throw new UsageError(`--runtime ${JSON.stringify(runtime)} is none of ${runtimeChoices.join(', ')}`)
    const runsContainers = runtime === 'containerd'
    if (runsContainers) await refuseWithoutContainers()
    const dataFolder = resolve(
      options['data-dir'] ?? join(environment['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share'), 'coxswain'),
    )
    const kubeconfigPath = resolve(options.kubeconfig ?? join(dataFolder, 'admin.kubeconfig'))
    const nodes = numberOf('--nodes', options.nodes ?? (runsContainers || runtime === 'none' ? '0' : '1'), nodesMax)
    const port = numberOf('--port', options.port ?? '6443', 65_535)
    const format = isTerminal ? 'text' : 'json'
    const log = createLog({ clock: realClock, write: err, format, level: options.verbose ? 'debug' : 'info' })
    await using running = await startUp({
      dataFolder,
      kubeconfigPath,
      store,
      host: options.bind ?? '127.0.0.1',
      port,
      nodes,
      runsContainers,
      policyFlags: pick<PolicyFlag>(options, policyFlagNames),
      kubeletFlags: pick<KubeletFlag>(options, kubeletFlagNames),
      nodeRangeFlags: options,
      log,
      schedulerConfiguration: await schedulerConfiguration('--scheduler-config', options['scheduler-config']),
    })
    out(`ready in ${Math.round(realClock.nowMs() - startedMs)} ms at ${running.url}\n`)
    out(`
  nodes       ${nodesText(runsContainers, nodes)}
  store       ${storeText[store.kind]}
  kubeconfig  ${kubeconfigPath}

  Next:
    export KUBECONFIG=${kubeconfigPath}
    kubectl create deployment web --image=nginx --replicas=3
    kubectl get pods
    coxswain flow deployment/web

  Ctrl-C ends it.
`)
    if (!signal.aborted) await once(signal, 'abort')
    return 0
  },
})

const runtimeChoices = ['auto', 'containerd', 'simulated', 'none'] as const

const isRuntimeChoice = (text: string): text is (typeof runtimeChoices)[number] =>
  (runtimeChoices as readonly string[]).includes(text)

async function refuseWithoutContainers(): Promise<void> {
  const { whyNoContainers } = await import('../../cluster/real-node.ts')
  const why = whyNoContainers()
  if (why !== undefined) throw new UsageError(`--runtime containerd: ${why}`)
}

function nodesText(runsContainers: boolean, simulated: number): string {
  const pretended = `${simulated} simulated: pods run as functions, no container is started`
  if (!runsContainers) return pretended
  return `this machine: real containers through containerd${simulated === 0 ? '' : `, and ${pretended}`}`
}

function numberOf(flag: string, text: string, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > max)
    throw new UsageError(`${flag} ${JSON.stringify(text)} is not a number from 0 to ${max}`)
  return value
}
