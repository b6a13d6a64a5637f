// coxswain kubelet: joins this machine, or a simulated one, to any cluster as a node.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { realClock } from '../../base/time/clock.ts'
import { createLog } from '../../base/observability/log.ts'
import { configuredFlags } from '../../cluster/flags/kubelet-configuration.ts'
import { kubeletFlags, kubeletSettings } from '../../cluster/flags/kubelet-flags.ts'
import { kubeletProcessFlags, kubeletProcessSettings } from '../../cluster/flags/kubelet-process-flags.ts'
import { joinServer, parseJoinToken } from '../../cluster/client/join-token-text.ts'
import type { Bootstrap } from '../../cluster/client/join-cluster.ts'
import { runKubelet } from '../../cluster/run/run-kubelet.ts'
import { missingContainerPrerequisites } from '../../cluster/node/container-prerequisites.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { asUsage } from '../options/component-options.ts'
import { dataDirectoryOf } from '../options/data-directory-option.ts'
import { optionsOf, pick } from '../options/server-options.ts'

const flags = { ...kubeletFlags, ...kubeletProcessFlags }
const flagNames = Object.keys(flags) as (keyof typeof flags)[]
const runtimes = ['auto', 'containerd', 'simulated'] as const

export const kubelet = defineCommand({
  name: 'kubelet',
  summary: 'makes this machine a node of any cluster',
  operands: '',
  options: {
    kubeconfig: {
      type: 'string',
      value: '<file>',
      help: 'the kubeconfig of the API server; written when the node joins (kubelet.kubeconfig in the data directory)',
    },
    'bootstrap-kubeconfig': {
      type: 'string',
      value: '<file>',
      help: 'a kubeconfig with a bootstrap token, with which the node requests its first certificate',
    },
    server: {
      type: 'string',
      value: 'https://<host>:<port>',
      help: 'the API server of the cluster to join with --token',
    },
    token: {
      type: 'string',
      value: '<token>',
      help: "a bootstrap token with the hash of the cluster's CA (K10<hash>::<id>.<secret>), or <id>.<secret> with --discovery-token-ca-cert-hash",
    },
    'discovery-token-ca-cert-hash': {
      type: 'string',
      isRepeatable: true,
      value: 'sha256:<hash>',
      help: "the hash of the public key of the cluster's CA; may be repeated",
    },
    config: { type: 'string', value: '<file>', help: 'a KubeletConfiguration; flags override it' },
    'data-dir': {
      type: 'string',
      value: '<directory>',
      help: 'the data directory of the node (~/.local/share/coxswain/kubelet)',
    },
    runtime: {
      type: 'string',
      value: runtimes.join('|'),
      help: 'what runs containers (auto: containerd if it is installed and you are root, otherwise simulated)',
    },
    ...optionsOf(kubeletProcessFlags, 'Server, certificates and registration'),
    ...optionsOf(kubeletFlags, 'Pods, images and evictions'),
    verbose: { type: 'boolean', short: 'v', help: 'log more' },
  },
  async run({ options }, { out, err, isTerminal, environment, signal }) {
    const dataDirectory =
      options['data-dir'] === undefined
        ? join(dataDirectoryOf(undefined, environment), 'kubelet')
        : resolve(options['data-dir'])
    const chosen = runtimes.find((each) => each === (options.runtime ?? 'auto'))
    if (chosen === undefined)
      throw new UsageError(`--runtime ${JSON.stringify(options.runtime)} is none of ${runtimes.join(', ')}`)
    const values = { ...(await configured(options.config)), ...pick(options, flagNames) }
    const hasRuntime = values['container-runtime-endpoint'] !== undefined
    const whyNot = hasRuntime ? undefined : missingContainerPrerequisites()
    if (chosen === 'containerd' && whyNot !== undefined) throw new UsageError(`--runtime containerd: ${whyNot}`)
    const runtime = chosen === 'auto' ? (whyNot === undefined ? 'containerd' : 'simulated') : chosen
    const level = options.verbose ? 'debug' : 'info'
    const log = createLog({ clock: realClock, write: err, format: isTerminal ? 'text' : 'json', level })
    await runKubelet(
      {
        kubeconfigPath: resolve(options.kubeconfig ?? join(dataDirectory, 'kubelet.kubeconfig')),
        bootstrap: bootstrapOf(options),
        dataDirectory,
        runtime,
        ...settingsOf(values),
        log,
        onReady: ({ name, url }) => {
          out(`ready: node ${name} at ${url}\n`)
          if (runtime === 'simulated')
            out(`  pods run as functions, no container is started${whyNot === undefined ? '' : ` (${whyNot})`}\n`)
        },
      },
      signal,
    )
    return 0
  },
})

interface BootstrapFlags {
  readonly 'bootstrap-kubeconfig'?: string
  readonly server?: string
  readonly token?: string
  readonly 'discovery-token-ca-cert-hash'?: string
}

function bootstrapOf(given: BootstrapFlags): Bootstrap | undefined {
  const { 'bootstrap-kubeconfig': path, server, token, 'discovery-token-ca-cert-hash': hashes } = given
  if (path !== undefined && token !== undefined)
    throw new UsageError('--bootstrap-kubeconfig and --token are two ways to join; use one of them')
  if (path !== undefined) return { kind: 'kubeconfig', path: resolve(path) }
  if (server === undefined || token === undefined) return undefined
  return asUsage(() => ({
    kind: 'token',
    server: joinServer(server),
    token: parseJoinToken(token, hashes === undefined ? [] : hashes.split(',')),
  }))
}

async function configured(path: string | undefined): Promise<ReturnType<typeof configuredFlags>> {
  if (path === undefined) return {}
  const { parse } = await import('yaml')
  try {
    return configuredFlags(parse(await readFile(path, 'utf8')))
  } catch (error) {
    throw new UsageError(`--config ${path}: ${(error as Error).message}`, { cause: error })
  }
}

function settingsOf(values: ReturnType<typeof configuredFlags>) {
  try {
    return { settings: kubeletSettings(values), process: kubeletProcessSettings(values) }
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}
