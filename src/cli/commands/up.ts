// coxswain up: runs a whole cluster on this machine, in this process.
import { present } from '../../base/assert.ts'
import { once } from 'node:events'
import { realClock } from '../../base/time/clock.ts'
import { createLog } from '../../base/observability/log.ts'
import { directoryState } from '../../cluster/data-directory/directory-state.ts'
import type { StoreChoice } from '../../cluster/data-directory/open-store.ts'
import { ingressFlags } from '../../cluster/flags/ingress-flags.ts'
import { kubeletFlags, type KubeletFlag } from '../../cluster/flags/kubelet-flags.ts'
import { up as startUp } from '../../cluster/run/up.ts'
import type { NodeOutcome } from '../../cluster/run/up-options.ts'
import { missingContainerPrerequisites } from '../../cluster/node/container-prerequisites.ts'
import { parseKubeconfig } from '../../pki/kubeconfig.ts'
import { machineConfigOption } from '../command/config-file.ts'
import {
  defineCommand,
  inSection,
  UsageError,
  type Arguments,
  type CommandOption,
  type Terminal,
} from '../command/command.ts'
import { nextSteps } from '../output/next-steps.ts'
import { startReportText } from '../output/start-report.ts'
import { detachOptions, runDetached } from '../output/run-detached.ts'
import { clusterFlag, dataDirectoryOf, namedCluster } from '../options/data-directory-option.ts'
import { portOption } from '../options/component-options.ts'
import { controlPlaneChoicesOf, controlPlaneOptions } from '../options/control-plane-options.ts'
import { numberOf, optionsOf, pick, serverChoicesOf, serverOptions } from '../options/server-options.ts'

const nodesMax = 5000

const storeText: Readonly<Record<StoreChoice['kind'], string>> = {
  memory: 'memory: everything is lost when this process ends',
  sqlite: 'SQLite: the next start continues with the same objects',
  etcd: 'etcd: shared with everything that uses the same etcd',
}

const kubeletFlagNames = Object.keys(kubeletFlags) as KubeletFlag[]

const upOptions = {
  ...machineConfigOption,
  ...serverOptions,
  port: {
    type: 'string',
    value: '<n>',
    help: 'the port to listen on; 0 for any free one (6443; with --name that of the last start, or any free one)',
  },
  name: {
    type: 'string',
    value: '<name>',
    help: 'a cluster of its own beside others: the name of its context in kubeconfigs, and of its data directory in ~/.local/share/coxswain-clusters (coxswain)',
  },
  runtime: {
    type: 'string',
    value: 'auto|containerd|simulated|none',
    help: 'what runs containers (auto: containerd if it is installed and you are root, otherwise simulated nodes)',
  },
  nodes: {
    type: 'string',
    value: '<n>',
    help: 'the number of simulated nodes (1; 0 if this machine runs containers)',
  },
  ...detachOptions,
  'stop-containers': {
    type: 'boolean',
    help: 'a stop ends the containers of this machine; without it they keep running, and the next start adopts them (with --store memory, a stop always ends them)',
  },
  ...controlPlaneOptions,
  ...inSection(ingressFlags, 'Ingress'),
  'kubelet-port': {
    type: 'string',
    value: '<n>',
    help: 'its HTTPS port at --bind; 0 for none (10250, or none if --bind is a loopback address)',
    section: 'Kubelet of this machine',
  },
  ...optionsOf(kubeletFlags, 'Kubelet of this machine'),
  verbose: { type: 'boolean', short: 'v', help: 'log more' },
} as const satisfies Readonly<Record<string, CommandOption>>

export type UpFlags = Arguments<typeof upOptions>['options']

export const up = defineCommand({
  name: 'up',
  summary: 'starts a cluster on this machine',
  operands: '',
  configFile: 'machine',
  options: upOptions,
  run: ({ options }, terminal) => runUp(options, terminal),
})

/** `onStarted` is called when the API is served; its failure ends the cluster. */
export async function runUp(
  options: UpFlags,
  { out, err, isTerminal, environment, signal, startedMs }: Terminal,
  onStarted: () => Promise<void> = async () => {},
): Promise<number> {
  const runtime = options.runtime ?? 'auto'
  if (!isRuntimeChoice(runtime))
    throw new UsageError(`--runtime ${JSON.stringify(runtime)} is none of ${runtimeChoices.join(', ')}`)
  const whyNot = missingContainerPrerequisites()
  if (runtime === 'containerd' && whyNot !== undefined) throw new UsageError(`--runtime containerd: ${whyNot}`)
  const containers = runtime === 'containerd' ? 'must' : runtime === 'auto' && whyNot === undefined ? 'should' : 'none'
  const flag = clusterFlag(options)
  const chosen = serverChoicesOf({ ...options, 'data-dir': dataDirectoryOf(options, environment) }, environment)
  const port = options.port === undefined && namedCluster(options) ? await lastPort(chosen.dataDirectory) : chosen.port
  const choices = { ...chosen, port }
  const controlPlane = await controlPlaneChoicesOf(options)
  if (controlPlane.snapshots !== undefined && choices.store.kind === 'memory')
    throw new UsageError('--snapshot-every: with --store memory there is nothing to copy')
  const nodesDefault = containers !== 'none' || runtime === 'none' ? '0' : '1'
  const nodes = numberOf('--nodes', options.nodes ?? nodesDefault, nodesMax)
  if (options.detach === true) {
    const { dataDirectory } = choices
    return runDetached(
      options,
      { dataDirectory, flag, nodes: nodes + (containers === 'none' ? 0 : 1) },
      { out, signal },
    )
  }
  // Without the objects, nothing adopts them.
  const endsContainers = options['stop-containers'] ?? choices.store.kind === 'memory'
  const format = isTerminal ? 'text' : 'json'
  const log = createLog({ clock: realClock, write: err, format, level: options.verbose ? 'debug' : 'info' })
  const onProgress = (what: string) => void (isTerminal && err(`${eraseLine}${what} …`))
  if (options.store === 'sqlite') {
    const { moveToSqlite } = await import('../../cluster/run/move-to-sqlite.ts')
    await moveToSqlite({ dataDirectory: choices.dataDirectory, log, onProgress }, signal)
  }
  await using running = await startUp({
    ...choices,
    nodes,
    containers,
    endsContainers,
    kubeletFlags: pick<KubeletFlag>(options, kubeletFlagNames),
    kubeletPort:
      options['kubelet-port'] === undefined ? undefined : portOption('kubelet-port', options['kubelet-port']),
    ...controlPlane,
    ingressFlags: options,
    log,
    onProgress,
    onNode: (outcome) => out(outcomeText(outcome)),
    onStopping: (step, seconds) => err(stoppingText(step, seconds)),
  })
  if (isTerminal) err(eraseLine)
  const { kubeconfigPath } = choices
  const { contextName: ownContext, isCurrent, backupPath } = present(running.kubeconfig, 'kubeconfigs are written')
  const contextName = isCurrent ? undefined : ownContext
  out(
    startReportText({
      tookMs: realClock.nowMs() - startedMs,
      url: running.url,
      facts: [
        ['nodes', nodesText(containers, nodes, whyNot)],
        ['store', storeText[choices.store.kind]],
        ['kubeconfig', `${kubeconfigPath}${kubeconfigNotes(contextName, backupPath)}`],
      ],
      nextSteps: nextSteps({ kubeconfigPath, contextName, flag }, environment),
      endContainers: containers === 'none' || endsContainers ? undefined : `coxswain down --containers${flag}`,
    }),
  )
  await onStarted()
  if (!signal.aborted) await once(signal, 'abort')
  if (isTerminal) err(`${eraseLine}stopping …\n`)
  return 0
}

/** The port of the last start of a named cluster; 0 at the first one. */
async function lastPort(dataDirectory: string): Promise<number> {
  const { kubeconfig } = await directoryState(dataDirectory)
  if (kubeconfig === undefined) return 0
  const { port } = new URL(parseKubeconfig(kubeconfig).server)
  return Number(port || 443)
}

/** Returns to the start of the line and erases it. */
const eraseLine = '\r\x1b[2K'

const runtimeChoices = ['auto', 'containerd', 'simulated', 'none'] as const

const isRuntimeChoice = (text: string): text is (typeof runtimeChoices)[number] =>
  (runtimeChoices as readonly string[]).includes(text)

function nodesText(containers: 'must' | 'should' | 'none', simulated: number, whyNot: string | undefined): string {
  const simulatedText = `${simulated} simulated: pods run as functions, no container is started`
  if (containers !== 'none') {
    const real = `this machine: real containers through containerd${containers === 'should' ? ', which is being started' : ''}`
    return simulated === 0 ? real : `${real}, and ${simulatedText}`
  }
  if (simulated === 0) return 'none: pods wait'
  return `${simulatedText}\n(real ones: ${whyNot ?? 'coxswain up --runtime containerd'})`
}

const kubeconfigNotes = (contextName: string | undefined, backupPath: string | undefined): string =>
  [
    ...(contextName === undefined ? [] : [`its current context stays; the one of this cluster is ${contextName}`]),
    ...(backupPath === undefined ? [] : [`as it was before: ${backupPath}`]),
  ]
    .map((note) => `\n(${note})`)
    .join('')

/** Shown while a stop takes long. */
const stoppingText = (step: string, seconds: number): string =>
  `still stopping after ${Math.round(seconds)} s: waiting for ${step}\n`

const outcomeText = (outcome: NodeOutcome): string =>
  outcome.kind === 'real'
    ? `\n  node ${outcome.name} runs containers with ${outcome.runtime}\n`
    : `\n  No real containers: ${outcome.why}.\n  A simulated node runs instead: pods run as functions.\n`
