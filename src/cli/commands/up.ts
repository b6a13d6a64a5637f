// coxswain up: a whole cluster on this machine, in this process.
import { once } from 'node:events'
import { realClock } from '../../base/clock.ts'
import { createLog } from '../../base/log.ts'
import type { StoreChoice } from '../../cluster/open-store.ts'
import { certificateLifeFlag } from '../../cluster/certificate-life.ts'
import { kubeletFlags, type KubeletFlag } from '../../cluster/kubelet-flags.ts'
import { nodeRangeFlags } from '../../cluster/node-ranges.ts'
import { up as startUp } from '../../cluster/up.ts'
import { defineCommand, UsageError } from '../command.ts'
import { schedulerConfiguration } from '../scheduler-config.ts'
import { numberOf, optionsOf, pick, serverChoicesOf, serverOptions } from '../server-options.ts'

const nodesMax = 5000

const storeText: Readonly<Record<StoreChoice['kind'], string>> = {
  memory: 'memory: nothing is kept when this process ends',
  sqlite: 'SQLite: a second start goes on where this one ends',
  etcd: 'etcd: whatever uses the same etcd sees the same objects',
}

const kubeletFlagNames = Object.keys(kubeletFlags) as KubeletFlag[]

export const up = defineCommand({
  name: 'up',
  summary: 'starts a cluster on this machine',
  operands: '',
  options: {
    ...serverOptions,
    runtime: {
      type: 'string',
      value: 'auto|containerd|simulated|none',
      help: 'what runs containers (auto: simulated; containerd: this machine, as root)',
    },
    nodes: { type: 'string', value: '<n>', help: 'how many simulated nodes run (1; 0 beside a real one)' },
    'scheduler-config': {
      type: 'string',
      value: '<file>',
      help: 'a KubeSchedulerConfiguration: profiles, plugins and extenders of the scheduler',
    },
    ...nodeRangeFlags,
    ...optionsOf(kubeletFlags),
    ...certificateLifeFlag,
    verbose: { type: 'boolean', short: 'v', help: 'logs more' },
  },
  async run({ options }, { out, err, isTerminal, environment, signal, startedMs }) {
    const runtime = options.runtime ?? 'auto'
    if (!isRuntimeChoice(runtime))
      throw new UsageError(`--runtime ${JSON.stringify(runtime)} is none of ${runtimeChoices.join(', ')}`)
    const runsContainers = runtime === 'containerd'
    if (runsContainers) await refuseWithoutContainers()
    const choices = serverChoicesOf(options, environment)
    const nodes = numberOf('--nodes', options.nodes ?? (runsContainers || runtime === 'none' ? '0' : '1'), nodesMax)
    const format = isTerminal ? 'text' : 'json'
    const log = createLog({ clock: realClock, write: err, format, level: options.verbose ? 'debug' : 'info' })
    await using running = await startUp({
      ...choices,
      nodes,
      runsContainers,
      kubeletFlags: pick<KubeletFlag>(options, kubeletFlagNames),
      nodeRangeFlags: options,
      signingDuration: options['cluster-signing-duration'],
      log,
      schedulerConfiguration: await schedulerConfiguration('--scheduler-config', options['scheduler-config']),
      onProgress: (what) => isTerminal && err(`${eraseLine}${what} …`),
    })
    if (isTerminal) err(eraseLine)
    out(`ready in ${Math.round(realClock.nowMs() - startedMs)} ms at ${running.url}\n`)
    out(`
  nodes       ${await nodesText(runsContainers, nodes)}
  store       ${storeText[choices.store.kind]}
  kubeconfig  ${choices.kubeconfigPath}

  Next, in another terminal:
    export KUBECONFIG=${choices.kubeconfigPath}
    kubectl create deployment web --image=nginx --replicas=3
    kubectl get pods
    coxswain flow deployment/web     what happened, as a diagram
    coxswain why deployment/web      what it waits for
    coxswain status                  how the cluster is

  Ctrl-C ends it.
`)
    if (!signal.aborted) await once(signal, 'abort')
    return 0
  },
})

/** Back to the beginning of the line, which is then empty. */
const eraseLine = '\r\x1b[2K'

const runtimeChoices = ['auto', 'containerd', 'simulated', 'none'] as const

const isRuntimeChoice = (text: string): text is (typeof runtimeChoices)[number] =>
  (runtimeChoices as readonly string[]).includes(text)

async function refuseWithoutContainers(): Promise<void> {
  const { whyNoContainers } = await import('../../cluster/why-no-containers.ts')
  const why = whyNoContainers()
  if (why !== undefined) throw new UsageError(`--runtime containerd: ${why}`)
}

async function nodesText(runsContainers: boolean, simulated: number): Promise<string> {
  const pretended = `${simulated} simulated: pods run as functions, no container is started`
  if (runsContainers)
    return `this machine: real containers through containerd${simulated === 0 ? '' : `, and ${pretended}`}`
  if (simulated === 0) return 'none: pods wait'
  const { whyNoContainers } = await import('../../cluster/why-no-containers.ts')
  const reason = whyNoContainers()
  return `${pretended}\n              (real ones: ${reason ?? 'coxswain up --runtime containerd'})`
}
